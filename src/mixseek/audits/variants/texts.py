"""The text that is changed, with its sentences and its lot, and what is put into texts in three languages."""

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from random import Random
from typing import Any

from mixseek.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class JudgedText:
    """A judged text with the lot that decides what is done to it, and the sentences of its language."""

    text: str
    language: str
    rng: Random

    def words(self, name: str) -> Any:
        return read_phrases()[name][self.language]

    @property
    def sentences(self) -> list[str]:
        """Each with the blanks after it, so that joined they are the text again."""
        # Blanks at the end apart, and points from where a row of them begins: else each is looked through again.
        body = self.text.rstrip()
        sentences = _SENTENCE.findall(body)
        return [*sentences[:-1], sentences[-1] + self.text[len(body) :]] if sentences else []


_SENTENCE = re.compile(
    r"\s*+\S.*?(?:(?:(?<![.!?])|(?<=\A.)|(?<=\s.))[.!?]++(?=\s|$)\s*|[。！？]++\s*|\n+|\Z)", re.DOTALL
)


@cache
def read_phrases() -> Mapping[str, Mapping[str, Any]]:
    """What is put into texts, by kind and language."""
    return _read("texts.toml")


@cache
def injections() -> tuple[tuple[str, str], ...]:
    """Kind and text of all orders to a judge."""
    kinds = _read("injections.toml")
    return tuple((kind, text) for kind, spoken in kinds.items() for texts in spoken.values() for text in texts)


def _read(name: str) -> Mapping[str, Any]:
    return tomllib.loads((resources.files("mixseek.audits.variants") / name).read_text(encoding="utf-8"))

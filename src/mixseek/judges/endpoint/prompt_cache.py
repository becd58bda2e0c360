"""Where the constant beginning of a prompt ends, for endpoints that cache it when they are told.

What is told here decides no reply: it is in no fingerprint and in no key of a cache of ours.
"""

import hashlib
import re
import tomllib
from collections.abc import Sequence
from functools import lru_cache
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

from mixseek.domain.ports import Message

_TABLE = tomllib.loads((Path(__file__).parent / "prompt_cache.toml").read_text(encoding="utf-8"))
_MINIMUM_TOKENS: dict[str, int] = _TABLE["minimum_tokens"]
_USUAL_MINIMUM: int = _TABLE["usual_minimum_tokens"]
_FIRST_EXPLICIT = tuple(_TABLE["first_explicit_gpt"])
_LEVELS = ("run_constant", "rubric_constant")
_GPT = re.compile(r"\bgpt-(\d+)(?:\.(\d+))?")
# At least so many tokens are in a text: prose of any script has more.
_CHARACTERS_PER_TOKEN = 4.4
_CHARACTERS_PER_TOKEN_OUTSIDE_ASCII = 2.0


class Piece(NamedTuple):
    """A part of a message; the constant beginning of the prompt ends with a marked one."""

    text: str
    is_marked: bool


def prefix_names(messages: Sequence[Message], model: str) -> tuple[str, ...]:
    """A digest of each beginning that is long enough to be cached, the shortest first."""
    ends = sorted({end for level in _LEVELS if (end := _end_of(messages, level))})
    measured = [_measure(*_beginning(messages, end)) for end in ends]
    return tuple(name for name, tokens in measured if tokens >= least_cached(model))


def pieces_of(messages: Sequence[Message], model: str) -> list[list[Piece]]:
    """Each message in parts: marked are the ends of what the run's prompts share, and of what the rubric's share.

    Not marked is an end before which there are fewer tokens than the model's endpoint caches.
    """
    ends = {end for level in _LEVELS if (end := _end_of(messages, level))}
    marked = {end for end in ends if _measure(*_beginning(messages, end))[1] >= least_cached(model)}
    pieces = []
    for number, message in enumerate(messages):
        places = sorted(place for of, place in marked if of == number)
        starts = [0, *places]
        stops = [*places, len(message.content)]
        parts = [Piece(message.content[start:stop], stop in places) for start, stop in zip(starts, stops, strict=True)]
        pieces.append([part for part in parts if part.text])
    return pieces


def prefix_key(messages: Sequence[Message]) -> str | None:
    """A name for all prompts that begin alike, a digest of that beginning; None where nothing is constant."""
    end = _end_of(messages, "rubric_constant")
    if end is None:
        return None
    return f"mixseek-{_measure(*_beginning(messages, end))[0]}"


def least_cached(model: str) -> int:
    """So many tokens a prefix needs; the first name that the model's holds counts."""
    return next((tokens for name, tokens in _MINIMUM_TOKENS.items() if name in model), _USUAL_MINIMUM)


def wants_breakpoints(model: str) -> bool:
    """Whether the model, by its name, caches whole prompts, and bills that, unless it is told where to stop."""
    match = _GPT.search(model)
    return match is not None and (int(match[1]), int(match[2] or 0)) >= _FIRST_EXPLICIT


def _end_of(messages: Sequence[Message], level: str) -> tuple[int, int] | None:
    """The message in which that beginning ends, and where in it."""
    length_of, end = attrgetter(level), None
    for number, message in enumerate(messages):
        if not length_of(message):
            break
        end = number, length_of(message)
        if length_of(message) < len(message.content):
            break
    return end


def _beginning(messages: Sequence[Message], end: tuple[int, int]) -> tuple[str, ...]:
    number, place = end
    return (*(message.content for message in messages[:number]), messages[number].content[:place])


# A run has one beginning, or one for each rubric.
@lru_cache(maxsize=256)
def _measure(*texts: str) -> tuple[str, float]:
    """A digest of the texts, and how many tokens they have at least."""
    text = "".join(texts)
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()
    plain = len(text.encode("ascii", "ignore"))
    tokens = plain / _CHARACTERS_PER_TOKEN + (len(text) - plain) / _CHARACTERS_PER_TOKEN_OUTSIDE_ASCII
    return digest, tokens

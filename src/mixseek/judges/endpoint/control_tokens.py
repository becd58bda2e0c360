"""Control tokens of chat templates in a prompt are split so that no server can read them as turns.

Servers such as vLLM, SGLang and llama.cpp render messages into one text and then look for their tokens in all of it: a
judged text that says `<|im_end|>` could close its turn and open the system's. The blank keeps the words readable, and
quotes that a judge takes from them are still found, because the locator folds blanks.
"""

import re
import tomllib
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from mixseek.domain.ports import Message
from mixseek.lazy_dataclass import dataclass

# Two patterns that each begin with one character: a search for that costs a tenth of a search for either.
_TOKENS = tomllib.loads((Path(__file__).parent / "control_tokens.toml").read_text(encoding="utf-8"))
# Only tokens of bars hold blanks, and the others a closing mark before the first one: fences of a prompt do not, and
# are passed by without a try at each kind of token.
_ANGLED = re.compile(rf"<(?=[|｜]|<?[^\s<>]++>)(?:{'|'.join(_TOKENS['angled'])})", re.IGNORECASE)
_SQUARE = re.compile(rf"\[(?:{'|'.join(_TOKENS['square'])})\]", re.IGNORECASE)


@dataclass(frozen=True, slots=True, eq=False)
class ControlTokens:
    """What is split. Known by its identity: to hash a pattern takes as long as to search with it."""

    patterns: tuple[re.Pattern[str], ...]


WIDESPREAD_TOKENS = ControlTokens((_ANGLED, _SQUARE))


def split_control_tokens(
    messages: Sequence[Message], tokens: ControlTokens = WIDESPREAD_TOKENS
) -> tuple[tuple[Message, ...], int]:
    """The messages with a blank inside every token, and how many there were."""
    split = [_split_text(message.content, tokens) for message in messages]
    total = sum(count for _, count in split)
    if not total:
        return tuple(messages), 0
    return tuple(replace(message, content=text) for message, (text, _) in zip(messages, split, strict=True)), total


# The system's message is the same for every sample, and three times as long as the rest.
@lru_cache(maxsize=16)
def _split_text(text: str, tokens: ControlTokens) -> tuple[str, int]:
    total = 0
    for pattern in tokens.patterns:
        text, count = pattern.subn(_with_blank, text)
        total += count
    return text, total


def _with_blank(token: re.Match[str]) -> str:
    return f"{token[0][0]} {token[0][1:]}"

"""Cuts the judge's own reasoning off its reply. What stands in it, JSON included, is not the reply."""

import re
from bisect import bisect_right

from mixseek.lazy_dataclass import dataclass
from mixseek.matching.reasoning_tags import REASONING_CLOSES, REASONING_OPENS
from mixseek.protocols.replies.reply_objects import find_objects

_OPENING = re.compile(
    rf"\s*+(?:{REASONING_OPENS}|◁think▷|\[THINK\]|<\|channel\|>(?:analysis|commentary)\b[^<\n]{{0,80}}<\|message\|>"
    # The same channels where their tokens were lost on the way: "analysisWe need …assistantfinal{…}".
    r"|(?-i:analysis(?=[A-Z{\[])))",
    re.IGNORECASE,
)
_CLOSING = re.compile(
    rf"{REASONING_CLOSES}|◁/think▷|\[/THINK\]|assistantfinal"
    # The end of the channel before it belongs to neither.
    r"|(?:<\|end\|>\s*+)?(?:<\|start\|>assistant\s*+)?<\|channel\|>final<\|message\|>",
    re.IGNORECASE,
)
# Every opening and every closing has one of these in it, the last in any case: most texts have none, and are looked
# through for characters, which takes a hundredth of what patterns take.
_IN_MARKS, _IN_LOST_MARKS = ("<", "◁", "[", "analysis"), "assistantfinal"
# Judges think about think tags, so the first closing tag may be a mention. Each further one costs a scan.
_MAX_MENTIONS = 8


@dataclass(frozen=True, slots=True)
class Spoken:
    """The reply without the think block that led it."""

    text: str
    had_thought: bool = False
    unclosed: bool = False
    # What stood in the block, without its tags.
    thought: str = ""


def without_thought(text: str) -> Spoken:
    """A close without an open counts too: chat templates open the block inside the prompt."""
    if not any(mark in text for mark in _IN_MARKS) and _IN_LOST_MARKS not in text.casefold():
        return Spoken(text)
    opening = _OPENING.match(text)
    if opening is None and (_CLOSING.search(text) is None or text.lstrip()[:1] in {"{", "[", "`"}):
        # A reply that begins with its object has no thought before it; tags further on are mentions.
        return Spoken(text)
    rest = text[opening.end() :] if opening else text
    closing = _first_closing(rest)
    if closing is None:
        return Spoken("", had_thought=True, unclosed=True, thought=rest.strip()) if opening else Spoken(text)
    # Up to the last closing tag: those before it are mentions.
    begun, end = rest, closing.start()
    rest = rest[closing.end() :]
    for _ in range(_MAX_MENTIONS):
        closing = _first_closing(rest)
        if closing is None or find_objects(rest[: closing.start()]).readable:
            break
        end = len(begun) - len(rest) + closing.start()
        rest = rest[closing.end() :]
    return Spoken(rest, had_thought=True, thought=begun[:end].strip())


def _first_closing(text: str) -> re.Match[str] | None:
    """The first closing tag that is not inside a readable object, where it would be part of a comment."""
    if _CLOSING.search(text) is None:
        return None
    readable = find_objects(text).readable
    starts = [located.start for located in readable]
    for tag in _CLOSING.finditer(text):
        before = bisect_right(starts, tag.start()) - 1
        if before < 0 or readable[before].end <= tag.start():
            return tag
    return None

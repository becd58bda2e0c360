"""Texts as rules see them: what is the answer to a reader and what is not, folded; and what is known of languages.

Parts that do not count (reasoning blocks, special tokens, run-on questions) are blanked with spaces, so offsets stay
those of the original.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from mixseek.matching.folding import fold
from mixseek.matching.reasoning_tags import (
    BARE_FINAL,
    BARE_OPENS,
    MARKED_CLOSES,
    MARKED_OPENS,
    REASONING_CLOSES,
    REASONING_NAMES,
    REASONING_OPENS,
)

_LONGEST_PREFIX = 24
_OPEN_TAG = re.compile(REASONING_OPENS, re.IGNORECASE)
# Struck through: taken back in so many signs.
_STRUCK = re.compile(r"~~(?=\S)[^~\n]{1,300}(?<=\S)~~")
_CLOSE_TAG = re.compile(REASONING_CLOSES, re.IGNORECASE)
_MARKS = ("◁", "THINK]", "_thought|>", "<|channel|>")
_MARKED_CLOSE = re.compile(MARKED_CLOSES)
_MARKED_OPEN = re.compile(rf"{MARKED_OPENS}.*", re.DOTALL)
_BARE_ANALYSIS = re.compile(BARE_OPENS)
_SPECIAL = re.compile(
    r"<\|[^<>|\n]{1,30}\|>|</?s>|\[/?INST\]|<(?:eos|bos|pad|unk|end_of_turn|start_of_turn)>", re.IGNORECASE
)
_TOKEN_PARTS = ("<|", "s>", "inst]", "<pad>", "<unk>", "_of_turn>")
_LEADING_TOKENS = re.compile(rf"(?:\s*(?:{_SPECIAL.pattern}))+", re.IGNORECASE)
# Where a model has said that it is done, what follows is another conversation.
_END = re.compile(r"<\|(?:im_end|endoftext|end_of_text|eot_id|eom_id|end)\|>|</s>|<(?:eos|end_of_turn)>", re.IGNORECASE)
# The fence is markup; what stands between fences is still the model's answer.
_CODE_FENCE = re.compile(r"```[a-zA-Z]*")
# Answers stand at the end; a longer response is looked at from here on, so that no length costs more than this one.
WINDOW = 24_000
_HEAD = 400


class Visible(NamedTuple):
    """A part of the response, blanked where it is not meant for the reader.

    `offset` is where it begins in the response; `cut` is where a run-on question begins (or the end), and `lead` where
    the answer begins behind greetings and headings, one of which may announce it. `ahead` and `beyond` are blanked as
    well, and may still be about the answer: the head of reasoning that nothing opens, and what stands behind its end;
    so are the lines of greeting and heading, `opening`, and the closing ones, `aside`.
    """

    text: str
    lowered: str
    offset: int
    cut: int
    rules: tuple[str, ...]
    lead: int = 0
    is_headed: bool = False
    ahead: str = ""
    beyond: str = ""
    opening: str = ""
    aside: str = ""


def visible_part(response: str) -> Visible:
    """Blank what is not meant for the reader, in the window at the end."""
    offset = max(0, len(response) - WINDOW)
    if offset and _is_inside_reasoning(response, offset) and _CLOSE_TAG.search(response, offset) is None:
        return Visible("", "", len(response), 0, ("unclosed_reasoning_dropped",))
    rules: list[str] = []
    ahead = beyond = ""
    text = _blank_bare_channel(fold(response[offset:]), response, rules)
    whole, lowered = text, text.lower()
    # Every mark that is looked for holds one of these.
    if "<" in text or "◁" in text or ("[" in text and ("think]" in lowered or "inst]" in lowered)):
        text = _blank_reasoning(text, rules)
        if text[:1].isspace() and not whole[:1].isspace() and _OPEN_TAG.match(whole) is None:
            ahead = lowered[:_HEAD]
        if any(map(lowered.__contains__, _TOKEN_PARTS)):
            ended = _blank_behind_end(text, rules)
            if "end_of_text" in rules:
                beyond = _SPECIAL.sub("", text[len(ended.rstrip()) :])[-_HEAD:].strip()
            text, count = _SPECIAL.subn(_blank, ended)
            if count:
                rules.append("special_tokens_removed")
    if "```" in text:
        text = _CODE_FENCE.sub(_blank, text)
    if "~~" in text:
        text = _STRUCK.sub(_blank, text)
    lowered = lowered if text is whole else text.lower()
    return Visible(text, lowered, offset, len(text), tuple(rules), ahead=ahead, beyond=beyond)


def part_before(response: str, tail: Visible) -> str:
    """What a reader sees before the window at the end; empty where all of it is reasoning."""
    closes_late = _CLOSE_TAG.search(response, tail.offset) is not None
    if closes_late or _is_inside_reasoning(response, tail.offset):
        opened = _OPEN_TAG.search(response, 0, min(WINDOW, tail.offset))
        # Where the prompt had opened it, all is reasoning up to its close.
        return response[: opened.start()] if opened else ""
    return response[: tail.offset]


def without_reasoning(text: str) -> str:
    """The text with its reasoning blanked."""
    return _blank_reasoning(text, [])


def _blank(match: re.Match[str]) -> str:
    return " " * len(match[0])


def _blank_bare_channel(text: str, response: str, rules: list[str]) -> str:
    final = text.rfind(BARE_FINAL)
    if final >= 0:
        rules.append("reasoning_dropped")
        return " " * (final + len(BARE_FINAL)) + text[final + len(BARE_FINAL) :]
    if _BARE_ANALYSIS.match(response):
        rules.append("unclosed_reasoning_dropped")
        return " " * len(text)
    return text


def _blank_behind_end(text: str, rules: list[str]) -> str:
    """Only the special tokens of a chat template may stand before the end that counts."""
    leading = _LEADING_TOKENS.match(text)
    done = _END.search(text, leading.end() if leading else 0)
    if done is None:
        return text
    if text[done.end() :].strip():
        rules.append("end_of_text")
    return text[: done.start()] + " " * (len(text) - done.start())


def _is_inside_reasoning(response: str, place: int) -> bool:
    """Whether a reasoning block opened before `place` is still open there."""
    return any(_last_open(response, place, name) > _last_close(response, place, name) for name in REASONING_NAMES)


def _last_open(response: str, place: int, name: str) -> int:
    prefixed = response.rfind(f":{name}>", 0, place)
    is_close = prefixed < 0 or "</" in response[max(0, prefixed - _LONGEST_PREFIX) : prefixed]
    return max(response.rfind(f"<{name}>", 0, place), -1 if is_close else prefixed)


def _last_close(response: str, place: int, name: str) -> int:
    prefixed = response.rfind(f":{name}>", 0, place)
    is_close = prefixed >= 0 and "</" in response[max(0, prefixed - _LONGEST_PREFIX) : prefixed]
    return max(response.rfind(f"</{name}>", 0, place), prefixed if is_close else -1)


def _blocks(text: str) -> Iterator[tuple[int, int, bool]]:
    """Start and end of each reasoning block, and whether it was closed, by a tag of its own name."""
    place = 0
    while (opened := _OPEN_TAG.search(text, place)) is not None:
        name = opened[1].lower()
        closes = (match for match in _CLOSE_TAG.finditer(text, opened.end()) if match[1].lower() == name)
        close = next(closes, None)
        place = len(text) if close is None else close.end()
        yield opened.start(), place, close is not None


def _without(text: str, blocks: Sequence[tuple[int, int, bool]]) -> str:
    parts = []
    place = 0
    for start, end, _ in blocks:
        parts += [text[place:start], " " * (end - start)]
        place = end
    return "".join((*parts, text[place:]))


def _blank_reasoning(text: str, rules: list[str]) -> str:
    """Closed blocks, a close without an open (the prompt had opened it), and an unclosed tail."""
    blocks = list(_blocks(text))
    if any(is_closed for *_, is_closed in blocks):
        rules.append("reasoning_dropped")
    if not all(is_closed for *_, is_closed in blocks):
        rules.append("unclosed_reasoning_dropped")
    text = _without(text, blocks) if blocks else text
    # Looked for first: patterns of so many beginnings are dear, and few texts hold any of them.
    is_marked = any(mark in text for mark in _MARKS)
    ends = [match.end() for match in _CLOSE_TAG.finditer(text)] if "</" in text else []
    ends += [match.end() for match in _MARKED_CLOSE.finditer(text)] if is_marked else []
    if ends:
        rules.append("reasoning_dropped")
        text = " " * max(ends) + text[max(ends) :]
    unclosed = _MARKED_OPEN.search(text) if is_marked else None
    if unclosed is not None:
        rules.append("unclosed_reasoning_dropped")
        text = text[: unclosed.start()] + " " * len(unclosed[0])
    return text

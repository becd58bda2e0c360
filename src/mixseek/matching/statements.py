"""Where a response states its answer, and where it only seems to; and what a kind of ground truth can make of it."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from mixseek.matching.discounted import is_discounted
from mixseek.matching.phrases import Phrases

_SAYS = Phrases("statements")

# Text behind a cue is read up to the end of its line, and no further than this.
_REACH = 600
# A response may repeat a cue thousands of times; the last ones are the ones that count.
_MOST_ANCHORS = 12


class Statement(NamedTuple):
    """A half-open range of the visible text that states an answer, with the cue that says so."""

    start: int
    end: int
    cue: str


# Words that announce an answer. Looked up one by one from the end: the last one usually settles it,
# and a search for a plain word is many times cheaper than one for an alternative of patterns.
_ASCII_ANCHORS = ("answer", "\\boxed", "\\fbox", "####", "a:", "ans:", "respuesta", "antwort", "jibu")
_OTHER_ANCHORS = (
    "答え", "答案", "正解", "回答", "解答", "答", "正しいのは", "正しくは", "適切なのは", "正确的是", "选", "選",
    "réponse", "ответ", "คำตอบ", "సమాధాన", "উত্তর", "정답", "उत्तर",
)  # fmt: skip
_ANY_ANCHOR = re.compile("|".join(map(re.escape, _ASCII_ANCHORS + _OTHER_ANCHORS)))
_LINE_START = re.compile(r"(?:^|\n)[ \t*]*$")
# "### Final Answer" with the value on the next line.
_HEADING = re.compile(r"(?:^|\n)[ \t]*(?:#{1,6}[ \t]*|\*\*)?(?:(?:the|final|correct|my)\s+)*$")
_UNDER_HEADING = re.compile(r"[*_ \t]*\n[\s*_]*")
# Or a parameter of a call: <parameter=answer>, <parameter name="answer">.
_TAG = re.compile(r"<(?:parameter(?:=| name=\"))?(?:final_?)?answer\"?>", re.IGNORECASE)
_TAG_REACH = 24
_JSON_STRING = re.compile(r'[ \t\n]*"((?:[^"\\]|\\.)*)', re.DOTALL)
_JSON_BARE = re.compile(r"[ \t\n]*([^,}\n]*)")
_OPEN_BRACE = re.compile(r" *\{")
_BRACE = re.compile(r"\\.|[{}]", re.DOTALL)
# Markup and quotes that stand around a value, and the line break after "Answer:".
_LEAD = re.compile(r"[\s*_\"']*")


def firm_statements(text: str, lowered: str, start: int, end: int) -> Iterator[Statement]:
    """Statements behind firm cues in [start, end), last first."""
    for place, anchor in _anchors(lowered, start, end):
        statement = _at_anchor(text, lowered, place, anchor, start, end)
        if statement is not None:
            yield statement


def _anchors(lowered: str, start: int, end: int) -> Iterator[tuple[int, str]]:
    """Places of announcing words, last first, at most _MOST_ANCHORS of them."""
    last = lowered.rfind("answer", start, end)
    if last >= 0 and _ANY_ANCHOR.search(lowered, last + 1, end) is None:
        # Most responses are settled by their last "answer": the rest is looked up only when it is asked for.
        yield last, "answer"
        end = last
    words = _ASCII_ANCHORS if lowered.isascii() else _ASCII_ANCHORS + _OTHER_ANCHORS
    ahead = [(place, word) for word in words if (place := lowered.rfind(word, start, end)) >= 0]
    for _ in range(_MOST_ANCHORS):
        if not ahead:
            return
        place, word = ahead.pop(ahead.index(max(ahead)))
        yield place, word
        earlier = lowered.rfind(word, start, place)
        if earlier >= 0:
            ahead.append((earlier, word))


def _at_anchor(text: str, lowered: str, position: int, anchor: str, start: int, end: int) -> Statement | None:
    behind = position + len(anchor)
    if anchor == "answer":
        return _at_answer(text, lowered, position, start, end)
    if anchor[0] == "\\":
        return _braced(text, behind, end)
    if anchor == "####":
        return _line_from(text, behind, end, "hash_marks")
    if anchor == "ans:":
        is_word = not lowered[max(start, position - 1) : position].isalpha()
        return _line_from(text, behind, end, "answer_cue") if is_word else None
    if anchor == "a:":
        is_first = _LINE_START.search(lowered, max(start, position - 8), position) is not None
        return _line_from(text, behind, end, "answer_line") if is_first else None
    after = _SAYS.after_cjk.match(lowered, behind, end)
    return _line_from(text, after.end(), end, "answer_cue") if after else None


def _at_answer(text: str, lowered: str, position: int, start: int, end: int) -> Statement | None:
    tag_start = max(start, position - _TAG_REACH)
    has_mark = lowered.find("<", tag_start, position) >= 0
    tag = _TAG.search(text, tag_start, min(end, position + 8)) if has_mark else None
    if tag is not None:
        if lowered[max(start, tag.start() - 8) : tag.start()].rstrip(" *`:").endswith(" not"):
            return None
        close = lowered.find("</", tag.end(), end)
        if close < 0 and not text[tag.end() : end].strip():
            return None  # a closing tag without its slash: what was closed stands before it
        stop = close if close >= 0 else min(end, tag.end() + _REACH)
        return _trimmed(text, tag.end(), stop, "answer_tag", keep_empty=True)
    if has_mark and lowered[max(0, position - 8) : position].endswith(("</", "</final_")):
        return None
    after = _SAYS.after_answer.match(lowered, position + 6, min(end, position + 200))
    if after is not None:
        if lowered.startswith('"', position + 6) and lowered[position - 1 : position] in {'"', "_"}:
            return _json_value(text, after.end(), end)
        if is_discounted(lowered, start, position, after.end()):
            return None
        return _line_from(text, after.end(), end, "answer_cue")
    heading = _UNDER_HEADING.match(lowered, position + 6, end)
    if heading is not None and _HEADING.search(lowered, max(start, position - 40), position):
        return _line_from(text, heading.end(), end, "answer_cue")
    before = _SAYS.before_answer.search(lowered, max(start, position - 200), position)
    if before is not None and not lowered.startswith(" if", position + 6):
        return _trimmed(text, before.start(1), before.end(1), "answer_behind")
    return None


def _json_value(text: str, position: int, end: int) -> Statement | None:
    quoted = _JSON_STRING.match(text, position, end)
    if quoted is not None:
        return _trimmed(text, *quoted.span(1), "json_field", keep_empty=True)
    bare = _JSON_BARE.match(text, position, min(end, position + _REACH))
    return _trimmed(text, *bare.span(1), "json_field") if bare else None


def _braced(text: str, position: int, end: int) -> Statement | None:
    """The balanced contents of \\boxed{…}; an unclosed one was cut off and states nothing."""
    opened = _OPEN_BRACE.match(text, position, end)
    if opened is None:
        return None
    depth = 1
    for brace in _BRACE.finditer(text, opened.end(), min(end, opened.end() + 4 * _REACH)):
        depth += {"{": 1, "}": -1}.get(brace[0], 0)  # an escaped one is a character like others
        if depth == 0:
            return _trimmed(text, opened.end(), brace.start(), "boxed")
    return None


# Where a structured answer has no field of the name: the last of these is the answer.
_OTHER_FIELD = re.compile(
    r"[\"<](?:final|final_choice|result|solution|output|prediction|selected|selection|pick|(?:selected_|correct_)?option"
    r"|(?:answer_|selected_|correct_)?choice)(?:\"\s*:|>)(?!\s*[{\[])"
)


def other_fields(text: str, end: int) -> Iterator[Statement]:
    """The field that states the answer of a response that is an object or an element as a whole, under another name."""
    if text.lstrip()[:1] not in {"{", "<"}:
        return
    for match in reversed(list(_OTHER_FIELD.finditer(text, 0, end))):
        close = text.find("</", match.end(), end) if match[0][0] == "<" else -1
        is_tag = match[0][0] == "<" and close >= 0
        place = _trimmed(text, match.end(), close, "answer_tag") if is_tag else _json_value(text, match.end(), end)
        if place is not None:
            yield place


def _line_from(text: str, position: int, end: int, cue: str) -> Statement | None:
    lead = _LEAD.match(text, position, end)
    begin = lead.end() if lead else position
    stop = text.find("\n", begin, end)
    piece = text[begin : min(stop if stop >= 0 else end, begin + _REACH)].rstrip()
    return Statement(begin, begin + len(piece), cue) if piece else None


def _trimmed(text: str, start: int, end: int, cue: str, *, keep_empty: bool = False) -> Statement | None:
    piece = text[start:end]
    start += len(piece) - len(piece.lstrip())
    end = max(start, end - (len(piece) - len(piece.rstrip())))
    return Statement(start, end, cue) if start < end or keep_empty else None


# One set of signs first: a search skips to the next of them.
_SENTENCE_END = re.compile(r"[.!?。\n](?:(?<=[。\n])|(?=\s|$))")
_SENTENCE_BREAK = re.compile(r"(?<=[.!?])\s|[。\n]")
_LAST_SENTENCES = 1_000
_TAIL = 1_500
_LABEL = re.compile(r"\W*[A-Z0-9]{1,2}\.(?=[ \t]+\S+(?:[ \t]+\S+){0,2}[ \t]*(?:\n|$))")


def _label_end(text: str, start: int) -> int:
    """Where a sentence begins that is led by the label of an option: the full stop of "B. Mars" ends nothing."""
    label = _LABEL.match(text, start)
    return label.end() if label else start


def is_one_sentence(text: str) -> bool:
    """No sentence ends before the end."""
    match = _SENTENCE_END.search(text, _label_end(text, 0))
    return match is None or not text[match.end() :].strip(" .!?。\"'*)")


def first_sentence(text: str) -> str:
    """Up to the first full stop that ends something."""
    match = _SENTENCE_END.search(text)
    # "7. So …" as well as "7." alone.
    return text if match is None else text[: match.start()]


def last_sentences(text: str) -> list[str]:
    """The sentences and lines of the end of a text."""
    return [piece for piece in _SENTENCE_BREAK.split(text.rstrip()[-_LAST_SENTENCES:]) if piece.strip()]


def soft_statements(text: str, lowered: str, start: int, end: int) -> list[Statement]:
    """The last conclusion, the last line, the last sentence, the first sentence: no cue proves any of them."""
    begin = max(start, end - _TAIL)
    places: list[Statement | None] = []
    leading = _SAYS.conclusion_word.match(lowered, 0, end) if begin == 0 else None
    conclusions = [place.end() for place in (leading, *_SAYS.conclusion.finditer(lowered, begin, end)) if place]
    if conclusions:
        places.append(_sentence_from(text, conclusions[-1], end, "conclusion"))
    line = _last_line(text, begin, end)
    if line is not None:
        places.append(line)
        # Not up to the last character only: there the point of "4.5" would end a sentence.
        stops = _SENTENCE_END.finditer(text, _label_end(text, line.start), line.end)
        ends = [stop.end() for stop in stops if stop.end() < line.end]
        places.append(_trimmed(text, ends[-1], line.end, "last_sentence") if ends else None)
    begin = end - len(text[start:end].lstrip())
    stop = _SENTENCE_END.search(text, begin, min(end, begin + _REACH))
    first = _trimmed(text, begin, stop.start() if stop else min(end, begin + _REACH), "first_sentence")
    if first is not None and text[first.end : first.end + 1] != "?":
        places.append(first)
    return [statement for statement in places if statement is not None]


def _sentence_from(text: str, position: int, end: int, cue: str) -> Statement:
    stop = _SENTENCE_END.search(text, position + 1, end)
    finish = stop.start() if stop else min(end, position + _REACH)
    # "Therefore:" with the value on the next line.
    if not text[position:finish].strip(" :,*") and stop:
        return _sentence_from(text, stop.end(), end, cue) if stop.end() < end else Statement(position, finish, cue)
    return Statement(position, finish, cue)


def _last_line(text: str, start: int, end: int) -> Statement | None:
    end = start + len(text[start:end].rstrip())
    begin = max(text.rfind("\n", start, end) + 1, start)
    return _trimmed(text, max(begin, end - _REACH), end, "last_line")


_BRACKET_LINE = re.compile(r"^[ \t*`\"']*([\[\](){}<>][\[\](){}<> \t]*)[ \t*`\"'.]*$", re.MULTILINE)


def bracket_lines(text: str) -> list[Statement]:
    """Lines of nothing but brackets, among the last few thousand characters."""
    lines = _BRACKET_LINE.finditer(text, max(0, len(text) - 4 * _TAIL))
    return [Statement(line.start(1), line.end(1), "bracket_line") for line in lines]

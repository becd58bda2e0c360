"""Where a response states its answer: firm cues ("the answer is", \\boxed{}, <answer>), then softer ones.

A statement is a place, not a value: what stands there is read by the kind of the ground truth.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from mixseek.matching.discounted import is_discounted

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
    "答え", "答案", "正解", "回答", "解答", "答", "正しいのは", "正确的是", "选", "選",
    "réponse", "ответ", "คำตอบ", "సమాధాన", "উত্তর", "정답", "उत्तर",
)  # fmt: skip
_ANY_ANCHOR = re.compile("|".join(map(re.escape, _ASCII_ANCHORS + _OTHER_ANCHORS)))
_LINE_START = re.compile(r"(?:^|\n)[ \t*]*$")
# Between "answer" and its value: "to this question is", "would be", ":", " =", or JSON's '": '.
_AFTER_ANSWER = re.compile(
    r"s?[\"'*_)\]]*(?:"
    r"\s*[:=]\s*"
    r"|(?:\s+(?!choices|options|depends|varies|is\b|are\b|was\b|be\b)[^\s.?!:;\n]+){0,14}?\s*"
    r"(?:\b(?:is|are|was|be|being|equals?)\b(?!\s+(?:not\b|incorrect|wrong|correct\b|right\b|unclear|based|derived|"
    r"determined|found|given|provided|available|listed|supported|clear|obtained|calculated|computed|reached|"
    r"rounded to (?:the|\d+|one|two|three) \w*(?:decimal|place|significant|nearest|cent|whole)|"
    r"the (?:sum|product|difference|quotient) of [^.=\n]*\.?\s*(?:\n|$)))\s*(?:that\b)?\s*[:=]?|[:=])\s*"
    r"|\s+-\s+(?=\W*[a-z0-9](?![a-z]))"
    r"|\s+(?=\(?[a-z]\)?\s*$)"
    # "Answer (C) is wrong" gives no answer.
    r"|\s+(?=\([a-z0-9]\))(?!\([a-z0-9]\)\s+(?:(?:is|was|are|would be|does|did|can|could|has)\s*"
    r"(?:not\b|n't|incorrect|wrong|false|invalid|impossible|eliminated|ruled)|cannot|contradicts?|fails?)))"
)
# "### Final Answer" with the value on the next line.
_HEADING = re.compile(r"(?:^|\n)[ \t]*(?:#{1,6}[ \t]*|\*\*)?(?:(?:the|final|correct|my)\s+)*$")
_UNDER_HEADING = re.compile(r"[*_ \t]*\n[\s*_]*")
_TAG = re.compile(r"<(?:final_?)?answer>", re.IGNORECASE)
_AFTER_CJK = re.compile(
    r"[\"'*_)\]]*\s*(?:は|が|是|为|為|应该是|应为|應為|择|擇|択肢|은|는)?"
    r"(?:\s*(?:correcta|correcte|final[ea]?))?(?:\s*\b(?:ist|lautet|es|est|ni)\b)?(?:\s*\bla\b)?\s*[:=,]?\s*(?:应该是|应为|是|选择?|選擇?)?"
)
# Markup and quotes that stand around a value, and the line break after "Answer:".
_LEAD = re.compile(r"[\s*_\"']*")
_BEFORE_ANSWER = re.compile(
    r"(?:^|[.!?:。\n])([^.!?:。\n]{1,160}?)\s+(?:is|are|was|would be|should be|must be|seems to be|appears to be)\s+"
    r"(?:(?:therefore|thus|clearly|indeed|most likely|likely|probably)\s+)?(?:the|our|my|your|a|an)?\s*"
    r"(?:(?:only|most|best|final|correct|right|appropriate|likely|logical|accurate|suitable|valid|possible|plausible|required|desired)\s+)*$"
)


def firm_statements(text: str, lowered: str, start: int, end: int) -> Iterator[Statement]:
    """Statements behind firm cues in [start, end), last first."""
    for position, anchor in _anchors(lowered, start, end):
        statement = _at_anchor(text, lowered, position, anchor, start, end)
        if statement is not None:
            yield statement


def _anchors(lowered: str, start: int, end: int) -> Iterator[tuple[int, str]]:
    """Places of announcing words, last first, at most _MOST_ANCHORS of them."""
    last = lowered.rfind("answer", start, end)
    if last >= 0 and _ANY_ANCHOR.search(lowered, last + 1, end) is None:
        # Most responses are settled by their last "answer": the rest is looked up only when it is asked for.
        yield last, "answer"
    else:
        last = -1
    words = _ASCII_ANCHORS if lowered.isascii() else _ASCII_ANCHORS + _OTHER_ANCHORS
    ahead = [(place, word) for word in words if (place := lowered.rfind(word, start, end)) >= 0]
    for _ in range(_MOST_ANCHORS):
        if not ahead:
            return
        latest = max(ahead)
        place, word = latest
        if place != last:
            yield latest
        ahead.remove(latest)
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
        return (
            _line_from(text, behind, end, "answer_line")
            if _LINE_START.search(lowered, max(start, position - 8), position)
            else None
        )
    after = _AFTER_CJK.match(lowered, behind, end)
    return _line_from(text, after.end(), end, "answer_cue") if after else None


def _at_answer(text: str, lowered: str, position: int, start: int, end: int) -> Statement | None:
    tag_start = max(start, position - 7)
    has_mark = lowered.find("<", max(0, position - 8), position) >= 0
    tag = _TAG.search(text, tag_start, min(end, position + 8)) if has_mark else None
    if tag is not None:
        if tag.start() > 0 and lowered.startswith("</", tag.start()):
            return None
        if lowered[max(start, tag.start() - 8) : tag.start()].rstrip(" *`:").endswith(" not"):
            return None
        close = lowered.find("</", tag.end(), end)
        return _trimmed(
            text, tag.end(), close if close >= 0 else min(end, tag.end() + _REACH), "answer_tag", keep_empty=True
        )
    if has_mark and lowered[max(0, position - 8) : position].endswith(("</", "</final_")):
        return None
    after = _AFTER_ANSWER.match(lowered, position + 6, min(end, position + 200))
    if after is not None:
        if lowered.startswith('"', position + 6) and lowered[position - 1 : position] in {'"', "_"}:
            return _json_value(text, after.end(), end)
        if is_discounted(lowered, start, position, after.end(), end):
            return None
        return _line_from(text, after.end(), end, "answer_cue")
    heading = _UNDER_HEADING.match(lowered, position + 6, end)
    if heading is not None and _HEADING.search(lowered, max(start, position - 40), position):
        return _line_from(text, heading.end(), end, "answer_cue")
    before = _BEFORE_ANSWER.search(lowered, max(start, position - 200), position)
    if before is not None and not lowered.startswith(" if", position + 6):
        return _trimmed(text, before.start(1), before.end(1), "answer_behind")
    return None


def _json_value(text: str, position: int, end: int) -> Statement | None:
    while position < end and text[position] in " \t\n":
        position += 1
    if position < end and text[position] == '"':
        close = position + 1
        while close < end and text[close] != '"':
            close += 2 if text[close] == "\\" else 1
        return _trimmed(text, position + 1, min(close, end), "json_field", keep_empty=True)
    stop = min((place for place in (text.find(mark, position, end) for mark in ",}\n") if place >= 0), default=end)
    return _trimmed(text, position, min(stop, position + _REACH), "json_field")


def _braced(text: str, position: int, end: int) -> Statement | None:
    """The balanced contents of \\boxed{…}; an unclosed one was cut off and states nothing."""
    while position < end and text[position] == " ":
        position += 1
    if position >= end or text[position] != "{":
        return None
    depth = 0
    escaped = False
    for place in range(position, min(end, position + 4 * _REACH)):
        character = text[place]
        if escaped or character == "\\":
            escaped = not escaped
        elif character == "{":
            depth += 1
        elif character == "}":
            depth -= 1
            if depth == 0:
                return _trimmed(text, position + 1, place, "boxed")
    return None


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


_CONCLUSION = re.compile(
    r"(?:^|[.!?。\n][ \t]*|\*\*)"
    r"(?:so|therefore|thus|hence|consequently|accordingly|as a result|in conclusion|to conclude|in summary|overall|"
    r"conclusion|finally|final|result|based on|"
    r"所以|因此|综上|结论|結論|よって|したがって|従って|故に|つまり)(?![a-z])",
)
_SENTENCE_END = re.compile(r"[.!?](?=\s|$)|[。\n]")
_TAIL = 1_500


def is_one_sentence(text: str) -> bool:
    """No sentence ends before the end."""
    found = _SENTENCE_END.search(text)
    return found is None or not text[found.end() :].strip(" .!?。\"'*)")


def soft_statements(text: str, lowered: str, start: int, end: int) -> list[Statement]:
    """The last conclusion, the last line, the last sentence, the first sentence: no cue proves any of them."""
    begin = max(start, end - _TAIL)
    found: list[Statement] = []
    conclusions = [place.end() for place in _CONCLUSION.finditer(lowered, begin, end)]
    if conclusions:
        found.append(_sentence_from(text, conclusions[-1], end, "conclusion"))
    line = _last_line(text, begin, end)
    if line is not None:
        found.append(line)
        sentence = _last_sentence(text, line)
        if sentence is not None:
            found.append(sentence)
    first = _first_sentence(text, start, end)
    if first is not None and text[first.end : first.end + 1] != "?":
        found.append(first)
    return found


def _sentence_from(text: str, position: int, end: int, cue: str) -> Statement:
    stop = _SENTENCE_END.search(text, position + 1, end)
    finish = stop.start() if stop else min(end, position + _REACH)
    # "Therefore:" with the value on the next line.
    if not text[position:finish].strip(" :,*") and stop:
        return _sentence_from(text, stop.end(), end, cue) if stop.end() < end else Statement(position, finish, cue)
    return Statement(position, finish, cue)


def _last_line(text: str, start: int, end: int) -> Statement | None:
    end = start + len(text[start:end].rstrip())
    if end <= start:
        return None
    begin = max(text.rfind("\n", start, end) + 1, start)
    return _trimmed(text, max(begin, end - _REACH), end, "last_line")


def _last_sentence(text: str, line: Statement) -> Statement | None:
    previous = None
    for found in _SENTENCE_END.finditer(text, line.start, line.end - 1):
        previous = found
    if previous is None:
        return None
    return _trimmed(text, previous.end(), line.end, "last_sentence")


def _first_sentence(text: str, start: int, end: int) -> Statement | None:
    start = end - len(text[start:end].lstrip())
    if start >= end:
        return None
    stop = _SENTENCE_END.search(text, start, min(end, start + _REACH))
    return _trimmed(text, start, stop.start() if stop else min(end, start + _REACH), "first_sentence")


_BRACKET_LINE = re.compile(r"^[ \t*`\"']*([\[\](){}<>][\[\](){}<> \t]*)[ \t*`\"'.]*$", re.MULTILINE)


def bracket_lines(text: str) -> list[Statement]:
    """Lines of nothing but brackets, among the last few thousand characters."""
    found = _BRACKET_LINE.finditer(text, max(0, len(text) - 4 * _TAIL))
    return [Statement(line.start(1), line.end(1), "bracket_line") for line in found]

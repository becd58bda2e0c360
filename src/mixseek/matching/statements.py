"""Where a response states its answer, and where it only seems to; and what a kind of ground truth can make of it."""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator
from enum import StrEnum
from typing import ClassVar, NamedTuple

from mixseek.domain.judgments import ErrorType, Span
from mixseek.matching.visible import Phrases

# Where a response states its answer, and where it only seems to.

# Answers that are named but not given: denied, supposed, asked about, checked, or described.

_SENTENCE_STARTS = (". ", "? ", "! ", "; ", "\n")
# How far before a cue its sentence is looked at.
_SENTENCE = 200
_SAYS = Phrases("statements")


# Most responses end like this, with a value and a full stop.
_PLAIN_LEADS = tuple(
    f"{mark}{lead}the answer is {bracket}"
    for lead in ("so ", "", "thus, ", "hence, ", "therefore, ")
    for bracket in ("", "(")
    for mark in (". ", "\n")
)


def ends_plainly(lowered: str, start: int, end: int, cut: int) -> bool:
    """ "So the answer is (B)." closes the response: nothing in these words can leave the value at [start, end) open."""
    return cut - end < 4 and lowered.endswith(_PLAIN_LEADS, 0, start) and not lowered[end:cut].strip(" .)*\n")


_PLAIN_CUE = re.compile(r"(?:[.?!;] |\n)(?:so |thus,? |hence,? )?the $")


def is_discounted(lowered: str, start: int, position: int, value: int) -> bool:
    """Whether the answer announced at `position`, with its value from `value` on, is not the one that is given."""
    if lowered.startswith(" is ", position + 6) and _PLAIN_CUE.search(lowered, max(start, position - 16), position):
        # "So the answer is": most cues are of this kind, and nothing in them can discount.
        return False
    before = lowered[max(start, position - _SENTENCE) : position]
    for mark in _SENTENCE_STARTS:
        before = before[before.rfind(mark) + 1 :]
    between = lowered[position + 6 : value]
    if _SAYS.partial.match(between) or _SAYS.denied.search(between):
        return True
    if _SAYS.checked.search(before) or _SAYS.somebody.search(before):
        return True
    if _SAYS.would.search(between) and _SAYS.condition.search(before):
        return _SAYS.not_met.search(before) is not None
    return bool(_SAYS.asked.search(before) and "?" in lowered[value : value + 40].partition("\n")[0])


def is_ruled_out(lowered: str, value: int, end: int) -> bool:
    """Whether the value from `value` on stands under a condition that is not met: it takes nothing else back."""
    return _SAYS.only_if.match(lowered, value, end) is not None


# Where a response states its answer: firm cues ("the answer is", \boxed{}, <answer>), then softer ones. A statement is
# a place, not a value: what stands there is read by the kind of the ground truth.

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
    for found in reversed(list(_OTHER_FIELD.finditer(text, 0, end))):
        close = text.find("</", found.end(), end) if found[0][0] == "<" else -1
        is_tag = found[0][0] == "<" and close >= 0
        place = _trimmed(text, found.end(), close, "answer_tag") if is_tag else _json_value(text, found.end(), end)
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
    found = _SENTENCE_END.search(text, _label_end(text, 0))
    return found is None or not text[found.end() :].strip(" .!?。\"'*)")


def first_sentence(text: str) -> str:
    """Up to the first full stop that ends something."""
    found = _SENTENCE_END.search(text)
    # "7. So …" as well as "7." alone.
    return text if found is None else text[: found.start()]


def last_sentences(text: str) -> list[str]:
    """The sentences and lines of the end of a text."""
    return [piece for piece in _SENTENCE_BREAK.split(text.rstrip()[-_LAST_SENTENCES:]) if piece.strip()]


def soft_statements(text: str, lowered: str, start: int, end: int) -> list[Statement]:
    """The last conclusion, the last line, the last sentence, the first sentence: no cue proves any of them."""
    begin = max(start, end - _TAIL)
    found: list[Statement | None] = []
    leading = _SAYS.conclusion_word.match(lowered, 0, end) if begin == 0 else None
    conclusions = [place.end() for place in (leading, *_SAYS.conclusion.finditer(lowered, begin, end)) if place]
    if conclusions:
        found.append(_sentence_from(text, conclusions[-1], end, "conclusion"))
    line = _last_line(text, begin, end)
    if line is not None:
        found.append(line)
        ends = [stop.end() for stop in _SENTENCE_END.finditer(text, _label_end(text, line.start), line.end - 1)]
        found.append(_trimmed(text, ends[-1], line.end, "last_sentence") if ends else None)
    begin = end - len(text[start:end].lstrip())
    stop = _SENTENCE_END.search(text, begin, min(end, begin + _REACH))
    first = _trimmed(text, begin, stop.start() if stop else min(end, begin + _REACH), "first_sentence")
    if first is not None and text[first.end : first.end + 1] != "?":
        found.append(first)
    return [statement for statement in found if statement is not None]


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
    found = _BRACKET_LINE.finditer(text, max(0, len(text) - 4 * _TAIL))
    return [Statement(line.start(1), line.end(1), "bracket_line") for line in found]


# Responses that come to no answer: refusals, programs, texts that break off or turn in circles.

# A response this short is all closing words; of a longer one only the last sentence is.
_CLOSING = 300
# A response whose last word is to print something says what it would answer only when it is run.
_PRINTS = re.compile(r"\s*print\(.*\)\s*$")
_CODE_HINT = re.compile(r"print\(|\bimport \w|\bdef \w+\(|^\w+ = ", re.MULTILINE)


def is_opening(text: str) -> bool:
    """Nothing but punctuation or the announcement of an answer that never comes."""
    return len(text) < _CLOSING and _SAYS.opening.fullmatch(text.strip().lower()) is not None


def find_refusal(lowered: str) -> Span | None:
    """Where the closing words decline to answer, or None."""
    text = lowered.rstrip()
    begin = len(text) - len(text.lstrip())
    if len(text) - begin > _CLOSING:
        stops = (text.rfind(mark, 0, len(text) - 1) for mark in (". ", "。", "\n"))
        begin = max(*stops, len(text) - _CLOSING)
    found = _SAYS.refusal.search(text, begin)
    if found is None or _SAYS.concession.search(text, found.end()):
        return None
    return Span(*found.span())


def is_code(text: str) -> bool:
    """A program in place of an answer; it is never run, so what it would print is not known."""
    if ("=" not in text and "print(" not in text) or _CODE_HINT.search(text) is None:
        return False
    lines = [line for line in text[:8_000].split("\n") if line.strip()]
    is_mostly_code = sum(bool(_SAYS.code_line.match(line)) for line in lines) * 10 >= len(lines) * 7
    return bool(lines and _PRINTS.match(lines[-1])) or (len(lines) >= 2 and is_mostly_code)


_DIGITS = re.compile(r"\d+")
_PERIODS = range(4, 120)


def breaks_off(text: str) -> bool:
    """Whether a long response ends in mid-sentence or turns in a circle: the model never came to an answer."""
    text = text.rstrip()
    tail = text[-400:]
    if len(text) < 800 or not tail:
        return False
    last_line = tail.rpartition("\n")[2]
    return (len(last_line) > 25 and (tail[-1].isalpha() or tail[-1] in ",-")) or turns_in_circles(text)


def turns_in_circles(text: str) -> bool:
    """Whether the end of the text repeats one unit over and over, counters aside."""
    shape = _DIGITS.sub("0", text.rstrip()[-240:])
    return len(shape) > 200 and any(shape[period:] == shape[:-period] for period in _PERIODS)


# What a kind of ground truth makes of a stated answer.


class Decision(StrEnum):
    """UNDECIDED is honest: what the rules decide must be right."""

    CORRECT = "correct"
    INCORRECT = "incorrect"
    UNDECIDED = "undecided"


class Comparison(NamedTuple):
    """A decision on a text and the rules that led there; the span is within the text, None where silence decided."""

    decision: Decision
    span: Span | None
    rules: tuple[str, ...]


class MatchResult(NamedTuple):
    """The decision, the exact place in the original response, and the rules that led there, in order."""

    decision: Decision
    extracted_answer: str | None
    span: Span | None
    rules: tuple[str, ...]
    # None while undecided, and for a wrong answer: why it is wrong, rules cannot know.
    error_type: ErrorType | None


# The rule of an answer that only a comparer of algebra could decide, where there is none.
NEEDS_MATHS = "needs_maths"


# Values that are made for every response are tuples: a frozen dataclass takes four times as long to make.
class Reading(NamedTuple):
    """A value read in a piece of text, already compared; offsets are within the piece."""

    decision: Decision
    start: int
    end: int
    rule: str

    def left_open(self, rule: str) -> "Reading":
        return self._replace(decision=Decision.UNDECIDED, rule=rule)


class Reader(ABC):
    """Knows one ground truth; reads pieces of responses against it."""

    kind: ClassVar[str]
    spans_lines: ClassVar[bool] = False  # whether an answer of this kind may be written over several lines
    question: str = ""

    @abstractmethod
    def read(self, piece: str, *, firm: bool) -> Reading | None:
        """None when the piece states no value of this kind. `firm`: the piece stands behind a firm cue."""

    @abstractmethod
    def is_other(self, text: str, place: int) -> bool:
        """Whether a value of this kind begins at `place` that is not the ground truth."""

    def is_absent(self, text: str) -> bool:
        """Whether the ground truth stands nowhere in the text; False for kinds of which that cannot be seen."""
        return False

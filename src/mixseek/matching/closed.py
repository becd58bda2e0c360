"""Answers of a closed kind: letters, polarities, numbers, brackets, word lists."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from mixseek.domain.judgments import Span
from mixseek.matching.commitment import as_said
from mixseek.matching.discounted import is_ruled_out
from mixseek.matching.option_letters import OptionReader
from mixseek.matching.outcome import Decision
from mixseek.matching.reading import Reader, Reading
from mixseek.matching.statements import Statement, bracket_lines, firm_statements, is_one_sentence, soft_statements
from mixseek.matching.unanswered import breaks_off, find_refusal, is_code, is_opening, turns_in_circles
from mixseek.matching.visible import Visible

# A list may run over many lines behind its cue.
_LIST_REACH = 6_000
# Up to here a whole response or line is its answer; beyond, it is prose.
_COMPACT = 40
# How far into a piece its first words reach: markup, a quote, "a ".
_LEAD = 6
# Up to here a closing line or conclusion holds nothing but a value.
_BARE = 16
# In a longer response the first sentence sets the scene; in a short one it may be the answer.
_SHORT = 1_500
# A longer line of a list says something about its option.
_OPTION_LINE = 80
# How far back two answers may lie to be turns of one circle.
_CIRCLE_REACH = 600
_CIRCLE = 3
_FIELDS = {"json_field", "answer_tag"}
_PROSE = {"answer_cue", "answer_behind"}
# "Answer:" above a list of steps announces the steps.
_STEPS = re.compile(r"(?:step\s*\d|1[.)]\s[^\n]*\n+[\s*]*2[.)]|[-*•]\s[^\n]*\n+\s*[-*•]\s)", re.IGNORECASE)
# What stands in a field, in a box or behind a mark of its own is given, whatever is said around it.
_SENTENCES = _PROSE | {"answer_line", "whole_response"}
_CONTAINERS = {"json_field", "answer_tag", "boxed"}


class Closed(NamedTuple):
    """A decision on the visible text; the span is within it, None where silence decided."""

    decision: Decision
    span: Span | None
    rules: tuple[str, ...]


def match_closed(visible: Visible, reader: Reader) -> Closed:
    """The last firm statement, else what the closing words agree on, else what silence proves."""
    text = visible.text
    lowered = text.lower()
    firm, named = _read_firm(text, lowered, visible, reader)
    if (firm is None or _may_be_program(text, firm[0])) and is_code(text):
        return Closed(Decision.UNDECIDED, None, ("code",))
    soft = _read_soft(text, lowered, visible, reader) if firm is None or firm[0].start >= visible.cut else []
    if named is not None and all(reading.decision is not Decision.CORRECT for _, reading in soft):
        soft.append(named)
    decisions = {reading.decision for _, reading in soft}
    if firm is not None:
        if decisions and decisions != {firm[1].decision}:
            # The cue belongs to a run-on question; what was said before it says otherwise.
            return Closed(Decision.UNDECIDED, None, ("answers_conflict",))
        return _stated(*firm)
    if is_opening(text):
        return Closed(Decision.INCORRECT, None, ("no_answer",))
    refusal = find_refusal(lowered)
    if refusal is not None and not _answers_all_the_same(refusal, soft):
        decision = Decision.UNDECIDED if Decision.CORRECT in decisions else Decision.INCORRECT
        return Closed(decision, refusal, ("refusal",))
    unfinished = breaks_off(text)
    if unfinished and decisions <= {Decision.INCORRECT}:
        return Closed(Decision.INCORRECT, None, ("breaks_off",))
    complete = not unfinished or reader.spans_lines or (bool(soft) and _ends_before(text, soft[0][0]))
    if len(decisions) == 1 and visible.cut == len(text) and complete:
        return _stated(*soft[0])
    if isinstance(reader, OptionReader) and reader.lists_every_option(text):
        return Closed(Decision.INCORRECT, None, ("every_option_listed",))
    if reader.is_absent(text):
        return Closed(Decision.INCORRECT, None, ("never_stated",))
    reason = "breaks_off" if unfinished else "statements_conflict" if decisions else "no_statement"
    return Closed(Decision.UNDECIDED, None, (reason,))


def _answers_all_the_same(refusal: Span, soft: list[tuple[Statement, Reading]]) -> bool:
    """Whether something is drawn from not knowing: "it cannot be told who, so it is ambiguous"."""
    return any(
        reading.rule == "option_text"
        or (
            statement.start + reading.end > refusal.end
            and (statement.cue == "conclusion" or statement.start <= refusal.start or reading.rule == "option_label")
        )
        for statement, reading in soft
    )


def _stated(statement: Statement, reading: Reading) -> Closed:
    span = Span(statement.start + reading.start, statement.start + reading.end)
    return Closed(reading.decision, span, (statement.cue, reading.rule))


def _read_firm(
    text: str, lowered: str, visible: Visible, reader: Reader
) -> tuple[tuple[Statement, Reading] | None, tuple[Statement, Reading] | None]:
    """The last firm statement that holds a value of the wanted kind; without one, where the right value is named."""
    chosen: tuple[Statement, Reading] | None = None
    named: tuple[Statement, Reading] | None = None
    rival: Decision | None = None
    has_field = '"answer"' in text and text.lstrip()[:1] == "{" and text.rstrip()[-1:] == "}"
    for statement in _firm(text, lowered, visible):
        # Words in another field of an object do not overrule its answer field.
        if has_field and statement.cue in _PROSE:
            continue
        reading = _read_statement(text, statement, reader)
        if reading is None:
            continue
        if statement.cue in _SENTENCES:
            said = as_said(text, lowered, statement.start, reading, visible.cut, reader)
            if said is not reading:
                if reading.decision is Decision.CORRECT:
                    named = named or (statement, said)
                if rival is None and not is_ruled_out(lowered, statement.start, visible.cut):
                    rival = reading.decision
                continue
        if chosen is None:
            chosen = (statement, reading)
            if rival not in {None, reading.decision} and statement.cue in _SENTENCES:
                # One value is stated, another one named behind it: which of them was meant?
                return (statement, Reading(Decision.UNDECIDED, reading.start, reading.end, "answers_conflict")), None
            if (
                statement.cue != "json_field"
                and lowered.count("answer", max(0, len(lowered) - _CIRCLE_REACH)) < _CIRCLE
            ):
                break  # nothing before it could change anything
            continue
        # The last statement counts (seed 001), unless the two are one model going round in circles,
        # or two answer fields of which only one can have been meant.
        if reading.decision != chosen[1].decision and (
            statement.cue == chosen[0].cue == "json_field"
            or (len(text) - statement.start < _CIRCLE_REACH and turns_in_circles(text))
        ):
            return (statement, Reading(Decision.UNDECIDED, reading.start, reading.end, "answers_conflict")), None
        break
    return (None, named) if chosen is None else (_corrected(text, lowered, visible, reader, *chosen), None)


# "Wait, no, it is B": at the start of a sentence behind the answer.
_CORRECTION = re.compile(
    r"(?:^|[.!?。\n)*][ \t]*)(?:oh |hmm,? |oops,? )?"
    r"(?:wait|actually,|correction|scratch that|on second thought|i made an? (?:mistake|error)|my mistake|sorry,|"
    r"apologies|no,? (?:it|that|the answer)|let me (?:correct|re-?\w+)|i mean|"
    r"訂正|待って|いや|すみません|等等|更正|不对|我错了)"
)
_CORRECTED_VALUE = re.compile(
    r"(?:\b(?:it is|it's|it must be|it should be|should be|must be|is|to be)\b|は|是|为|:)\s*"
)


def _corrected(
    text: str, lowered: str, visible: Visible, reader: Reader, statement: Statement, reading: Reading
) -> tuple[Statement, Reading]:
    """A correction behind the answer counts in its place; one that names no new value leaves it open."""
    if statement.cue in _FIELDS or reader.spans_lines:
        return statement, reading
    begin = statement.start + reading.end
    marker = _CORRECTION.search(lowered, begin, min(visible.cut, begin + 800))
    if marker is None:
        return statement, reading
    stop = text.find("\n\n", marker.end(), visible.cut)
    end = stop if stop >= 0 else min(visible.cut, marker.end() + 300)
    for verb in reversed(list(_CORRECTED_VALUE.finditer(lowered, marker.start(), end))):
        place = Statement(verb.end(), end, "self_correction")
        corrected = reader.read(text[place.start : place.end], firm=True)
        if corrected is not None and corrected.start < 20:
            return place, corrected
    closing = soft_statements(text, lowered, marker.end(), visible.cut)
    restated = [
        found for place in closing if (found := reader.read(text[place.start : place.end], firm=False)) is not None
    ]
    if restated and all(found.decision is reading.decision for found in restated):
        return statement, reading
    if reading.decision is Decision.INCORRECT and (
        breaks_off(text) or reader.is_absent(text[marker.end() : visible.cut])
    ):
        # Taken back or not, the right answer was never given.
        return statement, reading
    return statement, Reading(Decision.UNDECIDED, reading.start, reading.end, "self_correction_unclear")


def _read_statement(text: str, statement: Statement, reader: Reader) -> Reading | None:
    end = min(len(text), statement.start + _LIST_REACH) if reader.spans_lines else statement.end
    if reader.kind == "expression" and (display := _DISPLAY.match(text, statement.start)) is not None:
        end = max(end, display.end())
    piece = text[statement.start : end]
    if statement.start == statement.end:
        return Reading(Decision.INCORRECT, 0, 0, "empty_answer")
    reading = reader.read(piece, firm=True) if statement.cue != "whole_response" else _read_whole(piece, reader)
    if _is_listing(text, statement) or (not reader.spans_lines and _announces_steps(text, statement)):
        return None
    if reading is None:
        if statement.cue in _CONTAINERS and reader.kind == "number" and len(piece) < 200:
            return Reading(Decision.INCORRECT, 0, len(piece), "answer_without_number")
        return None
    if statement.cue in _FIELDS and reading.rule == "stated_number" and reading.decision is Decision.CORRECT:
        # A field is for a value; whether a whole calculation in it passes is for a judge to say.
        return Reading(Decision.UNDECIDED, reading.start, reading.end, "calculation_in_field")
    # "A: You have a piano, a flute, …" opens an explanation; only a value in front of it is the answer.
    if statement.cue == "answer_line" and len(piece) > _COMPACT and reading.start > _LEAD and not reader.spans_lines:
        return None
    return reading


def _announces_steps(text: str, statement: Statement) -> bool:
    is_below = statement.cue == "answer_cue" and "\n" in text[max(0, statement.start - 6) : statement.start]
    return is_below and _STEPS.match(text, statement.start) is not None


def _read_whole(piece: str, reader: Reader) -> Reading | None:
    """A response that is nothing but its answer leads with it; any other short response is a sentence like others."""
    if len(piece) <= _COMPACT and reader.kind != "number":
        reading = reader.read(piece, firm=True)
        if reading is not None and not any(map(str.isalnum, piece[: reading.start])):
            return reading
    return reader.read(piece, firm=False)


# Mathematics set off on lines of its own.
_DISPLAY = re.compile(
    r"\\\[(?:(?!\\\]).){0,1000}\\\]|\$\$[^$]{0,1000}\$\$|\\begin\{(\w+)\}.{0,1000}?\\end\{\1\}", re.DOTALL
)
_BULLET = re.compile(r"[ \t]*(?:[-*•][ \t]|\(?[A-Z][).][ \t]*)\S")


# "- **Yes**: …" and "- **No**: …" weigh both sides.
_SIDE = re.compile(r"^[ \t]*[-*•][ \t]+[*\"]*(?:yes|no|true|false|(?:in)?valid|(?:im)?plausible)[*\"]*:", re.I | re.M)


def _is_listing(text: str, statement: Statement) -> bool:
    """Whether the statement is one line of a list of options: an echo of the choices answers nothing."""
    begin = text.rfind("\n", 0, statement.start) + 1
    if _SIDE.match(text, begin) and len(_SIDE.findall(text)) > 1:
        return True
    if statement.end - statement.start > _OPTION_LINE or not _BULLET.match(text, begin):
        return False
    following = text.find("\n", statement.end)
    after = text[following + 1 : following + 40].lstrip("\n ") if following >= 0 else ""
    before = text[:begin].rstrip().rpartition("\n")[2].lstrip() if begin else ""
    return any(_BULLET.match(line) for line in (after, before))


# "Let's verify: 18 / 2 = 9."
_CHECKS = re.compile(
    r"[\s*]*(?:let'?s|let me|let us|to|we can)?\s*(?:now\s+)?(?:double-)?(?:verify|check|confirm)\b"
    r"|[\s*]*(?:verification|check)\b[*\s]*:",
    re.IGNORECASE,
)
_ENUMERATED = re.compile(r"\s*(?:\(?\d{1,2}[.)]|[-*•])\s")


def _may_be_program(text: str, statement: Statement) -> bool:
    """`answer = "B"` in a program is one branch of it; a one-line response may be a program as a whole."""
    before = text[max(0, statement.start - 4) : statement.start].rstrip(" \"'")
    return statement.cue == "whole_response" or before.endswith("=")


def _read_place(text: str, statement: Statement, reader: Reader) -> Reading | None:
    """A place of a few characters ("Therefore, **A**", a last line "(B)") is its answer; a longer one is prose."""
    piece = text[statement.start : statement.end]
    if len(piece) > _BARE or statement.cue == "first_sentence":
        return reader.read(piece, firm=False)
    begin = len(piece) - len(piece.lstrip(" ,:*"))
    bare = reader.read(piece[begin:], firm=True)
    return bare and Reading(bare.decision, bare.start + begin, bare.end + begin, bare.rule)


def _read_soft(text: str, lowered: str, visible: Visible, reader: Reader) -> list[tuple[Statement, Reading]]:
    """Readings at the end of the response; its first sentence only when the end says nothing."""
    if reader.spans_lines:
        tail = Statement(max(0, visible.cut - _LIST_REACH), visible.cut, "tail")
        reading = reader.read(text[tail.start : tail.end], firm=False)
        return [] if reading is None else [(tail, reading)]
    places = soft_statements(text, lowered, 0, visible.cut)
    if reader.kind == "brackets":
        places += bracket_lines(text)[-1:]
    closing = _readings(text, lowered, visible, [place for place in places if place.cue != "first_sentence"], reader)
    # The last sentence is the sharper view of the last line.
    if any(statement.cue == "last_sentence" for statement, _ in closing):
        closing = [item for item in closing if item[0].cue != "last_line"]
    if any(reading.rule == "option_label" and statement.cue != "conclusion" for statement, reading in closing):
        # A letter at the end says which of the texts above was meant.
        closing = [item for item in closing if item[1].rule != "option_text"]
    if len(text.strip()) >= _SHORT:
        return closing
    if closing and (leading := _leading_label(text, reader)) is not None:
        # "B. 9.9 m/s", then an explanation that ends with another option.
        return [*closing, leading]
    is_plain_prose = reader.kind == "number" and "=" not in text
    if closing and not is_plain_prose:
        return closing
    opening = _readings(text, lowered, visible, [place for place in places if place.cue == "first_sentence"], reader)
    if not closing:
        return [item for item in opening if _is_undisputed(text, reader, item[1])]
    # Prose that calculates nothing may as well answer first and explain afterwards: both ends must agree.
    return closing + [item for item in opening if item[1].rule == "single_number"]


def _readings(
    text: str, lowered: str, visible: Visible, places: list[Statement], reader: Reader
) -> list[tuple[Statement, Reading]]:
    """What stands at these places, without lines of a list, checks of the result, and numbered first steps."""
    found = [
        (place, reading, as_said(text, lowered, place.start, reading, visible.cut, reader))
        for place in places
        if not _is_listing(text, place)
        and not _CHECKS.match(text, place.start)
        and not (reader.kind == "number" and place.cue == "first_sentence" and _ENUMERATED.match(text, place.start))
        and (reading := _read_place(text, place, reader)) is not None
    ]
    plain = {said.decision for _, reading, said in found if said is reading}
    # What is said outright may be supposed as well.
    return [(place, said) for place, reading, said in found if said is reading or reading.decision not in plain]


def _is_undisputed(text: str, reader: Reader, opening: Reading) -> bool:
    """Whether nothing behind a polar first sentence says the opposite: "Some would say yes. Others would say no." """
    answers_outright = opening.start <= _LEAD and text.strip()[opening.end : opening.end + 1] in {".", "。", "!"}
    if reader.kind != "boolean" or answers_outright:
        return True
    whole = reader.read(text, firm=False)
    return whole is not None and whole.decision is opening.decision


def _leading_label(text: str, reader: Reader) -> tuple[Statement, Reading] | None:
    begin = len(text) - len(text.lstrip())
    stop = text.find("\n", begin)
    if not isinstance(reader, OptionReader) or not 0 <= stop - begin <= _OPTION_LINE:
        return None
    reading = reader.read(text[begin:stop], firm=True)
    is_label = reading is not None and reading.rule == "option_label" and reading.start <= _LEAD
    return (Statement(begin, stop, "first_line"), reading) if reading is not None and is_label else None


def _firm(text: str, lowered: str, visible: Visible) -> Iterator[Statement]:
    """Behind firm cues before a run-on question, then anywhere; then a response that is nothing but its answer."""
    yield from firm_statements(text, lowered, 0, visible.cut)
    if visible.cut < len(text):
        yield from firm_statements(text, lowered, visible.cut, len(text))
    stripped = text[: visible.cut].strip()
    if len(stripped) <= 80 and is_one_sentence(stripped):
        start = text.find(stripped)
        yield Statement(start, start + len(stripped), "whole_response")


def _ends_before(text: str, statement: Statement) -> bool:
    """Whether a conclusion is a whole sentence, so that what broke off behind it is only its explanation."""
    return statement.cue == "conclusion" and text[statement.end : statement.end + 1] in {".", "!", "。", "\n"}

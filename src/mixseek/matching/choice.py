"""Answers of a closed kind: letters, polarities, numbers, brackets, word lists."""

import re
from collections.abc import Iterator

from mixseek.domain.judgments import Span
from mixseek.matching import discounted, no_answer, statements
from mixseek.matching.closed.options import OptionReader
from mixseek.matching.commitment import COMMITMENT, as_said
from mixseek.matching.other_kinds import is_of_another_kind
from mixseek.matching.readings import Comparison, Decision, Reader, Reading
from mixseek.matching.statements import Statement
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
_LAST_CHARACTERS = 20
# "Answer:" above a list of steps announces the steps.
_STEPS = re.compile(r"(?:step\s*\d|1[.)]\s[^\n]*\n+[\s*]*2[.)]|[-*•]\s[^\n]*\n+\s*[-*•]\s)", re.IGNORECASE)
# What stands in a field, in a box or behind a mark of its own is given, whatever is said around it.
_SENTENCES = _PROSE | {"answer_line", "whole_response"}
CONTAINERS = {"json_field", "answer_tag", "boxed"}
# "so it cannot be (A)" gives no other option.
_RULED_OUT = re.compile(r"\b(?:not|cannot|never|neither|nor|[a-z]{1,8}n't)\b", re.IGNORECASE)
_ANNOUNCED = CONTAINERS | {"answer_cue", "hash_marks"}
Stated = tuple[Statement, Reading]


def match_closed(visible: Visible, reader: Reader, question: str = "") -> Comparison:
    """The last firm statement, else what the closing words agree on, else what silence proves."""
    text = visible.text
    firm, named = _read_firm(visible, reader)
    if (firm is None or _may_be_program(text, firm[0])) and no_answer.is_code(text):
        return Comparison(Decision.UNDECIDED, None, ("code",))
    soft = _read_soft(visible, reader) if firm is None or firm[0].start >= visible.cut else []
    if named is not None and all(reading.decision is not Decision.CORRECT for _, reading in soft):
        soft.append(named)
    decisions = {reading.decision for _, reading in soft}
    if firm is not None:
        if decisions and decisions != {firm[1].decision}:
            # The cue belongs to a run-on question; what was said before it says otherwise.
            return Comparison(Decision.UNDECIDED, None, ("answers_conflict",))
        return _stated(*firm)
    if no_answer.is_opening(text):
        return Comparison(Decision.INCORRECT, None, ("no_answer",))
    if (other := _other_kind(visible, reader, question)) is not None:
        outcome = Decision.UNDECIDED if decisions - {Decision.INCORRECT} else Decision.INCORRECT
        return Comparison(outcome, Span(other.start, other.end), (other.cue, "another_kind"))
    refusal = no_answer.find_refusal(visible.lowered)
    if refusal is not None and not _answers_all_the_same(refusal, soft):
        decision = Decision.UNDECIDED if Decision.CORRECT in decisions else Decision.INCORRECT
        return Comparison(decision, refusal, ("refusal",))
    unfinished = no_answer.breaks_off(text)
    if unfinished and decisions <= {Decision.INCORRECT}:
        outcome = Decision.UNDECIDED if _is_said_before(text, reader) else Decision.INCORRECT
        return Comparison(outcome, None, ("breaks_off",))
    if len(decisions) == 1 and visible.cut == len(text):
        first = soft[0][0]
        # What broke off behind a conclusion that is a whole sentence is only its explanation.
        is_whole = first.cue == "conclusion" and text[first.end : first.end + 1] in {".", "!", "。", "\n"}
        # A list may end a response without a full stop; one in the middle of a work that breaks off is a step of it.
        is_last = reader.spans_lines and len(text.rstrip()) - first.start - soft[0][1].end <= _LAST_CHARACTERS
        is_doubtful = first.cue == "last_sentence" and _is_disputed(visible, reader, soft[0][1])
        if (not unfinished or is_last or is_whole) and not is_doubtful:
            return _stated(*soft[0])
    if isinstance(reader, OptionReader) and reader.lists_every_option(text):
        return Comparison(Decision.INCORRECT, None, ("every_option_listed",))
    if reader.is_absent(text):
        return Comparison(Decision.INCORRECT, None, ("never_stated",))
    reason = "breaks_off" if unfinished else "statements_conflict" if decisions else "no_statement"
    return Comparison(Decision.UNDECIDED, None, (reason,))


def _is_said_before(text: str, reader: Reader) -> bool:
    """Whether the last sentences of a text that breaks off give the right option alone, or the right brackets."""
    if reader.kind not in {"option", "brackets"}:
        return False
    is_said = False
    for sentence in statements.last_sentences(text):
        reading = reader.read(sentence, firm=False)
        if reading is None:
            continue
        if reading.decision is Decision.CORRECT:
            is_said = True
        elif reader.kind == "option":
            return False
    return is_said


def _is_disputed(visible: Visible, reader: Reader, reading: Reading) -> bool:
    """Whether another of the last sentences gives another option than the very last one: which is the answer?"""
    if reader.kind != "option":
        return False
    pieces = statements.last_sentences(visible.text[: visible.cut])[:-1]
    return any(
        other.decision is not reading.decision and not _RULED_OUT.search(piece, max(0, other.start - 40), other.start)
        for piece in pieces
        if (other := reader.read(piece, firm=False)) is not None
    )


def _other_kind(visible: Visible, reader: Reader, question: str) -> Statement | None:
    """The last firm statement, where what it holds is a value of another kind."""
    places = statements.firm_statements(visible.text, visible.lowered, 0, visible.cut)
    last = next((place for place in places if place.cue in _ANNOUNCED), None)
    if last is None or last.start == last.end:
        return None
    piece = statements.first_sentence(visible.text[last.start : last.end])
    return last if is_of_another_kind(piece, reader, question) else None


_DECLINING = ("can", "able", "won't", "will not")


def _is_declined(firm: Stated, lowered: str) -> bool:
    """Whether the no of a short response belongs to a refusal: "I'm sorry, no, I cannot assist"."""
    statement, reading = firm
    if statement.cue != "whole_response" or not reading.rule.startswith("boolean"):
        return False
    piece = lowered[statement.start : statement.end]
    if piece.isascii() and not any(word in piece for word in _DECLINING):
        return False  # a look, before the pattern is tried
    return COMMITMENT.declines.search(piece) is not None


def _answers_all_the_same(refusal: Span, soft: list[Stated]) -> bool:
    """Whether something is drawn from not knowing: "it cannot be told who, so it is ambiguous"."""
    return any(
        reading.rule == "option_text"
        or (
            statement.start + reading.end > refusal.end
            and (statement.cue == "conclusion" or statement.start <= refusal.start or reading.rule == "option_label")
        )
        for statement, reading in soft
    )


def _stated(statement: Statement, reading: Reading) -> Comparison:
    span = Span(statement.start + reading.start, statement.start + reading.end)
    return Comparison(reading.decision, span, (statement.cue, reading.rule))


def _whole_response(text: str, lead: int, cut: int) -> Iterator[Statement]:
    stripped = text[lead:cut].strip()
    if len(stripped) <= 80 and statements.is_one_sentence(stripped):
        start = text.find(stripped, lead)
        yield Statement(start, start + len(stripped), "whole_response")


def _under_heading(visible: Visible) -> Iterator[Statement]:
    """The line right under "# Answer", where others follow: what leads it is the answer, or an explanation begins."""
    stop = visible.text.find("\n", visible.lead, visible.cut) if visible.is_headed else -1
    if stop > visible.lead:
        yield Statement(visible.lead, stop, "answer_line")


def _is_value(text: str, place: Statement) -> bool:
    return place.end - place.start <= _BARE and text[place.end - 1] != ":"


def _firm_places(visible: Visible) -> Iterator[Statement]:
    text, lowered, lead, cut = visible.text, visible.lowered, visible.lead, visible.cut
    yield from statements.firm_statements(text, lowered, 0, cut)
    yield from statements.other_fields(text, cut)
    if cut < len(text):
        # A value alone before a run-on question is the answer; a sentence may only lead up to one behind it.
        yield from (place for place in _whole_response(text, lead, cut) if _is_value(text, place))
        yield from statements.firm_statements(text, lowered, cut, len(text))
    yield from _under_heading(visible)
    yield from _whole_response(text, lead, cut)


def _firm_readings(visible: Visible, reader: Reader) -> Iterator[Stated]:
    """Behind firm cues before a run-on question, then anywhere; then a response that is nothing but its answer."""
    text = visible.text
    has_field = '"answer"' in text and text.lstrip()[:1] == "{" and text.rstrip()[-1:] == "}"
    for place in _firm_places(visible):
        # Words in another field of an object do not overrule its answer field.
        reading = None if has_field and place.cue in _PROSE else _read_statement(text, place, reader)
        if reading is not None:
            yield place, reading


def _read_firm(visible: Visible, reader: Reader) -> tuple[Stated | None, Stated | None]:
    """The last firm statement that holds a value of the wanted kind; without one, where the right value is named."""
    text, lowered = visible.text, visible.lowered
    chosen: Stated | None = None
    named: Stated | None = None
    rival: Decision | None = None
    for statement, reading in _firm_readings(visible, reader):
        if statement.cue in _SENTENCES:
            committed = as_said(text, lowered, statement.start, reading, visible.cut, reader)
            if committed is not reading:
                if reading.decision is Decision.CORRECT:
                    named = named or (statement, committed)
                if rival is None and not discounted.is_ruled_out(lowered, statement.start, visible.cut):
                    rival = reading.decision
                continue
        if chosen is None:
            chosen = (statement, reading)
            if rival is not None and rival is not reading.decision and statement.cue in _SENTENCES:
                # One value is stated, another one named behind it: which of them was meant?
                return (statement, reading.left_open("answers_conflict")), None
            if statement.cue != "json_field" and lowered.count("answer", -_CIRCLE_REACH) < _CIRCLE:
                break  # nothing before it could change anything
            continue
        # The last statement counts (seed 001), unless the two are one model going round in circles,
        # or two answer fields of which only one can have been meant.
        if reading.decision != chosen[1].decision and (
            statement.cue == chosen[0].cue == "json_field"
            or (len(text) - statement.start < _CIRCLE_REACH and no_answer.turns_in_circles(text))
        ):
            return (statement, reading.left_open("answers_conflict")), None
        break
    if chosen is None or _is_declined(chosen, lowered):
        return None, named
    return _corrected(visible, reader, *chosen), None


def _corrected(visible: Visible, reader: Reader, statement: Statement, reading: Reading) -> Stated:
    """A correction behind the answer counts in its place; one that names no new value leaves it open."""
    text, lowered = visible.text, visible.lowered
    if statement.cue in _FIELDS or reader.spans_lines:
        return statement, reading
    begin = statement.start + reading.end
    marker = COMMITMENT.correction.search(lowered, begin, min(visible.cut, begin + 800))
    if marker is None:
        return statement, reading
    stop = text.find("\n\n", marker.end(), visible.cut)
    end = stop if stop >= 0 else min(visible.cut, marker.end() + 300)
    for verb in reversed(list(COMMITMENT.corrected_value.finditer(lowered, marker.start(), end))):
        place = Statement(verb.end(), end, "self_correction")
        corrected = reader.read(text[place.start : place.end], firm=True)
        if corrected is not None and corrected.start < 20:
            return place, corrected
    closing = statements.soft_statements(text, lowered, marker.end(), visible.cut)
    repeated = [reader.read(text[place.start : place.end], firm=False) for place in closing]
    is_restated = {other.decision for other in repeated if other is not None} == {reading.decision}
    # Taken back or not, the right answer was never given.
    is_wrong = reading.decision is Decision.INCORRECT and (
        no_answer.breaks_off(text) or reader.is_absent(text[marker.end() : visible.cut])
    )
    return statement, reading if is_restated or is_wrong else reading.left_open("self_correction_unclear")


def _read_statement(text: str, statement: Statement, reader: Reader) -> Reading | None:
    end = min(len(text), statement.start + _LIST_REACH) if reader.spans_lines else statement.end
    if reader.kind == "expression" and (display := _DISPLAY.match(text, statement.start)) is not None:
        end = max(end, display.end())
    piece = text[statement.start : end]
    if statement.start == statement.end:
        return Reading(Decision.INCORRECT, 0, 0, "empty_answer")
    reading = reader.read(piece, firm=True) if statement.cue != "whole_response" else _read_whole(piece, reader)
    is_below = statement.cue == "answer_cue" and "\n" in text[max(0, statement.start - 6) : statement.start]
    announces_steps = is_below and not reader.spans_lines and _STEPS.match(text, statement.start)
    if announces_steps or _is_listing(text, statement) or _is_cut_list(text, statement, reading, reader):
        return None
    if reading is None:
        if statement.cue in CONTAINERS and reader.kind == "number" and len(piece) < 200:
            return Reading(Decision.INCORRECT, 0, len(piece), "answer_without_number")
        return None
    if statement.cue in _FIELDS and reading.rule == "stated_number" and reading.decision is Decision.CORRECT:
        # A field is for a value; whether a whole calculation in it passes is for a judge to say.
        return reading.left_open("calculation_in_field")
    # "A: You have a piano, a flute, …" opens an explanation; only a value in front of it is the answer.
    if statement.cue == "answer_line" and len(piece) > _COMPACT and reading.start > _LEAD and not reader.spans_lines:
        return None
    return reading


def _is_cut_list(text: str, statement: Statement, reading: Reading | None, reader: Reader) -> bool:
    """Whether a response is nothing but the first options, with which it breaks off: "(A) Oxygen (B) Carbon dio"."""
    if statement.cue != "whole_response" or reading is None or not isinstance(reader, OptionReader):
        return False
    return reader.is_cut_list(text, statement.start + reading.start)


def _read_whole(piece: str, reader: Reader) -> Reading | None:
    """A response that is nothing but its answer leads with it; any other short response is a sentence like others."""
    if reader.kind == "brackets" and piece.startswith("> "):
        whole, rest = reader.read(piece, firm=True), reader.read(piece[2:], firm=True)
        is_quoted = rest is not None and rest.decision is Decision.CORRECT
        # The mark of a quotation, or one bracket more?
        if whole is not None and whole.decision is Decision.INCORRECT and is_quoted:
            return whole.left_open("quoted_brackets")
    if len(piece) <= _COMPACT and reader.kind != "number":
        reading = reader.read(piece, firm=True)
        if reading is not None and not any(map(str.isalnum, piece[: reading.start])):
            return reading
    return reader.read(piece, firm=False)


# Mathematics set off on lines of its own.
_DISPLAY = re.compile(
    r"\\\[(?:(?!\\\]).){0,1000}\\\]|\$\$[^$]{0,1000}\$\$|\\begin\{(\w+)\}.{0,1000}?\\end\{\1\}", re.DOTALL
)
# Labels with a verdict on each are a list as well: "B: wrong", "C ✓", "D (incorrect)".
_BULLET = re.compile(
    r"[ \t]*(?:(?:[-*•][ \t]|\(?[A-Z][).][ \t]*)\S|[A-J]:?[ \t]*(?:[✗✘❌✓✔✅]|\(?(?:(?:in)?correct|wrong|right)\b))"
)
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


_ENUMERATED = re.compile(r"\s*(?:\(?\d{1,2}[.)]|[-*•])\s")


def _may_be_program(text: str, statement: Statement) -> bool:
    """`answer = "B"` in a program is one branch of it; a one-line response may be a program as a whole."""
    before = text[max(0, statement.start - 4) : statement.start].rstrip(" \"'")
    return statement.cue == "whole_response" or before.endswith("=")


def _read_place(text: str, statement: Statement, reader: Reader) -> Reading | None:
    """A place of a few characters ("Therefore, **A**", a last line "(B)") is its answer; a longer one is prose."""
    piece = text[statement.start : statement.end]
    if len(piece) > _BARE or statement.cue == "first_sentence" or reader.kind == "brackets":
        return reader.read(piece, firm=False)
    begin = len(piece) - len(piece.lstrip(" ,:*"))
    bare = reader.read(piece[begin:], firm=True)
    return bare and bare._replace(start=bare.start + begin, end=bare.end + begin)


def _read_soft(visible: Visible, reader: Reader) -> list[Stated]:
    """Readings at the end of the response; its first sentence only when the end says nothing."""
    text = visible.text
    if reader.spans_lines:
        tail = Statement(max(0, visible.cut - _LIST_REACH), visible.cut, "tail")
        reading = reader.read(text[tail.start : tail.end], firm=False)
        return [] if reading is None else [(tail, reading)]
    places = statements.soft_statements(text, visible.lowered, visible.lead, visible.cut)
    if reader.kind == "brackets":
        places += statements.bracket_lines(text)[-1:]
    closing = _readings(visible, reader, [place for place in places if place.cue != "first_sentence"])
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
    opening = _readings(visible, reader, [place for place in places if place.cue == "first_sentence"])
    if not closing and not opening and (leading := _leading_label(text, reader)) is not None:
        # "**C**", then what is wrong with the others.
        return [] if _is_listing(text, leading[0]) else [leading]
    if not closing:
        return [item for item in opening if _is_undisputed(text, reader, item[1])]
    # Prose that calculates nothing may as well answer first and explain afterwards: both ends must agree.
    # "Total: 36" above other such lines is one entry of a table.
    return closing + [
        (place, reading)
        for place, reading in opening
        if reading.rule == "single_number" and ":" not in text[place.start : place.start + reading.start]
    ]


def _readings(visible: Visible, reader: Reader, places: list[Statement]) -> list[Stated]:
    """What stands at these places, without lines of a list and numbered first steps."""
    text, lowered = visible.text, visible.lowered
    readings = [
        (place, reading, as_said(text, lowered, place.start, reading, visible.cut, reader))
        for place in places
        if not _is_listing(text, place)
        and not (place.cue == "first_sentence" and _ENUMERATED.match(text, place.start))
        and (reading := _read_place(text, place, reader)) is not None
        and not (
            isinstance(reader, OptionReader) and reader.is_cut_list(text[: visible.cut], place.start + reading.start)
        )
    ]
    plain = {committed.decision for _, reading, committed in readings if committed is reading}
    # What is said outright may be supposed as well.
    return [
        (place, committed)
        for place, reading, committed in readings
        if committed is reading or reading.decision not in plain
    ]


def _is_undisputed(text: str, reader: Reader, opening: Reading) -> bool:
    """Whether nothing behind a polar first sentence says the opposite: "Some would say yes. Others would say no." """
    answers_outright = opening.start <= _LEAD and text.strip()[opening.end : opening.end + 1] in {".", "。", "!"}
    if reader.kind != "boolean" or answers_outright:
        return True
    whole = reader.read(text, firm=False)
    return whole is not None and whole.decision is opening.decision


def _leading_label(text: str, reader: Reader) -> Stated | None:
    begin = len(text) - len(text.lstrip())
    stop = text.find("\n", begin)
    if not isinstance(reader, OptionReader) or not 0 <= stop - begin <= _OPTION_LINE:
        return None
    reading = reader.read(text[begin:stop], firm=True)
    if reading is None or reading.rule != "option_label" or reading.start > _LEAD:
        return None
    return Statement(begin, stop, "first_line"), reading

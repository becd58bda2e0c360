"""Response and ground truth in; correct, incorrect or undecided out, with the place and the rules."""

import re
from collections.abc import Callable, Sequence

from mixseek.domain.judgments import ErrorType, Span
from mixseek.domain.ports import MathsComparer
from mixseek.matching.choice import CONTAINERS, match_closed
from mixseek.matching.closed.options import OptionReader, lettered_options, named_letter
from mixseek.matching.company import without_company
from mixseek.matching.folding import fold
from mixseek.matching.kinds import option_by_text, reader_for
from mixseek.matching.left_open import PLAIN_WORD, SHORT_RESPONSE, YEAR, OtherValue, leaves_open
from mixseek.matching.long_responses import match_long
from mixseek.matching.phrases import Phrases
from mixseek.matching.readings import Comparison, Decision, MatchResult, Reader
from mixseek.matching.stance.behind import verdict_on_answer
from mixseek.matching.stance.stance import stance_on
from mixseek.matching.stance.words import Stance
from mixseek.matching.statements import firm_statements
from mixseek.matching.visible import Visible, visible_part

_SAYS = Phrases("kinds")
# Rules that say the response gives no answer. Why another answer is wrong, no rule can know.
_NO_ANSWER = {
    "no_answer", "refusal", "breaks_off", "empty_answer", "answer_without_number", "none_of_the_options",
    "every_option_listed", "no_final_answer",
}  # fmt: skip
# One acceptable answer found is enough; for incorrect all must say so.
_BEST_FIRST = (Decision.CORRECT, Decision.UNDECIDED, Decision.INCORRECT)
# A longer ground truth is a text to be judged, not an answer to be found; questions keep their options at the end.
_LONGEST_GOLD = 2_000
_LONGEST_QUESTION = 12_000
_WRITTEN_MATHS = re.compile(r"\$[^$]+\$|\\[a-zA-Z(\[]")
# Where a free text says itself what of it is the answer.
_MARKED_ANSWER = re.compile(r"(?:final[ _]|exact |^\W{0,20}|\n[^\w\n]{0,20})answer|answer\"\s{0,20}:|answer>|\\boxed")
_FINAL = re.compile(r"(?:(?:final|exact) |^\W{0,20}|\n[^\w\n]{0,20})answer[\s*_]{0,20}:[\s*_\"]{0,20}$")
_FINAL_REACH = 80
# What a word or a name never holds.
_MATHS = re.compile(r"[\\$^{}=√π∞∪∩±≤≥°×÷<>|]|\d\s*[-+*/(]|[\d)]\s*[a-z]\b|^[\[({].*[\])}]$")


def match_answer(
    response: str,
    ground_truth: str,
    *,
    question: str = "",
    alternatives: Sequence[str] = (),
    maths: MathsComparer | None = None,
) -> MatchResult:
    """Decide what can be decided with near certainty; all else is undecided, and mathematics without a comparer."""
    question = question[-_LONGEST_QUESTION:]
    visible = without_company(visible_part(response), question)
    golds = _golds(ground_truth, alternatives)
    if not golds or max(map(len, golds)) > _LONGEST_GOLD:
        closed = _silent(visible) or Comparison(Decision.UNDECIDED, None, ("unusable_ground_truth",))
        return _result(response, visible, closed)

    def decide(part: Visible) -> Comparison:
        return _silent(part) or _match_golds(part, golds, question, bool(alternatives), maths)

    if visible.offset == 0:
        return _result(response, visible, decide(visible))
    return _result(response, *match_long(response, visible, question, decide))


def _silent(visible: Visible) -> Comparison | None:
    """What a response comes to that shows its reader nothing."""
    if visible.text.strip():
        return None
    # Reasoning that was closed and opened again: some models answer inside the second block.
    is_reopened = {"reasoning_dropped", "unclosed_reasoning_dropped"}.issubset(visible.rules)
    decision = Decision.UNDECIDED if is_reopened else Decision.INCORRECT
    return Comparison(decision, None, ("reasoning_reopened" if is_reopened else "no_final_answer",))


def _match_golds(
    visible: Visible, golds: Sequence[str], question: str, is_open: bool, maths: MathsComparer | None
) -> Comparison:
    by_gold = {gold: _match_gold(visible, gold, question, is_open, maths) for gold in golds}
    results = [result for result in by_gold.values() if result is not None]
    texts = [gold for gold, result in by_gold.items() if result is None]
    if texts and lettered_options(question):
        # A letter was asked for, and the ground truth is none of the listed texts: the row itself is doubtful.
        results.append(Comparison(Decision.UNDECIDED, None, ("text", "not_among_the_options")))
    elif texts:
        results.append(_match_text(visible, texts, question))
    best = results[0] if len(results) == 1 else min(results, key=lambda result: _BEST_FIRST.index(result.decision))
    closed = _stood_by(visible, best, question)
    return _unflipped(visible, closed, lambda rest: _match_golds(rest, golds, question, is_open, maths))


def _golds(ground_truth: str, alternatives: Sequence[str]) -> list[str]:
    """Every acceptable answer once; a ground truth that only joins its alternatives ("A | B") is no further one."""
    given = [gold for gold in alternatives if gold.strip()]
    if not given:
        parts = ground_truth.split(" | ") if " | " in ground_truth else [ground_truth]
        return list(dict.fromkeys(part for part in parts if part.strip()))
    is_heading = len(given) > 1 and all(gold in ground_truth for gold in given)
    return list(dict.fromkeys(given if is_heading else [ground_truth, *given]))


def _match_gold(
    visible: Visible, gold: str, question: str, is_open: bool, maths: MathsComparer | None
) -> Comparison | None:
    """None for free text, which is compared with all its alternatives at once.

    A ground truth with alternatives belongs to an open question, where a number stands in prose among other
    numbers ("the 2009 model year"): text rules read that better than those for the end of a calculation.
    """
    # "$9$" and "\\frac{1}{3}" are mathematics as a whole, though numbers stand in them.
    reader = option_by_text(gold, question) if _WRITTEN_MATHS.search(gold) else reader_for(gold, question, maths)
    if reader is not None and not (is_open and reader.kind == "number"):
        read = _match_reader(visible, reader, question)
        if read.decision is not Decision.UNDECIDED:
            return read
        if isinstance(reader, OptionReader) and not reader.options:
            return _by_name(visible, reader, question) or read
        is_among_others = read.rules[-1] == "several_numbers"
        return None if is_among_others and _is_date_in_prose(visible, gold, question) else read
    if is_open or not _MATHS.search(gold):
        return None
    # Here and not above: most ground truths are no mathematics.
    from mixseek.matching.closed.maths import MathsReader, gold_maths, looks_like_maths

    if not looks_like_maths(gold):
        return None
    stated = gold_maths(gold)
    if stated is None:
        return Comparison(Decision.UNDECIDED, None, ("expression", "worked_solution"))
    maths_reader = MathsReader(stated, question, maths)
    whole = maths_reader.read_whole(visible.text[visible.lead : visible.cut])
    span = Span(visible.lead + whole.start, visible.lead + whole.end) if whole else None
    closed = Comparison(whole.decision, span, (whole.rule,)) if whole else None
    return _match_reader(visible, maths_reader, question, closed)


def _by_name(visible: Visible, reader: OptionReader, question: str) -> Comparison | None:
    place = named_letter(visible.text[visible.lead : visible.cut], reader.label)
    if place is None:
        return None
    span = Span(visible.lead + place[0], visible.lead + place[1])
    return _match_reader(visible, reader, question, Comparison(Decision.CORRECT, span, ("named_letter",)))


def _is_date_in_prose(visible: Visible, gold: str, question: str) -> bool:
    """A year that was asked for, in a sentence or two with other years: there the words beside each of them tell."""
    if not YEAR.fullmatch(gold.strip()) or len(visible.text.strip()) > SHORT_RESPONSE:
        return False
    # Late, as below.
    from mixseek.matching.open_text.gold import Asked, read_question

    return read_question(question).asked is Asked.TIME


def _match_reader(visible: Visible, reader: Reader, question: str, closed: Comparison | None = None) -> Comparison:
    closed = closed or match_closed(visible, reader, question)
    closed = Comparison(closed.decision, closed.span, (reader.kind, *closed.rules))
    return _unhedged(visible, closed, lambda place: reader.is_other(visible.text, place))


def _match_text(visible: Visible, golds: Sequence[str], question: str) -> Comparison:
    # Late, as above: most ground truths are of a closed kind.
    from mixseek.matching.open_text.short_text import compare_short_text

    start = visible.lead or len(visible.text) - len(visible.text.lstrip())
    decision, span, rules = compare_short_text(visible.text[start : visible.cut].rstrip(), golds, question=question)
    closed = Comparison(decision, span and Span(span.start + start, span.end + start), ("text", *rules))
    if _is_outside_answer(visible, closed):
        return Comparison(Decision.UNDECIDED, closed.span, (*closed.rules, "outside_the_answer"))

    def is_other(place: int) -> bool:
        # Whatever word a joint leads to is another name, unless it is of one of the golds: "Ghent (or Gent)".
        word = PLAIN_WORD.match(visible.lowered, place)
        names = [fold(gold).lower() for gold in golds]
        if word is None or visible.lowered.startswith(tuple(names), place):
            return False
        # One figure of a date is not the date.
        return not word[0].isalpha() or all(word[0] not in PLAIN_WORD.findall(name) for name in names)

    return _unhedged(visible, closed, is_other)


def _is_outside_answer(visible: Visible, closed: Comparison) -> bool:
    """Whether the right words stand elsewhere than in the field, tag, box or line that is marked as the answer."""
    if (
        closed.decision is not Decision.CORRECT
        or closed.span is None
        or not _MARKED_ANSWER.search(visible.lowered, visible.lead)
    ):
        return False
    span = closed.span
    stated = firm_statements(visible.text, visible.lowered, visible.lead, visible.cut)
    marked = [place for place in stated if place.cue in CONTAINERS or _is_final(visible.lowered, place.start)]
    return bool(marked) and not any(place.start < span.end and span.start < place.end for place in marked)


def _is_final(lowered: str, start: int) -> bool:
    """Whether a line or a phrase right before `start` says that the answer follows."""
    begin = max(0, start - _FINAL_REACH)
    # Anchored at the beginning of what is searched, which must be that of a line.
    return _FINAL.search(lowered[begin:start] if begin == 0 else f" {lowered[begin:start]}") is not None


def _unhedged(visible: Visible, closed: Comparison, is_other: OtherValue) -> Comparison:
    """What was found, or undecided where the words around a right value leave it open."""
    if closed.decision is not Decision.CORRECT or closed.span is None:
        return closed
    start, end = closed.span.start, closed.span.end
    if not leaves_open(visible.lowered, start, end, visible.cut, closed.rules[0], is_other):
        return closed
    return Comparison(Decision.UNDECIDED, closed.span, (*closed.rules, "hedged"))


def _stood_by(visible: Visible, closed: Comparison, question: str) -> Comparison:
    """A right answer that the response denies, drops, doubts or leaves to somebody else is nobody's to count yet."""
    if closed.decision is not Decision.CORRECT or closed.span is None:
        return closed
    start, end = closed.span.start, closed.span.end
    stance = stance_on(visible, start, end, closed.rules[0], question)
    if stance is Stance.ASSERTED:
        return closed
    return Comparison(Decision.UNDECIDED, closed.span, (*closed.rules, stance.value))


def _unflipped(visible: Visible, closed: Comparison, decide: Callable[[Visible], Comparison]) -> Comparison:
    """A "false" said of the right answer before it is no other answer: "So it is True. That was found to be false." """
    if closed.decision is not Decision.INCORRECT or closed.span is None or closed.rules[0] != "boolean":
        return closed
    verdict = verdict_on_answer(visible.lowered, closed.span.start, visible.cut)
    if verdict is None or not visible.text[visible.lead : verdict[0]].strip():
        return closed
    begin, stance = verdict
    before = decide(visible._replace(text=visible.text[:begin], lowered=visible.lowered[:begin], cut=begin))
    if before.decision is not Decision.CORRECT:
        return closed
    if stance is Stance.ASSERTED:
        return before
    return Comparison(Decision.UNDECIDED, closed.span, (*closed.rules, stance.value))


def _result(response: str, visible: Visible, closed: Comparison) -> MatchResult:
    span = closed.span
    if span and visible.offset:
        span = Span(span.start + visible.offset, span.end + visible.offset)
    extracted = response[span.start : span.end] if span else None
    error = ErrorType.NONE if closed.decision is Decision.CORRECT else None
    if closed.decision is Decision.INCORRECT and closed.rules[-1] in _NO_ANSWER:
        error = ErrorType.NO_ANSWER
    return MatchResult(closed.decision, extracted, span, (*visible.rules, *closed.rules), error)

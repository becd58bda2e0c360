"""Response and ground truth in; correct, incorrect or undecided out, with the place and the rules."""

import re
from collections.abc import Sequence

from mixseek.domain.judgments import ErrorType, Span
from mixseek.domain.ports import MathsComparer
from mixseek.matching.closed.booleans import BooleanReader, polarity_of
from mixseek.matching.closed.choice import match_closed
from mixseek.matching.closed.lists import BracketReader, EitherReader, WordListReader, is_bracket_sequence
from mixseek.matching.closed.number_answers import NumberReader
from mixseek.matching.closed.options import OptionReader, comparable, lettered_options, numbered_options
from mixseek.matching.hedges import OtherValue, leaves_open
from mixseek.matching.languages import Phrases
from mixseek.matching.numbers import plain_number
from mixseek.matching.outcome import Comparison, Decision, MatchResult, Reader
from mixseek.matching.visible import Visible, fold, visible_part

# Which kind of answer a ground truth is; the first kind that fits wins.

_SAYS = Phrases("kinds")
_LETTER = re.compile(r"[\s*(\[{]*(?:\\text\{)?\(?([A-Z])\)?[\s)\]}.:*]*")
_QUESTION_WORD = re.compile(r"[^\s,;:.?]+")


def reader_for(gold: str, question: str, maths: MathsComparer | None = None) -> Reader | None:
    """The reader of a closed kind, or None when the ground truth is free text or mathematics."""
    gold = fold(gold).strip()
    question = fold(question)
    letter = _LETTER.fullmatch(gold)
    if letter is not None:
        return OptionReader(letter[1], question)
    if is_bracket_sequence(gold):
        return BracketReader(gold, question)
    polarity = polarity_of(gold, question)
    by_text = option_by_text(gold, question)
    if polarity is not None:
        boolean = BooleanReader(*polarity)
        return boolean if by_text is None else EitherReader(by_text, boolean, question)
    if by_text is not None:
        return by_text
    value = plain_number(gold)
    if value is not None:
        # The question lists numbered options and wants one of their numbers.
        is_listed = gold.isdigit() and len(gold) <= 2 and _SAYS.numbered_question.search(question)
        if is_listed and gold in numbered_options(question):
            return OptionReader(gold, question)
        return NumberReader(value.values[0], question, gold, maths, value.percent or "%" in gold)
    words = [word for word in re.split(r"[\s,]+", gold.casefold()) if word]
    if len(words) >= 2 and _SAYS.sorting.search(question):
        asked = _QUESTION_WORD.findall(question.casefold())
        wanted = frozenset(words)
        if wanted.issubset(asked):
            return WordListReader(tuple(words), tuple(word for word in asked if word in wanted)[-len(words) :])
    return None


def option_by_text(gold: str, question: str) -> OptionReader | None:
    """The ground truth is the text of exactly one listed option: its letter is as good."""
    options = lettered_options(question)
    if not options:
        return None
    wanted = comparable(gold)
    labels = [label for label, text in options.items() if comparable(text) == wanted]
    return OptionReader(labels[0], question) if len(labels) == 1 and wanted else None


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
    visible = visible_part(response)
    golds = _golds(ground_truth, alternatives)
    if not visible.text.strip():
        # Reasoning that was closed and opened again: some models answer inside the second block.
        is_reopened = {"reasoning_dropped", "unclosed_reasoning_dropped"}.issubset(visible.rules)
        decision = Decision.UNDECIDED if is_reopened else Decision.INCORRECT
        rule = "reasoning_reopened" if is_reopened else "no_final_answer"
        return _result(response, visible, Comparison(decision, None, (rule,)))
    if not golds or max(map(len, golds)) > _LONGEST_GOLD:
        return _result(response, visible, Comparison(Decision.UNDECIDED, None, ("unusable_ground_truth",)))
    question = question[-_LONGEST_QUESTION:]
    by_gold = {gold: _match_gold(visible, gold, question, bool(alternatives), maths) for gold in golds}
    results = [result for result in by_gold.values() if result is not None]
    texts = [gold for gold, result in by_gold.items() if result is None]
    if texts and lettered_options(question):
        # A letter was asked for, and the ground truth is none of the listed texts: the row itself is doubtful.
        results.append(Comparison(Decision.UNDECIDED, None, ("text", "not_among_the_options")))
    elif texts:
        results.append(_match_text(visible, texts, question))
    return _result(response, visible, min(results, key=lambda one: _BEST_FIRST.index(one.decision)))


def _golds(ground_truth: str, alternatives: Sequence[str]) -> list[str]:
    """Every acceptable answer once; a ground truth that only joins its alternatives ("A | B") is no further one."""
    given = [gold for gold in alternatives if gold.strip()]
    if not given:
        return list(dict.fromkeys(part for part in ground_truth.split(" | ") if part.strip()))
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
        return _match_reader(visible, reader)
    if is_open or not _MATHS.search(gold):
        return None
    # Here and not above: most ground truths are no mathematics.
    from mixseek.matching.maths import MathsReader, gold_maths, looks_like_maths

    if not looks_like_maths(gold):
        return None
    stated = gold_maths(gold)
    if stated is None:
        return Comparison(Decision.UNDECIDED, None, ("expression", "worked_solution"))
    maths_reader = MathsReader(stated, question, maths)
    whole = maths_reader.read_whole(visible.text[: visible.cut])
    closed = Comparison(whole.decision, Span(whole.start, whole.end), (whole.rule,)) if whole else None
    return _match_reader(visible, maths_reader, closed)


def _match_reader(visible: Visible, reader: Reader, closed: Comparison | None = None) -> Comparison:
    closed = closed or match_closed(visible, reader)
    closed = Comparison(closed.decision, closed.span, (reader.kind, *closed.rules))
    return _unhedged(visible, closed, lambda place: reader.is_other(visible.text, place))


def _match_text(visible: Visible, golds: Sequence[str], question: str) -> Comparison:
    # Late, as above: most ground truths are of a closed kind.
    from mixseek.matching.short_text.rules import compare_short_text

    start = len(visible.text) - len(visible.text.lstrip())
    decision, span, rules = compare_short_text(visible.text[start : visible.cut].rstrip(), golds, question=question)
    closed = Comparison(decision, span and Span(span.start + start, span.end + start), ("text", *rules))
    # Whatever word a joint leads to is another name.
    return _unhedged(visible, closed, lambda place: visible.text[place : place + 1].isalnum())


def _unhedged(visible: Visible, closed: Comparison, is_other: OtherValue) -> Comparison:
    """What was found, or undecided where the words around a right value leave it open."""
    if closed.decision is not Decision.CORRECT or closed.span is None:
        return closed
    start, end = closed.span.start, closed.span.end
    if not leaves_open(visible.lowered, start, end, visible.cut, closed.rules[0], is_other):
        return closed
    return Comparison(Decision.UNDECIDED, closed.span, (*closed.rules, "hedged"))


def _result(response: str, visible: Visible, closed: Comparison) -> MatchResult:
    span = closed.span
    if span and visible.offset:
        span = Span(span.start + visible.offset, span.end + visible.offset)
    extracted = response[span.start : span.end] if span else None
    error = ErrorType.NONE if closed.decision is Decision.CORRECT else None
    if closed.decision is Decision.INCORRECT and closed.rules[-1] in _NO_ANSWER:
        error = ErrorType.NO_ANSWER
    return MatchResult(closed.decision, extracted, span, (*visible.rules, *closed.rules), error)

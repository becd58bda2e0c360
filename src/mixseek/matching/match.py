"""Response and ground truth in; correct, incorrect or undecided out, with the place and the rules."""

import re
from collections.abc import Callable, Sequence
from functools import lru_cache

from mixseek.domain.judgments import ErrorType, Span
from mixseek.domain.ports import MathsComparer
from mixseek.matching.booleans_and_lists import (
    BooleanReader,
    BracketReader,
    EitherReader,
    WordListReader,
    is_bracket_sequence,
    polarity_of,
)
from mixseek.matching.choice import CONTAINERS, match_closed
from mixseek.matching.company import without_company
from mixseek.matching.long_responses import match_long
from mixseek.matching.multi_select import MultiSelectReader, several_labels
from mixseek.matching.number_answers import NumberReader
from mixseek.matching.numbers import plain_number
from mixseek.matching.options import OptionReader, comparable, lettered_options, named_letter, numbered_options
from mixseek.matching.stance.behind import verdict_on_answer
from mixseek.matching.stance.stance import stance_on
from mixseek.matching.stance.words import Stance
from mixseek.matching.statements import Comparison, Decision, MatchResult, Reader, ends_plainly, firm_statements
from mixseek.matching.visible import Phrases, Visible, fold, visible_part

# Says whether at a place of the response a value of the same kind begins that is not the ground truth.
OtherValue = Callable[[int], bool]

# Which kind of answer a ground truth is; the first kind that fits wins.

_SAYS = Phrases("kinds")
_LETTER = re.compile(r"[\s*(\[{]*(?:\\text\{)?\(?([A-Z])\)?[\s)\]}.:*]*")
_QUESTION_WORD = re.compile(r"[^\s,;:.?]+")


def reader_for(gold: str, question: str, maths: MathsComparer | None = None) -> Reader | None:
    """The reader of a closed kind, or None when the ground truth is free text or mathematics."""
    gold = fold(gold).strip()
    question = _folded(question)
    if _is_plain_text(gold):
        return option_by_text(gold, question) or _word_list(gold, question)
    letter = _LETTER.fullmatch(gold)
    if letter is not None:
        return OptionReader(letter[1], question)
    if (labels := several_labels(gold)) is not None:
        return MultiSelectReader(labels, question)
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
        is_listed = gold.isdigit() and len(gold) <= 2 and any(f"{gold}{sign}" in question for sign in ".)、]")
        if is_listed and _SAYS.numbered_question.search(question) and gold in numbered_options(question):
            return OptionReader(gold, question)
        return NumberReader(value.values[0], question, gold, maths, value.percent or "%" in gold)
    return _word_list(gold, question)


@lru_cache(maxsize=4096)  # the responses of several models are judged by the same ground truths
def _is_plain_text(gold: str) -> bool:
    """Whether a folded ground truth is neither letters, brackets, a polarity nor a number, whatever was asked."""
    return (
        _LETTER.fullmatch(gold) is None
        and several_labels(gold) is None
        and not is_bracket_sequence(gold)
        and polarity_of(gold) is None
        and polarity_of(gold, "plausible") is None
        and plain_number(gold) is None
    )


def _word_list(gold: str, question: str) -> WordListReader | None:
    if not _asks_for_order(question):
        return None
    words = [word for word in re.split(r"[\s,]+", gold.casefold()) if word]
    if len(words) >= 2:
        asked = _QUESTION_WORD.findall(question.casefold())
        wanted = frozenset(words)
        if wanted.issubset(asked):
            return WordListReader(tuple(words), tuple(word for word in asked if word in wanted)[-len(words) :])
    return None


@lru_cache(maxsize=4)  # asked for each acceptable answer to one question
def _folded(question: str) -> str:
    return fold(question)


@lru_cache(maxsize=4)
def _asks_for_order(question: str) -> bool:
    return _SAYS.sorting.search(question) is not None


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
    closed = _stood_by(visible, best)
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
    from mixseek.matching.maths import MathsReader, gold_maths, looks_like_maths

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
    if not _YEAR.fullmatch(gold.strip()) or len(visible.text.strip()) > _SHORT_RESPONSE:
        return False
    # Late, as below.
    from mixseek.matching.gold import Asked, read_question

    return read_question(question).asked is Asked.TIME


def _match_reader(visible: Visible, reader: Reader, question: str, closed: Comparison | None = None) -> Comparison:
    closed = closed or match_closed(visible, reader, question)
    closed = Comparison(closed.decision, closed.span, (reader.kind, *closed.rules))
    return _unhedged(visible, closed, lambda place: reader.is_other(visible.text, place))


def _match_text(visible: Visible, golds: Sequence[str], question: str) -> Comparison:
    # Late, as above: most ground truths are of a closed kind.
    from mixseek.matching.short_text import compare_short_text

    start = visible.lead or len(visible.text) - len(visible.text.lstrip())
    decision, span, rules = compare_short_text(visible.text[start : visible.cut].rstrip(), golds, question=question)
    closed = Comparison(decision, span and Span(span.start + start, span.end + start), ("text", *rules))
    if _is_outside_answer(visible, closed):
        return Comparison(Decision.UNDECIDED, closed.span, (*closed.rules, "outside_the_answer"))

    def is_other(place: int) -> bool:
        # Whatever word a joint leads to is another name, unless it is of one of the golds: "Ghent (or Gent)".
        word = _WORD.match(visible.lowered, place)
        names = [fold(gold).lower() for gold in golds]
        if word is None or visible.lowered.startswith(tuple(names), place):
            return False
        # One figure of a date is not the date.
        return not word[0].isalpha() or all(word[0] not in _WORD.findall(name) for name in names)

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


def _stood_by(visible: Visible, closed: Comparison) -> Comparison:
    """A right answer that the response denies, drops, doubts or leaves to somebody else is nobody's to count yet."""
    if closed.decision is not Decision.CORRECT or closed.span is None:
        return closed
    start, end = closed.span.start, closed.span.end
    stance = stance_on(visible.text, visible.lowered, start, end, visible.cut, closed.rules[0])
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


# Whether the words around a right value leave it open: alternatives, ranges, inequalities, negations, questions.
#
# It can take a "correct" back and never make one: seed 001 calls an ambiguous answer incorrect.

_BEFORE = 80
_BEHIND = 120
_HEDGE = Phrases("hedges")
_WORD = re.compile(r"\w+")
_FIGURES = re.compile(r"\d{1,4}(?:[-/.:]\d{1,4}){1,2}")
_YEAR = re.compile(r"[12]\d{3}")
_LISTED = re.compile(r"[\s\"']*[,;|][\s,;|\"']*")
# Two boxes side by side, or two tags with an "or": one answer each.
_BOX_BEFORE = re.compile(r"\\boxed\{([^{}]*)\}[\s$,;.]*(?:\\text\{\s*(?:or|and)\s*\}|or|and)?[\s$,]*\\boxed\{[\s$]*$")
_TAG_BEFORE = re.compile(r"(?:\bor|[/,])\s*<(?:final_?)?answer>\s*$")
# Up to here a response is a name with a few words around it.
_NAME_ALONE = 80
_ASKED = re.compile(r"[\s*_\"'`()\]}$.]{0,40}(?:\\[)\]][\s.]{0,8})?\?")
# A sentence or two: words beside a year say what it is the year of.
_SHORT_RESPONSE = 240


def leaves_open(text: str, start: int, end: int, cut: int, kind: str, is_other: OtherValue) -> bool:
    """Whether the value at [start, end) of a lower-case text is hedged, as a rule by what stands right around it."""
    if ends_plainly(text, start, end, cut):
        return False
    begin, finish = max(0, start - _BEFORE), min(cut, end + _BEHIND)
    if not _is_stated(text, begin, start) and _is_open_ahead(text, begin, start, end, kind, is_other):
        return True
    return _is_open_behind(text, start, end, finish, kind, is_other)


def _is_stated(text: str, begin: int, start: int) -> bool:
    """Whether nothing but "is" leads to the value, which no pattern for what leaves it open ends with but "no way"."""
    return text[begin:start].rstrip(_MARKUP).endswith(" is") and "no way" not in text[begin:start]


_MARKUP = " \t\n\r*_\"'`()[]{}$:"


def _is_open_ahead(text: str, begin: int, start: int, end: int, kind: str, is_other: OtherValue) -> bool:
    if _HEDGE.example_or_near.search(text, begin, start):
        return True
    box = _BOX_BEFORE.search(text, begin, start)
    if _TAG_BEFORE.search(text, begin, start) or (box is not None and is_other(box.start(1))):
        return True
    for mark in _HEDGE.clause_start.finditer(text, begin, start):
        begin = mark.end()
    return _is_open_before(text, begin, start, end, kind)


def _is_open_before(text: str, begin: int, start: int, end: int, kind: str) -> bool:
    before = text[begin:start]
    if _HEDGE.denied.search(before) or _HEDGE.guessed.search(before):
        return True
    # A polarity takes its negation in.
    if kind != "boolean" and _HEDGE.negated.search(before):
        return True
    # Free text is bounded where it is a date: "after 1987"; "over Paris" is a place, "since 1988" when it began.
    may_be_bounded = kind in {"number", "expression"} or (
        kind == "text" and text[start : start + 1].isdigit() and not before.rstrip().endswith(("since", "from"))
    )
    # Of a measure in prose "about" says how it was measured; of a year, that it may have been another.
    is_measured = kind == "text" and not _YEAR.fullmatch(text[start:end]) and _HEDGE.measured.search(before)
    if may_be_bounded and not is_measured and _HEDGE.bounded.search(before):
        return True
    return _YEAR.fullmatch(text, start, start + 4) is not None and before.endswith("by ")


def _is_followed_by_date(text: str, start: int, end: int, finish: int) -> bool:
    """A date in figures with another one behind it: "05/01/2021 - 05/03/2021"."""
    value = text[start:end]
    if not _FIGURES.fullmatch(value):
        return False
    shape = re.sub(r"\d+", r"\\d+", re.escape(value))
    behind = re.compile(rf"[\s*\"']*(?:[-,;/&~]|to\b|and\b|until\b)[\s*\"']*({shape})").match(text, end, finish)
    return behind is not None and behind[1] != value


def _is_open_behind(text: str, start: int, end: int, finish: int, kind: str, is_other: OtherValue) -> bool:
    unsure = _HEDGE.polarity_in_part if kind == "boolean" else _HEDGE.unsure_behind
    if unsure.match(text, end, finish) or _ASKED.match(text, end, finish):
        return True
    if kind == "text" and _is_followed_by_date(text, start, end, finish):
        return True
    if kind in {"number", "expression", "boolean"}:
        if _HEDGE.open_amount.match(text, end, finish):
            return True
        span = _HEDGE.range.match(text, end, finish)
        if span is not None and is_other(span.end()):
            return True
    gap = _HEDGE.gap.match(text, end, finish)
    if gap is None:
        return False
    if kind == "text":
        offers = _HEDGE.text_offers.search(gap[0]) or (
            len(text.strip()) <= _NAME_ALONE and _HEDGE.plain_or.search(gap[0])
        )
        return bool(offers) and is_other(gap.end())
    is_listed = kind in {"number", "option", "boolean"} and bool(_LISTED.fullmatch(gap[0]))
    if not is_listed and not _HEDGE.offers.search(gap[0]):
        return False
    # "Yes, or maybe no": there the word that leads on is itself a value.
    inside = [word.start() for word in _WORD.finditer(text, gap.start(), gap.end())] if kind == "boolean" else []
    return any(map(is_other, (*inside, gap.end())))

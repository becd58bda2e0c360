"""Compare a free-text answer with the names, places, titles or short phrases that would be right.

Few rules, and general ones: `make table` holds each against human judgments of open question answering, and one that
is not right in 98.5 % of its decisions goes (`docs/decisions/0004-what-the-rules-may-decide.md`). What no rule can
see is that a gold is wrong or that another answer is as good; so another name than the gold's decides nothing.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from mixseek.domain.judgments import Span
from mixseek.matching.outcome import Comparison, Decision
from mixseek.matching.short_text_case import Case, Found, Rule
from mixseek.matching.short_text_dates import PartialDate
from mixseek.matching.short_text_gold import Asked, Gold, Kind, Question, prepare_gold, read_question
from mixseek.matching.short_text_lexicon import FILLER_WORDS
from mixseek.matching.short_text_objections import objection_to, refusal_in
from mixseek.matching.short_text_words import Words, relation_keys, stem

# Answers stand at the beginning or at the end; what lies between in a very long response is not read.
_HEAD: Final = 4_000
_LAST_SENTENCE: Final = 600
# A later mention or a weaker likeness does not take these back; the others may be answered by another form of the gold.
_FINAL_OBJECTIONS: Final = frozenset({Rule.DENIED, Rule.HEDGED, Rule.IN_PASSING})
# A bare date or number may be one of several right ones; a sentence commits itself to what was asked.
_SHORT_RESPONSE: Final = 6
# So many names of one thing leave few ways of saying it without any of them.
_MANY_NAMES: Final = 4
# A count this near the gold may be a later or an earlier count of the same thing.
_NEAR: Final = 0.1
_SMALLEST_NEAR: Final = 20
_LONGEST_VALUE: Final = 15
_VAGUE_TIME: Final = frozenset({"century", "centuries", "decade", "decades", "era", "period", "世", "紀", "纪", "代"})
_CONCESSION: Final = frozenset({"however", "but", "believed", "although", "though", "likely", "probably", "estimated"})


def compare_short_text(response: str, gold: Sequence[str], *, question: str = "") -> Comparison:
    """Whether the response gives one of the golds; undecided unless a named rule is sure.

    Args:
        response: the final part of an answer, reasoning already dropped.
        gold: every acceptable answer; one string that joins several with " | " is taken apart.
    """
    asked = read_question(question)
    prepared = prepare_gold(tuple(gold), asked.words)
    is_cut = len(response) > _HEAD
    head = _compare_part(response[:_HEAD], prepared, asked, is_cut=is_cut)
    if not is_cut or head.decision is not Decision.UNDECIDED or head.rule != Rule.NO_RULE:
        return head
    offset = _last_sentence(response)
    tail = _compare_part(response[offset:], prepared, asked, is_cut=True)
    if tail.decision is not Decision.CORRECT or tail.span is None:
        return head
    return Comparison(tail.decision, tail.rule, Span(tail.span.start + offset, tail.span.end + offset))


def _last_sentence(response: str) -> int:
    """Where the last line or sentence of a long response begins; its end, if that is too far away to be one."""
    text = response.rstrip()
    begin = max(_HEAD, len(text) - _LAST_SENTENCE)
    at = max(text.rfind("\n", begin), text.rfind(". ", begin), text.rfind("。", begin, len(text) - 1))
    return at + 1 if at >= 0 else len(response)


def _compare_part(part: str, gold: Gold, question: Question, *, is_cut: bool) -> Comparison:
    words = Words(part)
    case = Case(words, gold, question, is_cut)
    if not case.vocabulary or (FILLER_WORDS.issuperset(case.vocabulary) and not _is_gold(case)):
        return Comparison(Decision.UNDECIDED if is_cut else Decision.INCORRECT, Rule.NO_ANSWER)
    objection: Rule | None = None
    for found in _find_gold(case):
        objection = objection_to(case, found)
        if objection is None:
            return Comparison(Decision.CORRECT, found.rule, words.span(found.first, found.last))
        if objection in _FINAL_OBJECTIONS:
            break
    if _lacks_item(case):
        return Comparison(Decision.INCORRECT, Rule.MISSING_ITEM)
    if objection is not None:
        return Comparison(Decision.UNDECIDED, objection)
    other = _find_other(case)
    if other is None:
        return Comparison(Decision.UNDECIDED, Rule.NO_RULE)
    return Comparison(Decision.INCORRECT, other.rule, words.span(other.first, other.last))


def _is_gold(case: Case) -> bool:
    return any(answer.padded == case.padded for answer in case.gold.answers)


# Is the gold in the response? Each finder knows one way of writing it; whether it is meant is for the objections.


def _find_gold(case: Case) -> Iterator[Found]:
    """Every sign of the gold in the response, the strongest first."""
    yield from _contained(case)
    if case.gold.dates:
        yield from _dates(case)
    yield from _plurals(case)
    yield from _items(case)


def _contained(case: Case) -> Iterator[Found]:
    """The words of the gold in a row: the whole response, or somewhere in it."""
    for answer in case.gold.answers:
        if answer.padded not in case.padded:
            continue
        last = len(answer.words) - 1
        if answer.padded == case.padded:
            yield Found(Rule.EXACT_ANSWER, 0, last, answer)
            continue
        for first in case.places_of(answer.padded):
            yield Found(Rule.CONTAINED, first, first + last, answer)


def _dates(case: Case) -> Iterator[Found]:
    """The gold's date in another writing; whatever says less than the gold says too little."""
    for date in case.dates:
        for wanted, answer in case.gold.dates:
            if wanted.is_same(date):
                yield Found(Rule.SAME_DATE, date.first, date.last, answer)
    for date in case.dates:
        if date.year is not None and any(not wanted.contradicts(date) for wanted, _ in case.gold.dates):
            yield Found(Rule.COARSER_DATE, date.first, date.last)


def _plurals(case: Case) -> Iterator[Found]:
    """ "rock" and "rocks". Names of several words are left out: the Roberts family is not named Robert."""
    padded = ""
    for answer in case.gold.answers:
        if answer.is_proper and len(answer.words) > 1:
            continue
        padded = padded or f" {' '.join(map(stem, case.words.text))} "
        wanted = f" {' '.join(map(stem, answer.words))} "
        if wanted in padded:
            first = padded.count(" ", 0, padded.find(wanted))
            yield Found(Rule.INFLECTED, first, first + len(answer.words) - 1, answer)


def _items(case: Case) -> Iterator[Found]:
    """A gold that enumerates, in any order."""
    for items in case.gold.item_lists:
        if all(item in case.padded for item in items):
            places = [next(case.places_of(item)) for item in items]
            ends = [place + item.strip().count(" ") for place, item in zip(places, items, strict=True)]
            yield Found(Rule.ALL_ITEMS, min(places), max(ends))


# Is something else in the response? Only where nothing of the gold is there, and only what leaves no room for it.


def _lacks_item(case: Case) -> bool:
    """A counted list was asked for ("the three …"), and the response names some of its items but not all."""
    wanted = case.question.wanted_items
    lists = [items for items in case.gold.item_lists if len(items) == wanted > 2]
    if len(lists) != 1 or case.is_cut:
        return False
    named = sum(item in case.padded for item in lists[0])
    return 0 < named < wanted


def _find_other(case: Case) -> Found | None:
    """The rule under which the response cannot be right; None where that is not plain."""
    if case.is_cut or not case.gold.answers or not _share_a_script(case):
        return None
    whole = (0, len(case.words) - 1)
    is_refused = refusal_in(case) is not None and _CONCESSION.isdisjoint(_without_apology(case))
    if (is_refused or _has_many_names(case.gold)) and not _is_related(case):
        return Found(Rule.REFUSAL if is_refused else Rule.NONE_OF_THE_NAMES, *whole)
    if is_refused or case.question.is_dated or len(case.words) <= _SHORT_RESPONSE:
        return None
    if case.gold.kind is Kind.DATE and case.question.asked is Asked.TIME:
        return _other_date(case)
    if case.gold.kind is Kind.NUMBER and case.question.asked is Asked.QUANTITY:
        return _other_number(case)
    return None


def _without_apology(case: Case) -> frozenset[str]:
    """The "but" of "I'm sorry, but" concedes nothing."""
    is_apology = case.padded.count(" but ") == 1 and " sorry but " in case.padded
    return case.vocabulary - {"but"} if is_apology else case.vocabulary


def _has_many_names(gold: Gold) -> bool:
    """Numbers and dates have more writings than any list of them."""
    return gold.kind is Kind.WORDS and len(gold.answers) >= _MANY_NAMES and gold.names_one_thing


def _share_a_script(case: Case) -> bool:
    """A name in another alphabet cannot be compared letter by letter."""
    scripts = [
        {word[0] > "\u024f" for word in words if word[0] != "#"} for words in (case.words.text, case.gold.vocabulary)
    ]
    return not scripts[0] or not scripts[1] or not scripts[0].isdisjoint(scripts[1])


def _is_related(case: Case) -> bool:
    """A word of the gold, or one that begins or ends like it, or its initials, somewhere in the response."""
    words = case.words
    if not case.gold.keys.isdisjoint(relation_keys(words.text)):
        return True
    glued = "".join(words.text)
    initials = "".join(word[0] for word in words.text)
    for answer in case.gold.answers:
        if (len(answer.glued) > 3 and answer.glued in glued) or (
            answer.initials and answer.initials in case.vocabulary
        ):
            return True
        if 1 < len(answer.glued) <= 5 and answer.written.isupper() and answer.glued in initials:
            return True
    return False


def _other_date(case: Case) -> Found | None:
    """No date at all, or every date of the response contradicts every date of the gold."""
    if not _VAGUE_TIME.isdisjoint(case.vocabulary):
        return None
    if not case.dates:
        is_timeless = not any(word[0] == "#" and word not in case.question.words for word in case.vocabulary)
        return Found(Rule.NO_DATE, 0, len(case.words) - 1) if is_timeless and not _is_related(case) else None
    for date in case.dates:
        is_decade = case.words.text[date.last + 1 : date.last + 2] == ["s"]
        if is_decade or not all(wanted.contradicts(date) for wanted, _ in case.gold.dates):
            return None
    told = [date for date in case.dates if date.year is not None and f"#{date.year}" not in case.question.words]
    if not told or _may_include_gold(case, told):
        return None
    return Found(Rule.OTHER_DATE, told[0].first, told[0].last)


def _may_include_gold(case: Case, told: list[PartialDate]) -> bool:
    """The response gives a stretch of time ("1946-47", "from 1990 to 1995"), or golds disagree and one is close."""
    years = [date.year for date in told if date.year is not None]
    wanted = [date.year for date, _ in case.gold.dates if date.year is not None]
    if any(min(years) < year < max(years) for year in wanted):
        return True
    if case.gold.is_disputed and any(abs(year - other) < 2 for year in years for other in wanted):
        return True
    source = case.words.folded_source
    return any(source.startswith("-", case.words.span(date.first, date.last).end) for date in told)


def _other_number(case: Case) -> Found | None:
    """The response counts, and no number in it is, or is near, a number of the gold."""
    gold = case.gold
    if (
        not gold.is_count
        or not gold.numbers.isdisjoint(case.question.words)
        or not _VAGUE_TIME.isdisjoint(case.vocabulary)
    ):
        return None
    told = [
        index
        for index, word in enumerate(case.words.text)
        if word[0] == "#" and len(word) < _LONGEST_VALUE and word not in case.question.words
    ]
    wanted = [float(number[1:]) for number in gold.numbers if len(number) < _LONGEST_VALUE]
    if not told or not wanted:
        return None
    values = [float(case.words.text[index][1:]) for index in told]
    for number in wanted:
        margin = _NEAR * number if number >= _SMALLEST_NEAR else 0
        if min(values) <= number <= max(values) or any(abs(value - number) <= margin for value in values):
            return None
    return Found(Rule.OTHER_NUMBER, told[0], told[0])

"""Is something else in the response? Only where nothing of the gold is there, and only what leaves no room for it."""

from typing import Final

from mixseek.matching.open_text.dates import PartialDate
from mixseek.matching.open_text.gold import Asked, Kind, Question
from mixseek.matching.open_text.text_case import SHORT_RESPONSE, Case, Passage, Rule
from mixseek.matching.open_text.words import relation_keys

# So many names of one thing leave few ways of saying it without any of them.
_MANY_NAMES: Final = 4
# A longer sentence may describe the thing instead.
_LONGEST_NAMING: Final = 20
# A count this near the gold may be a later or an earlier count of the same thing.
_NEAR: Final = 0.1
_SMALLEST_NEAR: Final = 20
_LONGEST_VALUE: Final = 15
_VAGUE_TIME: Final = frozenset({"century", "centuries", "decade", "decades", "era", "period", "世", "紀", "纪", "代"})
_CONCESSION: Final = frozenset({"however", "but", "believed", "although", "though", "likely", "probably", "estimated"})


def lacks_item(case: Case) -> bool:
    """A counted list was asked for ("the three …"), and the response names some of its items but not all."""
    lists = [items for items in case.gold.item_lists if len(items) == case.question.wanted_items > 2]
    named = sum(item in case.padded for item in lists[0]) if len(lists) == 1 and not case.is_cut else 0
    return 0 < named < case.question.wanted_items


def find_other(case: Case) -> Passage | None:
    """The rule under which the response cannot be right; None where that is not plain."""
    if case.is_cut or not case.gold.answers or not share_a_script(case):
        return None
    whole = (0, len(case.words) - 1)
    # The "but" of "I'm sorry, but" concedes nothing.
    is_apology = case.padded.count(" but ") == 1 and " sorry but " in case.padded
    is_refused = case.refusal is not None and not case.vocabulary & _CONCESSION - ({"but"} if is_apology else set())
    # Numbers and dates have more writings than any list of them.
    has_many_names = (
        case.gold.kind is Kind.WORDS
        and len(case.gold.answers) >= _MANY_NAMES
        and (case.gold.names_one_thing or (case.gold.lists_aliases and _asks_for_one(case.question)))
        and len(case.words) <= _LONGEST_NAMING
    )
    if (is_refused or has_many_names) and not is_related(case):
        return Passage(Rule.REFUSAL if is_refused else Rule.NONE_OF_THE_NAMES, *whole)
    if is_refused or case.question.is_dated or len(case.words) <= SHORT_RESPONSE:
        return None
    if case.gold.kind is Kind.DATE and case.question.asked is Asked.TIME:
        return _other_date(case)
    if case.gold.kind is Kind.NUMBER and case.question.asked is Asked.QUANTITY:
        return _other_number(case)
    return None


def _asks_for_one(question: Question) -> bool:
    return question.wanted_items == 1 and not question.is_open and not question.is_list


def share_a_script(case: Case) -> bool:
    """A name in another alphabet cannot be compared letter by letter."""
    ours, golds = (
        {word[0] > "\u024f" for word in words if word[0] != "#"} for words in (case.vocabulary, case.gold.vocabulary)
    )
    return not ours or not golds or not ours.isdisjoint(golds)


def is_related(case: Case) -> bool:
    """A word of the gold, or one that begins or ends like it, or its initials, somewhere in the response."""
    if not case.gold.keys.isdisjoint(relation_keys(case.words.text)):
        return True
    glued = "".join(case.words.text)
    initials = "".join(word[0] for word in case.words.text)
    return any(
        (len(answer.glued) > 3 and answer.glued in glued)
        or (answer.initials and answer.initials in case.vocabulary)
        or (1 < len(answer.glued) <= 5 and answer.written.isupper() and answer.glued in initials)
        for answer in case.gold.answers
    )


def _other_date(case: Case) -> Passage | None:
    """No date at all, or every date of the response contradicts every date of the gold."""
    if not _VAGUE_TIME.isdisjoint(case.vocabulary):
        return None
    if not case.dates:
        is_timeless = not any(word[0] == "#" and word not in case.question.words for word in case.vocabulary)
        return Passage(Rule.NO_DATE, 0, len(case.words) - 1) if is_timeless and not is_related(case) else None
    for date in case.dates:
        is_decade = case.words.text[date.last + 1 : date.last + 2] == ["s"]
        if is_decade or not all(wanted.contradicts(date) for wanted, _ in case.gold.dates):
            return None
    dates = [date for date in case.dates if date.year is not None and f"#{date.year}" not in case.question.words]
    if not dates or _may_include_gold(case, dates):
        return None
    return Passage(Rule.OTHER_DATE, dates[0].first, dates[0].last)


def _may_include_gold(case: Case, dates: list[PartialDate]) -> bool:
    """The response gives a stretch of time ("1946-47", "from 1990 to 1995"), or golds disagree and one is close."""
    years = [date.year for date in dates if date.year is not None]
    wanted = [date.year for date, _ in case.gold.dates if date.year is not None]
    if any(min(years) < year < max(years) for year in wanted):
        return True
    if case.gold.is_disputed and any(abs(year - other) < 2 for year in years for other in wanted):
        return True
    source = case.words.folded_source
    return any(source.startswith("-", case.words.span(date.first, date.last).end) for date in dates)


def _other_number(case: Case) -> Passage | None:
    """The response counts, and no number in it is, or is near, a number of the gold."""
    gold, asked = case.gold, case.question.words
    if not gold.is_count or gold.numbers & asked or _VAGUE_TIME & case.vocabulary:
        return None
    numbers = {
        index: float(word[1:])
        for index, word in enumerate(case.words.text)
        if word[0] == "#" and len(word) < _LONGEST_VALUE and word not in asked
    }
    wanted = [float(number[1:]) for number in gold.numbers if len(number) < _LONGEST_VALUE]
    if not numbers or not wanted:
        return None
    for number in wanted:
        margin = _NEAR * number if number >= _SMALLEST_NEAR else 0
        if min(numbers.values()) - margin <= number <= max(numbers.values()) + margin:
            return None
    return Passage(Rule.OTHER_NUMBER, min(numbers), min(numbers))

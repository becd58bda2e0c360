"""Is something else in the response? An answer of the wanted kind that has nothing to do with the gold is wrong."""

from typing import Final

from mixseek.matching.short_text_case import Case, Found, Rule
from mixseek.matching.short_text_dates import PartialDate
from mixseek.matching.short_text_gold import Kind
from mixseek.matching.short_text_lexicon import REGIONS
from mixseek.matching.short_text_objections import refusal_in
from mixseek.matching.short_text_question import Asked
from mixseek.matching.short_text_words import relation_keys

# A vague question has more right answers than its gold. A sentence commits itself to what was asked; a bare name or
# number may be one of the others, so it is held against the gold only if the question pins one answer down.
_SHORT_RESPONSE: Final = 6
_DETAIL_FOR_SHORT: Final = 7
_DETAIL_FOR_SHORT_PERSON: Final = 6
_DETAIL_FOR_THING: Final = 8
# A count this near the gold may be a later or an earlier count of the same thing.
_NEAR: Final = 0.1
_SMALLEST_NEAR: Final = 20
_LONGEST_VALUE: Final = 15
_VAGUE_TIME: Final = frozenset({"century", "centuries", "decade", "decades", "era", "period", "世", "紀", "纪", "代"})
_LISTING: Final = frozenset({"several", "various", "varies", "vary", "including", "include", "different", "multiple"})
_CONCESSION: Final = frozenset({"however", "but", "believed", "although", "though", "likely", "probably", "estimated"})
_OTHER_RULES: Final = {
    (Asked.PERSON, Kind.NAME): Rule.OTHER_PERSON,
    (Asked.PERSON, Kind.WORDS): Rule.OTHER_PERSON,
    (Asked.PERSON, Kind.NUMBER): Rule.OTHER_PERSON,
    (Asked.PERSON, Kind.DATE): Rule.OTHER_PERSON,
    (Asked.PLACE, Kind.NAME): Rule.OTHER_PLACE,
    (Asked.THING, Kind.NAME): Rule.OTHER_NAME,
    (Asked.OTHER, Kind.NAME): Rule.OTHER_NAME,
    (Asked.THING, Kind.WORDS): Rule.OTHER_THING,
}


def find_other(case: Case) -> Found | None:
    """The rule under which the response answers with something other than the gold; None where that is not plain."""
    if case.is_cut or not case.gold.wholes or not _share_a_script(case):
        return None
    if refusal_in(case) is not None and _CONCESSION.isdisjoint(_without_apology(case)):
        return None if _is_related(case) else Found(Rule.REFUSAL, 0, len(case.words) - 1)
    if case.question.is_dated:
        return None
    found = _other_answer(case)
    if found is not None and len(case.words) <= _SHORT_RESPONSE:
        is_person = found.rule is Rule.OTHER_PERSON
        if case.question.detail < (_DETAIL_FOR_SHORT_PERSON if is_person else _DETAIL_FOR_SHORT):
            return None
    return found


def _without_apology(case: Case) -> frozenset[str]:
    """The "but" of "I'm sorry, but" concedes nothing."""
    is_apology = case.padded.count(" but ") == 1 and " sorry but " in case.padded
    return case.vocabulary - {"but"} if is_apology else case.vocabulary


def _other_answer(case: Case) -> Found | None:
    kind, asked = case.gold.kind, case.question.asked
    if kind is Kind.DATE and asked is Asked.TIME:
        return _other_date(case)
    if kind is Kind.NUMBER and asked in (Asked.QUANTITY, Asked.TIME, Asked.THING, Asked.OTHER):
        return _other_number(case)
    rule = _OTHER_RULES.get((asked, kind))
    if rule is None or case.question.is_open or not _is_plain(case, rule) or _is_related(case):
        return None
    return Found(rule, 0, len(case.words) - 1)


def _is_plain(case: Case, rule: Rule) -> bool:
    """Nothing about gold or response suggests that both might be right."""
    question = case.question
    if rule is Rule.OTHER_PERSON:
        return not _names_region(case) and _LISTING.isdisjoint(case.vocabulary)
    if question.wanted_items > 1 or case.gold.is_disputed:
        return False
    if rule is Rule.OTHER_THING:
        return question.detail >= _DETAIL_FOR_THING and len(case.words) > _SHORT_RESPONSE
    if rule is Rule.OTHER_PLACE:
        # A town is not contradicted by its country.
        is_as_fine = _names_region(case) or REGIONS.isdisjoint(case.vocabulary - question.words)
        return is_as_fine and _LISTING.isdisjoint(case.vocabulary)
    return True


def _names_region(case: Case) -> bool:
    return any(not answer.content.isdisjoint(REGIONS) for answer in case.gold.wholes)


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
    for answer in case.gold.wholes:
        if (len(answer.glued) > 3 and answer.glued in glued) or (
            answer.initials and answer.initials in case.vocabulary
        ):
            return True
        if 1 < len(answer.glued) <= 5 and answer.written.isupper() and answer.glued in initials:
            return True
    return False


def _other_date(case: Case) -> Found | None:
    """Every date of the response contradicts every date of the gold."""
    gold = case.gold
    if not _VAGUE_TIME.isdisjoint(case.vocabulary):
        return None
    if not case.dates:
        is_timeless = not any(word[0] == "#" and word not in case.question.words for word in case.vocabulary)
        return Found(Rule.NO_DATE, 0, len(case.words) - 1) if is_timeless and not _is_related(case) else None
    for date in case.dates:
        is_decade = case.words.text[date.last + 1 : date.last + 2] == ["s"]
        if is_decade or not all(wanted.contradicts(date) for wanted in gold.dates):
            return None
    told = [date for date in case.dates if date.year is not None and f"#{date.year}" not in case.question.words]
    if not told or _may_include_gold(case, told):
        return None
    return Found(Rule.OTHER_DATE, told[0].first, told[0].last)


def _may_include_gold(case: Case, told: list[PartialDate]) -> bool:
    """The response gives a stretch of time ("1946-47", "from 1990 to 1995"), or golds disagree and one is close."""
    years = [date.year for date in told if date.year is not None]
    wanted = [date.year for date in case.gold.dates if date.year is not None]
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

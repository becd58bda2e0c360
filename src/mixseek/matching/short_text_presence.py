"""Is the gold in the response? Each finder knows one way of saying the gold; whether it is meant is asked elsewhere."""

from collections.abc import Iterator
from typing import Final

from mixseek.matching.short_text_case import Case, Found, Rule
from mixseek.matching.short_text_gold import Answer, Form
from mixseek.matching.short_text_lexicon import DEMONYMS, NICKNAMES, TITLES
from mixseek.matching.short_text_question import Asked
from mixseek.matching.short_text_words import stem

# More words than this between first and last name are not middle names any more.
_MOST_MIDDLE_NAMES: Final = 3
_LONGEST_NAME: Final = 5
_SHORTEST_GLUED: Final = 3
_SHORTEST_SURNAME: Final = 4
_INSIDE_A_NAME: Final = frozenset(" .-'\"()")


def find_gold(case: Case) -> Iterator[Found]:
    """Every sign of the gold in the response, the strongest first."""
    yield from _contained(case)
    if case.gold.dates:
        yield from _dates(case)
    yield from _differently_divided(case)
    yield from _inflected(case)
    yield from _names(case)
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
        rule = Rule.CONTAINED if answer.form is Form.WHOLE else Rule.CONTAINED_CORE
        for first in case.places_of(answer.padded):
            yield Found(rule, first, first + last, answer)


def _dates(case: Case) -> Iterator[Found]:
    for date in case.dates:
        if any(wanted.accepts(date) for wanted in case.gold.dates):
            yield Found(Rule.DATE_AGREES, date.first, date.last)
    for date in case.dates:
        if date.year is not None and any(not wanted.contradicts(date) for wanted in case.gold.dates):
            yield Found(Rule.COARSER_DATE, date.first, date.last)


def _differently_divided(case: Case) -> Iterator[Found]:
    """ "head-up" and "headup", "J K L" and "JKL"."""
    glued = "".join(case.words.text)
    for answer in case.gold.answers:
        if len(answer.glued) < _SHORTEST_GLUED or "#" in answer.glued or answer.glued not in glued:
            continue
        start = glued.find(answer.glued)
        end = start + len(answer.glued)
        position, first = 0, -1
        for index, word in enumerate(case.words.text):
            if position == start:
                first = index
            position += len(word)
            if position >= end:
                if first >= 0 and position == end:
                    yield Found(Rule.DIFFERENTLY_DIVIDED, first, index, answer)
                break


def _inflected(case: Case) -> Iterator[Found]:
    """Another number or the nationality of the same words: "rock"/"rocks", "Colombia"/"Colombian".

    Names of several words are left out: the Roberts family is not named Robert.
    """
    padded = ""
    for answer in case.gold.answers:
        if answer.is_proper and len(answer.words) > 1:
            continue
        padded = padded or f" {' '.join(map(_base, case.words.text))} "
        wanted = f" {' '.join(map(_base, answer.words))} "
        if wanted in padded:
            first = padded.count(" ", 0, padded.find(wanted))
            yield Found(Rule.INFLECTED, first, first + len(answer.words) - 1, answer)


def _base(word: str) -> str:
    return DEMONYMS.get(word) or stem(word)


def _names(case: Case) -> Iterator[Found]:
    """First and last name with other, more or fewer middle names; a nickname or an initial for the first name."""
    text = case.words.text
    for answer in case.gold.answers:
        name = _person_name(answer)
        if not name or name[-1] not in case.vocabulary:
            continue
        for last, word in enumerate(text):
            if word != name[-1]:
                continue
            for first in range(max(0, last - 1 - _MOST_MIDDLE_NAMES), last):
                if _are_variants(name, text[first : last + 1]) and _is_one_name(case, first, last):
                    yield Found(Rule.NAME_VARIANT, first, last, answer)
        is_asked = case.question.asked is Asked.PERSON and len(name[-1]) >= _SHORTEST_SURNAME
        if is_asked and [word for word in text if word not in TITLES] == name[-1:]:
            yield Found(Rule.SURNAME, 0, len(text) - 1, answer)


def _person_name(answer: Answer) -> list[str]:
    """The words of a gold that may be a person's name, without titles; empty if it can be none."""
    name = [word for word in answer.words if word not in TITLES]
    if not answer.is_proper or not 2 <= len(name) <= _LONGEST_NAME or "and" in name or "&" in answer.written:
        return []
    return [] if any(word[0] == "#" for word in name) else name


def _are_variants(name: list[str], told: list[str]) -> bool:
    """Same person's first name, and no middle name that contradicts: John F. and John Fitzgerald, not John Q."""
    if not _is_same_given_name(name[0], told[0]):
        return False
    initials, told_initials = ([word[0] for word in names[1:-1]] for names in (name, told))
    return not initials or not told_initials or initials == told_initials


def _is_same_given_name(wanted: str, word: str) -> bool:
    if wanted == word or word in NICKNAMES.get(wanted, ()):
        return True
    return (len(wanted) == 1 or len(word) == 1) and wanted[0] == word[0]


def _is_one_name(case: Case, first: int, last: int) -> bool:
    """No comma and no small word from first to last name; a response without capitals gets the benefit."""
    is_lower = case.words.folded_source.islower()
    return all(is_lower or case.words.is_capitalised(index) for index in range(first, last + 1)) and all(
        _INSIDE_A_NAME.issuperset(case.words.gap(index)) for index in range(first + 1, last + 1)
    )


def _items(case: Case) -> Iterator[Found]:
    """A gold that enumerates, in any order."""
    for items in case.gold.item_lists:
        if all(item in case.padded for item in items):
            places = [next(case.places_of(item)) for item in items]
            ends = [place + item.strip().count(" ") for place, item in zip(places, items, strict=True)]
            yield Found(Rule.ALL_ITEMS, min(places), max(ends))

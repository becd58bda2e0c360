"""Is the gold in the response? Each finder knows one way of writing it; whether it is meant is for the objections."""

from collections.abc import Iterator
from itertools import chain
from typing import Final

from mixseek.matching.open_text.text_case import Case, Passage, Rule
from mixseek.matching.open_text.words import stem

# Words between two items of an enumeration: "Tripathi (as Ishita Bhalla) and Patel".
_WIDEST_GAP: Final = 5


def find_gold(case: Case) -> Iterator[Passage]:
    """Every sign of the gold in the response, the strongest first."""
    return chain(_contained(case), _dates(case), _plurals(case), _items(case))


def _contained(case: Case) -> Iterator[Passage]:
    """The words of the gold in a row: the whole response, or somewhere in it."""
    for answer in case.gold.answers:
        if answer.padded not in case.padded:
            continue
        last = len(answer.words) - 1
        if answer.padded == case.padded:
            yield Passage(Rule.EXACT_ANSWER, 0, last, answer)
            continue
        for first in case.places_of(answer.padded):
            yield Passage(Rule.CONTAINED, first, first + last, answer)


def _dates(case: Case) -> Iterator[Passage]:
    """The gold's date in another writing; whatever says less than the gold says too little."""
    if not case.gold.dates:
        return
    for date in case.dates:
        for wanted, answer in case.gold.dates:
            if wanted.is_same(date):
                yield Passage(Rule.SAME_DATE, date.first, date.last, answer)
    for date in case.dates:
        if date.year is not None and any(not wanted.contradicts(date) for wanted, _ in case.gold.dates):
            yield Passage(Rule.COARSER_DATE, date.first, date.last)


def _plurals(case: Case) -> Iterator[Passage]:
    """ "rock" and "rocks". Names of several words are left out: the Roberts family is not named Robert."""
    padded = ""
    for answer in case.gold.answers:
        if answer.is_proper and len(answer.words) > 1:
            continue
        padded = padded or f" {' '.join(map(stem, case.words.text))} "
        wanted = f" {' '.join(map(stem, answer.words))} "
        if wanted in padded:
            first = padded.count(" ", 0, padded.find(wanted))
            yield Passage(Rule.INFLECTED, first, first + len(answer.words) - 1, answer)


def _items(case: Case) -> Iterator[Passage]:
    """A gold that enumerates, in any order."""
    for items in case.gold.item_lists:
        if all(item in case.padded for item in items):
            places = [next(case.places_of(item)) for item in items]
            ends = [place + item.strip().count(" ") for place, item in zip(places, items, strict=True)]
            # Items that are far apart are mentioned, not enumerated.
            if any(start - end > _WIDEST_GAP for start, end in zip(sorted(places)[1:], sorted(ends), strict=False)):
                continue
            yield Passage(Rule.ALL_ITEMS, min(places), max(ends))

"""Dates in prose, by granularity: a year accepts a day in it, two days of one year contradict each other."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from mixseek.matching.short_text_lexicon import MONTHS
from mixseek.matching.short_text_words import Words

_YEARS: Final = range(1000, 2101)
_CITED_YEARS: Final = range(1700, 2031)


@dataclass(frozen=True, slots=True)
class PartialDate:
    """What a date in prose says; a field that it leaves open is None. `first`/`last` are the words it was read from."""

    year: int | None
    month: int | None
    day: int | None
    first: int
    last: int

    def accepts(self, other: "PartialDate") -> bool:
        """Every field that this date names, the other one names alike."""
        return (
            (self.year is None or self.year == other.year)
            and (self.month is None or self.month == other.month)
            and (self.day is None or self.day == other.day)
        )

    def is_same(self, other: "PartialDate") -> bool:
        """Both name the same month, and the same day and year or none; a bare year is a number, not a date."""
        return self.month is not None and (self.year, self.month, self.day) == (other.year, other.month, other.day)

    def is_as_fine_as(self, other: "PartialDate") -> bool:
        """Names every field that the other one names."""
        return (self.month is not None or other.month is None) and (self.day is not None or other.day is None)

    def contradicts(self, other: "PartialDate") -> bool:
        """A field that both name, and name differently."""
        return (
            (self.year is not None and other.year is not None and self.year != other.year)
            or (self.month is not None and other.month is not None and self.month != other.month)
            or (self.day is not None and other.day is not None and self.day != other.day)
        )


def dates_in(words: Words) -> Iterator[PartialDate]:
    """Every date in reading order: "April 17, 1982", "17 April 1982", "April 1982", "April 17", and bare years."""
    text = words.text
    index = 0
    count = len(text)
    while index < count:
        word = text[index]
        if word == "月" or word == "年":
            date = _around_unspaced(text, index)
            if date is not None:
                yield date
                index = date.last + 1
                continue
        elif word in MONTHS:
            date = _around_month(words, index)
            if date is not None:
                yield date
                index = date.last + 1
                continue
        elif (year := _year_at(words, index)) is not None and text[index + 1 : index + 2] != ["年"]:
            yield PartialDate(year, None, None, index, index)
        index += 1


def _around_unspaced(text: list[str], index: int) -> PartialDate | None:
    """1982年4月17日, 1982年4月, 1982年 and 4月17日, read from the first of their signs."""
    values: list[int | None] = [None, None, None]
    signs = "年月日"
    first, last = index - 1, index
    at = first
    for place in range(signs.index(text[index]), 3):
        if at < 0 or text[at + 1 : at + 2] != [signs[place]] or not text[at][1:].isdigit() or len(text[at]) > 5:
            break
        values[place], last = int(text[at][1:]), at + 1
        at += 2
    return PartialDate(values[0], values[1], values[2], first, last) if any(values) else None


def _around_month(words: Words, index: int) -> PartialDate | None:
    """The date that a month's name belongs to, or None where "may" and "march" are verbs and "Jan" is a person."""
    text = words.text
    month = MONTHS[text[index]]
    first = last = index
    day = None
    if index and (before := _day(text[index - 1])) is not None:
        day, first = before, index - 1
    elif index > 1 and text[index - 1] == "of" and (before := _day(text[index - 2])) is not None:
        day, first = before, index - 2
    elif index + 1 < len(text) and (following := _day(text[index + 1])) is not None:
        day, last = following, index + 1
    at = last + 1
    if at < len(text) and text[at] == "of":
        at += 1
    year = _year_at(words, at)
    if year is None and day is not None:
        year = _early_year(text[at]) if at < len(text) else None
    if year is not None:
        last = at
    elif day is None and ((len(text[index]) < 4 and text[index] != "may") or not words.is_capitalised(index)):
        return None
    return PartialDate(year, month, day, first, last)


def _day(word: str) -> int | None:
    if len(word) in (2, 3) and word[0] == "#" and word[1:].isdigit() and 1 <= int(word[1:]) <= 31:
        return int(word[1:])
    return None


def _early_year(word: str) -> int | None:
    if len(word) == 4 and word[0] == "#" and word[1:].isdigit():
        return int(word[1:])
    return None


def _year_at(words: Words, index: int) -> int | None:
    """Four digits; one or two more are a citation mark glued to them, since no date has a five-digit year."""
    if index >= len(words.text):
        return None
    word = words.text[index]
    if word[0] != "#" or len(word) not in (5, 6, 7) or not word[1:].isdigit():
        return None
    year = int(word[1:5])
    # A separator makes it a count: nobody writes the year 1,066.
    if "," in words.raw[words.first_raw[index]] or (len(word) > 5 and year not in _CITED_YEARS):
        return None
    return year if year in _YEARS else None

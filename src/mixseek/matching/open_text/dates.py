"""Dates in prose, by granularity: a year accepts a day in it, two days of one year contradict each other."""

from collections.abc import Iterator
from typing import Final

from mixseek.lazy_dataclass import dataclass
from mixseek.matching.numbers import MONTHS
from mixseek.matching.open_text.words import LAST_MONTH, Words

_YEARS: Final = range(1000, 2101)
_LONGEST_ERA: Final = 64
_CITED_YEARS: Final = range(1700, 2031)


@dataclass(frozen=True, slots=True)
class PartialDate:
    """What a date in prose says; a field that it leaves open is None. `first`/`last` are the words it was read from."""

    year: int | None
    month: int | None
    day: int | None
    first: int
    last: int

    def _beside(self, other: "PartialDate") -> tuple[tuple[int | None, int | None], ...]:
        return (self.year, other.year), (self.month, other.month), (self.day, other.day)

    def accepts(self, other: "PartialDate") -> bool:
        """Every field that this date names, the other one names alike."""
        return all(ours is None or ours == theirs for ours, theirs in self._beside(other))

    def is_same(self, other: "PartialDate") -> bool:
        """Both name the same month, and the same day and year or none; a bare year is a number, not a date."""
        return self.month is not None and all(ours == theirs for ours, theirs in self._beside(other))

    def is_as_fine_as(self, other: "PartialDate") -> bool:
        """Names every field that the other one names."""
        return (self.month is not None or other.month is None) and (self.day is not None or other.day is None)

    def contradicts(self, other: "PartialDate") -> bool:
        """A field that both name, and name differently."""
        return any(None not in (ours, theirs) and ours != theirs for ours, theirs in self._beside(other))


def dates_in(words: Words) -> Iterator[PartialDate]:
    """Every date in reading order: "April 17, 1982", "17 April 1982", "April 1982", "April 17", and bare years."""
    text = words.text
    last = -1
    for index, word in enumerate(text):
        if index <= last:
            continue
        date = None
        if word in MONTHS:
            date = _around_month(words, index)
        elif word in "月年":
            date = _around_unspaced(text, index)
        elif (year := _year_at(words, index)) is not None and text[index + 1 : index + 2] != ["年"]:
            date = _in_figures(words, index, year) or PartialDate(year, None, None, index, index)
        if date is not None:
            yield date
            last = date.last


def _in_figures(words: Words, index: int, year: int) -> PartialDate | None:
    """1982-04-17: only in this order do figures say which of them is the month."""
    month, day = _number(words, index + 1, 1, 2), _day_at(words, index + 2)
    if month is None or day is None or not 1 <= month <= LAST_MONTH:
        return None
    is_joined = words.gap(index + 1) == words.gap(index + 2) == "-"
    return PartialDate(year, month, day, index, index + 2) if is_joined else None


def _around_unspaced(text: list[str], index: int) -> PartialDate | None:
    """1982年4月17日, 1982年4月, 1982年 and 4月17日, read from the first of their signs."""
    values: dict[str, int] = {}
    at = index - 1
    for sign in "年月日"["年月日".index(text[index]) :]:
        if at < 0 or text[at + 1 : at + 2] != [sign] or not text[at][1:].isdigit() or len(text[at]) > 5:
            break
        values[sign] = int(text[at][1:])
        at += 2
    if not any(values.values()):
        return None
    year = values.get("年", 0)
    # 令和6年 is counted from the beginning of an era.
    return PartialDate(year if year > _LONGEST_ERA else None, values.get("月"), values.get("日"), index - 1, at - 1)


def _around_month(words: Words, index: int) -> PartialDate | None:
    """The date that a month's name belongs to, or None where "may" and "march" are verbs and "Jan" is a person."""
    text = words.text
    month = MONTHS[text[index]]
    first = last = index
    before = index - 2 if index and text[index - 1] == "of" else index - 1
    if (day := _day_at(words, before)) is not None:
        first = before
    elif (day := _day_at(words, index + 1)) is not None:
        last = index + 1
    at = last + 2 if text[last + 1 : last + 2] == ["of"] else last + 1
    year = _year_at(words, at)
    if year is None and day is not None:
        year = _number(words, at, 3, 3)
    if year is not None:
        last = at
    elif day is None and ((len(text[index]) < 4 and text[index] != "may") or not words.is_capitalised(index)):
        return None
    return PartialDate(year, month, day, first, last)


def _number(words: Words, index: int, least: int, most: int) -> int | None:
    """The whole number at a place, where it has that many digits."""
    word = words.text[index] if 0 <= index < len(words) else ""
    return int(word[1:]) if least < len(word) <= most + 1 and word[0] == "#" and word[1:].isdigit() else None


def _day_at(words: Words, index: int) -> int | None:
    day = _number(words, index, 1, 2)
    return day if day is not None and 1 <= day <= 31 else None


def _year_at(words: Words, index: int) -> int | None:
    """Four digits; one or two more are a citation mark glued to them, since no date has a five-digit year."""
    if _number(words, index, 4, 6) is None:
        return None
    word = words.text[index]
    year = int(word[1:5])
    # A separator makes it a count: nobody writes the year 1,066.
    if "," in words.raw[words.first_raw[index]] or (len(word) > 5 and year not in _CITED_YEARS):
        return None
    return year if year in _YEARS else None

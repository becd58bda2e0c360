"""What was asked and what would be right: the question read as far as its wording tells, the golds made comparable."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache
from typing import Final

from mixseek.matching.languages import Phrases
from mixseek.matching.numbers import MONTHS
from mixseek.matching.short_text.words import (
    CARDINALS,
    FUNCTION_WORDS,
    UNIT_WORDS,
    Words,
    relation_keys,
)

# Dates in prose, by granularity: a year accepts a day in it, two days of one year contradict each other.

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
    index = 0
    count = len(text)
    while index < count:
        word = text[index]
        if word in "月年" or word in MONTHS:
            date = _around_month(words, index) if word in MONTHS else _around_unspaced(text, index)
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


_ITEM_BREAK: Final = re.compile(r",\s*(?:and\s+|&\s*)?|\s+and\s+|\s*&\s*|;\s*")
_UNSPACED_ITEM_BREAK: Final = re.compile(r"[、，]|和|及び|および|以及|與|与")
# The first bytes of two- and three-byte UTF-8, each followed by what a continuation byte looks like in Windows-1252.
_MOJIBAKE: Final = re.compile(
    "[ÃÂâÐÑ][\u0080-\u00bf\u0152\u0153\u0160\u0161\u0178\u017d\u017e\u0192\u02c6\u02dc\u2013-\u2122]"
)

_LONGEST_GOLD: Final = 1_000
_LONGEST_QUESTION: Final = 2_000
_MOST_GOLDS: Final = 200
# Longer lists are aliases of one thing, collected by machine; short ones may name different things.
_MOST_RIVALS: Final = 6
_MAJORITY: Final = 0.5
# What may stand in a gold that is nothing but a date ("around May 1891", "circa 1200").
_DATE_WORDS: Final = frozenset({*MONTHS, *UNIT_WORDS, *FUNCTION_WORDS, "approximately", "circa", "c", "ca", *"年月日"})


_SAYS = Phrases("questions")
_OTHER_INTERROGATIVE: Final = re.compile(r"\b(?:who|whom|whose|where|which|what|why|how)\b")
_LIST: Final = re.compile(r"^list\b|\blist$|\blist (?:the|all)\b|\ball the\b")
_OPEN: Final = re.compile(r"\b(?:some|examples?|one of|list of|types? of|kinds? of|name an?|any|such as|ways?)\b")
_CHOICE: Final = re.compile(r"\bor\b|それとも|还是")


class Asked(StrEnum):
    """The kind of thing that would answer the question, where a wrong answer of that kind can be told."""

    TIME = "time"
    QUANTITY = "quantity"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Question:
    """The question's words, and what they say about its answers."""

    text: str  # in lower case
    asked: Asked
    words: frozenset[str]
    detail: int  # how many content words pin the answer down
    wanted_items: int  # 1 unless several are asked for; 2 for a plural without a number
    is_list: bool  # all of them are asked for
    is_open: bool  # any of several answers will do ("name some", "one of")
    is_choice: bool  # the question names its own answers ("X or Y")
    is_dated: bool  # the right answer changes with the day of asking ("current", "last year")


class Kind(StrEnum):
    """What the golds of one question are, when all are of one kind."""

    DATE = "date"
    NUMBER = "number"
    WORDS = "words"


@dataclass(frozen=True, slots=True)
class GoldAnswer:
    """One acceptable answer, as folded words."""

    words: tuple[str, ...]
    written: str
    padded: str  # the folded words with one space around each, to be found in the same writing of a response
    glued: str
    content: frozenset[str]
    initials: str
    is_proper: bool  # every content word capitalised: a name
    is_rival: bool  # most of the other alternatives name something else


@dataclass(frozen=True, slots=True)
class Gold:
    """All acceptable answers of one question, with what is known of all of them together."""

    answers: tuple[GoldAnswer, ...]  # the longest first
    kind: Kind
    dates: tuple[tuple[PartialDate, GoldAnswer], ...]
    numbers: frozenset[str]
    is_count: bool  # one number in each gold, and besides it only units and words of the question
    item_lists: tuple[tuple[str, ...], ...]  # golds that enumerate, as the padded words of each item
    vocabulary: frozenset[str]
    keys: frozenset[str]  # relation keys of what the golds say beyond the question
    has_rival_dates: bool
    names_one_thing: bool  # most of the alternatives are connected by common words
    is_disputed: bool  # few alternatives, and no majority of them for one thing


@lru_cache(maxsize=2048)
def read_question(text: str) -> Question:
    """An empty question asks for OTHER, with no detail."""
    text = text[:_LONGEST_QUESTION]
    words = frozenset(Words(text).text)
    lower = text.lower()
    return Question(
        text=lower,
        asked=_asked(lower),
        words=words,
        detail=len(words - FUNCTION_WORDS),
        wanted_items=_wanted_items(lower),
        is_list=bool(_LIST.search(lower)),
        is_open=bool(_OPEN.search(lower)),
        is_choice=bool(_CHOICE.search(lower)),
        is_dated=bool(_SAYS.dated.search(lower)),
    )


def _wanted_items(text: str) -> int:
    several = _SAYS.several.search(text)
    if several:
        count = several["count"]
        return max(1, CARDINALS[count] if count in CARDINALS else int(count))
    return 2 if _SAYS.plural.search(text) else 1


def _asked(text: str) -> Asked:
    """A "when" that opens the question, or is its only interrogative, asks for a time."""
    if _SAYS.quantity.search(text):
        return Asked.QUANTITY
    if _SAYS.time.search(text) or text.lstrip(" \"'").startswith("when "):
        return Asked.TIME
    return Asked.TIME if "when " in text and not _OTHER_INTERROGATIVE.search(text) else Asked.OTHER


@lru_cache(maxsize=2048)
def prepare_gold(alternatives: tuple[str, ...], asked: frozenset[str]) -> Gold:
    """Never empty-handed: a gold without a single word gives a `Gold` without answers.

    Args:
        asked: the folded words of the question; what a gold shares with it tells nothing.
    """
    texts = list(dict.fromkeys(_separate(alternatives)))
    by_words: dict[tuple[str, ...], GoldAnswer] = {}
    for text in texts:
        answer = _answer(text)
        if answer.words:
            by_words.setdefault(answer.words, answer)
    answers = sorted(by_words.values(), key=lambda answer: -len(answer.words))
    keys_of = [_keys(answer, asked) for answer in answers]
    shares = _shares(keys_of)
    is_few = 1 < len(answers) <= _MOST_RIVALS
    if is_few:
        answers = [replace(answer, is_rival=share <= _MAJORITY) for answer, share in zip(answers, shares, strict=True)]
    dates = tuple((date, answer) for answer in answers for date in _whole_dates(answer))
    names_one_thing = max(shares, default=0.0) > _MAJORITY
    return Gold(
        answers=tuple(answers),
        kind=_kind(answers),
        dates=dates,
        numbers=frozenset(word for answer in answers for word in answer.words if word[0] == "#"),
        is_count=all(_is_count(answer, asked) for answer in answers),
        item_lists=tuple(items for text in texts if len(items := _items(text)) > 1),
        vocabulary=frozenset().union(*(answer.content for answer in answers)),
        keys=frozenset().union(*keys_of),
        has_rival_dates=any(date.contradicts(other) for date, _ in dates for other, _ in dates),
        names_one_thing=names_one_thing,
        is_disputed=is_few and not names_one_thing,
    )


def _keys(answer: GoldAnswer, asked: frozenset[str]) -> set[str]:
    return relation_keys(answer.content - asked) or relation_keys(answer.content)


def _is_count(answer: GoldAnswer, asked: frozenset[str]) -> bool:
    rest = answer.content - asked - UNIT_WORDS
    return len(rest) == 1 and next(iter(rest))[0] == "#" and sum(word[0] == "#" for word in answer.words) == 1


def _shares(keys_of: Sequence[set[str]]) -> list[float]:
    """For each alternative, which share of all of them is connected to it by common keys."""
    group = list(range(len(keys_of)))
    first_with: dict[str, int] = {}
    for index, keys in enumerate(keys_of):
        for key in keys:
            other = group[first_with.setdefault(key, index)]
            if other != group[index]:
                group = [other if g == group[index] else g for g in group]
    return [group.count(g) / len(group) for g in group]


def _kind(answers: Sequence[GoldAnswer]) -> Kind:
    if answers and all(any(True for _ in _whole_dates(answer)) for answer in answers):
        return Kind.DATE
    if all(any(word[0] == "#" for word in answer.words) for answer in answers):
        return Kind.NUMBER
    return Kind.WORDS


def _whole_dates(answer: GoldAnswer) -> Iterator[PartialDate]:
    """The dates of a gold that is nothing but a date."""
    if all(word[0] == "#" or word in _DATE_WORDS for word in answer.words):
        yield from dates_in(Words(answer.written))


def _separate(alternatives: Sequence[str]) -> Iterator[str]:
    """The parts of golds that were joined for storage; a join whose parts are all listed is dropped."""
    listed = {text.strip() for text in alternatives}
    for text in alternatives[:_MOST_GOLDS]:
        text = text[:_LONGEST_GOLD]
        if " | " in text:
            yield from (_repaired(part) for part in text.split(" | ") if part.strip())
        elif "/" in text and len(listed) > 1 and _is_join(text, listed - {text.strip()}):
            continue
        elif text.strip():
            yield _repaired(text)


def _is_join(text: str, others: set[str]) -> bool:
    return all(part.strip() in others or any(part.strip() in other for other in others) for part in text.split("/"))


def _repaired(text: str) -> str:
    """UTF-8 once read as Latin-1 or Windows-1252 is read again, as often as it was misread."""
    for _ in range(2):
        if not _MOJIBAKE.search(text):
            break
        try:
            text = text.encode("cp1252").decode("utf-8")
        except UnicodeError:
            try:
                text = text.encode("latin-1").decode("utf-8")
            except UnicodeError:
                break
    return text.strip().strip('"').strip()


def _answer(written: str) -> GoldAnswer:
    words = Words(written)
    text = tuple(words.text)
    content = frozenset(word for word in text if word not in FUNCTION_WORDS)
    proper = [words.is_capitalised(i) for i, word in enumerate(text) if word not in FUNCTION_WORDS and word[0] != "#"]
    return GoldAnswer(
        words=text,
        written=written,
        padded=f" {' '.join(text)} ",
        glued="".join(text),
        content=content,
        initials="".join(word[0] for word in text if word not in FUNCTION_WORDS) if len(content) > 1 else "",
        is_proper=bool(proper) and all(proper),
        is_rival=False,
    )


def _items(text: str) -> tuple[str, ...]:
    if "、" in text:
        parts = [part for part in _UNSPACED_ITEM_BREAK.split(text) if part.strip()]
        return tuple(_answer(part).padded for part in parts)
    if " and " not in text and "&" not in text and text.count(",") < 2:
        return ()  # "Lyon, France" is one place
    items = tuple(_answer(part).padded for part in _ITEM_BREAK.split(text))
    return items if all(item.strip() for item in items) else ()

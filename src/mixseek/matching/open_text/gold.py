"""What was asked and what would be right: the question read as far as its wording tells, the golds made comparable."""

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from enum import StrEnum
from functools import lru_cache
from typing import Final

from mixseek.matching.numbers import MONTHS
from mixseek.matching.open_text.dates import PartialDate, dates_in
from mixseek.matching.open_text.words import CARDINALS, FUNCTION_WORDS, UNIT_WORDS, Words, relation_keys
from mixseek.matching.phrases import Phrases

_ITEM_BREAK: Final = re.compile(r",\s*(?:and\s+|&\s*)?|(?<!\s)\s++and\s+|(?<!\s)\s*+&\s*|;\s*")
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
_SHARE_OF_ALIASES: Final = 0.25
# What may stand in a gold that is nothing but a date ("around May 1891", "circa 1200").
_DATE_WORDS: Final = frozenset({*MONTHS, *UNIT_WORDS, *FUNCTION_WORDS, "approximately", "circa", "c", "ca", *"年月日"})
_SAYS = Phrases("questions")


class Asked(StrEnum):
    """The kind of thing that would answer the question, where a wrong answer of that kind can be told."""

    TIME = "time"
    QUANTITY = "quantity"
    OTHER = "other"


class Question:
    """The question's words, and what they say about its answers."""

    def __init__(self, text: str) -> None:
        self.text = text.lower()
        self.words = frozenset(Words(text).text)
        self.asked = _asked(self.text)
        self.detail = len(self.words - FUNCTION_WORDS)  # how many content words pin the answer down
        self.wanted_items = _wanted_items(self.text)  # 1 unless several are asked for; 2 for a plural without a number
        self.is_list = bool(_SAYS.list.search(self.text))  # all of them are asked for
        self.is_open = bool(_SAYS.open.search(self.text))  # any of several answers will do ("name some", "one of")
        self.is_choice = bool(_SAYS.choice.search(self.text))  # the question names its own answers ("X or Y")
        self.is_dated = bool(_SAYS.dated.search(self.text))  # the right answer changes with the day of asking


class Kind(StrEnum):
    """What the golds of one question are, when all are of one kind."""

    DATE = "date"
    NUMBER = "number"
    WORDS = "words"


class GoldAnswer:
    """One acceptable answer, as folded words."""

    def __init__(self, written: str) -> None:
        words = Words(written)
        content = [(index, word) for index, word in enumerate(words.text) if word not in FUNCTION_WORDS]
        capitals = [words.is_capitalised(index) for index, word in content if word[0] != "#"]
        self.written = written
        self.words = tuple(words.text)
        # With one space around each word, to be found in the same writing of a response.
        self.padded = f" {' '.join(words.text)} "
        self.glued = "".join(words.text)
        self.content = frozenset(word for _, word in content)
        self.initials = "".join(word[0] for _, word in content) if len(self.content) > 1 else ""
        self.is_proper = bool(capitals) and all(capitals)  # a name
        self.is_rival = False  # most of the other alternatives name something else


class Gold:
    """All acceptable answers of one question, with what is known of all of them together."""

    def __init__(self, texts: Sequence[str], asked: frozenset[str]) -> None:
        by_words: dict[tuple[str, ...], GoldAnswer] = {}
        for answer in map(GoldAnswer, texts):
            by_words.setdefault(answer.words, answer)
        # A gold that is nothing but an article or a sign: no comparison of words sees it.
        self.has_wordless = by_words.pop((), None) is not None
        answers = sorted(by_words.values(), key=lambda answer: -len(answer.words))
        keys_of = [relation_keys(answer.content - asked) or relation_keys(answer.content) for answer in answers]
        shares = _shares(keys_of)
        is_few = 1 < len(answers) <= _MOST_RIVALS
        for answer, share in zip(answers, shares, strict=True):
            answer.is_rival = is_few and share <= _MAJORITY
        self.answers = tuple(answers)  # the longest first
        self.kind = _kind(answers)
        self.dates = tuple((date, answer) for answer in answers for date in _whole_dates(answer))
        self.has_rival_dates = any(date.contradicts(other) for date, _ in self.dates for other, _ in self.dates)
        self.numbers = frozenset(word for answer in answers for word in answer.words if word[0] == "#")
        # One number in each gold, and besides it only units and words of the question.
        self.is_count = all(_is_count(answer, asked) for answer in answers)
        # Golds that enumerate, as the padded words of each item.
        self.item_lists = tuple(items for text in texts if len(items := _items(text)) > 1)
        self.vocabulary: frozenset[str] = frozenset().union(*(answer.content for answer in answers))
        self.keys: frozenset[str] = frozenset().union(*keys_of)  # of what the golds say beyond the question
        self.names_one_thing = max(shares, default=0.0) > _MAJORITY  # common words connect most alternatives
        self.is_disputed = is_few and not self.names_one_thing
        # A long list of which a good part has words in common was collected by machine: aliases, also the others.
        self.lists_aliases = len(answers) > _MOST_RIVALS and max(shares) >= _SHARE_OF_ALIASES


@lru_cache(maxsize=2048)
def read_question(text: str) -> Question:
    """An empty question asks for OTHER, with no detail."""
    return Question(text[:_LONGEST_QUESTION])


# "3 candidates for the nomination": a count that opens the question is of what is asked for.
_LEADING_COUNT = re.compile(r"\W{0,3}(?P<count>[2-9]|10|two|three|four|five|six|seven|eight|nine|ten) (?:\w+ )?\w+s\b")


def _wanted_items(text: str) -> int:
    several = _SAYS.several.search(text) or _LEADING_COUNT.match(text)
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
    return Asked.TIME if "when " in text and not _SAYS.other_interrogative.search(text) else Asked.OTHER


@lru_cache(maxsize=2048)
def prepare_gold(alternatives: tuple[str, ...], asked: frozenset[str]) -> Gold:
    """What a gold shares with `asked`, the folded words of the question, tells nothing."""
    return Gold(list(dict.fromkeys(_separate(alternatives))), asked)


def _is_count(answer: GoldAnswer, asked: frozenset[str]) -> bool:
    rest = answer.content - asked - UNIT_WORDS
    return len(rest) == 1 and next(iter(rest))[0] == "#" and sum(word[0] == "#" for word in answer.words) == 1


def _shares(keys_of: Sequence[set[str]]) -> list[float]:
    """Which share of all alternatives is connected by common keys to each of them."""
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
        others = listed - {text.strip()}
        is_join = "/" in text and all(any(part.strip() in other for other in others) for part in text.split("/"))
        if " | " in text or not is_join:
            yield from (_repaired(part) for part in text.split(" | ") if part.strip())


def _repaired(text: str) -> str:
    """UTF-8 once read as Latin-1 or Windows-1252 is read again, as often as it was misread."""
    for encoding in ("cp1252", "latin-1") * 2:
        if _MOJIBAKE.search(text):
            with suppress(UnicodeError):
                text = text.encode(encoding).decode("utf-8")
    return text.strip().strip('"').strip()


def _items(text: str) -> tuple[str, ...]:
    if "、" in text:
        return tuple(GoldAnswer(part).padded for part in _UNSPACED_ITEM_BREAK.split(text) if part.strip())
    if " and " not in text and "&" not in text and text.count(",") < 2:
        return ()  # "Lyon, France" is one place
    items = tuple(GoldAnswer(part).padded for part in _ITEM_BREAK.split(text))
    return items if all(item.strip() for item in items) else ()

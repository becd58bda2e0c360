"""What was asked and what would be right: the question read as far as its wording tells, the golds made comparable."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property, lru_cache
from typing import Final

from mixseek.domain.judgments import Span
from mixseek.matching.numbers import MONTHS, ROMAN, SCALES, TENS, UNIT_SPELLINGS, UNITS
from mixseek.matching.visible import CharacterTable, Phrases, fold, table

# Free text as comparable words that can say where they stand: case, accents, numerals and spellings folded away.

_TABLE: Final = table("words")
ARTICLES: Final = frozenset({"a", "an", "the"})
# Words that carry no answer of their own: a gold is never proved or disproved by one of these.
FUNCTION_WORDS: Final = frozenset(_TABLE["function"].split())
# A response of nothing but these announces an answer and gives none.
FILLER_WORDS: Final = frozenset(_TABLE["filler"].split())
CARDINALS: Final = UNITS | TENS
ORDINALS: Final = dict(zip(_TABLE["ordinals"].split(), (*range(1, 20), *range(20, 100, 10)), strict=True))
# Up to thirty: kings, popes, wars and Olympic Games; beyond it "xl" is a size and "mix" a word.
ROMAN_NUMERALS: Final = {word.lower(): value for word, value in ROMAN.items() if value <= 30}
UNIT_WORDS: Final = frozenset(UNIT_SPELLINGS.values()) | frozenset(_TABLE["beside_numbers"].split())
WORD_SYNONYMS: Final = table("synonyms")
# Whole phrases that name one thing; the value replaces the words in the word list.
PHRASES: Final = {tuple(words.split()): name for words, name in table("names").items()}


# One alternative per kind of word. A change from small to capital letter ends a word: models that glue their citation
# marks also glue the words before them ("byJane Doe1"). Letters and digits never share a word, for the same reason.
_MONEY: Final = r"[$£€¥]\s?\d[\d,]*(?:\.\d+)?\s?(?:[kKmMbB]|mn|bn|tn)\b"
_NUMBER: Final = r"\d{1,3}(?:,\d{3})+(?!\d)(?:\.\d+)?|\d+(?:\.\d+)?(?:(?:st|nd|rd|th)\b)?"
_DOTTED: Final = r"(?:[A-Z]\. )+[A-Z]\.(?! ?[A-Z]\b)|(?:[A-Za-z]\.){2,}(?:[A-Za-z]\b)?"
_ASCII_WORD: Final = re.compile(
    rf"[A-Z]?[a-z]+(?:'[A-Za-z]+)*|{_DOTTED}|[A-Z]+(?![a-z])(?:'[A-Za-z]+)*|[A-Z]|{_NUMBER}|{_MONEY}"
)
# Letters of any script that separates words with spaces; superscripts and the CJK blocks are read apart.
_LETTER: Final = r"[^\W\d_\u2070-\u209f\u00b2\u00b3\u00b9\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]"
_ANY_WORD: Final = re.compile(
    rf"{_DOTTED}|[A-Z]+(?!{_LETTER})(?:'[A-Za-z]+)*|[A-Z]?[a-z]+(?=[A-Z])"
    rf"|(?:{_LETTER}[\u0300-\u036f]*)+(?:'{_LETTER}+)*"
    r"|[\u30a0-\u30ff]+|[\u3040-\u309f\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]"
    rf"|{_NUMBER}|{_MONEY}"
)
_VALUES: Final = ORDINALS | CARDINALS
_NUMBER_STARTERS: Final = frozenset(_VALUES) | frozenset(SCALES)
_PHRASE_STARTERS: Final = frozenset(words[0] for words in PHRASES)
_LONGEST_PHRASE: Final = max(len(words) for words in PHRASES)
_LONE_NUMERALS: Final = frozenset({"v", "x"})
_MERGE_STARTERS: Final = _NUMBER_STARTERS | _PHRASE_STARTERS | _LONE_NUMERALS
_LETTERS_WITHOUT_DECOMPOSITION: Final = str.maketrans(
    {"ø": "o", "đ": "d", "ł": "l", "æ": "ae", "œ": "oe", "ß": "ss", "ı": "i", "ð": "d", "þ": "th"}
)
# Beyond this a number is an identifier: it is compared as digits, never multiplied.
_LONGEST_VALUE: Final = 15
_MONEY_SCALES: Final = {"k": 1e3, "m": 1e6, "mn": 1e6, "b": 1e9, "bn": 1e9, "tn": 1e12}
_MOST_WORDS_OF_A_NUMBER: Final = 12
_LAST_MONTH: Final = 12


def _without_accent(character: str) -> str:
    """One character in, one out, so that offsets hold; what would need two characters is left to `_fold_word`."""
    character = fold(character)
    base = _without_marks(unicodedata.normalize("NFKD", character))
    is_plain = len(base) == 1 and base.isascii() and (base.isalpha() or "₀" <= character <= "₉")
    return base if is_plain else character


def _without_marks(text: str) -> str:
    return "".join(part for part in text if not unicodedata.combining(part))


_ACCENTS: Final = CharacterTable(_without_accent)


class Words:
    """The folded words of a text. `text[i]` was written at `source[span(i, i)]`; articles are not among them."""

    def __init__(self, source: str) -> None:
        self.folded_source = source if source.isascii() else source.translate(_ACCENTS)
        self._pattern = _ASCII_WORD if self.folded_source.isascii() else _ANY_WORD
        self.raw: list[str] = self._pattern.findall(self.folded_source)
        folded = [_fold_raw(raw) for raw in self.raw]
        if len(folded) > 1 and self.raw[0] == "A":
            # A capital A inside a sentence is a letter (a blood group, a grade); at the start it is an article.
            folded[0] = ""
        self.first_raw: list[int] = [index for index, word in enumerate(folded) if word]
        self.last_raw: list[int] = self.first_raw
        self.text: list[str] = [word for word in folded if word]
        if not _MERGE_STARTERS.isdisjoint(self.text):
            self._merge()

    def __len__(self) -> int:
        return len(self.text)

    def is_capitalised(self, index: int) -> bool:
        return self.raw[self.first_raw[index]][0].isupper()

    def written(self, index: int) -> str:
        """As in the source, accents and widths aside."""
        return " ".join(self.raw[self.first_raw[index] : self.last_raw[index] + 1])

    def span(self, first: int, last: int) -> Span:
        """Where the words from `first` to `last`, both included, stand in the source."""
        return Span(self._places[self.first_raw[first]][0], self._places[self.last_raw[last]][1])

    def gap(self, index: int) -> str:
        """What stands between the word and the one before it; what stands before the first word, for the first."""
        start = self._places[self.last_raw[index - 1]][1] if index > 0 else 0
        return self.folded_source[start : self._places[self.first_raw[index]][0]]

    @cached_property
    def _places(self) -> list[tuple[int, int]]:
        # Found only when asked for: most words are never pointed at.
        return [match.span() for match in self._pattern.finditer(self.folded_source)]

    def _merge(self) -> None:
        """Number phrases ("twenty-one", "2.5 million") and fixed phrases ("United States") become one word."""
        merged: list[tuple[str, int, int]] = []
        index = 0
        while index < len(self.text):
            used, word = self._merged_at(index)
            merged.append((word, self.first_raw[index], self.first_raw[index + used - 1]))
            index += used
        self.text, self.first_raw, self.last_raw = map(list, zip(*merged, strict=True))

    def _merged_at(self, index: int) -> tuple[int, str]:
        """How many words become one here, and which."""
        word = self.text[index]
        if word in _PHRASE_STARTERS:
            for length in range(_LONGEST_PHRASE, 1, -1):
                words = tuple(self.text[index : index + length])
                if words in PHRASES:
                    return len(words), PHRASES[words]
        if word in _NUMBER_STARTERS or word[0] == "#":
            return _number_at(self.text, index)
        if word in _LONE_NUMERALS and index and self.is_capitalised(index) and len(self.text[index - 1]) > 2:
            return 1, f"#{ROMAN_NUMERALS[word]}"  # "George V", not "v" for versus
        return 1, word


@lru_cache(maxsize=20_000)  # text is made of the same few thousand words
def _fold_raw(raw: str) -> str:
    """The folded form of one written word; empty for an article, which no comparison should see."""
    if raw[0] in "$£€¥":
        amount = raw[1:].strip().lower()
        digits = amount.rstrip("kmnbt").rstrip().replace(",", "")
        scale = _MONEY_SCALES[amount[len(amount.rstrip("kmnbt")) :]]
        return canonical_number(f"{float(digits) * scale:.2f}") if len(digits) < _LONGEST_VALUE else f"#{digits}"
    if raw[0].isdecimal():
        return canonical_number(raw.rstrip("stndrh"))
    if raw[0] >= "\u3040":
        # Marks on kana make other sounds, not accents; the dot parts the words of a transcribed name.
        return unicodedata.normalize("NFKC", raw).replace("\u30fb", "")
    if raw == "A":
        return "a"
    if raw == "US" or "." in raw:
        dotted = raw.replace(".", "").replace(" ", "").lower()
        return "usa" if dotted == "us" else dotted
    word = _fold_word(raw)
    if word in ARTICLES:
        return ""
    if len(word) > 1 and word in ROMAN_NUMERALS and (raw.isupper() or raw.islower()):
        return f"#{ROMAN_NUMERALS[word]}"
    return word


def _fold_word(word: str) -> str:
    """Lower case without accents, possessive or apostrophes; `n't` survives, because it denies."""
    if not word.isascii():
        word = _without_marks(unicodedata.normalize("NFKD", word).casefold())
        word = word.translate(_LETTERS_WITHOUT_DECOMPOSITION)
    word = word.lower()
    if "'" in word:
        word = word.removesuffix("'s")
        if not word.endswith("n't"):
            word = word.replace("'", "")
    word = UNIT_SPELLINGS.get(word, word)
    return WORD_SYNONYMS.get(word, word)


def canonical_number(digits: str) -> str:
    """`#` and the value without separators or trailing zeros: `1,200.50` → `#1200.5`."""
    whole, _, fraction = digits.replace(",", "").partition(".")
    return f"#{whole.lstrip('0') or '0'}.{fraction.rstrip('0')}".removesuffix(".")


def _number_at(text: Sequence[str], index: int) -> tuple[int, str]:
    """How many words the number takes, and its canonical form.

    Scales multiply what stands before them, tens take one unit, hundreds take what is below them; anything else
    ("nineteen fifty", "one two three") is read as separate numbers.
    """
    word = text[index]
    current: float | None = None
    at = index
    if word[0] == "#":
        if len(word) > _LONGEST_VALUE or index + 1 >= len(text) or text[index + 1] not in SCALES:
            return 1, word
        current, at = float(word[1:]), index + 1
    total = 0.0
    limit = min(len(text), index + _MOST_WORDS_OF_A_NUMBER)
    while at < limit:
        word = text[at]
        if word in SCALES:
            scaled = (1 if current is None else current) * SCALES[word]
            total, current = (total, scaled) if word == "hundred" else (total + scaled, None)
        elif (value := _VALUES.get(word)) is not None:
            if current is not None and not _takes(current, value):
                break
            current = (current or 0) + value
            if word in ORDINALS:
                at += 1
                break
        elif word != "and" or at + 1 >= limit or text[at - 1] not in SCALES or text[at + 1] not in CARDINALS:
            break
        at += 1
    return max(at - index, 1), canonical_number(f"{total + (current or 0):.6f}")


def _takes(current: float, value: int) -> bool:
    if current % 100 == 0 and current > 0:
        return value < 100
    return current % 10 == 0 and current % 100 >= 20 and 0 < value < 10


def stem(word: str) -> str:
    """Without a plural ending; good enough to see that two forms are one word."""
    if len(word) < 4 or word[0] == "#" or word[-1] != "s":
        return word
    if word.endswith("ies"):
        return word[:-3] + "y"
    if word.endswith(("sses", "shes", "ches", "xes", "zes")):
        return word[:-2]
    return word if word.endswith(("ss", "us", "is")) else word[:-1]


def is_unspaced(word: str) -> bool:
    """Written in a script that puts no spaces between words, where a word has no visible end."""
    first = word[0]
    return "\u3040" <= first <= "\u309f" or "\u3400" <= first <= "\u9fff" or "\uac00" <= first <= "\ufaff"


def relation_keys(words: Iterable[str]) -> set[str]:
    """Beginnings and endings of the content words, and the numbers: texts without a common key have no word in common.

    Four letters on either side see through inflection, most misspellings and derived words.
    """
    keys: set[str] = set()
    for word in words:
        if word[0] == "#":
            keys.add(word)
        elif word not in FUNCTION_WORDS:
            keys.add("^" + word[:4])
            if len(word) > 4:
                keys.add("$" + word[-4:])
            if len(word) < 6:
                keys.add("<" + word[:3])
    return keys


# Dates in prose, by granularity: a year accepts a day in it, two days of one year contradict each other.

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
    if month is None or day is None or not 1 <= month <= _LAST_MONTH:
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
        told = [(index, word) for index, word in enumerate(words.text) if word not in FUNCTION_WORDS]
        capitals = [words.is_capitalised(index) for index, word in told if word[0] != "#"]
        self.written = written
        self.words = tuple(words.text)
        # With one space around each word, to be found in the same writing of a response.
        self.padded = f" {' '.join(words.text)} "
        self.glued = "".join(words.text)
        self.content = frozenset(word for _, word in told)
        self.initials = "".join(word[0] for _, word in told) if len(self.content) > 1 else ""
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

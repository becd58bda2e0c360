"""Free text as comparable words that can say where they stand: case, accents, numerals and spellings folded away."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Final

from mixseek.domain.judgments import Span
from mixseek.matching.visible import fold

# General word tables of the short-text comparer: English function words, numbers, months, names, units, nations.


def word_set(text: str) -> frozenset[str]:
    """The words of a text, for tables that a person can read and extend."""
    return frozenset(text.split())


ARTICLES: Final = frozenset({"a", "an", "the"})

# Words that carry no answer of their own: a gold is never proved or disproved by one of these.
FUNCTION_WORDS: Final = word_set(
    """a about above across after again all along also although am among an and any are around as at be because been
    before being below between both but by can could did do does doing down during each either else ever every for from
    further had has have having he her here hers him his how i if in into is it its itself just like many may me might
    more most much must my near no nor not of off on once only onto or other our out over own per s same shall she
    should since so some such t than that the their them then there these they this those through thus till to too
    toward towards under until up upon us very via was we were what when where whether which while who whom whose why
    will with within without would yes yet you your"""
)

# What may stand in a gold that is nothing but a date ("around May 1891", "circa 1200").
DATE_PREPOSITIONS: Final = word_set("approximately circa c ca")

MONTHS: Final = {
    name: number
    for number, names in enumerate(
        (
            "january jan",
            "february feb",
            "march mar",
            "april apr",
            "may",
            "june jun",
            "july jul",
            "august aug",
            "september sept sep",
            "october oct",
            "november nov",
            "december dec",
        ),
        start=1,
    )
    for name in names.split()
}

_UNITS_TO_NINETEEN: Final = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip
_TENS: Final = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_ORDINALS_TO_NINETEEN: Final = (
    "zeroth", "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh",
    "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth", "nineteenth",
)  # fmt: skip
_ORDINAL_TENS: Final = (
    "twentieth", "thirtieth", "fortieth", "fiftieth", "sixtieth", "seventieth", "eightieth", "ninetieth",
)  # fmt: skip

CARDINALS: Final = {word: value for value, word in enumerate(_UNITS_TO_NINETEEN)} | {
    word: 10 * value for value, word in enumerate(_TENS, start=2)
}
ORDINALS: Final = {word: value for value, word in enumerate(_ORDINALS_TO_NINETEEN) if value} | {
    word: 10 * value for value, word in enumerate(_ORDINAL_TENS, start=2)
}
SCALES: Final = {"hundred": 100, "thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000, "trillion": 10**12}

_ROMAN_ONES: Final = ("", "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix")
# Up to thirty: kings, popes, wars and Olympic Games; beyond it "xl" is a size and "mix" a word.
ROMAN_NUMERALS: Final = {
    "x" * tens + ones: 10 * tens + value for tens in range(3) for value, ones in enumerate(_ROMAN_ONES)
} | {"xxx": 30}
del ROMAN_NUMERALS[""]

# Spellings of units, folded to one; plural forms are written out because folding happens before any stemming.
UNIT_SPELLINGS: Final = {
    spelling: canonical
    for canonical, spellings in {
        "km": "km kms kilometre kilometres kilometer kilometers",
        "m": "metre metres meter meters",
        "cm": "cm centimetre centimetres centimeter centimeters",
        "mm": "mm millimetre millimetres millimeter millimeters",
        "mi": "mile miles mi",
        "ft": "ft foot feet",
        "in.": "inch inches",
        "yd": "yd yds yard yards",
        "kg": "kg kgs kilogram kilograms kilogramme kilogrammes kilo kilos",
        "g": "gram grams gramme grammes",
        "lb": "lb lbs pound pounds",
        "oz": "oz ounce ounces",
        "l": "litre litres liter liters",
        "ml": "ml millilitre millilitres milliliter milliliters",
        "mph": "mph",
        "percent": "percent percentage pct",
        "dollar": "dollar dollars usd",
        "euro": "euro euros eur",
        "yr": "year years yr yrs",
        "month": "month months",
        "week": "week weeks",
        "day": "day days",
        "hour": "hour hours hr hrs",
        "minute": "minute minutes min mins",
        "sec": "seconds secs",
        "degree": "degree degrees",
    }.items()
    for spelling in spellings.split()
}
UNIT_WORDS: Final = frozenset(UNIT_SPELLINGS.values()) | frozenset(
    {"times", "people", "time", "old", "age", "total", "ad", "bc", "ce", "bce", "season", "celsius", "fahrenheit"}
)

# Whole phrases that name one thing; the value replaces the words in the word list.
PHRASES: Final = {
    ("united", "states", "of", "usa"): "usa",
    ("united", "states"): "usa",
    ("united", "kingdom"): "uk",
    ("great", "uk"): "uk",
    ("united", "nations"): "un",
    ("european", "union"): "eu",
    ("soviet", "union"): "ussr",
    ("new", "york", "city"): "nyc",
    ("los", "angeles"): "la",
    ("ww", "#1"): "ww1",
    ("ww", "#2"): "ww2",
    ("first", "world", "war"): "ww1",
    ("second", "world", "war"): "ww2",
    ("world", "war", "i"): "ww1",
    ("world", "war", "one"): "ww1",
    ("world", "war", "two"): "ww2",
    ("world", "war", "#1"): "ww1",
    ("world", "war", "#2"): "ww2",
}
WORD_SYNONYMS: Final = {
    "america": "usa",
    "britain": "uk",
    "wwi": "ww1",
    "wwii": "ww2",
    "colour": "color",
    "centre": "center",
    "theatre": "theater",
    "grey": "gray",
    "saint": "st",
    "mount": "mt",
    "doctor": "dr",
    "mister": "mr",
    "tv": "television",
}

# A response of nothing but these announces an answer and gives none.
FILLER_WORDS: Final = word_set(
    """let lets us me begin start think solve break down this that problem question step steps by thought thoughts
    process solution answer answers final correct response result explanation reasoning analysis conclusion sure
    certainly okay ok here is are my your to of in for with so therefore thus and i will would can well hello hi
    yes please it"""
)


# One alternative per kind of word. A change from small to capital letter ends a word: models that glue their citation
# marks also glue the words before them ("byJane Doe1"). Letters and digits never share a word, for the same reason.
_MONEY: Final = r"[$£€¥]\s?\d[\d,]*(?:\.\d+)?\s?(?:[kKmMbB]|mn|bn|tn)\b"
_NUMBER: Final = r"\d{1,3}(?:,\d{3})+(?!\d)(?:\.\d+)?|\d+(?:\.\d+)?(?:(?:st|nd|rd|th)\b)?"
_DOTTED: Final = r"(?:[A-Za-z]\.){2,}(?:[A-Za-z]\b)?"
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
_NUMBER_STARTERS: Final = frozenset(CARDINALS) | frozenset(ORDINALS) | frozenset(SCALES)
_PHRASE_STARTERS: Final = frozenset(words[0] for words in PHRASES)
_LONGEST_PHRASE: Final = max(len(words) for words in PHRASES)
_LONE_NUMERALS: Final = frozenset({"v", "x"})
_MERGE_STARTERS: Final = _NUMBER_STARTERS | _PHRASE_STARTERS | _LONE_NUMERALS
_LETTERS_WITHOUT_DECOMPOSITION: Final = {
    "ø": "o", "đ": "d", "ł": "l", "æ": "ae", "œ": "oe", "ß": "ss", "ı": "i", "ð": "d", "þ": "th",
}  # fmt: skip
# Beyond this a number is an identifier: it is compared as digits, never multiplied.
_LONGEST_VALUE: Final = 15
_MONEY_SCALES: Final = {"k": 1e3, "m": 1e6, "mn": 1e6, "b": 1e9, "bn": 1e9, "tn": 1e12}
_MOST_WORDS_OF_A_NUMBER: Final = 12


class _AccentTable(dict[int, str]):
    """One character in, one out, so that offsets hold; what would need two characters is left to `_fold_word`."""

    def __missing__(self, code: int) -> str:
        character = fold(chr(code))
        parts = unicodedata.normalize("NFKD", character)
        base = "".join(part for part in parts if not unicodedata.combining(part))
        plain = base if len(base) == 1 and base.isascii() and base.isalpha() else character
        self[code] = plain
        return plain


_ACCENTS: Final = _AccentTable()


class _FoldedWords(dict[str, str]):
    """Remembers the folded form of the words it has met, up to a bound: text is made of the same few thousand words."""

    BOUND: Final = 20_000

    def __missing__(self, raw: str) -> str:
        if len(self) >= self.BOUND:
            self.clear()
        folded = self[raw] = _fold_raw(raw)
        return folded


class Words:
    """The folded words of a text. `text[i]` was written at `source[span(i, i)]`; articles are not among them."""

    __slots__ = ("_pattern", "_places", "first_raw", "folded_source", "last_raw", "raw", "text")

    def __init__(self, source: str) -> None:
        self.folded_source = source if source.isascii() else source.translate(_ACCENTS)
        self._pattern = _ASCII_WORD if self.folded_source.isascii() else _ANY_WORD
        self.raw: list[str] = self._pattern.findall(self.folded_source)
        self._places: list[tuple[int, int]] | None = None
        folded = [_FOLDED[raw] for raw in self.raw]
        if folded and self.raw[0] == "A":
            # A capital A inside a sentence is a letter (a blood group, a grade); at the start it is an article.
            folded[0] = "" if len(folded) > 1 else "a"
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
        places = self._all_places()
        return Span(places[self.first_raw[first]][0], places[self.last_raw[last]][1])

    def gap(self, index: int) -> str:
        """What stands between the word and the one before it; what stands before the first word, for the first."""
        places = self._all_places()
        start = places[self.last_raw[index - 1]][1] if index > 0 else 0
        end = places[self.first_raw[index]][0] if index < len(self.text) else len(self.folded_source)
        return self.folded_source[start:end]

    def _all_places(self) -> list[tuple[int, int]]:
        # Found only when asked for: most words are never pointed at.
        if self._places is None:
            self._places = [match.span() for match in self._pattern.finditer(self.folded_source)]
        return self._places

    def _merge(self) -> None:
        """Number phrases ("twenty-one", "2.5 million") and fixed phrases ("United States") become one word."""
        text: list[str] = []
        first: list[int] = []
        last: list[int] = []
        index = 0
        while index < len(self.text):
            used, word = self._merged_at(index)
            text.append(word)
            first.append(self.first_raw[index])
            last.append(self.first_raw[index + used - 1])
            index += used
        self.text, self.first_raw, self.last_raw = text, first, last

    def _merged_at(self, index: int) -> tuple[int, str]:
        """How many words become one here, and which."""
        word = self.text[index]
        if word in _PHRASE_STARTERS:
            used, phrase = _phrase_at(self.text, index)
            if used > 1:
                return used, phrase
        if word in _NUMBER_STARTERS or word[0] == "#":
            return _number_at(self.text, index)
        if word in _LONE_NUMERALS and index and self.is_capitalised(index) and len(self.text[index - 1]) > 2:
            return 1, f"#{ROMAN_NUMERALS[word]}"  # "George V", not "v" for versus
        return 1, word


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
    if raw == "US":
        return "usa"
    if raw == "A":
        return "a"
    if "." in raw:
        dotted = raw.replace(".", "").lower()
        return "usa" if dotted in ("us", "usa") else dotted
    word = _fold_word(raw)
    if word in ARTICLES:
        return ""
    if len(word) > 1 and word in ROMAN_NUMERALS and (raw.isupper() or raw.islower()):
        return f"#{ROMAN_NUMERALS[word]}"
    return word


def _fold_word(word: str) -> str:
    """Lower case without accents, possessive or apostrophes; `n't` survives, because it denies."""
    if not word.isascii():
        word = unicodedata.normalize("NFKD", word).casefold()
        word = "".join(
            _LETTERS_WITHOUT_DECOMPOSITION.get(char, char) for char in word if not unicodedata.combining(char)
        )
    word = word.lower()
    if "'" in word:
        word = word.removesuffix("'s")
        if not word.endswith("n't"):
            word = word.replace("'", "")
    word = UNIT_SPELLINGS.get(word, word)
    return WORD_SYNONYMS.get(word, word)


_FOLDED: Final = _FoldedWords()


def canonical_number(digits: str) -> str:
    """`#` and the value without separators or trailing zeros: `1,200.50` → `#1200.5`."""
    digits = digits.replace(",", "")
    if not digits.isascii():
        digits = "".join(char if char == "." else str(unicodedata.digit(char, 0)) for char in digits)
    whole, _, fraction = digits.partition(".")
    whole = whole.lstrip("0") or "0"
    fraction = fraction.rstrip("0")
    return f"#{whole}.{fraction}" if fraction else f"#{whole}"


def _phrase_at(text: Sequence[str], index: int) -> tuple[int, str]:
    for length in range(_LONGEST_PHRASE, 1, -1):
        words = tuple(text[index : index + length])
        if words in PHRASES:
            return len(words), PHRASES[words]
    return 1, text[index]


def _number_at(text: Sequence[str], index: int) -> tuple[int, str]:
    """How many words the number takes, and its canonical form.

    Scales multiply what stands before them, tens take one unit, hundreds take what is below them; anything else
    ("nineteen fifty", "one two three") is read as separate numbers.
    """
    word = text[index]
    if word[0] == "#":
        if len(word) > _LONGEST_VALUE or index + 1 >= len(text) or text[index + 1] not in SCALES:
            return 1, word
        current: float | None = float(word[1:])
        at = index + 1
    else:
        current, at = None, index
    total = 0.0
    limit = min(len(text), index + _MOST_WORDS_OF_A_NUMBER)
    while at < limit:
        word = text[at]
        if word in SCALES:
            scaled = (1 if current is None else current) * SCALES[word]
            if SCALES[word] == 100:
                current = scaled
            else:
                total, current = total + scaled, None
        elif word in CARDINALS or word in ORDINALS:
            value = CARDINALS[word] if word in CARDINALS else ORDINALS[word]
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

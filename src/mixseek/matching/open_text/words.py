"""Free text as comparable words that can say where they stand: case, accents, numerals and spellings folded away."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import cached_property, lru_cache
from typing import Final

from mixseek.domain.judgments import Span
from mixseek.matching.folding import CharacterTable, fold
from mixseek.matching.numbers import ROMAN, SCALES, TENS, UNIT_SPELLINGS, UNITS
from mixseek.matching.phrases import table

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
LAST_MONTH: Final = 12


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
        """The word as the source has it, accents and widths aside."""
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
    """The word without a plural ending; good enough to see that two forms are one word."""
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

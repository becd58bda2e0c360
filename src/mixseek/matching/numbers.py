"""Numbers as people write them: separators by context, words, percent, currency, fractions, other scripts' digits."""

import re
from dataclasses import dataclass
from decimal import Decimal

from mixseek.matching.calendar_dates import is_day_of_month
from mixseek.matching.expressions.compare import compare_expressions
from mixseek.matching.outcome import Decision
from mixseek.matching.reading import Reading

# Digits with group or decimal separators; a sign counts only where it cannot be a dash between words or a minus sign.
_NUMBER = re.compile(
    r"(?<![A-Za-z0-9_.])(?P<sign>-\s?)?(?P<currency>[$€£¥₹]\s?)?(?P<sign2>-)?"
    r"(?P<body>\d+(?:[,.'](?=\d)\d+|[ \u202f](?=\d{3}(?!\d))\d{3})*|\.\d+)"
    r"(?:\s?(?P<exponent>[eE][+-]?\d{1,3})(?!\w))?"
    r"(?:\s*/\s*(?P<denominator>\d+)(?![\d/]))?"
    r"(?P<percent>\s?(?:%|per ?cent\b))?"
    r"(?!(?:st|nd|rd|th)\b)"
)
# Before a result: "= 7", "is 7", "makes it 7", "leaves us with 7".
_RESULT = re.compile(
    r"(?:=|≈|\b(?:is|are|was|were|be|equals?|makes?|gives?|leaves?|get|total)\b(?:\s+(?:it|us|a|of|with|total|about)\b){0,3})"
    r"\s*[$€£¥*\"'(]*\s*$",
    re.IGNORECASE,
)
# In Japanese and Chinese the words before a result come before many other numbers too (は is the topic, not a verb),
# so they can only confirm.
_UNSPACED_RESULT = re.compile(r"(?:は|是|为|等于|共|得|占)\s*[$¥*\"'(]*$")
_FIRST_YEAR, _LAST_YEAR = 1000, 2100
_PRECEDED_BY_OPERAND = re.compile(r"[\w)\]]\s*$")
_ALGEBRA = re.compile(r"\\[a-z]|\^|sqrt|√|π|[0-9)]\s*[a-z]\s*[-+*/]|[-+*/]\s*[a-z]\b|(?<![a-z])[a-z]\s*[-+*/]\s*[0-9]")
_UNITS = {
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16,
    "seventeen": 17, "eighteen": 18, "nineteen": 19,
}  # fmt: skip
_TENS = {
    "twenty": 20, "thirty": 30, "forty": 40, "fourty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80,
    "ninety": 90,
}  # fmt: skip
_SCALES = {"hundred": 100, "thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000}
_NUMBER_WORD = "|".join([*_UNITS, *_TENS, *_SCALES])
_WORDS = re.compile(
    rf"\b(?:(?:minus|negative)\s+)?(?:{_NUMBER_WORD})(?:(?:[\s-]+(?:and\s+)?)(?:{_NUMBER_WORD}))*\b", re.IGNORECASE
)
_CJK_DIGITS = {
    "〇": 0,
    "零": 0,
    "一": 1,
    "二": 2,
    "两": 2,
    "兩": 2,
    "三": 3,
    "四": 4,
    "五": 5,
    "六": 6,
    "七": 7,
    "八": 8,
    "九": 9,
}
_CJK_SCALES = {"十": 10, "百": 100, "千": 1_000, "万": 10_000, "萬": 10_000}
_CJK_NUMBER = re.compile("[" + "".join([*_CJK_DIGITS, *_CJK_SCALES]) + "]+")
# 百分之四十 and 四割 are both forty percent.
_PERCENT_OF = re.compile(f"百分之({_CJK_NUMBER.pattern})")
_TENTHS = re.compile(f"({_CJK_NUMBER.pattern})割")
# A single letter is a name or a variable more often than a number.
_ROMAN = re.compile(r"\b[IVXLC]{2,7}\b")
_FRACTION_WORD = re.compile(r"\b(?:half|third|quarter|fifth|halves|thirds|quarters)\b|半|分之|分の")


def _roman_numerals() -> dict[str, int]:
    tens = ("", "X", "XX", "XXX", "XL", "L", "LX", "LXX", "LXXX", "XC", "C")
    units = ("", "I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX")
    return {
        ten + unit: 10 * high + low for high, ten in enumerate(tens) for low, unit in enumerate(units) if ten + unit
    }


ROMAN = _roman_numerals()


@dataclass(frozen=True, slots=True)
class NumberToken:
    """A number in a text with every value its writing allows: 10.000 is ten, or ten thousand."""

    values: tuple[Decimal, ...]
    start: int
    end: int
    percent: bool = False


def read_numbers(text: str, *, words: bool = True) -> list[NumberToken]:
    """All numbers in order of appearance."""
    tokens: list[NumberToken] = []
    for found in _NUMBER.finditer(text):
        values = _values(found["body"])
        if not values:
            continue
        start = found.start()
        negative = bool(found["sign"] or found["sign2"])
        if found["sign"] and _PRECEDED_BY_OPERAND.search(text, max(0, start - 3), start):
            negative, start = bool(found["sign2"]), found.start() + len(found["sign"])
        if found["exponent"]:
            shift = Decimal(10) ** int(found["exponent"][1:])
            values = tuple(value * shift for value in values)
        if found["denominator"]:
            bottom = Decimal(found["denominator"])
            values = tuple(value / bottom for value in values) if bottom else ()
            if not values:
                continue
        if negative:
            values = tuple(-value for value in values)
        tokens.append(NumberToken(values, start, found.end(), bool(found["percent"])))
    if not text.isascii():
        tokens.extend(_unspaced_percentages(text))
        tokens.sort(key=lambda token: token.start)
    # Where digits are written, words count other things: "the four birds are 51 years old".
    return tokens if tokens or not words else _word_numbers(text)


def _values(body: str) -> tuple[Decimal, ...]:
    """What a run of digits and separators can mean, the likeliest first; nothing for 1.2.34 and the like."""
    if len(body) > 60:
        return ()
    plain = body.replace(" ", "").replace("\u202f", "").replace("'", "")
    if "." in plain and "," in plain:
        decimal_mark, group_mark = (".", ",") if plain.rfind(".") > plain.rfind(",") else (",", ".")
        plain = plain.replace(group_mark, "").replace(decimal_mark, ".")
        return (Decimal(plain),) if plain.count(".") == 1 else ()
    mark = "." if "." in plain else ","
    groups = plain.split(mark)
    if len(groups) == 1:
        return (Decimal(plain),)
    thousands = all(len(group) == 3 for group in groups[1:]) and 1 <= len(groups[0]) <= 3 and groups[0] != "0"
    if len(groups) > 2:
        return (Decimal("".join(groups)),) if thousands else ()
    as_decimal = Decimal(plain.replace(",", "."))
    if not thousands:
        return (as_decimal,)
    as_group = Decimal("".join(groups))
    return (as_group, as_decimal) if mark == "," else (as_decimal, as_group)


def _unspaced_percentages(text: str) -> list[NumberToken]:
    return [
        NumberToken((Decimal(value * factor),), found.start(), found.end(), percent=True)
        for pattern, factor in ((_PERCENT_OF, 1), (_TENTHS, 10))
        for found in pattern.finditer(text)
        if (value := _cjk_number(found[1])) is not None
    ]


def _word_numbers(text: str) -> list[NumberToken]:
    tokens = [
        NumberToken((Decimal(_spoken(found[0])),), found.start(), found.end())
        for found in _WORDS.finditer(text)
        # "each one", "one of them": in a sentence a lone "one" is a pronoun.
        if found[0].lower() not in _SCALES and (found[0].lower() != "one" or len(text) < 25)
    ]
    tokens.extend(
        NumberToken((Decimal(ROMAN[found[0]]),), found.start(), found.end())
        for found in _ROMAN.finditer(text)
        if found[0] in ROMAN
    )
    if not text.isascii():
        tokens.extend(
            NumberToken((Decimal(value),), found.start(), found.end())
            for found in _CJK_NUMBER.finditer(text)
            if (value := _cjk_number(found[0])) is not None
        )
    return tokens


def _spoken(phrase: str) -> int:
    total = current = 0
    negative = False
    for word in re.split(r"[\s-]+", phrase.lower()):
        if word in {"minus", "negative"}:
            negative = True
        elif word in _UNITS:
            current += _UNITS[word]
        elif word in _TENS:
            current += _TENS[word]
        elif word == "hundred":
            current = max(current, 1) * 100
        elif word in _SCALES:
            total += max(current, 1) * _SCALES[word]
            current = 0
    value = total + current
    return -value if negative else value


def _cjk_number(text: str) -> int | None:
    if not any(character in _CJK_SCALES for character in text):
        # 二〇二四 is a year in digits; a single 一 is a word more often than a number.
        return (
            int("".join(str(_CJK_DIGITS[character]) for character in text))
            if len(text) > 1 or text in "二两兩三四五六七八九"
            else None
        )
    total = section = digit = 0
    for character in text:
        if character in _CJK_DIGITS:
            digit = _CJK_DIGITS[character]
        elif character in "万萬":
            total, section, digit = total + (section + digit) * 10_000, 0, 0
        else:
            section, digit = section + (digit or 1) * _CJK_SCALES[character], 0
    return total + section + digit


def plain_number(text: str) -> Decimal | None:
    """The value when the whole text is one number, with currency, percent or a short unit allowed around it."""
    stripped = text.strip().rstrip(".")
    tokens = read_numbers(stripped)
    if len(tokens) != 1:
        return None
    token = tokens[0]
    rest = (stripped[: token.start] + stripped[token.end :]).strip(" $€£¥%")
    return token.values[0] if not rest else None


def _rounds_to(value: Decimal, gold: Decimal) -> bool:
    """A fraction that a person might have rounded to the whole gold value: within half a unit and half a percent."""
    if gold != gold.to_integral_value() or value == value.to_integral_value():
        return False
    return abs(value - gold) <= min(Decimal("0.5"), abs(gold) / 200)


@dataclass(frozen=True, slots=True)
class NumberReader:
    """The gold value, and the numbers the question gave (those are seldom the answer)."""

    value: Decimal
    question_values: frozenset[Decimal]
    percent: bool = False
    kind: str = "number"
    spans_lines: bool = False

    def read(self, piece: str, *, firm: bool) -> Reading | None:
        """One number: it is the answer. Several: the one after the last '=', in bold, or new to the question."""
        if firm and len(piece) < 200 and _ALGEBRA.search(piece):
            # In JSON a backslash is written twice.
            comparison = compare_expressions(piece.replace("\\\\", "\\"), str(self.value))
            return Reading(comparison.decision, 0, len(piece), f"expression_{comparison.rule}")
        tokens = self._candidates(piece)
        if not tokens:
            found = _FRACTION_WORD.search(piece)
            return Reading(Decision.UNDECIDED, *found.span(), "fraction_in_words") if found else None
        if len({token.values for token in tokens}) == 1:
            return self._compare(tokens[-1], "single_number")
        stated = self._stated(piece, tokens, firm=firm)
        if not any(self._equal(token) for token in tokens):
            token = stated or tokens[-1]
            if any(_rounds_to(value, self.value) for item in tokens for value in item.values):
                return Reading(Decision.UNDECIDED, token.start, token.end, "rounding")
            return Reading(Decision.INCORRECT, token.start, token.end, "no_number_equal")
        if stated is not None and (firm or self._equal(stated)):
            return self._compare(stated, "stated_number")
        fresh = [token for token in tokens if not any(value in self.question_values for value in token.values)]
        if len({token.values for token in fresh}) == 1 and (firm or self._equal(fresh[-1])):
            return self._compare(fresh[-1], "number_new_to_question")
        last = tokens[-1]
        if self._equal(last) and _UNSPACED_RESULT.search(piece, max(0, last.start - 6), last.start):
            return Reading(Decision.CORRECT, last.start, last.end, "stated_number")
        return Reading(Decision.UNDECIDED, last.start, last.end, "several_numbers")

    def _candidates(self, piece: str) -> list[NumberToken]:
        """The numbers of the piece; beside a year the day of its month is not one of its own."""
        tokens = read_numbers(piece)
        if len(tokens) > 1 and _FIRST_YEAR <= self.value <= _LAST_YEAR:
            years = [token for token in tokens if not is_day_of_month(piece, token.start, token.end)]
            return years or tokens
        return tokens

    def _stated(self, piece: str, tokens: list[NumberToken], *, firm: bool) -> NumberToken | None:
        """The one that the sentence presents as its result."""
        lead = piece[: tokens[0].start].strip(" $*\"'(:")
        if firm and not lead and piece[tokens[0].end : tokens[0].end + 1] in {"", ",", ".", ";", "*"}:
            return tokens[0]
        results = [token for token in tokens if _RESULT.search(piece, max(0, token.start - 16), token.start)]
        if results:
            return results[-1]
        bold = [
            token
            for token in tokens
            if "**" in (piece[max(0, token.start - 2) : token.start], piece[token.end : token.end + 2])
        ]
        if len(bold) == 1:
            return bold[0]
        return tokens[0] if firm and not lead and "=" not in piece else None

    def _equal(self, token: NumberToken) -> bool:
        return self.value in token.values

    def _compare(self, token: NumberToken, rule: str) -> Reading:
        if self._equal(token):
            return Reading(Decision.CORRECT, token.start, token.end, rule)
        value = token.values[0]
        # 106.12 for 106: whether rounding was meant, no rule can say. 6.75 is not a way to write 7.
        if _rounds_to(value, self.value):
            return Reading(Decision.UNDECIDED, token.start, token.end, "rounding")
        if token.percent != self.percent and (value == self.value * 100 or value * 100 == self.value):
            return Reading(Decision.UNDECIDED, token.start, token.end, "percent_or_fraction")
        return Reading(Decision.INCORRECT, token.start, token.end, rule)

    def is_absent(self, text: str) -> bool:
        """No number in the text can be read as the ground truth, not even by rounding or as a fraction in words."""
        return not _FRACTION_WORD.search(text) and not any(
            value in (self.value, self.value * 100, self.value / 100) or _rounds_to(value, self.value)
            for token in (*read_numbers(text, words=False), *_word_numbers(text))
            for value in token.values
        )

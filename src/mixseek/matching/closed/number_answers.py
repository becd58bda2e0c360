"""Which of the numbers in a statement is its answer, and whether it is the gold value."""

import ast
import operator
import re
import unicodedata
from collections.abc import Callable
from decimal import ROUND_DOWN, ROUND_HALF_UP, Decimal
from fractions import Fraction
from functools import cached_property

from mixseek.domain.ports import MathsComparer
from mixseek.lazy_dataclass import dataclass
from mixseek.matching.numbers import (
    NumberToken,
    currency_of,
    is_day_of_month,
    read_numbers,
    unit_of,
    units_asked,
    word_numbers,
)
from mixseek.matching.phrases import Phrases
from mixseek.matching.readings import NEEDS_MATHS, Decision, Reader, Reading

_SAYS = Phrases("number_answers")
_LEAST_ROUNDED = 3
# Whole numbers below are counted to the last digit.
_LARGEST_COUNT = 10**9
_LONGEST_CALCULATION = 60
_LONGEST_WORD = 20
_OPERATORS = str.maketrans("×·÷", "**/")
# A quotient that does not come out even has many more digits than anybody writes.
_QUOTIENT_DIGITS = 15
_FIRST_YEAR, _LAST_YEAR = 1000, 2100
# Not "20 m/s": a slash between letters stands in a unit.
_ALGEBRA = re.compile(
    r"\\[a-z]|\^|\d[⁰¹²³⁴-⁹]|sqrt|√|π|[0-9)]\s*[a-z]\s*(?:[-+*]|/(?!\s?[a-z]))|(?<![a-z])[-+*/]\s*[a-z]\b"
    r"|(?<![a-z])[a-z]\s*[-+*/]\s*[0-9]"
)
_SCIENTIFIC = re.compile(
    r"(?<=[\d.])\s?(?:[×x*·]|\\times|\\cdot)\s?10\s?(?:\^\s?\{?\s?[+-]?\d{1,3}\s?\}?|[⁻-]?[⁰¹²³⁴-⁹]+)"
)
_RATIO = re.compile(r"(?<![\d:])\d{1,6}\s?:\s?\d{1,6}(?![\d:])")
# A word behind a number that is none of the scales that are read.
_OTHER_SCALE = re.compile(
    r"[$€£¥]?(\d{1,3}(?:,\d{3}){1,3}|\d{1,9}(?:\.\d{1,9})?)\s?"
    r"(?!(?:[kKMBT]|mn|bn|tn|mil|hundred|\w+sand|\w+llion|dozen|lakhs?|crores?)\b)[A-Za-z]+(?:/[a-z]+)?"
)
_COMMAND = re.compile(r"\\[a-zA-Z]+")
_PROSE = re.compile(r"(?!(?:sqrt|log|exp|abs|sin|cos|tan)\b)\b[^\W\d_]{3,}")
_DIGITS = re.compile(r"\d+")
# So many are no calculation; looking at each would cost more than the answer is worth.
_MOST_NUMBERS = 3_000
_UNIT_COMMA = re.compile(r"[a-z /]{1,20},")
_A_YEAR = re.compile(r"[12]\d{3}(?![\d.%]|,\d)")
_LABEL_END = re.compile(r"\s?[:.)]\s")
_PARTS = (
    ("h", "m", 60), ("m", "s", 60), ("d", "c", 100), ("d", "h", 24), ("w", "d", 7), ("y", "m", 12), ("f", "i", 12),
)  # fmt: skip


def _rounds_to(value: Decimal, gold: Decimal) -> bool:
    """A fraction that a person might have rounded to the whole gold value: within half a unit and half a percent."""
    if gold != gold.to_integral_value() or value == value.to_integral_value():
        return False
    return abs(value - gold) <= min(Decimal("0.5"), abs(gold) / 200)


def _is_rounded(value: Decimal, gold: Decimal, *, is_scaled: bool) -> bool:
    """One is the other to fewer digits, three at least: 3.14 for 3.14159, 1.23 million for 1,234,567."""
    are_counts = value == value.to_integral_value() and gold == gold.to_integral_value()
    if are_counts and abs(gold) < _LARGEST_COUNT and not is_scaled:
        return False
    short, long = sorted((value.normalize(), gold.normalize()), key=lambda number: len(number.as_tuple().digits))
    digits = len(short.as_tuple().digits)
    if not _LEAST_ROUNDED <= digits < len(long.as_tuple().digits):
        return False
    unit = Decimal(1).scaleb(long.adjusted() - digits + 1)
    return short in (long.quantize(unit, ROUND_HALF_UP), long.quantize(unit, ROUND_DOWN))


_OPERATIONS: dict[type[ast.operator], Callable[[Fraction, Fraction], Fraction]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
}  # fmt: skip


def _result_of(calculation: str) -> Decimal | None:
    """What sums, products and quotients of plain numbers come to; None for what takes more than that."""

    def value(node: ast.expr) -> Fraction:
        match node:
            case ast.Constant(value=int() | float() as number):
                return Fraction(str(number))
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -value(operand)
            case ast.BinOp(left=left, op=sign, right=right) if type(sign) in _OPERATIONS:
                return _OPERATIONS[type(sign)](value(left), value(right))
        raise ValueError("more than a calculation")

    try:
        result = value(ast.parse(calculation.translate(_OPERATORS).replace(",", ""), mode="eval").body)
    except (ValueError, SyntaxError, ZeroDivisionError):
        return None
    return Decimal(result.numerator) / Decimal(result.denominator)


def _counts_something_else(piece: str, token: NumberToken) -> bool:
    """Whether a number says who shares, which step it is or what it is not: it does not say how much."""
    before = max(0, token.start - 16)
    if _SAYS.per_one.match(piece, token.start) or _SAYS.sharers.search(piece, before, token.start):
        return True
    if _SAYS.denied_before.search(piece, before, token.start) or _SAYS.denied_behind.match(piece, token.end):
        return True
    return bool(_SAYS.numbered.search(piece, before, token.start) and _LABEL_END.match(piece, token.end))


def _is_dated(piece: str, start: int) -> bool:
    """Whether the number from `start` on is the year in which something was counted: "as of 2021"."""
    return _A_YEAR.match(piece, start) is not None and _SAYS.dated.search(piece, max(0, start - 24), start) is not None


def _is_bracketed(piece: str, token: NumberToken) -> bool:
    """Whether a number stands in a remark: "26 are left (36 at first)"; not in a calculation."""
    opened, closed = piece.rfind("(", 0, token.start), piece.find(")", token.end)
    return opened >= 0 and piece.find(")", opened) == closed >= 0 and "=" not in piece[opened:closed]


def _is_shorter(value: Decimal, gold: Decimal) -> bool:
    """Whether one is the other with fewer digits behind the point, where one has very many: 0.3333 for 1/3."""
    digits = [-int(number.as_tuple().exponent) for number in (value, gold)]
    if max(digits) < _QUOTIENT_DIGITS or not 2 <= min(digits) < _QUOTIENT_DIGITS:
        return False
    return abs(value - gold) < Decimal(1).scaleb(-min(digits))


@dataclass(frozen=True)
class NumberReader(Reader):
    """The gold value, and the question: the numbers it gave are seldom the answer."""

    value: Decimal
    question: str
    # As written, for whoever compares what is more than a number.
    gold: str = ""
    maths: MathsComparer | None = None
    percent: bool = False
    kind = "number"

    @cached_property
    def question_values(self) -> frozenset[Decimal]:
        """Read only when several numbers are in question."""
        return frozenset(value for token in read_numbers(self.question) for value in token.values)

    def read(self, piece: str, *, firm: bool) -> Reading | None:
        """What was read; not called wrong where the gold may be meant in words that were not read."""
        reading = self._read(piece, firm=firm)
        if reading is not None and reading.decision is Decision.CORRECT and self._is_other_currency(piece, reading):
            return reading.left_open("other_currency")
        if reading is not None and reading.decision is Decision.CORRECT and self._is_other_unit(piece, reading):
            return reading.left_open("other_unit")
        if reading is None or reading.decision is not Decision.INCORRECT or not self._may_be_meant(piece, reading):
            return reading
        return reading.left_open("other_words")

    def _is_other_unit(self, piece: str, reading: Reading) -> bool:
        """18 km are not the 18 miles that were asked for."""
        given = unit_of(piece, reading.end)
        return given is not None and bool(self._units) and given not in self._units

    @cached_property
    def _units(self) -> set[str]:
        return units_asked(self.question)

    def _is_other_currency(self, piece: str, reading: Reading) -> bool:
        """€18 is not $18, whether the gold or only the question says what is counted."""
        given = currency_of(piece, reading.start, reading.end)
        return given is not None and self._currency not in (None, given)

    @cached_property
    def _currency(self) -> str | None:
        if named := currency_of(self.gold, 0, len(self.gold)):
            return named
        asked = {currency for token in read_numbers(self.question) if token.is_money
                 if (currency := currency_of(self.question, token.start, token.end))}  # fmt: skip
        asked |= {"dollar"} if "dollars" in self.question.lower() else set()
        return next(iter(asked)) if len(asked) == 1 else None

    def _may_be_meant(self, piece: str, reading: Reading) -> bool:
        """ "half a million", 三分の一, "1 in 8", "2.5 Mio", "6 * 7": what was read is only a part of what is said."""
        if _SAYS.share_in_words.search(piece, max(0, reading.start - 8), reading.end + 8):
            return True
        bare = piece.strip(" .$*`")
        is_part = reading.end - reading.start < len(bare) <= _LONGEST_CALCULATION
        if is_part and _SAYS.calculation.fullmatch(bare):
            return _result_of(bare) in {None, self.value}
        if _PROSE.search(piece) and any(map(self._equal, word_numbers(piece))):
            # "There are ten episodes in season 3", of which the 3 was asked about.
            read = read_numbers(piece[reading.start : reading.end])
            if read and (not self.question_values.isdisjoint(read[0].values) or _is_dated(piece, reading.start)):
                return True
        counted = {1: _SAYS.one, 2: _SAYS.two, 3: _SAYS.three}.get(int(self.value)) if self.value in (1, 2, 3) else None
        if counted is not None and counted.search(piece.lower()):
            return True
        shares = [Decimal(match[1]) / Decimal(match[2]) for match in _SAYS.share.finditer(piece)]
        if any(self.value in (share, share * 100) or _is_shorter(share, self.value) for share in shares):
            return True
        scaled = _OTHER_SCALE.fullmatch(piece[reading.start :].strip(" .*"))
        amount = Decimal(scaled[1].replace(",", "")) if scaled else None
        return amount is not None and any(amount.scaleb(zeros) == self.value for zeros in (3, 6, 9))

    def _read(self, piece: str, *, firm: bool) -> Reading | None:
        """One number: it is the answer. Several: the one after the last '=', in bold, or new to the question."""
        # In nothing but a value a sign belongs to the value; a power of ten behind a number is its scale.
        is_bare = len(piece) <= 40 and _PROSE.search(_COMMAND.sub(" ", piece)) is None
        if (firm or is_bare) and len(piece) < 200 and _ALGEBRA.search(_SCIENTIFIC.sub("", piece)):
            return self._algebra(piece)
        if "/" in self.gold and (ratio := _RATIO.search(piece)) is not None:
            return Reading(Decision.UNDECIDED, *ratio.span(), "ratio")
        if other := _SAYS.other_reckoning.search(piece):
            return Reading(Decision.UNDECIDED, *other.span(), "other_reckoning")
        compound = self._compound(piece)
        if compound is not None:
            return compound
        tokens = self._candidates(piece)
        if not tokens:
            match = _SAYS.fraction_word.search(piece)
            return Reading(Decision.UNDECIDED, *match.span(), "fraction_in_words") if match else None
        if len({token.values for token in tokens}) == 1:
            return self._compare(tokens[-1], "single_number")
        return self._read_several(piece, tokens, firm=firm)

    def _read_several(self, piece: str, tokens: list[NumberToken], *, firm: bool) -> Reading:
        stated = self._stated(piece, tokens, firm=firm)
        if not any(self._equal(token) for token in tokens):
            token = stated or tokens[-1]
            is_near = any(_rounds_to(value, self.value) for item in tokens for value in item.values)
            if is_near or self._is_restated(piece, [tokens[0], *word_numbers(piece)]):
                return Reading(Decision.UNDECIDED, token.start, token.end, "rounding")
            return Reading(Decision.INCORRECT, token.start, token.end, "no_number_equal")
        if stated is not None:
            reading = self._compare(stated, "stated_number")
            first = tokens[0]
            is_led = firm and not piece[: first.start].strip(" $*\"'(:") and _UNIT_COMMA.match(piece, first.end)
            if is_led and self._equal(stated) != self._equal(first):
                # "$18 per day, which is $126 per week": which of the two was asked for?
                return reading.left_open("several_numbers")
            if not self._equal(stated) and self._is_restated(piece, tokens):
                return reading.left_open("restated_number")
            if firm or self._equal(stated):
                return reading
        outside = [token for token in tokens if not _is_bracketed(piece, token)]
        if len({token.values for token in outside}) == 1 and self._equal(outside[0]):
            return self._compare(outside[0], "number_outside_brackets")
        fresh = [token for token in tokens if self.question_values.isdisjoint(token.values)]
        if len({token.values for token in fresh}) == 1 and (firm or self._equal(fresh[-1])):
            return self._compare(fresh[-1], "number_new_to_question")
        reading = self._compare(tokens[-1], "stated_number")
        if self._equal(tokens[-1]) and _SAYS.unspaced_result.search(piece, max(0, reading.start - 6), reading.start):
            return reading
        return reading.left_open("several_numbers")

    def _algebra(self, piece: str) -> Reading:
        """An expression in place of a number."""
        # Here and not above: few answers need it.
        from mixseek.matching.closed.maths import compare_maths, stated_maths

        # In JSON a backslash is written twice.
        part = stated_maths(piece.replace("\\\\", "\\"), firm=True)
        if part is None:
            return Reading(Decision.UNDECIDED, 0, len(piece), "expression_not_read")
        decision, rule = compare_maths(part.text, self.gold or str(self.value), self.question, self.maths)
        reading = Reading(decision, 0, len(piece), rule if rule == NEEDS_MATHS else f"expression_{rule}")
        if decision is Decision.INCORRECT and any(map(self._equal, read_numbers(part.text, words=False))):
            # "9sqrt(2)" for 9: whether the number or the expression is the answer, people disagree on.
            return reading.left_open("number_in_expression")
        return reading

    def _is_restated(self, piece: str, tokens: list[NumberToken]) -> bool:
        """Whether the gold stands behind the first number as another writing of it: "1.5 hours, i.e. 90 minutes"."""
        return any(
            self._equal(token) and _SAYS.restated.search(piece, max(0, token.start - 16), token.start)
            for token in tokens[1:]
        )

    def _compound(self, piece: str) -> Reading | None:
        """One hour and 30 minutes are 90 minutes, or an hour and a half; whether the unit was asked for is open."""
        match = _SAYS.compound.search(piece)
        if match is None:
            return None
        large, small = Decimal(match["large"]), Decimal(match["small"])
        units = match["unit"].lower(), match["other"].lower()
        parts = next((n for unit, other, n in _PARTS if units[0].startswith(unit) and units[1].startswith(other)), None)
        if parts is None:
            return None
        outside = read_numbers(piece[: match.start()]) + read_numbers(piece[match.end() :])
        is_gold = self.value in (large * parts + small, large + small / parts)
        if not is_gold or not all(map(self._equal, outside)):
            return None
        return Reading(Decision.CORRECT, *match.span(), "compound_unit")

    def _candidates(self, piece: str) -> list[NumberToken]:
        """The numbers of the piece; beside a year the day of its month is not one of its own."""
        tokens = read_numbers(piece)
        if len(tokens) < 2:
            return tokens
        if _FIRST_YEAR <= self.value <= _LAST_YEAR:
            return [token for token in tokens if not is_day_of_month(piece, token.start, token.end)] or tokens
        return [
            token for token in tokens if not _counts_something_else(piece, token) and not _is_dated(piece, token.start)
        ] or tokens

    def _stated(self, piece: str, tokens: list[NumberToken], *, firm: bool) -> NumberToken | None:
        """The one that the sentence presents as its result."""
        lead = piece[: tokens[0].start].strip(" $*\"'(:")
        totals = [token for token in tokens if _SAYS.total.search(piece, max(0, token.start - 24), token.start)]
        if totals:
            return totals[-1]
        if firm and not lead and _SAYS.clause_end.match(piece, tokens[0].end):
            return tokens[0]
        # "8 instruments: 1 clarinet, 2 trumpets, …"
        is_sum = sum(token.values[0] for token in tokens[1:]) == tokens[0].values[0]
        if is_sum and ":" in piece[tokens[0].end : tokens[1].start]:
            return tokens[0]
        results = [
            token
            for token in tokens
            if _SAYS.result.search(piece, max(0, token.start - 16), token.start)
            and not _SAYS.would_be.search(piece, max(0, token.start - 30), token.start)
            and not _SAYS.would.match(piece, token.end)
        ]
        if results:
            return results[-1]
        bold = [
            token
            for token in tokens
            if "**" in (piece[max(0, token.start - 2) : token.start], piece[token.end : token.end + 2])
        ]
        if len(bold) == 1:
            return bold[0]
        # "3 people pay 34": that the first number is another one proves nothing.
        return tokens[0] if firm and not lead and "=" not in piece and self._equal(tokens[0]) else None

    def _equal(self, token: NumberToken) -> bool:
        return self.value in token.values

    def _compare(self, token: NumberToken, rule: str) -> Reading:
        if self._equal(token):
            reading = Reading(Decision.CORRECT, token.start, token.end, rule)
            is_share = (
                token.percent and not self.percent and self.question and not _SAYS.share_asked.search(self.question)
            )
            return reading.left_open("percent_of_what") if is_share else reading
        reading = Reading(Decision.INCORRECT, token.start, token.end, rule)
        value = token.values[0]
        # 106.12 for 106: whether rounding was meant, no rule can say. 6.75 is not a way to write 7.
        is_shorter = any(_is_shorter(number, self.value) for number in (value, value / 100))
        if (
            is_shorter
            or _rounds_to(value, self.value)
            or _is_rounded(value, self.value, is_scaled=bool(token.unscaled))
        ):
            return reading.left_open("rounding")
        if self.value in (value * 100, value / 100) and (
            token.percent != self.percent
            or token.is_money
            # A share is written as a part of one, or of a hundred.
            or (abs(min(value, self.value)) <= 1 and _SAYS.share_asked.search(self.question))
        ):
            return reading.left_open("percent_or_fraction")
        return reading.left_open("scale_word") if self.value in token.unscaled else reading

    def is_other(self, text: str, place: int) -> bool:
        """Another number, in digits or words."""
        ahead = text[place : place + 40]
        if _SAYS.denied_ahead.match(ahead):
            return False
        tokens = [*read_numbers(ahead, words=False)[:1], *word_numbers(ahead)[:1]]
        return any(token.start <= 2 and not self._equal(token) for token in tokens)

    def is_absent(self, text: str) -> bool:
        """No number in the text can be read as the ground truth, not even by rounding or as a fraction in words."""
        if len(_DIGITS.findall(text)) > _MOST_NUMBERS or (not self.value and _SAYS.nothing.search(text.lower())):
            return False
        # "both", ふたり, 捌 and ⑧ are numbers that are read nowhere else.
        if not _DIGITS.search(text) and (len(text.strip()) <= _LONGEST_WORD or not _SAYS.known_language.search(text)):
            return False  # a number in the words of another language
        counted = _SAYS.one if self.value == 1 else _SAYS.two if self.value == 2 else None
        if counted is not None and counted.search(text.lower()):
            return False
        if _SAYS.unread_numeral.search(text) or re.search(rf"(?<!\d){self.value}(?:st|nd|rd|th)\b", text):
            return False
        signs = "" if text.isascii() else set(text)
        if any(unicodedata.numeric(sign, None) == self.value for sign in signs if not sign.isdecimal()):
            return False
        return not _SAYS.fraction_word.search(text) and not any(
            value in (self.value, self.value * 100, self.value / 100) or _rounds_to(value, self.value)
            for token in (*read_numbers(text, words=False, once=True), *word_numbers(text))
            for value in (*token.values, *token.unscaled)
        )

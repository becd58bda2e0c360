"""Whether two scalars are the same: exactly, at sample points, or up to the precision that was written.

Decimals: the ground truth is taken at its word. An answer that only agrees with it after rounding is right when the
question asks for rounding, and undecided otherwise; six common decimals count as equal.
"""

import math
from fractions import Fraction
from typing import Final

from mixseek.matching.expressions.evaluation import Value, calls_in, evaluate, magnitude, symbols_in
from mixseek.matching.expressions.findings import Finding, Hints, different, same, unsure
from mixseek.matching.expressions.meaning import Scalar
from mixseek.matching.expressions.tree import (
    Node,
    Product,
    Sum,
    Symbol,
    UnreadableExpressionError,
    children_of,
    with_children,
)
from mixseek.matching.expressions.units import scale_of
from mixseek.matching.outcome import Decision

RELATIVE_TOLERANCE: Final = 1e-9
# Float noise around an exact zero, such as sin π.
ABSOLUTE_TOLERANCE: Final = 1e-12
SIX_DECIMALS: Final = 5e-7
_POSITIVE_POINTS: Final = 3
_SIGNED_POINTS: Final = 2
_UNIT_LETTERS: Final = frozenset("msghlLNJWVAKCFdt")
_GOLDEN: Final = 0.6180339887498949
_SILVER: Final = 0.41421356237309503


def compare_scalars(answer: Scalar, gold: Scalar, hints: Hints) -> Finding:
    """CORRECT only when equal; INCORRECT only when unequal under every common reading."""
    if answer.value is not None and gold.value is not None:
        return _compare_constants(answer, gold, hints)
    found = _compare_formulas(answer.node, gold.node, answer.symbols | gold.symbols)
    if (
        found.decision is Decision.INCORRECT
        and (answer.unit or gold.unit)
        and answer.symbols ^ gold.symbols <= _UNIT_LETTERS
    ):
        return unsure("unit_or_variable")
    if found.decision is Decision.CORRECT and hints.form and shape_of(answer.node) != shape_of(gold.node):
        return unsure("form_asked")
    return found


def close(left: Value, right: Value) -> bool:
    """Exact for fractions; a relative tolerance that only absorbs float noise otherwise."""
    if isinstance(left, Fraction) and isinstance(right, Fraction):
        return left == right
    if left == right:
        return True
    try:
        size = max(magnitude(left), magnitude(right))
        gap = magnitude(left - right)
    except OverflowError:
        return False
    if math.isinf(size):
        return False
    return gap <= RELATIVE_TOLERANCE * size or gap <= ABSOLUTE_TOLERANCE


def _compare_constants(answer: Scalar, gold: Scalar, hints: Hints) -> Finding:
    if answer.value is None or gold.value is None:
        return unsure("free_variable")
    units = _compare_units(answer, gold)
    if units is not None:
        return units
    for left, right in _percent_readings(answer, gold):
        if close(left, right):
            return same("percent" if answer.percent or gold.percent else "value")
    if answer.degrees != gold.degrees and _same_angle(answer, gold):
        return unsure("degrees_or_radians")
    for left, right in _percent_readings(answer, gold):
        rounded = _compare_rounded(left, right, answer.last_place, gold.last_place, hints)
        if rounded is not None:
            return rounded
    if _is_dotted_thousands(answer, gold) or _is_dotted_thousands(gold, answer):
        return unsure("dot_may_group_thousands")
    return _other_logarithm(answer.node, gold.node) or different("value")


def _percent_readings(answer: Scalar, gold: Scalar) -> list[tuple[Value, Value]]:
    """28 %, 28 and 0.28 are one answer when one side is written with %, never when neither is."""
    left, right = answer.value, gold.value
    if left is None or right is None:
        return []
    readings = [(left, right)]
    if answer.percent and not gold.percent:
        readings.append((left / Fraction(100), right))
    if gold.percent and not answer.percent:
        readings.append((left, right / Fraction(100)))
    return readings


def _compare_units(answer: Scalar, gold: Scalar) -> Finding | None:
    """None when units do not matter: the bare values are compared."""
    if not answer.unit or not gold.unit or answer.unit == gold.unit:
        return None
    left, right = answer.value, gold.value
    if left is None or right is None:
        return None
    equal = close(left, right)
    one, other = scale_of(answer.unit), scale_of(gold.unit)
    if one and other and one[0] == other[0]:
        if close(left * one[1], right * other[1]):
            return same("unit_converted")
        return unsure("units_conflict") if equal else different("value")
    if one and other:
        return unsure("units_conflict")
    if equal and not set(answer.unit.split()) & set(gold.unit.split()):
        return unsure("units_differ")
    return None


def _same_angle(answer: Scalar, gold: Scalar) -> bool:
    if answer.value is None or gold.value is None:
        return False
    turned, plain = (answer.value, gold.value) if answer.degrees else (gold.value, answer.value)
    return close(turned * math.pi / 180, plain)


def _compare_rounded(
    left: Value, right: Value, left_place: Fraction | None, right_place: Fraction | None, hints: Hints
) -> Finding | None:
    """None when the values do not even agree after rounding."""
    if isinstance(left, complex) or isinstance(right, complex):
        return None
    try:
        near, far = float(left), float(right)
    except OverflowError:
        return None
    gap = abs(near - far)
    finest = min((place for place in (left_place, right_place) if place is not None), default=None)
    if finest is None:
        return None
    if not math.isfinite(gap):
        return None
    if gap < SIX_DECIMALS and max(abs(near), abs(far)) > 1e-3:
        return same("six_decimals")
    # The coarser of the two ways of writing decides; an exact value is finer than any decimal.
    coarsest = max(place for place in (left_place or Fraction(0), right_place or Fraction(0)))
    if left_place is not None and right_place is None and isinstance(right, Fraction) and right.denominator == 1:
        # 7.38 is not 7, unless it still had to be rounded
        return unsure("rounded") if hints.rounding and gap <= 0.5 else None
    if gap > float(coarsest) * 0.5000001:
        truncated = left_place is not None and gap < float(left_place) and abs(near) < abs(far)
        return unsure("truncated") if truncated and left_place == coarsest else None
    if coarsest >= 1:
        return unsure("rounded") if hints.rounding else None
    return same("rounded_as_asked") if hints.rounding and coarsest <= Fraction(1, 10) else unsure("rounded")


def _is_dotted_thousands(one: Scalar, other: Scalar) -> bool:
    """10.000 may be ten thousand where the dot groups thousands."""
    if one.last_place != Fraction(1, 1000) or one.value is None or other.value is None:
        return False
    return close(one.value * 1000, other.value)


def _other_logarithm(answer: Node, gold: Node) -> Finding | None:
    """log without a base is decimal or natural, by custom."""
    return unsure("logarithm_base") if "log" in calls_in(answer) | calls_in(gold) else None


def sample_point(names: list[str], index: int, signed: bool) -> dict[str, Value]:
    """Fixed points in (0.35, 2.35), the same in every run, far from the zeros of what people write."""
    point: dict[str, Value] = {}
    for place, name in enumerate(names):
        value = 0.35 + 2 * ((place + 1) * _GOLDEN + (index + 1) * _SILVER) % 2
        point[name] = -value if signed and (place + index) % 2 == 0 else value
    return point


def _integer_point(names: list[str], index: int) -> dict[str, Value]:
    return {name: Fraction(2 + index + 3 * place) for place, name in enumerate(names)}


def _compare_formulas(answer: Node, gold: Node, symbols: frozenset[str]) -> Finding:
    names = sorted(symbols)
    positive = _agreement(answer, gold, [sample_point(names, index, signed=False) for index in range(_POSITIVE_POINTS)])
    if positive is None:
        return unsure("no_value_at_samples")
    if not positive and not _equal_exactly(answer, gold, names):
        return _unequal_formulas(answer, gold, names)
    signed = _agreement(answer, gold, [sample_point(names, index + 3, signed=True) for index in range(_SIGNED_POINTS)])
    if signed is False and not _equal_exactly(answer, gold, names):
        return unsure("equal_for_positive_only")
    return same("formula")


def _equal_exactly(answer: Node, gold: Node, names: list[str]) -> bool:
    """Floats lose an expanded power to cancellation; where both stay rational, fractions do not."""
    points: list[dict[str, Value]] = [
        {
            name: Fraction(4 + (5 * place + 7 * index) % 29, 31) * (-1) ** (place + index)
            for place, name in enumerate(names)
        }
        for index in range(_POSITIVE_POINTS)
    ]
    for point in points:
        try:
            left, right = evaluate(answer, point), evaluate(gold, point)
        except UnreadableExpressionError:
            return False
        if not isinstance(left, Fraction) or not isinstance(right, Fraction) or left != right:
            return False
    return True


def _unequal_formulas(answer: Node, gold: Node, names: list[str]) -> Finding:
    """Unequal, unless the variables are whole numbers, a constant was absorbed, or letters were renamed."""
    if _agreement(answer, gold, [_integer_point(names, index) for index in range(3)]):
        return unsure("equal_at_whole_numbers")
    if "C" in names and _constant_gap(answer, gold, names):
        return unsure("constant_of_integration")
    if _equal_when_renamed(answer, gold):
        return unsure("letters_renamed")
    if _equal_without_unit_letters(answer, gold, names):
        return unsure("unit_or_variable")
    return _other_logarithm(answer, gold) or different("formula")


def _equal_without_unit_letters(answer: Node, gold: Node, names: list[str]) -> bool:
    """5m against 5: the letter may be metres."""
    units = [name for name in names if name in _UNIT_LETTERS]
    if not units or symbols_in(answer) == symbols_in(gold):
        return False
    others = [name for name in names if name not in _UNIT_LETTERS]
    ones = dict.fromkeys(units, Fraction(1))
    return bool(_agreement(answer, gold, [{**sample_point(others, index, signed=False), **ones} for index in range(2)]))


def _agreement(answer: Node, gold: Node, points: list[dict[str, Value]]) -> bool | None:
    """None when no point gives both a value."""
    seen = False
    for point in points:
        try:
            left, right = evaluate(answer, point), evaluate(gold, point)
        except UnreadableExpressionError:
            continue
        seen = True
        if not close(left, right):
            return False
    return True if seen else None


def _constant_gap(answer: Node, gold: Node, names: list[str]) -> bool:
    gaps: list[Value] = []
    for index in range(3):
        point = sample_point(names, index, signed=False)
        try:
            gaps.append(evaluate(answer, point) - evaluate(gold, point))
        except UnreadableExpressionError:
            return False
    return all(close(gap, gaps[0]) for gap in gaps)


def _equal_when_renamed(answer: Node, gold: Node) -> bool:
    """2k+1 for 2n+1: letters are matched in the order in which they first stand."""
    ours, theirs = _letters_in_order(answer), _letters_in_order(gold)
    if len(ours) != len(theirs) or set(ours) == set(theirs):
        return False
    renamed = _rename(answer, dict(zip(ours, theirs, strict=True)))
    points = [sample_point(sorted(theirs), index, signed=False) for index in range(2)]
    return bool(_agreement(renamed, gold, points))


def shape_of(node: Node) -> str:
    """The form of a formula regardless of the order of terms and factors."""
    parts = [shape_of(part) for part in children_of(node)]
    if isinstance(node, Sum | Product):
        parts.sort()
    if not parts:
        return str(getattr(node, "value", getattr(node, "name", "")))
    return f"{type(node).__name__}{getattr(node, 'name', '')}({','.join(parts)})"


def _letters_in_order(node: Node) -> list[str]:
    found: list[str] = []

    def visit(part: Node) -> Node:
        if isinstance(part, Symbol) and part.name not in found:
            found.append(part.name)
        return with_children(part, visit)

    visit(node)
    return found


def _rename(node: Node, names: dict[str, str]) -> Node:
    if isinstance(node, Symbol):
        return Symbol(names.get(node.name, node.name))
    return with_children(node, lambda part: _rename(part, names))

"""Sets of real numbers as sorted intervals, and the inequalities in one variable that describe them."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from mixseek.matching.expressions.evaluation import Value, evaluate, symbols_in
from mixseek.matching.expressions.tree import Call, Negative, Node, Sum, UnreadableExpressionError

_TOLERANCE: Final = 1e-9


@dataclass(frozen=True, slots=True)
class Piece:
    """One interval; a point is a piece whose ends are equal and closed."""

    low: float
    high: float
    low_closed: bool
    high_closed: bool

    def is_empty(self) -> bool:
        if self.low > self.high:
            return True
        return self.low == self.high and not (self.low_closed and self.high_closed)


Pieces = tuple[Piece, ...]
EVERYTHING: Final = (Piece(-math.inf, math.inf, False, False),)
NOTHING: Final[Pieces] = ()


def real_value(node: Node) -> float:
    """The end of an interval; raises when it is not a real constant."""
    return as_real(evaluate(node, {}))


def as_real(value: Value) -> float:
    if isinstance(value, complex):
        if abs(value.imag) > _TOLERANCE:
            raise UnreadableExpressionError("complex end")
        return value.real
    try:
        return float(value)
    except OverflowError as error:
        raise UnreadableExpressionError("end too big") from error


def interval(low: float, high: float, low_closed: bool, high_closed: bool) -> Pieces:
    piece = Piece(low, high, low_closed and low > -math.inf, high_closed and high < math.inf)
    return () if piece.is_empty() else (piece,)


def union(left: Pieces, right: Pieces) -> Pieces:
    """Sorted, with touching pieces joined, so that equal sets are equal tuples."""
    merged: list[Piece] = []
    for piece in sorted((*left, *right), key=lambda item: (item.low, not item.low_closed)):
        last = merged[-1] if merged else None
        if (
            last is None
            or piece.low > last.high
            or (piece.low == last.high and not (piece.low_closed or last.high_closed))
        ):
            merged.append(piece)
            continue
        if (piece.high, piece.high_closed) > (last.high, last.high_closed):
            merged[-1] = Piece(last.low, piece.high, last.low_closed, piece.high_closed)
    return tuple(merged)


def intersection(left: Pieces, right: Pieces) -> Pieces:
    found: Pieces = ()
    for one in left:
        for other in right:
            low, open_low = max((one.low, not one.low_closed), (other.low, not other.low_closed))
            high, high_closed = min((one.high, one.high_closed), (other.high, other.high_closed))
            found = union(found, interval(low, high, not open_low, high_closed))
    return found


def complement(pieces: Pieces) -> Pieces:
    found: list[Piece] = []
    low, closed = -math.inf, False
    for piece in pieces:
        found.extend(interval(low, piece.low, closed, not piece.low_closed))
        low, closed = piece.high, not piece.high_closed
    found.extend(interval(low, math.inf, closed, False))
    return tuple(found)


def points(values: list[float]) -> Pieces:
    found: Pieces = ()
    for value in values:
        found = union(found, (Piece(value, value, True, True),))
    return found


def same_set(left: Pieces, right: Pieces, tolerance: float = _TOLERANCE) -> bool:
    """The same pieces, ends within a tolerance; whole numbers are never rounded ends."""
    return len(left) == len(right) and all(
        one.low_closed == other.low_closed
        and one.high_closed == other.high_closed
        and _same_end(one.low, other.low, tolerance)
        and _same_end(one.high, other.high, tolerance)
        for one, other in zip(left, right, strict=True)
    )


def solve_chain(operands: tuple[Node, ...], operators: tuple[str, ...]) -> Pieces | None:
    """The reals that satisfy every link of a < b ≤ c in its one variable; None when we cannot solve it."""
    names = frozenset().union(*map(symbols_in, operands))
    if len(names) != 1:
        return None
    (name,) = names
    found: Pieces = EVERYTHING
    for left, operator, right in zip(operands, operators, operands[1:], strict=False):
        part = _solve(left, operator, right, name)
        if part is None:
            return None
        found = intersection(found, part)
    return found


def _solve(left: Node, operator: str, right: Node, name: str) -> Pieces | None:
    if operator == "≠":
        equal = _solve(left, "=", right, name)
        return None if equal is None else complement(equal)
    if operator in {"<", "≤"}:
        left, operator, right = right, {"<": ">", "≤": "≥"}[operator], left
    bounded = _solve_absolute(left, operator, right, name)
    if bounded is not None:
        return bounded
    coefficients = _quadratic(Sum((left, Negative(right))), name)
    return None if coefficients is None else _sign_set(*coefficients, operator)


def _solve_absolute(left: Node, operator: str, right: Node, name: str) -> Pieces | None:
    """|u| ≥ c or c ≥ |u|, with u linear and c constant."""
    bigger = isinstance(left, Call) and left.name == "abs"
    call, bound = (left, right) if bigger else (right, left)
    if not isinstance(call, Call) or call.name != "abs" or symbols_in(bound):
        return None
    inner = call.arguments[0]
    minus = Negative(bound)
    if bigger:
        above, below = _solve(inner, operator, bound, name), _solve(minus, operator, inner, name)
        return None if above is None or below is None else union(above, below)
    below, above = _solve(bound, operator, inner, name), _solve(inner, operator, minus, name)
    return None if above is None or below is None else intersection(above, below)


def _quadratic(node: Node, name: str) -> tuple[float, float, float] | None:
    """a, b, c when the node is ax²+bx+c; three values fix them, three more confirm it."""
    try:
        at = {x: _real_at(node, name, x) for x in (Fraction(0), Fraction(1), Fraction(-1))}
        c = at[Fraction(0)]
        a = (at[Fraction(1)] + at[Fraction(-1)]) / 2 - c
        b = (at[Fraction(1)] - at[Fraction(-1)]) / 2
        for x in (Fraction(2), Fraction(-7, 3), Fraction(9, 2)):
            if not _close(as_real(a * x * x + b * x + c), as_real(_real_at(node, name, x))):
                return None
        return as_real(a), as_real(b), as_real(c)
    except UnreadableExpressionError:
        return None


def _real_at(node: Node, name: str, x: Fraction) -> Fraction | float:
    value = evaluate(node, {name: x})
    if isinstance(value, complex):
        raise UnreadableExpressionError("complex value")
    return value


def _sign_set(a: float, b: float, c: float, operator: str) -> Pieces | None:
    """Where ax²+bx+c is > 0, ≥ 0 or = 0."""
    scale = max(abs(a), abs(b), abs(c), 1.0)
    if abs(a) < _TOLERANCE * scale:
        if abs(b) < _TOLERANCE * scale:
            return None
        root = -c / b
        if operator == "=":
            return points([root])
        closed = operator == "≥"
        return interval(root, math.inf, closed, False) if b > 0 else interval(-math.inf, root, False, closed)
    discriminant = b * b - 4 * a * c
    if discriminant < -_TOLERANCE * scale:
        return EVERYTHING if a > 0 and operator != "=" else NOTHING
    half = math.sqrt(max(discriminant, 0.0))
    low, high = sorted(((-b - half) / (2 * a), (-b + half) / (2 * a)))
    if operator == "=":
        return points([low, high])
    inside = interval(low, high, operator == "≥", operator == "≥")
    outside = complement(interval(low, high, operator == ">", operator == ">"))
    return outside if a > 0 else inside


def _same_end(left: float, right: float, tolerance: float) -> bool:
    if math.isinf(left) or math.isinf(right) or (left.is_integer() and right.is_integer()):
        return left == right
    return abs(left - right) <= tolerance * max(1.0, abs(left), abs(right))


def _close(left: float, right: float) -> bool:
    return left == right or abs(left - right) <= _TOLERANCE * max(1.0, abs(left), abs(right))

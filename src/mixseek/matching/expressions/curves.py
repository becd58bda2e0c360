"""Whether two equations describe the same curve."""

from fractions import Fraction
from typing import Final

from mixseek.matching.expressions.equality import close, sample_point
from mixseek.matching.expressions.evaluation import Value, evaluate, magnitude, symbols_in
from mixseek.matching.expressions.findings import Finding, different, same, unsure
from mixseek.matching.expressions.meaning import Equation
from mixseek.matching.expressions.tree import Negative, Node, Sum, UnreadableExpressionError

_PROBES: Final = (Fraction(0), Fraction(1), Fraction(2))


def compare_curves(answer: Equation | None, gold: Equation | None) -> Finding:
    """The same curve: proportional, or each vanishes where the other does."""
    if answer is None or gold is None:
        return unsure("equation")
    ours, theirs = _difference(answer), _difference(gold)
    names = sorted(symbols_in(ours) | symbols_in(theirs))
    if not names or symbols_in(ours) != symbols_in(theirs):
        return unsure("equation")
    ratios: list[Value] = []
    try:
        for index in range(4):
            point = sample_point(names, index, signed=index % 2 == 1)
            ratios.append(evaluate(ours, point) / evaluate(theirs, point))
    except (UnreadableExpressionError, ArithmeticError):
        return unsure("equation")
    if all(close(ratio, ratios[0]) for ratio in ratios) and ratios[0] != 0:
        return same("equation")
    return _compare_zero_sets(ours, theirs, names)


def _difference(equation: Equation) -> Node:
    return Sum((equation.left, Negative(equation.right)))


def _compare_zero_sets(ours: Node, theirs: Node, names: list[str]) -> Finding:
    """Points on one curve are put into the other; only a variable in which a curve is linear gives such points."""
    here, there = _vanishes_on(ours, theirs, names), _vanishes_on(theirs, ours, names)
    if here and there:
        return same("equation")
    if here is False or there is False:
        return different("equation")
    return unsure("equation")


def _vanishes_on(node: Node, curve: Node, names: list[str]) -> bool | None:
    for name in names:
        results: list[bool] = []
        for index in range(3):
            point = sample_point(names, index, signed=False)
            root = _linear_root(curve, name, point)
            if root is None:
                break
            try:
                value = evaluate(node, {**point, name: root})
                scale = max(1.0, magnitude(evaluate(node, point)))
            except (UnreadableExpressionError, OverflowError):
                break
            results.append(magnitude(value) <= 1e-7 * scale)
        if len(results) == 3:
            return all(results)
    return None


def _linear_root(curve: Node, name: str, point: dict[str, Value]) -> Value | None:
    try:
        at_zero, at_one, at_two = (evaluate(curve, {**point, name: value}) for value in _PROBES)
        slope = at_one - at_zero
        if magnitude(slope) < 1e-12 or not close(at_two - at_one, slope):
            return None
        return -at_zero / slope
    except (UnreadableExpressionError, ArithmeticError):
        return None

"""The number a scalar tree stands for: exact while it stays rational, a float or complex otherwise."""

import cmath
import math
import zlib
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Final

from mixseek.matching.expressions.tree import (
    Call,
    Constant,
    Degrees,
    Negative,
    Node,
    Number,
    Percent,
    PlusMinus,
    Power,
    Product,
    Quotient,
    Ratio,
    Sum,
    Symbol,
    UnreadableExpressionError,
    children_of,
)

Value = Fraction | float | complex
Point = Mapping[str, Value]

# 2^20000 takes microseconds; a tower of powers would take for ever, so larger results are declined.
MAX_BITS: Final = 20_000
MAX_FACTORIAL: Final = 400
_CONSTANTS: Final[Mapping[str, Value]] = {"pi": math.pi, "e": math.e, "i": 1j, "infinity": math.inf}


def evaluate(node: Node, point: Point) -> Value:
    """Raises UnreadableExpressionError where the value is undefined, unknown or too big."""
    try:
        value = _evaluate(node, point)
    except (ArithmeticError, ValueError, TypeError) as error:
        raise UnreadableExpressionError("no value") from error
    if not isinstance(value, Fraction) and cmath.isnan(value):
        raise UnreadableExpressionError("no value")
    return value


def magnitude(value: Value) -> float:
    """The absolute value as a float; OverflowError beyond its range."""
    return float(abs(value)) if isinstance(value, Fraction) else float(abs(value.real + value.imag * 1j))


def symbols_in(node: Node) -> frozenset[str]:
    """Names of the variables a scalar depends on."""
    if isinstance(node, Symbol):
        return frozenset((node.name,))
    if isinstance(node, Ratio):
        return frozenset().union(*map(symbols_in, node.parts))
    return frozenset().union(*map(symbols_in, children_of(node)))


def calls_in(node: Node) -> frozenset[str]:
    """Names of the functions a scalar applies; a logarithm that states its base is "logarithm"."""
    own: frozenset[str] = frozenset()
    if isinstance(node, Call):
        own = frozenset(("logarithm" if node.name == "log" and len(node.arguments) > 1 else node.name,))
    return own.union(*map(calls_in, children_of(node)))


def _evaluate(node: Node, point: Point) -> Value:
    evaluator = _EVALUATORS.get(type(node))
    if evaluator is None:
        raise UnreadableExpressionError(f"{type(node).__name__} has no value")
    return evaluator(node, point)


def _number(node: Number, _: Point) -> Value:
    return node.value


def _constant(node: Constant, _: Point) -> Value:
    return _CONSTANTS[node.name]


def _symbol(node: Symbol, point: Point) -> Value:
    value = point.get(node.name)
    if value is None:
        raise UnreadableExpressionError("free variable")
    return value


def _sum(node: Sum, point: Point) -> Value:
    total = _evaluate(node.terms[0], point)
    for term in node.terms[1:]:
        total = total + _evaluate(term, point)
    return total


def _product(node: Product, point: Point) -> Value:
    total = _evaluate(node.factors[0], point)
    for factor in node.factors[1:]:
        total = _bounded(total * _evaluate(factor, point))
    return total


def _quotient(node: Quotient, point: Point) -> Value:
    return _bounded(_evaluate(node.numerator, point) / _evaluate(node.denominator, point))


def _negative(node: Negative, point: Point) -> Value:
    return -_evaluate(node.inner, point)


def _plus(node: PlusMinus, point: Point) -> Value:
    value = _evaluate(node.inner, point)
    return value if node.first > 0 else -value


def _degrees(node: Degrees, point: Point) -> Value:
    return _evaluate(node.inner, point) * math.pi / 180


def _percent(node: Percent, point: Point) -> Value:
    return _evaluate(node.inner, point) / Fraction(100)


def _ratio(node: Ratio, point: Point) -> Value:
    if len(node.parts) != 2:
        raise UnreadableExpressionError("a ratio of several parts is no number")
    return _evaluate(node.parts[0], point) / _evaluate(node.parts[1], point)


def _power(node: Power, point: Point) -> Value:
    return raise_to(_evaluate(node.base, point), _evaluate(node.exponent, point))


def raise_to(base: Value, exponent: Value) -> Value:
    """Exact for a rational base and an integer exponent, and for square roots of squares."""
    if isinstance(base, Fraction) and isinstance(exponent, Fraction):
        if exponent.denominator == 1:
            size = max(base.numerator.bit_length(), base.denominator.bit_length())
            if size * abs(exponent.numerator) > MAX_BITS:
                raise UnreadableExpressionError("power too big")
            return base**exponent.numerator
        if exponent.denominator == 2 and base >= 0:
            root = _exact_square_root(base)
            if root is not None:
                return raise_to(root, Fraction(exponent.numerator))
        return _inexact(base) ** float(exponent)
    if isinstance(exponent, Fraction) and exponent.denominator == 1 and abs(exponent.numerator) < 1_000:
        return _inexact(base) ** exponent.numerator
    result: Value = _inexact(base) ** _inexact(exponent)
    return result


def _exact_square_root(value: Fraction) -> Fraction | None:
    top, bottom = math.isqrt(value.numerator), math.isqrt(value.denominator)
    if top * top == value.numerator and bottom * bottom == value.denominator:
        return Fraction(top, bottom)
    return None


def _call(node: Call, point: Point) -> Value:
    arguments = [_evaluate(argument, point) for argument in node.arguments]
    function = _FUNCTIONS.get(node.name)
    if function is not None:
        return function(*arguments)
    return _unknown_function(node.name, arguments)


def _unknown_function(name: str, arguments: list[Value]) -> Value:
    """f(x) has no known value: a smooth stand-in that depends on the name and the arguments and on nothing else."""
    seed = zlib.crc32(name.encode())
    total: Value = (seed % 997) / 997
    for place, argument in enumerate(arguments):
        weight = 0.5 + ((seed >> (5 * place)) % 31) / 31
        total = total + cmath.sin(weight * _inexact(argument)).real + weight * _inexact(argument)
    return total


def _square_root(value: Value, index: Value = Fraction(2)) -> Value:
    """The real root where there is one: the cube root of -8 is -2, not a complex number."""
    if not isinstance(index, Fraction) or index.denominator != 1 or not 1 <= index <= 100:
        return raise_to(value, Fraction(1) / index)
    if not isinstance(value, complex) and value < 0 and index.numerator % 2:
        return -_square_root(-value, index)
    root = raise_to(value, 1 / index)
    if isinstance(value, Fraction) and isinstance(root, float) and abs(root) < 1e12:
        nearest = Fraction(round(root))
        if nearest**index.numerator == value:
            return nearest
    return root


def _real(function: Callable[[float], float], value: Value) -> float:
    if isinstance(value, complex):
        raise UnreadableExpressionError("complex argument")
    return function(float(value))


def _logarithm(value: Value, base: Value | None = None) -> Value:
    """log without a base is decimal in school mathematics and natural in analysis: the comparer tries both."""
    if base is None:
        return _natural(value) / math.log(10)
    return _natural(value) / _natural(base)


def _natural(value: Value) -> Value:
    if isinstance(value, Fraction):
        if value > 0:
            return math.log(value.numerator) - math.log(value.denominator)
        return cmath.log(float(value))
    if isinstance(value, float) and value > 0:
        return math.log(value)
    return cmath.log(value)


def _factorial(value: Value) -> Value:
    if isinstance(value, complex):
        raise UnreadableExpressionError("complex factorial")
    if isinstance(value, Fraction) and value.denominator == 1:
        if not 0 <= value <= MAX_FACTORIAL:
            raise UnreadableExpressionError("factorial too big")
        return Fraction(math.factorial(value.numerator))
    return math.gamma(float(value) + 1)


def _binomial(top: Value, bottom: Value) -> Value:
    if isinstance(top, Fraction) and isinstance(bottom, Fraction) and top.denominator == bottom.denominator == 1:
        if not 0 <= top <= 5_000 or not 0 <= bottom <= MAX_FACTORIAL:
            raise UnreadableExpressionError("binomial too big")
        return Fraction(math.comb(top.numerator, bottom.numerator))
    return _factorial(top) / (_factorial(bottom) * _factorial(top - bottom))


def _whole(values: tuple[Value, ...]) -> list[int]:
    if not all(isinstance(value, Fraction) and value.denominator == 1 for value in values):
        raise UnreadableExpressionError("not whole")
    return [int(value.real) for value in values]


def _rounded(function: Callable[[float], int], value: Value) -> Value:
    if isinstance(value, Fraction):
        return Fraction(math.floor(value) if function is math.floor else math.ceil(value))
    return Fraction(function(_real(float, value)))


def _extreme(function: Callable[[list[float]], float], values: tuple[Value, ...]) -> Value:
    if any(isinstance(value, complex) for value in values):
        raise UnreadableExpressionError("complex order")
    return function([float(value) for value in values if not isinstance(value, complex)])


def _bounded(value: Value) -> Value:
    if isinstance(value, Fraction) and value.numerator.bit_length() + value.denominator.bit_length() > MAX_BITS:
        raise UnreadableExpressionError("number too big")
    return value


def _inexact(value: Value) -> float | complex:
    return float(value) if isinstance(value, Fraction) else value


def _trigonometric(function: Callable[[complex], complex]) -> Callable[[Value], Value]:
    def apply(value: Value) -> Value:
        result = function(_inexact(value))
        return result.real if isinstance(value, Fraction | float) and abs(result.imag) < 1e-15 else result

    return apply


def _reciprocal(function: Callable[[complex], complex]) -> Callable[[Value], Value]:
    return _trigonometric(lambda value: 1 / function(value))


def _of_reciprocal(function: Callable[[complex], complex]) -> Callable[[Value], Value]:
    return _trigonometric(lambda value: function(1 / value))


_FUNCTIONS: Final[Mapping[str, Callable[..., Value]]] = {
    "sqrt": _square_root,
    "root": _square_root,
    "cbrt": lambda value: _square_root(value, Fraction(3)),
    "ln": _natural,
    "log": _logarithm,
    "lg": _logarithm,
    "exp": lambda value: cmath.exp(value) if isinstance(value, complex) else math.exp(value),
    "abs": abs,
    "floor": lambda value: _rounded(math.floor, value),
    "ceil": lambda value: _rounded(math.ceil, value),
    "factorial": _factorial,
    "binom": _binomial,
    "max": lambda *values: _extreme(max, values),
    "min": lambda *values: _extreme(min, values),
    "gcd": lambda *values: Fraction(math.gcd(*_whole(values))),
    "lcm": lambda *values: Fraction(math.lcm(*_whole(values))),
    "sin": _trigonometric(cmath.sin),
    "cos": _trigonometric(cmath.cos),
    "tan": _trigonometric(cmath.tan),
    "cot": _reciprocal(cmath.tan),
    "sec": _reciprocal(cmath.cos),
    "csc": _reciprocal(cmath.sin),
    "arcsin": _trigonometric(cmath.asin),
    "arccos": _trigonometric(cmath.acos),
    "arctan": _trigonometric(cmath.atan),
    "arccot": _of_reciprocal(cmath.atan),
    "arcsec": _of_reciprocal(cmath.acos),
    "arccsc": _of_reciprocal(cmath.asin),
    "sinh": _trigonometric(cmath.sinh),
    "cosh": _trigonometric(cmath.cosh),
    "tanh": _trigonometric(cmath.tanh),
    "arsinh": _trigonometric(cmath.asinh),
    "arcosh": _trigonometric(cmath.acosh),
    "artanh": _trigonometric(cmath.atanh),
}
_EVALUATORS: Final[Mapping[type, Callable[..., Value]]] = {
    Number: _number,
    Constant: _constant,
    Symbol: _symbol,
    Sum: _sum,
    Product: _product,
    Quotient: _quotient,
    Power: _power,
    Negative: _negative,
    PlusMinus: _plus,
    Degrees: _degrees,
    Percent: _percent,
    Ratio: _ratio,
    Call: _call,
}

"""From tree to meaning."""

import math
from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import Final

from mixseek.matching.expressions import real_sets
from mixseek.matching.expressions.evaluation import evaluate, symbols_in
from mixseek.matching.expressions.meaning import (
    Domain,
    Equation,
    Grid,
    Items,
    Meaning,
    Named,
    Ordering,
    Pair,
    Phrase,
    Qualified,
    Region,
    Scalar,
    as_region,
    end_of,
)
from mixseek.matching.expressions.names import WORDS_FOR_EVERYTHING, WORDS_FOR_NOTHING
from mixseek.matching.expressions.real_sets import Pieces
from mixseek.matching.expressions.tree import (
    SCALARS,
    Bracketed,
    Builder,
    Call,
    Chain,
    Collection,
    Constant,
    Degrees,
    Listing,
    Matrix,
    NamedSet,
    Negative,
    Node,
    Number,
    Percent,
    PlusMinus,
    Power,
    Product,
    Quantity,
    Quotient,
    Ratio,
    SetOperation,
    Symbol,
    UnreadableExpressionError,
    Words,
    children_of,
    with_children,
)
from mixseek.matching.expressions.units import canonical_unit

_EQUALITIES: Final = frozenset("=≈")
_ORDERS: Final = frozenset("<>≤≥≠")
_DEGREE_UNITS: Final = frozenset({"degree", "deg"})


def interpret(node: Node) -> Meaning:
    """Raises UnreadableExpressionError for arrangements that mean nothing to us."""
    match node:
        case Words():
            return _phrase(node.text)
        case Quantity():
            return _quantity(node)
        case Ratio():
            return _ratio(node)
        case Bracketed():
            return _bracketed(node)
        case Collection():
            return Items(tuple(_flattened(map(interpret, node.items))), "set")
        case Builder():
            return interpret(node.condition)
        case NamedSet():
            return _named_set(node)
        case SetOperation():
            return _set_operation(node)
        case Chain():
            return _chain(node)
        case Listing():
            return _listing(node)
        case Matrix():
            return Grid(tuple(tuple(map(interpret, row)) for row in node.rows))
        case Product() if any(isinstance(factor, Matrix) for factor in node.factors):
            return _scaled_matrix(node)
        case _:
            return _scalar(node)


def _phrase(text: str) -> Meaning:
    lowered = text.lower()
    if lowered in WORDS_FOR_EVERYTHING:
        return Region(real_sets.EVERYTHING)
    return Region(real_sets.NOTHING) if lowered in WORDS_FOR_NOTHING else Phrase(text)


def plain_scalar(text: str) -> Scalar:
    """A number in plain digits, without the detour through the parser."""
    decimals = len(text.partition(".")[2])
    value = Fraction(int(text.replace(".", "")), 10**decimals)
    place = Fraction(1, 10**decimals) if decimals else None
    return Scalar(Number(value, place), frozenset(), value, place)


def _scalar(node: Node, unit: str = "") -> Meaning:
    if not _is_scalar(node):
        raise UnreadableExpressionError("structure inside a value")
    if _has_signs(node):
        return Items((_scalar(_with_signs(node, 1), unit), _scalar(_with_signs(node, -1), unit)), "both")
    percent = isinstance(node, Percent)
    inner = node.inner if isinstance(node, Percent) else node
    bare = _without_degrees(inner)
    degrees = bare is not inner
    symbols = symbols_in(bare)
    value = None if symbols else evaluate(bare, {})
    return Scalar(bare, symbols, value, written_precision(bare), percent, degrees, unit)


def _quantity(node: Quantity) -> Meaning:
    unit = canonical_unit(node.unit)
    inner = node.inner
    if isinstance(inner, Ratio) or not isinstance(inner, SCALARS):
        return interpret(inner)
    if unit in _DEGREE_UNITS:
        return _scalar(Degrees(inner))
    return _scalar(inner, unit)


def written_precision(node: Node) -> Fraction | None:
    """The weight of the last written digit of a decimal, 3.0 × 10⁸ included; None for what is exact."""
    match node:
        case Number():
            return node.last_place
        case Negative() | Percent() | Degrees():
            return written_precision(node.inner)
        case Product(factors=(Number(last_place=Fraction() as last_place), Power(base=Number(value=ten)) as power)):
            exponent = evaluate(power.exponent, {}) if not symbols_in(power.exponent) else None
            if ten == 10 and isinstance(exponent, Fraction) and abs(exponent) < 400 and exponent.denominator == 1:
                return last_place * ten**exponent.numerator
            return None
        case _:
            return None


def _is_scalar(node: Node) -> bool:
    return isinstance(node, (*SCALARS, Ratio)) and all(map(_is_scalar, children_of(node)))


def _has_signs(node: Node) -> bool:
    return isinstance(node, PlusMinus) or any(map(_has_signs, children_of(node)))


def _with_signs(node: Node, sign: int) -> Node:
    if isinstance(node, PlusMinus):
        inner = _with_signs(node.inner, sign)
        return inner if node.first * sign > 0 else Negative(inner)
    return with_children(node, lambda child: _with_signs(child, sign))


def _without_degrees(node: Node) -> Node:
    """30° is 30 with a unit, but sin 30° needs the angle: degrees stay inside functions."""
    match node:
        case Degrees():
            return _without_degrees(node.inner)
        case Call() | Number() | Symbol() | Constant():
            return node
        case _:
            changed = with_children(node, _without_degrees)
            return node if changed == node else changed


def _ratio(node: Ratio) -> Meaning:
    if len(node.parts) == 2:
        return _scalar(Quotient(*node.parts))
    first = node.parts[0]
    return Items(tuple(_scalar(Quotient(part, first)) for part in node.parts[1:]), "tuple")


def _bracketed(node: Bracketed) -> Meaning:
    members = tuple(map(interpret, node.items))
    if node.opening == "⟨" or len(members) != 2:
        if node.opening + node.closing not in {"()", "[]", "⟨⟩"}:
            raise UnreadableExpressionError("brackets do not match")
        return Items(members, "tuple")
    brackets = node.opening + node.closing
    pair = Pair(members[0], members[1], "()" if brackets == "()" else "[]")
    infinite = any(_is_infinite(member) for member in members)
    if brackets in {"()", "[]"} and not infinite:
        return pair
    if brackets not in {"()", "[]", "(]", "[)"}:
        raise UnreadableExpressionError("brackets do not match")
    low, high = end_of(members[0]), end_of(members[1])
    return Region(real_sets.interval(low, high, node.opening == "[", node.closing == "]"))


def _is_infinite(meaning: Meaning) -> bool:
    return isinstance(meaning, Scalar) and isinstance(meaning.value, float) and math.isinf(meaning.value)


def _named_set(node: NamedSet) -> Meaning:
    if node.name == "R":
        return Region(real_sets.EVERYTHING)
    return Domain(node.name) if node.name else Region(real_sets.NOTHING)


def _set_operation(node: SetOperation) -> Meaning:
    left, right = interpret(node.left), interpret(node.right)
    if (
        isinstance(left, Items)
        and isinstance(right, Items)
        and left.kind == right.kind == "set"
        and node.operator == "∪"
    ):
        return Items(left.members + right.members, "set")
    one, other = as_region(left), as_region(right)
    if one is None or other is None:
        raise UnreadableExpressionError("sets we cannot combine")
    if node.operator == "∪":
        return Region(real_sets.union(one, other))
    return Region(real_sets.intersection(one, other if node.operator == "∩" else real_sets.complement(other)))


def _chain(node: Chain) -> Meaning:
    operators = set(node.operators)
    if operators <= _EQUALITIES:
        return _equality(node)
    if node.operators == ("∈",):
        value = interpret(node.operands[1])
        region = as_region(value) if isinstance(value, Pair) else None
        return Named(node.texts[0], value if region is None else Region(region))
    if "∈" in operators or not operators & _ORDERS or "≈" in operators:
        raise UnreadableExpressionError("mixed relations")
    pieces = real_sets.solve_chain(node.operands, node.operators)
    if pieces is not None:
        return Named(_variable_of(node), Region(pieces))
    return Ordering(tuple(map(interpret, node.operands)), node.operators)


def _variable_of(node: Chain) -> str:
    return next(iter(frozenset().union(*map(symbols_in, node.operands))), "")


def _equality(node: Chain) -> Meaning:
    first, last = node.operands[0], node.operands[-1]
    equation = Equation(first, last) if _is_scalar(first) and _is_scalar(last) else None
    if is_name(first):
        steps = tuple(_readable(node.operands[1:-1]))
        return Named(node.texts[0], interpret(last), equation, steps)
    if isinstance(last, Symbol) and len(node.operands) == 2 and not symbols_in(first):
        return Named(node.texts[-1], interpret(first), equation)
    if equation is None:
        raise UnreadableExpressionError("equation between structures")
    if all(not symbols_in(operand) for operand in node.operands):
        return Named("", interpret(last), None, tuple(_readable(node.operands[:-1])))
    return equation


def _readable(nodes: tuple[Node, ...]) -> list[Meaning]:
    found: list[Meaning] = []
    for node in nodes:
        try:
            found.append(interpret(node))
        except UnreadableExpressionError:
            continue
    return found


def is_name(node: Node) -> bool:
    """A left side that only names what follows: x, f(x), AB, (p, q), V₁ : V₂, |AB|, words."""
    match node:
        case Symbol() | Words():
            return True
        case Call():
            return bool(node.arguments) and (len(node.name) <= 2 or all(map(is_name, node.arguments)))
        case Product():
            return all(isinstance(factor, Symbol) and factor.name[0].isupper() for factor in node.factors)
        case Bracketed():
            return all(map(is_name, node.items))
        case Ratio():
            return all(map(is_name, node.parts))
        case Quantity():
            return is_name(node.inner)
        case _:
            return False


def _listing(node: Listing) -> Meaning:
    if len(node.items) == 1:
        return interpret(node.items[0])
    members = list(_flattened(map(interpret, node.items)))
    if len(members) > 1 and isinstance(members[-1], Named) and isinstance(members[-1].value, Domain):
        return Qualified(_listing(Listing(node.items[:-1], node.joiner)))
    if any(isinstance(member, Named) and isinstance(member.value, Region) for member in members):
        combined = _combined_regions(members, node.joiner)
        if combined is not None:
            return combined
    named = [member for member in members if isinstance(member, Named)]
    if len(named) == len(members) and len({member.name for member in named}) == 1:
        return Named(named[0].name, Items(tuple(member.value for member in named), "set"))
    if len(named) == 1 and members[0] is named[0] and all(isinstance(member, Scalar) for member in members[1:]):
        return Named(named[0].name, Items((named[0].value, *members[1:]), "set"))
    return Items(tuple(members), "list")


def _flattened(meanings: Iterable[Meaning]) -> Iterator[Meaning]:
    """A ± among the items stands for two items."""
    for meaning in meanings:
        if isinstance(meaning, Items) and meaning.kind == "both":
            yield from meaning.members
        else:
            yield meaning


def _combined_regions(members: list[Meaning], joiner: str) -> Meaning | None:
    """x < 1 or x > 3; x > 1 and x < 3; a comma means whichever is not trivial."""
    parts: list[Pieces] = []
    names: set[str] = set()
    for member in members:
        if not isinstance(member, Named) or not isinstance(member.value, Region):
            return None
        parts.append(member.value.pieces)
        names.add(member.name)
    if len(names) != 1:
        return None
    either, both = parts[0], parts[0]
    for part in parts[1:]:
        either, both = real_sets.union(either, part), real_sets.intersection(both, part)
    if joiner == "or" or not both:
        chosen = either
    elif joiner == "and" or either == real_sets.EVERYTHING:
        chosen = both
    else:
        return None
    return Named(names.pop(), Region(chosen))


def _scaled_matrix(node: Product) -> Meaning:
    matrices = [factor for factor in node.factors if isinstance(factor, Matrix)]
    if len(matrices) != 1:
        raise UnreadableExpressionError("product of matrices")
    others = tuple(factor for factor in node.factors if not isinstance(factor, Matrix))
    return Grid(tuple(tuple(interpret(Product((*others, cell))) for cell in row) for row in matrices[0].rows))

"""What an expression means: a scalar, an arrangement of scalars, a set of reals, an equation, a phrase."""

from dataclasses import dataclass
from fractions import Fraction

from mixseek.matching.expressions import real_sets
from mixseek.matching.expressions.evaluation import Value
from mixseek.matching.expressions.real_sets import Pieces
from mixseek.matching.expressions.tree import Node, UnreadableExpressionError


@dataclass(frozen=True, slots=True)
class Scalar:
    """`value` is None while variables are free; `last_place` is set for a decimal literal."""

    node: Node
    symbols: frozenset[str]
    value: Value | None
    last_place: Fraction | None = None
    percent: bool = False
    degrees: bool = False
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Items:
    """`kind`: tuple (order counts), set (it does not), both (the two signs of ±), list (no brackets were written)."""

    members: tuple["Meaning", ...]
    kind: str


@dataclass(frozen=True, slots=True)
class Pair:
    """(a, b) or [a, b]: two coordinates or an interval."""

    low: "Meaning"
    high: "Meaning"
    brackets: str  # () or []


@dataclass(frozen=True, slots=True)
class Region:
    pieces: Pieces


@dataclass(frozen=True, slots=True)
class Named:
    """x = 5, f(x) = …, x ∈ S: the value with what it was called; `equation` is kept for comparing curves."""

    name: str
    value: "Meaning"
    equation: "Equation | None" = None
    steps: tuple["Meaning", ...] = ()  # what stood between the name and the value in a chain


@dataclass(frozen=True, slots=True)
class Equation:
    left: Node
    right: Node


@dataclass(frozen=True, slots=True)
class Ordering:
    """A chain of inequalities that is no set of reals in one variable."""

    operands: tuple["Meaning", ...]
    operators: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Grid:
    rows: tuple[tuple["Meaning", ...], ...]


@dataclass(frozen=True, slots=True)
class Phrase:
    text: str


@dataclass(frozen=True, slots=True)
class Domain:
    """ℤ, ℕ, ℚ or ℂ."""

    name: str


@dataclass(frozen=True, slots=True)
class Qualified:
    """2kπ, k ∈ ℤ: a value with a condition on its letters."""

    value: "Meaning"


Meaning = Scalar | Items | Pair | Region | Named | Equation | Ordering | Grid | Phrase | Domain | Qualified


def as_region(meaning: Meaning) -> Pieces | None:
    """The set of reals a meaning can be read as; None when it is none."""
    try:
        match meaning:
            case Region():
                return meaning.pieces
            case Pair():
                closed = meaning.brackets == "[]"
                return real_sets.interval(end_of(meaning.low), end_of(meaning.high), closed, closed)
            case Items(kind="set" | "list" | "both"):
                return real_sets.points([end_of(member) for member in meaning.members])
            case Scalar():
                return real_sets.points([end_of(meaning)])
            case _:
                return None
    except UnreadableExpressionError:
        return None


def end_of(meaning: Meaning) -> float:
    """A real constant, as the end of an interval; raises when it is none."""
    if not isinstance(meaning, Scalar) or meaning.value is None:
        raise UnreadableExpressionError("no constant")
    return real_sets.as_real(meaning.value)

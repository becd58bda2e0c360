"""What a written expression says, as a tree; nothing is computed here.

Scalar nodes can be evaluated at a point; structure nodes hold scalars in an arrangement (a tuple, a set, a relation).
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction


class UnreadableExpressionError(ValueError):
    """The text is not an expression this package reads, or it is too big to evaluate; callers answer undecided."""


@dataclass(frozen=True, slots=True)
class Number:
    """A literal. `last_place` is the weight of its last written decimal; None for an integer, which is exact."""

    value: Fraction
    last_place: Fraction | None = None


@dataclass(frozen=True, slots=True)
class Constant:
    """pi, e, i or infinity."""

    name: str


@dataclass(frozen=True, slots=True)
class Symbol:
    """A variable, subscript included in the name."""

    name: str


@dataclass(frozen=True, slots=True)
class Words:
    """Text inside the mathematics that is neither a unit nor a name of a function."""

    text: str


@dataclass(frozen=True, slots=True)
class Sum:
    terms: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Product:
    factors: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Quotient:
    numerator: "Node"
    denominator: "Node"


@dataclass(frozen=True, slots=True)
class Power:
    base: "Node"
    exponent: "Node"


@dataclass(frozen=True, slots=True)
class Negative:
    inner: "Node"


@dataclass(frozen=True, slots=True)
class PlusMinus:
    """Both signs at once; `first` is the upper sign, so that ± and ∓ in one expression stay linked."""

    inner: "Node"
    first: int


@dataclass(frozen=True, slots=True)
class Call:
    """A known function (sqrt, sin, …) or an unknown one such as f."""

    name: str
    arguments: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Degrees:
    inner: "Node"


@dataclass(frozen=True, slots=True)
class Percent:
    inner: "Node"


@dataclass(frozen=True, slots=True)
class Quantity:
    """A value followed by words: `5 cm`, `125 miles away`."""

    inner: "Node"
    unit: str


@dataclass(frozen=True, slots=True)
class Ratio:
    parts: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Bracketed:
    """Several items between ( [ ⟨ and ) ] ⟩: a tuple or an interval, which only the context tells."""

    opening: str
    closing: str
    items: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Collection:
    r"""\{…\}: a finite set."""

    items: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Builder:
    """{x | condition}."""

    element: "Node"
    condition: "Node"


@dataclass(frozen=True, slots=True)
class NamedSet:
    """ℝ, ℤ, ℕ, ℚ, ℂ or ∅, by its letter ("" for the empty set)."""

    name: str


@dataclass(frozen=True, slots=True)
class SetOperation:
    operator: str  # ∪ ∩ ∖
    left: "Node"
    right: "Node"


@dataclass(frozen=True, slots=True)
class Chain:
    """a < b ≤ c; `texts` are the operands as written, which serve as names."""

    operands: tuple["Node", ...]
    operators: tuple[str, ...]
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Listing:
    """Items with no bracket around them; `joiner` is the weakest separator seen: , ; and or."""

    items: tuple["Node", ...]
    joiner: str


@dataclass(frozen=True, slots=True)
class Matrix:
    rows: tuple[tuple["Node", ...], ...]


Node = (
    Number
    | Constant
    | Symbol
    | Words
    | Sum
    | Product
    | Quotient
    | Power
    | Negative
    | PlusMinus
    | Call
    | Degrees
    | Percent
    | Quantity
    | Ratio
    | Bracketed
    | Collection
    | Builder
    | NamedSet
    | SetOperation
    | Chain
    | Listing
    | Matrix
)

SCALARS = (Number, Constant, Symbol, Sum, Product, Quotient, Power, Negative, PlusMinus, Call, Degrees, Percent)


def children_of(node: Node) -> tuple[Node, ...]:
    """The parts of a scalar node; leaves and structures have none."""
    match node:
        case Sum():
            return node.terms
        case Product():
            return node.factors
        case Quotient():
            return (node.numerator, node.denominator)
        case Power():
            return (node.base, node.exponent)
        case Negative() | PlusMinus() | Degrees() | Percent():
            return (node.inner,)
        case Call():
            return node.arguments
        case _:
            return ()


def with_children(node: Node, change: Callable[[Node], Node]) -> Node:
    """The same scalar node with each part changed; leaves and structures come back as they are."""
    match node:
        case Sum():
            return Sum(tuple(map(change, node.terms)))
        case Product():
            return Product(tuple(map(change, node.factors)))
        case Quotient():
            return Quotient(change(node.numerator), change(node.denominator))
        case Power():
            return Power(change(node.base), change(node.exponent))
        case Negative():
            return Negative(change(node.inner))
        case PlusMinus():
            return PlusMinus(change(node.inner), node.first)
        case Degrees():
            return Degrees(change(node.inner))
        case Percent():
            return Percent(change(node.inner))
        case Call():
            return Call(node.name, tuple(map(change, node.arguments)))
        case _:
            return node

"""What a result shows, as plain data: sections of sentences and tables, without a word about terminals or pages."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import singledispatch

# What stands beside the point.
QUIET = "dim"


@dataclass(frozen=True, slots=True)
class Bar:
    """A share of the longest bar, which is `width` characters where characters are all there is."""

    share: float
    width: int
    style: str = "blue"


# A text, a text with its style, or a bar.
Cell = str | tuple[str, str] | Bar


@dataclass(frozen=True, slots=True)
class Sentence:
    """One line of words; quiet, unless it is the point. A command or a path is never broken over two lines."""

    text: str
    style: str = QUIET
    is_unbroken: bool = False


@dataclass(frozen=True, slots=True)
class TableRows:
    """A head that begins with `>` is of numbers, one with `|` of pictures; rows beyond `limit` are only counted."""

    heads: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    limit: int | None = None


@dataclass(frozen=True, slots=True)
class Facts:
    """Lines of a word and what it says."""

    lines: Sequence[tuple[str, str]]


Part = Sentence | Facts | TableRows


@dataclass(frozen=True, slots=True)
class Section:
    """Parts below a heading; an empty one sets them apart all the same, without one (None) they follow what is before.

    Below a heading tables without rows are left out, and so is a heading above nothing.
    """

    title: str | None
    parts: Sequence[Part]


@singledispatch
def sections_of(result: object) -> Iterator[Section]:
    """Everything that a result shows, in order; each result registers its own."""
    raise TypeError(f"{type(result).__name__}: no sections")


def notes(texts: Iterable[str]) -> list[Sentence]:
    """Quiet sentences."""
    return [Sentence(text) for text in texts]


def number_cell(count: int, style: str = "") -> tuple[str, str]:
    """Nought is quiet."""
    return f"{count:,}", style if count else QUIET

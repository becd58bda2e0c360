"""What a result shows, as plain data: sections of sentences, facts and tables, without a terminal or a page."""

from collections.abc import Iterable, Iterator, Sequence
from functools import singledispatch
from pathlib import Path

from mixseek.lazy_dataclass import dataclass
from mixseek.text.messages import Message

# What stands beside the point.
QUIET = "dim"
# A place in somebody's text that is pointed at.
MARKED = "marked"
# What somebody else wrote, as it stands, line for line.
VERBATIM = "verbatim"


@dataclass(frozen=True, slots=True)
class Bar:
    """A share of the longest bar, which is `width` characters where characters are all there is.

    Where the rest of its line needs `beside` characters, the bar gives way, down to eight.
    """

    share: float
    width: int
    style: str = "blue"
    beside: int = 0


@dataclass(frozen=True, slots=True)
class IntervalPlot:
    """A mean between 0 and 1 on its axis, with the ends of its interval; without a mean an empty axis."""

    mean: float | None
    ends: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class Words:
    """Texts in one line, some with a style of their own."""

    pieces: Sequence[str | tuple[str, str]]

    @property
    def styled(self) -> Iterator[tuple[str, str]]:
        """Each piece with its style, which may be none."""
        return ((piece, "") if isinstance(piece, str) else piece for piece in self.pieces)


# A text, a text with its style, several of them, or a picture.
Cell = str | tuple[str, str] | Words | Bar | IntervalPlot


@dataclass(frozen=True, slots=True)
class Sentence:
    """One line of words; quiet, unless it is the point. A command or a path is never broken over two lines."""

    text: str | Words
    style: str = QUIET
    is_unbroken: bool = False


# An empty line, where there are lines.
GAP = Sentence("")


@dataclass(frozen=True, slots=True)
class Head:
    """What stands above a column where there is room, and where there is little; None leaves the column out."""

    wide: str | None
    narrow: str | None = None


# Between these two ends an interval is plotted.
PLOT_HEAD = Head("|0%" + " " * 16 + "100%")


@dataclass(frozen=True, slots=True)
class TableRows:
    """A head that begins with `>` is of numbers, one with `|` of pictures; rows beyond `limit` are only counted.

    A terminal of fewer than `wide` characters has little room.
    """

    heads: Sequence[str | Head]
    rows: Sequence[Sequence[Cell]]
    limit: int | None = None
    wide: int = 100

    def columns(self, *, is_wide: bool = True) -> list[tuple[int, str]]:
        """The place and the head of each column that is shown."""
        heads = (head if isinstance(head, str) else head.wide if is_wide else head.narrow for head in self.heads)
        return [(place, head) for place, head in enumerate(heads) if head is not None]

    @property
    def left_out(self) -> int:
        """Rows beyond the limit."""
        return 0 if self.limit is None else max(0, len(self.rows) - self.limit)


@dataclass(frozen=True, slots=True)
class Facts:
    """Lines of a word and what it says."""

    lines: Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Divider:
    """A line across, with a title: what follows is about something else."""

    title: str | Words


@dataclass(frozen=True, slots=True)
class Fitting:
    """A table with what explains it; `otherwise` is shown where the table does not fit."""

    table: TableRows
    legend: Sentence
    otherwise: tuple[TableRows, Sentence]


# What is drawn as it is, and what is chosen from first.
Drawable = Sentence | Facts | TableRows | Divider
Part = Drawable | Fitting


@dataclass(frozen=True, slots=True)
class Section:
    """Parts below a heading; an empty one sets them apart all the same, without one (None) they follow what is before.

    Below a heading tables without rows are left out, and so is a heading above nothing.
    """

    title: str | None
    parts: Sequence[Part]
    is_indented: bool = False


@singledispatch
def sections_of(result: object) -> Iterator[Section]:
    """Everything that a result shows, in order; each result registers its own."""
    raise TypeError(f"{type(result).__name__}: no sections")


def head_text(head: str) -> str:
    """The head without the mark of its kind; a message is one still."""
    text = head[1:].strip() if head.startswith((">", "|")) else head
    return Message(text, head.id, head.parts) if isinstance(head, Message) else text


def number_head(words: Message) -> Message:
    """The head of a column of numbers, which other languages have words for."""
    return Message(f">{words}", words.id, words.parts)


def is_empty(part: Part) -> bool:
    """A table without rows, or an empty line."""
    return part == GAP or (isinstance(part, TableRows) and not part.rows)


def notes(texts: Iterable[str]) -> list[Sentence]:
    """Quiet sentences; empty ones are nothing to say."""
    return [Sentence(text) for text in texts if text]


def unbroken_lines(*lines: str, is_indented: bool = False) -> Section:
    """Lines that stay as long as they are, as in a log."""
    return Section(None, [Sentence(line, "", is_unbroken=True) for line in lines], is_indented)


def page_section(path: Path | str, word: str = "Page") -> Section:
    """Where a page is, in one line: a path that is broken over two cannot be opened."""
    return Section(None, [Sentence(Words([(f"{word}  ", QUIET), str(path)]), "", is_unbroken=True)])


def shown_sections(result: object, page: Path | None = None) -> Iterator[Section]:
    """All sections of a result, and where its page is."""
    yield from sections_of(result)
    if page is not None:
        yield Section(None, [GAP])
        yield page_section(page)


def number_cell(count: int, style: str = "") -> tuple[str, str]:
    """Nought is quiet."""
    return f"{count:,}", style if count else QUIET


def table_by_columns(columns: Sequence[tuple[str | Head, Sequence[Cell]]], limit: int | None = None) -> TableRows:
    """A table whose columns are decided one by one."""
    heads, cells = zip(*columns, strict=True)
    return TableRows(heads, list(zip(*cells, strict=True)), limit)

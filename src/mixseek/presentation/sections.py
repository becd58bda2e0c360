"""What a result shows, as plain data: sections of sentences, facts and tables, without a terminal or a page."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import singledispatch
from pathlib import Path

from mixseek.lazy_dataclass import dataclass
from mixseek.presentation.pictures import (
    SHARES,
    Axis,
    Bar,
    Curve,
    Estimate,
    Histogram,
    IntervalPlot,
    ScatterPoint,
    Series,
    Strip,
)
from mixseek.text.messages import Message, message
from mixseek.text.phrases import plain_number

# What stands beside the point.
QUIET = "dim"
# A place in somebody's text that is pointed at.
MARKED = "marked"
# What somebody else wrote, as it stands, line for line.
VERBATIM = "verbatim"


@dataclass(frozen=True, slots=True)
class Words:
    """Texts in one line, some with a style of their own."""

    pieces: Sequence[str | tuple[str, str]]

    @property
    def styled(self) -> Iterator[tuple[str, str]]:
        """Each piece with its style, which may be none."""
        return ((piece, "") if isinstance(piece, str) else piece for piece in self.pieces)


@dataclass(frozen=True, slots=True)
class Link:
    """Words that lead to exactly the judgments that the filters name, or to a place of the page, where there is one."""

    text: str | Words
    filters: Mapping[str, str | None]
    # What the link is called where the text alone does not say it.
    label: str = ""
    place: str = ""


@dataclass(frozen=True, slots=True)
class Stack:
    """Several cells below each other in the place of one."""

    cells: "Sequence[Cell]"


@dataclass(frozen=True, slots=True)
class Shaded:
    """A cell of a matrix, the darker the larger its share; without one it is set apart, as what cannot be filled."""

    cell: "Cell"
    share: float | None = None


# A text, a text with its style, several of them, a picture, or several of these in one place.
Cell = str | tuple[str, str] | Words | Link | Bar | IntervalPlot | Histogram | Strip | Series | Stack | Shaded


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
    """What stands above a column where there is room, and where there is little; None leaves the column out.

    Above pictures it is their axis; a page has the words of `page` instead of a line of characters.
    """

    wide: str | None
    narrow: str | None = None
    axis: Axis | None = None
    page: str | Words | None = None

    @property
    def on_page(self) -> str | None:
        """A column without a line of characters is one of pictures, which only a page has."""
        return "|" if self.wide is None and self.page is not None else self.wide


# Characters of an interval that is plotted.
PLOT_WIDTH = 22


def plot_head(axis: Axis, *, is_narrow: bool = False) -> Head:
    """The head between whose ends intervals are plotted; with little room they are left out, unless they fit."""
    low, high = axis.ends
    head = f"|{low}{high.rjust(PLOT_WIDTH - len(low))}"
    return Head(head, head if is_narrow else None, axis)


PLOT_HEAD = plot_head(SHARES)


@dataclass(frozen=True, slots=True)
class TableRows:
    """A head that begins with `>` is of numbers, one with `|` of pictures.

    Rows beyond `limit` are only counted; a page of judgments, which people scroll, has all of them, or `page_limit`.
    A terminal of fewer than `wide` characters has little room. `total` is a row below all others, and `values` are what
    rows are sorted by, column by column, where they can be. A page knows a table by its `name`, and whoever cannot see
    it by its `label`.
    """

    heads: Sequence[str | Head]
    rows: Sequence[Sequence[Cell]]
    limit: int | None = None
    wide: int = 100
    total: Sequence[Cell] | None = None
    values: Sequence[Sequence[str | float | None]] | None = None
    name: str = ""
    label: str = ""
    page_limit: int | None = None

    def columns(self, *, is_wide: bool = True, is_page: bool = False) -> list[tuple[int, str]]:
        """The place and the head of each column that is shown."""
        heads = (
            head if isinstance(head, str) else head.on_page if is_page else head.wide if is_wide else head.narrow
            for head in self.heads
        )
        return [(place, head) for place, head in enumerate(heads) if head is not None]

    @property
    def left_out(self) -> int:
        """Rows beyond the limit."""
        return 0 if self.limit is None else max(0, len(self.rows) - self.limit)

    @property
    def shown(self) -> list[Sequence[Cell]]:
        """Rows up to the limit, and their total."""
        return [*self.rows[: self.limit], *([self.total] if self.total is not None else [])]


@dataclass(frozen=True, slots=True)
class Listing:
    """Lines one below the other: `shown` of them where room is scarce; `total` counts also those that are not here.

    With a title they can be folded away, and are where none is shown.
    """

    lines: Sequence[str | Words | Link]
    shown: int | None = None
    total: int = 0
    title: str = ""

    def left_out(self, shown: int) -> int:
        """How many there are beyond so many lines."""
        return max(self.total, len(self.lines)) - shown


@dataclass(frozen=True, slots=True)
class RangeRow:
    """A name, its value with the ends of its interval, and what else is known of it, in the order of the heads.

    `rank` is its place among the others.
    """

    name: Cell
    value: str
    ends: str
    plot: IntervalPlot
    facts: Sequence[Cell]
    rank: str = ""


@dataclass(frozen=True, slots=True)
class Ranges:
    """Estimates with their intervals, drawn below each other on one axis; without an axis there is nothing to draw.

    Heads are of the name, of the value and of each fact. `whole` is all of them together, below; limits are those of
    tables.
    """

    heads: tuple[str, str, Sequence[str]]
    rows: Sequence[RangeRow]
    axis: Axis | None
    limit: int | None = None
    whole: RangeRow | None = None
    page_limit: int | None = None

    def table(self, *, is_drawn: bool = True) -> TableRows:
        """The same where characters are all there is; facts that no row has are left out, and the plots may be."""
        is_drawn = is_drawn and self.axis is not None
        name, value, heads = self.heads
        has_ranks = any(row.rank for row in self.rows)
        every_row = [*self.rows, *([self.whole] if self.whole else [])]
        shown = [place for place, _ in enumerate(heads) if any(row.facts[place] for row in every_row)]
        columns: list[str | Head] = [number_head(message("head.rank", "rank"))] if has_ranks else []
        columns += [name, number_head(value), number_head(message("word.interval_95", "95% interval"))]
        columns += [plot_head(self.axis, is_narrow=True)] if self.axis and is_drawn else []
        columns += [heads[place] for place in shown]
        rows: list[Sequence[Cell]] = []
        for row in every_row:
            ranked: list[Cell] = [(row.rank, QUIET)] if has_ranks else []
            plotted: list[Cell] = [row.plot] if is_drawn else []
            estimate: tuple[Cell, ...] = (row.name, (row.value, "bold"), (row.ends, QUIET))
            rows.append((*ranked, *estimate, *plotted, *(row.facts[place] for place in shown)))
        whole = rows.pop() if self.whole else None
        return TableRows(columns, rows, self.limit, total=whole)


@dataclass(frozen=True, slots=True)
class EstimateRow:
    """One thing estimated in several ways, each in words as well, and how that came about."""

    name: str
    estimates: Sequence[tuple[Estimate, str]]
    note: str
    label: str


@dataclass(frozen=True, slots=True)
class Estimates:
    """Things that are estimated in the same ways, which the heads name; the last way is the one that counts."""

    heads: Sequence[str]
    rows: Sequence[EstimateRow]
    axis: Axis

    @property
    def table(self) -> TableRows:
        """The same where characters are all there is."""
        rows: list[Sequence[Cell]] = []
        for row in self.rows:
            texts = [text for _, text in row.estimates]
            rows.append((row.name, *texts[:-1], (texts[-1], "bold")))
        return TableRows(("", *map(number_head, self.heads)), rows)

    @property
    def notes(self) -> Listing:
        """How the numbers came about, below that table; with one thing there is no need to name it."""
        if len(self.rows) == 1:
            return Listing([row.note for row in self.rows])
        return Listing([Words([(row.name, "bold"), ": ", row.note]) for row in self.rows])


@dataclass(frozen=True, slots=True)
class Scatter:
    """Where two sides put it; heads name both, and what else a row has.

    Where both measure the same they share one axis, and a line shows where they would agree; with an axis of its own
    upwards the points are those of one line. A page has the rows as well where it `has_table`.
    """

    heads: Sequence[str]
    points: Sequence[ScatterPoint]
    axis: Axis
    rows: Sequence[Sequence[Cell]]
    label: str
    up_axis: Axis | None = None
    has_table: bool = False

    @property
    def table(self) -> TableRows:
        """The same where characters are all there is."""
        return TableRows([*map(number_head, self.heads)], self.rows)


@dataclass(frozen=True, slots=True)
class Curves:
    """Lines over the same steps, from the first to the last; heads are of the names and of a step.

    Whoever cannot see them is told the `label`.
    """

    heads: tuple[str, str]
    curves: Sequence[Curve]
    steps: int
    axis: Axis
    label: str

    @property
    def table(self) -> TableRows:
        """The same where characters are all there is."""
        name, step = self.heads
        rows: list[Sequence[Cell]] = []
        for curve in self.curves:
            values = {point.step: plain_number(point.value) for point in curve.points}
            rows.append((curve.name, *(values.get(number, "") for number in range(1, self.steps + 1))))
        return TableRows((name, *(f">{step} {number}" for number in range(1, self.steps + 1))), rows)


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
    """A table with what explains it; `otherwise` is shown where the table does not fit.

    One that `is_for_pages` fits nowhere else, because it has too many rows.
    """

    table: TableRows
    legend: Sentence
    otherwise: tuple[TableRows, Sentence]
    is_for_pages: bool = False


# What is drawn as it is, and what is chosen from first.
Drawable = Sentence | Facts | TableRows | Listing | Ranges | Estimates | Scatter | Curves | Divider
Part = Drawable | Fitting


@dataclass(frozen=True, slots=True)
class Section:
    """Parts below a heading; an empty one sets them apart all the same, without one (None) they follow what is before.

    Below a heading tables without rows are left out, and so is a heading above nothing. `note` says beside the heading
    how to read what is below it, or how it stands, in a style of its own. A page knows a section by its `name`, and
    shows of one that is folded the heading alone, until somebody opens it.
    """

    title: str | None
    parts: Sequence[Part]
    is_indented: bool = False
    note: str | tuple[str, str] = ""
    name: str = ""
    is_folded: bool = False

    @property
    def styled_note(self) -> tuple[str, str]:
        return (self.note, QUIET) if isinstance(self.note, str) else self.note


@singledispatch
def sections_of(result: object) -> Iterator[Section]:
    """Everything that a result shows, in order; each result registers its own."""
    raise TypeError(f"{type(result).__name__}: no sections")


def head_text(head: str) -> str:
    """The head without the mark of its kind; a message is one still."""
    text = head[1:].strip() if head.startswith((">", "|")) else head
    return Message(text, head.id, head.parts) if isinstance(head, Message) else text


def number_head(words: str) -> str:
    """The head of a column of numbers, in other languages where they have words for it."""
    return Message(f">{words}", words.id, words.parts) if isinstance(words, Message) else f">{words}"


def is_empty(part: Part) -> bool:
    """A table without rows, a list without lines, or an empty line."""
    match part:
        case TableRows() | Ranges() | Estimates() | Scatter():
            return not part.rows
        case Listing():
            return not part.lines
        case Curves():
            return not part.curves
        case _:
            return part == GAP


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

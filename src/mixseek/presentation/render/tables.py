"""Tables and sections on a terminal: wide or narrow, every row keeps its name and every number stays whole."""

import io
from collections.abc import Callable, Iterable, Sequence

from rich.cells import cell_len
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Column, Table
from rich.text import Text

from mixseek.presentation.pictures import Histogram, IntervalPlot, Series, Strip
from mixseek.presentation.sections import PLOT_WIDTH, QUIET
from mixseek.text.visible import make_visible

# Characters by which names mostly differ.
_LEAST_NAME = 16
_EIGHTHS = " ▏▎▍▌▋▊▉"
_BLOCKS = "▁▂▃▄▅▆▇█"
# Wide enough for the tables, narrow enough for a log.
_TEXT_WIDTH = 120


def as_text(show: Callable[[Console], None]) -> str:
    """What a terminal would show, plain: for `print` and for notebooks."""
    page = io.StringIO()
    show(Console(file=page, width=_TEXT_WIDTH))
    return page.getvalue().rstrip()


def table_of(heads: Sequence[str], rows: Iterable[Sequence[Text]]) -> Table:
    """A head that begins with `>` is of numbers, set right; one with `|` is of pictures. Both are never broken.

    Names give way, but their column is at least as wide as its head: a word that breaks there is not read.
    Without any head there is no line for them.
    """
    has_heads = any(head.strip(">|") for head in heads)
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style=QUIET, show_header=has_heads)
    for head in heads:
        if head.startswith(">"):
            table.add_column(_head(head[1:]), justify="right", no_wrap=True)
        elif head.startswith("|"):
            table.add_column(_head(head[1:]), no_wrap=True)
        else:
            table.add_column(_head(head), overflow="fold", min_width=cell_len(head))
    for cells in rows:
        table.add_row(*cells)
    return table


def _head(text: str) -> Text:
    """Inert: what a user named may look like a style."""
    return Text(make_visible(text))


def print_indented(console: Console, part: RenderableType) -> None:
    body = fitted(part, console.width - 2) if isinstance(part, Table) else part
    console.print(Padding(body, (0, 0, 0, 2), expand=False))


def fitted(table: Table, width: int) -> RenderableType:
    """The table, or its rows below each other where names would be squeezed out: numbers need their names."""
    needed = sum(_least_width(column) + 2 for column in table.columns) - 2
    return table if needed <= width or not table.rows else _stacked(table)


def _least_width(column: Column) -> int:
    """What a column must have: all of a number, and of a name so much that it can be told from others."""
    lines = [line for cell in (column.header, *column.cells) for line in str(cell).split("\n")]
    longest = max(map(cell_len, lines), default=0)
    return longest if column.no_wrap else min(longest, _LEAST_NAME)


def _stacked(table: Table) -> RenderableType:
    """A line with the name of each row, and its values with their heads below."""
    heads = [str(column.header).replace("\n", " ").strip() for column in table.columns]
    names = 1 + (len(table.columns) > 1 and not table.columns[1].no_wrap)
    lines: list[RenderableType] = []
    for cells in zip(*(list(column.cells) for column in table.columns), strict=True):
        values = [
            f"{head} {flat}".strip()
            for head, cell in zip(heads[names:], cells[names:], strict=True)
            if (flat := " ".join(str(cell).split())) and not _is_plot(flat)
        ]
        lines.append(Text(" · ".join(str(cell) for cell in cells[:names] if str(cell).strip()), style="bold"))
        if values:
            lines.append(Padding(Text(" · ".join(values)), (0, 0, 0, 2)))
    return Group(*lines)


def _is_plot(text: str) -> bool:
    """A picture that needs the head above it; the numbers beside it say the same."""
    return len(text) == PLOT_WIDTH and not set(text) - set("·━●┊╎")


def bar_text(share: float, width: int) -> str:
    """Eighths of a cell, and at least one of them for anything that occurred; nothing without a width."""
    if not width:
        return ""
    eighths = max(1, round(share * width * 8)) if share > 0 else 0
    full, rest = divmod(eighths, 8)
    return ("█" * full + (_EIGHTHS[rest] if rest else "")).ljust(width)


def plot_text(plot: IntervalPlot) -> Text:
    """The axis in one line: dots where the interval is not, a rule where it is, the mean as a mark."""
    last = PLOT_WIDTH - 1
    marks = [("·", QUIET)] * PLOT_WIDTH
    for value in plot.references:
        marks[round(plot.axis.place(value) * last)] = ("┊", QUIET)
    for value in plot.limits:
        marks[round(plot.axis.place(value) * last)] = ("╎", QUIET)
    if plot.mean is not None:
        low, high = (round(plot.axis.place(end) * last) for end in plot.ends or (plot.mean, plot.mean))
        marks[low : high + 1] = [("━", "blue")] * (high + 1 - low)
        marks[round(plot.axis.place(plot.mean) * last)] = ("●", "bold blue")
    return Text.assemble(*marks)


def histogram_text(histogram: Histogram) -> str:
    """The histogram in one line; a mark that never fell is a dot."""
    top = max((share for _, share in histogram.bars), default=0.0)
    return "".join(_BLOCKS[max(0, round(share / top * 8) - 1)] if share else "·" for _, share in histogram.bars)


def series_text(series: Series) -> str:
    """How many steps there are, and a block for each on the whole axis; a step without a value is a dot."""
    top = len(_BLOCKS) - 1
    blocks = ("·" if step.share is None else _BLOCKS[round(step.share * top)] for step in series.steps)
    return f"{len(series.steps)} {''.join(blocks)}"


def strip_text(strip: Strip) -> Text:
    """Shares as blocks of their colours, at least one for anything that occurred."""
    if not strip.width:
        return Text()
    return Text.assemble(
        *(("█" * max(1, round(share * strip.width)), style) for _, share, style in strip.parts if share)
    )

"""Sections on a terminal."""

from collections.abc import Iterable
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from mixseek.reports.render.tables import as_text, bar_text, fitted, print_section, table_of
from mixseek.reports.sections import QUIET, Bar, Cell, Facts, Part, Section, Sentence, sections_of
from mixseek.text.visible import make_visible

# Words that stand before facts are shorter.
_FACT_WIDTH = 11


def print_sections(sections: Iterable[Section], console: Console) -> None:
    """One after the other, as wide as the terminal is."""
    for section in sections:
        if section.title is not None:
            print_section(console, section.title, *map(drawn, section.parts))
            continue
        for part in section.parts:
            body = drawn(part)
            is_unbroken = isinstance(part, Sentence) and part.is_unbroken
            console.print(fitted(body, console.width) if isinstance(body, Table) else body, soft_wrap=is_unbroken)


def print_shown(result: object, console: Console, page: Path | None = None) -> None:
    """All sections of a result, and where its page is: not wrapped, because a path in two lines cannot be opened."""
    print_sections(sections_of(result), console)
    if page is not None:
        console.print(Text.assemble("\n", ("Page  ", QUIET), str(page)), soft_wrap=True)


def result_text(result: object) -> str:
    """The same, plain: for `print` and for notebooks."""
    return as_text(lambda console: print_shown(result, console))


def drawn(part: Part) -> Text | Table:
    if isinstance(part, Sentence):
        return Text(make_visible(part.text), style=part.style)
    if isinstance(part, Facts):
        lines = [Text.assemble((f"{head:<{_FACT_WIDTH}} ", QUIET), make_visible(text)) for head, text in part.lines]
        return Text("\n").join(lines)
    return table_of(part.heads, ([_cell(cell) for cell in row] for row in part.rows), limit=part.limit)


def _cell(cell: Cell) -> str | tuple[str, str]:
    return (bar_text(cell.share, cell.width), cell.style) if isinstance(cell, Bar) else cell

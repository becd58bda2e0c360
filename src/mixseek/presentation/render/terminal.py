"""Sections on a terminal."""

from collections.abc import Iterable, Iterator

from rich.console import Console
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from mixseek.presentation.pictures import Bar, Histogram, IntervalPlot, Series, Strip
from mixseek.presentation.render.tables import (
    as_text,
    bar_text,
    fitted,
    histogram_text,
    plot_text,
    print_indented,
    series_text,
    strip_text,
    table_of,
)
from mixseek.presentation.sections import (
    MARKED,
    QUIET,
    VERBATIM,
    Cell,
    Curves,
    Divider,
    Drawable,
    Estimates,
    Facts,
    Fitting,
    Link,
    Listing,
    Part,
    Ranges,
    Scatter,
    Section,
    Sentence,
    Shaded,
    Stack,
    TableRows,
    Words,
    is_empty,
    sections_of,
)
from mixseek.text.visible import make_visible

# Words that stand before facts are shorter.
_FACT_WIDTH = 11
_LEAST_BAR = 8
# A place that is pointed at: by colour, or by marks that stay readable in a file, a pipe or a terminal without it.
_HIGHLIGHT, _OPEN, _CLOSE = "black on bright_yellow", "⟦", "⟧"


def print_sections(sections: Iterable[Section], console: Console) -> None:
    """One after the other, as wide as the terminal is."""
    for section in sections:
        parts = [
            part
            for part in section.parts
            if section.title is None or not (is_empty(part) and not isinstance(part, Sentence))
        ]
        if section.title is not None and parts:
            console.print()
            if section.title:
                words, style = section.styled_note
                note = (f"  {make_visible(words)}", style) if words else ""
                console.print(Text.assemble((make_visible(section.title), "bold"), note))
        is_indented = section.is_indented or section.title is not None
        for part in _fitting(parts, console):
            body = drawn(part, console)
            if isinstance(part, Sentence) and part.is_unbroken:
                console.print(Text("  " if is_indented else ""), body, sep="", soft_wrap=True)
            elif is_indented:
                print_indented(console, body)
            else:
                console.print(fitted(body, console.width) if isinstance(body, Table) else body)


def _fitting(parts: Iterable[Part], console: Console) -> Iterator[Drawable]:
    """The parts with tables that fit, wherever there is a choice."""
    for part in parts:
        if isinstance(part, Fitting):
            table = _table(part.table, console)
            fits = not part.is_for_pages and fitted(table, console.width - 2) is table
            yield from (part.table, part.legend) if fits else part.otherwise
        elif isinstance(part, Estimates):
            yield from (part.table, part.notes)
        elif isinstance(part, Ranges):
            # Numbers are worth more than their picture.
            drawn_table = _table(part.table(), console)
            yield part.table(is_drawn=fitted(drawn_table, console.width - 2) is drawn_table)
        else:
            yield part


def result_text(result: object) -> str:
    """All sections of a result, plain: for `print` and for notebooks."""
    return as_text(lambda console: print_sections(sections_of(result), console))


def drawn(part: Drawable, console: Console) -> Text | Table | Rule:
    match part:
        case Sentence(text, style):
            return _text(text, console, style)
        case Facts(lines):
            facts = [Text.assemble((f"{head:<{_FACT_WIDTH}} ", QUIET), make_visible(text)) for head, text in lines]
            return Text("\n").join(facts)
        case Divider(title):
            return Rule(_text(title, console, "bold"), align="left", style=QUIET)
        case Listing():
            return _listing(part, console)
        case Ranges():
            return _table(part.table(), console)
        case Estimates() | Scatter() | Curves():
            return _table(part.table, console)
        case TableRows():
            return _table(part, console)


def _listing(listing: Listing, console: Console) -> Text:
    lines = [_cell(line, console) for line in listing.lines[: listing.shown]]
    if rest := listing.left_out(len(lines)):
        lines.append(Text(f"… {rest:,} more", style=QUIET))
    title = [Text(make_visible(listing.title), style=QUIET)] if listing.title else []
    return Text("\n").join([*title, *lines])


def _table(table: TableRows, console: Console) -> Table:
    columns = table.columns(is_wide=console.width >= table.wide)
    rows = [[_cell(row[place], console) for place, _ in columns] for row in table.rows[: table.limit]]
    if table.left_out:
        rows.append([Text(f"… {table.left_out:,} more", style=QUIET)])
    if table.total is not None:
        rows.append([_cell(table.total[place], console) for place, _ in columns])
    return table_of([head for _, head in columns], rows)


def _cell(cell: Cell, console: Console) -> Text:
    match cell:
        case Bar():
            width = max(_LEAST_BAR, min(cell.width, console.width - cell.beside)) if cell.beside else cell.width
            return Text(bar_text(cell.share, width), style=cell.style)
        case IntervalPlot():
            return plot_text(cell)
        case Histogram():
            return Text(histogram_text(cell), style=_style(cell.style) or "blue")
        case Strip():
            return strip_text(cell)
        case Series():
            return Text(series_text(cell))
        case Stack(cells):
            return Text("\n").join(filter(None, (_cell(inner, console) for inner in cells)))
        case Shaded(inner):
            return _cell(inner, console)
        case Link(text):
            return _text(text, console)
        case (text, style):
            return _text(text, console, style)
        case str() | Words():
            return _text(cell, console)


def _text(text: str | Words, console: Console, style: str = "") -> Text:
    if isinstance(text, str):
        return Text(make_visible(text), style=_style(style))
    return Text.assemble(*(_piece(piece, of, console) for piece, of in text.styled), style=_style(style))


def _style(style: str) -> str:
    """A terminal shows everything as it stands, and has no colours for dimensions."""
    if style.startswith("dimension-"):
        return "bold" if "bold" in style.split() else ""
    return "" if style == VERBATIM else style


def _piece(text: str, style: str, console: Console) -> tuple[str, str]:
    if style != MARKED:
        return make_visible(text), _style(style)
    if console.color_system is not None and not console.no_color:
        return make_visible(text), _HIGHLIGHT
    return f"{_OPEN}{make_visible(text)}{_CLOSE}", ""

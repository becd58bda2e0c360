"""Sections as Markdown, for build servers. What somebody else wrote is code: neither markup nor mention nor link."""

import re
from collections.abc import Iterable, Iterator

from mixseek.presentation.pictures import Bar, Histogram, IntervalPlot, Series, Strip
from mixseek.presentation.render.tables import bar_text, histogram_text, plot_text, series_text, strip_text
from mixseek.presentation.sections import (
    MARKED,
    VERBATIM,
    Cell,
    Curves,
    Divider,
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
    head_text,
    is_empty,
)
from mixseek.text.visible import make_visible

# Beyond what `make_visible` takes out: what XML 1.0, which build servers write next to it, has no way to hold.
_NO_CHARACTERS = re.compile("[\ufffe\uffff]")
# Letters, figures and marks that mean nothing in Markdown, wherever they stand: no link, mention, list or emphasis.
_HARMLESS = re.compile(r"(?:[^\W_]|(?<=\d)\.(?=\d|$)|:(?=\s|$)|\+(?=\d)|[ ,;%()×·–−±→…✅❌])*")
_OPEN, _CLOSE = "⟦", "⟧"


def sections_markdown(sections: Iterable[Section]) -> str:
    """Words that can do nothing stand as they are; all others are code."""
    return "".join(f"{block}\n\n" for section in sections for block in _blocks(section))


def _blocks(section: Section) -> Iterator[str]:
    parts = [part for part in section.parts if not is_empty(part)]
    if parts and section.title:
        note, _ = section.styled_note
        yield f"### {_text(section.title)}" + (f": {_text(note)}" if note else "")
    yield from map(part_markdown, parts)


def part_markdown(part: Part) -> str:
    match part:
        case Sentence(str() as text, style) if style == VERBATIM or "\n" in text:
            return code_block(text)
        case Sentence(text):
            return _text(text)
        case Facts(lines):
            return "\n".join(f"- {_text(head)} {_text(text)}" for head, text in lines)
        case Divider(title):
            return f"## {_text(title)}"
        case Fitting(table, legend, otherwise, is_for_pages):
            table, legend = otherwise if is_for_pages else (table, legend)
            return f"{part_markdown(table)}\n\n{part_markdown(legend)}"
        case Listing():
            return "\n".join(_lines(part))
        case Ranges():
            return "\n".join(_rows(part.table()))
        case Estimates(table=table, notes=lines):
            return f"{part_markdown(table)}\n\n{part_markdown(lines)}"
        case Scatter(table=table) | Curves(table=table):
            return part_markdown(table)
        case TableRows():
            return "\n".join(_rows(part))


def _lines(listing: Listing) -> Iterator[str]:
    if listing.title:
        yield f"{_text(listing.title)}\n"
    yield from (f"- {_cell(line)}" for line in listing.lines[: listing.shown])
    if rest := listing.left_out(len(listing.lines[: listing.shown])):
        yield f"- … {rest:,} more"


def _rows(table: TableRows) -> Iterator[str]:
    columns = table.columns()
    yield _row(_text(head_text(head)) for _, head in columns)
    yield "|" + "".join(" ---: |" if head.startswith(">") else " --- |" for _, head in columns)
    for cells in table.rows[: table.limit]:
        yield _row(_cell(cells[place]) for place, _ in columns)
    if table.left_out:
        yield _row([f"… {table.left_out:,} more", *("" for _ in columns[1:])])
    if table.total is not None:
        yield _row(_cell(table.total[place]) for place, _ in columns)


def _row(cells: Iterable[str]) -> str:
    """A bar ends a cell even inside of code, unless a stroke stands before it."""
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _cell(cell: Cell) -> str:
    match cell:
        case Bar():
            return code_span(bar_text(cell.share, cell.width)) if cell.width else ""
        case IntervalPlot():
            return code_span(plot_text(cell).plain)
        case Histogram():
            return code_span(histogram_text(cell))
        case Strip():
            return code_span(strip_text(cell).plain) if cell.width else ""
        case Series():
            return code_span(series_text(cell))
        case Stack(cells):
            return " ".join(filter(None, map(_cell, cells)))
        case Shaded(inner):
            return _cell(inner)
        case Link(text):
            return _text(text)
        case (str() as text, style):
            return _piece(text, style)
        case str() | Words():
            return _text(cell)


def _text(text: str | Words) -> str:
    """The text in one line."""
    return _piece(text, "") if isinstance(text, str) else "".join(_piece(*piece) for piece in text.styled)


def _piece(text: str, style: str) -> str:
    if style == MARKED:
        return code_span(f"{_OPEN}{text}{_CLOSE}")
    is_harmless = _HARMLESS.fullmatch(text) is not None and not re.match(r"\d+\)", text)
    words = text if is_harmless and style != VERBATIM else code_span(text)
    return f"**{words}**" if "bold" in style and words.strip() else words


def inert(text: str) -> str:
    """What XML 1.0 can hold and a reader can see: controls and halves of characters by their code points."""
    return _NO_CHARACTERS.sub(lambda character: f"⟨U+{ord(character[0]):04X}⟩", make_visible(text))


def code_span(text: str) -> str:
    """Code of one line, with a fence that the text does not hold."""
    line = " ".join(inert(text).split()) or "(empty)"
    fence = "`" * (_longest_run(line) + 1)
    pad = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{fence}{pad}{line}{pad}{fence}"


def code_block(text: str) -> str:
    block = inert(text)
    fence = "`" * max(3, _longest_run(block) + 1)
    return f"{fence}text\n{block}\n{fence}"


def _longest_run(text: str) -> int:
    """The length of the longest run of backticks."""
    return max(map(len, re.findall("`+", text)), default=0)

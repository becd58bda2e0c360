"""Sections as Markdown, for build servers. What somebody else wrote is code: neither markup nor mention nor link."""

import re
from collections.abc import Iterable, Iterator, Sequence

from mixseek.reports.render.tables import bar_text, plot_text
from mixseek.reports.sections import (
    MARKED,
    Bar,
    Cell,
    Divider,
    Facts,
    Fitting,
    Head,
    IntervalPlot,
    Part,
    Section,
    Sentence,
    TableRows,
    Words,
    is_empty,
)
from mixseek.text.visible import make_visible

# Beyond what `make_visible` takes out: what XML 1.0, which build servers write next to it, has no way to hold.
_NO_CHARACTERS = re.compile("[\ufffe\uffff]")
_OPEN, _CLOSE = "⟦", "⟧"


def sections_markdown(sections: Iterable[Section]) -> str:
    """Headings are ours, and so are marks before a line; every other word is inert."""
    return "".join(f"{block}\n\n" for section in sections for block in _blocks(section))


def _blocks(section: Section) -> Iterator[str]:
    parts = [part for part in section.parts if not is_empty(part)]
    if parts and section.title:
        yield f"### {code_span(section.title)}"
    yield from map(part_markdown, parts)


def part_markdown(part: Part) -> str:
    match part:
        case Sentence(text):
            words = plain_text(text)
            return code_block(words) if "\n" in words else code_span(words)
        case Facts(lines):
            return "\n".join(f"- {code_span(head)}: {code_span(text)}" for head, text in lines)
        case Divider(title):
            return f"## {code_span(title)}"
        case Fitting(table, legend):
            return f"{part_markdown(table)}\n\n{part_markdown(legend)}"
        case TableRows():
            return "\n".join(_rows(part))


def _rows(table: TableRows) -> Iterator[str]:
    heads = [head.wide if isinstance(head, Head) else head for head in table.heads]
    shown = [(number, head) for number, head in enumerate(heads) if head is not None]
    yield _row([head.lstrip(">|").strip() for _, head in shown])
    yield "|" + "".join(" ---: |" if head.startswith(">") else " --- |" for _, head in shown)
    for cells in table.rows[: table.limit]:
        yield _row([_cell(cells[number]) for number, _ in shown])
    if table.limit is not None and len(table.rows) > table.limit:
        yield _row([f"… {len(table.rows) - table.limit:,} more", *("" for _ in shown[1:])])


def _row(cells: Sequence[str]) -> str:
    """A bar ends a cell even inside of code, unless a stroke stands before it."""
    return "| " + " | ".join(code_span(cell).replace("|", "\\|") if cell else "" for cell in cells) + " |"


def _cell(cell: Cell) -> str:
    match cell:
        case Bar():
            return bar_text(cell.share, cell.width)
        case IntervalPlot():
            return plot_text(cell).plain
        case (str() as text, _):
            return text
        case str() | Words():
            return plain_text(cell)


def plain_text(text: str | Words) -> str:
    """Without styles; what is pointed at stands in ⟦ ⟧."""
    if isinstance(text, str):
        return text
    pieces = ((piece, "") if isinstance(piece, str) else piece for piece in text.pieces)
    return "".join(f"{_OPEN}{piece}{_CLOSE}" if style == MARKED else piece for piece, style in pieces)


def inert(text: str) -> str:
    """What XML 1.0 can hold and a reader can see: controls and halves of characters by their code points."""
    return _NO_CHARACTERS.sub(lambda character: f"⟨U+{ord(character[0]):04X}⟩", make_visible(text))


def code_span(text: str) -> str:
    """Of one line, with a fence that the text does not hold."""
    line = " ".join(inert(text).split()) or "(empty)"
    fence = "`" * (_longest_run(line) + 1)
    pad = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{fence}{pad}{line}{pad}{fence}"


def code_block(text: str) -> str:
    block = inert(text)
    fence = "`" * max(3, _longest_run(block) + 1)
    return f"{fence}text\n{block}\n{fence}"


def _longest_run(text: str) -> int:
    """Of backticks."""
    return max(map(len, re.findall("`+", text)), default=0)

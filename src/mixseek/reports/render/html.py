"""Sections as HTML, for notebooks: plain elements, everything escaped, styled by whoever shows them."""

from collections.abc import Iterable, Iterator
from html import escape

from mixseek.reports.sections import Bar, Cell, Facts, Part, Section, Sentence, TableRows, sections_of
from mixseek.text.visible import make_visible


def result_html(result: object) -> str:
    """All sections of a result."""
    return "".join(_section(section) for section in sections_of(result))


def _section(section: Section) -> str:
    parts = [part for part in section.parts if not isinstance(part, TableRows) or part.rows]
    if not parts:
        return ""
    title = f"<h4>{_escaped(section.title)}</h4>" if section.title else ""
    return f"<section>{title}{''.join(map(_part, parts))}</section>"


def _part(part: Part) -> str:
    match part:
        case Sentence(text):
            return f"<p>{_escaped(text)}</p>"
        case Facts(lines):
            return (
                "<dl>"
                + "".join(f"<dt>{_escaped(head)}</dt><dd>{_escaped(text)}</dd>" for head, text in lines)
                + "</dl>"
            )
        case TableRows():
            return f"<table>{''.join(_rows(part))}</table>"


def _rows(table: TableRows) -> Iterator[str]:
    if any(head.strip(">|") for head in table.heads):
        yield _row("th", (_escaped(head.lstrip(">|")) for head in table.heads))
    for cells in table.rows[: table.limit]:
        yield _row("td", map(_cell, cells))
    if table.limit is not None and len(table.rows) > table.limit:
        yield _row("td", [f"… {len(table.rows) - table.limit:,} more"])


def _row(tag: str, cells: Iterable[str]) -> str:
    return "<tr>" + "".join(f"<{tag}>{cell}</{tag}>" for cell in cells) + "</tr>"


def _cell(cell: Cell) -> str:
    if isinstance(cell, Bar):
        return f'<meter value="{cell.share:.3f}">{cell.share:.0%}</meter>'
    return _escaped(cell if isinstance(cell, str) else cell[0])


def _escaped(text: str) -> str:
    return escape(make_visible(text))

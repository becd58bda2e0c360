"""Sections as HTML, for notebooks and pages: plain elements, everything escaped, styled by whoever shows them."""

from collections.abc import Callable, Iterable, Iterator
from html import escape

from mixseek.reports.sections import (
    MARKED,
    QUIET,
    VERBATIM,
    Bar,
    Cell,
    Divider,
    Facts,
    Fitting,
    IntervalPlot,
    Part,
    Section,
    Sentence,
    TableRows,
    Words,
    head_text,
    is_empty,
    sections_of,
)
from mixseek.text.messages import Message, message
from mixseek.text.visible import make_visible

# What says a message in the language of a page; `str` says it in English.
Say = Callable[[str], str]

# Styles by the classes of our pages, and those that are elements anywhere.
_TONES = {
    QUIET: "soft", "green": "tone-good", "red": "tone-bad", "yellow": "tone-undecided", "blue": "tone-mixed",
    "magenta": "tone-invalid",
}  # fmt: skip
_ELEMENTS = {MARKED: "<mark>{}</mark>", VERBATIM: "<code>{}</code>", "bold": "<strong>{}</strong>"}


def result_html(result: object) -> str:
    """All sections of a result."""
    return sections_html(sections_of(result))


def sections_html(sections: Iterable[Section]) -> str:
    """One after the other; what is only an empty line elsewhere is nothing here."""
    return "".join(map(_section, sections))


def _section(section: Section) -> str:
    parts = [part for part in section.parts if not is_empty(part)]
    if not parts:
        return ""
    title = f"<h4>{_escaped(section.title)}</h4>" if section.title else ""
    return f"<section>{title}{''.join(map(part_html, parts))}</section>"


def part_html(part: Part, say: Say = str) -> str:
    """One part; `say` is asked for messages alone, because names and numbers are the same in every language."""
    match part:
        case Sentence(str() as text, style) if style == VERBATIM:
            return f"<pre>{escape(make_visible(text))}</pre>"
        case Sentence(text):
            return f"<p>{_text(text, say)}</p>"
        case Facts(lines):
            facts = (f"<dt>{_escaped(head, say)}</dt><dd>{_escaped(text, say)}</dd>" for head, text in lines)
            return f"<dl>{''.join(facts)}</dl>"
        case Divider(title):
            return f"<h3>{_text(title, say)}</h3>"
        case Fitting(table, legend):
            # A page scrolls: everything fits.
            return part_html(table, say) + part_html(legend, say)
        case TableRows():
            return f"<table>{''.join(_rows(part, say))}</table>"


def _rows(table: TableRows, say: Say) -> Iterator[str]:
    """The first name in a row is what the row is about; a head of numbers sets its column right."""
    columns = table.columns()
    name = next((place for place, head in columns if not head.startswith((">", "|"))), None)
    if any(head_text(head) for _, head in columns):
        heads = (f'<th scope="col"{_class(_kind(head))}>{_escaped(head_text(head), say)}</th>' for _, head in columns)
        yield f"<thead><tr>{''.join(heads)}</tr></thead>"
    for cells in table.rows[: table.limit]:
        row = (_cell(cells[place], head, say, is_name=place == name) for place, head in columns)
        yield f"<tr>{''.join(row)}</tr>"
    if table.left_out:
        more = _escaped(message("table.more", "… {n} more", n=table.left_out), say)
        yield f'<tr><td colspan="{len(columns)}">{more}</td></tr>'


def _cell(cell: Cell, head: str, say: Say, *, is_name: bool) -> str:
    style = cell[1] if isinstance(cell, tuple) else ""
    start = '<th scope="row"' if is_name else "<td"
    return f"{start}{_class(_kind(head), _TONES.get(style, ''))}>{_content(cell, say)}</{'th' if is_name else 'td'}>"


def _kind(head: str) -> str:
    return "number" if head.startswith(">") else ""


def _class(*names: str) -> str:
    given = " ".join(filter(None, names))
    return f' class="{given}"' if given else ""


def _content(cell: Cell, say: Say) -> str:
    match cell:
        case Bar(share):
            return f'<meter value="{share:.3f}">{share:.0%}</meter>'
        case IntervalPlot():
            return _plot(cell)
        case (str(), _):
            return _text(Words([cell]), say)
        case str() | Words():
            return _text(cell, say)


def _plot(plot: IntervalPlot) -> str:
    """The axis from 0 to 1, the interval on it, and the mean as a mark."""
    marks = ""
    if plot.mean is not None:
        low, high = plot.ends or (plot.mean, plot.mean)
        marks = f'<path d="M{low * 100:.1f} 5H{high * 100:.1f}" stroke-width="3"/>'
        marks += f'<circle cx="{plot.mean * 100:.1f}" cy="5" r="3" fill="currentColor"/>'
    axis = '<path d="M0 5H100" stroke-width="0.5" stroke-dasharray="1 2"/>'
    return f'<svg viewBox="-3 0 106 10" width="106" height="10" stroke="currentColor" fill="none">{axis}{marks}</svg>'


def _text(text: str | Words, say: Say) -> str:
    if isinstance(text, str):
        return _escaped(text, say)
    return "".join(_ELEMENTS.get(style, "{}").format(_escaped(piece, say)) for piece, style in text.styled)


def _escaped(text: str, say: Say = str) -> str:
    words = say(text) if isinstance(text, Message) else text
    return escape(make_visible(words)).replace("\n", "<br>")

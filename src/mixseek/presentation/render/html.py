"""Sections as HTML, for notebooks and pages: plain elements, everything escaped, styled by whoever shows them."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from html import escape
from urllib.parse import quote, urlencode

from mixseek.presentation.pictures import Bar, Histogram, IntervalPlot, Series, Step, Strip
from mixseek.presentation.render.curves import NARROW, WIDE, curves_svg
from mixseek.presentation.render.drawings import (
    axis_svg,
    bar_svg,
    estimates_svg,
    histogram_svg,
    plot_svg,
    scatter_svg,
    series_svg,
    strip_svg,
    swatch_svg,
)
from mixseek.presentation.sections import (
    MARKED,
    QUIET,
    VERBATIM,
    Cell,
    Curves,
    Divider,
    Estimates,
    Facts,
    Fitting,
    Head,
    Link,
    Listing,
    Part,
    RangeRow,
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
    sections_of,
)
from mixseek.text.messages import Message, begins_with_a_name, message
from mixseek.text.scripts import language_of
from mixseek.text.visible import make_visible, with_breaks

# What says a message in the language of a page; `str` says it in English.
Say = Callable[[str], str]

# Styles by the classes of our pages, and those that are elements anywhere.
_TONES = {
    QUIET: "soft", "green": "tone-good", "red": "tone-bad", "yellow": "tone-undecided", "blue": "tone-mixed",
    "magenta": "tone-invalid", "bright_black": "tone-missing", "default": "tone-plain",
}  # fmt: skip
_PARAGRAPHS = {QUIET: "quiet after", "yellow": "lead warning", "bold": "critical-headline", "red": "lead tone-bad"}
_ELEMENTS = {MARKED: "<mark>{}</mark>", VERBATIM: "<code>{}</code>"}
# Text that may run from right to left, or whose characters look different in each language that has them.
_FOREIGN = "[\u0590-\u08ff\u1100-\u11ff\u2e80-\ud7ff\uf900-\ufdff\ufe70-\uffef\U00010000-\U0010ffff]"
_TAGS = re.compile("<[^<>]*>")
# Of a table on a page that is longer than that nobody reads the end.
_FOLDED_LINES = 12


def link_to(**filters: str | None) -> str:
    """The address inside the page that shows exactly these judgments."""
    return "#" + urlencode({name: value for name, value in filters.items() if value is not None}, errors="replace")


def result_html(result: object) -> str:
    """All sections of a result."""
    return sections_html(sections_of(result))


def sections_html(sections: Iterable[Section]) -> str:
    """One after the other; what is only an empty line elsewhere is nothing here."""
    renderer = HtmlRenderer()
    return "".join(renderer.section(section, "h4") for section in sections)


def file_link_html(path: str) -> str:
    """A link to a file beside a notebook, by its relative path."""
    return f'<p><a href="{escape(quote(path))}" target="_blank" rel="noopener">{escape(make_visible(path))}</a></p>'


def part_html(part: Part, say: Say = str) -> str:
    """One part; `say` is asked for messages alone, because names and numbers are the same in every language."""
    return HtmlRenderer(say).part(part)


def panels_html(sections: Iterable[Section], say: Say) -> str:
    """Sections of a page that lists its judgments: each a panel, by its name; without a title only what it holds."""
    renderer = HtmlRenderer(say, is_page=True)
    return "".join(
        "".join(map(renderer.part, section.parts)) if section.title is None else renderer.panel(section)
        for section in sections
    )


def chapter_html(sections: Iterable[Section], say: Say, name: str) -> str:
    """A chapter of such a page: the first section stands below the heading of the chapter, the others are panels."""
    first, *others = sections
    renderer = HtmlRenderer(say, is_page=True)
    body = renderer.section(first, "h2", f' id="{name}" class="chapter chapter-{name}"').removesuffix("</section>")
    return f"{body}{''.join(map(renderer.panel, others))}</section>" if body else ""


class HtmlRenderer:
    """Draws in one language; links lead somewhere only on a page, which has what they lead to."""

    def __init__(self, say: Say = str, *, is_page: bool = False) -> None:
        self._say, self._is_page = say, is_page

    def section(self, section: Section, element: str, names: str = "") -> str:
        """Parts below their heading; nothing where there are none."""
        parts = [part for part in section.parts if not is_empty(part)]
        if not parts:
            return ""
        note = self._note(*section.styled_note)
        title = f"<{element}>{self._escaped(section.title)}{note}</{element}>" if section.title else ""
        body = f"{title}{''.join(map(self.part, parts))}"
        if section.is_folded and title and self._is_page:
            body = f"<details><summary>{title}</summary>{body.removeprefix(title)}</details>"
        return f"<section{names}>{body}</section>"

    def _note(self, note: str, style: str) -> str:
        """What stands beside a heading: how something stands is a badge of its colour, other words are soft."""
        names = "soft" if style == QUIET else f"badge {_tone(style)}"
        return f' <span class="{names}">{self._escaped(note)}</span>' if note else ""

    def panel(self, section: Section) -> str:
        place = f' id="{section.name}"' if section.name else ""
        return self.section(section, "h3", f"{place}{_class('panel', section.name and f'panel-{section.name}')}")

    def part(self, part: Part) -> str:
        match part:
            case Sentence(str() as text, style) if style == VERBATIM:
                return f"<pre>{escape(make_visible(text))}</pre>"
            case Sentence(""):
                return ""
            case Sentence(text, style):
                names = _class(_PARAGRAPHS.get(style, "lead")) if self._is_page else ""
                return f"<p{names}>{self._text(text)}</p>"
            case Facts(lines):
                facts = (f"<dt>{self._escaped(head)}</dt><dd>{self._escaped(text)}</dd>" for head, text in lines)
                return f"<dl>{''.join(facts)}</dl>"
            case Divider(title):
                return f"<h3>{self._text(title)}</h3>"
            case Fitting(table, legend):
                # A page scrolls: everything fits.
                return self.part(table) + self.part(legend)
            case Listing():
                return self._listing(part)
            case Ranges():
                return self._ranges(part)
            case Estimates():
                return self._estimates(part)
            case Scatter():
                return self._scatter(part)
            case Curves():
                frames = (WIDE, NARROW) if self._is_page else (WIDE,)
                drawn = "".join(curves_svg(part, self._in_language, frame) for frame in frames)
                return f'<div class="curves">{drawn}</div>'
            case TableRows():
                return self._table(part)

    def _listing(self, listing: Listing) -> str:
        lines = "".join(f"<li>{self._line(line)}</li>" for line in listing.lines)
        names = "" if listing.title else _class("call-notes")
        if not listing.title:
            return f"<ul{names}>{lines}</ul>"
        count = f"{len(listing.lines):,}"
        if listing.left_out(len(listing.lines)):
            total = f"{listing.total:,}"
            count = message("listing.of_all", "{n} of {total}", n=count, total=total)
        is_open = " open" if len(listing.lines) <= _FOLDED_LINES and listing.shown != 0 else ""
        head = f'{self._escaped(listing.title)} <span class="soft">{self._escaped(count)}</span>'
        return f'<details class="holes"{is_open}><summary>{head}</summary><ul tabindex="0">{lines}</ul></details>'

    # Ranges: a row for each estimate, all on one axis.

    def _ranges(self, ranges: Ranges) -> str:
        limit = ranges.page_limit if self._is_page else ranges.limit
        rows = "".join(self._range_row(row, ranges) for row in ranges.rows[:limit])
        if ranges.whole is not None:
            rows += self._range_row(ranges.whole, ranges, " whole")
        if ranges.axis is not None:
            rows += f'<li class="range-row axis-row"><div class="range-plot">{axis_svg(ranges.axis)}</div></li>'
        more = self._more(len(ranges.rows) - limit) if limit is not None else ""
        return f'<ol class="ranges">{rows}</ol>' + (f'<p class="quiet after">{more}</p>' if more else "")

    def _range_row(self, row: RangeRow, ranges: Ranges, whole: str = "") -> str:
        rank = f'<span class="place">{escape(row.rank)}</span> ' if row.rank else ""
        name = f'<p class="range-name">{rank}{self._content(row.name)}</p>'
        drawn = plot_svg(row.plot, self._in_language(row.plot.label), is_large=True) if ranges.axis else ""
        plot = f'<div class="range-plot">{drawn}</div>' if drawn else ""
        ends = f' <span class="soft">{self._escaped(row.ends)}</span>' if row.ends else ""
        mean = f'<p class="range-mean"><b>{self._escaped(row.value)}</b>{ends}</p>'
        facts = [self._fact(head, fact) for head, fact in zip(ranges.heads[2], row.facts, strict=True) if fact]
        return f'<li class="range-row{whole}">{name}{plot}{mean}<p class="range-units">{" · ".join(facts)}</p></li>'

    def _fact(self, head: str, fact: Cell) -> str:
        """A fact with what it is; one that says it by itself has no head."""
        return " ".join(filter(None, (self._escaped(head_text(head)), self._content(fact))))

    def _estimates(self, estimates: Estimates) -> str:
        """A card for each thing: all ways on one axis, and beside it what they come to."""
        cards = []
        for row in estimates.rows:
            lines = []
            for head, (estimate, text) in zip(estimates.heads, row.estimates, strict=True):
                term = f"<dt>{swatch_svg(estimate.tone)} {self._escaped(head)}</dt>"
                lines.append(f"<div>{term}<dd>{self._escaped(text)}</dd></div>")
            drawn = estimates_svg(
                [estimate for estimate, _ in row.estimates], estimates.axis, self._in_language(row.label)
            )
            plot = f'<div class="correction-plot">{drawn}{axis_svg(estimates.axis)}</div>'
            note = f'<p class="quiet">{self._escaped(row.note)}</p>'
            title = f'<p class="correction-name">{self._escaped(row.name)}</p>'
            cards.append(f'<li class="correction">{title}{plot}<dl>{"".join(lines)}</dl>{note}</li>')
        return f'<ul class="corrections">{"".join(cards)}</ul>'

    def _scatter(self, scatter: Scatter) -> str:
        """The picture, and its numbers for whoever cannot see it."""
        across, up, label = (self._in_language(text) for text in (*scatter.heads[:2], scatter.label))
        points = [replace(point, label=self._in_language(point.label)) for point in scatter.points]
        drawn = scatter_svg(points, (scatter.axis, scatter.up_axis), across, up, label)
        if not (scatter.has_table and self._is_page):
            return drawn
        title = self._escaped(message("table.of_picture", "as a table"))
        table = self._table(replace(scatter.table, name="of-picture", label=scatter.label))
        return f'{drawn}<details class="of-picture"><summary>{title}</summary>{table}</details>'

    # Tables.

    def _table(self, table: TableRows) -> str:
        names = _class("sortable" if table.values is not None else "", table.name)
        body = f"<table{names}>{''.join(self._rows(table))}</table>"
        if not table.label:
            return body
        label = f'tabindex="0" role="region" aria-label="{self._plain(table.label)}"'
        return f"<div{_class('table-scroll', table.name and f'scroll-{table.name}')} {label}>{body}</div>"

    def _rows(self, table: TableRows) -> Iterator[str]:
        """The first name in a row is what the row is about; a head of numbers sets its column right."""
        columns = table.columns(is_page=True)
        drawn = {place for place, _ in columns if any(isinstance(row[place], IntervalPlot | Bar) for row in table.rows)}
        name = next((place for place, head in columns if not head.startswith((">", "|"))), None)
        if any(head_text(head) or isinstance(table.heads[place], Head) for place, head in columns):
            heads = (self._head(head, table, place, is_drawn=place in drawn) for place, head in columns)
            yield f"<thead><tr>{''.join(heads)}</tr></thead>"
        limit = table.page_limit if self._is_page else table.limit
        for number, cells in enumerate(table.rows[:limit]):
            values = table.values[number] if table.values is not None else None
            row = (
                self._cell(
                    cells[place],
                    head,
                    is_name=place == name,
                    is_drawn=place in drawn,
                    value=None if values is None else values[place],
                )
                for place, head in columns
            )
            yield f"<tr>{''.join(row)}</tr>"
        if limit is not None and len(table.rows) > limit:
            yield f'<tr><td colspan="{len(columns)}">{self._more(len(table.rows) - limit)}</td></tr>'
        if table.total is not None:
            total = (
                self._cell(table.total[place], head, is_name=place == name, is_drawn=place in drawn)
                for place, head in columns
            )
            yield f"<tfoot><tr>{''.join(total)}</tr></tfoot>"

    def _more(self, count: int) -> str:
        return self._escaped(message("table.more", "… {n} more", n=count)) if count > 0 else ""

    def _head(self, head: str, table: TableRows, place: int, *, is_drawn: bool) -> str:
        """Our own words begin with a capital; names stay as they are."""
        given = table.heads[place]
        words = self._escaped(head_text(head))
        if isinstance(head, Message):
            words = words[:1].upper() + words[1:]
        if isinstance(given, Head) and given.axis is not None and self._is_page:
            drawn = self._plain(message("word.interval_drawn", "Interval, drawn"))
            read = f'<span class="visually-hidden">{drawn}</span>'
            return f'<th scope="col" class="plot-cell">{read}<div class="axis-plot">{axis_svg(given.axis)}</div></th>'
        if isinstance(given, Head) and given.page is not None:
            words = self._text(given.page)
        if table.values is not None and not head.startswith("|"):
            kind = "number" if head.startswith(">") else "text"
            words = f'<button type="button" data-sort="{kind}">{words}</button>'
        names = _class(_kind(head), "plot-cell" if is_drawn else "")
        return f'<th scope="col"{names}>{words}</th>' if words else f"<td{names}></td>"

    def _cell(self, cell: Cell, head: str, *, is_name: bool, is_drawn: bool, value: str | float | None = None) -> str:
        """A column that is drawn is so from its head to its foot: where there is no room for it, all of it goes."""
        style = cell[1] if isinstance(cell, tuple) else ""
        content = self._content(cell)
        # A name that is left out because it stands above names nothing here.
        is_head = is_name and bool(_TAGS.sub("", content))
        element = "th" if is_head else "td"
        names = [_kind(head), _tone(style)]
        if is_drawn:
            names.append("plot-cell")
        if isinstance(cell, Shaded):
            names.append("empty" if cell.share is None else f"heat heat-{round(min(1.0, max(0.0, cell.share)) * 10)}")
        sorted_by = "" if value is None else f' data-value="{self._plain(str(value))}"'
        scope = ' scope="row"' if is_head else ""
        return f"<{element}{scope}{_class(*names)}{sorted_by}>{content}</{element}>"

    def _content(self, cell: Cell) -> str:
        match cell:
            case Bar(_, _, style):
                return bar_svg(cell, _tone(style))
            case IntervalPlot():
                return plot_svg(cell, self._in_language(cell.label))
            case Histogram(_, _, style):
                return histogram_svg(cell, _tone(style), self._in_language(cell.label))
            case Strip(parts):
                shares = [(self._in_language(name), share, style) for name, share, style in parts]
                return strip_svg(Strip(shares, cell.width), [_tone(style) for _, _, style in parts])
            case Series(steps, is_drawn):
                drawn = [series_svg(cell)] if is_drawn else []
                return " ".join((*drawn, *map(self._step, steps)))
            case Stack(cells):
                return "".join(f"<div>{content}</div>" for content in map(self._content, cells) if content)
            case Shaded(inner):
                return self._content(inner)
            case Link(text, filters, label, place):
                if not self._is_page:
                    return self._text(text)
                named = f' aria-label="{self._plain(label)}"' if label else ""
                return f'<a href="{escape(f"#{place}" if place else link_to(**filters))}"{named}>{self._text(text)}</a>'
            case (str() as text, style):
                return _ELEMENTS.get(style, "{}").format(_styled(self._escaped(text), style, is_cell=True))
            case str() | Words():
                return self._text(cell)

    def _step(self, step: Step) -> str:
        """The text of a step, which leads to where there is more of it."""
        kind = "is-best" if step.is_best else "is-missing" if step.share is None else ""
        attributes = f'{_class("chip", kind)} title="{self._plain(step.label)}"'
        if not (self._is_page and step.place):
            return f"<span{attributes}>{self._escaped(step.text)}</span>"
        return f'<a href="#{escape(step.place)}"{attributes}>{self._escaped(step.text)}</a>'

    def _line(self, line: str | Words | Link) -> str:
        """A line begins with a capital; what begins with a name stays as the name is written."""
        words = self._content(line)
        return words[:1].upper() + words[1:] if isinstance(line, str) and not begins_with_a_name(line) else words

    def _text(self, text: str | Words) -> str:
        if isinstance(text, str):
            return self._escaped(text)
        return "".join(self._piece(piece, style) for piece, style in text.styled)

    def _piece(self, text: str, style: str) -> str:
        """A piece that begins on a line of its own is small print below what it follows."""
        if style in _ELEMENTS:
            return _ELEMENTS[style].format(self._escaped(text))
        is_below = text.startswith("\n")
        words = _styled(self._escaped(text.removeprefix("\n") if is_below else text), style)
        return f"<br><small>{words}</small>" if is_below else words

    def _escaped(self, text: str) -> str:
        """A text between elements; what others wrote in another script is marked as such."""
        words = with_breaks(self._plain(text)).replace("\n", "<br>")
        if isinstance(text, Message) or text.isascii() or re.search(_FOREIGN, text) is None:
            return words
        language = language_of(text)
        spoken = f' lang="{language}"' if language else ""
        return f'<span{spoken} dir="auto">{words}</span>'

    def _plain(self, text: str) -> str:
        """A text inside of an attribute."""
        return escape(make_visible(self._in_language(text)))

    def _in_language(self, text: str) -> str:
        return self._say(text) if isinstance(text, Message) else text


def _styled(words: str, style: str, *, is_cell: bool = False) -> str:
    """Colours of whole cells are those of their place; what is bold is an element anywhere."""
    if "bold" in style.split():
        words = f"<b>{words}</b>"
    if style.startswith("dimension-"):
        # Long names may break after an underscore, nowhere else.
        dot = '<i class="dimension-dot" aria-hidden="true"></i>'
        return f'<span class="dimension-name {_tone(style)}">{dot}{re.sub("_(?!<wbr>)", "_<wbr>", words)}</span>'
    tone = _tone(style)
    return words if is_cell or not tone else f'<span class="{tone}">{words}</span>'


def _tone(style: str) -> str:
    if style.startswith("dimension-"):
        return " ".join(word for word in style.split() if word != "bold")
    return next((tone for word in style.split() if (tone := _TONES.get(word))), "")


def _kind(head: str) -> str:
    return "number" if head.startswith(">") else ""


def _class(*names: str) -> str:
    given = " ".join(filter(None, names))
    return f' class="{given}"' if given else ""

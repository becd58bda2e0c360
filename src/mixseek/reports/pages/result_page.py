"""A result that is sections and nothing else as a page of its own: its facts, and a chapter for each part of it."""

from collections.abc import Sequence

from mixseek.lazy_dataclass import dataclass
from mixseek.presentation.sections import Section
from mixseek.reports.pages.html import asset_text, render_page

_STYLES = (
    "tokens.css",
    "page.css",
    "summary.css",
    "confidence.css",
    "scored.css",
    "panel.css",
    "board.css",
    "result_page.css",
)
_SCRIPT = "leaderboard.js"


@dataclass(frozen=True, slots=True)
class Chapter:
    """Sections, the first of them below the heading of the chapter; the page leads to it by its name."""

    name: str
    label: str
    sections: Sequence[Section]


@dataclass(frozen=True, slots=True)
class ResultPage:
    """What it is about, what kind of page it is, a few facts in one line, and its chapters."""

    title: str
    kind: str
    facts: Sequence[tuple[str, str]]
    chapters: Sequence[Chapter]


def render_result_page(page: ResultPage) -> str:
    """The whole file as text that UTF-8 can hold."""
    return render_page("result_page.html.j2", _STYLES, asset_text(_SCRIPT), page=page)

"""One result, one telling: sections are plain data, and a terminal and a notebook draw the same ones."""

import ast
from pathlib import Path

import pytest

from mixseek.analysis.ratings.found import RaterLine, Statistics
from mixseek.reports import statistics as statistics_words
from mixseek.reports.render.html import result_html
from mixseek.reports.render.tables import as_text
from mixseek.reports.render.terminal import print_sections, result_text
from mixseek.reports.sections import Bar, Section, Sentence, TableRows, sections_of
from mixseek.stats.estimates import Drawing

ROOM = Path(statistics_words.__file__).parent


@pytest.fixture
def result() -> Statistics:
    raters = [RaterLine(f"<b>{name}</b>", 4, 0, 4, True, 0.75) for name in ("ada", "bob")]
    return Statistics(
        source="table.csv",
        ratings=8,
        items=4,
        questions=4,
        repeated=0,
        uses_mean=False,
        categories=(),
        scale=None,
        raters=raters,
        human=None,
        drawing=Drawing.UNKNOWN,
        against_human=(),
        agreement=None,
        verdict_agreement=None,
        pairs=(),
        corrected=(),
        comparison=None,
        notes=("a note",),
    )


def test_a_terminal_and_a_notebook_show_the_same_sections(result: Statistics) -> None:
    text, page = str(result), result._repr_html_()
    sections = list(sections_of(result))

    assert [section.title for section in sections][:2] == [None, "Raters"]
    assert text == result_text(result)
    assert page == result_html(result)
    for words in ("table.csv: 8 ratings, 4 items, 4 questions", "a note", "Raters", "75.0%"):
        assert words in text
        assert words in page


def test_names_are_inert_in_a_notebook(result: Statistics) -> None:
    page = result._repr_html_()

    assert "<b>" not in page
    assert "<td>&lt;b&gt;ada&lt;/b&gt;</td>" in page


def drawn(*sections: Section) -> str:
    return as_text(lambda console: print_sections(sections, console))


def test_a_heading_above_nothing_is_left_out() -> None:
    assert drawn(Section("Nothing", [TableRows(("a",), [])]), Section("Words", [Sentence("some")])) == "\nWords\n  some"


def test_rows_beyond_the_limit_are_counted_and_bars_are_drawn() -> None:
    table = TableRows(("name", "|"), [("a", Bar(1.0, 4)), ("b", Bar(0.5, 4)), ("c", Bar(0.1, 4))], limit=2)
    text = drawn(Section(None, [table]))

    assert text.splitlines()[1].split() == ["a", "████"]
    assert text.splitlines()[2].split() == ["b", "██"]
    assert "more" in text
    assert "c" not in text.replace("more", "")


def test_whoever_tells_a_result_knows_no_terminal() -> None:
    """Only renderers import rich: what one of these says is drawn for terminals and pages alike."""
    for name in ("statistics", "votes", "boards", "cards", "comparison", "labels", "races/evaluation", "sections"):
        tree = ast.parse((ROOM / f"{name}.py").read_text(encoding="utf-8"))
        imported = [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]

        assert not [module for module in imported if module.startswith("rich")], name


def test_a_result_that_has_no_sections_is_named() -> None:
    with pytest.raises(TypeError, match="int: no sections"):
        sections_of(3)

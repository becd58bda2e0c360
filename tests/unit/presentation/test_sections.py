"""One result, one telling: sections are plain data, and a terminal and a notebook draw the same ones."""

import ast
import io
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import get_args, get_origin

import pytest
from rich.console import Console

import mixseek
from mixseek.analysis.ratings.found import PartedStatistics, RaterLine, Statistics
from mixseek.analysis.run.report_data import ReportData
from mixseek.analysis.run.summary import RunSummary
from mixseek.analysis.votes.found import VoteStatistics
from mixseek.analysis.votes.system_board import Board, SystemBoard
from mixseek.audits import views as cards
from mixseek.cascades import views as cascades
from mixseek.cascades.certificate import Certificate
from mixseek.cascades.plan import PlannedCascade
from mixseek.ci.report import CiReport
from mixseek.comparison.model import Comparison
from mixseek.comparison.side_by_side import RunComparison
from mixseek.comparison.views import sections as comparison
from mixseek.comparison.views import side_by_side
from mixseek.competition.views import sections as races
from mixseek.competition.views.board import LeaderBoard
from mixseek.competition.views.evaluation import Evaluation
from mixseek.competition.views.forecast import CompeteForecast
from mixseek.domain.shown import Shown
from mixseek.presentation.pictures import (
    SHARES,
    Axis,
    Bar,
    Curve,
    CurvePoint,
    Estimate,
    Histogram,
    IntervalPlot,
    ScatterPoint,
    Series,
    Step,
    Strip,
)
from mixseek.presentation.render.html import panels_html, result_html, sections_html
from mixseek.presentation.render.markdown import sections_markdown
from mixseek.presentation.render.tables import as_text
from mixseek.presentation.render.terminal import print_sections, result_text
from mixseek.presentation.sections import (
    MARKED,
    PLOT_HEAD,
    VERBATIM,
    Cell,
    Curves,
    Divider,
    EstimateRow,
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
    sections_of,
)
from mixseek.reports import dry_run, summary
from mixseek.reports.archives import archived_sections
from mixseek.reports.ratings import boards, statistics, votes
from mixseek.reports.run import report
from mixseek.runs.cards import Card
from mixseek.runs.dry_run import DryRun
from mixseek.setup.upkeep import garbage_sections
from mixseek.stats.estimates import Drawing

SOURCE = Path(mixseek.__file__).parent
# Each registers what it shows when it is imported.
TELLING = (boards, cards, cascades, comparison, dry_run, races, report, side_by_side, statistics, summary, votes)


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
        responses={},
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
    assert '<th scope="row">&lt;b&gt;ada&lt;/b&gt;</th>' in page


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


def imported_by(file: Path, name: str) -> Iterator[str]:
    """What a file imports of a package."""
    source = file.read_text(encoding="utf-8")
    for node in ast.walk(ast.parse(source)) if name in source else ():
        if isinstance(node, ast.ImportFrom):
            yield node.module or ""
        elif isinstance(node, ast.Import):
            yield from (name.name for name in node.names)


def written_in(file: Path) -> Iterator[str]:
    """Every text of a program but what describes it."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    described = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in described:
            yield node.value


def may_hold(file: Path, *patterns: re.Pattern[str]) -> bool:
    source = file.read_text(encoding="utf-8")
    return any(pattern.search(source) for pattern in patterns)


def modules_outside(*rooms: str) -> Iterator[tuple[str, Path]]:
    for file in sorted(SOURCE.rglob("*.py")):
        name = file.relative_to(SOURCE).as_posix()
        if not name.startswith(rooms):
            yield name, file


def test_only_renderers_know_terminals() -> None:
    """What a result shows is drawn for terminals, pages and build servers alike."""
    users = {
        name: {module for module in imported_by(file, "rich") if module.split(".")[0] == "rich"}
        for name, file in modules_outside("presentation/render/")
    }

    assert {name: modules for name, modules in users.items() if modules} == {
        # Where a terminal begins: how wide it is, and whether it has colours.
        "cli/terminal/console.py": {"rich.console"},
        "pytest_plugin.py": {"rich.console"},
        # What moves while something is done: no result, and gone when there is one.
        "cli/competition/competing.py": {"rich.console", "rich.progress"},
        "runs/progress.py": {"rich.console", "rich.progress"},
    }


def test_only_renderers_and_templates_write_html() -> None:
    tag = re.compile(
        r"</?(?:table|t[rdh]|p|div|span|section|h[1-6]|svg|d[ltd]|[uo]l|li|pre|b|mark|br|meter|html|body)[ />]"
    )
    modules = modules_outside("presentation/render/", "matching/")
    # To parse a file takes long; a text over several lines, or with codes for its signs, may hide a tag from a search.
    hidden = re.compile(r"""<["']|\\[xuN]""")
    suspects = [(name, file) for name, file in modules if may_hold(file, tag, hidden)]
    writers = {name for name, file in suspects if any(map(tag.search, written_in(file)))}

    # Of a result that nobody draws, a notebook shows the text.
    assert writers == {"domain/shown.py"}


def test_renderers_draw_tables_and_plots_and_templates_lay_them_out() -> None:
    """A table or a plot of a template is one that terminals, notebooks and build servers do not have."""
    templates = (SOURCE / "reports" / "assets").glob("*.j2")
    picture = re.compile(r"<table|<(?:rect|circle|poly\w+) class|<svg class=.(?:plot|bar)|<svg viewBox")
    by_hand = {path.name for path in templates if picture.search(path.read_text(encoding="utf-8"))}

    assert by_hand == set()


@pytest.mark.parametrize("word", ["one", "told", "said", "found", "own"])
def test_names_in_templates_are_the_nouns_of_their_things(word: str) -> None:
    """Whoever reads a loop knows what it goes over."""
    named = re.compile(rf"{{% (?:for|set) (?:\w+, )*{word}\b|\bfor (?:\w+, )*{word}(?:, \w+)* in\b")
    templates = [path for room in ("reports", "web") for path in (SOURCE / room / "assets").glob("*.j2")]

    assert [path.name for path in templates if named.search(path.read_text(encoding="utf-8"))] == []


RESULTS = (
    *(Board, Card, Certificate, CiReport, Comparison, CompeteForecast, DryRun, Evaluation, LeaderBoard, ReportData),
    *(PartedStatistics, PlannedCascade, RunComparison, RunSummary, Statistics, SystemBoard, VoteStatistics),
)


@pytest.mark.parametrize("result", RESULTS)
def test_every_result_has_sections(result: type) -> None:
    assert sections_of.dispatch(result) is not sections_of.dispatch(object)


def test_whatever_can_be_printed_is_a_result_with_sections() -> None:
    # By name: a class with slots is made twice.
    assert {result.__name__ for result in Shown.__subclasses__()} <= {result.__name__ for result in RESULTS}


PARTS: dict[type, Part] = {
    Sentence: Sentence(Words(["a ", ("word", MARKED)])),
    Facts: Facts([("head", "what it says")]),
    TableRows: TableRows(("name", Head(">wide only"), PLOT_HEAD), [("row", "1", IntervalPlot(0.5, (0.2, 0.7)))]),
    Divider: Divider("something else"),
    Listing: Listing(["a line", Words([("another", "bold")])], title="lines", total=5),
    Ranges: Ranges(
        ("name", "mean", [">samples"]),
        [RangeRow("row", "50%", "20–70%", IntervalPlot(0.5, (0.2, 0.7)), ["10"], rank="1")],
        SHARES,
    ),
    Estimates: Estimates(
        ("alone", "corrected"),
        [EstimateRow("row", [(Estimate(0.5, 0.4, 0.6), "50%"), (Estimate(None, 0.3, 0.8), "between")], "why", "drawn")],
        SHARES,
    ),
    Scatter: Scatter(
        ("a", "b", "n"), [ScatterPoint(0.5, 0.7, 3, "a 0.5, b 0.7")], SHARES, [("0.5", "0.7", "3")], "both"
    ),
    Curves: Curves(
        ("name", "step"),
        [
            Curve(
                "row", [CurvePoint(1, 0.5, "row, step 1: 0.5"), CurvePoint(2, 0.75, "row, step 2: 0.75", is_best=True)]
            )
        ],
        2,
        SHARES,
        "lines",
    ),
    Fitting: Fitting(
        TableRows(("a long head",), [["grid"]]),
        Sentence("legend"),
        (TableRows(("1",), [["grid"]]), Sentence("1 is a long head")),
    ),
}
CELLS: dict[type, Cell] = {
    str: "text",
    tuple: ("styled", "bold"),
    Words: Words([("several", "bold"), " pieces"]),
    Bar: Bar(0.5, 10),
    IntervalPlot: IntervalPlot(None),
    Histogram: Histogram([("1", 0.25), ("2", 0.75)]),
    Strip: Strip([("PASS", 0.5, "green"), ("FAIL", 0.5, "red")], width=10),
    Series: Series([Step("step 1", 0.5, "50%"), Step("step 2", None, "–")]),
    Link: Link("a row", {"id": "row"}),
    Stack: Stack(["one", Bar(0.5, 10)]),
    Shaded: Shaded("half", 0.5),
}
RENDERERS: dict[str, Callable[[Section], str]] = {
    "terminal": drawn,
    "html": lambda section: sections_html([section]),
    "markdown": lambda section: sections_markdown([section]),
}


def test_the_lists_of_kinds_are_whole() -> None:
    assert set(get_args(Part)) == set(PARTS)
    assert {get_origin(kind) or kind for kind in get_args(Cell)} == set(CELLS)


@pytest.mark.parametrize("renderer", RENDERERS)
@pytest.mark.parametrize("kind", PARTS)
def test_every_renderer_knows_every_kind_of_part(kind: type, renderer: str) -> None:
    assert RENDERERS[renderer](Section("Title", [PARTS[kind]])).replace("Title", "").strip(" #`\n")


@pytest.mark.parametrize("renderer", RENDERERS)
@pytest.mark.parametrize("kind", CELLS)
def test_every_renderer_knows_every_kind_of_cell(kind: type, renderer: str) -> None:
    without = RENDERERS[renderer](Section(None, [TableRows(("head",), [[""]])]))

    assert len(RENDERERS[renderer](Section(None, [TableRows(("head",), [[CELLS[kind]]])]))) > len(without)


def test_a_page_of_judgments_has_rows_that_a_terminal_only_counts() -> None:
    rows = [(f"row-{number}",) for number in range(5)]
    whole, cut = (TableRows(("name",), rows, limit=2, page_limit=limit) for limit in (None, 4))

    assert "row-2" not in drawn(Section(None, [whole]))
    assert "row-4" in panels_html([Section("Title", [whole])], str)
    assert "row-4" not in panels_html([Section("Title", [cut])], str)
    assert "… 1 more" in panels_html([Section("Title", [cut])], str)


def test_a_grid_that_only_a_page_has_room_for_is_told_of_elsewhere() -> None:
    grid = TableRows(("question",), [["grid"]])
    section = Section(
        "Title", [Fitting(grid, Sentence("legend"), (TableRows((), ()), Sentence("elsewhere")), is_for_pages=True)]
    )

    assert "grid" in panels_html([section], str)
    for told in (drawn(section), sections_markdown([section])):
        assert "elsewhere" in told
        assert "grid" not in told


@pytest.mark.parametrize("renderer", ["terminal", "html", "markdown"])
def test_all_rows_together_stand_below_ranges_whatever_is_cut(renderer: str) -> None:
    rows = [RangeRow(f"row-{number}", "50%", "20–70%", IntervalPlot(0.5), ["10"]) for number in range(3)]
    ranges = Ranges(("name", "mean", [">samples"]), rows, SHARES, limit=1, whole=replace(rows[0], name="all of them"))
    text = RENDERERS[renderer](Section("Title", [ranges]))

    assert "row-1" not in text
    assert text.index("row-0") < text.index("all of them")


def test_a_line_of_a_list_leads_to_its_judgment_where_there_are_some() -> None:
    listing = Listing([Link("a quote", {"id": "row"})])

    assert '<a href="#id=row">a quote</a>' in panels_html([Section("Title", [listing])], str)
    assert "a quote" in drawn(Section("Title", [listing]))
    assert "<a " not in sections_html([Section("Title", [listing])])


def test_a_column_is_left_out_where_there_is_little_room() -> None:
    table = TableRows(("name", Head(">undecided", ">und."), Head("|more")), [("row", "1", "2")], wide=100)
    page = io.StringIO()
    print_sections([Section(None, [table])], Console(file=page, width=80))

    assert page.getvalue().split() == ["name", "und.", "row", "1"]
    assert drawn(Section(None, [table])).split() == ["name", "undecided", "more", "row", "1", "2"]


def test_a_terminal_draws_ranges_where_there_is_room_beside_their_numbers() -> None:
    axis = Axis(-1.0, 1.0, (-1.0, 1.0), ("−1.0", "+1.0"))
    row = RangeRow("heron", "+0.50", "+0.10 to +0.90", IntervalPlot(0.5, (0.1, 0.9), axis), ["30", ""], rank="1")
    ranges = Ranges(("system", "strength", [">questions", ">never known"]), [row], axis)
    wide, narrow = (io.StringIO() for _ in range(2))
    print_sections([Section(None, [ranges])], Console(file=wide, width=100))
    print_sections([Section(None, [ranges])], Console(file=narrow, width=60))

    heads, line = wide.getvalue().splitlines()
    assert heads.split() == ["rank", "system", "strength", "95%", "interval", "−1.0", "+1.0", "questions"]
    assert line.split() == ["1", "heron", "+0.50", "+0.10", "to", "+0.90", "············━━━━●━━━━·", "30"]
    heads, line = narrow.getvalue().splitlines()
    assert heads.split() == ["rank", "system", "strength", "95%", "interval", "questions"]
    assert line.split() == ["1", "heron", "+0.50", "+0.10", "to", "+0.90", "30"]


def test_a_page_draws_ranges_on_one_axis_and_says_what_each_number_is() -> None:
    axis = Axis(0.0, 10.0, (0.0, 5.0, 10.0), ("0", "5", "10"))
    plot = IntervalPlot(5.0, (2.5, 7.5), axis, (2.0, 9.0), [Estimate(6.0)], label="<b>: 5 of 10")
    row = RangeRow(Link("<b>", {"target": "<b>"}), "5", "2.5–7.5", plot, ["30"], rank="1")
    page = panels_html([Section(None, [Ranges(("name", "mean", [">samples"]), [row], axis)])], str)

    assert re.findall(r'<rect class="(\S+)" x="([\d.]+)%" width="([\d.]+)%"', page) == [
        ("plot-bounds", "20.000", "70.000"),
        ("plot-interval", "25.000", "50.000"),
    ]
    assert '<circle class="plot-mean" cx="50.000%"' in page
    assert '<svg x="60.000%"' in page
    assert 'role="img" aria-label="&lt;b&gt;: 5 of 10"' in page
    assert '<a href="#target=%3Cb%3E">&lt;b&gt;</a>' in page
    assert '<p class="range-units">samples 30</p>' in page
    assert re.findall(r'<text x="([\d.]+)%"[^>]*>(\d+)</text>', page) == [
        ("0.000", "0"),
        ("50.000", "5"),
        ("100.000", "10"),
    ]


def test_estimates_say_on_every_door_how_they_came_about() -> None:
    rows = [
        EstimateRow(name, [(Estimate(0.5, 0.4, 0.6, "of-judges"), "50%"), (Estimate(None, 0.3, 0.8), text)], note, name)
        for name, text, note in (("all", "between 30 and 80%", "few labels"), ("north", "–", "no labels"))
    ]
    section = Section("Corrected", [Estimates(("alone", "corrected"), rows, SHARES)])

    for renderer in RENDERERS.values():
        text = renderer(section)
        assert [
            words for words in ("between 30 and 80%", "few labels", "no labels", "corrected") if words not in text
        ] == []
    page = sections_html([section])
    assert '<rect class="estimate-interval of-judges" x="40.000%" width="20.000%"' in page
    assert '<rect class="plot-bounds" x="30.000%" width="50.000%"' in page


def test_a_matrix_is_shaded_by_its_shares_and_its_gaps_are_set_apart() -> None:
    row = ("heron", Shaded(Words(["75%", "\n50–90%"]), 0.75), Shaded(""))
    page = panels_html([Section("Wins", [TableRows(("system", ">1", ">2"), [row], name="matrix", label="Wins")])], str)

    assert '<td class="number heat heat-8">75%<br><small>50–90%</small></td><td class="number empty"></td>' in page
    assert '<div class="table-scroll scroll-matrix" tabindex="0" role="region" aria-label="Wins">' in page


def test_what_is_pointed_at_is_marked_in_every_way() -> None:
    section = Section(None, [Sentence(Words(["the ", ("answer", MARKED)]), "")])

    assert drawn(section) == "the ⟦answer⟧"
    assert sections_html([section]) == "<section><p>the <mark>answer</mark></p></section>"
    assert sections_markdown([section]) == "the `⟦answer⟧`\n\n"


@pytest.mark.parametrize(
    "text",
    [
        *("@octocat", "#1", "www.example.org", "http://example.org", "a_b_", "*a*", "1. list", "2) list", "- list"),
        *("<b>", "&lt;", "[a](b)", "![a](b)", "~~a~~", ":tada:", "> quote", "a\\b", "`", "GH-1", "org/repo", "=="),
    ],
)
def test_whatever_could_be_markup_is_code_in_markdown(text: str) -> None:
    section = Section(text, [Sentence(text), Facts([(text, text)]), TableRows((f"|{text}",), [[text]])])
    lines = sections_markdown([section]).replace("\\|", "").splitlines()
    outside = "".join(re.sub(r"(`+)(?!`).+?(?<!`)\1(?!`)", "", line) for line in lines)

    assert set(outside) <= set("#-| ")


def test_harmless_words_and_numbers_stay_readable_in_markdown() -> None:
    table = TableRows(("target", ">95% interval"), [("north", ("49.0–94.3%", "dim")), (("all", "bold"), "−0.5")])

    assert sections_markdown([Section("Targets, one by one", [table])]).splitlines() == [
        "### Targets, one by one",
        "",
        "| target | 95% interval |",
        "| --- | ---: |",
        "| north | 49.0–94.3% |",
        "| **all** | −0.5 |",
        "",
    ]


def test_what_others_wrote_stands_line_for_line() -> None:
    section = Section(None, [Sentence("two\n  lines <b>", VERBATIM)])

    assert drawn(section) == "two\n  lines <b>"
    assert sections_html([section]) == "<section><pre>two\n  lines &lt;b&gt;</pre></section>"
    assert sections_markdown([section]) == "```text\ntwo\n  lines <b>\n```\n\n"


def test_names_are_inert_in_heads_cells_and_titles() -> None:
    """Rich reads `[bold]` as a style, HTML `<b>` as an element, and Markdown a bar as the end of a cell."""
    name = "[/bold]<b>`@all`|\x1b"
    section = Section(name, [TableRows(("row", f">{name}"), [(name, "1")])])

    assert drawn(section).count("[/bold]<b>`@all`|⟨U+001B⟩") == 3
    assert "<b>" not in sections_html([section])
    assert sections_markdown([section]).splitlines()[2:] == [
        "| row | ``[/bold]<b>`@all`\\|⟨U+001B⟩`` |",
        "| --- | ---: |",
        "| ``[/bold]<b>`@all`\\|⟨U+001B⟩`` | 1 |",
        "",
    ]


def test_a_result_that_has_no_sections_is_named() -> None:
    with pytest.raises(TypeError, match="int: no sections"):
        sections_of(3)


def test_commands_show_results_through_the_renderer() -> None:
    """By hand are acknowledgements of one line, and the prompt of a protocol, which stays as judges see it."""
    by_hand = set()
    for path in (Path(mixseek.__file__).parent / "cli").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print_answer":
                shown = node.args[1]
                if isinstance(shown, ast.Call) and isinstance(shown.func, ast.Name):
                    by_hand.add(shown.func.id)

    assert by_hand == {"describe_protocol"}


def test_names_that_hold_escape_sequences_are_shown_by_their_codes() -> None:
    """What others named must not draw on the terminal of whoever looks at it."""
    removed = [{"path": "runs/\x1b[31mred", "bytes": 7, "kind": "run", "why": "empty"}]
    garbage = garbage_sections({"dry_run": True, "removed": removed, "kept": [], "bytes": 7})
    archived = {"run": "a\x1b]0;title", "directory": "d", "valid": 1, "invalid": 0, "asked_again": 0, "unjudged": 0}
    text = as_text(lambda console: print_sections([*garbage, *archived_sections(archived)], console))

    assert "\x1b" not in text
    assert "would go: 1 thing, 7 bytes" in text

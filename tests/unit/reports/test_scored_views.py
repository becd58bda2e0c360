"""Dimensions on page and terminal: everything said, nothing broken by hostile text, every quote in its place."""

import io
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from rich.console import Console
from tests.unit.reports.scored_material import (
    DETAIL,
    ROWS,
    agreement_of,
    cell,
    headline_of,
    invalid,
    judged,
    page_report,
    scored_report,
)

from mixseek.analysis.run.report_data import ReportData
from mixseek.analysis.scored_model import ScaleMean
from mixseek.domain.judgments import Status
from mixseek.domain.scored_counts import (
    CoverageCell,
    CoverageCounts,
    DimensionCell,
    Disagreement,
    EvidenceCount,
    EvidenceProblem,
)
from mixseek.presentation.render.terminal import print_sections
from mixseek.reports.pages.html import page_facts, render_html
from mixseek.reports.pages.packed_rows import PackedRows, unpack_json
from mixseek.reports.pages.payload import rows_payload
from mixseek.reports.run.report import report_sections
from mixseek.reports.run.sample import sample_sections
from mixseek.reports.wording.scales import dimension_number, hole_text, invalid_sentence, mean_text, signed_text

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\u202e{{ 7*7 }}"


class Skeleton(HTMLParser):
    """Tags in order and the text between them."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert not {name for name, _ in attrs if name == "style" or name.startswith("on")}
        # Long words may be broken, which says nothing of what is in them.
        self.tags += [tag] if tag != "wbr" else []

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def page_of(report: ReportData) -> Skeleton:
    skeleton = Skeleton()
    skeleton.feed(render_html(report))
    return skeleton


def terminal_of(report: ReportData, width: int = 120) -> str:
    stream = io.StringIO()
    print_sections(report_sections(report), Console(file=stream, width=width, no_color=True))
    return stream.getvalue()


UNEVEN = (cell(*[1.0] * 20), invalid(15, judge="m2", target="m1"), cell(*[0.5] * 5, judge="m2", target="m1"))
SAID = (
    "1 judgment is a critical fail",
    "not spread evenly (by judge: p < 0.001",
    "they are not missing at random",
    "B minus A: −1.00 of 4",
    "1 of 2 cells",
    "no output in the dataset",
    "Krippendorff's alpha",
    "self",
)


def test_page_and_terminal_say_the_same() -> None:
    """Critical fails, unevenness, drift, coverage, agreement, controls."""
    critical = cell(0.0, verdict="FAIL", variant="B", is_critical=True)
    own = cell(1.0, target="m1", is_control=True)
    report = page_report(*ROWS, cells=(*UNEVEN, critical, own))
    page = "".join(page_of(report).text)
    printed = " ".join(terminal_of(report).split())

    assert [said for said in SAID if said not in page] == []
    assert [said for said in SAID if said not in printed] == []


@pytest.mark.parametrize("has_gates", [True, False])
def test_only_a_protocol_with_gates_has_a_column_of_critical_fails(has_gates: bool) -> None:
    """Where nothing can fail critically, a column of noughts says something that is not so."""
    report = page_report(has_gates=has_gates)
    heads = [line for line in terminal_of(report, 200).splitlines() if "95% interval" in line and "total" in line]

    assert any("critical" in line for line in heads) is has_gates


@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_a_terminal_of_any_width_is_kept_to(width: int) -> None:
    """Nothing runs over the edge."""
    assert max(len(line) for line in terminal_of(page_report(), width).splitlines()) <= width


def test_the_index_of_the_list_names_the_critical() -> None:
    """The page lists them first."""
    packed = PackedRows(ROWS, total=len(ROWS))
    list(packed)

    index = unpack_json(packed.index())

    assert [index["ids"][place] for place in index["critical"]] == ["critical"]


def test_a_cell_of_the_coverage_leads_to_its_judgments_and_questions_go_as_people_count() -> None:
    """On the page and on a terminal alike; a cell without an output leads nowhere."""
    grid = [CoverageCell(f"Q{number}", "A", "m2", "m1", Status.VALID) for number in (1, 10, 2)]
    grid.append(replace(grid[0], question="Q3", status=None))
    covered = CoverageCounts(
        questions=4, variants=1, targets=2, judges=1, expected=4, valid=3, unnamed=0, grid=grid, holes=grid[3:]
    )  # fmt: skip
    report = page_report(coverage=covered)
    page = render_html(report)

    links = re.findall(r'<a href="(#question=[^"]*)"', page)
    assert links == [f"#question=Q{number}&amp;variant=A&amp;target=m2&amp;judge=m1" for number in (1, 2, 10)]
    shown = terminal_of(report, 120)
    assert [shown.index(f"Q{number} ") for number in (1, 2, 3, 10)] == sorted(
        shown.index(f"Q{number} ") for number in (1, 2, 3, 10)
    )


def test_quotes_reach_the_page_with_their_places_and_problems() -> None:
    """In the page's own units: an emoji is two of them."""
    first, _, third = DETAIL["evidence"]
    quotes = {**DETAIL, "evidence": [{**first, "spans": [[1, 6]]}, third]}
    (row,) = rows_payload([judged("emoji", response="😀alpha beta", fields=quotes)], 1_000)["rows"]

    assert page_facts(page_report())["dimensions"] == ["FORMAT", "FIDELITY"]
    assert [(quote["dimension"], quote.get("spans"), quote.get("problem")) for quote in row["quotes"]] == [
        ("FORMAT", [[2, 7]], None),
        ("FIDELITY", None, "not_found"),
    ]
    assert (row["total"], row["maximum"], row["marks"][1]) == (3, 4, ["FIDELITY", 1, 2, "drifts at the end"])


def test_a_place_outside_of_the_response_is_not_highlighted() -> None:
    """A highlight in the wrong place would be worse than none."""
    beyond = {**DETAIL, "evidence": [{**DETAIL["evidence"][0], "spans": [[5, 99]]}]}
    (row,) = rows_payload([judged("short", fields=beyond)], 1_000)["rows"]

    assert "spans" not in row["quotes"][0]


def test_a_total_of_nought_is_a_total() -> None:
    """Left out, it would look like none."""
    rows = {row["sample"]: row for row in rows_payload(ROWS, 10_000)["rows"]}

    assert rows[2]["total"] == 0
    assert rows[2]["gates"] == [["critical_fail", "names another lighthouse"]]


def test_self_judgments_are_marked_in_the_list() -> None:
    """And only they are."""
    payload = rows_payload(ROWS, 10_000)

    assert [payload["samples"][row["sample"]]["id"] for row in payload["rows"] if row.get("control")] == ["own"]


def hostile_report(text: str) -> ReportData:
    fields = {
        "scores": {text: 1},
        "maxima": {text: 2},
        "total": 1,
        "total_maximum": 2,
        "reasons": {text: text},
        "evidence": [{"dimension": text, "quote": text, "reason": text, "spans": [[0, 1]], "problem": text}],
        "gates": {text: {"failed": True, "reason": text}},
        "confidence": text,
        "task_type": text,
        "notes": text,
    }
    row = judged(text, judge=text, verdict=text, fields=fields, question_id=text, prompt_variant=text)
    cells = (
        cell(1.0, judge=text, target=text, variant=text, language=text, verdict=text, confidence=text, task_type=text),
        invalid(1, judge="m2"),
    )
    return page_report(
        row,
        cells=cells,
        variants=(),
        evidence=(EvidenceCount(text, text, None, text, 1),),
        evidence_problems=(EvidenceProblem(text, text, text, text, text),),
        agreement=agreement_of(
            Disagreement(text, text, text, text, 0.5, 2, ((text, 0.25, text), ("m1", 0.75, text))),
            judges=(text, "m1"),
        ),
        headline=headline_of(text, "m3", judges=(text, "m1")),
        coverage=None,
    )


def test_hostile_text_changes_nothing_about_the_structure() -> None:
    """In every place where a judge, a model or a sample can put a word."""
    hostile, harmless = page_of(hostile_report(HOSTILE)), page_of(hostile_report("#plain"))

    # Both sort before the other names.
    assert hostile.tags == harmless.tags
    assert "{{ 7*7 }}" in "".join(hostile.text)
    data = unpack_json(re.findall(r'class="block">(.*?)</script>', render_html(hostile_report(HOSTILE)), re.DOTALL)[0])
    assert data["rows"][0]["quotes"][0]["text"] == HOSTILE


def test_hostile_text_cannot_drive_a_terminal() -> None:
    """Escape sequences and reordering are shown by their code points."""
    stream = io.StringIO()
    print_sections(
        sample_sections(list(hostile_report("\x1b[31mred\u202e").rows)), Console(file=stream, width=100, no_color=True)
    )

    assert "\x1b" not in stream.getvalue()
    assert "\u202e" not in stream.getvalue()
    assert "\x1b" not in terminal_of(hostile_report("\x1b[31mred\u202e"))


def test_one_judgment_on_a_terminal_shows_marks_quotes_and_gates() -> None:
    """With the reasons, and why a quote has no support."""
    stream = io.StringIO()
    print_sections(sample_sections(ROWS[2:3]), Console(file=stream, width=120, no_color=True))
    printed = stream.getvalue()

    for said in ("names another lighthouse", "drifts at the end", "exact at 0–5", "not in the response", "0 of 4"):
        assert said in printed


@pytest.mark.parametrize(
    ("mean", "maximum", "text"),
    [(0.5, 8.0, "4.00"), (0.5, 100.0, "50.0"), (0.5, None, "50.0%"), (None, 8.0, "–"), (1 / 3, 2.0, "0.67")],
)
def test_means_are_written_on_their_own_scale(mean: float | None, maximum: float | None, text: str) -> None:
    """Per cent only where samples have different maxima."""
    assert mean_text(ScaleMean(3, mean, None, maximum)) == text


@pytest.mark.parametrize(("share", "text"), [(-0.25, "−1.00"), (0.125, "+0.50"), (0.0, "±0.00")])
def test_differences_carry_their_sign(share: float, text: str) -> None:
    """A true minus: a hyphen is overlooked."""
    assert signed_text(share, 4.0) == text


def test_sentences_about_invalid_evaluations_claim_no_more_than_was_found() -> None:
    """None, nothing to compare, no sign, and the one that matters."""
    none = scored_report(cells=[cell(1.0)], variants=()).invalid
    alone = scored_report(cells=[cell(1.0), invalid(1)], variants=()).invalid
    even = scored_report(cells=[cell(1.0), invalid(1, judge="m2"), cell(1.0, judge="m2")], variants=()).invalid
    uneven = scored_report(cells=UNEVEN, variants=()).invalid

    assert invalid_sentence(none) == "No evaluation is invalid."
    assert invalid_sentence(alone).endswith("there is nothing to compare their spread over.")
    assert "weak evidence of none" in invalid_sentence(even)
    assert "invalid evaluations are not spread evenly (by judge" in invalid_sentence(uneven)
    assert invalid_sentence(uneven).endswith("they are not missing at random.")


@pytest.mark.parametrize(
    ("hole", "text"),
    [
        (CoverageCell("Q1", "B", "m2", "m1", None), "Q1 · B · m2 · judge m1: no output in the dataset"),
        (CoverageCell("Q1", None, "m2", "m1", None), "Q1 · m2 · judge m1: no output in the dataset"),
    ],
)
def test_holes_are_named(hole: CoverageCell, text: str) -> None:
    """Where, and why nothing is there."""
    assert hole_text(hole) == text


def test_colours_repeat_after_eight_dimensions() -> None:
    """Numbers beside them do not."""
    names = [f"D{number}" for number in range(9)]

    assert [dimension_number(name, names) for name in (*names, "other")] == [1, 2, 3, 4, 5, 6, 7, 8, 1, 0]


@pytest.mark.parametrize("width", [60, 80, 100, 120])
def test_every_row_of_the_coverage_keeps_its_name(width: int) -> None:
    """Columns are numbered, and named below, where their heads would leave no room for the rows'."""
    names = [f"target-model-{number}-with-a-name" for number in range(6)]
    grid = [
        CoverageCell(f"question-{question}", "A", target, "judge-model-with-a-name", Status.VALID)
        for question in (1, 2)
        for target in names
    ]
    counts = CoverageCounts(
        questions=2, variants=1, targets=6, judges=1, expected=12, valid=12, unnamed=1, holes=(), grid=grid
    )
    text = terminal_of(page_report(coverage=counts), width)
    coverage = text[text.index("\nCoverage") : text.index("\nInvalid evaluations")]

    assert "question-1" in coverage
    assert "question-2" in coverage
    assert all(name in coverage for name in names) or width >= 100
    assert "2 questions × 1 variant × 6 targets × 1 judge)" in " ".join(coverage.split())
    assert "1 sample names no question" in " ".join(coverage.split())


@pytest.mark.parametrize("width", [40, 60, 80])
def test_a_table_that_does_not_fit_stacks_its_rows_instead_of_dropping_their_names(width: int) -> None:
    """The judge, the dimension and the numbers, whatever the width."""
    judge = "a-judge-with-a-rather-long-name"
    cells = [cell(1.0, 0.5, judge=judge), cell(0.0, judge=judge, target="m3")]
    marks = [DimensionCell(judge, "m2", "A", None, "INSTRUCTION_COMPLIANCE", 2.0, 3, 4.0, 6.0)]
    text = terminal_of(page_report(cells=cells, dimensions=marks, buckets=(), variants=()), width)
    dimensions = "".join(text[text.index("\nDimensions") : text.index("\nTargets by dimension")].split())

    assert judge in dimensions
    assert "INSTRUCTION_COMPLIANCE" in dimensions
    assert "1.33" in dimensions

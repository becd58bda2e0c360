"""The report on terminals of every kind."""

import io
import re
from dataclasses import replace

import pytest
from rich.cells import cell_len
from rich.console import Console
from tests.unit.reports.counting import count_rows

from mixseek.analysis.run.build import build_report
from mixseek.analysis.run.model import RunHeader
from mixseek.analysis.run.report_data import ReportData
from mixseek.analysis.workspace.run_list import RunLine
from mixseek.domain.counts import ReaskCount, StatusCounts
from mixseek.domain.judgments import Finding, Flag, JudgedRow, Span, Status
from mixseek.presentation.render.terminal import print_sections
from mixseek.presentation.sections import page_section
from mixseek.reports.pages.html import render_html
from mixseek.reports.run.report import report_sections
from mixseek.reports.run.sample import sample_sections
from mixseek.reports.workspace.run_list import run_list_sections

WIDTHS = (20, 60, 80, 120, 200)
ROW = JudgedRow(
    id="ja-001", judge="rules", status=Status.VALID, response="順に考えます。答えは(B)です。",
    question="正しいのはどれですか。", task_name="論理推論", verdict="incorrect", score=0.0, ground_truth="(C)",
    ground_truth_alternatives=("C",), extracted_answer="(B)", span=Span(10, 13),
    rules=("cue:答えは", "option:letter"), error_type="wrong_logic",
)  # fmt: skip
ROWS = (
    ROW,
    replace(
        ROW, id="en-001", task_name="logical_deduction_five_objects", verdict="correct", score=1.0, error_type="none",
    ),
    replace(
        ROW, id="zh-001", task_name="布尔表达式", status=Status.UNDECIDED, verdict=None, score=None, reason="無定論",
    ),
    replace(
        ROW, id="x", task_name=None, status=Status.INVALID, verdict=None, score=None, rules=(), raw_reply="{not json",
        flags=(Finding(Flag.UNPARSABLE_OUTPUT, "no JSON object in the reply"),),
    ),
    replace(ROW, id="y", status=Status.MISSING, verdict=None, score=None, rules=(), reason="no recorded reply"),
)  # fmt: skip


def console_of(width: int, *, colour: bool = False) -> Console:
    return Console(file=io.StringIO(), width=width, force_terminal=colour, color_system="truecolor" if colour else None)


def output_of(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def report_of(*rows: JudgedRow) -> ReportData:
    header = RunHeader("run-1", "semantic", "1.0", "abcdef0123456789", "answers.jsonl", len(rows))
    return build_report(count_rows(header, {}, rows))


def printed(report: ReportData, width: int = 120, *, colour: bool = False) -> str:
    console = console_of(width, colour=colour)
    print_sections((*report_sections(report), page_section("runs/run-1/report.html", "Report")), console)
    return output_of(console)


def shown(row: JudgedRow, width: int = 80, *, colour: bool = False) -> str:
    console = console_of(width, colour=colour)
    print_sections(sample_sections([row]), console)
    return output_of(console)


@pytest.mark.parametrize("colour", [False, True])
@pytest.mark.parametrize("width", WIDTHS)
def test_every_width_can_be_printed(width: int, colour: bool) -> None:
    printed(report_of(*ROWS), width, colour=colour)
    for row in ROWS:
        shown(row, width, colour=colour)


@pytest.mark.parametrize("width", [60, 120])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    """A Chinese character takes two cells."""
    lines = printed(report_of(*ROWS), width).splitlines()

    assert max(cell_len(line) for line in lines) <= width


@pytest.mark.parametrize("width", [60, 120])
def test_numbers_are_whole_at_every_width(width: int) -> None:
    text = printed(report_of(*ROWS), width)

    assert "50.0%" in text
    assert "9.5–90.5%" in text
    assert "…" not in text


def test_the_headline_comes_with_interval_and_what_stands_beside_it() -> None:
    text = printed(report_of(*ROWS))

    assert "rules  50.0% correct  (95% Wilson interval 9.5–90.5%, 2 samples)" in text
    assert "beside it: 1 undecided · 1 invalid · 1 missing" in text
    assert "If all 3 samples without a verdict had the lowest score: 20.0%; the highest: 80.0%." in text
    assert "Report  runs/run-1/report.html" in text


def test_columns_that_are_nought_everywhere_are_left_out() -> None:
    text = printed(report_of(*ROWS[:3]))

    header = next(line for line in text.splitlines() if line.strip().startswith("task"))
    assert "undecided" in header
    assert "invalid" not in header
    assert "missing" not in header


def test_many_tasks_are_cut_and_counted() -> None:
    rows = [replace(ROW, id=str(n), task_name=f"task-{n:03}") for n in range(70)]

    assert "… 10 more" in printed(report_of(*rows))


def test_an_empty_run_says_so() -> None:
    assert "This run holds no judgments." in printed(report_of())


def test_without_colour_the_span_is_bracketed() -> None:
    assert "答えは⟦(B)⟧です。" in shown(ROW)


def test_with_colour_the_span_is_highlighted_and_unmarked() -> None:
    text = shown(ROW, colour=True)

    assert "⟦" not in text
    assert "\x1b[30;103m(B)\x1b[0m" in text


def test_no_color_wins_over_a_terminal() -> None:
    console = Console(file=io.StringIO(), width=80, force_terminal=True, color_system="truecolor", no_color=True)

    print_sections(sample_sections([ROW]), console)

    assert "⟦(B)⟧" in output_of(console)


def test_show_gives_everything_needed_to_check() -> None:
    text = shown(ROW)

    for expected in (
        "ja-001  incorrect",
        "(C) | C",
        "wrong_logic",
        "cue:答えは → option:letter",
        "正しいのはどれですか。",
    ):
        assert expected in text


def test_show_names_flags_and_prints_the_reply() -> None:
    text = shown(ROWS[3])

    assert "UNPARSABLE_OUTPUT  no JSON object in the reply" in text
    assert "{not json" in text


def test_a_panel_repeats_the_judgment_but_not_the_question() -> None:
    console = console_of(80)

    print_sections(sample_sections([ROW, replace(ROW, judge="replay", rules=())]), console)

    text = output_of(console)
    assert text.count("judge rules") == text.count("judge replay") == 1
    assert text.count("正しいのはどれですか。") == 1
    assert text.count("⟦(B)⟧") == 2


@pytest.mark.parametrize("span", [None, Span(90, 95), Span(3, 999)])
def test_a_span_that_does_not_fit_is_not_drawn(span: Span | None) -> None:
    assert "⟦" not in shown(replace(ROW, span=span))


def test_an_empty_response_is_said_to_be_empty() -> None:
    assert "(empty)" in shown(replace(ROW, response="", span=None))


def test_judged_text_cannot_drive_the_terminal() -> None:
    evil = "\x1b]0;owned\x07 [bold]no markup[/bold] \u202e \ud800"
    row = replace(
        ROW, id=evil, response=evil, question=evil, verdict=evil, task_name=evil, rules=(evil,), raw_reply=evil
    )

    text = shown(row, 200) + printed(report_of(row), 200)

    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "[bold]no markup[/bold]" in text
    text.encode("utf-8")


@pytest.mark.parametrize("width", WIDTHS)
def test_runs_are_one_table(width: int) -> None:
    runs = [
        RunLine(
            "run-1", "semantic", "abcdef0123", "answers.jsonl", ("rules",), StatusCounts(9, 0, 1), 0.5, "2026-03-14"
        ),
        RunLine("評価-2", "semantic", "abcdef0123", "回答.jsonl", ("rules", "replay"), StatusCounts(), is_sealed=False),
    ]
    console = console_of(width)

    print_sections(run_list_sections(runs), console)

    if width >= 60:
        assert "50.0%" in output_of(console)
        assert "(interrupted" in output_of(console)


def test_no_runs_say_what_to_do() -> None:
    console = console_of(80)

    print_sections(run_list_sections([]), console)

    assert "mixseek judge" in output_of(console)


@pytest.mark.parametrize("width", [40, 80, 100])
def test_tasks_keep_their_names_at_any_width(width: int) -> None:
    """Names give way only as far as they can still be told apart; below that, rows are stacked."""
    names = [f"tracking_shuffled_objects_{number}_objects" for number in ("three", "five", "seven")]
    rows = [
        replace(ROW, id=f"{name}-{status.value}", task_name=name, status=status, reasoning_score=2)
        for name in names
        for status in (Status.VALID, Status.INVALID, Status.UNDECIDED)
    ]
    text = printed(report_of(*rows), width)
    tasks = "".join(text[text.index("\nTasks") :].split())

    for name in names:
        # Folded over lines between which numbers may stand.
        assert name[:16] in tasks
        assert name.split("_")[-2] in tasks


def test_one_sample_is_one_sample() -> None:
    assert "· 1 sample" in printed(report_of(ROW))
    assert "1 samples" not in printed(report_of(ROW))


def test_a_judgment_shows_its_reasoning_score_warnings_and_repeat() -> None:
    row = replace(
        ROW,
        verdict="correct",
        score=1.0,
        reasoning_score=1,
        fields={
            "extraction_verified": False,
            "warnings": ["extracted_answer_not_in_response", "correct_with_low_reasoning_score"],
        },
        take=3,
    )
    text = shown(row)

    assert "judge rules, repeat 3" in text
    assert "not in the response: unverified" in text
    assert re.search(r"^  reasoning score +1 *$", text, re.MULTILINE)
    assert "the extracted answer is not in the response; correct, with the reasoning score" in " ".join(text.split())


def test_the_report_counts_what_is_unverified_and_asked_again() -> None:
    copied = replace(ROW, verdict="correct", score=1.0, reasoning_score=5)
    copied = replace(copied, fields={"extraction_verified": False, "warnings": ["extracted_answer_not_in_response"]})
    report = report_of(copied, replace(ROW, id="b", reasoning_score=2, target_model="m2"))
    (judge,) = report.judges
    text = printed(replace(report, judges=(replace(judge, first_replies=ReaskCount("rules", 50, 12, 12)),)))

    assert "1 unverified: called correct" in text
    assert "If the 1 unverified were wrong: 0.0%." in text
    assert "0 invalid after 12 re-asks" in text
    assert "Reasoning scores  mean 3.50, 5.00 where correct, 2.00 where incorrect" in text
    assert "Targets" in text


def test_reasoning_scores_stand_on_the_page_by_correctness_task_and_target() -> None:
    """Two targets, one right with 5 and one wrong with 2."""
    right = replace(ROW, verdict="correct", score=1.0, reasoning_score=5, target_model="m1")
    page = render_html(report_of(right, replace(ROW, id="b", reasoning_score=2, task_name="other", target_model="m2")))

    assert "mean 3.50, 5.00 where correct, 2.00 where incorrect" in page
    assert page.count('<td class="number" data-value="5.0">5.00</td>') == 2
    assert page.count('<td class="number" data-value="2.0">2.00</td>') == 2


def test_first_replies_that_were_invalid_stand_beside_each_judge_on_terminal_and_page() -> None:
    """Also where asking again mended all of them."""
    source = count_rows(report_of().run, {}, ROWS[:2])
    report = build_report(replace(source, reasks=[ReaskCount("rules", 40, 12, 13)]))

    assert "First replies: 13 of 40 invalid (32.5%)." in printed(report)
    assert "First replies: 13 of 40 invalid (32.5%)." in render_html(report)
    assert "First replies" not in printed(report_of(*ROWS)) + render_html(report_of(*ROWS))

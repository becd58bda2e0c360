"""How sure the judges of a run are: by source, before people, and the same through every door."""

import json
from pathlib import Path
from random import Random

import pytest
from tests.flows.running import mixseek_here
from tests.unit.analysis.sure_material import (
    labelled_samples,
    lines_of,
    panel_run,
    semantic_run,
    sure_run,
    sure_verdict,
)
from tests.unit.storage.material import CORRECT, make_run, make_sample

from mixseek.analysis.run.report import load_report
from mixseek.domain.confidence import ConfidenceSource
from mixseek.reports.documents import report_document
from mixseek.reports.pages.html import render_html
from mixseek.stats.calibration import CalibrationState
from mixseek.stats.confidence import JudgeConfidence
from mixseek.storage.workspace import Workspace


def lines_by_source(workspace: Workspace) -> dict[tuple[str, str], JudgeConfidence]:
    report, _ = load_report(workspace.root, "trial")
    return {(line.judge, line.source): line for line in report.confidences}


def test_a_judge_that_is_as_often_right_as_it_says(tmp_path: Path) -> None:
    """Nothing is held against it, and its expected score is nearer to people than its verdict."""
    workspace, _ = sure_run(tmp_path)
    ((name, line),) = lines_by_source(workspace).items()

    assert name == ("tokens", "logprobs")
    assert (line.judgments, line.without, line.is_order, line.drawing) == (200, 0, False, "unknown")
    assert line.calibration is not None
    assert (line.calibration.labels, line.calibration.questions) == (120, 60)
    assert line.calibration.error is not None
    assert line.calibration.error.interval.low == 0
    assert line.calibration.risk is not None
    assert line.calibration.risk.area < line.calibration.risk.by_chance
    assert line.expected is not None
    assert line.expected.expected.rmse < line.expected.given.rmse
    assert line.expected.likeliest is None


def test_a_judge_that_is_too_sure_is_found_out(tmp_path: Path) -> None:
    (line,) = lines_by_source(sure_run(tmp_path, overstated=3.0)[0]).values()

    assert line.calibration is not None
    assert line.calibration.error is not None
    assert line.calibration.error.interval.low > 0.05
    assert line.calibration.brier is not None
    assert line.calibration.brier.value > 0.2


def test_without_labels_there_are_counts_and_means(tmp_path: Path) -> None:
    (line,) = lines_by_source(sure_run(tmp_path, labels=0)[0]).values()

    assert (line.judgments, line.calibration, line.expected) == (200, None, None)
    assert line.mean_expected == pytest.approx(0.5, abs=0.05)
    assert line.mean_given == pytest.approx(0.5, abs=0.08)
    assert line.mean_confidence == pytest.approx(0.75, abs=0.02)


def test_few_labels_give_no_calibration_and_say_so(tmp_path: Path) -> None:
    workspace, _ = sure_run(tmp_path, labels=14)
    (line,) = lines_by_source(workspace).values()

    assert line.calibration is not None
    assert line.calibration.state is CalibrationState.TOO_FEW_LABELS
    shown = mixseek_here("report", "trial", "-w", tmp_path, cwd=tmp_path)
    assert "fewer than 15 labels" in shown.stdout


def test_every_source_stands_for_itself(tmp_path: Path) -> None:
    """Tokens, words, the share of three takes, and the share of three judges; none in the place of another."""
    found = lines_by_source(panel_run(tmp_path)[0])

    assert list(found) == [("tokens", "logprobs"), ("words", "written"), ("often", "repeats"), ("panel", "panel")]
    words = found["words", "written"]
    assert (words.is_order, words.mean_confidence) == (True, None)
    assert words.calibration is not None
    assert (words.calibration.error, words.calibration.brier, words.calibration.bins) == (None, None, ())
    assert words.calibration.risk is not None
    assert [point.threshold for point in words.calibration.risk.points] == pytest.approx([1, 2 / 3, 1 / 3])
    repeats = found["often", "repeats"]
    assert repeats.calibration is not None
    assert {cell.chance for cell in repeats.calibration.bins} == {2 / 3, 1.0}
    panel = found["panel", "panel"]
    assert panel.calibration is not None
    assert {round(cell.chance, 6) for cell in panel.calibration.bins} == {0.666667, 1.0}


def test_shares_of_judges_are_told_where_labels_are(tmp_path: Path) -> None:
    """Without labels the agreement of judges, and of a judge with itself, has sections of its own."""
    assert [source for _, source in lines_by_source(panel_run(tmp_path, labels=0)[0])] == ["logprobs", "written"]


def test_a_judge_that_gave_no_verdict_agrees_with_nobody(tmp_path: Path) -> None:
    """Two of three is what a panel is sure with where the third was never heard."""
    lines = list[bytes]()
    for number in range(20):
        sample = make_sample(number, metadata={"label": "correct"})
        lines += lines_of(sample, [("a", 1, CORRECT), ("b", 1, CORRECT)])
    workspace, _ = semantic_run(tmp_path, lines, ("a", "b", "c"))
    line = lines_by_source(workspace)["panel", "panel"]

    assert line.mean_confidence == pytest.approx(2 / 3)


def test_a_run_without_any_has_no_section(tmp_path: Path) -> None:
    sample = make_sample(1)
    workspace, _ = make_run(tmp_path, lines_of(sample, [("rules", 1, CORRECT)]))
    report, _ = load_report(workspace.root, "trial")

    assert report.confidences == ()
    assert 'id="confidence"' not in render_html(report)


def test_two_sources_of_one_judge_are_two_lines(tmp_path: Path) -> None:
    """As where an endpoint gave no tokens for some, and a decision endpoint was asked instead."""
    lines = list[bytes]()
    for number, (chance, sample) in enumerate(labelled_samples(Random(1), 80, 80)):
        source = ConfidenceSource.DECISION if number % 4 == 0 else ConfidenceSource.LOGPROBS
        lines += lines_of(sample, [("tokens", 1, sure_verdict(chance, source))])
    found = lines_by_source(semantic_run(tmp_path, lines, ("tokens",))[0])

    assert {source: (line.judgments, line.without) for (_, source), line in found.items()} == {
        "decision": (20, 60),
        "logprobs": (60, 20),
    }


def test_all_doors_have_the_same_numbers(tmp_path: Path) -> None:
    workspace, _ = panel_run(tmp_path)
    report, _ = load_report(workspace.root, "trial")
    lines = report_document(report, None)["confidences"]
    as_report = json.loads(mixseek_here("report", "trial", "--json", "-w", tmp_path, cwd=tmp_path).stdout)
    as_stats = json.loads(mixseek_here("stats", "trial", "--json", "-w", tmp_path, cwd=tmp_path).stdout)
    shown = mixseek_here("report", "trial", "-w", tmp_path, cwd=tmp_path).stdout
    page = render_html(report)

    assert as_report["confidences"] == as_stats["confidences"] == json.loads(json.dumps(lines))
    for line in report.confidences:
        assert line.calibration is not None
        if line.calibration.error is not None:
            assert f"{line.calibration.error.value:.3f}" in shown
            assert f"{line.calibration.error.value:.3f}" in page
    assert page.count('class="calibration"') == 3 + 4
    assert page.count('<details class="of-picture">') == 3 + 4

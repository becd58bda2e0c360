"""Several runs as one, where that means something; and means that no self-judgment is in."""

from pathlib import Path

import pytest
from tests.unit.storage.material import make_manifest, make_run
from tests.unit.storage.scored_material import UNUSABLE, output, scored, scored_lines

from mixseek.analysis.run.gates import Gates, check_gates
from mixseek.analysis.run.report import load_report
from mixseek.analysis.run.summarise import summarise_run
from mixseek.comparison.side_by_side import compare_runs
from mixseek.comparison.views.side_by_side import comparison_document
from mixseek.domain.judgments import Method, Outcome
from mixseek.errors import ConfigurationError
from mixseek.reports.documents import report_document
from mixseek.reports.summary import describe_summary, summary_document
from mixseek.storage.journal.manifest import ProtocolEntry, read_manifest, write_manifest
from mixseek.storage.workspace import Workspace

OWN = scored(2, 2, method=Method.SELF_JUDGE)


def write(root: Path, name: str, *outcomes: Outcome, protocol_hash: str = "ab" * 32, digest: str | None = None) -> None:
    """A run of one judge, `m1`, whose first output is its own."""
    lines = [
        line
        for number, outcome in enumerate(outcomes)
        for line in scored_lines(output(f"{name}{number}", "A", "m1" if outcome is OWN else "t"), {"m1": outcome})
    ]
    _, run = make_run(root, lines, ("m1",), name=name)
    entry = ProtocolEntry(name="cross", version="1", language="zh", hash=protocol_hash)
    dataset = {"path": f"{name}.jsonl", "sha256": digest or name}
    write_manifest(
        run.manifest, make_manifest(("m1",), run=name, protocol=entry, dataset=dataset, sample_count=len(outcomes))
    )


def test_runs_of_one_protocol_are_set_side_by_side_and_pooled(tmp_path: Path) -> None:
    """Every judgment counts once; what models say of themselves counts nowhere."""
    write(tmp_path, "one", OWN, scored(2, 2), scored(1, 1))
    write(tmp_path, "two", scored(0, 0), UNUSABLE)
    comparison = compare_runs(tmp_path, ["one", "two"])
    document = comparison_document(comparison)

    assert [(run["run"], run["mean_score"]) for run in document["runs"]] == [("one", 0.75), ("two", 0.0)]
    assert document["pooled"]["mean_score"] == pytest.approx(0.5)
    assert document["pooled"]["counts"] == {"valid": 3, "invalid": 1, "undecided": 0, "missing": 0, "split": 0}
    assert document["notes"] == ["1 self-judgment is left out of every mean."]


def test_runs_of_different_protocol_hashes_refuse_to_be_averaged(tmp_path: Path) -> None:
    """One line that names both and says what to do."""
    write(tmp_path, "one", scored(2, 2))
    write(tmp_path, "two", scored(2, 2), protocol_hash="cd" * 32)

    with pytest.raises(
        ConfigurationError, match=r"one \(cross 1 zh abababab\) and two \(cross 1 zh cdcdcdcd\).*one at a"
    ):
        compare_runs(tmp_path, ["one", "two"])


def test_a_run_counts_once_and_the_same_samples_are_remarked_on(tmp_path: Path) -> None:
    """Named twice is a slip; judged twice is allowed and said."""
    write(tmp_path, "one", scored(2, 2), digest="same")
    write(tmp_path, "two", scored(1, 2), digest="same")

    with pytest.raises(ConfigurationError, match="one is named twice"):
        compare_runs(tmp_path, ["one", "one"])
    assert "each of them counts once" in compare_runs(tmp_path, ["one", "two"]).notes[0]


def test_gates_headlines_and_summaries_leave_self_judgments_out(tmp_path: Path) -> None:
    """A model that praises itself passes no gate by it."""
    write(tmp_path, "one", OWN, scored(0, 1))
    workspace = Workspace(tmp_path)
    run = workspace.run("one")
    summary = summarise_run(workspace, run, read_manifest(run.manifest))
    document = summary_document(summary)
    report, _ = load_report(tmp_path, "one")
    shown = report_document(report, None)

    assert document["mean_score"] == 0.25
    assert document["control"]["mean_score"] == 1.0
    assert (document["complete"], summary.counts_by_judge()["m1"]["valid"]) == (True, 2)
    assert [gate.is_met for gate in check_gates(Gates(fail_under=0.5), summary.headlines)] == [False]
    assert "1 self-judgment apart, mean 1.000" in describe_summary(summary)
    assert shown["judges"][0]["mean_score"] == 0.25
    assert shown["scored"]["controls"][0]["own"]["mean"] == 1.0
    assert report.rows_total == 2

"""Lists of runs show what each run came to, as it was counted last, without opening any index."""

from dataclasses import replace
from pathlib import Path

import orjson
import pytest
from tests.unit.storage.material import (
    CORRECT,
    INCORRECT,
    append_lines,
    judged_lines,
    make_manifest,
    make_run,
    make_sample,
)

from mixseek.analysis.run.report import load_report
from mixseek.analysis.run.summarise import summarise_run
from mixseek.analysis.workspace import run_list
from mixseek.analysis.workspace.kept_headline import LEADING_GROUPS, read_headline
from mixseek.analysis.workspace.run_list import RunLine, choose_pair, list_runs, read_line
from mixseek.domain.labels import Label
from mixseek.domain.panels import PanelRule
from mixseek.index.loading import index_run
from mixseek.reports.workspace.run_list import runs_document
from mixseek.storage.journal.manifest import RunStatus, read_manifest, write_manifest
from mixseek.storage.labels import LabelStore
from mixseek.storage.workspace import RunDirectory, Workspace


def make_panel(root: Path, name: str = "panel", count: int = 12) -> tuple[Workspace, RunDirectory]:
    """Two judges who agree on all but every fourth sample; five targets."""
    lines = [
        line
        for number in range(count)
        for line in judged_lines(
            replace(make_sample(number), target_model=f"target-{number % 5}"),
            {"rules": CORRECT, "other": CORRECT if number % 4 else INCORRECT},
        )
    ]
    workspace, run = make_run(root, lines, ("rules", "other"), name=name)
    write_manifest(run.manifest, make_manifest(("rules", "other"), run=name, sample_count=count))
    return workspace, run


def only_line(workspace: Workspace) -> RunLine:
    ((line,), _) = list_runs(workspace.root)
    return line


def test_a_panel_has_the_headline_of_its_report_in_the_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The one verdict of each sample, with its interval and the first targets; no DuckDB is opened for it."""
    workspace, run = make_panel(tmp_path)
    index_run(workspace, run)
    assert only_line(workspace).headline is None
    report, _ = load_report(tmp_path, "panel")
    monkeypatch.setattr("duckdb.connect", lambda *_, **__: pytest.fail("opened"))

    line = only_line(workspace)
    headline = line.headline
    document = runs_document([line])["runs"][0]

    assert report.headline is not None
    assert headline is not None
    assert (headline.score, headline.rule) == (report.headline.score, PanelRule.MAJORITY)
    assert headline.score.interval is not None
    assert [group.name for group in headline.leading] == [
        group.name for group in report.headline.columns[0].groups[:LEADING_GROUPS]
    ]
    assert headline.groups == 5
    assert document["mean_score"] is None
    assert document["headline"]["mean_score"] == headline.score.mean
    assert document["headline"]["interval"]["low"] == headline.score.interval.low
    orjson.dumps(document)


def test_a_summary_keeps_what_a_report_keeps(tmp_path: Path) -> None:
    """Whoever judges need not report; whoever reports need not have judged here."""
    workspace, run = make_panel(tmp_path)
    summarise_run(workspace, run, read_manifest(run.manifest))
    kept = run.headline.read_bytes()
    state = run.headline.stat().st_mtime_ns, run.headline.stat().st_ino
    load_report(tmp_path, "panel")

    assert run.headline.read_bytes() == kept
    # What is no news is not written again.
    assert (run.headline.stat().st_mtime_ns, run.headline.stat().st_ino) == state


def test_a_rule_that_was_asked_for_once_is_not_the_run_s_headline(tmp_path: Path) -> None:
    workspace, _ = make_panel(tmp_path)
    load_report(tmp_path, "panel", PanelRule.UNANIMOUS)
    load_report(tmp_path, "panel", PanelRule.MEAN)

    assert only_line(workspace).headline is None


def test_a_journal_that_was_counted_anew_has_no_headline_of_an_older_one(tmp_path: Path) -> None:
    workspace, run = make_panel(tmp_path)
    load_report(tmp_path, "panel")
    append_lines(run, judged_lines(make_sample(90), {"rules": INCORRECT, "other": INCORRECT}))
    before = only_line(workspace)
    index_run(workspace, run)
    after = only_line(workspace)

    # Until then both are of the moment that the line about it names.
    assert before.headline is not None
    assert "not counted yet" in (before.problem or "")
    assert (after.headline, after.can_be_counted) == (None, True)


@pytest.mark.parametrize("change", [b'"groups":9', b'"groups":null', b"nonsense"])
def test_a_headline_that_somebody_else_wrote_is_not_believed(tmp_path: Path, change: bytes) -> None:
    workspace, run = make_panel(tmp_path)
    load_report(tmp_path, "panel")
    kept = run.headline.read_bytes()
    run.headline.write_bytes(kept.replace(b'"groups":5', change) if b":" in change else change)

    assert read_headline(run) is None
    assert only_line(workspace).headline is None


def label_of(text: str, run: str) -> Label:
    return Label(text=text, protocol="semantic", rater="zoe", share=1.0, given="correct", run=run)


def test_labelled_texts_are_counted_by_run_and_damaged_labels_hide_no_run(tmp_path: Path) -> None:
    """A text that two people labelled is one text; labels of other runs are theirs."""
    workspace, _ = make_panel(tmp_path)
    store = LabelStore(workspace)
    store.append([label_of("a", "panel"), replace(label_of("a", "panel"), rater="kim"), label_of("b", "panel")])
    store.append([label_of("c", "elsewhere")])
    labelled = only_line(workspace).labelled
    store.path.write_text("no label\n", encoding="utf-8")
    ((line,), problems) = list_runs(tmp_path)

    assert labelled == 2
    assert line.labelled is None
    assert any("no label" in problem for problem in problems)


def line_of(name: str, protocol_hash: str = "p", digest: str = "d") -> RunLine:
    return RunLine(name, "semantic", protocol_hash, "d.jsonl", ("rules",), None, dataset_digest=digest)


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        # Newest first, as runs are listed.
        ([line_of("c"), line_of("b"), line_of("a")], ("b", "c")),
        # The newest run has no partner over its dataset, so an older pair that has comes before it.
        ([line_of("c", digest="other"), line_of("b"), line_of("a")], ("a", "b")),
        ([line_of("c", "q"), line_of("b"), line_of("a", "q")], ("a", "c")),
        # No dataset was judged twice: the newest two of one protocol.
        ([line_of("c", digest="x"), line_of("b", "q"), line_of("a", digest="y")], ("a", "c")),
        ([line_of("b", "q"), line_of("a")], None),
        ([line_of("b", ""), line_of("a", "")], None),
        ([], None),
    ],
)
def test_a_comparison_is_preset_to_the_newest_two_of_one_dataset(
    lines: list[RunLine], expected: tuple[str, str] | None
) -> None:
    assert choose_pair(lines) == expected


def test_a_list_that_is_asked_for_again_reads_only_what_has_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page that looks for news asks every few seconds; a run that has not ended is always looked at."""
    for name, status in (("april", RunStatus.COMPLETE), ("march", RunStatus.COMPLETE), ("may", RunStatus.RUNNING)):
        workspace, run = make_panel(tmp_path, name)
        manifest = make_manifest(("rules", "other"), run=name, sample_count=12, status=status)
        write_manifest(run.manifest, manifest)
        load_report(tmp_path, name)
    first, _ = list_runs(tmp_path)
    read: list[str] = []

    def note(run: RunDirectory) -> RunLine:
        read.append(run.name)
        return read_line(run)

    monkeypatch.setattr(run_list, "read_line", note)
    second, _ = list_runs(tmp_path)
    workspace.run("march").headline.unlink()
    third, _ = list_runs(tmp_path)

    assert (first, read) == (second, ["may", "march", "may"])
    assert [line.headline is None for line in third if line.run_id == "march"] == [True]

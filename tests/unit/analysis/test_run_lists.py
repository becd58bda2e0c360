"""What `mixseek runs` shows of a workspace."""

import os
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console
from tests.unit.storage.material import (
    CORRECT,
    INCORRECT,
    UNDECIDED,
    append_lines,
    judged_lines,
    make_manifest,
    make_run,
    make_sample,
)

from mixseek.analysis.run.report import load_report
from mixseek.analysis.workspace.run_list import list_runs
from mixseek.domain.counts import StatusCounts
from mixseek.domain.judgments import Outcome
from mixseek.errors import StorageError
from mixseek.index import loading as index
from mixseek.index.loading import index_run
from mixseek.presentation.render.terminal import print_sections
from mixseek.reports.documents import report_document
from mixseek.reports.pages.html import render_html
from mixseek.reports.run.report import report_sections
from mixseek.reports.workspace.run_list import runs_document
from mixseek.storage.journal.manifest import JournalSeal, RunStatus, write_manifest


def test_runs_are_listed_without_being_indexed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However large they are: the counts were written down when the index was made."""
    outcomes: tuple[Outcome, ...] = (CORRECT, CORRECT, INCORRECT, UNDECIDED)
    lines = [
        line
        for number, outcome in enumerate(outcomes)
        for line in judged_lines(make_sample(number), {"rules": outcome})
    ]
    workspace, run = make_run(tmp_path, lines)
    index_run(workspace, run)
    monkeypatch.setattr(index, "make_index", lambda *_: pytest.fail("indexed"))
    monkeypatch.setattr("duckdb.connect", lambda *_, **__: pytest.fail("opened"))

    (line,), problems = list_runs(workspace.root)

    assert (line.counts, line.problem) == (StatusCounts(valid=3, undecided=1), None)
    assert line.mean == pytest.approx(2 / 3)
    assert problems == []


def test_a_panel_has_no_mean_in_the_list_either(tmp_path: Path) -> None:
    """What two judges think of the same samples is no score of the run."""
    means = []
    for cascade in (False, True):
        lines = judged_lines(make_sample(1), {"rules": CORRECT, "other": INCORRECT})
        workspace, run = make_run(tmp_path / str(cascade), lines, ("rules", "other"), cascade=cascade)
        index_run(workspace, run)
        ((line,), _) = list_runs(workspace.root)
        means.append((line.mean, runs_document([line])["runs"][0]["mean_score"]))

    assert means[0] == (None, None)
    assert None not in means[1]


def test_a_run_that_has_grown_is_listed_as_it_was_counted(tmp_path: Path) -> None:
    """And what counts the rest is named, in words that a shell takes."""
    workspace, run = make_run(tmp_path, judged_lines(make_sample(1), {"rules": CORRECT}), name="a b")
    (line,), problems = list_runs(workspace.root)
    assert (line.counts, line.mean) == (None, None)
    assert "`mixseek report 'a b'` counts them" in problems[0]

    index_run(workspace, run)
    append_lines(run, judged_lines(make_sample(2), {"rules": CORRECT}))
    (line,), problems = list_runs(workspace.root)

    assert line.counts == StatusCounts(valid=1)
    assert "not counted yet" in problems[0]


def test_the_list_reads_no_journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """There may be gigabytes of it: length and time of change tell what was done to one that has ended."""
    workspace, run = make_run(tmp_path, judged_lines(make_sample(1), {"rules": CORRECT}))
    size = run.journal.stat().st_size
    monkeypatch.setattr("mixseek.storage.journal.journal.measure_start", lambda *_: pytest.fail("read"))
    told = []
    for sealed_bytes, changed_after in ((size, -1), (size, 1), (size + 1, -1), (size - 1, -1)):
        seal = JournalSeal(bytes=sealed_bytes, blake2b="")
        write_manifest(run.manifest, make_manifest(status=RunStatus.COMPLETE, journal=seal))
        changed_ns = run.manifest.stat().st_mtime_ns + changed_after * 10**9
        os.utime(run.journal, ns=(changed_ns, changed_ns))
        told += list_runs(workspace.root)[1]

    expected = ("not counted yet", "perhaps changed since it was written", "cut short", "1 bytes were added")
    assert [words in one for words, one in zip(expected, told, strict=True)] == [True] * 4


def test_a_run_that_cannot_be_read_or_indexed_is_listed_with_the_reason(tmp_path: Path) -> None:
    """It is there, so a list that leaves it out would be wrong."""
    workspace, damaged = make_run(tmp_path, [b"garbage\n"], name="damaged")
    _, unreadable = make_run(tmp_path, [], name="unreadable")
    unreadable.manifest.write_text("{")
    _, without_journal = make_run(tmp_path, [], name="without")
    without_journal.journal.unlink()
    with pytest.raises(StorageError):
        index_run(workspace, damaged)

    lines, problems = list_runs(workspace.root)

    reasons = {line.run_id: line.problem or "" for line in lines}
    assert "damaged at byte 0" in reasons["damaged"]
    assert "not a manifest" in reasons["unreadable"]
    assert "cannot read the journal" in reasons["without"]
    assert len(problems) == 3
    assert [one["problem"] for one in runs_document(lines)["runs"]] == [line.problem for line in lines]


def test_what_a_stopped_run_has_not_reached_is_said(tmp_path: Path) -> None:
    """Its bounds are about the samples that were read, which a reader would take for all."""
    lines = judged_lines(make_sample(1), {"rules": CORRECT})
    told: list[str] = []
    for status in (RunStatus.INTERRUPTED, RunStatus.COMPLETE):
        workspace, run = make_run(tmp_path / status, lines)
        write_manifest(run.manifest, make_manifest(status=status))
        report, _ = load_report(workspace.root, None)
        out = StringIO()
        print_sections(report_sections(report), Console(file=out, width=100))
        told.append(out.getvalue())
        assert report_document(report, None)["unreached"] == (2 if status is RunStatus.INTERRUPTED else 0)
        assert ("2 not reached yet" in render_html(report)) == (status is RunStatus.INTERRUPTED)

    sentence = "Not finished: 2 of 3 samples not reached yet, and in no count or bound below."
    assert [sentence in text for text in told] == [True, False]

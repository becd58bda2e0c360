"""What a run with several takes says of a judge's agreement with itself."""

from datetime import UTC, datetime
from pathlib import Path

from mixseek.analysis.run.summarise import summarise_run
from mixseek.domain.judgments import Method, ValidJudgment
from mixseek.domain.samples import Sample
from mixseek.reports.summary import describe_summary, summary_document
from mixseek.storage.journal.journal import JournalFile
from mixseek.storage.journal.manifest import JudgeEntry, Manifest, ProtocolEntry, RunStatus, write_manifest
from mixseek.storage.journal.records import encode_outcome, encode_sample
from mixseek.storage.workspace import Workspace

RIGHT = ValidJudgment(1.0, "correct", {}, Method.CROSS_JUDGE)
WRONG = ValidJudgment(0.0, "incorrect", {}, Method.CROSS_JUDGE)


def test_every_take_counts_and_the_spread_is_told(tmp_path: Path) -> None:
    """Two samples, three takes each: one unanimous, one not."""
    workspace = Workspace(tmp_path)
    run = workspace.run("r")
    run.create()
    now = datetime.now(UTC)
    manifest = Manifest(
        run="r",
        status=RunStatus.COMPLETE,
        created_at=now,
        started_at=now,
        dataset={},
        sample_count=2,
        protocol=ProtocolEntry(name="p", version="1", language="en", hash="h"),
        judges=(JudgeEntry(name="model", kind="openai"),),
        repeats=3,
    )
    write_manifest(run.manifest, manifest)
    takes = {"a": (RIGHT, RIGHT, RIGHT), "b": (RIGHT, WRONG, RIGHT)}
    with JournalFile(run.journal) as journal:
        for name, outcomes in takes.items():
            sample = Sample(name, "text")
            journal.append([encode_sample(sample)])
            for take, outcome in enumerate(outcomes, start=1):
                journal.append([encode_outcome(sample, sample.key(), "model", outcome, take)])

    summary = summarise_run(workspace, run, manifest)

    assert summary.score.counts.valid == 6
    assert summary.is_complete
    (spread,) = summary.spreads
    assert (spread.samples, spread.unanimous) == (2, 1)
    assert abs(spread.mean_spread - 0.2357) < 0.001
    assert summary_document(summary)["spreads"]["model"]["unanimous"] == 1
    assert "agrees with itself on 1 of 2" in describe_summary(summary)

"""A run from its request to its seal, without a command line."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from mixseek.analysis.run.judged import judge_dataset
from mixseek.analysis.run.summary import RunSummary
from mixseek.domain.ports import ProgressSink
from mixseek.runs.judge import Interruption
from mixseek.runs.requests.request import JudgeRequest
from mixseek.storage.journal.manifest import RunStatus, read_manifest, write_manifest


@dataclass
class Watcher:
    """Counts what it is told, and asks to stop after so many batches."""

    stop_after: int = 1_000_000
    samples: int = 0
    skipped: int = 0
    told: list[str] = field(default_factory=list)

    def advance(self, counts: Mapping[str, int]) -> None:
        self.samples += counts["samples"]
        self.skipped += counts["skipped"]
        self.stop_after -= 1

    @contextmanager
    def show(self, total: int) -> Iterator[ProgressSink]:
        yield self

    def judge(self, directory: Path, **changes: Any) -> RunSummary | Interruption:
        request = JudgeRequest(str(directory / "data.jsonl"), directory / "ws", run="r", workers=1, **changes)
        return judge_dataset(request, self.show, lambda: self.stop_after <= 0, self.told.append)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    rows = [{"id": str(n), "response": f"The answer is {n}.", "ground_truth": str(n)} for n in range(1_200)]
    (tmp_path / "data.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return tmp_path


def status_of(place: Path) -> RunStatus:
    return read_manifest(place / "ws" / "runs" / "r" / "manifest.json").status


def test_a_stop_leaves_a_run_that_goes_on_where_it_was(place: Path) -> None:
    """The second command judges the rest and nothing twice."""
    first, second = Watcher(stop_after=1), Watcher()

    stopped = first.judge(place)
    assert isinstance(stopped, Interruption)
    assert status_of(place) is RunStatus.INTERRUPTED

    finished = second.judge(place)
    assert isinstance(finished, RunSummary)
    assert finished.is_complete
    assert finished.score.counts.valid == 1_200
    assert (first.samples, second.skipped, second.samples) == (512, 512, 688)
    assert status_of(place) is RunStatus.COMPLETE
    assert "resuming run r: 512 of 1,200 samples" in second.told[0]


def test_a_complete_run_is_shown_without_judging(place: Path) -> None:
    """Nobody is asked, and the caller is told why it was so quick."""
    Watcher().judge(place)
    again = Watcher()

    summary = again.judge(place)

    assert isinstance(summary, RunSummary)
    assert summary.is_complete
    assert again.samples == again.skipped == 0
    assert again.told == ["run r is complete; nothing was judged again"]


def test_a_journal_that_was_cut_by_hand_is_completed_again_where_it_was_never_sealed(place: Path) -> None:
    """By an older mixseek, or by somebody who took the seal out to go on with what is left."""
    Watcher().judge(place)
    journal = place / "ws" / "runs" / "r" / "journal.jsonl"
    journal.write_bytes(journal.read_bytes()[: journal.stat().st_size // 2])
    manifest = journal.with_name("manifest.json")
    write_manifest(manifest, read_manifest(manifest).model_copy(update={"journal": None}))
    again = Watcher()

    summary = again.judge(place)

    assert isinstance(summary, RunSummary)
    assert summary.is_complete
    assert 0 < again.samples < 1_200
    assert again.samples + again.skipped == 1_200


def test_a_limit_judges_the_first_samples_only(place: Path) -> None:
    """In the middle of a batch as well."""
    watcher = Watcher()

    summary = watcher.judge(place, limit=700)

    assert isinstance(summary, RunSummary)
    assert summary.is_complete
    assert watcher.samples == summary.header.samples == 700


def test_the_seal_holds_the_counts(place: Path) -> None:
    """By judge and status, noughts included."""
    Watcher().judge(place)
    manifest = read_manifest(place / "ws" / "runs" / "r" / "manifest.json")

    assert manifest.counts == {"rules": {"valid": 1_200, "invalid": 0, "undecided": 0, "missing": 0}}
    assert manifest.finished_at is not None

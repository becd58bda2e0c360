"""Many samples: order, stopping, crashes, one process or several."""

import contextlib
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from tests.unit.engine.stub_judging import StubEncode, StubProtocol, StubRules

from mixseek.domain.samples import Sample
from mixseek.engine import executor as many
from mixseek.engine.executor import judge_many
from mixseek.engine.offline import Assignment, Batch
from mixseek.errors import DatasetError, StorageError, WorkerError

ASSIGNMENT = Assignment(StubProtocol(), (StubRules(),), False, StubEncode())
PROCESS_COUNTS = [1, 2]


@dataclass
class ListJournal:
    """Keeps lines in memory."""

    lines: list[bytes] = field(default_factory=list)

    def append(self, lines: Iterable[bytes]) -> None:
        # Another process sends its lines in one piece.
        self.lines.extend(b"".join(lines).splitlines(keepends=True))


@dataclass
class Progress:
    """Adds up what it is told."""

    journal: ListJournal
    counted: int = 0
    skipped: int = 0

    def advance(self, counts: Mapping[str, int]) -> None:
        self.skipped += counts["skipped"]
        self.counted += counts["samples"]
        assert counts["samples"] == counts.get("valid", 0)
        assert self.counted == len(self.journal.lines)  # shown means durable


@pytest.fixture(autouse=True)
def _processes_pay_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(many, "SAMPLES_WORTH_PROCESSES", 20)


def make_batches(count: int, size: int = 10, odd: Mapping[int, str] | None = None) -> list[Batch]:
    """`odd` gives the response of single samples by number."""
    samples = [Sample(f"s{n}", (odd or {}).get(n, "4"), ground_truth="4") for n in range(count)]
    return [Batch(samples[at : at + size]) for at in range(0, count, size)]


def judge(
    batches: Iterable[Batch], workers: int, stop: Callable[[], bool] = lambda: False
) -> tuple[bool, ListJournal, Progress]:
    journal = ListJournal()
    progress = Progress(journal)
    ended = judge_many(batches, ASSIGNMENT, journal, progress, workers=workers, stop=stop)
    return ended, journal, progress


@pytest.mark.parametrize("workers", PROCESS_COUNTS)
def test_results_are_journaled_in_dataset_order(workers: int) -> None:
    """However the batches were spread."""
    ended, journal, progress = judge(make_batches(95), workers)

    assert ended
    assert journal.lines == [f"s{n} rules valid\n".encode() for n in range(95)]
    assert progress.counted == 95


@pytest.mark.parametrize("workers", PROCESS_COUNTS)
def test_a_stop_finishes_what_was_begun_and_says_that_it_is_not_the_end(workers: int) -> None:
    """The journal is a prefix of the undisturbed one, in whole batches."""
    asked = iter(range(1_000))
    ended, journal, _ = judge(make_batches(200), workers, stop=lambda: next(asked) >= 6)

    assert not ended
    assert journal.lines == [f"s{n} rules valid\n".encode() for n in range(60)]


@pytest.mark.parametrize("workers", PROCESS_COUNTS)
def test_a_dataset_that_breaks_midway_loses_nothing_before_the_break(workers: int) -> None:
    """The error is raised after what was read has been judged and journaled."""

    def breaking() -> Iterator[Batch]:
        yield from make_batches(50)
        raise DatasetError("line 51 is not JSON")

    journal = ListJournal()
    with pytest.raises(DatasetError, match="line 51"):
        judge_many(breaking(), ASSIGNMENT, journal, Progress(journal), workers=workers, stop=lambda: False)

    assert len(journal.lines) == 50


def test_a_process_that_dies_is_one_clear_error_and_keeps_what_came_before() -> None:
    """Out of memory, say: the run resumes behind the last journaled batch."""
    journal = ListJournal()
    batches = make_batches(200, odd={55: "die"})
    with pytest.raises(WorkerError, match="run the same command again to resume"):
        judge_many(batches, ASSIGNMENT, journal, Progress(journal), workers=2, stop=lambda: False)

    expected = [f"s{n} rules valid\n".encode() for n in range(200)]
    assert len(journal.lines) <= 50
    assert journal.lines == expected[: len(journal.lines)]


@pytest.mark.parametrize("workers", PROCESS_COUNTS)
def test_a_journal_that_cannot_be_written_ends_everything(workers: int) -> None:
    """The error comes through at once, and no process is left behind."""

    class FullDisk:
        def append(self, lines: Iterable[bytes]) -> None:
            raise StorageError("the disk is full")

    with pytest.raises(StorageError, match="disk is full"):
        judge_many(
            make_batches(200), ASSIGNMENT, FullDisk(), Progress(ListJournal()), workers=workers, stop=lambda: False
        )

    assert judging_processes() == []


def judging_processes() -> list[int]:
    """Children of ours that judge, whichever thread has started them."""
    children = []
    for task in Path(f"/proc/{os.getpid()}/task").iterdir():
        # A thread may end while it is looked at.
        with contextlib.suppress(FileNotFoundError):
            children += (task / "children").read_text(encoding="ascii").split()
    return [int(pid) for pid in children if b"mixseek.engine" in command_of(pid)]


def command_of(pid: str) -> bytes:
    """Nothing of a process that is gone."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except FileNotFoundError:
        return b""


def test_a_script_is_not_run_again_by_the_processes_that_it_starts(tmp_path: Path) -> None:
    """Nobody who judges from a script needs to know of `if __name__ == "__main__"`."""
    script = tmp_path / "script.py"
    script.write_text(
        """
from pathlib import Path

with Path("begun.txt").open("a") as file:
    file.write("begun\\n")

from mixseek.engine import executor
from tests.unit.engine.test_many import ASSIGNMENT, ListJournal, Progress, make_batches, judge_many

executor.SAMPLES_WORTH_PROCESSES = 20
journal = ListJournal()
judge_many(make_batches(60), ASSIGNMENT, journal, Progress(journal), workers=2, stop=lambda: False)
assert len(journal.lines) == 60
""",
        encoding="utf-8",
    )
    root = Path(__file__).parents[3]
    done = subprocess.run(
        [sys.executable, script], cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(root)}, check=False
    )

    assert done.returncode == 0
    assert (tmp_path / "begun.txt").read_text() == "begun\n"


def test_processes_killed_together_with_us_are_an_interruption() -> None:
    """A SIGTERM to the whole group: not a crash, and not the end either."""
    asked = iter(range(1_000))
    ended, _, _ = judge(make_batches(60, odd={5: "die"}), 2, stop=lambda: next(asked) >= 4)

    assert not ended


@pytest.mark.parametrize("workers", PROCESS_COUNTS)
def test_a_bug_in_a_judge_is_not_swallowed(workers: int) -> None:
    """It surfaces with the sample's id, from another process too."""
    with pytest.raises(LookupError, match="a bug in a judge") as caught:
        judge(make_batches(60, odd={33: "raise"}), workers)

    assert "while judging sample 's33'" in caught.value.__notes__


def test_a_short_dataset_starts_no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Starting two interpreters costs more than judging a few samples."""

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a process was asked for")

    monkeypatch.setattr(many, "judge_in_processes", refuse)
    ended, journal, _ = judge(make_batches(15), workers=2)

    assert ended
    assert len(journal.lines) == 15


@pytest.mark.parametrize("workers", PROCESS_COUNTS)
def test_what_was_skipped_moves_the_progress_only(workers: int) -> None:
    """A resumed run shows the whole dataset, and writes only the rest."""
    batches = [Batch([], skipped=10), *make_batches(30)]
    _, journal, progress = judge(batches, workers)

    assert progress.skipped == 10
    assert len(journal.lines) == 30


def test_few_samples_with_long_texts_are_not_held_until_there_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is read before anything is judged is bounded by its length too, and leaves the memory in its turn."""
    monkeypatch.setattr(many, "CHARACTERS_WORTH_PROCESSES", 100)
    read: list[int] = []

    def batches() -> Iterator[Batch]:
        for number in range(10):
            read.append(number)
            yield Batch([Sample(f"s{number}", "4" * 60)])

    head, is_short = many.read_head(batches())

    assert (len(head), is_short, read) == (2, False, [0, 1])
    assert len(list(many.drain(head))) == 2
    assert head == []

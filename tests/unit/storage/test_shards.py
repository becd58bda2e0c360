"""Journals of parts of a run: sealed by a rename, appended once, taken over after any death."""

from pathlib import Path

import pytest

from mixseek.domain.samples import Sample
from mixseek.storage.journal.journal import JournalFile, says_nothing
from mixseek.storage.journal.records import encode_sample
from mixseek.storage.journal.shards import append_shard, part_path, seal_shard, seal_torn, take_over_leftovers
from mixseek.storage.workspace import RunDirectory

LINES = [encode_sample(Sample(f"s{number}", "x" * number)) for number in range(40)]


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    run = RunDirectory("r", tmp_path / "runs" / "r")
    (run.shards / "1").mkdir(parents=True)
    return run


def write_part(run: RunDirectory, number: int, lines: list[bytes], attempt: int = 1) -> Path:
    part = part_path(run.shards / "1", number, attempt)
    with JournalFile(part) as journal:
        journal.append(lines)
    return part


def test_a_sealed_shard_follows_on_the_journal_and_is_gone(run: RunDirectory) -> None:
    """Byte for byte, and the journal's seal covers it."""
    sealed = seal_shard(write_part(run, 0, LINES[10:]))

    with JournalFile(run.journal) as journal:
        journal.append(LINES[:10])
        append_shard(sealed, journal)
        seal = journal.seal

    assert run.journal.read_bytes() == b"".join(LINES)
    assert seal.bytes == len(b"".join(LINES))
    assert list((run.shards / "1").glob("*.jsonl")) == []


@pytest.mark.parametrize("appended", [0, 1, 15, 29, 30])
def test_a_shard_that_was_appended_in_part_is_not_appended_twice(run: RunDirectory, appended: int) -> None:
    """Whoever dies halfway has left the journal's length in the shard's name."""
    before, shard = b"".join(LINES[:10]), seal_shard(write_part(run, 3, LINES[10:]))
    shard.rename(shard.with_name(f"000003-1@{len(before)}.jsonl"))
    # The last line of what was written is torn, as a kill leaves it.
    run.journal.write_bytes(before + b"".join(LINES[10 : 10 + appended]) + (b'{"t":"sam' if appended < 30 else b""))

    with JournalFile(run.journal) as journal:
        assert take_over_leftovers(run, journal) == 1

    assert run.journal.read_bytes() == b"".join(LINES)
    assert not run.shards.exists()


def test_what_a_killed_command_left_is_taken_over_in_order_sealed_or_torn(run: RunDirectory) -> None:
    """By number and attempt; of what was being written, the whole lines."""
    torn = write_part(run, 1, LINES[10:20])
    with torn.open("ab") as stream:
        stream.write(b'{"t":"sample","key":"')
    seal_shard(write_part(run, 1, LINES[20:30], attempt=2))
    seal_shard(write_part(run, 10, LINES[30:]))
    seal_shard(write_part(run, 0, LINES[:10]))

    assert not says_nothing(run.journal)  # or the run would be thrown away as one that never began
    with JournalFile(run.journal) as journal:
        assert take_over_leftovers(run, journal) == 4

    assert run.journal.read_bytes() == b"".join(LINES)
    assert says_nothing(run.journal)  # samples alone are no judgments


def test_an_attempt_that_wrote_nothing_leaves_nothing(run: RunDirectory) -> None:
    """A worker may die before it has a journal."""
    assert seal_torn(part_path(run.shards / "1", 7, 1)) is None

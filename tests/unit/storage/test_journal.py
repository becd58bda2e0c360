"""What was appended is on disk, whatever happens in between."""

import contextlib
import errno
import os
import signal
import subprocess
import sys
import zlib
from collections.abc import Iterator
from io import FileIO
from pathlib import Path

import pytest
from tests.unit.storage.material import CORRECT, INVALID, judged_lines, make_manifest, make_sample

from mixseek.errors import BusyError, DamagedError, StorageError
from mixseek.storage.journal import journal as journal_module
from mixseek.storage.journal.journal import JournalFile, VerifiedStart, read_lines, read_records, verify_journal
from mixseek.storage.journal.manifest import JournalSeal, RunStatus, write_manifest
from mixseek.storage.journal.records import OutcomeRecord, SampleRecord
from mixseek.storage.workspace import RunDirectory

LINES = judged_lines(make_sample(1), {"rules": CORRECT}) + judged_lines(make_sample(2), {"rules": INVALID})
SECOND = judged_lines(make_sample(3), {"rules": CORRECT})


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.jsonl"


def test_lines_come_back_in_the_order_of_writing(path: Path) -> None:
    """Across openings."""
    with JournalFile(path) as journal:
        journal.append(LINES[:2])
        journal.append(iter(LINES[2:]))
        journal.append([])
        assert journal.length_bytes == path.stat().st_size
    with JournalFile(path) as journal:
        journal.append(SECOND)

    assert path.read_bytes() == b"".join(LINES + SECOND)
    assert [line for _, line in read_lines(path)] == LINES + SECOND
    assert [type(record) for record in read_records(path)] == [SampleRecord, OutcomeRecord] * 3


def test_every_append_is_synced_before_it_returns(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once for all its lines."""
    synced: list[int] = []
    with JournalFile(path) as journal:
        monkeypatch.setattr(os, "fsync", lambda descriptor: synced.append(os.fstat(descriptor).st_size))
        journal.append(LINES)
        journal.append(SECOND)

    assert synced == [len(b"".join(LINES)), len(b"".join(LINES + SECOND))]


def test_a_torn_end_is_cut_at_every_byte_of_the_last_lines(path: Path) -> None:
    """Whatever kill -9 left, complete lines stay, and the next append begins on a line of its own."""
    whole = b"".join(LINES)
    first = len(b"".join(LINES[:2]))
    for cut in range(first, len(whole) + 1):
        path.write_bytes(whole[:cut])
        complete = whole[: whole.rfind(b"\n", 0, cut) + 1]
        assert b"".join(line for _, line in read_lines(path)) == complete

        with JournalFile(path) as journal:
            assert journal.length_bytes == len(complete)
            journal.append(SECOND)

        assert path.read_bytes() == complete + b"".join(SECOND)
        assert len(list(read_records(path))) == complete.count(b"\n") + 2


def test_a_torn_end_longer_than_a_block_is_cut(path: Path) -> None:
    """A response may be megabytes long."""
    path.write_bytes(LINES[0] + b"x" * 200_000)

    with JournalFile(path) as journal:
        assert journal.length_bytes == len(LINES[0])
    path.write_bytes(b"y" * 200_000)
    with JournalFile(path) as journal:
        assert journal.length_bytes == 0


@pytest.mark.parametrize("damage", [LINES[1][:40] + LINES[2], b"\n", b"[]\n", b"\0" * 50 + b"\n", b'{"t":"sample"}\n'])
def test_a_line_torn_anywhere_else_is_an_error_that_names_the_byte(path: Path, damage: bytes) -> None:
    """With the two things that can be done about it."""
    path.write_bytes(LINES[0] + damage + LINES[3])

    with pytest.raises(StorageError) as caught:
        list(read_records(path))

    offset = len(LINES[0])
    assert str(caught.value).startswith(f"{path}: damaged at byte {offset} (")
    assert f"`truncate -s {offset} {path}`" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_full_disk_is_one_line_and_no_half_line_stays(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some bytes are taken, then none: that is how disks fill up."""
    import mixseek.storage.journal.journal as module

    def fill_up(file: object, data: bytes) -> None:
        os.write(file.fileno(), data[:25])  # type: ignore[attr-defined]  # stands in for write_all
        raise OSError(errno.ENOSPC, "No space left on device")

    with JournalFile(path) as journal:
        journal.append(LINES[:2])
        with monkeypatch.context() as patched:
            patched.setattr(module, "write_all", fill_up)
            with pytest.raises(StorageError, match=r"cannot append to the journal: the disk is full; free some space"):
                journal.append(LINES[2:])
        assert path.read_bytes() == b"".join(LINES[:2])
        # Space was freed: the same journal goes on.
        journal.append(LINES[2:])

    assert path.read_bytes() == b"".join(LINES)


def test_a_failed_sync_leaves_nothing_uncounted(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was not synced was not written."""

    def fail(descriptor: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    with JournalFile(path) as journal:
        journal.append(LINES[:2])
        with monkeypatch.context() as patched:
            patched.setattr(os, "fsync", fail)
            with pytest.raises(StorageError, match="cannot append to the journal: input/output error"):
                journal.append(LINES[2:])

    assert path.read_bytes() == b"".join(LINES[:2])


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_dev_full_is_a_full_disk(path: Path) -> None:
    """The kernel's own refusal, not a played one."""
    path.symlink_to("/dev/full")

    with JournalFile(path) as journal, pytest.raises(StorageError, match="the disk is full"):
        journal.append(LINES)


def test_a_directory_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    """A file in the way stands in for a read-only workspace."""
    (tmp_path / "run").write_text("")

    with pytest.raises(StorageError, match=r"journal\.lock: cannot lock: not a directory"):
        JournalFile(tmp_path / "run" / "journal.jsonl")


@pytest.mark.parametrize("code", [errno.EROFS, errno.EACCES])
def test_a_read_only_workspace_is_told_what_to_do(path: Path, monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    """Played, because root may write anywhere."""

    def refuse(self: Path, *_: object, **__: object) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(Path, "open", refuse)

    with pytest.raises(StorageError, match="make it writable or choose another place"):
        JournalFile(path)


def test_a_second_writer_in_the_same_process_is_refused(path: Path) -> None:
    """And let in when the first is done."""
    with JournalFile(path), pytest.raises(BusyError, match="the run is being written by this process"):
        JournalFile(path)
    JournalFile(path).close()


HOLDER = """
import os, signal, sys
from pathlib import Path
from mixseek.storage.journal.journal import JournalFile
journal = JournalFile(Path(sys.argv[1]))
journal.append([sys.argv[2].encode()])
child = os.fork() if "fork" in sys.argv else 0
if "fork" in sys.argv and child == 0:
    signal.pause()
print(child, flush=True)
signal.pause()
"""


@contextlib.contextmanager
def holding(path: Path, tail: str, *extra: str) -> "Iterator[tuple[subprocess.Popen[str], int]]":
    """Another process that writes the journal, killed at the end, and the process id of its child (0: none)."""
    command = [sys.executable, "-c", HOLDER, str(path), tail, *extra]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as holder:
        try:
            assert holder.stdout is not None
            yield holder, int(holder.stdout.readline())
        finally:
            holder.kill()


def test_a_second_writer_in_another_process_is_refused_until_the_first_is_killed(path: Path) -> None:
    """kill -9 gives the lock back, and what it had half written is cut."""
    with holding(path, "half a li") as (holder, _):
        with pytest.raises(BusyError) as caught:
            JournalFile(path)
        assert str(caught.value) == (
            f"{path.parent}: the run is being written by process {holder.pid}; wait for it, or choose another name"
        )

    with JournalFile(path) as journal:
        assert journal.length_bytes == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_child_that_outlives_a_killed_writer_does_not_keep_the_lock(path: Path) -> None:
    """Worker processes may linger for a moment; the run must be resumable at once."""
    with holding(path, "x", "fork") as (holder, child):
        try:
            holder.kill()
            holder.wait()
            JournalFile(path).close()
        finally:
            os.kill(child, signal.SIGKILL)


def test_reading_a_journal_that_is_not_there_is_one_line(path: Path) -> None:
    """Also while it is being written by somebody: readers take no lock."""
    with pytest.raises(StorageError, match="cannot read the journal: no such file"):
        list(read_records(path))
    with JournalFile(path) as journal:
        journal.append(LINES)
        assert len(list(read_records(path))) == 4


def test_of_a_growing_journal_only_what_was_added_is_verified_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By a reader that knows its start; a change in what was added is noticed, one in the start at the run's end."""
    run = RunDirectory("trial", tmp_path)
    read: list[int] = []
    blocks = journal_module.read_blocks

    def note(file: FileIO, begin: int, end: int) -> Iterator[bytes]:
        read.append(end - begin)
        return blocks(file, begin, end)

    def grow(line: bytes) -> JournalSeal:
        with JournalFile(run.journal) as journal:
            journal.append([line])
            write_manifest(run.manifest, make_manifest(journal=journal.seal))
            return journal.seal

    grow(b"x" * 9_999 + b"\n")
    known = verify_journal(run)
    seal = grow(b"one more line\n")
    monkeypatch.setattr(journal_module, "read_blocks", note)

    assert known == VerifiedStart(10_000, zlib.crc32(b"x" * 9_999 + b"\n"))
    assert verify_journal(run, known) == VerifiedStart(seal.bytes, seal.crc32 or 0)
    assert read == [len(b"one more line\n")]
    data = run.journal.read_bytes()
    run.journal.write_bytes(data.replace(b"one more", b"two more"))
    with pytest.raises(DamagedError, match="changed since it was written"):
        verify_journal(run, known)
    run.journal.write_bytes(data.replace(b"xxx", b"yyy", 1))
    write_manifest(run.manifest, make_manifest(status=RunStatus.COMPLETE, journal=seal))
    with pytest.raises(DamagedError, match="changed since it was written"):
        verify_journal(run, known)

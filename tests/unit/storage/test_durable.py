"""Whole files or none."""

import errno
import os
from pathlib import Path

import pytest

from mixseek.errors import StorageError
from mixseek.storage.durable import replacing, storage_error


def test_the_old_file_stands_until_the_new_one_is_complete(tmp_path: Path) -> None:
    """A reader never sees half of it."""
    path = tmp_path / "file"
    path.write_bytes(b"old")

    with replacing(path) as stream:
        stream.write(b"new")
        assert path.read_bytes() == b"old"

    assert path.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [path]


def test_a_failure_in_between_changes_nothing(tmp_path: Path) -> None:
    """Neither the old file nor the directory."""
    path = tmp_path / "file"
    path.write_bytes(b"old")

    def write_half() -> None:
        with replacing(path) as stream:
            stream.write(b"ne")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        write_half()

    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_disk_failure_is_one_line_about_the_file_that_was_wanted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not about the temporary one."""

    def fail(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)

    with (
        pytest.raises(StorageError, match=r"/file: cannot write: the disk is full"),
        replacing(tmp_path / "file") as out,
    ):
        out.write(b"x")

    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("code", "remedy"),
    [
        (errno.ENOSPC, "the disk is full; free some space and run the same command again"),
        (errno.EDQUOT, "the disk is full; free some space and run the same command again"),
        (errno.EROFS, "read-only file system; make it writable or choose another place"),
        (errno.EACCES, "permission denied; make it writable or choose another place"),
        (errno.EIO, "input/output error"),
    ],
)
def test_each_cause_has_its_remedy(code: int, remedy: str) -> None:
    """What, where, what to do."""
    message = str(storage_error("write", Path("ws/file"), OSError(code, os.strerror(code))))

    assert message.startswith("ws/file: cannot write: ")
    assert remedy in message

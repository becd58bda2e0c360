"""Stdin as a dataset."""

import errno
import io
from pathlib import Path

import pytest

from mixseek.datasets.reader import open_dataset
from mixseek.errors import DatasetError, StorageError


def test_stdin_is_copied_so_that_it_can_be_read_twice(tmp_path: Path) -> None:
    """The same input is the same file, so the same command resumes."""
    content = b'{"response": "a"}\n{"response": "b"}\n'
    datasets = [
        open_dataset("-", mapping={}, spool_directory=tmp_path / "spool", stdin=io.BytesIO(content)) for _ in range(2)
    ]

    assert [[sample.response for sample in batch] for batch in datasets[0].batches(9)] == [["a", "b"]]
    assert datasets[0].survey().rows == 2
    assert datasets[0].description["path"] == "-"
    assert datasets[0].stem == "stdin"
    assert datasets[0].path == datasets[1].path
    assert [path.name for path in (tmp_path / "spool").iterdir()] == [datasets[0].path.name]


def test_stdin_errors_are_named_by_line_under_the_name_the_user_gave(tmp_path: Path) -> None:
    """Nobody knows where the copy is."""
    stdin = io.BytesIO(b'{"response": "a"}\n{"text": 1}\n')

    with pytest.raises(DatasetError, match=r"^-: line 2: row has no `response`"):
        open_dataset("-", mapping={}, spool_directory=tmp_path, stdin=stdin).survey()


def test_a_terminal_is_no_input(tmp_path: Path) -> None:
    """Waiting for someone to type a dataset would look like hanging."""

    class Terminal(io.BytesIO):
        def isatty(self) -> bool:
            return True

    with pytest.raises(DatasetError, match="nothing is piped in"):
        open_dataset("-", mapping={}, spool_directory=tmp_path, stdin=Terminal())
    with pytest.raises(DatasetError, match="stdin cannot be read here"):
        open_dataset("-", mapping={}, spool_directory=None)


def test_a_disk_that_fills_up_while_stdin_is_copied_is_one_line(tmp_path: Path) -> None:
    """And no half copy stays."""

    class Endless(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(StorageError, match="cannot keep a copy of stdin: the disk is full"):
        open_dataset("-", mapping={}, spool_directory=tmp_path / "spool", stdin=Endless())

    assert list((tmp_path / "spool").iterdir()) == []

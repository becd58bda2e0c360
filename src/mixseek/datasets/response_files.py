"""Judged outputs that are files of their own: read as text, known by the digest of their bytes."""

import hashlib
import importlib.util
import os
import stat
from pathlib import Path, PureWindowsPath
from typing import Any

from mixseek.datasets.pdf import extract_text
from mixseek.datasets.rows import RowError
from mixseek.errors import reason_of

PATH_COLUMN = "response_path"
PDF_SUFFIX = ".pdf"
SUFFIXES = (".txt", ".md", ".json", PDF_SUFFIX)
MAX_FILE_BYTES = 32 << 20
PDF_INSTALL = 'pip install "mixseek[pdf]"'
# A dataset is read twice; text that took seconds to get out of a PDF is kept in between, up to so much of it.
_KEPT_CHARACTERS = 16 << 20
_UTF8_MARK = b"\xef\xbb\xbf"


class ResponseFiles:
    """Files named by the rows of one dataset, relative to its directory.

    They stay below it, symbolic links resolved, unless the user allows more: a dataset that somebody else wrote must
    not send this machine's files to a judge.
    """

    def __init__(self, directory: Path, *, allows_outside: bool = False) -> None:
        self.directory = directory
        self._allows_outside = allows_outside
        self._kept: dict[tuple[str, str], str] = {}
        self._kept_characters = 0

    def fill(self, values: dict[str, Any]) -> tuple[str, int] | None:
        """Put the file's text where the row has only its path; its sha256 and size, None for a row with the text."""
        named_path = values.pop(PATH_COLUMN, None)
        if named_path is None:
            return None
        if "response" in values:
            raise RowError(f"both `response` and `{PATH_COLUMN}` are given; keep the one that is to be judged")
        suffix = Path(named_path).suffix.lower()
        if suffix not in SUFFIXES:
            ending = f"suffix {suffix}" if suffix else "no suffix"
            raise RowError(f"`{PATH_COLUMN}` {named_path!r} has {ending}; outputs are read from {', '.join(SUFFIXES)}")
        data = self.read_bytes(named_path, PATH_COLUMN)
        digest = hashlib.sha256(data).hexdigest()
        is_pdf = suffix == PDF_SUFFIX
        values["response"] = (
            self._read_pdf(named_path, data, digest) if is_pdf else decode_text(named_path, data, PATH_COLUMN)
        )
        # The last part of the path, also of one that was written on Windows.
        values.setdefault("output_id", PureWindowsPath(named_path).name or named_path)
        values["metadata"] = {**values.get("metadata", {}), PATH_COLUMN: named_path, "response_sha256": digest}
        return digest, len(data)

    def read_bytes(self, named_path: str, column: str) -> bytes:
        """The content of a file that a row may name."""
        path = self.directory / named_path
        if not self._allows_outside:
            refuse_outside(path, named_path, self.directory, column)
        return read_bytes(path, named_path, column)

    def _read_pdf(self, named_path: str, data: bytes, digest: str) -> str:
        text = self._kept.get((named_path, digest))
        if text is None:
            if importlib.util.find_spec("pypdf") is None:
                raise RowError(f"`{PATH_COLUMN}` {named_path!r} is a PDF, which needs an extra: {PDF_INSTALL}")
            text = extract_text(named_path, data)
            if self._kept_characters + len(text) <= _KEPT_CHARACTERS:
                self._kept[named_path, digest] = text
                self._kept_characters += len(text)
        return text


def refuse_outside(path: Path, named_path: str, directory: Path, column: str) -> None:
    """Raises RowError for a file that does not lie below; what is not there is somebody else's to say."""
    try:
        is_inside = path.resolve().is_relative_to(directory.resolve())
    except (OSError, ValueError, RuntimeError):
        # No path, or links that lead in a circle: reading it says which.
        return
    if not is_inside:
        raise RowError(
            f"`{column}` {named_path!r} lies outside the dataset's directory; copy the file there, or allow it with "
            "--allow-outside-files"
        )


def read_bytes(path: Path, named_path: str, column: str) -> bytes:
    """A regular file of bearable size; looked at before it is opened, because a pipe would wait for ever."""
    what = f"`{column}` {named_path!r}"
    try:
        refuse_unreadable(path.stat(), what)
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        place = "" if path == Path(named_path) else f" in {path.parent}: paths begin at the dataset's directory"
        raise RowError(f"{what}: no such file{place}") from None
    except OSError as error:
        raise RowError(f"{what}: cannot be read: {reason_of(error)}") from error
    except RowError:
        raise
    except ValueError as error:
        raise RowError(f"{what}: not a path ({error})") from error


def refuse_unreadable(status: os.stat_result, what: str) -> None:
    """Anything but a regular file, and what would fill the memory."""
    if stat.S_ISDIR(status.st_mode):
        raise RowError(f"{what} is a directory; name a file")
    if not stat.S_ISREG(status.st_mode):
        raise RowError(f"{what} is not a regular file; copy it into one")
    if status.st_size > MAX_FILE_BYTES:
        raise RowError(
            f"{what} has {status.st_size >> 20} MB, at most {MAX_FILE_BYTES >> 20} MB are read; "
            "cut it, or put the text that is to be judged into `response`"
        )


def decode_text(named_path: str, data: bytes, column: str) -> str:
    """UTF-8 to the letter, line endings included; only a byte-order mark is not text."""
    try:
        return data.removeprefix(_UTF8_MARK).decode()
    except UnicodeDecodeError as error:
        raise RowError(
            f"`{column}` {named_path!r} is not valid UTF-8 (byte 0x{data[error.start]:02x} at offset {error.start}); "
            "convert it to UTF-8"
        ) from error

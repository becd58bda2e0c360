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
        given = values.pop(PATH_COLUMN, None)
        if given is None:
            return None
        if "response" in values:
            raise RowError(f"both `response` and `{PATH_COLUMN}` are given; keep the one that is to be judged")
        suffix = Path(given).suffix.lower()
        if suffix not in SUFFIXES:
            found = f"suffix {suffix}" if suffix else "no suffix"
            raise RowError(f"`{PATH_COLUMN}` {given!r} has {found}; outputs are read from {', '.join(SUFFIXES)}")
        data = self.read_bytes(given, PATH_COLUMN)
        digest = hashlib.sha256(data).hexdigest()
        is_pdf = suffix == PDF_SUFFIX
        values["response"] = self._read_pdf(given, data, digest) if is_pdf else decode_text(given, data, PATH_COLUMN)
        # The last part of the path, also of one that was written on Windows.
        values.setdefault("output_id", PureWindowsPath(given).name or given)
        values["metadata"] = {**values.get("metadata", {}), PATH_COLUMN: given, "response_sha256": digest}
        return digest, len(data)

    def read_bytes(self, given: str, column: str) -> bytes:
        """Of a file that a row may name."""
        path = self.directory / given
        if not self._allows_outside:
            refuse_outside(path, given, self.directory, column)
        return read_bytes(path, given, column)

    def _read_pdf(self, given: str, data: bytes, digest: str) -> str:
        text = self._kept.get((given, digest))
        if text is None:
            if importlib.util.find_spec("pypdf") is None:
                raise RowError(f"`{PATH_COLUMN}` {given!r} is a PDF, which needs an extra: {PDF_INSTALL}")
            text = extract_text(given, data)
            if self._kept_characters + len(text) <= _KEPT_CHARACTERS:
                self._kept[given, digest] = text
                self._kept_characters += len(text)
        return text


def refuse_outside(path: Path, given: str, directory: Path, column: str) -> None:
    """Raises RowError for a file that does not lie below; what is not there is somebody else's to say."""
    try:
        is_inside = path.resolve().is_relative_to(directory.resolve())
    except (OSError, ValueError, RuntimeError):
        # No path, or links that lead in a circle: reading it says which.
        return
    if not is_inside:
        raise RowError(
            f"`{column}` {given!r} lies outside the dataset's directory; copy the file there, or allow it with "
            "--allow-outside-files"
        )


def read_bytes(path: Path, given: str, column: str) -> bytes:
    """A regular file of bearable size; looked at before it is opened, because a pipe would wait for ever."""
    what = f"`{column}` {given!r}"
    try:
        refuse_unreadable(path.stat(), what)
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        place = "" if path == Path(given) else f" in {path.parent}: paths begin at the dataset's directory"
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


def decode_text(given: str, data: bytes, column: str) -> str:
    """UTF-8 to the letter, line endings included; only a byte-order mark is not text."""
    try:
        return data.removeprefix(_UTF8_MARK).decode()
    except UnicodeDecodeError as error:
        raise RowError(
            f"`{column}` {given!r} is not valid UTF-8 (byte 0x{data[error.start]:02x} at offset {error.start}); "
            "convert it to UTF-8"
        ) from error

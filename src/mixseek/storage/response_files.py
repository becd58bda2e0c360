"""Judged outputs that are files of their own: read as text, known by the digest of their bytes."""

import hashlib
import importlib.util
import os
import stat
from dataclasses import dataclass
from pathlib import Path, PureWindowsPath
from typing import Any

from mixseek.storage.rows import RowError

PATH_COLUMN = "response_path"
DIGEST_NAME = "response_sha256"
TEXT_SUFFIXES = (".txt", ".md", ".json")
PDF_SUFFIX = ".pdf"
SUFFIXES = (*TEXT_SUFFIXES, PDF_SUFFIX)
MAX_FILE_BYTES = 32 << 20
PDF_INSTALL = 'pip install "mixseek[pdf]"'
# A dataset is read twice; text that took seconds to get out of a PDF is kept in between, up to so much of it.
_KEPT_CHARACTERS = 16 << 20
_UTF8_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class ResponseFile:
    """What one file says; `sha256` is over its bytes, not over the text that was read out of them."""

    name: str
    text: str
    sha256: str
    size_bytes: int


class ResponseFiles:
    """Files named by the rows of one dataset, relative to its directory.

    They stay below it, symbolic links resolved, unless the user allows more: a dataset that somebody else wrote must
    not send this machine's files to a judge.
    """

    def __init__(self, directory: Path, *, allows_outside: bool = False) -> None:
        self._directory = directory
        self._confines = None if allows_outside else directory
        self._kept: dict[tuple[str, str], str] = {}
        self._kept_characters = 0

    def read(self, given: str) -> ResponseFile:
        """Raises RowError with the one thing that is wrong."""
        path = self._directory / given
        suffix = check_suffix(given)
        refuse_outside(path, given, self._confines)
        data = read_bytes(path, given)
        digest = hashlib.sha256(data).hexdigest()
        text = self._read_pdf(path, given, data, digest) if suffix == PDF_SUFFIX else decode_text(given, data)
        return ResponseFile(file_name(given), text, digest, len(data))

    def _read_pdf(self, path: Path, given: str, data: bytes, digest: str) -> str:
        key = (str(path), digest)
        text = self._kept.get(key)
        if text is None:
            refuse_missing_library(given)
            from mixseek.storage.pdf_text import extract_text

            text = extract_text(given, data)
            if self._kept_characters + len(text) <= _KEPT_CHARACTERS:
                self._kept[key] = text
                self._kept_characters += len(text)
        return text

    def fill(self, values: dict[str, Any]) -> ResponseFile | None:
        """Put the file's text where the row has only its path; None for a row with the text itself."""
        given = values.pop(PATH_COLUMN, None)
        if given is None:
            return None
        if "response" in values:
            raise RowError(f"both `response` and `{PATH_COLUMN}` are given; keep the one that is to be judged")
        file = self.read(given)
        values["response"] = file.text
        values.setdefault("output_id", file.name)
        values["metadata"] = {**values.get("metadata", {}), PATH_COLUMN: given, DIGEST_NAME: file.sha256}
        return file


def check_suffix(given: str) -> str:
    """One of the four, whatever its case."""
    suffix = Path(given).suffix.lower()
    if suffix not in SUFFIXES:
        found = f"suffix {suffix}" if suffix else "no suffix"
        raise RowError(f"`{PATH_COLUMN}` {given!r} has {found}; outputs are read from {', '.join(SUFFIXES)}")
    return suffix


def refuse_outside(path: Path, given: str, confines: Path | None, column: str = PATH_COLUMN) -> None:
    """Raises RowError for a file that does not lie below `confines`; what is not there is somebody else's to say."""
    if confines is None:
        return
    try:
        is_inside = path.resolve().is_relative_to(confines.resolve())
    except (OSError, ValueError, RuntimeError):
        # No path, or links that lead in a circle: reading it says which.
        return
    if not is_inside:
        raise RowError(
            f"`{column}` {given!r} lies outside the dataset's directory; copy the file there, or allow it with "
            "--allow-outside-files"
        )


def read_bytes(path: Path, given: str, column: str = PATH_COLUMN) -> bytes:
    """A regular file of bearable size; looked at before it is opened, because a pipe would wait for ever."""
    try:
        status = path.stat()
        refuse_unreadable(status, f"`{column}` {given!r}")
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        place = "" if path == Path(given) else f" in {path.parent}: paths begin at the dataset's directory"
        raise RowError(f"`{column}` {given!r}: no such file{place}") from None
    except OSError as error:
        raise RowError(f"`{column}` {given!r}: cannot be read: {(error.strerror or str(error)).lower()}") from error
    except RowError:
        raise
    except ValueError as error:
        raise RowError(f"`{column}` {given!r}: not a path ({error})") from error


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


def file_name(given: str) -> str:
    """The last part, also of a path that was written on Windows."""
    return PureWindowsPath(given).name or given


def decode_text(given: str, data: bytes, column: str = PATH_COLUMN) -> str:
    """UTF-8 to the letter, line endings included; only a byte-order mark is not text."""
    try:
        return data.removeprefix(_UTF8_MARK).decode()
    except UnicodeDecodeError as error:
        raise RowError(
            f"`{column}` {given!r} is not valid UTF-8 (byte 0x{data[error.start]:02x} at offset {error.start}); "
            "convert it to UTF-8"
        ) from error


def refuse_missing_library(given: str) -> None:
    """Said with the command that mends it."""
    if importlib.util.find_spec("pypdf") is None:
        raise RowError(f"`{PATH_COLUMN}` {given!r} is a PDF, which needs an extra: {PDF_INSTALL}")

"""What a row names instead of holding it, and what a protocol demands of every row."""

import hashlib
import importlib.util
import io
import logging
import os
import stat
import struct
import zlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path, PureWindowsPath
from typing import TYPE_CHECKING, Any

from mixseek.datasets.rows import RESPONSE_UNKNOWN, RowError, list_names
from mixseek.domain.samples import SampleNeeds
from mixseek.errors import ConfigurationError, reason_of

if TYPE_CHECKING:
    from mixseek.protocols.rubric import TaskRubric

# The text of a PDF.

MAX_PAGES = 2_000
# What pypdf lets through on damaged files, besides its own errors.
_DAMAGE = (
    *(ArithmeticError, AssertionError, AttributeError, LookupError, NotImplementedError, OSError, RecursionError),
    *(TypeError, ValueError, struct.error, zlib.error),
)


def extract_text(given: str, data: bytes) -> str:
    """Pages in order with a blank line between them; raises RowError for a file that holds no readable text."""
    # Late: it comes with the extra `pdf`, which few need.
    from pypdf.errors import DependencyError, PyPdfError

    # Its remarks on malformed files would stand between our own lines on stderr.
    logging.getLogger("pypdf").addHandler(logging.NullHandler())
    try:
        text = read_pages(given, data)
    except DependencyError as error:
        raise RowError(f"{given!r} is an encrypted PDF; save it without encryption") from error
    except RowError:
        raise
    except (PyPdfError, *_DAMAGE) as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise RowError(f"{given!r} cannot be read as a PDF ({reason}); print it anew, or save its text") from error
    if not text:
        raise RowError(f"{given!r} holds no text: a scan? save its text as .txt and name that file")
    return text


def read_pages(given: str, data: bytes) -> str:
    """Raises whatever pypdf raises."""
    from pypdf import PdfReader

    reader = PdfReader(io.BytesIO(data))
    # The empty password opens files that only forbid printing.
    if reader.is_encrypted and not reader.decrypt(""):
        raise RowError(f"{given!r} is a PDF with a password; save it without one")
    pages = len(reader.pages)
    if pages > MAX_PAGES:
        raise RowError(f"{given!r} has {pages:,} pages, at most {MAX_PAGES:,} are read; cut it")
    return "\n\n".join(page.extract_text() for page in reader.pages).strip()


# Judged outputs that are files of their own: read as text, known by the digest of their bytes.

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


# Task rubrics as files: one for all rows, or a directory with one for each task.

RUBRIC_SUFFIXES = (".md", ".markdown", ".txt")
RUBRIC_COLUMN = "rubric_path"


@dataclass(frozen=True, slots=True)
class RubricFile:
    """A rubric with the names by which a row may ask for it: its own first, for a file may have been copied."""

    path: Path
    rubric: "TaskRubric"
    sha256: str
    names: tuple[str, ...]

    @classmethod
    def make(cls, path: Path, text: str) -> "RubricFile":
        """Its name is read here; its type where the protocol's types are known."""
        if not text.strip():
            raise RowError(f"{path}: the rubric is empty; write down what earns and what costs points")
        rubric = read_rubric(text)
        names = dict.fromkeys(name for name in (rubric.task_name, path.stem) if name is not None)
        return cls(path, rubric, hashlib.sha256(text.encode()).hexdigest(), tuple(names))


class RubricDirectory:
    """What `--rubric` names. A file that was named itself serves rows without a task name, too."""

    def __init__(self, path: Path) -> None:
        """Reads every rubric at once: there are as many as tasks, not as rows."""
        self._where = path
        files = read_directory(path) if path.is_dir() else [read_rubric_file(path)]
        self._single = None if path.is_dir() else files[0]
        self._by_name: dict[str, RubricFile] = {}
        for file in files:
            for name in file.names:
                other = self._by_name.setdefault(name, file)
                if other is not file:
                    raise ConfigurationError(
                        f"--rubric {path}: {other.path.name} and {file.path.name} are both for the task {name!r}; "
                        "keep one"
                    )

    def find(self, task_name: str | None) -> RubricFile:
        """Raises RowError with what there is."""
        if self._single is not None and (task_name is None or self._single.rubric.task_name is None):
            return self._single
        if task_name is None:
            raise RowError(
                f"row has no `task_name`, so none of the rubrics in {self._where} is known to be its own; "
                "name the column with --map task_name=COLUMN, or give one file with --rubric FILE"
            )
        if task_name not in self._by_name:
            raise RowError(
                f"no rubric for the task {task_name!r} in {self._where}; there is {list_names(self._by_name)}; "
                f"add {task_name}.md, or put the text into a column `rubric`"
            )
        return self._by_name[task_name]


def read_directory(path: Path) -> list[RubricFile]:
    """Every rubric in it, by name; a README is about the others."""
    files = [
        read_rubric_file(file)
        for file in sorted(path.iterdir())
        if file.suffix.lower() in RUBRIC_SUFFIXES and not file.name.lower().startswith(("readme", "."))
    ]
    if not files:
        raise ConfigurationError(
            f"--rubric {path}: holds no rubrics; put one .md file for each task there, named TASK_NAME.md"
        )
    return files


def read_rubric_file(path: Path) -> RubricFile:
    """Raises ConfigurationError for a file that cannot be read or is empty."""
    if not path.exists():
        raise ConfigurationError(f"--rubric {path}: no such file or directory; check the path")
    try:
        data = read_bytes(path, str(path), "--rubric")
        return RubricFile.make(path, decode_text(str(path), data, "--rubric"))
    except RowError as error:
        raise ConfigurationError(str(error).replace("`--rubric`", "--rubric")) from error


# Thousands of rows share a rubric, and a dataset is read more than once.
@lru_cache(maxsize=256)
def read_rubric(text: str, task_types: tuple[str, ...] | None = None) -> "TaskRubric":
    """What its text says; without types of a protocol's own, by those of seed 000."""
    # Late: most datasets name no rubric.
    from mixseek.protocols.rubric import TASK_TYPES, read_task_rubric

    return read_task_rubric(text, TASK_TYPES if task_types is None else task_types)


@dataclass(frozen=True, slots=True)
class RowRequirements:
    """What must be there before anybody is asked; the plain one is satisfied by a response."""

    protocol: str = ""
    needs: SampleNeeds = field(default_factory=SampleNeeds)
    # False where replies were recorded and the judged text may be unknown.
    response: bool = True
    # Whether a recorded reply may be about many samples, and becomes a row for each.
    bundles: bool = False
    rubrics: RubricDirectory | None = None
    # Whether scores that stand in the rows are judges: what one means is told by all values of its scorer.
    scores: bool = False
    # Rows may name files outside the dataset's directory only where the user says so.
    allows_outside_files: bool = False

    def check(self, values: dict[str, Any]) -> None:
        """Raises RowError for what makes a row useless."""
        if self._is_response_unknown(values) and self.needs.response_reason is not None:
            raise RowError(self.needs.response_reason)

    def missing(self, values: dict[str, Any]) -> list[str]:
        """Names of the grid that the row does not have: it is judged to be incomplete, and the others go on."""
        # A reply without its sample says itself what it is about, or is invalid for not saying it.
        if not self.needs.fields or self._is_response_unknown(values):
            return []
        return [field for field in self.needs.fields if not str(values.get(field, "")).strip()]

    def _is_response_unknown(self, values: dict[str, Any]) -> bool:
        return not self.response and bool(values.get("metadata", {}).get(RESPONSE_UNKNOWN))

    def refuse_absent(self, missing: Mapping[str, int], rows: int, columns: Collection[str]) -> None:
        """Raises RowError for a name that no row has: surely its column is called otherwise."""
        for name, count in missing.items():
            if count == rows:
                raise RowError(
                    f"no row has a `{name}`, which the {self.protocol} protocol needs; name its column with "
                    f"--map {name}=COLUMN (columns: {list_names(columns)})"
                )


class Attachments:
    """One pass over a dataset: fills rows from files, and digests what it read on the way."""

    def __init__(self, files: ResponseFiles, requirements: RowRequirements) -> None:
        self._files = files
        self._requirements = requirements
        self._digest = hashlib.sha256()
        self._count = self._size_bytes = 0
        self._read: dict[str, RubricFile] = {}
        self._rubrics: dict[str, str] = {}  # file name to sha256

    def fill(self, values: dict[str, Any]) -> None:
        """Raises RowError for a file that cannot be used."""
        file = self._files.fill(values)
        if file is not None:
            sha256, size_bytes = file
            self._digest.update(sha256.encode() + b"\n")
            self._count += 1
            self._size_bytes += size_bytes
        self._fill_rubric(values)

    def _fill_rubric(self, values: dict[str, Any]) -> None:
        """What the row names itself wins over --rubric."""
        given = values.pop(RUBRIC_COLUMN, None)
        rubrics = self._requirements.rubrics
        if given is not None and "rubric" in values:
            raise RowError(f"both `rubric` and `{RUBRIC_COLUMN}` are given; keep one")
        if given is not None:
            if given not in self._read:
                data = self._files.read_bytes(given, RUBRIC_COLUMN)
                path = self._files.directory / given
                self._read[given] = RubricFile.make(path, decode_text(given, data, RUBRIC_COLUMN))
            self._put(values, self._read[given])
        elif "rubric" not in values and rubrics is not None:
            self._put(values, rubrics.find(values.get("task_name")))
        text = values.get("rubric")
        if text is not None:
            self._settle_type(values, text)
        elif self._requirements.needs.rubric:
            raise RowError(
                "row has no rubric, and the protocol judges by one; give --rubric DIR with one TASK_NAME.md for each "
                "task, or a column `rubric` (text) or `rubric_path`"
            )

    def _put(self, values: dict[str, Any], file: RubricFile) -> None:
        values["rubric"] = file.rubric.text
        values.setdefault("task_name", file.names[0])
        self._rubrics[file.path.name] = file.sha256

    def _settle_type(self, values: dict[str, Any], text: str) -> None:
        """An unknown type would be judged by weights that nobody chose."""
        task_types = self._requirements.needs.task_types
        if not task_types:
            return
        rubric = read_rubric(text, task_types)
        if rubric.unknown_task_type is not None:
            raise RowError(
                f"its rubric names the unknown task_type {rubric.unknown_task_type[:60]!r}; "
                f"known are {', '.join(task_types)}"
            )
        if rubric.task_name is not None:
            values.setdefault("task_name", rubric.task_name)
        if rubric.task_type is None:
            return
        given = values.setdefault("task_type", rubric.task_type)
        if given != rubric.task_type:
            raise RowError(f"`task_type` is {given!r} and its rubric says {rubric.task_type!r}; correct one of them")

    def description(self) -> dict[str, Any]:
        """For the manifest; empty for a dataset that holds everything itself."""
        described: dict[str, Any] = {}
        if self._count:
            counted = {"count": self._count, "bytes": self._size_bytes, "sha256": self._digest.hexdigest()}
            described["response_files"] = counted
        if self._rubrics:
            described["rubrics"] = dict(sorted(self._rubrics.items()))
        return described

    def cover(self, dataset_sha256: str) -> str:
        """The digest of the dataset together with its files: a changed file is another run."""
        if not self._count and not self._rubrics:
            return dataset_sha256
        covered = hashlib.sha256(dataset_sha256.encode() + b"\n" + self._digest.hexdigest().encode())
        for name, sha256 in sorted(self._rubrics.items()):
            covered.update(b"\n" + name.encode("utf-8", "surrogateescape") + b"\0" + sha256.encode())
        return covered.hexdigest()

"""Task rubrics as files: one for all rows, or a directory with one for each task."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mixseek.errors import ConfigurationError
from mixseek.storage.response_files import decode_text, read_bytes, refuse_outside
from mixseek.storage.rows import RowError, list_names

if TYPE_CHECKING:
    from mixseek.protocols.task_rubrics import TaskRubric

RUBRIC_SUFFIXES = (".md", ".markdown", ".txt")
RUBRIC_COLUMN = "rubric_path"


@dataclass(frozen=True, slots=True)
class RubricFile:
    """A rubric with the two names by which a row may ask for it."""

    path: Path
    rubric: "TaskRubric"
    sha256: str

    @property
    def names(self) -> tuple[str, ...]:
        """Its own first: a file may have been copied under another name."""
        own = self.rubric.task_name
        return (self.path.stem,) if own is None or own == self.path.stem else (own, self.path.stem)


@dataclass(frozen=True, slots=True)
class RubricShelf:
    """What `--rubric` names. `single` is a file that was named itself, and serves rows without a task name."""

    where: Path
    by_name: Mapping[str, RubricFile] = field(default_factory=dict)
    single: RubricFile | None = None

    @classmethod
    def open(cls, path: Path) -> "RubricShelf":
        """Reads every rubric at once: there are as many as tasks, not as rows."""
        if path.is_dir():
            return cls(path, index_names(path, read_directory(path)))
        file = read_rubric_file(path)
        return cls(path, index_names(path, [file]), file)

    def find(self, task_name: str | None) -> RubricFile:
        """Raises RowError with what there is."""
        if self.single is not None and (task_name is None or self.single.rubric.task_name is None):
            return self.single
        if task_name is None:
            raise RowError(
                f"row has no `task_name`, so none of the rubrics in {self.where} is known to be its own; "
                "name the column with --map task_name=COLUMN, or give one file with --rubric FILE"
            )
        found = self.by_name.get(task_name)
        if found is None:
            raise RowError(
                f"no rubric for the task {task_name!r} in {self.where}; there is {list_names(self.by_name)}; "
                f"add {task_name}.md, or put the text into a column `rubric`"
            )
        return found


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
        return make_rubric_file(path, decode_text(str(path), data, "--rubric"))
    except RowError as error:
        raise ConfigurationError(str(error).replace("`--rubric`", "--rubric")) from error


def make_rubric_file(path: Path, text: str) -> RubricFile:
    """Its name is read here; its type where the protocol's types are known."""
    if not text.strip():
        raise RowError(f"{path}: the rubric is empty; write down what earns and what costs points")
    return RubricFile(path, read_rubric(text), hashlib.sha256(text.encode()).hexdigest())


def index_names(where: Path, files: list[RubricFile]) -> dict[str, RubricFile]:
    """Two rubrics of one name cannot be told apart."""
    index: dict[str, RubricFile] = {}
    for file in files:
        for name in file.names:
            other = index.setdefault(name, file)
            if other is not file:
                raise ConfigurationError(
                    f"--rubric {where}: {other.path.name} and {file.path.name} are both for the task {name!r}; keep one"
                )
    return index


def read_rubric(text: str, task_types: tuple[str, ...] | None = None) -> "TaskRubric":
    """What its text says; without types of a protocol's own, by those of seed 000."""
    # Late: most datasets name no rubric.
    from mixseek.protocols.task_rubrics import TASK_TYPES, read_task_rubric

    return read_task_rubric(text, TASK_TYPES if task_types is None else task_types)


# Thousands of rows share a rubric, and a dataset is read more than once.
_read_once = lru_cache(maxsize=256)(read_rubric)


class RowRubrics:
    """Gives rows their rubric for one pass over a dataset, and remembers which were used."""

    def __init__(
        self,
        shelf: RubricShelf | None,
        confines: Path | None,
        directory: Path,
        task_types: tuple[str, ...],
        *,
        is_needed: bool,
    ) -> None:
        """`confines` is the directory that no row may lead out of; None where the user allows it."""
        self._shelf = shelf
        self._confines = confines
        self._directory = directory
        self._task_types = task_types
        self._is_needed = is_needed
        self._read: dict[str, RubricFile] = {}
        self.used: dict[str, str] = {}  # file name to sha256

    def fill(self, values: dict[str, Any]) -> None:
        """What the row names itself wins over the shelf."""
        given = values.pop(RUBRIC_COLUMN, None)
        if given is not None and "rubric" in values:
            raise RowError(f"both `rubric` and `{RUBRIC_COLUMN}` are given; keep one")
        if given is not None:
            self._put(values, self._open(given))
        elif "rubric" not in values and self._shelf is not None:
            self._put(values, self._shelf.find(values.get("task_name")))
        text = values.get("rubric")
        if text is not None:
            self._settle_type(values, text)
        elif self._is_needed:
            raise RowError(
                "row has no rubric, and the protocol judges by one; give --rubric DIR with one TASK_NAME.md for each "
                "task, or a column `rubric` (text) or `rubric_path`"
            )

    def _open(self, given: str) -> RubricFile:
        file = self._read.get(given)
        if file is None:
            path = self._directory / given
            refuse_outside(path, given, self._confines, RUBRIC_COLUMN)
            file = make_rubric_file(path, decode_text(given, read_bytes(path, given, RUBRIC_COLUMN), RUBRIC_COLUMN))
            self._read[given] = file
        return file

    def _put(self, values: dict[str, Any], file: RubricFile) -> None:
        values["rubric"] = file.rubric.text
        values.setdefault("task_name", file.names[0])
        self.used[file.path.name] = file.sha256

    def _settle_type(self, values: dict[str, Any], text: str) -> None:
        """An unknown type would be judged by weights that nobody chose."""
        if not self._task_types:
            return
        rubric = _read_once(text, self._task_types)
        if rubric.unknown_task_type is not None:
            raise RowError(
                f"its rubric names the unknown task_type {rubric.unknown_task_type[:60]!r}; "
                f"known are {', '.join(self._task_types)}"
            )
        if rubric.task_name is not None:
            values.setdefault("task_name", rubric.task_name)
        if rubric.task_type is None:
            return
        given = values.setdefault("task_type", rubric.task_type)
        if given != rubric.task_type:
            raise RowError(f"`task_type` is {given!r} and its rubric says {rubric.task_type!r}; correct one of them")

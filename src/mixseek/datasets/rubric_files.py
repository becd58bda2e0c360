"""Task rubrics as files: one for all rows, or a directory with one for each task."""

import hashlib
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from mixseek.datasets.response_files import decode_text, read_bytes
from mixseek.datasets.rows import RowError, list_names
from mixseek.errors import ConfigurationError
from mixseek.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from mixseek.protocols.rubric import TaskRubric

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

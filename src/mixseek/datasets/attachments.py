"""What a row names instead of holding it, and what a protocol demands of every row."""

import hashlib
from collections.abc import Collection, Mapping
from dataclasses import field
from typing import Any

from mixseek.datasets.response_files import ResponseFiles, decode_text
from mixseek.datasets.rows import RESPONSE_UNKNOWN, RowError, list_names
from mixseek.datasets.rubric_files import RUBRIC_COLUMN, RubricDirectory, RubricFile, read_rubric
from mixseek.domain.samples import SampleNeeds
from mixseek.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class RowRequirements:
    """What must be there before anybody is asked; the plain one is satisfied by a response."""

    protocol: str = ""
    needs: SampleNeeds = field(default_factory=SampleNeeds)
    # False where replies were recorded and the judged text may be unknown.
    response: bool = True
    # Whether steps are judged even where there is no final answer.
    judges_steps: bool = False
    # Whether a recorded reply may be about many samples, and becomes a row for each.
    bundles: bool = False
    rubrics: RubricDirectory | None = None
    # Whether scores that stand in the rows are judges: what one means is told by all values of its scorer.
    scores: bool = False
    # Rows may name files outside the dataset's directory only where the user says so.
    allows_outside_files: bool = False

    def check(self, values: dict[str, Any]) -> None:
        """Raises RowError for what makes a row useless."""
        for name in self.lists_needed:
            if not values.get(name):
                columns = "a column `steps` or `messages`" if name == "steps" else f"a column `{name}`"
                raise RowError(
                    f"row has no {name}, which the {self.protocol} protocol judges by; give {columns}, or map one "
                    f"with --map {name}=COLUMN"
                )
        if self._is_response_unknown(values) and self.needs.response_reason is not None:
            raise RowError(self.needs.response_reason)

    @property
    def lists_needed(self) -> tuple[str, ...]:
        """Fields of several values without which a sample cannot be judged."""
        needed = {"steps": self.needs.steps, "contexts": self.needs.contexts}
        return tuple([field for field, is_needed in needed.items() if is_needed])

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
        rubric_path = values.pop(RUBRIC_COLUMN, None)
        rubrics = self._requirements.rubrics
        if rubric_path is not None and "rubric" in values:
            raise RowError(f"both `rubric` and `{RUBRIC_COLUMN}` are given; keep one")
        if rubric_path is not None:
            if rubric_path not in self._read:
                data = self._files.read_bytes(rubric_path, RUBRIC_COLUMN)
                path = self._files.directory / rubric_path
                self._read[rubric_path] = RubricFile.make(path, decode_text(rubric_path, data, RUBRIC_COLUMN))
            self._put(values, self._read[rubric_path])
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
        task_type = values.setdefault("task_type", rubric.task_type)
        if task_type != rubric.task_type:
            raise RowError(
                f"`task_type` is {task_type!r} and its rubric says {rubric.task_type!r}; correct one of them"
            )

    def description(self) -> dict[str, Any]:
        """What the manifest says of it; empty for a dataset that holds everything itself."""
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

"""What a row names instead of holding it, and what a protocol demands of every row."""

import hashlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mixseek.storage.response_files import ResponseFiles
from mixseek.storage.rows import RESPONSE_UNKNOWN, RowError, list_names
from mixseek.storage.rubric_files import RowRubrics, RubricShelf


@dataclass(frozen=True, slots=True)
class Demands:
    """What must be there before anybody is asked; the plain one is satisfied by a response."""

    protocol: str = ""
    # False where replies were recorded and the judged text may be unknown.
    response: bool = True
    # Whether a recorded reply may be about many samples, and becomes a row for each.
    bundles: bool = False
    # Why a row without its response is of no use all the same; None where it is.
    response_reason: str | None = None
    # Without which a sample has no place in the grid; such a row is judged to be incomplete, and the others go on.
    fields: tuple[str, ...] = ()
    rubric: bool = False
    # That a rubric may name; empty where the protocol knows no types.
    task_types: tuple[str, ...] = ()
    shelf: RubricShelf | None = None
    # Rows may name files outside the dataset's directory only where the user says so.
    allows_outside_files: bool = False

    def check(self, values: dict[str, Any]) -> None:
        """Raises RowError for what makes a row useless."""
        if self._is_response_unknown(values) and self.response_reason is not None:
            raise RowError(self.response_reason)

    def missing(self, values: dict[str, Any]) -> list[str]:
        """Names of the grid that the row does not have."""
        # A reply without its sample says itself what it is about, or is invalid for not saying it.
        if not self.fields or self._is_response_unknown(values):
            return []
        return [field for field in self.fields if not str(values.get(field, "")).strip()]

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

    def __init__(self, files: ResponseFiles, directory: Path, demands: Demands) -> None:
        self._files = files
        self._rubrics = RowRubrics(
            demands.shelf,
            None if demands.allows_outside_files else directory,
            directory,
            demands.task_types,
            is_needed=demands.rubric,
        )
        self._digest = hashlib.sha256()
        self._count = self._size_bytes = 0

    def fill(self, values: dict[str, Any]) -> None:
        """Raises RowError for a file that cannot be used."""
        file = self._files.fill(values)
        if file is not None:
            self._digest.update(file.sha256.encode() + b"\n")
            self._count += 1
            self._size_bytes += file.size_bytes
        self._rubrics.fill(values)

    def description(self) -> dict[str, Any]:
        """For the manifest; empty for a dataset that holds everything itself."""
        described: dict[str, Any] = {}
        if self._count:
            described["response_files"] = {
                "count": self._count,
                "bytes": self._size_bytes,
                "sha256": self._digest.hexdigest(),
            }
        if self._rubrics.used:
            described["rubrics"] = dict(sorted(self._rubrics.used.items()))
        return described

    def cover(self, dataset_sha256: str) -> str:
        """The digest of the dataset together with its files: a changed file is another run."""
        if not self._count and not self._rubrics.used:
            return dataset_sha256
        covered = hashlib.sha256(dataset_sha256.encode() + b"\n" + self._digest.hexdigest().encode())
        for name, sha256 in sorted(self._rubrics.used.items()):
            covered.update(b"\n" + name.encode("utf-8", "surrogateescape") + b"\0" + sha256.encode())
        return covered.hexdigest()

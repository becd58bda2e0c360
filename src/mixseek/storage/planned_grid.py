"""What was meant to be judged, as a list: question by variant by target, held against what the dataset has."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mixseek.domain.samples import PLANNED_WITHOUT_OUTPUT, Sample
from mixseek.errors import DatasetError
from mixseek.storage.datasets import check_file, choose_source, digest_file

# Seed 003 §7: the list of all outputs to be judged, aligned by these.
GRID_FIELDS = ("question_id", "prompt_variant", "target_model")
_OUTPUT = "output_id"

Cell = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Holes:
    """Planned places without an output, as samples that stand for them; `unplanned` samples are in no place."""

    samples: tuple[Sample, ...]
    unplanned: tuple[str, ...]


class PlannedGrid:
    """Every planned place; told of the rows of the dataset, it knows which places stayed empty."""

    def __init__(self, path: str) -> None:
        """Raises DatasetError for a file that is no such list."""
        self.path = check_file(path)
        self._cells = read_cells(self.path)
        self._found: set[Cell] = set()
        self._unplanned: list[str] = []

    @property
    def description(self) -> dict[str, Any]:
        """For the manifest."""
        return {"path": str(self.path), "sha256": digest_file(self.path), "places": len(self._cells)}

    def note_row(self, values: Mapping[str, Any]) -> None:
        """One row of the dataset; several may be in one place."""
        place = tuple(str(values.get(name, "")).strip() for name in GRID_FIELDS)
        named = [(*place, str(values[name]).strip()) for name in (_OUTPUT, "id") if values.get(name) is not None]
        fitting = [cell for cell in (*named, place) if cell in self._cells]
        self._found.update(fitting)
        if not fitting:
            self._unplanned.append(str(values["id"]))

    def holes(self) -> Holes:
        """In the order of the list."""
        empty = [cell for cell in self._cells if cell not in self._found]
        return Holes(tuple(make_hole(cell) for cell in empty), tuple(self._unplanned))


def make_hole(cell: Cell) -> Sample:
    """A sample without a response, which no judge is asked about."""
    question, variant, target, *output = cell
    return Sample(
        id=f"planned: {' / '.join(cell)}",
        response="",
        question_id=question,
        prompt_variant=variant,
        target_model=target,
        output_id=output[0] if output else None,
        metadata={PLANNED_WITHOUT_OUTPUT: True},
    )


def read_cells(path: Path) -> dict[Cell, None]:
    """Each place once, in the order of the file."""
    source = choose_source(path)
    cells: dict[Cell, None] = {}
    for place, row in source.rows():
        cell = [str(row.get(name) if row.get(name) is not None else "").strip() for name in GRID_FIELDS]
        missing = [name for name, value in zip(GRID_FIELDS, cell, strict=True) if not value]
        if missing:
            raise DatasetError(
                f"{path}: {source.unit} {place}: no {list_names(missing)}; a plan has the columns "
                f"{list_names(GRID_FIELDS)} and, if you like, {_OUTPUT}"
            )
        output = str(row.get(_OUTPUT) if row.get(_OUTPUT) is not None else "").strip()
        cells[*cell, *([output] if output else [])] = None
    if not cells:
        raise DatasetError(f"{path}: the plan is empty; give it a row for each output that was to be judged")
    return cells


def list_names(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)

"""What was meant to be judged, as a list: question by variant by target, held against what the dataset has."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from mixseek.datasets.reader import check_file, choose_source
from mixseek.domain.samples import PLANNED_WITHOUT_OUTPUT, Sample
from mixseek.errors import DatasetError
from mixseek.storage.durable import digest_file

# Seed 003 §7: the list of all outputs to be judged, aligned by these.
GRID_FIELDS = ("question_id", "prompt_variant", "target_model")
_OUTPUT = "output_id"
Cell = tuple[str, ...]


class PlannedGrid:
    """Every planned place; told of the rows of the dataset, it knows which places stayed empty."""

    def __init__(self, path: str) -> None:
        """Raises DatasetError for a file that is no such list."""
        self.path = check_file(path)
        self._cells = read_cells(self.path)
        self._filled: set[Cell] = set()
        # Ids of samples that are in no place.
        self.unplanned: list[str] = []

    @property
    def description(self) -> dict[str, Any]:
        """What the manifest says of it."""
        return {"path": str(self.path), "sha256": digest_file(self.path), "places": len(self._cells)}

    def note_row(self, values: Mapping[str, Any]) -> None:
        """One row of the dataset; several may be in one place."""
        place = tuple(str(values.get(name, "")).strip() for name in GRID_FIELDS)
        named = [(*place, str(values[name]).strip()) for name in (_OUTPUT, "id") if values.get(name) is not None]
        fitting = [cell for cell in (*named, place) if cell in self._cells]
        self._filled.update(fitting)
        if not fitting:
            self.unplanned.append(str(values["id"]))

    def holes(self) -> Iterator[Sample]:
        """Places without an output, in the order of the list: samples without a response, which no judge is asked."""
        for cell in self._cells:
            if cell not in self._filled:
                place: dict[str, Any] = dict(zip((*GRID_FIELDS, _OUTPUT), cell, strict=False))
                name = f"planned: {' / '.join(cell)}"
                yield Sample(name, "", **place, metadata={PLANNED_WITHOUT_OUTPUT: True})


def read_cells(path: Path) -> dict[Cell, None]:
    """Each place once, in the order of the file."""
    source = choose_source(path)
    cells: dict[Cell, None] = {}
    for place, row in source.rows():
        cell = {name: str(row[name]).strip() for name in (*GRID_FIELDS, _OUTPUT) if row.get(name) is not None}
        missing = [f"`{name}`" for name in GRID_FIELDS if not cell.get(name)]
        if missing:
            raise DatasetError(
                f"{path}: {source.unit} {place}: no {', '.join(missing)}; a plan has the columns "
                f"{', '.join(f'`{name}`' for name in GRID_FIELDS)} and, if you like, {_OUTPUT}"
            )
        cells[tuple(value for value in cell.values() if value)] = None
    if not cells:
        raise DatasetError(f"{path}: the plan is empty; give it a row for each output that was to be judged")
    return cells

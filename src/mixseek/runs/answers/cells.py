"""What an answer run is to hold: targets × variants, each with its repeats and its number of questions."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from mixseek.lazy_dataclass import dataclass
from mixseek.storage.journal.manifest import Manifest

# Where the manifest keeps it: beside what it says of the questions.
CELLS = "cells"


class Cell(NamedTuple):
    """One target asked in one way; `judge` is its name in the journal, `target` who it is."""

    judge: str
    target: str
    variant: str
    repeats: int
    questions: int


@dataclass(frozen=True, slots=True)
class Cells:
    """All cells of a run by target and variant, in the order in which they were first asked for."""

    cells: Mapping[tuple[str, str], Cell]

    @classmethod
    def of(cls, cells: Iterable[Cell]) -> "Cells":
        return cls({(cell.judge, cell.variant): cell for cell in cells})

    @classmethod
    def of_manifest(cls, manifest: Manifest) -> "Cells":
        return cls.of(Cell(**cell) for cell in manifest.dataset.get(CELLS, ()))

    def joined(self, other: "Cells") -> "Cells":
        """Both: nothing that was asked for once is forgotten, because a later command asks for less."""
        merged = dict(self.cells)
        for place, cell in other.cells.items():
            known = merged.get(place, cell)
            merged[place] = cell._replace(
                repeats=max(cell.repeats, known.repeats), questions=max(cell.questions, known.questions)
            )
        return Cells(merged)

    @property
    def planned(self) -> int:
        """How many answers that makes."""
        return sum(cell.repeats * cell.questions for cell in self.cells.values())

    @property
    def description(self) -> list[dict[str, Any]]:
        return [cell._asdict() for cell in self.cells.values()]

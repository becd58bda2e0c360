"""What an answer run is to hold: targets × variants, each with its repeats and its number of questions."""

from collections.abc import Iterable, Mapping
from itertools import zip_longest
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
    # How many questions are asked once, how many of them twice, and so on: a later command may ask a few of them again.
    takes: tuple[int, ...]

    @property
    def repeats(self) -> int:
        return len(self.takes)

    @property
    def questions(self) -> int:
        return max(self.takes)

    @property
    def planned(self) -> int:
        """How many answers that makes."""
        return sum(self.takes)


@dataclass(frozen=True, slots=True)
class Cells:
    """All cells of a run by target and variant, in the order in which they were first asked for."""

    cells: Mapping[tuple[str, str], Cell]

    @classmethod
    def of(cls, cells: Iterable[Cell]) -> "Cells":
        return cls({(cell.judge, cell.variant): cell for cell in cells})

    @classmethod
    def of_manifest(cls, manifest: Manifest) -> "Cells":
        return cls.of(Cell(**{**cell, "takes": tuple(cell["takes"])}) for cell in manifest.dataset.get(CELLS, ()))

    def joined(self, other: "Cells") -> "Cells":
        """Both: nothing that was asked for once is forgotten, because a later command asks for less."""
        merged = dict(self.cells)
        for place, cell in other.cells.items():
            known = merged.get(place, cell)
            both = zip_longest(cell.takes, known.takes, fillvalue=0)
            merged[place] = cell._replace(takes=tuple(max(counts) for counts in both))
        return Cells(merged)

    @property
    def planned(self) -> int:
        """How many answers that makes."""
        return sum(cell.planned for cell in self.cells.values())

    @property
    def description(self) -> list[dict[str, Any]]:
        return [{**cell._asdict(), "takes": list(cell.takes)} for cell in self.cells.values()]

"""What an answer run is to hold: targets × variants, each with its repeats and its number of questions."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from mixseek.errors import ConfigurationError
from mixseek.lazy_dataclass import dataclass
from mixseek.runs.answers.targets import describe_target
from mixseek.runs.first_manifest import allow_appended_replies
from mixseek.runs.requests.named import is_remote
from mixseek.runs.requests.request import Plan
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
    def of_plan(cls, plan: Plan) -> "Cells":
        variants: Mapping[str, Any] = plan.dataset.description["variants"]
        questions, repeats = plan.samples // len(variants), plan.request.live.repeats
        return cls.of(
            # Recorded answers would only repeat themselves.
            Cell(judge.name, describe_target(judge), variant, repeats if is_remote(judge) else 1, questions)
            for judge in plan.judges
            for variant in variants
        )

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


def grow_manifest(plan: Plan, request: Manifest, before: Manifest) -> Manifest:
    """The manifest of the run with what is asked for now; raises ConfigurationError where that would mix two runs."""
    begun = {entry.name: entry for entry in before.judges}
    ours, theirs = before.dataset, request.dataset
    request = allow_appended_replies(request, before, plan.judges)
    changed = [
        *(["questions"] if ours.get("sha256") != theirs.get("sha256") else []),
        *(["column mapping"] if ours.get("mapping") != theirs.get("mapping") else []),
        *(
            f"text of variant {name}"
            for name, variant in theirs["variants"].items()
            if name in ours["variants"] and ours["variants"][name]["sha256"] != variant["sha256"]
        ),
        *(
            f"target {entry.name}, or with other settings of it"
            for entry in request.judges
            if entry.name in begun and begun[entry.name].without_replies != entry.without_replies
        ),
    ]
    if changed:
        raise ConfigurationError(
            f"answers {before.run}: were started with another {changed[0]}; choose a new name with --run, or leave "
            "--run out to get one"
        )
    cells = Cells.of_manifest(before).joined(Cells.of_plan(plan))
    entries = {**begun, **{entry.name: entry for entry in request.judges}}
    dataset = {**ours, "variants": {**ours["variants"], **theirs["variants"]}, CELLS: cells.description}
    dataset["rows"] = max(cell.questions for cell in cells.cells.values())
    return before.model_copy(
        update={
            "judges": tuple(entries.values()),
            "dataset": dataset,
            "sample_count": dataset["rows"] * len(dataset["variants"]),
            "repeats": max(before.repeats, request.repeats),
            "network_used": before.network_used or request.network_used,
        }
    )

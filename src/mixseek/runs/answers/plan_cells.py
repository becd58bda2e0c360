"""What a plan asks for, and how an answer run grows by it."""

from collections.abc import Mapping
from typing import Any

from mixseek.errors import ConfigurationError
from mixseek.runs.answers.cells import CELLS, Cell, Cells
from mixseek.runs.answers.targets import describe_target
from mixseek.runs.first_manifest import allow_appended_replies
from mixseek.runs.requests.named import is_remote
from mixseek.runs.requests.request import Plan
from mixseek.storage.journal.manifest import Manifest


def cells_of_plan(plan: Plan) -> Cells:
    """Every target before every variant."""
    variants: Mapping[str, Any] = plan.dataset.description["variants"]
    questions, repeats = plan.samples // len(variants), plan.request.live.repeats
    cells = Cells.of(
        # Recorded answers would only repeat themselves.
        Cell(judge.name, describe_target(judge), variant, (questions,) * (repeats if is_remote(judge) else 1))
        for judge in plan.judges
        for variant in variants
    )
    check_targets(cells)
    return cells


def check_targets(cells: Cells) -> None:
    """Raises ConfigurationError for two targets of one name: rows are called by it, and identities go by it."""
    judges: dict[str, str] = {}
    for cell in cells.cells.values():
        other = judges.setdefault(cell.target, cell.judge)
        if other != cell.judge:
            raise ConfigurationError(
                f"targets {other} and {cell.judge} would both be called {cell.target!r} in the answers; give one of "
                "them a [judges.NAME] table in mixseek.toml, or its recorded answers a file of another name"
            )


def grow_manifest(plan: Plan, request: Manifest, before: Manifest) -> Manifest:
    """The manifest of the run with what is asked for now; raises ConfigurationError where that would mix two runs."""
    begun = {entry.name: entry for entry in before.judges}
    ours, theirs = before.dataset, request.dataset
    request = allow_appended_replies(request, before, plan.judges)
    changed = [
        *(["other questions"] if ours.get("sha256") != theirs.get("sha256") else []),
        *(["another column mapping"] if ours.get("mapping") != theirs.get("mapping") else []),
        *(
            f"another text of variant {name}"
            for name, variant in theirs["variants"].items()
            if name in ours["variants"] and ours["variants"][name]["sha256"] != variant["sha256"]
        ),
        *(
            f"other settings of target {entry.name}"
            for entry in request.judges
            if entry.name in begun and begun[entry.name].without_replies != entry.without_replies
        ),
    ]
    if changed:
        raise ConfigurationError(
            f"answers {before.run}: were started with {changed[0]}; choose a new name with --run, or leave "
            "--run out to get one"
        )
    cells = Cells.of_manifest(before).joined(cells_of_plan(plan))
    check_targets(cells)
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

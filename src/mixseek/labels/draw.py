"""Drawing a sheet of a run's texts for people to label."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from mixseek.analysis.labels.drawing import new_seed, record_draw, taken_texts
from mixseek.analysis.labels.of_run import ScaleOf, open_labelled, scale_for
from mixseek.analysis.labels.units import STRATA, LabelUnits
from mixseek.domain.labels import Draw
from mixseek.errors import ConfigurationError, suggest
from mixseek.labels.sheets import SheetText, write_sheet
from mixseek.lazy_dataclass import dataclass
from mixseek.storage.journal.manifest import Manifest, read_manifest
from mixseek.storage.labels import LabelStore
from mixseek.storage.workspace import RunDirectory, Workspace, find_run


@dataclass(frozen=True, slots=True)
class DrawRequest:
    """What `mixseek label sample` asks for."""

    count: int
    columns: tuple[str, ...] = ()
    seed: int | None = None


@dataclass(frozen=True, slots=True)
class DrawResult:
    """The draw, and whether the same was drawn before."""

    draw: Draw
    is_repeated: bool = False


def draw_sheet(root: Path, name: str | None, request: DrawRequest, to: Path) -> DrawResult:
    """Draws texts of a run, and writes them without a word of any judge."""
    workspace = Workspace(root)
    run = find_run(workspace, name)
    with open_labelled(workspace, run) as units:
        result = draw_texts(workspace, run, units, request)
        write_drawn(units, result.draw, scale_for(run, read_manifest(run.manifest)), to)
    return result


def write_draw_again(root: Path, name: str | None, draw_name: str, to: Path) -> DrawResult:
    """The sheet of a draw that was made before; raises ConfigurationError where the run has none of that name."""
    workspace = Workspace(root)
    run = find_run(workspace, name)
    draws = {draw.draw: draw for draw in LabelStore(workspace).draws(run.name)}
    if not draws:
        raise ConfigurationError(f"run {run.name}: nothing was drawn from it yet; leave --draw out")
    if draw_name not in draws:
        meant = suggest(draw_name, draws, f"there are {', '.join(draws)}")
        raise ConfigurationError(f"run {run.name}: no draw {draw_name!r}; {meant}")
    with open_labelled(workspace, run) as units:
        write_drawn(units, draws[draw_name], scale_for(run, read_manifest(run.manifest)), to)
    return DrawResult(draws[draw_name], is_repeated=True)


def draw_texts(workspace: Workspace, run: RunDirectory, units: LabelUnits, request: DrawRequest) -> DrawResult:
    """Draws at random; how is noted in the workspace before anybody sees what."""
    manifest, store = read_manifest(run.manifest), LabelStore(workspace)
    unknown = [column for column in request.columns if column not in STRATA]
    if unknown:
        raise ConfigurationError(f"--stratify {unknown[0]}: no such column; one can stratify by {', '.join(STRATA)}")
    earlier = store.draws(run.name)
    if request.seed is not None:
        same = [draw for draw in earlier if is_same_request(draw, request)]
        if same:
            return DrawResult(same[0], is_repeated=True)
    if earlier and earlier[0].columns != request.columns:
        before = ",".join(earlier[0].columns)
        how = f"with --stratify {before}" if before else "without --stratify"
        raise ConfigurationError(
            f"run {run.name}: was drawn from before, {how}; "
            "draw more in the same way, so that each text's chance of being drawn stays known"
        )
    draw = make_draw(units, request, run.name, manifest, earlier)
    store.write_draw(draw)
    return DrawResult(draw)


def is_same_request(draw: Draw, request: DrawRequest) -> bool:
    """Whether it is the same draw: with a seed, the same command draws the same texts."""
    return (draw.seed, draw.columns, len(draw.rows)) == (request.seed, request.columns, request.count)


def make_draw(units: LabelUnits, request: DrawRequest, run: str, manifest: Manifest, earlier: Sequence[Draw]) -> Draw:
    """A draw without replacement, also over several draws of one run."""
    texts, _ = units.population()
    taken = taken_texts(earlier)
    left = texts - len(taken)
    if request.count > left:
        drawn = f" that were not drawn before (of {texts:,})" if taken else ""
        raise ConfigurationError(f"run {run}: --n {request.count:,} of {left:,} texts{drawn}; ask for fewer")
    seed = new_seed() if request.seed is None else request.seed
    strata = units.draw(request.columns, request.count, seed, taken)
    return record_draw(units, manifest, request.columns, seed, strata, earlier)


def write_drawn(units: LabelUnits, draw: Draw, scale_of: ScaleOf, to: Path) -> None:
    """The sheet, blind: question, ground truth and response, and nothing that a judge said."""
    known = units.of_texts([row.text for row in draw.rows])
    ordered = [known[row.text] for row in draw.rows]
    samples = units.read_samples(ordered)
    write_sheet(
        to,
        (
            SheetText(
                row.row,
                row.id,
                sample.get("question", ""),
                sample.get("ground_truth"),
                shown_response(sample),
                scale_of(known_text.task_type).describe(),
                row.text,
            )
            for row, known_text, sample in zip(draw.rows, ordered, samples, strict=True)
        ),
    )


def shown_response(sample: Mapping[str, Any]) -> str:
    """What a label is about; of a pair, both."""
    first, second = sample.get("response", ""), sample.get("response_b")
    return first if second is None else f"A:\n{first}\n\nB:\n{second}"

"""Taking in what people filled in: which text each label is about, and what cannot be read."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from mixseek.analysis.labels.of_run import ScaleOf, load_corrected, load_plan, open_labelled, scale_for
from mixseek.analysis.labels.plan import PlanReport
from mixseek.analysis.labels.units import FoundText, LabelUnits
from mixseek.analysis.run.summary import RunSummary
from mixseek.domain.labels import Draw, Label, LabelError, TextLabels, collect_labels
from mixseek.domain.lines import LONGEST_LINE_BYTES
from mixseek.errors import ConfigurationError, DatasetError, MixseekError
from mixseek.labels.draw import shown_response
from mixseek.labels.sheets import GivenLabel, is_same_text, list_places, names_of, read_sheet
from mixseek.lazy_dataclass import dataclass
from mixseek.stats.estimates import Drawing
from mixseek.storage.journal.manifest import read_manifest
from mixseek.storage.labels import LabelStore
from mixseek.storage.workspace import RunDirectory, Workspace, find_run, list_first

# Longer than any name of a person, shorter than a text pasted by mistake.
_MAX_RATER_CHARACTERS = 100
# Different words that are no labels, named in one line.
_REASONS_SHOWN = 20


@dataclass(frozen=True, slots=True)
class ImportRequest:
    """What `mixseek label import` asks for."""

    file: Path
    rater: str
    run: str | None = None
    drawn: Drawing = Drawing.UNKNOWN
    is_adjudicated: bool = False
    may_revise: bool = False
    longest_line: int = LONGEST_LINE_BYTES


@dataclass(frozen=True, slots=True)
class ImportResult:
    """Labels that were taken in; `known` were there already; `empty` rows of the sheet wait for a label."""

    run: str
    rater: str
    added: int
    known: int
    revised: int
    draw: str | None
    empty: int
    drawn: str


def import_labels(root: Path, request: ImportRequest) -> ImportResult:
    """All labels of a file, or none of them: the first thing that is wrong is named by its line."""
    workspace = Workspace(root)
    store = LabelStore(workspace)
    rater = check_rater(request.rater)
    rows = read_sheet(request.file, request.longest_line)
    draw = find_draw(store, request, rows)
    run = workspace.resolve(draw.run) if draw is not None else find_run(workspace, request.run)
    manifest = read_manifest(run.manifest)
    with open_labelled(workspace, run) as units:
        texts = (
            match_drawn(request.file, rows, draw) if draw is not None else match_named(request.file, rows, run, units)
        )
        known = check_texts(request.file, rows, texts, units)
    unread = Label(
        text="",
        protocol=manifest.protocol.name,
        rater=rater,
        share=0.0,
        given="",
        drawn=(Drawing.RANDOM if draw is not None else request.drawn).value,
        draw=draw.draw if draw is not None else None,
        is_adjudicated=request.is_adjudicated,
        run=run.name,
        at=datetime.now(UTC).isoformat(),
    )
    labels = read_labels(request.file, unread, rows, texts, known, scale_for(run, manifest))
    added, revised = settle_against(request, store.read(manifest.protocol.name), labels)
    if added:
        added = store.append(added)
    empty = len(draw.rows) - len(labels) if draw is not None else 0
    return ImportResult(
        run.name, rater, len(added), len(labels) - len(added), revised, unread.draw, empty, unread.drawn
    )


def is_drawn_sheet(file: Path) -> bool:
    """Whether its rows say which draw they are of; else they name samples, and a run must be named."""
    try:
        return any(row.row is not None for row in read_sheet(file))
    except MixseekError:
        # Whoever takes it in says what is wrong with it.
        return False


def with_labels(summary: RunSummary) -> RunSummary:
    """The same run after labels were taken in."""
    workspace = Workspace(summary.workspace)
    return replace(summary, corrected=load_corrected(workspace, workspace.run(summary.header.run_id)))


def check_rater(name: str) -> str:
    """A name that can be told from others."""
    rater = " ".join(name.split())
    if not rater or len(rater) > _MAX_RATER_CHARACTERS or not rater.isprintable():
        raise ConfigurationError(f"--rater {name!r}: not a name; use letters and digits, such as --rater mia")
    return rater


def find_draw(store: LabelStore, request: ImportRequest, rows: Sequence[GivenLabel]) -> Draw | None:
    """The draw that the sheet came from, by the names of its rows; None for a file of somebody's own."""
    draw_names = {row.place: row.row.rpartition("-")[0] for row in rows if row.row is not None}
    if not draw_names:
        return None
    if len(draw_names) < len(rows):
        places = [row.place for row in rows if row.row is None]
        raise DatasetError(f"{request.file}: {list_places(places)}: no `row`, though others have one; restore it")
    if len(set(draw_names.values())) > 1:
        raise DatasetError(
            f"{request.file}: rows of {len(set(draw_names.values()))} sheets in one; import each sheet alone"
        )
    name = next(iter(draw_names.values()))
    draw = next((candidate for candidate in store.draws() if candidate.draw == name), None)
    if draw is None:
        raise ConfigurationError(
            f"{request.file}: its rows are of a draw {name!r} that this workspace does not have; name the workspace "
            "that drew it with --workspace, or take the column `row` out to import by id"
        )
    if request.run is not None and not draw.run.startswith(request.run):
        raise ConfigurationError(
            f"{request.file}: drawn from run {draw.run}, not from {request.run}; leave out --run, or import the sheet "
            "that was drawn from it"
        )
    if request.drawn is not Drawing.UNKNOWN:
        raise ConfigurationError(
            f"{request.file}: --drawn is for labels of your own; how this sheet was drawn is known (draw {draw.draw})"
        )
    return draw


def match_drawn(file: Path, labelled_rows: Sequence[GivenLabel], draw: Draw) -> dict[int, FoundText]:
    """Line to text, by the row's name; ids and digests must be those that were drawn."""
    rows = {row.row: row for row in draw.rows}
    strange = [labelled_row.place for labelled_row in labelled_rows if labelled_row.row not in rows]
    if strange:
        raise DatasetError(f"{file}: {list_places(strange)}: `row` is none of draw {draw.draw}; it was changed")
    changed = []
    for labelled_row in labelled_rows:
        row = rows[labelled_row.row or ""]
        has_other_id = labelled_row.id is not None and row.id not in names_of(labelled_row.id)
        if has_other_id or (labelled_row.text is not None and labelled_row.text != row.text):
            changed.append(labelled_row.place)
    if changed:
        raise DatasetError(f"{file}: {list_places(changed)}: `id` or `text` is not what was drawn; restore the sheet")
    return {
        labelled_row.place: FoundText(rows[labelled_row.row or ""].text, rows[labelled_row.row or ""].id, 0)
        for labelled_row in labelled_rows
    }


def match_named(file: Path, rows: Sequence[GivenLabel], run: RunDirectory, units: LabelUnits) -> dict[int, FoundText]:
    """Line to text, by the sample's id in the run."""
    nameless = [row.place for row in rows if row.id is None or not row.id.strip()]
    if nameless:
        raise DatasetError(f"{file}: {list_places(nameless)}: no id; name the sample that the label is about")
    candidates = {row.place: names_of(row.id or "") for row in rows}
    known = units.named(sorted({name for names in candidates.values() for name in names}))
    texts = {place: next((known[name] for name in names if name in known), None) for place, names in candidates.items()}
    unknown = [row for row in rows if texts[row.place] is None]
    if unknown:
        raise DatasetError(
            f"{file}: {list_places([row.place for row in unknown])}: run {run.name} has no sample "
            f"{list_first([repr(row.id) for row in unknown])}; name the right run with --run"
        )
    return {place: text for place, text in texts.items() if text is not None}


def check_texts(
    file: Path, rows: Sequence[GivenLabel], texts: Mapping[int, FoundText], units: LabelUnits
) -> dict[str, FoundText]:
    """Texts as the run has them; whoever labelled another text said nothing about this one."""
    known = units.of_texts(sorted({text.text for text in texts.values()}))
    gone = [place for place, text in texts.items() if text.text not in known]
    if gone:
        raise DatasetError(f"{file}: {list_places(gone)}: the run has no such text any more; draw a new sheet")
    ordered = list(known.values())
    samples = dict(zip(known, units.read_samples(ordered), strict=True))
    changed = []
    for row in rows:
        sample = samples[texts[row.place].text]
        cells = ((row.question, sample.get("question", "")), (row.response, shown_response(sample)))
        if any(cell is not None and not is_same_text(cell, original) for cell, original in cells):
            changed.append(row.place)
    if changed:
        raise DatasetError(
            f"{file}: {list_places(changed)}: question or response is not what was judged; a label belongs to its "
            "text: restore the sheet, or draw a new one"
        )
    return known


def read_labels(
    file: Path,
    unread: Label,
    rows: Sequence[GivenLabel],
    texts: Mapping[int, FoundText],
    known: Mapping[str, FoundText],
    scale_of: ScaleOf,
) -> list[Label]:
    """Labels on the protocol's scale; the same text twice must have the same label."""
    refuse_unreadable(file, rows, texts, known, scale_of)
    labels: dict[str, tuple[int, Label]] = {}
    for row in rows:
        text = texts[row.place].text
        share = scale_of(known[text].task_type).read(row.label)
        name = texts[row.place].id
        label = replace(unread, text=text, share=share, given=row.label, sample=name, note=row.note)
        before = labels.get(text)
        if before is not None and before[1].share != share:
            raise DatasetError(
                f"{file}: lines {before[0]} and {row.place}: two labels for sample {name!r} "
                f"({before[1].given} and {row.label}); a rater has one word on a text"
            )
        labels.setdefault(text, (row.place, label))
    return [label for _, label in labels.values()]


def refuse_unreadable(
    file: Path,
    rows: Sequence[GivenLabel],
    texts: Mapping[int, FoundText],
    known: Mapping[str, FoundText],
    scale_of: ScaleOf,
) -> None:
    """Every label that is none, at once: whoever mends a sheet mends it in one go."""
    wrong: dict[str, dict[str, list[int]]] = {}
    for label in rows:
        try:
            scale_of(known[texts[label.place].text].task_type).read(label.label)
        except LabelError as error:
            why, _, advice = str(error).partition("; ")
            wrong.setdefault(advice, {}).setdefault(why, []).append(label.place)
    if wrong:
        raise DatasetError(f"{file}: {'; '.join(describe_unreadable(*problem) for problem in wrong.items())}")


def describe_unreadable(advice: str, reasons: Mapping[str, Sequence[int]]) -> str:
    """What is wrong in which lines, and what to write there instead."""
    shown = [f"{list_places(places)}: {why}" for why, places in list(reasons.items())[:_REASONS_SHOWN]]
    more = f", and {len(reasons) - _REASONS_SHOWN:,} others" if len(reasons) > _REASONS_SHOWN else ""
    return f"{', '.join(shown)}{more}; {advice}"


def settle_against(request: ImportRequest, before: Sequence[Label], labels: Sequence[Label]) -> tuple[list[Label], int]:
    """What is new, and how many of those take the place of another label of the same rater."""
    by_text = collect_labels(before)
    added, revised = [], []
    for label in labels:
        text_labels = by_text.get(label.text, TextLabels(label.text, {}))
        earlier = text_labels.adjudicated if label.is_adjudicated else text_labels.counted.get(label.rater)
        if earlier is None:
            added.append(label)
        elif earlier.share != label.share:
            revised.append((label, earlier))
        elif earlier.draw is None and (label.draw is not None or earlier.drawn != label.drawn):
            # The same word, of which more is known now: how its text was drawn.
            added.append(label)
    if revised and not request.may_revise:
        label, earlier = revised[0]
        more = f" and {len(revised) - 1:,} more" if len(revised) > 1 else ""
        raise ConfigurationError(
            f"{request.file}: {label.rater} has labelled sample {label.sample!r} before ({earlier.given}, now "
            f"{label.given}){more}; --revise lets the new labels count, another --rater name keeps both"
        )
    return [*added, *(label for label, _ in revised)], len(revised)


def find_plan(root: Path, name: str | None, half_width: float) -> PlanReport:
    """The plan for the run of that name; refuses a width that no interval has."""
    if half_width <= 0:
        raise ConfigurationError("--width 0: every interval has a width; ask for 4%, say")
    return load_plan(root, find_run(Workspace(root), name), half_width)

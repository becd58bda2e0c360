"""Labels for the samples of one run: which there are, how they were drawn, and what they make of the headline."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import cache, partial
from pathlib import Path

from mixseek.analysis.labels.corrected import CorrectedReport, JudgeAgainstPeople, LabelFacts, build_corrected
from mixseek.analysis.labels.judges import judges_against_people
from mixseek.analysis.labels.plan import PlanReport, build_plan
from mixseek.analysis.labels.units import LabelUnits, ensure_texts, has_label_column, open_units
from mixseek.analysis.run.summarise import panel_rule
from mixseek.domain.labels import (
    Draw,
    Label,
    LabelError,
    LabelledRun,
    LabelScale,
    TextLabels,
    TextWeight,
    collect_labels,
    draw_probabilities,
)
from mixseek.domain.panels import PanelRule
from mixseek.domain.people import DISPUTED, LabelledSamples, PeopleVerdict
from mixseek.index.run import RunIndex, open_run_index
from mixseek.lazy_dataclass import dataclass
from mixseek.stats.estimates import Drawing
from mixseek.storage.journal.manifest import Manifest, read_manifest
from mixseek.storage.labels import LabelStore
from mixseek.storage.workspace import RunDirectory, Workspace

ScaleOf = Callable[[str | None], LabelScale]
# The rater of labels that stand in the dataset itself.
DATASET = "dataset"
# Of the values of a column `label`, so many must be labels on the protocol's scale; else it is about something else.
_LEAST_READABLE = 0.95


def open_labelled(
    workspace: Workspace, run: RunDirectory, requested: PanelRule | None = None
) -> AbstractContextManager[LabelUnits]:
    """One row a sample, under the rule of the run's panel, or another one that is asked for."""
    with open_run_index(workspace, run) as index:
        rule = panel_rule(index.facts, read_manifest(run.manifest), requested)
    return open_units(workspace, run, rule)


def scale_for(run: RunDirectory, manifest: Manifest) -> ScaleOf:
    """The scale that a person labels on, by task type."""
    # Here and not above: few runs are labelled, and only the scale of a label needs the protocols that score.
    from mixseek.analysis.labels.form import label_scale
    from mixseek.runs.requests.protocol_record import protocol_of_run

    protocol = protocol_of_run(run, manifest)

    return cache(partial(label_scale, protocol))


def load_corrected(
    workspace: Workspace, run: RunDirectory, requested: PanelRule | None = None
) -> CorrectedReport | None:
    """None where nobody has labelled any text of the run."""
    if not is_labelled(workspace, run):
        return None
    with open_labelled(workspace, run, requested) as units:
        return correct_run(run, units, gather_labels(workspace, run, units))


def load_corrected_and_people(
    workspace: Workspace, run: RunDirectory, requested: PanelRule | None = None
) -> tuple[CorrectedReport | None, LabelledSamples]:
    """The correction, and what people say sample by sample."""
    if not is_labelled(workspace, run):
        return None, LabelledSamples()
    with open_labelled(workspace, run, requested) as units:
        gathered = gather_labels(workspace, run, units)
        return correct_run(run, units, gathered), gathered.samples(units)


def correct_run(run: RunDirectory, units: LabelUnits, gathered: "GatheredLabels") -> CorrectedReport | None:
    """The headline beside what people say, and each judge; None without a label."""
    if not gathered.facts.texts:
        return None
    labelled = gathered.join(units)
    by_judge = compare_judges(units, run, labelled) if labelled.is_binary else ()
    return replace(build_corrected(labelled, gathered.facts), by_judge=by_judge)


def compare_judges(units: LabelUnits, run: RunDirectory, labelled: LabelledRun) -> tuple[JudgeAgainstPeople, ...]:
    """Each judge by itself, under the name that a reader knows it by."""
    judges = read_manifest(run.manifest).judge_names
    names = RunIndex(units.connection, run).judge_labels(judges)
    return judges_against_people(units, judges, names, {unit.drawn for unit in labelled.labelled})


def load_plan(root: Path, run: RunDirectory, half_width: float) -> PlanReport:
    """How many labels make an interval so narrow, from what is known of this run so far."""
    labelled, facts = load_labelled(Workspace(root), run)
    return build_plan(run.name, labelled, build_corrected(labelled, facts), half_width)


def load_labelled(
    workspace: Workspace, run: RunDirectory, requested: PanelRule | None = None
) -> tuple[LabelledRun, LabelFacts]:
    """Every sample with what judges and people say of it, and where the labels come from; without labels, too."""
    with open_labelled(workspace, run, requested) as units:
        gathered = gather_labels(workspace, run, units)
        return gathered.join(units), gathered.facts


@dataclass(frozen=True, slots=True)
class GatheredLabels:
    """What people said of the texts of one run, in the order of their first labels, and the draws that count."""

    by_text: Mapping[str, TextLabels]
    chosen: "ChosenDraws"
    facts: LabelFacts
    scale_of: ScaleOf

    def join(self, units: LabelUnits) -> LabelledRun:
        weights = weigh_texts(self.by_text, self.chosen)
        return units.join(weights, is_binary=self.facts.scale.is_binary, pool=self.chosen.pool)

    def samples(self, units: LabelUnits) -> LabelledSamples:
        """Every sample whose text somebody has labelled, with what people say of it."""
        verdicts: dict[PeopleVerdict, int] = {}
        present = units.of_texts(list(self.by_text))
        codes = {
            text: verdicts.setdefault(people_verdict(labels, self.scale_of(present[text].task_type)), len(verdicts))
            for text, labels in self.by_text.items()
        }
        rows = units.samples_of(list(codes))
        return LabelledSamples(
            [position for position, _, _, _ in rows],
            [name for _, name, _, _ in rows],
            [codes[text] for _, _, text, _ in rows],
            [cell for _, _, _, cell in rows],
            list(verdicts),
        )


def gather_labels(workspace: Workspace, run: RunDirectory, units: LabelUnits) -> GatheredLabels:
    """The labels of people, and of the dataset itself."""
    manifest = read_manifest(run.manifest)
    store, scale_of = LabelStore(workspace), scale_for(run, manifest)
    brought, unreadable = dataset_labels(units, manifest, scale_of)
    # What people were asked for on purpose comes later, and so takes the place of what the dataset brought.
    everything = collect_labels([*brought, *store.read(manifest.protocol.name)])
    present = units.of_texts(list(everything))
    by_text = {text: labels for text, labels in everything.items() if text in present and labels.by_rater}
    chosen = choose_draws(workspace, store.draws(), run, units, by_text, is_routed=manifest.route is not None)
    facts = LabelFacts(
        texts=len(by_text),
        raters=tuple(
            rater
            for rater, _ in Counter(rater for labels in by_text.values() for rater in labels.by_rater).most_common()
        ),
        disputed=sum(labels.is_disputed for labels in by_text.values()),
        draws=tuple(draw.draw for draw in chosen.draws),
        columns=chosen.draws[0].columns if chosen.run == run.name else (),
        drawn_from=chosen.run if chosen.run != run.name else None,
        scale=scale_of(None),
        from_dataset=sum(DATASET in labels.by_rater for labels in by_text.values()),
        unreadable=unreadable,
    )
    return GatheredLabels(by_text, chosen, facts, scale_of)


def people_verdict(labels: TextLabels, scale: LabelScale) -> PeopleVerdict:
    """What the labels of a text amount to, in the words of its scale; nothing is settled while raters differ."""
    raters = tuple((rater, label.given) for rater, label in labels.by_rater.items())
    if labels.adjudicated is not None:
        raters = (*raters, (labels.adjudicated.rater, labels.adjudicated.given))
    if labels.is_disputed:
        return PeopleVerdict(DISPUTED, None, raters)
    return PeopleVerdict(scale.word_of(labels.share), labels.share, raters)


def load_people(workspace: Workspace, run: RunDirectory) -> LabelledSamples:
    """What people say of the run's samples; nothing where nobody has labelled any."""
    if not is_labelled(workspace, run):
        return LabelledSamples()
    with open_labelled(workspace, run) as units:
        return gather_labels(workspace, run, units).samples(units)


def is_labelled(workspace: Workspace, run: RunDirectory) -> bool:
    """Whether there may be a label: few runs have any, and the others need not be opened."""
    return LabelStore(workspace).path.exists() or has_label_column(run)


def dataset_labels(units: LabelUnits, manifest: Manifest, scale_of: ScaleOf) -> tuple[list[Label], int]:
    """Labels that stand in the data, and how many values beside them are none on this scale."""
    labels, unreadable = [], 0
    for text, value, sample, task_type in units.dataset_labels():
        try:
            share = scale_of(task_type).read(value)
        except LabelError:
            unreadable += 1
            continue
        labels.append(
            Label(
                text=text, protocol=manifest.protocol.name, rater=DATASET, share=share, given=value, sample=sample,
                run=manifest.run,
            )
        )  # fmt: skip
    is_about_this = len(labels) >= _LEAST_READABLE * (len(labels) + unreadable)
    return (labels, unreadable) if is_about_this else ([], 0)


@dataclass(frozen=True, slots=True)
class ChosenDraws:
    """Draws of one run, this one or another whose texts `pool` holds; empty where no draw counts."""

    run: str | None = None
    draws: tuple[Draw, ...] = ()
    pool: Path | None = None


def choose_draws(
    workspace: Workspace,
    draws: Sequence[Draw],
    run: RunDirectory,
    units: LabelUnits,
    by_text: Mapping[str, TextLabels],
    *,
    is_routed: bool,
) -> ChosenDraws:
    """The run's own; else those of the run with most labels here, if its texts are known.

    Where a cascade file was followed, of runs on the very same texts the one with most labels: a few audits hide
    nothing of what it was planned by.
    """
    by_run: dict[str, list[Draw]] = {}
    for draw in draws:
        by_run.setdefault(draw.run, []).append(draw)
    by_lot = {text for text, labels in by_text.items() if labels.is_by_lot}
    labelled = {name: sum(row.text in by_lot for draw in drawn for row in draw.rows) for name, drawn in by_run.items()}
    if labelled.get(run.name) and not is_routed:
        return ChosenDraws(run.name, tuple(by_run[run.name]))
    _, population = units.population()
    if labelled.get(run.name):
        alike = [name for name, drawn in by_run.items() if name == run.name or drawn[0].population == population]
        name = max(alike, key=lambda candidate: (labelled[candidate], candidate == run.name))
        return ChosenDraws(name, tuple(by_run[name]))
    for name in sorted((name for name, count in labelled.items() if count), key=lambda candidate: -labelled[candidate]):
        if by_run[name][0].population == population:
            return ChosenDraws(name, tuple(by_run[name]))
        other = workspace.run(name)
        if other.exists():
            return ChosenDraws(name, tuple(by_run[name]), ensure_texts(workspace, other))
    return ChosenDraws()


def weigh_texts(by_text: Mapping[str, TextLabels], chosen: ChosenDraws) -> list[TextWeight]:
    """How each labelled text counts.

    Labels of one's own that are said to be random join an unstratified draw; beside a stratified one their chances
    differ from the draw's in a way that nobody wrote down, so they count for agreement only.
    """
    is_stratified = any(draw.columns for draw in chosen.draws)
    # A text of the draw that somebody picked elsewhere, where the hard ones are, is no random part of it.
    probabilities = draw_probabilities(chosen.draws, {text for text, labels in by_text.items() if labels.is_by_lot})
    weights = []
    for text, labels in by_text.items():
        if text in probabilities:
            drawn = Drawing.WEIGHTED if is_stratified else Drawing.RANDOM
            weight = 1 / probabilities[text] if is_stratified else 1.0
        elif Drawing.RANDOM in labels.drawn and not is_stratified:
            drawn, weight = Drawing.RANDOM, 1.0
        elif Drawing.ELSEWHERE in labels.drawn:
            drawn, weight = Drawing.ELSEWHERE, 1.0
        else:
            drawn, weight = (Drawing.UNKNOWN if labels.counted else Drawing.CHOSEN), 1.0
        weights.append(TextWeight(text, labels.counted_share, drawn.value, weight, labels.share))
    return weights

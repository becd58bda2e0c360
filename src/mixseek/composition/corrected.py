"""Labels for the samples of one run: what people are asked, which there are, and what they make of the headline."""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

from mixseek.composition.protocols import protocol_of_run
from mixseek.composition.summary import panel_rule
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
from mixseek.domain.ports import JudgeProtocol
from mixseek.domain.samples import Sample
from mixseek.protocols.pairwise import PairwiseProtocol
from mixseek.protocols.scored.parameters import (
    ScoredParameters,
    Words,
    in_language,
    maxima_of,
    total_of,
    total_range,
    verdict_of,
)
from mixseek.protocols.scored.prompt import facts_of
from mixseek.protocols.scored.protocol import ScoredProtocol
from mixseek.reporting.findings.corrected import CorrectedReport, LabelFacts, build_corrected
from mixseek.reporting.labels import PlanReport, build_plan
from mixseek.stats.estimates import Drawing
from mixseek.storage.index.run import open_run_index
from mixseek.storage.journal.records import Manifest, read_manifest
from mixseek.storage.labels import LabelStore, LabelUnits, ensure_texts, has_label_column, open_units
from mixseek.storage.workspace import RunDirectory, Workspace

# What a person is asked about a text, and what their answer means on the protocol's scale.

# Words with the keys that give them.
VERDICTS = {"correct": ("c", "1"), "incorrect": ("i", "2")}
PREFERENCES = {"A": ("a", "1"), "B": ("b", "2"), "tie": ("e", "0")}
# So many values have a key each: the digits.
_MOST_KEYS = 10


@dataclass(frozen=True, slots=True)
class Answer:
    """A label as it is kept: as given, as a share of the scale, and by dimension where there are any."""

    given: str
    share: float
    marks: Mapping[str, float]


def label_scale(protocol: JudgeProtocol, task_type: str | None) -> LabelScale:
    """What a person labels on: right or wrong, which of two, or the protocol's total."""
    if isinstance(protocol, PairwiseProtocol):
        return LabelScale(is_binary=False, is_preference=True)
    if not isinstance(protocol, ScoredProtocol):
        return LabelScale()
    worst, best = map(float, total_range(protocol.settings, task_type))
    if protocol.settings.scale.direction == "lower_is_better":
        worst, best = best, worst
    return LabelScale(worst, best, is_binary=False)


class LabelForm:
    """Of one sample: right or wrong, which of two, a value for each dimension, or the total alone."""

    def __init__(self, protocol: JudgeProtocol, sample: Sample) -> None:
        self._protocol = protocol
        self._settings: ScoredParameters | None = None
        self._type: str | None = None
        if isinstance(protocol, ScoredProtocol):
            self._settings = protocol.settings
            self._type = facts_of(sample, protocol.settings).task_type
        self.scale = label_scale(protocol, self._type)
        self._words = PREFERENCES if self.scale.is_preference else VERDICTS

    @property
    def _is_total(self) -> bool:
        """Maxima of a dimension differ by type: without one there is no scale to mark it on."""
        settings = self._settings
        return settings is not None and bool(settings.task_types.types) and self._type is None

    def describe(self, language: str) -> dict[str, Any]:
        """For whoever draws it."""
        settings = self._settings
        if settings is None:
            options = [{"value": word, "keys": list(keys)} for word, keys in self._words.items()]
            return {"kind": "verdict", "options": options}
        lowest, highest = sorted((self.scale.minimum, self.scale.maximum))
        ends = {"minimum": lowest, "maximum": highest}
        if self._is_total:
            return {"kind": "total", **ends}
        maxima, least = maxima_of(settings, self._type), settings.scale.minimum
        is_whole = settings.scale.values == "integer"
        dimensions = [
            {
                "name": name,
                "title": self._say(one.title, language) or name,
                "description": self._say(one.description, language),
                "minimum": least,
                "maximum": maxima[name],
                "is_whole": is_whole,
                # Few values are one key each, others are typed.
                "has_keys": is_whole and least >= 0 and maxima[name] < _MOST_KEYS,
            }
            for name, one in settings.dimensions.items()
        ]
        return {
            "kind": "marks",
            **ends,
            "dimensions": dimensions,
            "values": {value: self._say(words, language) for value, words in settings.scale.labels.items()},
            "gates": [
                {"name": name, "description": self._say(gate.description, language)}
                for name, gate in settings.gates.items()
            ],
        }

    def _say(self, words: Words, language: str) -> str:
        return in_language(words, language) or in_language(words, self._protocol.language)

    def read(self, verdict: str | None, marks: Mapping[str, float] | None, total: float | None) -> Answer:
        """Raises LabelError for anything that the form does not ask for."""
        settings = self._settings
        if settings is None:
            if verdict not in self._words:
                raise LabelError(f"verdict {verdict!r} is none; give {self.scale.describe()}")
            return Answer(verdict, self.scale.read(verdict), {})
        if self._is_total:
            if total is None:
                raise LabelError(f"no total; give one from {self.scale.describe()}")
            return Answer(f"{total:g}", self.scale.read(total), {})
        kept = self._check_marks(settings, marks or {})
        found = total_of(settings, {name: kept[name] for name in settings.dimensions}, self._type)
        return Answer(f"{found:.12g}", self.scale.read(found), kept)

    def _check_marks(self, settings: ScoredParameters, marks: Mapping[str, float]) -> dict[str, float]:
        unknown = [name for name in marks if name not in settings.dimensions and name not in settings.gates]
        if unknown:
            raise LabelError(f"marks.{unknown[0]}: no such dimension; there is {', '.join(settings.dimensions)}")
        failed = {name: 1.0 for name in settings.gates if marks.get(name)}
        if any(settings.gates[name].effect == "all_zero" for name in failed):
            return {**dict.fromkeys(settings.dimensions, 0), **failed}
        maxima, least = maxima_of(settings, self._type), settings.scale.minimum
        kept: dict[str, float] = {}
        for name in settings.dimensions:
            value = marks.get(name)
            if value is None or not math.isfinite(value) or not least <= value <= maxima[name]:
                said = "no value" if value is None else f"{value:g} is outside the scale"
                raise LabelError(f"marks.{name}: {said}; give one from {least:g} to {maxima[name]:g}")
            if settings.scale.values == "integer" and value != int(value):
                raise LabelError(f"marks.{name}: {value:g} is not whole, as the protocol's values are")
            kept[name] = int(value) if value == int(value) else value
        return {**kept, **failed}

    def verdict(self, marks: Mapping[str, float]) -> str | None:
        """What the protocol calls a text with these marks; None where there are none."""
        settings = self._settings
        if settings is None or not marks:
            return None
        scores = {name: marks[name] for name in settings.dimensions}
        return verdict_of(settings, scores, total_of(settings, scores, self._type), set(marks) - set(scores))


ScaleOf = Callable[[str | None], LabelScale]
# The rater of labels that stand in the dataset itself.
DATASET = "dataset"
# Of the values of a column `label`, so many must be labels on the protocol's scale; else it is about something else.
_LEAST_READABLE = 0.95


def open_labelled(
    workspace: Workspace, run: RunDirectory, asked: PanelRule | None = None
) -> AbstractContextManager[LabelUnits]:
    """One row a sample, under the rule of the run's panel, or another one that is asked for."""
    with open_run_index(workspace, run) as index:
        rule = panel_rule(index, read_manifest(run.manifest), asked)
    return open_units(workspace, run, rule)


def scale_for(run: RunDirectory, manifest: Manifest) -> ScaleOf:
    """The scale that a person labels on, by task type."""
    protocol = protocol_of_run(run, manifest)

    return cache(partial(label_scale, protocol))


def load_corrected(workspace: Workspace, run: RunDirectory, asked: PanelRule | None = None) -> CorrectedReport | None:
    """None where nobody has labelled any text of the run."""
    # Few runs are labelled: the others are not even opened.
    if not LabelStore(workspace).path.exists() and not has_label_column(run):
        return None
    labelled, facts = load_labelled(workspace, run, asked)
    return build_corrected(labelled, facts) if facts.texts else None


def load_plan(root: Path, run: RunDirectory, half_width: float) -> PlanReport:
    """How many labels make an interval so narrow, from what is known of this run so far."""
    labelled, facts = load_labelled(Workspace(root), run)
    return build_plan(run.name, labelled, build_corrected(labelled, facts), half_width)


def load_labelled(
    workspace: Workspace, run: RunDirectory, asked: PanelRule | None = None
) -> tuple[LabelledRun, LabelFacts]:
    """Every sample with what judges and people say of it, and where the labels come from; without labels, too."""
    with open_labelled(workspace, run, asked) as units:
        gathered = gather_labels(workspace, run, units)
        return gathered.join(units), gathered.facts


@dataclass(frozen=True, slots=True)
class GatheredLabels:
    """What people said of the texts of one run, in the order of their first labels, and the draws that count."""

    said: Mapping[str, TextLabels]
    chosen: "ChosenDraws"
    facts: LabelFacts

    def join(self, units: LabelUnits) -> LabelledRun:
        weights = weigh_texts(self.said, self.chosen)
        return units.join(weights, is_binary=self.facts.scale.is_binary, pool=self.chosen.pool)


def gather_labels(workspace: Workspace, run: RunDirectory, units: LabelUnits) -> GatheredLabels:
    """Of people, and of the dataset itself."""
    manifest = read_manifest(run.manifest)
    store, scale_of = LabelStore(workspace), scale_for(run, manifest)
    own, unreadable = dataset_labels(units, manifest, scale_of)
    # What people were asked for on purpose comes later, and so takes the place of what the dataset brought.
    everything = collect_labels([*own, *store.read(manifest.protocol.name)])
    present = units.of_texts(list(everything))
    said = {text: one for text, one in everything.items() if text in present and one.by_rater}
    chosen = choose_draws(workspace, store.draws(), run, units, said)
    facts = LabelFacts(
        texts=len(said),
        raters=tuple(rater for rater, _ in Counter(one for own in said.values() for one in own.by_rater).most_common()),
        disputed=sum(one.is_disputed for one in said.values()),
        draws=tuple(draw.draw for draw in chosen.draws),
        columns=chosen.draws[0].columns if chosen.run == run.name else (),
        drawn_from=chosen.run if chosen.run != run.name else None,
        scale=scale_of(None),
        from_dataset=sum(DATASET in one.by_rater for one in said.values()),
        unreadable=unreadable,
    )
    return GatheredLabels(said, chosen, facts)


def dataset_labels(units: LabelUnits, manifest: Manifest, scale_of: ScaleOf) -> tuple[list[Label], int]:
    """Labels that stand in the data, and how many values beside them are none on this scale."""
    labels, unreadable = [], 0
    for text, given, sample, task_type in units.dataset_labels():
        try:
            share = scale_of(task_type).read(given)
        except LabelError:
            unreadable += 1
            continue
        labels.append(
            Label(
                text=text, protocol=manifest.protocol.name, rater=DATASET, share=share, given=given, sample=sample,
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
    workspace: Workspace, draws: Sequence[Draw], run: RunDirectory, units: LabelUnits, said: Mapping[str, TextLabels]
) -> ChosenDraws:
    """The run's own; else those of the run with most labels here, if its texts are known."""
    by_run: dict[str, list[Draw]] = {}
    for draw in draws:
        by_run.setdefault(draw.run, []).append(draw)
    by_lot = {text for text, one in said.items() if one.is_by_lot}
    labelled = {name: sum(row.text in by_lot for draw in own for row in draw.rows) for name, own in by_run.items()}
    if labelled.get(run.name):
        return ChosenDraws(run.name, tuple(by_run[run.name]))
    _, population = units.population()
    for name in sorted((name for name, count in labelled.items() if count), key=lambda one: -labelled[one]):
        if by_run[name][0].population == population:
            return ChosenDraws(name, tuple(by_run[name]))
        other = workspace.run(name)
        if other.exists():
            return ChosenDraws(name, tuple(by_run[name]), ensure_texts(workspace, other))
    return ChosenDraws()


def weigh_texts(said: Mapping[str, TextLabels], chosen: ChosenDraws) -> list[TextWeight]:
    """How each labelled text counts.

    Labels of one's own that are said to be random join an unstratified draw; beside a stratified one their chances
    differ from the draw's in a way that nobody wrote down, so they count for agreement only.
    """
    is_stratified = any(draw.columns for draw in chosen.draws)
    # A text of the draw that somebody picked elsewhere, where the hard ones are, is no random part of it.
    probabilities = draw_probabilities(chosen.draws, {text for text, one in said.items() if one.is_by_lot})
    weights = []
    for text, one in said.items():
        if text in probabilities:
            drawn = Drawing.WEIGHTED if is_stratified else Drawing.RANDOM
            weight = 1 / probabilities[text] if is_stratified else 1.0
            weights.append(TextWeight(text, one.share, drawn.value, weight))
        elif Drawing.RANDOM in one.drawn and not is_stratified:
            weights.append(TextWeight(text, one.share, Drawing.RANDOM.value))
        elif Drawing.ELSEWHERE in one.drawn:
            weights.append(TextWeight(text, one.share, Drawing.ELSEWHERE.value))
        else:
            weights.append(TextWeight(text, one.share, Drawing.UNKNOWN.value))
    return weights

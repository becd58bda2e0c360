"""Several runs of one protocol: side by side, and as one where that means something."""

from collections.abc import Sequence
from dataclasses import astuple, replace
from pathlib import Path

from mixseek.analysis.run.headline import summarise_group
from mixseek.analysis.run.model import ScoreSummary
from mixseek.analysis.run.summarise import settle_run, summarise_whole
from mixseek.analysis.workspace.manifests import dataset_name
from mixseek.domain.counting import Counting
from mixseek.domain.counts import NO_UNITS, OutcomeCount, PanelGroup, ResponseCounts, UnitSums
from mixseek.domain.panels import PanelRule, PanelState
from mixseek.errors import ConfigurationError
from mixseek.index.run import open_run_index, pooled_unit_sums
from mixseek.lazy_dataclass import dataclass
from mixseek.storage.journal.manifest import Manifest, read_manifest
from mixseek.storage.workspace import Workspace


@dataclass(frozen=True, slots=True)
class RunScore:
    """One run; judgments of models on their own output are in `control` alone."""

    run_id: str
    dataset: str
    dataset_digest: str | None
    judges: tuple[str, ...]
    score: ScoreSummary
    control: ScoreSummary


@dataclass(frozen=True, slots=True)
class RunComparison:
    """Runs under one protocol hash; `pooled` averages all their judgments."""

    protocol: str
    protocol_hash: str
    runs: tuple[RunScore, ...]
    pooled: ScoreSummary

    @property
    def notes(self) -> tuple[str, ...]:
        """What the pooled number leaves unsaid."""
        notes = []
        digests = [run.dataset_digest for run in self.runs if run.dataset_digest is not None]
        if self.pooled.mean is None and self.pooled.counts.valid:
            notes.append("No mean over all runs: several judges gave these verdicts, and each has its own.")
        elif len(set(digests)) < len(digests):
            notes.append(
                "Some of these runs judge the same samples: in the mean over all runs each of them counts once."
            )
        control = sum(run.control.counts.total for run in self.runs)
        if control:
            noun = "self-judgment is" if control == 1 else "self-judgments are"
            notes.append(f"{control:,} {noun} left out of every mean.")
        return tuple(notes)


def compare_runs(root: Path, names: Sequence[str]) -> RunComparison:
    """Refuses runs of different protocol hashes before anything is read of them."""
    workspace = Workspace(root)
    runs = [workspace.resolve(name) for name in names]
    repeated = [run.name for number, run in enumerate(runs) if run.name in {earlier.name for earlier in runs[:number]}]
    if repeated:
        raise ConfigurationError(f"run {repeated[0]} is named twice; each judgment counts once")
    manifests = [read_manifest(run.manifest) for run in runs]
    refuse_other_protocols(manifests)
    scores: list[RunScore] = []
    everything: list[PanelGroup] = []
    rules: set[tuple[PanelRule | None, Counting]] = set()
    for run, manifest in zip(runs, manifests, strict=True):
        with open_run_index(workspace, run) as index:
            panel, is_graded = settle_run(index, manifest), index.facts.is_graded
            group = panel.whole()
            _, control = summarise_whole(index, index.counts(OutcomeCount, final_only=True))
        rules.add((panel.rule, panel.counting))
        everything.append(group)
        digest = manifest.dataset.get("sha256")
        score = summarise_group(group, is_graded=is_graded)
        scores.append(RunScore(manifest.run, dataset_name(manifest), digest, manifest.judge_names, score, control))
    # One judge, one cascade or one panel gave every verdict: a mean over judges who differ is nobody's.
    are_same_judges = len({manifest.judge_names for manifest in manifests}) == 1 and len(rules) == 1
    units = pooled_unit_sums(workspace, runs, *rules.pop()) if are_same_judges else NO_UNITS
    pooled = summarise_group(add_groups(everything, units), is_graded=False)
    # One kind of number in every line of a table.
    is_binary = all(run.score.is_binary for run in scores)
    protocol = manifests[0].protocol
    return RunComparison(
        protocol=f"{protocol.name} {protocol.version}",
        protocol_hash=protocol.hash,
        runs=tuple(replace(run, score=replace(run.score, is_binary=is_binary)) for run in scores),
        pooled=replace(pooled, is_binary=is_binary),
    )


def add_groups(groups: Sequence[PanelGroup], units: UnitSums) -> PanelGroup:
    """Ends are added up; the mean is that of the units."""
    states = {state: sum(group.states.get(state, 0) for group in groups) for state in PanelState}
    added = [sum(counted) for counted in zip(*(astuple(group.responses) for group in groups), strict=True)]
    return PanelGroup(units, states, sum(group.unverified for group in groups), ResponseCounts(*added))


def refuse_other_protocols(manifests: Sequence[Manifest]) -> None:
    """What was asked differently cannot be averaged, however alike the numbers look."""
    first = manifests[0]
    for other in manifests[1:]:
        if other.protocol.hash != first.protocol.hash:
            raise ConfigurationError(
                f"runs {first.run} ({describe(first)}) and {other.run} ({describe(other)}) were judged under different "
                "protocols, so their scores are never averaged; report them one at a time"
            )


def describe(manifest: Manifest) -> str:
    """Name, version, language and hash: one of them differs."""
    protocol = manifest.protocol
    return f"{protocol.name} {protocol.version} {protocol.language} {protocol.hash[:8]}"

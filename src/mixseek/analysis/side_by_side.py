"""Several runs as one, where that means something: only judgments under one protocol are averaged."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from mixseek.analysis.headline import summarise_group
from mixseek.analysis.manifests import dataset_name
from mixseek.analysis.several_runs import RunComparison, RunScore
from mixseek.analysis.summarise import panel_rule, summarise_whole
from mixseek.domain.counts import NO_UNITS, OutcomeCount, PanelGroup, UnitSums
from mixseek.domain.panels import PanelRule, PanelState
from mixseek.errors import ConfigurationError
from mixseek.index.run import open_run_index, pooled_unit_sums
from mixseek.storage.journal.records import Manifest, read_manifest
from mixseek.storage.workspace import Workspace


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
    rules: set[PanelRule | None] = set()
    for run, manifest in zip(runs, manifests, strict=True):
        with open_run_index(workspace, run) as index:
            rule = panel_rule(index.facts, manifest)
            group, is_graded = index.settle(rule, manifest.judge_names).whole(), index.facts.is_graded
            _, control = summarise_whole(index, index.counts(OutcomeCount, final_only=True))
        rules.add(rule)
        everything.append(group)
        digest = manifest.dataset.get("sha256")
        score = summarise_group(group, is_graded=is_graded)
        scores.append(RunScore(manifest.run, dataset_name(manifest), digest, manifest.judge_names, score, control))
    # One judge, one cascade or one panel gave every verdict: a mean over judges who differ is nobody's.
    are_same_judges = len({manifest.judge_names for manifest in manifests}) == 1 and len(rules) == 1
    units = pooled_unit_sums(workspace, runs, rules.pop()) if are_same_judges else NO_UNITS
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
    return PanelGroup(units, states, sum(group.unverified for group in groups))


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

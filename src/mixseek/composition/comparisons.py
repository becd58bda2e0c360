"""Several runs as one, where that means something: only judgments under one protocol are averaged."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from mixseek.composition.summaries import (
    counts_document,
    dataset_name,
    is_panel,
    score_document,
    summarise_whole,
)
from mixseek.domain.counts import NO_UNITS, OutcomeCount
from mixseek.errors import ConfigurationError
from mixseek.reporting.build import summarise_scores
from mixseek.reporting.comparison import RunComparison, RunScore
from mixseek.reporting.model import ScoreSummary
from mixseek.storage.manifest import Manifest, read_manifest
from mixseek.storage.run_index import open_run_index, pooled_unit_sums
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
    everything: list[OutcomeCount] = []
    for run, manifest in zip(runs, manifests, strict=True):
        with open_run_index(workspace, run) as index:
            cells = index.outcome_counts(final_only=True)
            own = [cell for cell in cells if not cell.is_control]
            everything += own
            control = index.unit_sums(final_only=True, control=True).get((), NO_UNITS)
            scores.append(
                run_score(
                    manifest,
                    summarise_whole(index, manifest, own),
                    summarise_scores((cell for cell in cells if cell.is_control), control),
                )
            )
    units = pooled_unit_sums(workspace, runs) if is_one_judge(manifests) else NO_UNITS
    pooled = summarise_scores(everything, units)
    # One kind of number in every line of a table.
    is_binary = all(run.score.is_binary for run in scores)
    protocol = manifests[0].protocol
    return RunComparison(
        protocol=f"{protocol.name} {protocol.version}",
        protocol_hash=protocol.hash,
        runs=tuple(replace(run, score=replace(run.score, is_binary=is_binary)) for run in scores),
        pooled=replace(pooled, is_binary=is_binary),
    )


def is_one_judge(manifests: Sequence[Manifest]) -> bool:
    """One judge, or one cascade, gave every verdict: a mean over judges who differ is nobody's."""
    return len({manifest.judge_names for manifest in manifests}) == 1 and not is_panel(manifests[0])


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


def run_score(manifest: Manifest, score: ScoreSummary, control: ScoreSummary) -> RunScore:
    """One run of the comparison."""
    return RunScore(
        run_id=manifest.run,
        dataset=dataset_name(manifest),
        dataset_digest=manifest.dataset.get("sha256"),
        judges=manifest.judge_names,
        score=score,
        control=control,
    )


def comparison_document(comparison: RunComparison) -> dict[str, Any]:
    """For programs."""
    return {
        "protocol": comparison.protocol,
        "protocol_hash": comparison.protocol_hash,
        "runs": [
            {
                "run": run.run_id,
                "dataset": run.dataset,
                "judges": list(run.judges),
                **score_document(run.score),
                "control": counts_document(run.control.counts),
            }
            for run in comparison.runs
        ],
        "pooled": score_document(comparison.pooled),
        "notes": list(comparison.notes),
    }

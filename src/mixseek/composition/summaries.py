"""What a run holds, in numbers: for the terminal, for programs and for the manifest."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from mixseek.composition.gates import GateResult
from mixseek.domain.calls import CallAccount
from mixseek.domain.counts import OutcomeCount
from mixseek.domain.judgments import Status
from mixseek.matching.reading import NEEDS_MATHS
from mixseek.reporting import wording
from mixseek.reporting.build import build_report, summarise_scores
from mixseek.reporting.calls import call_documents, cost_text, tokens_text
from mixseek.reporting.counts import ReportInput
from mixseek.reporting.model import JudgeSummary, RunHeader, ScoreSummary, StatusCounts
from mixseek.storage.manifest import Manifest
from mixseek.storage.run_index import TakeSpread, open_run_index
from mixseek.storage.workspace import RunDirectory, Workspace

EMPTY = ScoreSummary(StatusCounts(), mean=None, interval=None, bounds=None, is_binary=True)


@dataclass(frozen=True, slots=True)
class RunSummary:
    """`score` counts samples by the judge that had the last word in a cascade, and every judgment in a panel.

    Judgments of models on their own output are in `control` alone.
    """

    manifest: Manifest
    workspace: Path
    run: RunDirectory
    score: ScoreSummary
    by_judge: Mapping[str, ScoreSummary]
    calls: tuple[CallAccount, ...] = ()  # of judges that had to be waited for
    spreads: tuple[TakeSpread, ...] = ()  # of judges that were asked several times
    control: ScoreSummary = EMPTY
    all_by_judge: Mapping[str, StatusCounts] = field(default_factory=dict)  # own output included
    missing_for_good: int = 0  # the endpoint refuses these samples, however often it is asked
    needs_maths: int = 0  # answers that only the extra `maths` could compare, and it was not there
    seconds: float = 0.0

    @property
    def is_complete(self) -> bool:
        """Every sample of the request is there, and nothing is missing that could still be had."""
        manifest = self.manifest
        total = self.score.counts.total + self.control.counts.total
        if self.score.counts.missing + self.control.counts.missing > self.missing_for_good:
            return False
        if manifest.repeats == 1:
            return total == manifest.sample_count * (1 if manifest.cascade else len(manifest.judges))
        # Rules are asked once and models several times, so only the least is known.
        return total >= manifest.sample_count

    def lasting(self, seconds: float) -> "RunSummary":
        """With the time that the command took."""
        return replace(self, seconds=seconds)

    def counts_by_judge(self) -> dict[str, dict[str, int]]:
        """For the manifest."""
        return {judge: counts_document(counts) for judge, counts in self.all_by_judge.items()}


def summarise_run(workspace: Workspace, run: RunDirectory, manifest: Manifest) -> RunSummary:
    """From the index, which is brought up to date first."""
    with open_run_index(workspace, run) as index:
        cells = index.outcome_counts()
        final = index.outcome_counts(final_only=True)
        calls = tuple(index.call_accounts())
        spreads = tuple(index.take_spreads()) if manifest.repeats > 1 else ()
        missing_for_good = index.missing_for_good()
        needs_maths = sum(one.count for one in index.rule_counts() if one.rule == NEEDS_MATHS)
    judges = {judge.judge: judge.score for judge in summarise_judges(manifest, cells)}
    whole = combine_judges(manifest, final)
    everything = {name: [cell for cell in cells if cell.judge == name] for name in manifest.judge_names}
    return RunSummary(
        manifest=manifest,
        workspace=workspace.root,
        run=run,
        score=whole.score if whole else EMPTY,
        by_judge={name: judges.get(name, EMPTY) for name in manifest.judge_names},
        calls=calls,
        spreads=spreads,
        missing_for_good=missing_for_good,
        needs_maths=needs_maths,
        control=summarise_scores(cell for cell in final if cell.is_control),
        all_by_judge={name: summarise_scores(own).counts for name, own in everything.items()},
    )


def summarise_judges(manifest: Manifest, cells: Iterable[OutcomeCount]) -> tuple[JudgeSummary, ...]:
    """One summary per judge, in the order of the judges."""
    return build_report(ReportInput(run_header(manifest), {}, cells, (), judges=manifest.judge_names)).judges


def combine_judges(manifest: Manifest, final: Iterable[OutcomeCount]) -> JudgeSummary | None:
    """The run as one: all final judgments under one name; None for an empty run."""
    name = " → ".join(manifest.judge_names)
    counts = [replace(cell, judge=name) for cell in final]
    report = build_report(ReportInput(run_header(manifest), {}, counts, ()))
    return replace(report.judges[0], is_whole=len(manifest.judges) > 1) if report.judges else None


def run_header(manifest: Manifest) -> RunHeader:
    """What names a run at the top of a report."""
    return RunHeader(
        run_id=manifest.run,
        protocol=manifest.protocol.name,
        protocol_version=manifest.protocol.version,
        protocol_hash=manifest.protocol.hash,
        protocol_language=manifest.protocol.language,
        dataset=dataset_name(manifest),
        samples=manifest.sample_count,
        started_at=manifest.started_at.isoformat(),
        ended_at=manifest.finished_at.isoformat() if manifest.finished_at else None,
    )


def dataset_name(manifest: Manifest) -> str:
    """Without the directories: a report is sent to people who have others."""
    path = str(manifest.dataset.get("path", ""))
    return "stdin" if path == "-" else Path(path).name


def summary_document(summary: RunSummary, gates: Sequence[GateResult] = ()) -> dict[str, Any]:
    """The contract for programs: keys are never renamed, only added."""
    manifest = summary.manifest
    return {
        "run": manifest.run,
        "workspace": str(summary.workspace),
        "protocol": manifest.protocol.name,
        "protocol_hash": manifest.protocol.hash,
        "dataset": dict(manifest.dataset),
        "samples": manifest.sample_count,
        "judges": list(manifest.judge_names),
        "cascade": manifest.cascade,
        "repeats": manifest.repeats,
        **score_document(summary.score),
        "control": score_document(summary.control) if summary.control.counts.total else None,
        "per_judge": {judge: score_document(score) for judge, score in summary.by_judge.items()},
        "calls": call_documents(summary.calls),
        "spreads": {spread.judge: asdict(spread) for spread in summary.spreads},
        "gates": [gate.to_document() for gate in gates],
        "needs_maths": summary.needs_maths,
        "complete": summary.is_complete,
        "journal": str(summary.run.journal),
        "manifest": str(summary.run.manifest),
        "seconds": round(summary.seconds, 3),
    }


def score_document(score: ScoreSummary) -> dict[str, Any]:
    """Counts beside the mean, never mixed into it."""
    interval = score.interval
    return {
        "counts": counts_document(score.counts),
        "mean_score": score.mean,
        "interval": asdict(interval) if interval else None,
    }


def describe_calls(account: CallAccount) -> str:
    """What a judge's replies took, in a line."""
    cached = f", {account.cached:,} from the cache" if account.cached else ""
    again = f", {account.reasks:,} asked again" if account.reasks else ""
    return (
        f"{account.judge}: {account.tries:,} requests for {account.calls:,} replies{cached}{again}; "
        f"{tokens_text(account.input_tokens, account)} tokens in, {tokens_text(account.output_tokens, account)} out; "
        f"cost {cost_text(account)}"
    )


def control_text(control: ScoreSummary, main: ScoreSummary) -> str:
    """What models say of their own output, beside the mean and in its unit."""
    noun = "self-judgment" if control.counts.total == 1 else "self-judgments"
    mean = wording.score_text(replace(control, is_binary=control.is_binary and main.is_binary))
    return f"{control.counts.total:,} {noun} apart, mean {mean}"


def needs_maths_text(count: int) -> str:
    """What would help where mathematics was left undecided."""
    said = "1 answer is mathematics" if count == 1 else f"{count:,} answers are mathematics"
    return f"{said} that only the extra `maths` can compare: pip install 'mixseek[maths]'"


def counts_document(counts: StatusCounts) -> dict[str, int]:
    """All four, noughts included."""
    return {status.value: counts.of(status) for status in Status}


def describe_summary(summary: RunSummary) -> str:
    """A few lines for a person; `mixseek report` says more."""
    manifest, score, counts = summary.manifest, summary.score, summary.score.counts
    lines = [f"{manifest.run}: {manifest.sample_count:,} samples, {summary.seconds:.1f} s"]
    mean = wording.score_text(score)
    interval = f" ({wording.level_text(score.interval)} {wording.interval_text(score)})" if score.interval else ""
    lines.append(f"  mean score  {mean}{interval}")
    if summary.control.counts.total:
        lines.append(f"  control     {control_text(summary.control, score)}")
    ends = [status for status in Status if counts.of(status) or status is Status.VALID]
    lines += [f"  {status.value:<10}  {counts.of(status):,}" for status in ends]
    if len(summary.by_judge) > 1:
        for judge, own in summary.by_judge.items():
            told = ", ".join(f"{own.counts.of(status):,} {status.value}" for status in Status if own.counts.of(status))
            lines.append(f"  {judge}: {told or 'not asked'}")
    lines += [f"  {describe_calls(account)}" for account in summary.calls]
    lines += [
        f"  {spread.judge}: agrees with itself on {spread.unanimous:,} of {spread.samples:,} samples with several "
        f"valid takes; mean spread {spread.mean_spread:.3f}"
        for spread in summary.spreads
    ]
    lines += [f"  {judge.name}: {warning}" for judge in manifest.judges if (warning := judge.parameters.get("warning"))]
    if summary.needs_maths:
        lines.append(f"  {needs_maths_text(summary.needs_maths)}")
    lines.append(f"  report      mixseek report {manifest.run} --workspace {summary.workspace}")
    return "\n".join(lines)

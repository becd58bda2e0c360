"""What a run holds, in numbers: for the terminal, for programs and for the manifest."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from mixseek.composition.gates import GateResult
from mixseek.domain.calls import CallAccount
from mixseek.domain.judgments import Status
from mixseek.reporting import wording
from mixseek.reporting.build import build_report
from mixseek.reporting.calls import call_documents, cost_text, tokens_text
from mixseek.reporting.counts import OutcomeCount, ReportInput
from mixseek.reporting.model import JudgeSummary, RunHeader, ScoreSummary, StatusCounts
from mixseek.storage import run_index
from mixseek.storage.manifest import Manifest
from mixseek.storage.run_index import TakeSpread, open_run_index
from mixseek.storage.workspace import RunDirectory, Workspace

EMPTY = ScoreSummary(StatusCounts(), mean=None, interval=None, bounds=None, is_binary=True)


@dataclass(frozen=True, slots=True)
class RunSummary:
    """`score` counts samples by the judge that had the last word in a cascade, and every judgment in a panel."""

    manifest: Manifest
    workspace: Path
    run: RunDirectory
    score: ScoreSummary
    by_judge: Mapping[str, ScoreSummary]
    calls: tuple[CallAccount, ...] = ()  # of judges that had to be waited for
    spreads: tuple[TakeSpread, ...] = ()  # of judges that were asked several times
    seconds: float = 0.0

    @property
    def is_complete(self) -> bool:
        """Every sample of the request is there, and nothing is missing."""
        manifest, counts = self.manifest, self.score.counts
        if manifest.repeats == 1:
            due = manifest.sample_count * (1 if manifest.cascade else len(manifest.judges))
            return counts.total == due and not counts.missing
        # Rules are asked once and models several times, so only the least is known.
        return counts.total >= manifest.sample_count and not counts.missing

    def lasting(self, seconds: float) -> "RunSummary":
        """With the time that the command took."""
        return replace(self, seconds=seconds)

    def counts_by_judge(self) -> dict[str, dict[str, int]]:
        """For the manifest."""
        return {judge: counts_document(score.counts) for judge, score in self.by_judge.items()}


def summarise_run(workspace: Workspace, run: RunDirectory, manifest: Manifest) -> RunSummary:
    """From the index, which is brought up to date first."""
    with open_run_index(workspace, run) as index:
        cells = index.outcome_counts()
        final = index.outcome_counts(final_only=True)
        calls = tuple(index.call_accounts())
        spreads = tuple(index.take_spreads()) if manifest.repeats > 1 else ()
    judges = {judge.judge: judge.score for judge in summarise_judges(manifest, cells)}
    whole = combine_judges(manifest, final)
    return RunSummary(
        manifest=manifest,
        workspace=workspace.root,
        run=run,
        score=whole.score if whole else EMPTY,
        by_judge={name: judges.get(name, EMPTY) for name in manifest.judge_names},
        calls=calls,
        spreads=spreads,
    )


def summarise_judges(manifest: Manifest, cells: Iterable[run_index.OutcomeCount]) -> tuple[JudgeSummary, ...]:
    """One summary per judge, in the order of the judges."""
    counts = [report_cell(cell, cell.judge) for cell in cells]
    return build_report(ReportInput(run_header(manifest), {}, counts, (), judges=manifest.judge_names)).judges


def combine_judges(manifest: Manifest, final: Iterable[run_index.OutcomeCount]) -> JudgeSummary | None:
    """The run as one: all final judgments under one name; None for an empty run."""
    name = " → ".join(manifest.judge_names)
    counts = [report_cell(cell, name) for cell in final]
    report = build_report(ReportInput(run_header(manifest), {}, counts, ()))
    return replace(report.judges[0], is_whole=len(manifest.judges) > 1) if report.judges else None


def report_cell(cell: run_index.OutcomeCount, judge: str) -> OutcomeCount:
    """Storage and reporting do not know each other; they agree in their fields."""
    return OutcomeCount(**{**asdict(cell), "judge": judge})


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
        "per_judge": {judge: score_document(score) for judge, score in summary.by_judge.items()},
        "calls": call_documents(summary.calls),
        "spreads": {spread.judge: asdict(spread) for spread in summary.spreads},
        "gates": [gate.to_document() for gate in gates],
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
    lines.append(f"  report      mixseek report {manifest.run} --workspace {summary.workspace}")
    return "\n".join(lines)

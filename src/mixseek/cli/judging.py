"""What `mixseek judge` does between its options and its exit code."""

import contextlib
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from mixseek.cli.console import ExitCode, Notify, notify_json, notify_plainly, print_answer
from mixseek.cli.interrupts import stopping_on_signals
from mixseek.composition.ci import CiTargets, run_report, write_ci
from mixseek.composition.compare import Baseline, compare_with_baseline
from mixseek.composition.judge import Interruption, forecast_run, judge_dataset
from mixseek.composition.request import JudgeRequest
from mixseek.composition.summary import failure_groups, first_failed_rows
from mixseek.domain.counts import FailureGroup
from mixseek.domain.judgments import Status
from mixseek.domain.ports import ProgressSink
from mixseek.reporting.ci import CiReport
from mixseek.reporting.comparison.summary import DropResult, baseline_document, baseline_text, check_drop
from mixseek.reporting.summary import (
    GateResult,
    Gates,
    RunSummary,
    check_gates,
    describe_dry_run,
    describe_groups,
    describe_summary,
    dry_run_document,
    explain_nothing_valid,
    has_nothing_valid,
    summary_document,
)
from mixseek.reporting.wording import plural
from mixseek.settings.models import JudgeSettings

# Progress on stderr: a live bar on a terminal, a plain line now and then elsewhere, nothing when asked for quiet.

SECONDS_BETWEEN_LINES = 5.0


@dataclass
class Meter:
    """Adds up what it is told, and shows nothing; the rate leaves out what an earlier run had done."""

    total: int | None
    clock: Callable[[], float] = time.monotonic
    counts: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.started = self.last = self.clock()

    def advance(self, counts: Mapping[str, int]) -> None:
        self.counts.update(counts)

    @property
    def done(self) -> int:
        return self.counts["samples"] + self.counts["skipped"]

    def describe(self) -> str:
        """done/total, rate, time to go, and how samples ended."""
        counts, done = self.counts, self.done
        rate = counts["samples"] / max(self.clock() - self.started, 1e-9)
        parts = [f"{done:,}" + (f"/{self.total:,}" if self.total else "") + " samples", f"{rate:,.0f}/s"]
        if self.total and rate and done < self.total:
            parts.append(f"{describe_seconds((self.total - done) / rate)} to go")
        parts += [f"{status} {counts[status]:,}" for status in Status if counts[status]]
        parts += [f"{counts['in_flight']:,} in flight"] if counts["in_flight"] > 0 else []
        parts += [f"{counts['cached']:,} from cache"] if counts["cached"] else []
        parts += [f"${counts['cost_millionths'] / 1_000_000:.4f}"] if counts["cost_millionths"] else []
        return " · ".join(parts)


@dataclass
class LineProgress(Meter):
    """For logs: a line every few seconds, and none for a run that is over sooner."""

    notify: Notify = notify_plainly

    def advance(self, counts: Mapping[str, int]) -> None:
        super().advance(counts)
        now = self.clock()
        if now - self.last >= SECONDS_BETWEEN_LINES:
            self.last = now
            self.notify(self.describe())


@dataclass
class BarProgress(Meter):
    """For a person: rich draws, we word."""

    bar: Any = None  # rich.progress.Progress; rich is imported only when it draws

    def advance(self, counts: Mapping[str, int]) -> None:
        super().advance(counts)
        self.bar.update(self.bar.task_ids[0], completed=self.done, text=self.describe())


@contextlib.contextmanager
def show_progress(total: int | None, quiet: bool, notify: Notify = notify_plainly) -> Iterator[ProgressSink]:
    """The sink that fits where stderr goes; whoever wants JSON lines gets no bar."""
    if quiet:
        yield Meter(total)
    elif notify is not notify_plainly or not sys.stderr.isatty():
        yield LineProgress(total, notify=notify)
    else:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn

        columns = (BarColumn(bar_width=24), TextColumn("{task.fields[text]}"))
        with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
            bar.add_task("judging", total=total, text="")
            yield BarProgress(total, bar=bar)


def describe_seconds(seconds: float) -> str:
    """Two units at most: 1h 05m, 3m 20s, 8s."""
    whole = int(seconds + 0.5)
    if whole >= 3600:
        return f"{whole // 3600}h {whole % 3600 // 60:02d}m"
    if whole >= 60:
        return f"{whole // 60}m {whole % 60:02d}s"
    return f"{whole}s"


@dataclass(frozen=True, slots=True)
class JudgeOrder:
    """`mixseek judge` as it was parsed: what to judge, what must hold, and how to tell."""

    request: JudgeRequest
    gates: Gates
    baseline: Baseline | None
    ci: CiTargets | None
    as_json: bool
    quiet: bool
    log_json: bool
    is_dry_run: bool

    @property
    def notify(self) -> Notify:
        return notify_json if self.log_json else notify_plainly

    @property
    def notify_progress(self) -> Notify:
        """--quiet takes the progress away, not the reason why a command did not succeed."""
        return (lambda _: None) if self.quiet else self.notify


@dataclass(frozen=True, slots=True)
class JobPart:
    """What a job file adds to the command: judges of its own, and what comes between judging and the summary."""

    judges: Mapping[str, JudgeSettings]
    before_summary: Callable[[RunSummary], RunSummary]
    # Jobs may share a file: their reports are collected here, and written together.
    reports: list[tuple[CiTargets, CiReport]]


def run_judge(order: JudgeOrder, job: JobPart | None = None) -> ExitCode:
    """Judge, print, decide."""
    request, as_json, notify = order.request, order.as_json, order.notify
    if order.is_dry_run:
        dry = forecast_run(request)
        return print_answer(dry_run_document(dry), describe_dry_run(dry), as_json=as_json)
    try:
        with stopping_on_signals(drains=False) as stop:
            result = judge_dataset(
                request,
                lambda total: stop.draining(show_progress(total, order.quiet, notify)),
                stop,
                order.notify_progress,
            )
    except KeyboardInterrupt:
        notify("interrupted; what was judged is kept: run the same command again to go on")
        return ExitCode.INTERRUPTED
    if isinstance(result, Interruption):
        return explain_interruption(result, notify)
    if stop():
        # The last judgment and the signal came together.
        notify("interrupted; everything is judged: run the same command again to see it")
        return ExitCode.INTERRUPTED
    return conclude(order, result if job is None else job.before_summary(result), job)


def conclude(order: JudgeOrder, result: RunSummary, job: JobPart | None) -> ExitCode:
    """What is said of a run, here and to a build server, and the exit code."""
    as_json, notify_progress = order.as_json, order.notify_progress
    checked: tuple[GateResult | DropResult, ...] = check_gates(order.gates, result.headlines)
    said, compared, more = describe_summary(result), None, []
    if (baseline := order.baseline) is not None:
        compared = compare_with_baseline(order.request.workspace, baseline, result.header.run_id)
        more = [f"{'baseline':<10}  {baseline_text(compared)}"]
        said += f"\n  {more[0]}"
        checked += (check_drop(baseline.gate, compared),) if baseline.gate is not None else ()
    if order.ci is not None:
        run, rule, seconds = result.header.run_id, order.request.panel, result.seconds
        told = run_report(
            order.request.workspace, run, checked, headline=result.headline, rule=rule, more=more, seconds=seconds
        )
        if job is None:
            write_ci(order.ci, [told])
        else:
            job.reports.append((order.ci, told))
    groups = failure_groups(result)
    # The result comes last: what is wrong with single records would push it out of sight.
    for line in describe_groups(groups, result):
        notify_progress(line)
    document = {
        **summary_document(result, checked),
        "unusable": first_failed_rows(result) if as_json else [],
        "unusable_reasons": [asdict(group) for group in groups],
        "baseline": baseline_document(compared) if compared is not None else None,
    }
    print_answer(document, said, as_json=as_json)
    return decide_exit(result, checked, groups, order.notify)


def explain_interruption(stopped: Interruption, notify: Notify) -> ExitCode:
    """Why, and what to do."""
    if stopped.reason is not None:
        notify(f"stopped: {stopped.reason}")
        return ExitCode.INCOMPLETE
    if stopped.journal is None:
        notify("interrupted before anything was judged; run the same command again to begin")
    else:
        notify(f"interrupted; everything judged so far is in {stopped.journal}: run the same command again to resume")
    return ExitCode.INTERRUPTED


def decide_exit(
    summary: RunSummary, checked: Sequence[GateResult | DropResult], groups: Sequence[FailureGroup], notify: Notify
) -> ExitCode:
    """Incomplete comes before any gate: its numbers are not the last ones."""
    failed = [gate for gate in checked if not gate.is_met]
    for line in (*explain_nothing_valid(summary, groups), *(gate.describe() for gate in failed)):
        notify(line)
    if summary.missing_for_good:
        samples = plural(summary.missing_for_good, "sample is", "samples are")
        notify(
            f"{samples} missing: their judge refuses them (see `mixseek show`); "
            "--retry-refused asks again, --max-invalid SHARE says how many may be missing"
        )
    if not summary.is_complete:
        notify(explain_missing(summary))
        return ExitCode.INCOMPLETE
    if failed:
        return ExitCode.GATE_NOT_MET
    # What is missing is no result: a gate that counts it has said that it may be.
    is_allowed = any(gate.name == "max_invalid" for gate in checked)
    if summary.missing_for_good and not is_allowed:
        return ExitCode.INCOMPLETE
    return ExitCode.GATE_NOT_MET if has_nothing_valid(summary) else ExitCode.OK


def explain_missing(summary: RunSummary) -> str:
    """What can be done about it: asking a file of recorded replies again brings nothing new."""
    judges = [judge for judge, counts in summary.all_by_judge.items() if counts.missing]
    missing = summary.score.counts.missing + summary.control.counts.missing - summary.missing_for_good
    replies = plural(missing, "reply is missing", "replies are missing")
    if judges and all(judge == "replay" or judge.startswith("replay:") for judge in judges):
        return (
            f"{replies}: nothing is recorded for these samples; add the replies to the file, then run the same "
            "command again"
        )
    return f"{replies}; run the same command again to ask for them"

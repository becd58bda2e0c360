"""What `mixseek judge` does between its options and its exit code."""

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from mixseek.cli.documents import print_json
from mixseek.cli.exit_codes import ExitCode
from mixseek.cli.interrupts import stopping_on_signals
from mixseek.cli.notices import Notify, make_notifier
from mixseek.cli.progress import show_progress
from mixseek.cli.streams import print_result
from mixseek.composition.gates import GateResult, Gates, check_gates
from mixseek.composition.judging import Interruption, judge_dataset
from mixseek.composition.requests import JudgeRequest, LiveOptions
from mixseek.composition.summaries import RunSummary, describe_summary, summary_document
from mixseek.composition.unusable import (
    describe_groups,
    explain_nothing_valid,
    first_unusable,
    has_nothing_valid,
    unusable_groups,
)
from mixseek.reporting import wording
from mixseek.settings.load import load_settings
from mixseek.storage.run_index import UnusableGroup


@dataclass(frozen=True, slots=True)
class Output:
    """What is printed, and how."""

    as_json: bool = False
    quiet: bool = False
    log_json: bool = False
    is_dry_run: bool = False


@dataclass(frozen=True, slots=True)
class LiveArguments:
    """Options for judges that have to be waited for, as typed; None where the default holds."""

    concurrency: int | None = None
    repeats: int | None = None
    max_reasks: int | None = None
    max_calls: int | None = None
    max_cost: float | None = None
    no_cache: bool = False
    patience: float | None = None
    timeout: float | None = None
    retry_refused: bool = False
    retry_invalid: bool = False
    keep_going: bool = False

    def to_options(self) -> LiveOptions:
        """With the defaults filled in."""
        plain = LiveOptions()
        return LiveOptions(
            concurrency=self.concurrency or plain.concurrency,
            max_reasks=plain.max_reasks if self.max_reasks is None else self.max_reasks,
            repeats=self.repeats or plain.repeats,
            max_calls=self.max_calls,
            max_cost_usd=self.max_cost,
            use_cache=not self.no_cache,
            patience_seconds=self.patience or plain.patience_seconds,
            timeout_seconds=self.timeout,
            retry_refused=self.retry_refused,
            retry_invalid=self.retry_invalid,
            keep_going=self.keep_going,
        )


@dataclass(frozen=True, slots=True)
class JudgeArguments:
    """As typed; None where the settings decide."""

    data: str
    protocol: str | None
    judges: list[str] | None
    cascade: bool | None
    workspace: Path | None
    run: str | None
    mapping: Mapping[str, str]
    language: str | None
    workers: int | None
    limit: int | None
    live: "LiveArguments"
    parameters: Mapping[str, Any] = field(default_factory=dict)
    rubric: Path | None = None
    bundles: bool = False
    planned: str | None = None
    allows_outside_files: bool = False

    def to_request(self, gates: Gates) -> JudgeRequest:
        """The command line wins over the environment, the environment over mixseek.toml."""
        settings = load_settings()
        defaults = settings.judge
        return JudgeRequest(
            data=self.data,
            workspace=self.workspace or settings.workspace,
            protocol=self.protocol or defaults.protocol,
            language=self.language or defaults.language,
            judges=tuple(self.judges or defaults.judges),
            cascade=defaults.cascade if self.cascade is None else self.cascade,
            run=self.run,
            mapping=self.mapping,
            limit=self.limit,
            workers=defaults.workers if self.workers is None else self.workers,
            gates=gates.limits(),
            command_line=("mixseek", *sys.argv[1:]),
            live=self.live.to_options(),
            configured=settings.configured_judges(),
            parameters=self.parameters,
            rubric=self.rubric,
            bundles=self.bundles,
            planned=self.planned,
            allows_outside_files=self.allows_outside_files,
            environment=os.environ,
        )


def run_judge(arguments: JudgeArguments, gates: Gates, output: Output) -> ExitCode:
    """Judge, print, decide."""
    request = arguments.to_request(gates)
    if output.is_dry_run:
        return print_dry_run(request, as_json=output.as_json)
    notify = make_notifier(as_json=output.log_json)
    tell = (lambda _: None) if output.quiet else notify
    try:
        with stopping_on_signals(drains=False) as stop:
            result = judge_dataset(
                request, lambda total: stop.draining(show_progress(total, output.quiet, notify)), stop, tell
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
    checked = check_gates(gates, result.headlines)
    groups = unusable_groups(result)
    # The result comes last: what is wrong with single records would push it out of sight.
    for line in describe_groups(groups, result):
        tell(line)
    if output.as_json:
        records = first_unusable(result)
        print_json(
            {
                **summary_document(result, checked),
                "unusable": [one.to_document() for one in records],
                "unusable_reasons": [asdict(group) for group in groups],
            }
        )
    else:
        print_result(describe_summary(result))
    return decide_exit(result, checked, groups, notify)


def print_dry_run(request: JudgeRequest, *, as_json: bool) -> ExitCode:
    """What would be sent."""
    from mixseek.composition.dry_runs import describe_dry_run, dry_run_document, forecast_run

    dry = forecast_run(request)
    if as_json:
        print_json(dry_run_document(dry))
    else:
        print_result(describe_dry_run(dry))
    return ExitCode.OK


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
    summary: RunSummary, checked: Sequence[GateResult], groups: Sequence[UnusableGroup], notify: Notify
) -> ExitCode:
    """Incomplete comes before any gate: its numbers are not the last ones."""
    failed = [gate for gate in checked if not gate.is_met]
    for line in (*explain_nothing_valid(summary, groups), *(gate.describe() for gate in failed)):
        notify(line)
    if summary.missing_for_good:
        samples = wording.plural(summary.missing_for_good, "sample")
        verb = "is" if summary.missing_for_good == 1 else "are"
        notify(
            f"{samples} {verb} missing: their judge refuses them (see `mixseek show`); "
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
    replies = "1 reply is missing" if missing == 1 else f"{missing:,} replies are missing"
    if judges and all(judge == "replay" or judge.startswith("replay:") for judge in judges):
        return (
            f"{replies}: nothing is recorded for these samples; add the replies to the file, then run the same "
            "command again"
        )
    return f"{replies}; run the same command again to ask for them"

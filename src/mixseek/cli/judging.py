"""What `mixseek judge` does between its options and its exit code."""

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
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
from mixseek.composition.unusable import Unusable, count_unusable, first_unusable
from mixseek.settings.load import load_settings


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
            environment=os.environ,
        )


def run_judge(arguments: JudgeArguments, gates: Gates, output: Output) -> ExitCode:
    """Judge, print, decide."""
    request = arguments.to_request(gates)
    if output.is_dry_run:
        return print_dry_run(request, as_json=output.as_json)
    notify = make_notifier(as_json=output.log_json)
    with stopping_on_signals() as stop:
        tell = (lambda _: None) if output.quiet else notify
        result = judge_dataset(request, lambda total: show_progress(total, output.quiet, notify), stop, tell)
    if isinstance(result, Interruption):
        return explain_interruption(result, notify)
    checked = check_gates(gates, result.score)
    unusable = first_unusable(result)
    if output.as_json:
        document = summary_document(result, checked)
        print_json({**document, "unusable": [one.to_document() for one in unusable]})
    else:
        print_result(describe_summary(result))
    tell_unusable(result, unusable, tell)
    return decide_exit(result, checked, notify)


def tell_unusable(summary: RunSummary, unusable: Sequence[Unusable], tell: Notify) -> None:
    """The first records, and where the others are."""
    for one in unusable:
        tell(one.describe())
    hidden = count_unusable(summary) - len(unusable)
    if hidden > 0:
        name, workspace = summary.manifest.run, summary.workspace
        tell(f"and {hidden:,} more; `mixseek export {name} --workspace {workspace} --to FILE` lists them all")


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
    notify(f"interrupted; everything judged so far is in {stopped.journal}: run the same command again to resume")
    return ExitCode.INTERRUPTED


def decide_exit(summary: RunSummary, checked: tuple[GateResult, ...], notify: Notify) -> ExitCode:
    """Incomplete comes before any gate: its numbers are not the last ones."""
    failed = [gate for gate in checked if not gate.is_met]
    for gate in failed:
        notify(gate.describe())
    if summary.missing_for_good:
        notify(
            f"{summary.missing_for_good:,} samples are missing for good: their judge refuses them, and asking again "
            "changes nothing (see `mixseek show`)"
        )
    if not summary.is_complete:
        missing = summary.score.counts.missing - summary.missing_for_good
        notify(f"{missing:,} replies are missing; run the same command again to ask for them")
        return ExitCode.INCOMPLETE
    return ExitCode.GATE_NOT_MET if failed else ExitCode.OK

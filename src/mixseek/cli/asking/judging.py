"""What `mixseek judge` does between its options and its exit code."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from mixseek.analysis.run.gates import Gates
from mixseek.analysis.run.judged import judge_dataset
from mixseek.analysis.run.summary import RunSummary
from mixseek.cli.terminal.console import ExitCode, Notify, print_answer
from mixseek.cli.terminal.progress import HowTold, show_progress
from mixseek.cli.terminal.stopping import stopping_on_signals
from mixseek.comparison.baseline import Baseline
from mixseek.comparison.conclusion import Conclusion, RunState, conclude_run
from mixseek.comparison.drop_gate import baseline_text
from mixseek.comparison.views.unusable import describe_groups
from mixseek.lazy_dataclass import dataclass
from mixseek.reports.dry_run import dry_run_document, dry_run_sections
from mixseek.reports.summary import describe_summary
from mixseek.runs.forecast import forecast_run
from mixseek.runs.judge import Interruption
from mixseek.runs.requests.request import JudgeRequest
from mixseek.settings.models import JudgeSettings

if TYPE_CHECKING:
    from mixseek.ci.build_server import CiTargets
    from mixseek.ci.report import CiReport

EXIT_CODES = {
    RunState.OK: ExitCode.OK,
    RunState.GATE_NOT_MET: ExitCode.GATE_NOT_MET,
    RunState.INCOMPLETE: ExitCode.INCOMPLETE,
}


@dataclass(frozen=True, slots=True)
class JudgeOrder(HowTold):
    """`mixseek judge` as it was parsed: what to judge, what must hold, and how to tell."""

    request: JudgeRequest
    gates: Gates
    baseline: Baseline | None
    ci: "CiTargets | None"
    as_json: bool
    quiet: bool
    log_json: bool
    is_dry_run: bool
    # Of what a cascade file decides, so much goes to people as well; None: the usual.
    audit_share: float | None = None


@dataclass(frozen=True, slots=True)
class JobPart:
    """What a job file adds to the command: judges of its own, and what comes between judging and the summary."""

    judges: Mapping[str, JudgeSettings]
    before_summary: Callable[[RunSummary], RunSummary]
    # Jobs may share a file: their reports are collected here, and written together.
    reports: "list[tuple[CiTargets, CiReport]]"


def run_judge(order: JudgeOrder, job: JobPart | None = None) -> ExitCode:
    """Judges, prints, and decides the exit code."""
    request, as_json, notify = order.request, order.as_json, order.notify
    if order.is_dry_run:
        dry = forecast_run(request)
        return print_answer(dry_run_document(dry), lambda: dry_run_sections(dry), as_json=as_json)
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
    if job is not None:
        result = job.before_summary(result)
    concluded, summary = conclude_run(result, order.gates, order.baseline), describe_summary(result)
    more = [] if concluded.compared is None else [f"{'baseline':<10}  {baseline_text(concluded.compared)}"]
    more += people_lines(order, result)
    tell_build_server(order, concluded, more, job)
    # The result comes last: what is wrong with single records would push it out of sight.
    for line in describe_groups(concluded.failures, result):
        order.notify_progress(line)
    document = concluded.document() if as_json or job is not None else {}
    print_answer(document, "\n  ".join([summary, *more]), as_json=as_json)
    for line in concluded.reasons:
        notify(line)
    return EXIT_CODES[concluded.state]


def people_lines(order: JudgeOrder, summary: RunSummary) -> list[str]:
    """What of a run that followed a cascade file waits for people; drawn once it is whole."""
    if summary.route is None or not summary.is_complete:
        return []
    # Late: few runs follow one.
    from mixseek.cascades.auditing import describe_waiting, draw_for_people
    from mixseek.storage.workspace import Workspace

    workspace = Workspace(summary.workspace)
    waiting = draw_for_people(workspace, workspace.run(summary.header.run_id), order.audit_share)
    text = None if waiting is None else describe_waiting(waiting, summary.header.run_id, summary.workspace)
    return [] if text is None else [f"{'people':<10}  {text}"]


def tell_build_server(order: JudgeOrder, concluded: Conclusion, more: list[str], job: JobPart | None) -> None:
    """Written here, or handed to the job, which may share a file with others."""
    if order.ci is None:
        return
    # Here and not above: few commands tell a build server anything.
    from mixseek.ci.build_server import run_report, write_ci

    result = concluded.summary
    report = run_report(
        result.workspace,
        result.header.run_id,
        concluded.gates,
        headline=result.headline,
        rule=order.request.panel,
        asked=order.request.counting,
        more=more,
        seconds=result.seconds,
    )
    if job is None:
        write_ci(order.ci, [report])
    else:
        job.reports.append((order.ci, report))


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

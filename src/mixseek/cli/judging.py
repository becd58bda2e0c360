"""What `mixseek judge` does between its options and its exit code."""

import contextlib
import sys
from collections.abc import Iterator

from mixseek.cli.console import ExitCode, Notify, notify_json, notify_plainly, print_answer
from mixseek.cli.interrupts import stopping_on_signals
from mixseek.composition.compare import Baseline
from mixseek.composition.conclusion import RunState, conclude_run
from mixseek.composition.judge import Interruption, forecast_run, judge_dataset
from mixseek.composition.request import JudgeRequest
from mixseek.domain.ports import ProgressSink
from mixseek.reporting.comparison.summary import baseline_text
from mixseek.reporting.progress import LineProgress, Meter, drawing_bar
from mixseek.reporting.summary import Gates, describe_dry_run, describe_groups, describe_summary, dry_run_document

EXIT_CODES = {
    RunState.OK: ExitCode.OK,
    RunState.GATE_NOT_MET: ExitCode.GATE_NOT_MET,
    RunState.INCOMPLETE: ExitCode.INCOMPLETE,
}

# Progress on stderr: a live bar on a terminal, a plain line now and then elsewhere, nothing when asked for quiet.


@contextlib.contextmanager
def show_progress(total: int | None, quiet: bool, notify: Notify = notify_plainly) -> Iterator[ProgressSink]:
    """The sink that fits where stderr goes; whoever wants JSON lines gets no bar."""
    if quiet:
        yield Meter(total)
    elif notify is not notify_plainly or not sys.stderr.isatty():
        yield LineProgress(total, notify=notify)
    else:
        with drawing_bar(total) as bar:
            yield bar


def run_judge(
    request: JudgeRequest,
    gates: Gates,
    baseline: Baseline | None,
    *,
    as_json: bool,
    quiet: bool,
    log_json: bool,
    is_dry_run: bool,
) -> ExitCode:
    """Judge, print, decide."""
    if is_dry_run:
        dry = forecast_run(request)
        return print_answer(dry_run_document(dry), describe_dry_run(dry), as_json=as_json)
    notify = notify_json if log_json else notify_plainly
    # --quiet takes the progress away, not the reason why a command did not succeed.
    notify_progress: Notify = (lambda _: None) if quiet else notify
    try:
        with stopping_on_signals(drains=False) as stop:
            result = judge_dataset(
                request, lambda total: stop.draining(show_progress(total, quiet, notify)), stop, notify_progress
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
    concluded, said = conclude_run(result, gates, baseline), describe_summary(result)
    if concluded.compared is not None:
        said += f"\n  baseline    {baseline_text(concluded.compared)}"
    # The result comes last: what is wrong with single records would push it out of sight.
    for line in describe_groups(concluded.failures, result):
        notify_progress(line)
    print_answer(concluded.document() if as_json else {}, said, as_json=as_json)
    for line in concluded.reasons:
        notify(line)
    return EXIT_CODES[concluded.state]


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

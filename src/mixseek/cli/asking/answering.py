"""What `mixseek answer` does between its options and its exit code."""

from collections.abc import Mapping
from typing import Any

from mixseek.cli.terminal.console import ExitCode, print_answer
from mixseek.cli.terminal.progress import HowTold, show_progress
from mixseek.cli.terminal.stopping import stopping_on_signals
from mixseek.lazy_dataclass import dataclass
from mixseek.reports.answers import (
    answer_dry_run_document,
    answer_dry_run_sections,
    answer_sections,
    answers_document,
)
from mixseek.runs.answers.forecast import forecast_answers
from mixseek.runs.answers.request import AnswerRequest
from mixseek.runs.answers.run import Stopped, answer_questions
from mixseek.runs.answers.summary import AnswerSummary
from mixseek.settings.models import JudgeSettings


@dataclass(frozen=True, slots=True)
class AnswerOrder(HowTold):
    """`mixseek answer` as it was parsed: what to ask, and how to tell."""

    request: AnswerRequest
    as_json: bool = False
    quiet: bool = False
    log_json: bool = False
    is_dry_run: bool = False


@dataclass(frozen=True, slots=True)
class AnswersPart:
    """What a job file adds to the command: models of its own, and prompts that may stand in it."""

    judges: Mapping[str, JudgeSettings]
    variants: Mapping[str, Any]


def run_answers(order: AnswerOrder) -> ExitCode:
    """Asks, prints, and decides the exit code."""
    if order.is_dry_run:
        dry = forecast_answers(order.request)
        return print_answer(answer_dry_run_document(dry), lambda: answer_dry_run_sections(dry), as_json=order.as_json)
    try:
        with stopping_on_signals(drains=False) as stop:
            result = answer_questions(
                order.request,
                lambda total: stop.draining(show_progress(total, order.quiet, order.notify)),
                stop,
                order.notify_progress,
            )
    except KeyboardInterrupt:
        order.notify("interrupted; what was answered is kept: run the same command again to go on")
        return ExitCode.INTERRUPTED
    if isinstance(result, Stopped):
        return explain_stop(order, result)
    if stop():
        order.notify("interrupted; everything is answered: run the same command again to see it")
        return ExitCode.INTERRUPTED
    return tell_summary(order, result)


def tell_summary(order: AnswerOrder, summary: AnswerSummary) -> ExitCode:
    """Prints what the run holds."""
    print_answer(answers_document(summary), lambda: answer_sections(summary), as_json=order.as_json)
    if summary.is_complete:
        return ExitCode.OK
    order.notify(f"{summary.open:,} answers are missing: run the same command again to ask for them")
    return ExitCode.INCOMPLETE


def explain_stop(order: AnswerOrder, stopped: Stopped) -> ExitCode:
    """What there is so far, why, and what to do."""
    interruption = stopped.interruption
    if interruption.reason is None:
        where = "before anything was answered" if interruption.journal is None else "what was answered is kept"
        order.notify(f"interrupted; {where}: run the same command again to go on")
        return ExitCode.INTERRUPTED
    if stopped.summary is not None:
        summary = stopped.summary
        print_answer(answers_document(summary), lambda: answer_sections(summary), as_json=order.as_json)
    order.notify(f"stopped: {interruption.reason}")
    return ExitCode.INCOMPLETE

"""`mixseek.judge`, `mixseek.ajudge` and `mixseek.audit`: the command line without a terminal."""

import asyncio
import concurrent.futures
import logging
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack

from mixseek.analysis.run.judged import judge_dataset
from mixseek.analysis.run.summarise import summarise_run
from mixseek.api.options import (
    Data,
    JudgeOrder,
    await_stopping,
    check_options,
    in_thread,
    make_order,
    signature_of,
    wait_for,
)
from mixseek.api.progress import choose_progress
from mixseek.api.run import Run
from mixseek.api.words import in_python_words, without_flags
from mixseek.audits.examine import audit_request, run_audit, write_card
from mixseek.audits.plan import AuditRequest
from mixseek.comparison.conclusion import Conclusion, RunState, conclude_run
from mixseek.domain.ports import JudgeLike, ProgressSink
from mixseek.errors import JudgeCallError
from mixseek.runs.cards import Card
from mixseek.runs.dry_run import DryRun
from mixseek.runs.forecast import forecast_run
from mixseek.runs.judge import Interruption
from mixseek.runs.requests.given_options import several
from mixseek.settings.options import AuditOptions, JudgeOptions
from mixseek.storage.journal.manifest import read_manifest
from mixseek.storage.workspace import Workspace

# Sentences that the command line writes to stderr; nobody sees them unless logging is set up.
logger = logging.getLogger("mixseek")


def judge(data: Data, **options: Unpack[JudgeOptions]) -> Run:
    """Judge every sample, and give the run: the same engine, the same checks and the same run as `mixseek judge`.

    `data` is a path, a list of dicts or `Sample`s, a generator of them, or a table (pandas, polars, pyarrow,
    Hugging Face datasets). Options are those of the command; `JudgeOptions` lists them. Without `workspace` nothing is
    left behind. A run that is incomplete, or whose gates are not met, does not raise: `run.ok` is False.

    Ctrl-C stops after what is in flight and raises KeyboardInterrupt; in a workspace, judging again resumes.

    >>> import mixseek
    >>> rows = [{"id": "1", "response": "So the answer is (B).", "ground_truth": "(B)"}]
    >>> run = mixseek.judge(rows, judges="rules")
    >>> run.ok, [one.verdict for one in run]
    (True, ['correct'])
    """
    with in_python_words():
        order = make_order(data, dict(options))
        work, stop = start(order)
        return wait_for(work, stop, lambda sentence: tell(order, sentence))


async def ajudge(data: Data, **options: Unpack[JudgeOptions]) -> Run:
    """`judge`, awaited: the event loop goes on meanwhile. Cancelled, it stops after what is in flight.

    >>> import asyncio, mixseek
    >>> rows = [{"id": "1", "response": "So the answer is (B).", "ground_truth": "(B)"}]
    >>> asyncio.run(mixseek.ajudge(rows, judges="rules", progress=False)).ok
    True
    """
    with in_python_words():
        # Rows may be many, and a generator may take its time.
        order = await asyncio.to_thread(make_order, data, dict(options))
        work, stop = start(order)
        return await await_stopping(work, stop)


def forecast(data: Data, **options: Unpack[JudgeOptions]) -> DryRun:
    """The calls, tokens and cost to be expected; nothing is sent (`mixseek judge --dry-run`).

    >>> import mixseek
    >>> mixseek.forecast([{"response": "4", "ground_truth": "4"}], judges="rules").samples
    1
    """
    with in_python_words():
        # Held until the end: a workspace in memory goes with it.
        order = make_order(data, dict(options))
        return forecast_run(order.request)


# By name, because a checker knows no such attribute of a function; the typed options above are what it goes by.
for _function, _answer in ((judge, Run), (ajudge, Run), (forecast, DryRun)):
    setattr(_function, "__signature__", signature_of(JudgeOptions, "data").replace(return_annotation=_answer))  # noqa: B010 - see above


def start(order: JudgeOrder) -> "tuple[concurrent.futures.Future[Run], threading.Event]":
    """The run, some day, and what asks it to stop."""
    stop = threading.Event()
    return in_thread(lambda: carry_out(order, stop.is_set)), stop


def carry_out(order: JudgeOrder, stop: Callable[[], bool]) -> Run:
    """Makes a run of the request; one that nobody will get leaves nothing behind."""

    def show_progress(total: int) -> AbstractContextManager[ProgressSink]:
        return choose_progress(total, shows=order.shows_progress)

    try:
        try:
            result = judge_dataset(order.request, show_progress, stop, lambda sentence: tell(order, sentence))
            concluded = conclude(order, result)
        except JudgeCallError as error:
            if error.run is None:
                raise
            # What was judged before that is paid for, and would go with a workspace in memory.
            concluded = conclude_stopped(order, error.run, str(error))
        return Run(concluded, order.temporary, tuple(order.notices))
    except BaseException:
        if order.temporary is not None:
            order.temporary.remove()
        raise


def conclude(order: JudgeOrder, result: Any) -> Conclusion:
    """What became of it; a run that stopped by itself is incomplete, and one that was asked to is interrupted."""
    if not isinstance(result, Interruption):
        return conclude_run(result, order.gates, order.baseline)
    if result.reason is None:
        where = "nothing was judged" if result.journal is None else f"what was judged is in {result.journal}"
        raise KeyboardInterrupt(f"interrupted: {where}")
    return conclude_stopped(order, result.run, result.reason)


def conclude_stopped(order: JudgeOrder, name: str, reason: str) -> Conclusion:
    """The end of a run that came to its end before its samples did."""
    workspace = Workspace(order.request.workspace)
    run = workspace.run(name)
    summary = summarise_run(workspace, run, read_manifest(run.manifest), order.request.panel, order.request.counting)
    concluded = conclude_run(summary, order.gates)
    return replace(concluded, state=RunState.INCOMPLETE, reasons=(f"stopped: {reason}",))


def tell(order: JudgeOrder, sentence: str) -> None:
    """Tells whoever listens to the log, and kept with the run."""
    sentence = without_flags(sentence)
    order.notices.append(sentence)
    logger.info(sentence)


# `mixseek.audit`: a judge's card without a terminal.


# What is asked of the audit and not of its runs.
_OF_AUDIT = ("n", "only", "since", "own_name", "to")


def audit(judge: JudgeLike, data: Data, **options: Unpack[AuditOptions]) -> Card:
    """Examine a judge with controlled variants of the same samples, as `mixseek audit` does; `print` shows its card.

    `card.ok` is False where an audit failed; `card.findings` has them all. Raises JudgeCallError where replies are
    missing: in a workspace, the same call resumes.

    >>> import mixseek
    >>> rows = [{"id": str(n), "response": f"It is {n}.", "ground_truth": str(n)} for n in range(30)]
    >>> card = mixseek.audit("rules", rows, only=["retest", "padding"], n=30)
    >>> card.ok, [(one.title, one.state.value) for one in card.findings]
    (True, [('test–retest', 'pass'), ('padding', 'pass')])
    """
    with in_python_words():
        given = check_options(dict(options), AuditOptions, "audit")
        of_runs = {name: value for name, value in given.items() if name not in _OF_AUDIT}
        order = make_order(data, {**of_runs, "judges": judge, "cascade": False})
        request = audit_request(order.request, given)
        stop = threading.Event()
        work = in_thread(lambda: carry_out_audit(request, order, stop))
        card = wait_for(work, stop, lambda sentence: tell(order, sentence))
        for path in several(given.get("to", ())):
            write_card(card, Path(path))
        return card


def carry_out_audit(request: AuditRequest, order: JudgeOrder, stop: threading.Event) -> Card:
    """The card; a workspace in memory goes with the order."""
    made = run_audit(
        request,
        lambda total: choose_progress(total, shows=order.shows_progress),
        stop.is_set,
        lambda sentence: tell(order, sentence),
    )
    if not isinstance(made, Interruption):
        return made[0]
    if made.reason is None:
        raise KeyboardInterrupt("interrupted: what was judged is kept in a workspace")
    raise JudgeCallError(made.reason)

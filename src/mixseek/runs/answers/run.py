"""An answer run from its request to its seal; asking, journaling and resuming are those of every run."""

import contextlib
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from functools import partial

from mixseek.errors import StorageError
from mixseek.lazy_dataclass import dataclass
from mixseek.runs.answers.cells import CELLS
from mixseek.runs.answers.kept_account import keep_account, state_of_journal
from mixseek.runs.answers.plan_cells import cells_of_plan, grow_manifest
from mixseek.runs.answers.request import AnswerRequest, plan_answers
from mixseek.runs.answers.summary import AnswerSummary, summarise_answers
from mixseek.runs.batches.check import check_batches
from mixseek.runs.first_manifest import first_manifest
from mixseek.runs.judge import Interruption, first_batches, judge_run, now, was_killed_at_start
from mixseek.runs.live import ProgressMaker, RunObserver, fewer_collections, panel_of
from mixseek.runs.requests.request import Plan
from mixseek.storage.journal.journal import JournalFile, read_lines
from mixseek.storage.journal.manifest import Manifest, read_manifest
from mixseek.storage.journal.records import decode_line, encode_sample


@dataclass(frozen=True, slots=True)
class Stopped:
    """An answer run that came to its end before its plan did; what was asked for is kept."""

    interruption: Interruption
    # None where nothing was asked yet.
    summary: AnswerSummary | None


def answer_questions(
    request: AnswerRequest, show_progress: ProgressMaker, stop: Callable[[], bool], notify: Callable[[str], None]
) -> AnswerSummary | Stopped:
    """Ask what is not answered yet, and say what the run holds. Again, it resumes, or grows by what is new."""
    began = time.monotonic()
    with fewer_collections:
        plan = plan_answers(request)
        panel_of(plan).check_limits()
        check_batches(plan)
        manifest = open_or_grow_manifest(plan, now())
        observer = RunObserver(show_progress, stop, notify)
        result = judge_run(
            plan, manifest, observer, lambda sealed: summarise_answers(plan.run, sealed), partial(note_unasked, plan)
        )
        notices = plan.dataset.survey().notices
        if isinstance(result, Interruption):
            held = None if result.journal is None else summarise_answers(plan.run, read_manifest(plan.run.manifest))
            return Stopped(result, held)
        keep_for_lists(result)
    return replace(result, seconds=time.monotonic() - began, notices=notices)


def open_or_grow_manifest(plan: Plan, at: datetime) -> Manifest:
    """The run's manifest: a new one, or the old one with what is asked for now."""
    request = first_manifest(plan, at)
    request = request.model_copy(
        update={"dataset": {**request.dataset, CELLS: cells_of_plan(plan).description}, "repeats": plan.repeats}
    )
    if not plan.run.exists():
        return request
    before = read_manifest(plan.run.manifest)
    if was_killed_at_start(plan.run, before):
        return request
    return grow_manifest(plan, request, before).restarted(at, request.environment)


def note_unasked(plan: Plan, journal: JournalFile) -> None:
    """Writes down every prompt that nobody was asked: a stop leaves it a row with its reason, not out of all counts."""
    records = (decode_line(line) for _, line in read_lines(journal.path))
    known = {bytes.fromhex(record["key"]) for record in records if record["t"] == "sample"}
    for samples in first_batches(plan):
        keys = [(sample, sample.key()) for sample in samples]
        journal.write([encode_sample(sample, key) for sample, key in keys if bytes.fromhex(key) not in known])
    journal.sync()


def keep_for_lists(summary: AnswerSummary) -> None:
    """A list does without, where this cannot be written: it is counted when somebody looks."""
    with contextlib.suppress(StorageError, OSError):
        state, sealed = state_of_journal(summary.run), read_manifest(summary.run.manifest).journal
        # Another process may have gone on with it meanwhile.
        if sealed is not None and sealed.bytes == state[0]:
            keep_account(summary, state)

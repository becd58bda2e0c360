"""A run from its request to its seal: manifest, journal, engine, index, summary."""

import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial

from mixseek.composition.live import JournalEncoder, ProgressMaker, RunObserver
from mixseek.composition.protocols import is_local, keep_protocol, replays_file
from mixseek.composition.request import (
    RULES,
    JudgeRequest,
    Plan,
    allow_appended_replies,
    available_cores,
    first_manifest,
    make_plan,
)
from mixseek.composition.summary import summarise_run
from mixseek.domain.judgments import Missing
from mixseek.domain.samples import Sample
from mixseek.engine.call import Ending, RunEnd
from mixseek.engine.executor import judge_many
from mixseek.engine.offline import Assignment, Recall, pending_batches
from mixseek.errors import ConfigurationError, JudgeCallError
from mixseek.matching.languages import written_in
from mixseek.protocols.registry import load_protocol
from mixseek.reporting.summary import RunSummary
from mixseek.storage.journal.journal import JournalFile, read_records, verify_journal
from mixseek.storage.journal.manifest import JournalSeal, Manifest, RunStatus, read_manifest, write_manifest
from mixseek.storage.journal.recall import JudgedBefore, recall_journal
from mixseek.storage.journal.records import OutcomeRecord, SampleRecord
from mixseek.storage.workspace import RunDirectory

# A batch is one fsync and one message between processes: large enough that both vanish beside the judging,
# small enough that an interruption is answered within a fraction of a second.
BATCH_SAMPLES = 512
UNMATCHED_SHOWN = 5
# From here on indexing takes more than a moment.
LONG_TO_INDEX = 100_000
# The first rows tell what a dataset is written in.
LANGUAGE_ROWS = 50
LANGUAGE_NAMES = {"en": "English", "ja": "Japanese", "zh": "Chinese"}


@dataclass(frozen=True, slots=True)
class Interruption:
    """A run that was asked to stop: what was begun is journaled."""

    run: str
    # None where nothing was judged yet: then there is no run.
    journal: str | None
    # Why it stopped by itself; None where somebody asked.
    reason: str | None = None


def judge_dataset(
    request: JudgeRequest, show_progress: ProgressMaker, stop: Callable[[], bool], notify: Callable[[str], None]
) -> RunSummary | Interruption:
    """Judge what is not judged yet, and say what the run holds. Again, it resumes; a finished run is only shown.

    `notify` gets a sentence where a person would otherwise wonder.
    """
    began = time.monotonic()
    plan = make_plan(request, cores=available_cores())
    languages = language_notices(plan)
    for notice in languages:
        notify(notice)
    notices = (*plan.dataset.survey().notices, *languages)
    if plan.is_live:
        from mixseek.composition.live import panel_of

        panel_of(plan).check_limits()
    manifest = open_or_resume_manifest(plan, now())
    result = shown_again(plan, manifest, notify) or judge_run(plan, manifest, show_progress, stop, notify)
    if isinstance(result, Interruption):
        return result
    return replace(result, seconds=time.monotonic() - began, unmatched=unmatched_replies(plan), notices=notices)


def shown_again(plan: Plan, manifest: Manifest, notify: Callable[[str], None]) -> RunSummary | None:
    """What a finished run holds; None where something is left to ask."""
    if manifest.status is not RunStatus.COMPLETE:
        return None
    summary = summarise_run(plan.workspace, plan.run, manifest)
    # Complete in name only, if an older mixseek did not seal the journal and somebody cut it since.
    if not summary.is_complete or asks_again(plan, summary):
        return None
    notify(f"run {plan.run.name} is complete; nothing was judged again")
    tell_gaps(plan, notify)
    return summary


def judge_run(
    plan: Plan,
    manifest: Manifest,
    show_progress: ProgressMaker,
    stop: Callable[[], bool],
    notify: Callable[[str], None],
) -> RunSummary | Interruption:
    """From the first line of the journal, or from where it ended, to the seal."""
    is_new = not plan.run.exists()
    if not is_new:
        # Before it is opened for writing, which cuts a torn end.
        verify_journal(plan.run)
    plan.run.create()
    manifest = manifest.model_copy(update={"status": RunStatus.RUNNING, "finished_at": None})
    with JournalFile(plan.run.journal, partial(keep_seal, plan, manifest)) as journal:
        try:
            write_manifest(plan.run.manifest, manifest)
            keep_protocol(plan.run, plan.protocol)
            tell_gaps(plan, notify)
            end = judge_rest(plan, journal, show_progress, stop, notify)
        except (ConfigurationError, JudgeCallError) as error:
            if is_new and discard_empty(plan.run):
                raise
            if isinstance(error, JudgeCallError):
                seal_run(plan, manifest, RunStatus.INTERRUPTED, journal, manifest.counts)
            raise
        if end.ending is not Ending.COMPLETE:
            if is_new and discard_empty(plan.run):
                return Interruption(plan.run.name, None, end.reason)
            seal_run(plan, manifest, RunStatus.INTERRUPTED, journal, manifest.counts)
            return Interruption(plan.run.name, str(plan.run.journal), end.reason)
        if plan.samples >= LONG_TO_INDEX:
            notify(f"indexing {plan.samples:,} samples")
        summary = summarise_run(plan.workspace, plan.run, manifest)
        status = RunStatus.COMPLETE if summary.is_complete else RunStatus.INCOMPLETE
        seal_run(plan, manifest, status, journal, summary.counts_by_judge())
    return summary


def keep_seal(plan: Plan, manifest: Manifest, seal: JournalSeal) -> None:
    """What is on disk by now: after a kill, the journal must still begin with it."""
    write_manifest(plan.run.manifest, manifest.model_copy(update={"journal": seal}))


def seal_run(
    plan: Plan,
    manifest: Manifest,
    status: RunStatus,
    journal: JournalFile,
    counts: Mapping[str, Mapping[str, int]],
) -> None:
    """The last word about the run and its journal."""
    write_manifest(plan.run.manifest, manifest.sealed(status, now(), counts, journal.seal))


def language_notices(plan: Plan) -> tuple[str, ...]:
    """One sentence where a model is asked in another language than the data's, and nobody chose that."""
    if not plan.is_live or plan.request.language is not None:
        return ()
    sampled = next(plan.dataset.batches(LANGUAGE_ROWS), [])
    language = written_in(text for sample in sampled for text in (sample.question, sample.response))
    if language is None or language == plan.protocol.language:
        return ()
    own = plan.protocol.language
    look, asked = LANGUAGE_NAMES[language], LANGUAGE_NAMES.get(own, own)
    said = f"the data look {look}, but the prompts of the {plan.protocol.name} protocol are {asked}"
    try:
        load_protocol(plan.request.protocol, language, plan.request.parameters)
    except ConfigurationError:
        return (f"{said}; it has none in {look}",)
    return (f"{said}; --language {language} asks in {look}, --language {own} keeps these and this quiet",)


def asks_again(plan: Plan, summary: RunSummary) -> bool:
    """Whether a complete run holds something that the request wants to be asked again."""
    options = plan.request.live
    for judge in plan.judges:
        if is_local(judge):
            continue
        counts = summary.all_by_judge[judge.name]
        if counts.missing and (options.retry_refused or counts.missing == counts.total):
            return True
        if counts.invalid and options.retry_invalid:
            return True
    return False


def discard_empty(run: RunDirectory) -> bool:
    """A start that was refused leaves no run behind: nothing was said about any sample, and the name is free."""
    for record in read_records(run.journal):
        match record:
            case SampleRecord() | OutcomeRecord(outcome=Missing()):
                continue
            case _:
                return False
    shutil.rmtree(run.path)
    return True


def open_or_resume_manifest(plan: Plan, at: datetime) -> Manifest:
    """The run's manifest: a new one, or the old one after making sure that the request is the same."""
    request = first_manifest(plan, at)
    if not plan.run.exists():
        return request
    before = read_manifest(plan.run.manifest)
    before.check_resumable(allow_appended_replies(request, before, plan.judges))
    if before.status is RunStatus.COMPLETE:
        return before
    return before.restarted(at, request.environment).model_copy(
        update={"gates": request.gates, "judges": request.judges}
    )


def tell_gaps(plan: Plan, notify: Callable[[str], None]) -> None:
    """Rules cannot compare with nothing; better said now than wondered about in the report."""
    survey = plan.dataset.survey()
    for notice in survey.notices:
        notify(notice)
    blind = survey.rows_without_ground_truth
    if blind and RULES in plan.judge_names:
        notify(f"{blind:,} of {survey.rows:,} rows have no ground_truth; rules leave them undecided")
    tell_coverage(plan, notify)
    for name, (count, first) in unmatched_replies(plan).items():
        more = f" and {count - len(first):,} more" if count > len(first) else ""
        noun = "replies are" if count > 1 else "reply is"
        notify(f"{name}: {count:,} {noun} about no sample here: {', '.join(first)}{more}")


def tell_coverage(plan: Plan, notify: Callable[[str], None]) -> None:
    """What is filed under INCOMPLETE_COVERAGE without anybody being asked."""
    survey = plan.dataset.survey()
    for field, count in survey.incomplete.items():
        places = ", ".join(map(str, survey.incomplete_places))
        notify(
            f"{count:,} of {survey.rows:,} rows have no {field}: they are filed under INCOMPLETE_COVERAGE, and no "
            f"judge is asked about them (the first incomplete rows: {places})"
        )
    if plan.holes:
        shown = ", ".join(hole.id.removeprefix("planned: ") for hole in plan.holes[:UNMATCHED_SHOWN])
        more = f" and {len(plan.holes) - UNMATCHED_SHOWN:,} more" if len(plan.holes) > UNMATCHED_SHOWN else ""
        notify(f"{len(plan.holes):,} planned outputs are not in the dataset (INCOMPLETE_COVERAGE): {shown}{more}")
    if plan.unplanned:
        shown = ", ".join(plan.unplanned[:UNMATCHED_SHOWN])
        notify(f"{len(plan.unplanned):,} samples are not in the plan; they are judged all the same: {shown}")


def unmatched_replies(plan: Plan) -> dict[str, tuple[int, list[str]]]:
    """By judge; those whose every reply found its sample are left out."""
    counted = {judge.name: judge.unmatched(UNMATCHED_SHOWN) for judge in plan.judges if replays_file(judge)}
    return {name: replies for name, replies in counted.items() if replies[0]}


def judge_rest(
    plan: Plan,
    journal: JournalFile,
    show_progress: ProgressMaker,
    stop: Callable[[], bool],
    notify: Callable[[str], None],
) -> RunEnd:
    """How it came to its end."""
    before: JudgedBefore | None = None
    if journal.length_bytes:
        before = recall_journal(journal.path, plan.judge_names, plan.repeats)
        notify(f"resuming run {plan.run.name}: {len(before):,} of {plan.samples:,} samples have been judged before")
    if plan.is_live:
        # Here and not above: rules-only runs do not pay for loading an event loop and an HTTP client.
        from mixseek.composition.live import judge_rest_live

        return judge_rest_live(plan, journal, first_batches(plan), before, RunObserver(show_progress, stop, notify))
    judges = tuple(judge for judge in plan.judges if is_local(judge))
    assignment = Assignment(plan.protocol, judges, plan.cascade, JournalEncoder())
    recall: Recall | None = before.statuses if before is not None else None
    batches = pending_batches(first_batches(plan), plan.judge_names, plan.cascade, recall)
    with show_progress(plan.samples) as progress:
        ended = judge_many(batches, assignment, journal, progress, workers=plan.workers, stop=stop)
    return RunEnd(Ending.COMPLETE if ended else Ending.STOPPED)


def first_batches(plan: Plan) -> Iterator[list[Sample]]:
    """The dataset as far as the request goes, and what the plan has beyond it."""
    yield from dataset_batches(plan)
    for start in range(0, len(plan.holes), BATCH_SAMPLES):
        yield list(plan.holes[start : start + BATCH_SAMPLES])


def dataset_batches(plan: Plan) -> Iterator[list[Sample]]:
    """The first samples, or all of them."""
    if plan.request.limit is None:
        # To the very end: there the dataset makes sure that it was not changed meanwhile.
        yield from plan.dataset.batches(BATCH_SAMPLES)
        return
    left = plan.samples - len(plan.holes)
    for batch in plan.dataset.batches(BATCH_SAMPLES):
        yield batch[:left]
        left -= len(batch)
        if left <= 0:
            return


def now() -> datetime:
    return datetime.now(UTC)

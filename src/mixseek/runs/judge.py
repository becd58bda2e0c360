"""A run from its request to its seal: manifest, journal, engine, index, summary."""

import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import Protocol, TypeVar

from mixseek.domain.counts import StatusCounts
from mixseek.domain.ports import PLAIN
from mixseek.domain.samples import Sample
from mixseek.engine.endings import Ending, RunEnd
from mixseek.engine.executor import judge_many
from mixseek.engine.offline import Assignment, Recall, pending_batches
from mixseek.errors import ConfigurationError, JudgeCallError
from mixseek.lazy_dataclass import dataclass
from mixseek.matching.phrases import written_in
from mixseek.runs.batches.check import check_batches
from mixseek.runs.budget_rounds import budget_rounds
from mixseek.runs.first_manifest import allow_appended_replies, first_manifest
from mixseek.runs.live import BATCH_SAMPLES, RunObserver, asking_live, encode_judged, panel_of
from mixseek.runs.requests.manifest_entries import describe_judge, describe_protocol
from mixseek.runs.requests.named import is_remote, replays_file
from mixseek.runs.requests.protocol_record import keep_protocol
from mixseek.runs.requests.request import RULES, JudgeRequest, Plan, available_cores, count_of, make_plan
from mixseek.runs.requests.routing import PanelJudge
from mixseek.runs.required_cards import check_cards
from mixseek.storage.batch_ledger import PERHAPS_PAID, read_ledger
from mixseek.storage.journal.journal import JournalFile, says_nothing, verify_journal
from mixseek.storage.journal.lock import holding_lock
from mixseek.storage.journal.manifest import JournalSeal, Manifest, RunStatus, read_manifest, write_manifest
from mixseek.storage.journal.recall import JudgedBefore, recall_journal
from mixseek.storage.journal.shards import take_over_leftovers
from mixseek.storage.workspace import SHOWN_NAMES, RunDirectory, list_first
from mixseek.text.phrases import plural

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


class RunHolds(Protocol):
    """What a run must know of what it holds before it is sealed; who reads runs can tell."""

    @property
    def is_complete(self) -> bool: ...

    @property
    def all_by_judge(self) -> Mapping[str, StatusCounts]: ...

    def counts_by_judge(self) -> Mapping[str, Mapping[str, int]]: ...


Held = TypeVar("Held", bound=RunHolds)


def prepare_run(request: JudgeRequest, notify: Callable[[str], None]) -> tuple[Plan, tuple[str, ...]]:
    """The request's parts, checked before anything is asked, and what a person must be told about them."""
    plan = make_plan(request, cores=available_cores())
    check_cards(plan, notify)
    check_route(plan)
    notices = (*version_notices(plan), *language_notices(plan))
    for notice in notices:
        notify(notice)
    panel_of(plan).check_limits()
    check_batches(plan)
    return plan, (*plan.dataset.survey().notices, *notices)


def check_route(plan: Plan) -> None:
    """Raises GateError where a cascade's certificate holds no longer, before anything is paid for."""
    if plan.request.route is not None:
        asked = tuple(describe_judge(judge) for judge in plan.judges if not isinstance(judge, PanelJudge))
        plan.request.route.check(asked, describe_protocol(plan.protocol))


def judge_planned(plan: Plan, observer: RunObserver, summarise: Callable[[Manifest], Held]) -> Held | Interruption:
    """Judge what is not judged yet. Again, it resumes; a finished run is only shown."""
    manifest = open_or_resume_manifest(plan, now())
    return shown_again(plan, manifest, observer.notify, summarise) or judge_run(plan, manifest, observer, summarise)


def shown_again(
    plan: Plan, manifest: Manifest, notify: Callable[[str], None], summarise: Callable[[Manifest], Held]
) -> Held | None:
    """What a finished run holds; None where something is left to ask."""
    if manifest.status is not RunStatus.COMPLETE:
        return None
    holds = summarise(manifest)
    # Complete in name only, if an older mixseek did not seal the journal and somebody cut it since.
    if not holds.is_complete or asks_again(plan, holds):
        return None
    notify(f"run {plan.run.name} is complete; nothing was judged again")
    tell_gaps(plan, notify)
    return holds


def judge_run(
    plan: Plan,
    manifest: Manifest,
    observer: RunObserver,
    summarise: Callable[[Manifest], Held],
    note_rest: Callable[[JournalFile], None] = lambda _: None,
) -> Held | Interruption:
    """Judges from the first line of the journal to the seal; `note_rest` may write down what a stop leaves undone."""
    is_new = not plan.run.exists()
    if not is_new:
        # Before it is opened for writing, which cuts a torn end.
        verify_journal(plan.run)
    plan.run.create()
    manifest = manifest.model_copy(update={"status": RunStatus.RUNNING, "finished_at": None})

    def keep_seal(seal: JournalSeal) -> None:
        """What is on disk by now: after a kill, the journal must still begin with it."""
        write_manifest(plan.run.manifest, manifest.model_copy(update={"journal": seal}))

    def seal(status: RunStatus, counts: Mapping[str, Mapping[str, int]]) -> None:
        """The last word about the run and its journal."""
        write_manifest(plan.run.manifest, manifest.sealed(status, now(), counts, journal.seal))

    with JournalFile(plan.run.journal, keep_seal) as journal:
        try:
            write_manifest(plan.run.manifest, manifest)
            # Of a command that was killed while others judged for it.
            take_over_leftovers(plan.run, journal)
            keep_protocol(plan.run, plan.protocol)
            tell_gaps(plan, observer.notify)
            end = judge_rest(plan, journal, observer)
        except (ConfigurationError, JudgeCallError) as error:
            if is_new and discard_empty(plan.run):
                raise
            if isinstance(error, JudgeCallError):
                note_rest(journal)
                seal(RunStatus.INTERRUPTED, manifest.counts)
                error.run = plan.run.name
            raise
        if end.ending is not Ending.COMPLETE:
            if is_new and not plan.request.keeps_empty_run and discard_empty(plan.run):
                return Interruption(plan.run.name, None, end.reason)
            note_rest(journal)
            seal(RunStatus.INTERRUPTED, manifest.counts)
            return Interruption(plan.run.name, str(plan.run.journal), end.reason)
        if plan.samples >= LONG_TO_INDEX:
            observer.notify(f"indexing {plan.samples:,} samples")
        holds = summarise(manifest)
        seal(RunStatus.COMPLETE if holds.is_complete else RunStatus.INCOMPLETE, holds.counts_by_judge())
    return holds


def version_notices(plan: Plan) -> tuple[str, ...]:
    """One sentence where the run was begun by earlier prompts than are asked for now."""
    asked = plan.request.load_protocol()
    if asked.hash == plan.protocol.hash:
        return ()
    begun = f"run {plan.run.name} was begun with earlier prompts of the {asked.name} protocol"
    if asked.version != plan.protocol.version:
        begun = f"{begun} (version {plan.protocol.version}, now {asked.version})"
    return (f"{begun} and goes on with them; another --run asks with those of now",)


def language_notices(plan: Plan) -> tuple[str, ...]:
    """One sentence where a model is asked in another language than the data's, and nobody chose that."""
    if not plan.is_live or plan.request.language is not None or not isinstance(plan.request.protocol, str):
        return ()
    sampled = next(plan.dataset.batches(LANGUAGE_ROWS), [])
    language = written_in(text for sample in sampled for text in (sample.question, sample.response))
    if language is None or language == plan.protocol.language:
        return ()
    asked_in = plan.protocol.language
    look, asked = LANGUAGE_NAMES[language], LANGUAGE_NAMES.get(asked_in, asked_in)
    contrast = f"the data look {look}, but the prompts of the {plan.protocol.name} protocol are {asked}"
    try:
        replace(plan.request, language=language).load_protocol()
    except ConfigurationError:
        return (f"{contrast}; it has none in {look}",)
    return (f"{contrast}; --language {language} asks in {look}, --language {asked_in} keeps these and this quiet",)


def asks_again(plan: Plan, holds: RunHolds) -> bool:
    """Whether a complete run holds something that the request wants to be asked again."""
    options, shown = plan.request.live, plan.protocol.presentations
    remote = [holds.all_by_judge[judge.name] for judge in plan.judges if is_remote(judge)]
    return any(
        (counts.missing and (options.retry_refused or counts.missing == counts.total))
        # Where several presentations are asked for, one invalid reply leaves its sample undecided.
        or ((counts.invalid or (counts.undecided and shown != (PLAIN,))) and options.retry_invalid)
        for counts in remote
    )


def discard_empty(run: RunDirectory) -> bool:
    """A start that was refused leaves no run behind: nothing was said about any sample, and the name is free."""
    is_paid_for = any(entry.stage in PERHAPS_PAID for entry in read_ledger(run.batches))
    if is_paid_for or not says_nothing(run.journal):
        return False
    shutil.rmtree(run.path)
    return True


def was_killed_at_start(run: RunDirectory, manifest: Manifest) -> bool:
    """Whether its process died before anybody had said anything; then it is removed, and the name is free."""
    if manifest.status is not RunStatus.RUNNING:
        return False
    with holding_lock(run.lock):
        return discard_empty(run)


def open_or_resume_manifest(plan: Plan, at: datetime) -> Manifest:
    """The run's manifest: a new one, or the old one after making sure that the request is the same."""
    request = first_manifest(plan, at)
    if not plan.run.exists():
        return request
    before = read_manifest(plan.run.manifest)
    if was_killed_at_start(plan.run, before):
        return request
    before.check_resumable(allow_appended_replies(request, before, plan.judges))
    if before.status is RunStatus.COMPLETE:
        return before
    # What changes no judgment is as it is asked for now.
    names = ("gates", "panel", "cut_off", "undecided", "judges")
    return before.restarted(at, request.environment).model_copy(update={name: getattr(request, name) for name in names})


def tell_gaps(plan: Plan, notify: Callable[[str], None]) -> None:
    """What cannot be judged, or by nobody: better said now than wondered about in the report."""
    survey = plan.dataset.survey()
    for notice in survey.notices:
        notify(notice)
    blind = survey.rows_without_ground_truth
    if blind and RULES in plan.judge_names:
        verb = "has" if blind == 1 else "have"
        notify(f"{blind:,} of {plural(survey.rows, 'row')} {verb} no ground_truth: undecided by rules")
    for field, count in survey.incomplete.items():
        places, verb = ", ".join(map(str, survey.incomplete_places)), "has" if count == 1 else "have"
        notify(
            f"{count:,} of {plural(survey.rows, 'row')} {verb} no {field}: filed under INCOMPLETE_COVERAGE, "
            f"without asking any judge (the first incomplete rows: {places})"
        )
    if plan.holes:
        ids = [hole.id.removeprefix("planned: ") for hole in plan.holes]
        missing = plural(len(plan.holes), "planned output is", "planned outputs are")
        notify(f"{missing} not in the dataset (INCOMPLETE_COVERAGE): {list_first(ids)}")
    if plan.grid is not None and (unplanned := plan.grid.unplanned):
        extra = plural(len(unplanned), "sample is", "samples are")
        notify(f"{extra} not in the plan, and judged all the same: {list_first(unplanned)}")
    for name, (count, first) in unmatched_replies(plan).items():
        replies = plural(count, "reply is", "replies are")
        notify(f"{name}: {replies} about no sample here: {list_first(first, count)}")


def unmatched_replies(plan: Plan) -> dict[str, tuple[int, list[str]]]:
    """Counts by judge, with the first ids; a judge whose every reply found its sample is left out."""
    counted = {judge.name: judge.unmatched(SHOWN_NAMES) for judge in plan.judges if replays_file(judge)}
    return {name: replies for name, replies in counted.items() if replies[0]}


def judge_rest(plan: Plan, journal: JournalFile, observer: RunObserver) -> RunEnd:
    """How it came to its end."""
    before: JudgedBefore | None = None
    if journal.length_bytes:
        before = recall_journal(journal.path, plan.judge_names, plan.repeats)
        judged = f"{len(before):,} of {plan.samples:,} {plan.protocol.done_words} before"
        observer.notify(f"resuming run {plan.run.name}: {judged}")
    if plan.request.cluster is not None:
        # Late: only who asks for a cluster needs what it takes.
        from mixseek.runs.cluster.driver import judge_on_ray

        return judge_on_ray(plan, plan.request.cluster, partial(first_batches, plan), journal, before, observer)
    if plan.batched_judges:
        with (
            asking_live(plan, journal.path, before, observer.notify) as (asking, _),
            observer.show_progress(plan.samples) as progress,
        ):
            # Late: what it takes to speak to providers about batches is for who has some.
            from mixseek.runs.batches.rounds import BatchRun

            rounds = partial(rounds_of, plan)
            return BatchRun(plan, asking, journal, progress, observer.stop, observer.notify, rounds).judge()
    if plan.is_live or plan.request.route is not None:
        with (
            asking_live(plan, journal.path, before, observer.notify) as (asking, pending_of),
            observer.show_progress(plan.samples) as progress,
        ):
            return asking.judge(map(pending_of, rounds_of(plan)), journal, progress, observer.stop)
    judges = tuple(judge for judge in plan.judges if not is_remote(judge))
    assignment = Assignment(plan.protocol, judges, plan.request.cascade, encode_judged)
    recall: Recall | None = before.statuses if before is not None else None
    with observer.show_progress(plan.samples) as progress:
        for samples in rounds_of(plan):
            batches = pending_batches(samples, plan.judge_names, plan.request.cascade, recall)
            if not judge_many(batches, assignment, journal, progress, workers=plan.workers, stop=observer.stop):
                return RunEnd(Ending.STOPPED)
    return RunEnd(Ending.COMPLETE)


def rounds_of(plan: Plan) -> Iterator[Iterator[list[Sample]]]:
    """All samples at once, unless what some of them say decides which are next."""
    return budget_rounds(plan) if plan.request.budget is not None else iter([first_batches(plan)])


def first_batches(plan: Plan, size: int = BATCH_SAMPLES) -> Iterator[list[Sample]]:
    """The dataset as far as the request goes, and what the plan has beyond it."""
    left = plan.samples - len(plan.holes)
    for batch in plan.dataset.batches(size):
        yield batch[:left]
        left -= len(batch)
        # Without a limit to the very end: there the dataset makes sure that it was not changed meanwhile.
        if left <= 0 and count_of(plan.request):
            break
    for start in range(0, len(plan.holes), size):
        yield list(plan.holes[start : start + size])


def now() -> datetime:
    return datetime.now(UTC)

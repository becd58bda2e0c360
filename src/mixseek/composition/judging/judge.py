"""A run from its request to its seal: manifest, journal, engine, index, summary."""

import json
import shutil
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import IO

from pydantic import ValidationError

from mixseek.composition.corrected import load_corrected
from mixseek.composition.judging.live import (
    BATCH_SAMPLES,
    Earlier,
    ProgressMaker,
    RunObserver,
    asking_live,
    encode_judged,
    fewer_collections,
    live_batches,
    live_slots,
    open_cache,
    panel_of,
)
from mixseek.composition.judging.request import (
    RULES,
    JudgeRequest,
    Plan,
    allow_appended_replies,
    available_cores,
    count_of,
    describe_judge,
    describe_protocol,
    first_manifest,
    make_plan,
)
from mixseek.composition.protocols import is_remote, keep_protocol, replays_file
from mixseek.composition.summary import summarise_run
from mixseek.domain.judgments import Method, ValidJudgment
from mixseek.domain.ports import PLAIN, Call, ReplyKey, Usage, presentations_of
from mixseek.domain.samples import Sample
from mixseek.engine.call import EXPECTED_OUTPUT_TOKENS, LiveSlot, NoCache, PendingSample, estimate_usage
from mixseek.engine.endings import Ending, RunEnd
from mixseek.engine.executor import judge_many
from mixseek.engine.offline import Assignment, Recall, pending_batches, refuse_incomplete
from mixseek.errors import ConfigurationError, DatasetError, GateError, JudgeCallError, StorageError, reason_of
from mixseek.matching.visible import written_in
from mixseek.reporting.cards import Card, CardJudge, CardProtocol
from mixseek.reporting.summary import DryRun, Forecast, RunSummary
from mixseek.reporting.wording import plural
from mixseek.stats.audits import AuditState
from mixseek.stats.planning import Candidate, next_pairs
from mixseek.stats.strengths import Comparison
from mixseek.storage.durable import replacing
from mixseek.storage.journal.journal import (
    JournalFile,
    JudgedBefore,
    damaged,
    holding_lock,
    read_lines,
    recall_journal,
    says_nothing,
    take_over_leftovers,
    verify_journal,
)
from mixseek.storage.journal.records import (
    JournalSeal,
    Manifest,
    OutcomeRecord,
    Record,
    RunStatus,
    decode_line,
    decode_record,
    decode_sample,
    encode_sample,
    read_manifest,
    write_manifest,
)
from mixseek.storage.workspace import SHOWN_NAMES, RunDirectory, list_first
from mixseek.storage.workspace_key import workspace_key
from mixseek.templating import fence_nonce

# `--budget`: pairs judged in rounds, each chosen from what all earlier ones said.
#
# The pairs of a round are written down before they are judged, so that a run that was killed goes on with the same
# ones. What they are follows from the dataset, the seed and the answers: the same again gives the same.

# Pairs in a round: each two systems once, within limits. It does not depend on the budget, so that a larger one begins
# with the same pairs, whose replies are in the cache.
_FEWEST, _MOST = 16, 400
_READ_AT_ONCE = 512
# How a line begins that says what became of a pair; replies are longer, and not needed.
_OUTCOME = b'{"t":"outcome"'


def budget_rounds(plan: Plan) -> Iterator[Iterator[list[Sample]]]:
    """Batches of one round after the other; the next one is chosen when it is asked for."""
    budget = plan.request.budget
    assert budget is not None
    with tempfile.TemporaryFile() as kept:
        pool = CandidatePool(kept, plan)
        answers = Answers(plan.run.journal, pool.candidates)
        size = max(_FEWEST, min(_MOST, len(pool.names) * (len(pool.names) - 1) // 2))
        rounds = read_rounds(plan.run.rounds)
        for number in range(len(pool.candidates)):
            if number == len(rounds):
                asked = {key for one in rounds for key in one}
                left = [one for key, one in pool.candidates.items() if key not in asked]
                count = min(size, budget.pairs - len(asked))
                chosen = next_pairs(answers.read(), left, count, top=budget.top, seed=plan.request.seed)
                if not chosen:
                    return
                rounds.append([one.key for one in chosen])
                with replacing(plan.run.rounds) as stream:
                    stream.write(json.dumps(rounds, ensure_ascii=False, indent=1).encode())
            yield pool.batches(rounds[number])


def likely_batches(plan: Plan) -> Iterator[list[Sample]]:
    """For an estimate: what was chosen so far, and as many others as are still to be chosen."""
    chosen = {key for one in read_rounds(plan.run.rounds) for key in one}
    left = plan.samples - len(chosen)
    for batch in plan.dataset.batches(_READ_AT_ONCE):
        others = [sample for sample in batch if sample.id not in chosen][: max(0, left)]
        left -= len(others)
        yield [sample for sample in batch if sample.id in chosen] + others


class CandidatePool:
    """Every pair of the dataset, made and read once; its samples wait in a file, so that no more than a batch is held.

    Raises ConfigurationError where the dataset does not say who wrote the two.
    """

    def __init__(self, stream: IO[bytes], plan: Plan) -> None:
        self._stream = stream
        self._places: dict[str, int] = {}
        self.candidates: dict[str, Candidate] = {}
        for batch in plan.dataset.batches(_READ_AT_ONCE):
            for sample in batch:
                if not sample.target_model or not sample.target_b:
                    raise ConfigurationError(
                        f"--budget: sample {sample.id!r} does not say who wrote its two responses; it needs `target_a` "
                        "and `target_b`, because pairs of targets are what is chosen"
                    )
                if sample.target_model != sample.target_b:
                    key, question = sample.id, sample.question_id or sample.id
                    self.candidates[key] = Candidate(key, question, sample.target_model, sample.target_b)
                    self._places[key] = stream.tell()
                    stream.write(encode_sample(sample))
        self.names = {name for one in self.candidates.values() for name in (one.first, one.second)}

    def batches(self, chosen: Sequence[str]) -> Iterator[list[Sample]]:
        """In the order of the dataset."""
        places = sorted(self._places[key] for key in chosen if key in self._places)
        for start in range(0, len(places), _READ_AT_ONCE):
            yield [self._read(place) for place in places[start : start + _READ_AT_ONCE]]

    def _read(self, place: int) -> Sample:
        self._stream.seek(place)
        return decode_sample(decode_line(self._stream.readline())["sample"])


class Answers:
    """What judges have said so far, the mean where several said something; a model on its own output has no say."""

    def __init__(self, journal: Path, candidates: Mapping[str, Candidate]) -> None:
        self._journal = journal
        self._candidates = candidates
        self._read_to = 0
        # By pair, then by judge and take: the last outcome counts.
        self._scores: defaultdict[str, dict[tuple[str, int], float | None]] = defaultdict(dict)

    def read(self) -> list[Comparison]:
        """With what the journal has gained since the last time."""
        for offset, line in read_lines(self._journal, self._read_to) if self._journal.is_file() else ():
            self._read_to = offset + len(line)
            if line.startswith(_OUTCOME):
                try:
                    self._take(decode_record(line))
                except ValueError as error:
                    raise damaged(self._journal, offset, error) from error
        told = []
        for key, one in self._candidates.items():
            scores = [score for score in self._scores.get(key, {}).values() if score is not None]
            if scores:
                told.append(Comparison(one.question, one.first, one.second, sum(scores) / len(scores)))
        return told

    def _take(self, record: Record) -> None:
        if isinstance(record, OutcomeRecord) and record.sample_id in self._candidates:
            outcome = record.outcome
            counts = isinstance(outcome, ValidJudgment) and outcome.method is not Method.SELF_JUDGE
            score = outcome.score if counts and isinstance(outcome, ValidJudgment) else None
            self._scores[record.sample_id][record.judge, record.take] = score


def read_rounds(path: Path) -> list[Sequence[str]]:
    """Those of an earlier start; none where there was none."""
    if not path.is_file():
        return []
    try:
        rounds: list[Sequence[str]] = json.loads(path.read_bytes())
    except ValueError as error:
        raise StorageError(f"{path}: not the rounds of a budget; remove it to have them chosen again") from error
    return rounds


# Judge cards that are there already: read, held against a judge, and demanded before anything is paid for.


def read_card(path: Path) -> Card:
    """Raises ConfigurationError for what is no card."""
    try:
        return Card.model_validate_json(path.read_bytes())
    except OSError as error:
        raise ConfigurationError(f"{path}: cannot be read ({reason_of(error)})") from error
    except ValidationError as error:
        raise ConfigurationError(f"{path}: not a judge card; `mixseek audit` writes one (card.json)") from error


def read_earlier(path: Path, plan: Plan) -> Card:
    """A card whose scores can be held against today's."""
    card = read_card(path)
    misfits = list(card.misfits(*identify(plan)[0]))
    if misfits:
        raise ConfigurationError(f"{path}: a card of another judge or protocol ({'; '.join(misfits)}); drift needs one")
    return card


def identify(plan: Plan) -> list[tuple[CardJudge, CardProtocol]]:
    protocol = CardProtocol.model_validate(describe_protocol(plan.protocol).model_dump())
    return [(CardJudge.model_validate(describe_judge(one).model_dump()), protocol) for one in plan.judges]


def check_cards(plan: Plan, notify: Callable[[str], None]) -> None:
    """Before anything is paid for: raises GateError where a judge has no card that fits, or has failed on it."""
    paths, most = plan.request.required_cards, plan.request.card_max_age
    if not paths:
        return
    cards = {path: read_card(path) for path in paths}
    own = identify(plan)
    # Rules need no card beside models; alone they are what is examined.
    examined = [one for one in own if one[0].kind != "rules"] or own
    for judge, protocol in examined:
        path = next((path for path, card in cards.items() if card.judge.name == judge.name), None)
        if path is None and len(examined) == len(cards) == 1:
            (path,) = cards
        if path is None:
            raise GateError(
                f"none of the cards that are required is of {judge.name}; examine it first (`mixseek audit`)"
            )
        objection = cards[path].objections(judge, protocol, datetime.now(UTC), most)
        if objection is not None:
            raise GateError(f"{path}: {objection}")
        for one in cards[path].findings:
            if one.state is AuditState.CONCERN:
                notify(f"{path}: a concern about {judge.name}: {one.title} ({one.measure})")


# The run itself.

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
    """Judge what is not judged yet, and say what the run holds. Again, it resumes; a finished run is only shown."""
    with fewer_collections:
        return judge_planned(request, RunObserver(show_progress, stop, notify))


def judge_planned(request: JudgeRequest, observer: RunObserver) -> RunSummary | Interruption:
    """From the request's parts to what they bring."""
    began, notify = time.monotonic(), observer.notify
    plan = make_plan(request, cores=available_cores())
    check_cards(plan, notify)
    languages = language_notices(plan)
    for notice in languages:
        notify(notice)
    notices = (*plan.dataset.survey().notices, *languages)
    panel_of(plan).check_limits()
    manifest = open_or_resume_manifest(plan, now())
    result = shown_again(plan, manifest, notify) or judge_run(plan, manifest, observer)
    if isinstance(result, Interruption):
        return result
    corrected = load_corrected(plan.workspace, plan.run)
    seconds = time.monotonic() - began
    return replace(result, seconds=seconds, unmatched=unmatched_replies(plan), notices=notices, corrected=corrected)


def shown_again(plan: Plan, manifest: Manifest, notify: Callable[[str], None]) -> RunSummary | None:
    """What a finished run holds; None where something is left to ask."""
    if manifest.status is not RunStatus.COMPLETE:
        return None
    summary = summarise_run(plan.workspace, plan.run, manifest, plan.request.panel)
    # Complete in name only, if an older mixseek did not seal the journal and somebody cut it since.
    if not summary.is_complete or asks_again(plan, summary):
        return None
    notify(f"run {plan.run.name} is complete; nothing was judged again")
    tell_gaps(plan, notify)
    return summary


def judge_run(plan: Plan, manifest: Manifest, observer: RunObserver) -> RunSummary | Interruption:
    """From the first line of the journal, or from where it ended, to the seal."""
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
                seal(RunStatus.INTERRUPTED, manifest.counts)
            raise
        if end.ending is not Ending.COMPLETE:
            if is_new and discard_empty(plan.run):
                return Interruption(plan.run.name, None, end.reason)
            seal(RunStatus.INTERRUPTED, manifest.counts)
            return Interruption(plan.run.name, str(plan.run.journal), end.reason)
        if plan.samples >= LONG_TO_INDEX:
            observer.notify(f"indexing {plan.samples:,} samples")
        summary = summarise_run(plan.workspace, plan.run, manifest, plan.request.panel)
        status = RunStatus.COMPLETE if summary.is_complete else RunStatus.INCOMPLETE
        seal(status, summary.counts_by_judge())
    return summary


def language_notices(plan: Plan) -> tuple[str, ...]:
    """One sentence where a model is asked in another language than the data's, and nobody chose that."""
    if not plan.is_live or plan.request.language is not None or not isinstance(plan.request.protocol, str):
        return ()
    sampled = next(plan.dataset.batches(LANGUAGE_ROWS), [])
    language = written_in(text for sample in sampled for text in (sample.question, sample.response))
    if language is None or language == plan.protocol.language:
        return ()
    own = plan.protocol.language
    look, asked = LANGUAGE_NAMES[language], LANGUAGE_NAMES.get(own, own)
    said = f"the data look {look}, but the prompts of the {plan.protocol.name} protocol are {asked}"
    try:
        replace(plan.request, language=language).load_protocol()
    except ConfigurationError:
        return (f"{said}; it has none in {look}",)
    return (f"{said}; --language {language} asks in {look}, --language {own} keeps these and this quiet",)


def asks_again(plan: Plan, summary: RunSummary) -> bool:
    """Whether a complete run holds something that the request wants to be asked again."""
    options, shown = plan.request.live, presentations_of(plan.protocol)
    remote = [summary.all_by_judge[judge.name] for judge in plan.judges if is_remote(judge)]
    return any(
        (counts.missing and (options.retry_refused or counts.missing == counts.total))
        # Where several presentations are asked for, one invalid reply leaves its sample undecided.
        or ((counts.invalid or (counts.undecided and shown != (PLAIN,))) and options.retry_invalid)
        for counts in remote
    )


def discard_empty(run: RunDirectory) -> bool:
    """A start that was refused leaves no run behind: nothing was said about any sample, and the name is free."""
    if not says_nothing(run.journal):
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
    return before.restarted(at, request.environment).model_copy(
        update={"gates": request.gates, "panel": request.panel, "judges": request.judges}
    )


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
        said = plural(len(plan.holes), "planned output is", "planned outputs are")
        notify(f"{said} not in the dataset (INCOMPLETE_COVERAGE): {list_first(ids)}")
    if plan.grid is not None and (unplanned := plan.grid.unplanned):
        said = plural(len(unplanned), "sample is", "samples are")
        notify(f"{said} not in the plan, and judged all the same: {list_first(unplanned)}")
    for name, (count, first) in unmatched_replies(plan).items():
        said = plural(count, "reply is", "replies are")
        notify(f"{name}: {said} about no sample here: {list_first(first, count)}")


def unmatched_replies(plan: Plan) -> dict[str, tuple[int, list[str]]]:
    """By judge; those whose every reply found its sample are left out."""
    counted = {judge.name: judge.unmatched(SHOWN_NAMES) for judge in plan.judges if replays_file(judge)}
    return {name: replies for name, replies in counted.items() if replies[0]}


def judge_rest(plan: Plan, journal: JournalFile, observer: RunObserver) -> RunEnd:
    """How it came to its end."""
    before: JudgedBefore | None = None
    if journal.length_bytes:
        before = recall_journal(journal.path, plan.judge_names, plan.repeats)
        judged = f"{len(before):,} of {plan.samples:,} samples have been judged before"
        observer.notify(f"resuming run {plan.run.name}: {judged}")
    if plan.request.cluster is not None:
        # Late: only who asks for a cluster needs what it takes.
        from mixseek.composition.judging.cluster import judge_on_ray

        return judge_on_ray(plan, plan.request.cluster, partial(first_batches, plan), journal, before, observer)
    if plan.is_live:
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


# What a run would send, before anything is sent: calls, tokens and cost, said to be estimates.

# Prompts are measured on the first so many; the rest is taken to be like them.
_MEASURED_SAMPLES = 2_000


def forecast_run(request: JudgeRequest) -> DryRun:
    """Reads the dataset, the journal and the cache; writes no run and sends nothing."""
    plan = make_plan(request, cores=available_cores())
    if not plan.is_live:
        return DryRun(plan.run.name, plan.samples, plan.samples, False, ())
    panel_of(plan).check_limits()
    key = workspace_key(plan.workspace.root)
    slots = panel_of(plan).make_slots(plan.protocol.hash, key, lambda _: None)
    journal, before = plan.run.journal, None
    if journal.is_file():
        before = Earlier(recall_journal(journal, plan.judge_names, plan.repeats), journal, request.live)
    with open_cache(plan.workspace.root, is_wanted=request.live.use_cache, notify=lambda _: None) as cache:
        shown = presentations_of(plan.protocol)
        samples = first_batches(plan) if request.budget is None else likely_batches(plan)
        batches = live_batches(samples, slots, plan.request.cascade, before, cache or NoCache(), shown)
        pending = (one for batch in batches for one in batch.samples)
        return add_up(plan, live_slots(slots), partial(fence_nonce, key), pending)


def add_up(
    plan: Plan, slots: Sequence[LiveSlot], nonce_of: Callable[[str], str], pending: Iterator[PendingSample]
) -> DryRun:
    """Count every request that is neither journaled nor cached."""
    calls, cached = Counter[str](), Counter[str]()
    measured = list(islice(pending, _MEASURED_SAMPLES))
    tokens = mean_tokens(plan, nonce_of, measured)
    count, shown = 0, presentations_of(plan.protocol)
    for one in chain(measured, pending):
        count += 1
        if refuse_incomplete(one.sample, plan.protocol) is not None:
            continue
        for slot in slots:
            repeats = (ReplyKey(slot.name, repeat) for repeat in range(1, slot.repeats + 1))
            for wanted in (one_repeat._replace(presentation=name) for one_repeat in repeats for name in shown):
                if wanted._replace(presentation=PLAIN) in one.known or wanted in one.unread:
                    continue
                is_cached = slot.keys.key(one.key, wanted, 1) in one.cached
                (cached if is_cached else calls)[slot.name] += 1
    forecasts = []
    for slot in slots:
        each, own = slot.price(Usage(round(tokens), EXPECTED_OUTPUT_TOKENS), None), calls[slot.name]
        sizes = round(own * tokens), own * EXPECTED_OUTPUT_TOKENS
        forecasts.append(Forecast(slot.name, own, cached[slot.name], *sizes, None if each is None else each * own))
    return DryRun(plan.run.name, plan.samples, count, plan.request.cascade and len(plan.judges) > 1, tuple(forecasts))


def mean_tokens(plan: Plan, nonce_of: Callable[[str], str], measured: list[PendingSample]) -> float:
    """Input tokens of one request, by characters."""
    counts: list[int] = []
    for one in measured:
        try:
            messages = plan.protocol.messages(one.sample, nonce_of(one.key))
        except DatasetError:
            continue
        counts.append(estimate_usage(Call(one.key, messages, plan.protocol.reply_schema)).input_tokens or 0)
    return sum(counts) / len(counts) if counts else 0.0

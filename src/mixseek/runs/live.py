"""A run whose judges have to be waited for."""

import asyncio
import contextlib
import gc
import random
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from mixseek.domain.judgments import Outcome, Reply, Status, ValidJudgment
from mixseek.domain.ports import PLAIN, JudgeProtocol, LiveJudge, ProgressSink, ReplyKey, Usage
from mixseek.domain.response_states import ResponseState
from mixseek.domain.routing import heard_judgment
from mixseek.domain.samples import Sample
from mixseek.engine.adaptive_limit import AdaptiveLimit
from mixseek.engine.budget import Budget
from mixseek.engine.call import CallContext, PendingSample
from mixseek.engine.endings import Ending, FirstReplies, RunEnd
from mixseek.engine.endpoint import Endpoint, Environment
from mixseek.engine.gate import Gate, GatedJudge, OpenLimit, SharedLimits, patient
from mixseek.engine.journaling import GroupCommit
from mixseek.engine.live import LiveBatch, LiveRun
from mixseek.engine.offline import Judged, is_settled
from mixseek.engine.prefixes import PrefixesOf, PrefixQueue
from mixseek.engine.rates import RateLimit
from mixseek.engine.replies import NoCache, ReplyCache, RequestKeys
from mixseek.engine.retry import RetryPolicy
from mixseek.engine.slots import LiveSlot, OfflineSlot, Price, Slot
from mixseek.errors import ConfigurationError
from mixseek.judges.endpoint.address import settings_of_spec
from mixseek.judges.prices import PriceList
from mixseek.judges.telemetry import open_tracing, traced
from mixseek.lazy_dataclass import dataclass
from mixseek.runs.kept_replies import BufferedCache
from mixseek.runs.requests.named import AnyJudge, is_remote
from mixseek.runs.requests.request import LiveOptions, Plan
from mixseek.runs.requests.routing import CertifiedRoute
from mixseek.settings.models import JudgeSettings
from mixseek.storage.journal import records
from mixseek.storage.journal.journal import JournalFile, read_records
from mixseek.storage.journal.recall import JudgedBefore
from mixseek.storage.reply_cache import CACHE_FILE, ReplyCacheFile
from mixseek.storage.workspace_key import key_id, workspace_key
from mixseek.templating import fence_nonces

# Given the number of samples, something to be told about them while they are judged.
ProgressMaker = Callable[[int], AbstractContextManager[ProgressSink]]


@dataclass(frozen=True, slots=True)
class RunObserver:
    """`notify` gets a sentence where a person would otherwise wonder; `stop` is asked now and then."""

    show_progress: ProgressMaker
    stop: Callable[[], bool]
    notify: Callable[[str], None]


def encode_judged(sample: Sample, results: Sequence[Judged]) -> Iterator[bytes]:
    """The sample once, then for each judge its reply before what was made of it."""
    key = sample.key()
    yield records.encode_sample(sample, key)
    for judged in results:
        yield from (records.encode_reply(key, reply) for reply in judged.replies)
        yield records.encode_outcome(sample, key, judged.judge, judged.outcome)


# A batch is one fsync and one message between processes: large enough that both vanish beside the judging,
# small enough that an interruption is answered within a fraction of a second.
BATCH_SAMPLES = 512


# From a plan to slots before endpoints: limits, prices, cache and keys, each where it belongs.

# Memory stays flat however many endpoints there are.
MOST_SAMPLES_AT_HAND = 4_096


@dataclass(frozen=True, slots=True)
class Panel:
    """Judges with the settings that hold for each of them: the same for runs and for competitions."""

    judges: Sequence[AnyJudge]
    configured: Mapping[str, JudgeSettings]
    options: LiveOptions

    @property
    def remote(self) -> list[LiveJudge]:
        """Those that have to be waited for."""
        return [judge for judge in self.judges if is_remote(judge)]

    @property
    def pending_samples(self) -> int:
        """Enough to keep every endpoint busy; one at a time where there is none."""
        return min(2 * sum(self.concurrency_of(judge) for judge in self.remote) or 1, MOST_SAMPLES_AT_HAND)

    @property
    def drain_seconds(self) -> float:
        """How long a call in flight may take."""
        return max((self.settings_of(judge).timeout_seconds for judge in self.remote), default=0.0)

    def settings_of(self, judge: LiveJudge) -> JudgeSettings:
        """The settings of its table, or the defaults; the command line's timeout wins."""
        settings = settings_of_spec(judge.name, self.configured) or JudgeSettings()
        timeout = self.options.timeout_seconds
        return settings if timeout is None else settings.model_copy(update={"timeout_seconds": timeout})

    def concurrency_of(self, judge: LiveJudge) -> int:
        """The judge's own setting wins over the command line's; a model in this process knows how many it can hold."""
        concurrency = self.settings_of(judge).concurrency or getattr(judge, "concurrency", None)
        return concurrency if isinstance(concurrency, int) else self.options.concurrency

    def check_limits(self) -> None:
        """Raises ConfigurationError for a limit on costs that nobody can count."""
        if self.options.max_cost_usd is None:
            return
        for judge in self.remote:
            if price_of(judge, self.settings_of(judge))(Usage(1_000, 100), None) is None:
                raise ConfigurationError(
                    f"--max-cost: nobody knows the price of {judge.name}; add price_input and price_output "
                    f"(US dollars per million tokens) to its [judges.NAME] table, install the extra `prices`, "
                    f"or use --max-calls"
                )

    def shared_limits(self) -> SharedLimits:
        """What all processes that judge for one run may do together; judges behind one address share its calls."""
        most: Counter[str] = Counter()
        for judge in self.remote:
            most[judge.endpoint] = max(most[judge.endpoint], self.concurrency_of(judge))
        judges = {
            judge.name: (judge.endpoint, settings.rpm, settings.tpm)
            for judge, settings in ((judge, self.settings_of(judge)) for judge in self.remote)
        }
        return SharedLimits(most, judges, self.options.max_calls, self.options.max_cost_usd)

    def make_slots(
        self,
        protocol_hash: str,
        key: bytes,
        notify: Callable[[str], None],
        tracer: Any | None = None,
        gate: Gate | None = None,
    ) -> tuple[Slot, ...]:
        """`tracer` gets a span for each call; with a `gate` the limits are those behind it, and none are kept here."""
        limits = self.shared_limits()
        policy = RetryPolicy.of_patience(self.options.patience_seconds)
        kind, policy = (AdaptiveLimit, policy) if gate is None else (OpenLimit, patient(policy))
        endpoints = {
            name: make_endpoint(name, kind(calls), policy, notify) for name, calls in limits.concurrency.items()
        }

        def make_slot(judge: LiveJudge) -> LiveSlot:
            tell_to: Callable[[Callable[[str], None]], None] | None = getattr(judge, "tell_to", None)
            if tell_to is not None:
                tell_to(lambda words: notify(f"{judge.name}: {words}"))
            elif self.settings_of(judge).logprobs:
                notify(f"{judge.name}: has no token probabilities (logprobs) to give: it judges without")
            settings, endpoint = self.settings_of(judge), endpoints[judge.endpoint]
            price, asked = price_of(judge, settings), traced(judge, tracer)
            if gate is not None:
                asked = GatedJudge(asked, endpoint, gate, price, self.options.max_cost_usd is not None)
            prefixes_of: PrefixesOf | None = getattr(judge, "cached_prefixes", None)
            return LiveSlot(
                judge=asked,
                endpoint=endpoint,
                keys=RequestKeys(protocol_hash, judge.fingerprint, key_id(key)),
                repeats=self.options.repeats,
                max_reasks=self.options.max_reasks if settings.max_reasks is None else settings.max_reasks,
                price=price,
                requests=RateLimit(settings.rpm) if settings.rpm and gate is None else None,
                tokens=RateLimit(settings.tpm) if settings.tpm and gate is None else None,
                retries_cut_off=self.options.retries_cut_off,
                # Half of the samples at hand: the others keep the endpoint busy.
                prefixes=None
                if prefixes_of is None
                else PrefixQueue(prefixes_of, endpoint.now, self.concurrency_of(judge)),
            )

        return tuple(make_slot(judge) if is_remote(judge) else OfflineSlot(judge) for judge in self.judges)


def make_endpoint(name: str, limit: AdaptiveLimit, policy: RetryPolicy, notify: Callable[[str], None]) -> Endpoint:
    """An endpoint with the time and the chance of this process."""
    return Endpoint(name, limit, policy, Environment(time.monotonic, asyncio.sleep, random.random, notify))


def panel_of(plan: Plan) -> Panel:
    """The judges of a run."""
    return Panel(plan.judges, plan.request.configured, plan.request.live)


def live_slots(slots: Iterable[Slot]) -> tuple[LiveSlot, ...]:
    """Those whose replies cost something."""
    return tuple(slot for slot in slots if isinstance(slot, LiveSlot))


def price_of(judge: LiveJudge, settings: JudgeSettings) -> Price:
    """The price by the settings, or by the public table for hosted models; None where neither knows."""
    base_url, model = judge.description.get("base_url"), judge.description.get("model")
    known_url = base_url if isinstance(base_url, str) else None
    prices = PriceList(known_url, model if isinstance(model, str) else judge.name, settings)

    def price(usage: Usage, answered_by: str | None) -> float | None:
        cost = prices.price_of(usage, datetime.now(UTC), answered_by)
        return None if cost is None else float(cost)

    return price


@contextlib.contextmanager
def open_cache(root: Path, *, is_wanted: bool, notify: Callable[[str], None]) -> Iterator[ReplyCacheFile | None]:
    """The workspace's replies, told what was wrong with the file in the end; None where the caller wants none."""
    if not is_wanted:
        yield None
        return
    file = ReplyCacheFile(root / CACHE_FILE, lambda: datetime.now(UTC))
    try:
        yield file
    finally:
        file.close()
        for warning in file.warnings:
            notify(warning)


@contextlib.contextmanager
def open_tracer(environment: Mapping[str, str]) -> Iterator[Any | None]:
    """Where spans go, if the environment says so."""
    tracing = open_tracing(environment)
    try:
        yield tracing.tracer if tracing is not None else None
    finally:
        if tracing is not None:
            tracing.shutdown()


class AskedBefore:
    """How often replies had been asked for when a command began: what it adds itself gives it no further turns."""

    def __init__(self) -> None:
        self.is_first_pass = True
        self._asked: dict[tuple[str, ReplyKey], int] = {}

    def at_first(self, key: str, asked: dict[ReplyKey, int]) -> dict[ReplyKey, int]:
        """Those of a sample, by what the first pass was told of it."""
        if self.is_first_pass:
            self._asked.update({(key, place): attempt for place, attempt in asked.items()})
            return asked
        return {place: self._asked[key, place] for place in asked if (key, place) in self._asked}


class Earlier:
    """What earlier processes left in the journal, without what is to be asked again."""

    def __init__(
        self,
        judged: JudgedBefore,
        journal: Path,
        options: LiveOptions,
        concluded: Collection[tuple[str, ReplyKey]] = (),
        asked_before: "AskedBefore | None" = None,
        *,
        is_routed: bool = False,
    ) -> None:
        """`concluded` are places that this command has brought to an end: they are not asked about again.

        `asked_before` is what a command that goes through its samples several times found in its first pass.
        """
        self._asked_before = asked_before
        self._judged = judged
        self._concluded = concluded
        counts = judged.counts()
        # A judge that never said anything but no is asked again in any case: it was no matter of single samples.
        self._refusers = {
            judge for judge, statuses in counts.items() if options.retry_refused or set(statuses) == {Status.MISSING}
        }
        # Replies that stand and are to be followed by others.
        self._followed: dict[str, dict[ReplyKey, Reply]] = defaultdict(dict)
        self.proven = {judge for judge, statuses in counts.items() if statuses[Status.VALID]}
        self._asks_invalid_again = options.retry_invalid
        if options.retry_invalid:
            self._find_invalid(journal)
        if options.retries_cut_off:
            self._find_cut_off(journal)
        # Verdicts that were handed on, of samples that nobody has decided yet.
        self._heard: dict[str, dict[ReplyKey, Outcome]] = defaultdict(dict)
        if is_routed:
            self._find_handed_on(journal)

    def _find_handed_on(self, journal: Path) -> None:
        for record in read_records(journal):
            if isinstance(record, records.OutcomeRecord):
                if isinstance(record.outcome, ValidJudgment):
                    self._heard.pop(record.key, None)
                elif heard_judgment(record.outcome) is not None:
                    self._heard[record.key][ReplyKey(record.judge, record.take)] = record.outcome

    def _find_invalid(self, journal: Path) -> None:
        for record in read_records(journal):
            if not isinstance(record, records.ReplyRecord):
                continue
            reply = record.reply
            place = ReplyKey(reply.judge, reply.details.get("take", 1))
            shown = reply.details.get("presentation", PLAIN)
            status = self._judged.statuses(record.key).get(place)
            # Of several presentations one may have been invalid, so that nothing was decided.
            if status is Status.INVALID or (status is Status.UNDECIDED and shown != PLAIN):
                # The last one stays: the next attempt follows it.
                self._followed[record.key][place._replace(presentation=shown)] = reply

    def _find_cut_off(self, journal: Path) -> None:
        """All turns of a response that was cut off at its first asking: only the last one is asked for again."""
        turns: dict[tuple[str, ReplyKey], dict[ReplyKey, Reply]] = defaultdict(dict)
        for record in read_records(journal):
            if isinstance(record, records.ReplyRecord):
                reply = record.reply
                place = ReplyKey(reply.judge, reply.details.get("take", 1))
                shown = reply.details.get("presentation", PLAIN)
                turns[record.key, place][place._replace(presentation=shown)] = reply
            elif isinstance(record, records.OutcomeRecord):
                place = ReplyKey(record.judge, record.take)
                replies = turns.pop((record.key, place), {})
                state = getattr(record.outcome, "fields", {}).get("state")
                latest = list(replies.values())[-1:]
                if latest:
                    # What it was before does not count any longer: it may have been asked for again since.
                    known = self._followed.get(record.key, {})
                    for earlier in [shown for shown in known if shown[:2] == place[:2]]:
                        del known[earlier]
                if state == ResponseState.CUT_OFF and latest and latest[0].attempt == 1:
                    self._followed[record.key].update(replies)

    def _is_concluded(self, key: str, place: ReplyKey) -> bool:
        return (key, place._replace(presentation=PLAIN)) in self._concluded

    def pending_sample(
        self, sample: Sample, key: str, repeats: Mapping[str, int], cascade: bool
    ) -> PendingSample | None:
        """The sample with what is known of it; None where nobody is left to ask."""
        known = self._judged.statuses(key)
        again: Mapping[ReplyKey, Reply] = {}
        if known and not (cascade and Status.VALID in known.values()):
            again = self._followed.get(key, {})
            if self._concluded:
                again = {place: reply for place, reply in again.items() if not self._is_concluded(key, place)}
            repeated = {place._replace(presentation=PLAIN) for place in again}
            known = {
                place: status
                for place, status in known.items()
                if place not in repeated
                and (
                    status is not Status.MISSING or place.judge not in self._refusers or self._is_concluded(key, place)
                )
            }
        if self._concluded:
            places = (ReplyKey(name, repeat) for name, times in repeats.items() for repeat in range(1, times + 1))
            # What could not be had in this command is asked for by the next one.
            known = {place: Status.MISSING for place in places if self._is_concluded(key, place)} | dict(known)
        if known and is_settled(known, repeats, cascade):
            return None
        # What came after the reply that is followed, and was not read before a process died, is newer.
        unread = {**{place: (reply,) for place, reply in again.items()}, **self._judged.unread_replies(key)}
        # A reply that nobody has read yet, and that turns out invalid, is followed by another one too.
        asked = {place: replies[-1].attempt for place, replies in unread.items()} if self._asks_invalid_again else {}
        if self._asked_before is not None:
            asked = self._asked_before.at_first(key, asked)
        is_written = self._judged.has_sample(key)
        heard = self._heard.get(key, {})
        return PendingSample(
            sample, key, known, self._judged.lost(key), unread, asked, is_written=is_written, heard=heard
        )


def live_batches(
    batches: Iterator[list[Sample]],
    slots: Sequence[Slot],
    cascade: bool,
    before: Earlier | None,
    cache: ReplyCache,
    presentations: Sequence[str] = (PLAIN,),
) -> Generator[LiveBatch, None, None]:
    """Batches without what the journal holds, and with what the cache knows: one look-up a batch."""
    repeats = {slot.name: slot.repeats for slot in slots}
    remote = live_slots(slots)
    for samples in batches:
        keyed = [(sample, sample.key()) for sample in samples]
        if before is None:
            rest = [PendingSample(sample, key) for sample, key in keyed]
        else:
            recalled = (before.pending_sample(sample, key, repeats, cascade) for sample, key in keyed)
            rest = [pending for pending in recalled if pending is not None]
        if not isinstance(cache, NoCache):
            # The requests that a sample may need, re-asks aside.
            keys = [
                slot.keys.key(pending.key, wanted._replace(presentation=shown), 1)
                for pending in rest
                for slot in remote
                for wanted in map(partial(ReplyKey, slot.name), range(1, slot.repeats + 1))
                if wanted not in pending.known
                for shown in presentations
            ]
            if keys and (cached := cache.get_many(keys)):
                rest = [pending._replace(cached=cached) for pending in rest]
        yield LiveBatch(in_order_of_prefixes(rest), skipped=len(samples) - len(rest))


def in_order_of_prefixes(samples: Sequence[PendingSample]) -> list[PendingSample]:
    """The samples by rubric, then by question, then in their order: prompts that begin alike are neighbours."""
    places: dict[tuple[str | None, ...], int] = {}

    def place(numbered: tuple[int, PendingSample]) -> tuple[int, int, int]:
        number, sample = numbered[0], numbered[1].sample
        of_rubric = places.setdefault((sample.rubric,), number)
        return of_rubric, places.setdefault((sample.rubric, sample.question), number), number

    return [pending for _, pending in sorted(enumerate(samples), key=place)]


# New objects between two searches for cycles; Python's own 700 are a few judgments.
_COLLECT_EVERY = 20_000


@dataclass(frozen=True, slots=True)
class Asking:
    """Who is asked by what protocol, where replies are remembered, and who has proven to be of use before."""

    panel: Panel
    protocol: JudgeProtocol
    cascade: bool
    # The workspace's.
    key: bytes
    slots: tuple[Slot, ...]
    cache: ReplyCache
    proven: Collection[str] = ()
    # Whether somebody else counts calls and money.
    is_gated: bool = False
    # Where a certificate says which verdicts count.
    route: CertifiedRoute | None = None

    def judge(
        self,
        rounds: Iterable[Generator[LiveBatch, None, None]],
        journal: JournalFile,
        progress: ProgressSink,
        stop: Callable[[], bool],
    ) -> RunEnd:
        """Ask about all of them, round by round; connections are given back whatever happens."""
        context = self.make_context(journal, progress)
        judged = (self.judge_round(context, pending, journal, progress, stop) for pending in rounds)
        return asyncio.run(judge_and_close(self.slots, judged))

    def make_context(self, journal: JournalFile, progress: ProgressSink) -> CallContext:
        """What all rounds share: one budget, one look at what judges give from the beginning."""
        options = self.panel.options
        return CallContext(
            protocol=self.protocol,
            encoder=records,
            # Needs no running loop before it is started.
            commits=GroupCommit(journal, progress),
            cache=self.cache,
            budget=Budget() if self.is_gated else Budget(options.max_calls, options.max_cost_usd),
            nonces_of=partial(fence_nonces, self.key),
            first_replies=None if options.keep_going else FirstReplies(self.proven),
            check_reply=None if self.route is None else self.route.check_reply,
        )

    async def judge_round(
        self,
        context: CallContext,
        pending: Generator[LiveBatch, None, None],
        journal: JournalFile,
        progress: ProgressSink,
        stop: Callable[[], bool],
        at_hand: int | None = None,
    ) -> RunEnd:
        """One round to its end; needs a running loop. `at_hand`: samples, where it is not calls that bound them."""
        fresh = replace(context, commits=GroupCommit(journal, progress))
        patience = self.panel.drain_seconds
        samples = at_hand or self.panel.pending_samples
        run = LiveRun(fresh, self.slots, self.cascade, samples, patience, progress, stop, self.route)
        with contextlib.closing(pending):
            return await run.judge(pending)


# Samples, without those that the journal holds and with what the cache knows.
PendingOf = Callable[[Iterator[list[Sample]]], Generator[LiveBatch, None, None]]


@contextlib.contextmanager
def asking_live(
    plan: Plan, journal: Path, before: JudgedBefore | None, notify: Callable[[str], None]
) -> "Iterator[tuple[Asking, PendingOf]]":
    """Who is to be asked, and what is left of samples; the cache is open for as long as that takes."""
    options = plan.request.live
    route = plan.request.route
    earlier = Earlier(before, journal, options, is_routed=route is not None) if before is not None else None
    key = workspace_key(plan.workspace.root)
    with (
        open_tracer(plan.request.environment) as tracer,
        open_cache(plan.workspace.root, is_wanted=options.use_cache, notify=notify) as file,
        contextlib.closing(BufferedCache(file)) if file is not None else contextlib.nullcontext(NoCache()) as cache,
    ):
        panel = panel_of(plan)
        slots = panel.make_slots(plan.protocol.hash, key, notify, tracer)
        for slot in live_slots(slots):
            if warning := slot.judge.description.get("warning"):
                notify(f"{slot.name}: {warning}")
        cascade, shown = plan.request.cascade, plan.protocol.presentations
        proven = earlier.proven if earlier is not None else ()
        for slot in live_slots(slots):
            slot.endpoint.has_answered |= slot.name in proven

        def pending_of(samples: Iterator[list[Sample]]) -> Generator[LiveBatch, None, None]:
            return live_batches(samples, slots, cascade, earlier, cache, shown)

        yield Asking(panel, plan.protocol, cascade, key, slots, cache, proven, route=route), pending_of


async def judge_and_close(slots: Sequence[Slot], rounds: Iterator[Awaitable[RunEnd]]) -> RunEnd:
    """All rounds; connections are given back in any case."""
    try:
        return await judge_rounds(rounds)
    finally:
        for slot in live_slots(slots):
            await slot.judge.close()


async def judge_rounds(rounds: Iterator[Awaitable[RunEnd]]) -> RunEnd:
    """Each round after the one before, until one does not come to its end."""
    for judged in rounds:
        end = await judged
        if end.ending is not Ending.COMPLETE:
            return end
    return RunEnd(Ending.COMPLETE)


class FewerCollections:
    """What is there stays, and what a judgment makes is freed by its references: searching both again costs 5 %.

    More where a program holds many rows itself. It may have several runs under way in threads: the first one makes the
    change, and the last one undoes it.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._under_way = 0
        self._thresholds = gc.get_threshold()

    def __enter__(self) -> None:
        with self._lock:
            self._under_way += 1
            if self._under_way == 1:
                self._thresholds = gc.get_threshold()
                gc.freeze()
                gc.set_threshold(_COLLECT_EVERY, *self._thresholds[1:])

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._under_way -= 1
            if not self._under_way:
                gc.set_threshold(*self._thresholds)
                gc.unfreeze()


fewer_collections = FewerCollections()

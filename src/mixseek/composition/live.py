"""A run whose judges have to be waited for."""

import asyncio
import contextlib
import gc
import hashlib
import os
import random
import secrets
import time
from collections import defaultdict
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from mixseek.composition.protocols import is_local, is_remote
from mixseek.composition.request import LiveOptions, Plan
from mixseek.domain.calls import LiveJudge, Usage
from mixseek.domain.judgments import Outcome, Reply, Status
from mixseek.domain.ports import ProgressSink
from mixseek.domain.samples import Sample
from mixseek.engine.caching import NoCache, ReplyCache, RequestKeys
from mixseek.engine.call import (
    CallContext,
    FirstReplies,
    LiveSlot,
    OfflineSlot,
    PendingSample,
    Price,
    RunEnd,
    Slot,
    TakeKey,
    is_settled,
)
from mixseek.engine.journaling import GroupCommit
from mixseek.engine.limits import AdaptiveLimit, Budget, Endpoint, Environment, RateLimit, RetryPolicy
from mixseek.engine.live import LiveAssignment, LiveBatch, judge_many_live
from mixseek.engine.offline import Judged
from mixseek.errors import ConfigurationError, StorageError
from mixseek.judges.prices import PriceList
from mixseek.judges.telemetry import open_tracing, traced
from mixseek.settings.models import JudgeSettings
from mixseek.storage.durable import storage_error
from mixseek.storage.journal.journal import JournalFile, read_records
from mixseek.storage.journal.recall import JudgedBefore
from mixseek.storage.journal.records import ReplyRecord, encode_outcome, encode_reply, encode_sample
from mixseek.storage.reply_cache import CACHE_FILE, ReplyCacheFile
from mixseek.templating.fence import fence_nonce

# The workspace's own secret: nonces made from it can be repeated here and guessed nowhere.

NONCE_KEY_FILE = "nonce.key"
_KEY_BYTES = 32


def workspace_key(root: Path) -> bytes:
    """The key of this workspace, made at the first asking; nobody else may read the file."""
    path = root / NONCE_KEY_FILE
    try:
        with contextlib.suppress(FileNotFoundError):
            return checked_key(path, path.read_bytes())
        root.mkdir(parents=True, exist_ok=True)
        fresh = root / f"{NONCE_KEY_FILE}.{os.getpid()}"
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(secrets.token_bytes(_KEY_BYTES))
            stream.flush()
            os.fsync(stream.fileno())
        # A link, not a rename: of two processes that begin together, the first one's key stays.
        with contextlib.suppress(FileExistsError):
            os.link(fresh, path)
        fresh.unlink()
        return checked_key(path, path.read_bytes())
    except OSError as error:
        raise storage_error("keep the workspace's key", path, error) from error


def checked_key(path: Path, key: bytes) -> bytes:
    """A cut file would make nonces that can be guessed."""
    if len(key) != _KEY_BYTES:
        raise StorageError(f"{path}: {len(key)} bytes, expected {_KEY_BYTES}; remove it to get a new one")
    return key


def key_id(key: bytes) -> str:
    """Names the key without telling it."""
    return hashlib.sha256(b"key id\x00" + key).hexdigest()[:16]


# Who watches a run, and who may stop it.

# Given the number of samples, something to be told about them while they are judged.
ProgressMaker = Callable[[int], AbstractContextManager[ProgressSink]]


@dataclass(frozen=True, slots=True)
class RunObserver:
    """`notify` gets a sentence where a person would otherwise wonder; `stop` is asked now and then."""

    show_progress: ProgressMaker
    stop: Callable[[], bool]
    notify: Callable[[str], None]


# From what the engine judged to the lines of a journal.


@dataclass(frozen=True, slots=True)
class JournalEncoder:
    """The sample once, then for each judge its reply before what was made of it."""

    def __call__(self, sample: Sample, results: Sequence[Judged]) -> Iterator[bytes]:
        key = sample.key()
        yield encode_sample(sample, key)
        for judged in results:
            if judged.reply is not None:
                yield encode_reply(key, judged.reply)
            yield encode_outcome(sample, key, judged.judge, judged.outcome)


@dataclass(frozen=True, slots=True)
class JournalLines:
    """Line by line, for judges whose replies come one at a time."""

    def sample(self, sample: Sample, key: str) -> bytes:
        return encode_sample(sample, key)

    def reply(self, key: str, reply: Reply) -> bytes:
        return encode_reply(key, reply)

    def outcome(self, sample: Sample, key: str, judge: str, outcome: Outcome, take: int, lost_tries: int = 0) -> bytes:
        return encode_outcome(sample, key, judge, outcome, take, lost_tries)


# From a plan to slots before endpoints: limits, prices, cache and keys, each where it belongs.

# Memory stays flat however many endpoints there are.
MOST_SAMPLES_AT_HAND = 4_096
_NOTHING: Mapping[bytes, Reply] = {}
_NO_REPLIES: Mapping[TakeKey, Reply] = {}


@dataclass(frozen=True, slots=True)
class LiveParts:
    """Everything that a live run needs beside the journal."""

    slots: tuple[Slot, ...]
    nonce_of: Callable[[str], str]
    pending_samples: int
    drain_seconds: float

    @property
    def live_slots(self) -> tuple[LiveSlot, ...]:
        """Those whose replies cost something."""
        return tuple(slot for slot in self.slots if isinstance(slot, LiveSlot))


def make_parts(plan: Plan, notify: Callable[[str], None], tracer: Any | None = None) -> LiveParts:
    """Raises ConfigurationError for a limit on costs that nobody can count. `tracer` gets a span for each call."""
    options = plan.request.live
    key = workspace_key(plan.workspace.root)
    environment = Environment(time.monotonic, asyncio.sleep, random.random, notify)
    policy = RetryPolicy(patience_seconds=options.patience_seconds)
    endpoints: dict[str, Endpoint] = {}
    live = [judge for judge in plan.judges if is_remote(judge)]
    for name in {judge.endpoint for judge in live}:
        most = max(concurrency_of(plan, judge) for judge in live if judge.endpoint == name)
        endpoints[name] = Endpoint(name, AdaptiveLimit(most), policy, environment)
    slots: list[Slot] = []
    for judge in plan.judges:
        if is_remote(judge):
            slots.append(make_slot(plan, traced(judge, tracer), endpoints[judge.endpoint], key_id(key)))
        elif is_local(judge):
            slots.append(OfflineSlot(judge))
    at_once = sum(concurrency_of(plan, judge) for judge in live)
    drain = max(settings_of(plan, judge).timeout_seconds for judge in live)
    return LiveParts(tuple(slots), partial(fence_nonce, key), min(2 * at_once, MOST_SAMPLES_AT_HAND), drain)


def make_slot(plan: Plan, judge: LiveJudge, endpoint: Endpoint, nonce_key_id: str) -> LiveSlot:
    """A judge with its own limits."""
    options, settings = plan.request.live, settings_of(plan, judge)
    price = price_of(judge, settings)
    if options.max_cost_usd is not None and price(Usage(1_000, 100), None) is None:
        raise ConfigurationError(
            f"--max-cost: nobody knows the price of {judge.name}; add price_input and price_output "
            f"(US dollars per million tokens) to its [judges.NAME] table, install the extra `prices`, "
            f"or use --max-calls"
        )
    return LiveSlot(
        judge=judge,
        endpoint=endpoint,
        keys=RequestKeys(plan.protocol.hash, judge.fingerprint, nonce_key_id),
        takes=options.repeats,
        max_reasks=options.max_reasks if settings.max_reasks is None else settings.max_reasks,
        price=price,
        requests=RateLimit(settings.rpm) if settings.rpm else None,
        tokens=RateLimit(settings.tpm) if settings.tpm else None,
    )


def settings_of(plan: Plan, judge: LiveJudge) -> JudgeSettings:
    """Of its table, or the defaults; the command line's timeout wins."""
    settings = plan.request.configured.get(judge.name, JudgeSettings())
    timeout = plan.request.live.timeout_seconds
    return settings if timeout is None else settings.model_copy(update={"timeout_seconds": timeout})


def concurrency_of(plan: Plan, judge: LiveJudge) -> int:
    """The judge's own setting wins over the command line's; a model in this process knows how many it can hold."""
    own = settings_of(plan, judge).concurrency or getattr(judge, "concurrency", None)
    return own if isinstance(own, int) else plan.request.live.concurrency


def price_of(judge: LiveJudge, settings: JudgeSettings) -> Price:
    """By the settings, or by the public table for hosted models; None where neither knows."""
    base_url, model = judge.description.get("base_url"), judge.description.get("model")
    prices = PriceList(
        base_url if isinstance(base_url, str) else None,
        model if isinstance(model, str) else judge.name,
        settings,
    )

    def price(usage: Usage, answered_by: str | None) -> float | None:
        cost = prices.price_of(usage, datetime.now(UTC), answered_by)
        return None if cost is None else float(cost)

    return price


def open_cache(plan: Plan) -> ReplyCacheFile | None:
    """None where the caller wants none."""
    if not plan.request.live.use_cache:
        return None
    return ReplyCacheFile(plan.workspace.root / CACHE_FILE, lambda: datetime.now(UTC))


class Earlier:
    """What earlier processes left in the journal, without what is to be asked again."""

    def __init__(self, judged: JudgedBefore, journal: Path, options: LiveOptions) -> None:
        self._judged = judged
        counts = judged.counts()
        # A judge that never said anything but no is asked again in any case: it was no matter of single samples.
        self._refusers = {judge for judge, own in counts.items() if options.retry_refused or refuses_all(own)}
        self._invalid: dict[str, dict[TakeKey, Reply]] = defaultdict(dict)
        self.proven = {judge for judge, own in counts.items() if own[Status.VALID]}
        self._asks_invalid_again = options.retry_invalid
        if options.retry_invalid:
            self._find_invalid(journal)

    def _find_invalid(self, journal: Path) -> None:
        for record in read_records(journal):
            if not isinstance(record, ReplyRecord):
                continue
            reply = record.reply
            take = reply.details.get("take", 1)
            if self._judged.takes(record.key).get((reply.judge, take)) is Status.INVALID:
                # The last one stays: the next attempt follows it.
                self._invalid[record.key][reply.judge, take] = reply

    def pending_sample(self, sample: Sample, key: str, slots: tuple[Slot, ...], cascade: bool) -> PendingSample | None:
        """The sample with what is known of it; None where nobody is left to ask."""
        known = self._judged.takes(key)
        again: Mapping[TakeKey, Reply] = _NO_REPLIES
        if known and not (cascade and Status.VALID in known.values()):
            again = self._invalid.get(key, _NO_REPLIES)
            known = {
                place: status
                for place, status in known.items()
                if place not in again and not (status is Status.MISSING and place[0] in self._refusers)
            }
        if known and is_settled(known, slots, cascade):
            return None
        unread = {**self._judged.unread_replies(key), **{place: (reply,) for place, reply in again.items()}}
        # A reply that nobody has read yet, and that turns out invalid, is followed by another one too.
        asked = {place: replies[-1].attempt for place, replies in unread.items()} if self._asks_invalid_again else {}
        return PendingSample(sample, key, known, self._judged.lost_tries(key), unread, asked)


def refuses_all(counts: Mapping[Status, int]) -> bool:
    """Whether a judge that was asked gave nothing at all."""
    return bool(counts.get(Status.MISSING)) and not any(counts.get(status) for status in Status if status != "missing")


def live_batches(
    batches: Iterator[list[Sample]],
    parts: LiveParts,
    cascade: bool,
    before: Earlier | None,
    cache: ReplyCache,
) -> Generator[LiveBatch, None, None]:
    """Without what the journal holds, and with what the cache knows: one look-up a batch."""
    slots = parts.live_slots
    for samples in batches:
        rest = list(pending_samples(samples, parts.slots, cascade, before))
        skipped = len(samples) - len(rest)
        keys = [key for one in rest for key in first_asks(slots, one)] if not isinstance(cache, NoCache) else ()
        found = cache.get_many(keys) if keys else _NOTHING
        if found:
            rest = [one._replace(cached=found) for one in rest]
        yield LiveBatch(rest, skipped=skipped)


def pending_samples(
    samples: Sequence[Sample], slots: tuple[Slot, ...], cascade: bool, before: Earlier | None
) -> Iterator[PendingSample]:
    """Those that the journal does not settle, with what it has of them."""
    for sample in samples:
        key = sample.key()
        pending = PendingSample(sample, key) if before is None else before.pending_sample(sample, key, slots, cascade)
        if pending is not None:
            yield pending


def first_asks(slots: Sequence[LiveSlot], pending: PendingSample) -> Iterator[bytes]:
    """The requests that this sample may need, re-asks aside."""
    for slot in slots:
        for take in range(1, slot.takes + 1):
            if (slot.name, take) not in pending.known:
                yield slot.keys.key(pending.key, take, 1)


# The workspace's replies, for one run.

_PUTS_AT_ONCE = 512


class BufferedCache:
    """Replies go into the file by the hundred: a transaction for each would cost more than all the rest."""

    def __init__(self, file: ReplyCacheFile) -> None:
        self._file = file
        self._waiting: dict[bytes, Reply] = {}

    def get_many(self, keys: Sequence[bytes]) -> Mapping[bytes, Reply]:
        found = self._file.get_many(keys)
        if self._waiting:
            found.update({key: self._waiting[key] for key in keys if key in self._waiting})
        return found

    def put_many(self, replies: Mapping[bytes, Reply]) -> None:
        self._waiting.update(replies)
        if len(self._waiting) >= _PUTS_AT_ONCE:
            self.flush()

    def flush(self) -> None:
        """What is still waiting; a crash before this costs money, never truth."""
        self._file.put_many(self._waiting)
        self._waiting = {}


# New objects between two searches for cycles; Python's own 700 are a few judgments.
_COLLECT_EVERY = 20_000


def judge_rest_live(
    plan: Plan,
    journal: JournalFile,
    batches: Iterator[list[Sample]],
    before: JudgedBefore | None,
    observer: RunObserver,
) -> RunEnd:
    """Ask what is not in the journal; the cache is open for as long as that takes."""
    tracing = open_tracing(plan.request.environment)
    parts = make_parts(plan, observer.notify, tracing.tracer if tracing is not None else None)
    for slot in parts.live_slots:
        if warning := slot.judge.description.get("warning"):
            observer.notify(f"{slot.name}: {warning}")
    file = open_cache(plan)
    cache = BufferedCache(file) if file is not None else None
    earlier = Earlier(before, journal.path, plan.request.live) if before is not None else None
    try:
        with observer.show_progress(plan.samples) as progress, fewer_collections():
            return asyncio.run(ask_all(plan, parts, journal, (batches, earlier), cache, (progress, observer)))
    finally:
        if tracing is not None:
            tracing.shutdown()
        if file is not None and cache is not None:
            cache.flush()
            file.close()
            for warning in file.warnings:
                observer.notify(warning)


@contextlib.contextmanager
def fewer_collections() -> Iterator[None]:
    """What is loaded stays, and what a judgment makes is freed by its references: searching both again costs 5 %."""
    before = gc.get_threshold()
    gc.collect()
    gc.freeze()
    gc.set_threshold(_COLLECT_EVERY, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()


async def ask_all(
    plan: Plan,
    parts: LiveParts,
    journal: JournalFile,
    asked: tuple[Iterator[list[Sample]], Earlier | None],
    cache: BufferedCache | None,
    watched: tuple[ProgressSink, RunObserver],
) -> RunEnd:
    """Connections are given back whatever happens."""
    progress, observer = watched
    options = plan.request.live
    batches, before = asked
    first_replies = None if options.keep_going else FirstReplies(before.proven if before is not None else ())
    context = CallContext(
        protocol=plan.protocol,
        encoder=JournalLines(),
        commits=GroupCommit(journal, progress),
        cache=cache or NoCache(),
        budget=Budget(options.max_calls, options.max_cost_usd),
        nonce_of=parts.nonce_of,
        first_replies=first_replies,
    )
    pending = live_batches(batches, parts, plan.cascade, before, context.cache)
    assignment = LiveAssignment(context, parts.slots, plan.cascade, parts.pending_samples, parts.drain_seconds)
    try:
        return await judge_many_live(pending, assignment, progress, observer.stop)
    finally:
        pending.close()
        for slot in parts.live_slots:
            await slot.judge.close()

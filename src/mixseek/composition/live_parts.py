"""From a plan to seats before endpoints: limits, prices, cache and keys, each where it belongs."""

import asyncio
import random
import time
from collections import defaultdict
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from mixseek.composition.catalogue import answers_at_once, is_waited_for
from mixseek.composition.nonces import key_id, workspace_key
from mixseek.composition.requests import LiveOptions, Plan
from mixseek.domain.calls import LiveJudge, Usage
from mixseek.domain.judgments import Reply, Status
from mixseek.domain.samples import Sample
from mixseek.engine.caching import NoCache, ReplyCache, RequestKeys
from mixseek.engine.limits import AdaptiveLimit, RateLimit
from mixseek.engine.live import LiveBatch
from mixseek.engine.retries import RetryPolicy
from mixseek.engine.scheduling import Endpoint, Surroundings
from mixseek.engine.seats import LiveSeat, OfflineSeat, Price, SampleAtHand, Seat, TakeKey, is_settled
from mixseek.errors import ConfigurationError
from mixseek.judges.prices import PriceList, override_rates
from mixseek.judges.telemetry import traced
from mixseek.settings.judge_settings import JudgeSettings
from mixseek.storage.journal import read_records
from mixseek.storage.recall import JudgedBefore
from mixseek.storage.records import ReplyRecord
from mixseek.storage.reply_cache import CACHE_FILE, ReplyCacheFile
from mixseek.templating.fence import fence_nonce

# Memory stays flat however many endpoints there are.
MOST_SAMPLES_AT_HAND = 4_096
_NOTHING: Mapping[bytes, Reply] = {}
_NO_REPLIES: Mapping[TakeKey, Reply] = {}


@dataclass(frozen=True, slots=True)
class LiveParts:
    """Everything that a live run needs beside the journal."""

    seats: tuple[Seat, ...]
    nonce_of: Callable[[str], str]
    samples_at_hand: int
    drain_seconds: float

    @property
    def live_seats(self) -> tuple[LiveSeat, ...]:
        """Those whose replies cost something."""
        return tuple(seat for seat in self.seats if isinstance(seat, LiveSeat))


def make_parts(plan: Plan, tell: Callable[[str], None], tracer: Any | None = None) -> LiveParts:
    """Raises ConfigurationError for a limit on costs that nobody can count. `tracer` gets a span for each call."""
    options = plan.request.live
    key = workspace_key(plan.workspace.root)
    around = Surroundings(time.monotonic, asyncio.sleep, random.random, tell)
    policy = RetryPolicy(patience_seconds=options.patience_seconds)
    endpoints: dict[str, Endpoint] = {}
    live = [judge for judge in plan.judges if is_waited_for(judge)]
    for name in {judge.endpoint for judge in live}:
        most = max(concurrency_of(plan, judge) for judge in live if judge.endpoint == name)
        endpoints[name] = Endpoint(name, AdaptiveLimit(most), policy, around)
    seats: list[Seat] = []
    for judge in plan.judges:
        if is_waited_for(judge):
            seats.append(make_seat(plan, traced(judge, tracer), endpoints[judge.endpoint], key_id(key)))
        elif answers_at_once(judge):
            seats.append(OfflineSeat(judge))
    at_once = sum(concurrency_of(plan, judge) for judge in live)
    drain = max(settings_of(plan, judge).timeout_seconds for judge in live)
    return LiveParts(tuple(seats), partial(fence_nonce, key), min(2 * at_once, MOST_SAMPLES_AT_HAND), drain)


def make_seat(plan: Plan, judge: LiveJudge, endpoint: Endpoint, nonce_key_id: str) -> LiveSeat:
    """A judge with its own limits."""
    options, settings = plan.request.live, settings_of(plan, judge)
    price = price_of(judge, settings)
    if options.max_cost_usd is not None and price(Usage(1_000, 100), None) is None:
        raise ConfigurationError(
            f"--max-cost: nobody knows the price of {judge.name}; add price_input and price_output "
            f"(US dollars per million tokens) to its [judges.NAME] table, install the extra `prices`, "
            f"or use --max-calls"
        )
    return LiveSeat(
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
    return settings if timeout is None else replace(settings, timeout_seconds=timeout)


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
        override_rates(settings),
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

    def take_up(self, sample: Sample, key: str, seats: tuple[Seat, ...], cascade: bool) -> SampleAtHand | None:
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
        if known and is_settled(known, seats, cascade):
            return None
        unread = {**self._judged.unread_replies(key), **{place: (reply,) for place, reply in again.items()}}
        # A reply that nobody has read yet, and that turns out invalid, is followed by another one too.
        asked = {place: replies[-1].attempt for place, replies in unread.items()} if self._asks_invalid_again else {}
        return SampleAtHand(sample, key, known, self._judged.lost_tries(key), unread, asked)


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
    seats = parts.live_seats
    for samples in batches:
        rest = list(take_up(samples, parts.seats, cascade, before))
        skipped = len(samples) - len(rest)
        keys = [key for one in rest for key in first_asks(seats, one)] if not isinstance(cache, NoCache) else ()
        found = cache.get_many(keys) if keys else _NOTHING
        if found:
            rest = [one._replace(cached=found) for one in rest]
        yield LiveBatch(rest, skipped=skipped)


def take_up(
    samples: Sequence[Sample], seats: tuple[Seat, ...], cascade: bool, before: Earlier | None
) -> Iterator[SampleAtHand]:
    """Those that the journal does not settle, with what it has of them."""
    for sample in samples:
        key = sample.key()
        at_hand = SampleAtHand(sample, key) if before is None else before.take_up(sample, key, seats, cascade)
        if at_hand is not None:
            yield at_hand


def first_asks(seats: Sequence[LiveSeat], at_hand: SampleAtHand) -> Iterator[bytes]:
    """The requests that this sample may need, re-asks aside."""
    for seat in seats:
        for take in range(1, seat.takes + 1):
            if (seat.name, take) not in at_hand.known:
                yield seat.keys.key(at_hand.key, take, 1)

"""One take of one live judge on one sample: cache, call, journal, parse, ask again."""

import asyncio
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol

from mixseek.domain.calls import Call, Usage
from mixseek.domain.judgments import InvalidJudgment, Missing, Outcome, Reply, Undecided
from mixseek.domain.ports import JudgeAwareProtocol, JudgeProtocol
from mixseek.domain.samples import Sample
from mixseek.engine.budget import Budget
from mixseek.engine.caching import ReplyCache, reuse
from mixseek.engine.endings import FirstReplies
from mixseek.engine.journaling import GroupCommit
from mixseek.engine.one import refuse_incomplete
from mixseek.engine.scheduling import Called
from mixseek.engine.seats import LiveSeat, SampleAtHand, ask_again, estimate_usage
from mixseek.errors import DatasetError, JudgeCallError, PermanentJudgeError, TransientJudgeError


class LineEncoder(Protocol):
    """Journal lines; their format is the storage's."""

    def sample(self, sample: Sample, key: str) -> bytes: ...

    def reply(self, key: str, reply: Reply) -> bytes: ...

    def outcome(
        self, sample: Sample, key: str, judge: str, outcome: Outcome, take: int, lost_tries: int = 0
    ) -> bytes: ...


@dataclass(frozen=True, slots=True)
class Desk:
    """What all asking shares."""

    protocol: JudgeProtocol
    encoder: LineEncoder
    commits: GroupCommit
    cache: ReplyCache
    budget: Budget
    nonce_of: Callable[[str], str]
    # None where nobody minds that a judge gives nothing of use.
    first_replies: FirstReplies | None = None
    # Requests that have left and not come back: who wants the same waits for them.
    under_way: dict[bytes, "asyncio.Future[Reply]"] = field(default_factory=dict)
    # Requests that brought no reply, by sample, judge and take, until the outcome is written down with them.
    lost_tries: "Counter[tuple[str, str, int]]" = field(default_factory=Counter)
    # Samples whose own line is in the journal, or queued for it, while they are at hand.
    written: set[str] = field(default_factory=set)


async def ask_take(desk: Desk, seat: LiveSeat, at_hand: SampleAtHand, take: int) -> Outcome:
    """What becomes of it; every reply is journaled before it is read, and an invalid one is asked for again."""
    sample = at_hand.sample
    refused = refuse_incomplete(sample, desk.protocol)
    if refused is not None:
        return refused
    unread = at_hand.unread.get((seat.name, take), ())
    ask = unread[-1].attempt if unread else 0
    outcome: Outcome | None = desk.protocol.parse(unread[-1], sample) if unread else None
    most = 1 + seat.max_reasks + at_hand.asked.get((seat.name, take), 0)
    while outcome is None or (isinstance(outcome, InvalidJudgment) and ask < most):
        ask += 1
        got = await obtain(desk, seat, at_hand, take, ask, outcome)
        if not isinstance(got, Reply):
            # A reply that was had stands, even where another could not be had.
            return outcome or got
        judged = desk.protocol.parse(got, sample)
        if desk.first_replies is not None:
            desk.first_replies.read(seat.name, judged)
        outcome = judged
    return outcome


async def obtain(
    desk: Desk, seat: LiveSeat, at_hand: SampleAtHand, take: int, ask: int, before: Outcome | None
) -> Reply | Missing | Undecided:
    """A reply that is in the journal, or why there is none."""
    key = seat.keys.key(at_hand.key, take, ask)
    known = at_hand.cached.get(key) if ask == 1 else desk.cache.get_many((key,)).get(key)
    if known is not None:
        reply = reuse(known, seat.name, take, ask)
        # Not waited for: the cache has it, so reading it before it is journaled loses nothing.
        desk.commits.add(lines_of(desk, at_hand, reply), {"cached": 1})
        return reply
    twin = desk.under_way.get(key)
    try:
        if twin is None:
            return await request(desk, seat, at_hand, key, (take, ask, before))
        reply = reuse(await asyncio.shield(twin), seat.name, take, ask)
    except (TransientJudgeError, PermanentJudgeError) as error:
        if isinstance(error, PermanentJudgeError) and error.concerns_everything:
            raise
        if twin is None:
            desk.lost_tries[at_hand.key, seat.name, take] += error.tries
            if isinstance(error, PermanentJudgeError) and desk.first_replies is not None:
                desk.first_replies.refused(seat.name, str(error))
        return Missing(str(error), is_permanent=isinstance(error, PermanentJudgeError))
    except DatasetError as error:
        # Nothing can be asked about this sample, now or later.
        return Undecided(f"cannot be asked: {error}")
    desk.commits.add(lines_of(desk, at_hand, reply), {"cached": 1})
    return reply


async def request(
    desk: Desk, seat: LiveSeat, at_hand: SampleAtHand, key: bytes, asked: tuple[int, int, Outcome | None]
) -> Reply:
    """The endpoint's reply, durable and cached, for everybody who wants the same meanwhile."""
    take, ask, before = asked
    protocol = told_who_judges(desk.protocol, seat)
    nonce = desk.nonce_of(at_hand.key)
    messages = protocol.messages(at_hand.sample, nonce)
    if isinstance(before, InvalidJudgment):
        messages = ask_again(messages, before.findings, protocol.language, nonce)
    call = Call(at_hand.key, messages, desk.protocol.reply_schema, take, ask)
    future: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
    desk.under_way[key] = future
    try:
        reply = await send(desk, seat, at_hand, call)
    except asyncio.CancelledError:
        future.cancel()
        raise
    except BaseException as error:
        future.set_exception(error)
        # Nobody may be waiting; asked for once, it is not reported as forgotten.
        future.exception()
        raise
    finally:
        del desk.under_way[key]
    future.set_result(reply)
    desk.cache.put_many({key: reply})
    return reply


def told_who_judges(protocol: JudgeProtocol, seat: LiveSeat) -> JudgeProtocol:
    """With the judge's identity in the prompt, where the protocol has a place for it."""
    # Asked first, because looking whether a class fits a Protocol takes as long as rendering a prompt.
    if not hasattr(protocol, "for_judge") or not isinstance(protocol, JudgeAwareProtocol):
        return protocol
    model = seat.judge.description.get("model")
    return protocol.for_judge(model if isinstance(model, str) else seat.name)


async def send(desk: Desk, seat: LiveSeat, at_hand: SampleAtHand, call: Call) -> Reply:
    """The endpoint's reply, durable."""
    expected = estimate_usage(call)
    expected_usd = (seat.price(expected, None) or 0.0) if desk.budget.counts_money else 0.0
    requests = 0
    cost: float | None = None

    def permit() -> None:
        nonlocal requests
        desk.commits.check()
        desk.budget.begin()
        requests += 1

    def spend(usage: Usage, model: str | None = None) -> float | None:
        nonlocal cost
        price = seat.price(usage, model)
        if price is not None:
            cost = (cost or 0.0) + price
        return price

    def keep(called: Called) -> "tuple[Reply, Usage, asyncio.Future[None]]":
        usage = called.answer.usage
        if desk.first_replies is not None:
            desk.first_replies.answered(seat.name)
        # What nobody knows the price of is not known as a whole either, whatever was lost before it.
        known = spend(usage, called.answer.model)
        details = describe(seat, call, called, None if known is None else cost)
        reply = Reply(called.answer.reply.text, seat.name, call.ask, details)
        counts = {"calls": called.tries}
        if cost:
            counts["cost_millionths"] = round(cost * 1_000_000)
        return reply, usage, desk.commits.keep(lines_of(desk, at_hand, reply), counts)

    await desk.budget.book(expected_usd)
    try:
        pace = partial(book_rates, seat, expected)
        reply, usage, on_disk = await seat.endpoint.call(seat.judge, call, permit, keep, pace, spend)
    except JudgeCallError as error:
        error.tries = requests
        raise
    finally:
        desk.budget.settle(expected_usd, cost)
    if seat.tokens is not None:
        seat.tokens.correct(total(usage, expected) - total(expected, expected))
    await on_disk
    return reply


def book_rates(seat: LiveSeat, expected: Usage) -> float:
    """Seconds until requests and tokens per minute allow one more; it is booked from then on, retry or not."""
    if seat.requests is None and seat.tokens is None:
        return 0.0
    now = seat.endpoint.now()
    waits = [
        rate.reserve(units, now)
        for rate, units in ((seat.requests, 1), (seat.tokens, total(expected, expected)))
        if rate is not None
    ]
    return max(waits)


def total(usage: Usage, otherwise: Usage) -> int:
    """All tokens; the estimate where the endpoint did not say."""
    sums = zip(
        (usage.input_tokens, usage.output_tokens), (otherwise.input_tokens, otherwise.output_tokens), strict=True
    )
    return sum((said if said is not None else guessed) or 0 for said, guessed in sums)


def describe(seat: LiveSeat, call: Call, called: Called, cost: float | None) -> dict[str, Any]:
    """What the journal keeps beside the text."""
    answer = called.answer
    details: dict[str, Any] = {
        **answer.reply.details,
        "take": call.take,
        "ask": call.ask,
        "usage": add_usages(answer.usage, called.lost)._asdict(),
        "latency_seconds": round(answer.latency_seconds, 6),
        "finish_reason": answer.finish_reason,
        "request_id": answer.request_id,
        "model": answer.model,
        "cached": False,
        "tries": called.tries,
        "cost_usd": cost,
    }
    if called.lost:
        # Of the usage above, what went into answers without a reply.
        details["lost_usage"] = add_usages(Usage(0, 0, 0), called.lost)._asdict()
    model = seat.judge.description.get("model")
    if isinstance(model, str):
        # Who judged, where the judge has a name of its own: self-judgments are told by it.
        details.setdefault("judge_model", model)
    return details


def add_usages(usage: Usage, lost: tuple[Usage, ...]) -> Usage:
    """All that is on the bill; what the answer did not count stays unknown."""
    if not lost:
        return usage
    sums = [None if said is None else said + sum(one[place] or 0 for one in lost) for place, said in enumerate(usage)]
    return Usage(*sums)


def lines_of(desk: Desk, at_hand: SampleAtHand, reply: Reply) -> list[bytes]:
    """The reply's line, after the sample's own where that is not written yet."""
    return [*introduce(desk, at_hand), desk.encoder.reply(at_hand.key, reply)]


def introduce(desk: Desk, at_hand: SampleAtHand) -> list[bytes]:
    """The sample's own line, once while it is at hand."""
    if at_hand.key in desk.written:
        return []
    desk.written.add(at_hand.key)
    return [desk.encoder.sample(at_hand.sample, at_hand.key)]

"""One repeat of one live judge on one sample: cache, call, journal, parse, ask again."""

import asyncio
import hashlib
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from datetime import UTC, datetime
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from mixseek.domain.judgments import (
    Finding,
    InvalidJudgment,
    Missing,
    Outcome,
    Read,
    Reply,
    Responded,
    Status,
    Undecided,
)
from mixseek.domain.ports import (
    NOTHING_LOST,
    PLAIN,
    Answer,
    Call,
    JudgeProtocol,
    LiveJudge,
    LostRequests,
    Message,
    Nonces,
    ReplyKey,
    Usage,
    is_plain,
)
from mixseek.domain.response_states import ResponseState
from mixseek.domain.samples import Sample
from mixseek.engine.budget import Budget, NotNowError
from mixseek.engine.desk import AwaitedError, Collected
from mixseek.engine.endings import FirstReplies
from mixseek.engine.endpoint import Attempts
from mixseek.engine.journaling import GroupCommit
from mixseek.engine.offline import refuse_incomplete
from mixseek.engine.replies import ReplyCache, reuse
from mixseek.engine.slots import LiveSlot
from mixseek.errors import (
    DatasetError,
    DeclinedError,
    FunctionJudgeError,
    JudgeCallError,
    PermanentJudgeError,
    TransientJudgeError,
)
from mixseek.lazy_dataclass import dataclass
from mixseek.settings.text_files import parse_toml
from mixseek.templating import fence, unused_nonce

# Characters per token: measured on English prose for most models; other scripts take more tokens a character.
_CHARACTERS_PER_TOKEN = 4.0
_CHARACTERS_PER_TOKEN_OUTSIDE_ASCII = 1.5
# A finding may quote what the judge wrote, which may quote the judged text: enough to act on, not to smuggle with.
_DETAIL_CHARACTERS = 200
_DAY_SECONDS = 86_400
# Shared, and nobody's to change.
_NOTHING: Mapping[Any, Any] = {}


class PendingSample(NamedTuple):
    """A sample still to be judged, with what an earlier process or the cache already has of it."""

    sample: Sample
    key: str
    known: Mapping[ReplyKey, Status] = _NOTHING
    # Requests of earlier processes that brought no reply.
    lost: Mapping[ReplyKey, LostRequests] = _NOTHING
    # Journaled by an earlier process that died before it read them, in the order of asking.
    unread: Mapping[ReplyKey, tuple[Reply, ...]] = _NOTHING
    # Attempts that were invalid in an earlier process and are to be followed by new ones.
    asked: Mapping[ReplyKey, int] = _NOTHING
    # First asks that the cache knows, by request key.
    cached: Mapping[bytes, Reply] = _NOTHING
    # Whether the journal has its own line from an earlier process, or from an earlier look at it.
    is_written: bool = False
    # Verdicts of an earlier process that were handed on, where who is asked next depends on them.
    heard: Mapping[ReplyKey, Outcome] = _NOTHING


def ask_again(
    messages: tuple[Message, ...], findings: tuple[Finding, ...], language: str, nonce: str
) -> tuple[Message, ...]:
    """The same prompt with the objections, fenced, in its last message: some models refuse two turns in a row."""
    listed = "\n".join(f"- {finding.flag.value}: {_one_line(finding.detail)}" for finding in findings)
    nonce = unused_nonce(nonce, [listed])
    words = read_reasks().get(language) or read_reasks()["en"]
    objections = fence(listed, "OBJECTIONS", nonce)
    note = f"\n\n{words['before'].format(nonce=nonce)}\n\n{objections}\n\n{words['after']}"
    *before, last = messages
    return (*before, replace(last, content=last.content + note))


@cache
def read_reasks() -> dict[str, dict[str, str]]:
    """Words to ask again with, by language of the protocol; another language is asked again in English."""
    return parse_toml(Path(__file__).with_name("reasks.toml").read_bytes().decode())


def _one_line(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _DETAIL_CHARACTERS else flat[: _DETAIL_CHARACTERS - 1] + "…"


def estimate_usage(call: Call) -> Usage:
    """Estimates from characters, before anything is sent; to be shown as an estimate."""
    tokens = 0.0
    for message in call.messages:
        plain = len(message.content.encode("ascii", "ignore"))
        foreign = len(message.content) - plain
        tokens += plain / _CHARACTERS_PER_TOKEN + foreign / _CHARACTERS_PER_TOKEN_OUTSIDE_ASCII
    return Usage(round(tokens), call.expected_tokens)


class LineEncoder(Protocol):
    """Journal lines; their format is the storage's, whose module of records is one of these."""

    def encode_sample(self, sample: Sample, key: str, /) -> bytes: ...

    def encode_reply(self, key: str, reply: Reply, /) -> bytes: ...

    def encode_outcome(
        self, sample: Sample, key: str, judge: str, outcome: Outcome, repeat: int, lost: LostRequests, /
    ) -> bytes: ...


def utc_day() -> str:
    """ISO 8601, without the hour."""
    return _describe_day(int(time.time() // _DAY_SECONDS))


@lru_cache(maxsize=2)
def _describe_day(day: int) -> str:
    return datetime.fromtimestamp(day * _DAY_SECONDS, UTC).date().isoformat()


@dataclass(frozen=True, slots=True)
class CallContext:
    """What all asking shares."""

    protocol: JudgeProtocol
    encoder: LineEncoder
    commits: GroupCommit
    cache: ReplyCache
    budget: Budget
    # Of a sample, by its key and its question.
    nonces_of: Callable[[str, str], Nonces]
    # None where nobody minds that a judge gives nothing of use.
    first_replies: FirstReplies | None = None
    # Requests that have left and not come back: who wants the same waits for them.
    under_way: dict[bytes, "asyncio.Future[Reply]"] = field(default_factory=dict)
    # Requests that brought no reply, by sample, until the outcome is written down with them.
    lost: dict[tuple[str, ReplyKey], LostRequests] = field(default_factory=dict)
    # Where somebody wants to know which replies were read, and in what order.
    read: list[Reply] | None = None
    # Looks at every reply before anything is made of it, and raises what ends the run.
    check_reply: Callable[[Reply], None] | None = None
    # Samples whose own line is in the journal, or queued for it, while they are at hand.
    written: set[str] = field(default_factory=set)
    # Where somebody goes through the samples more than once: what came to its end without anything to show for it, or
    # was asked for again.
    concluded: set[tuple[str, ReplyKey]] | None = None
    # The day on which a reply arrives. No more than that: runs that differ only in their hours stay alike.
    today: Callable[[], str] = utc_day


async def ask_repeat(context: CallContext, slot: LiveSlot, pending: PendingSample, repeat: int) -> Outcome:
    """What becomes of one repeat, with what is known of the sample whoever judges."""
    outcome = await ask_shown(context, slot, pending, repeat)
    return context.protocol.complete(pending.sample, outcome)


async def ask_shown(context: CallContext, slot: LiveSlot, pending: PendingSample, repeat: int) -> Outcome:
    """What becomes of one repeat: of the sample as it is, or of all presentations that the protocol wants together."""
    refused = refuse_incomplete(pending.sample, context.protocol)
    if refused is not None:
        return refused
    protocol = context.protocol
    if is_plain(protocol):
        if (turns := protocol.turns(pending.sample)) > 1:
            return await converse(context, slot, pending, repeat, turns)
        return await ask_judge(context, slot, pending, ReplyKey(slot.name, repeat))
    outcomes: dict[str, Outcome] = {}
    awaited: AwaitedError | None = None
    for name in protocol.presentations:
        shown = replace(context, protocol=protocol.present(name))
        try:
            outcomes[name] = await ask_judge(shown, slot, pending, ReplyKey(slot.name, repeat, name))
        except AwaitedError as error:
            # The others go into the same batch.
            awaited = error
    if awaited is not None:
        raise awaited
    return protocol.combine(outcomes)


async def converse(context: CallContext, slot: LiveSlot, pending: PendingSample, repeat: int, turns: int) -> Outcome:
    """Turn by turn, each asked with what was said before it; the last one counts, or the first that brings nothing."""
    responses: tuple[str, ...] = ()
    while True:
        at_turn = replace(context, protocol=context.protocol.after(responses))
        outcome = await ask_judge(at_turn, slot, pending, ReplyKey(slot.name, repeat, name_turn(responses)))
        if not isinstance(outcome, Responded) or not outcome.response:
            return outcome
        responses = (*responses, outcome.response)
        if len(responses) == turns:
            return outcome


def name_turn(responses: tuple[str, ...]) -> str:
    """What tells the replies of a conversation apart: the turn, and what was said before it."""
    if not responses:
        return PLAIN
    said_before = hashlib.blake2b("\x1f".join(responses).encode("utf-8", "surrogatepass"), digest_size=6)
    return f"turn {len(responses) + 1} {said_before.hexdigest()}"


async def ask_judge(context: CallContext, slot: LiveSlot, pending: PendingSample, wanted: ReplyKey) -> Outcome:
    """What becomes of it; every reply is journaled before it is read, and an invalid one is asked for again."""
    sample = pending.sample
    unread = pending.unread.get(wanted, ())
    ask = unread[-1].attempt if unread else 0
    outcome: Outcome | None = read_reply(context, unread[-1], sample) if unread else None
    most = 1 + slot.max_reasks + pending.asked.get(wanted, 0)
    latest = unread[-1] if unread else None
    while outcome is None or (isinstance(outcome, InvalidJudgment) and ask < most) or asks_longer(slot, outcome, ask):
        ask += 1
        objections = outcome.findings if isinstance(outcome, InvalidJudgment) else ()
        limit = None if latest is None or not isinstance(outcome, Responded) else longer_limit(slot.judge, latest)
        got = await obtain(context, Ask(slot, pending, wanted, ask, objections, limit))
        if not isinstance(got, Reply):
            # A reply that was had stands, even where another could not be had.
            return outcome or got
        judged = read_reply(context, got, sample)
        if context.first_replies is not None:
            context.first_replies.read(slot.name, judged)
        outcome, latest = judged, got
    return outcome


def asks_longer(slot: LiveSlot, outcome: Outcome, asked: int) -> bool:
    """Whether a response that was cut off is asked for once more, with twice the limit."""
    is_cut_off = isinstance(outcome, Responded) and outcome.fields.get("state") == ResponseState.CUT_OFF
    return is_cut_off and slot.retries_cut_off and asked == 1


def longer_limit(judge: LiveJudge, reply: Reply) -> int | None:
    """Twice what the reply was allowed; where nobody set that, twice what it took. None where nobody counted."""
    limit = judge.description.get("max_tokens")
    counted = limit if isinstance(limit, int) else (reply.details.get("usage") or {}).get("output_tokens")
    return 2 * counted if isinstance(counted, int) and counted else None


def read_reply(context: CallContext, reply: Reply, sample: Sample) -> Read:
    """What the protocol makes of it."""
    if context.read is not None:
        context.read.append(reply)
    if context.check_reply is not None:
        context.check_reply(reply)
    return context.protocol.parse(reply, sample)


class Ask(NamedTuple):
    """One asking for a reply: `number` counts re-asks too, which carry the objections to the reply before."""

    slot: LiveSlot
    pending: PendingSample
    wanted: ReplyKey
    number: int
    objections: tuple[Finding, ...] = ()
    # In tokens, where this asking has a limit of its own.
    limit: int | None = None


async def obtain(context: CallContext, ask: Ask) -> Reply | Missing | Undecided:
    """A reply that is in the journal, or why there is none."""
    pending, slot = ask.pending, ask.slot
    key = slot.keys.key(pending.key, ask.wanted, ask.number)
    known = pending.cached.get(key) if ask.number == 1 else context.cache.get_many((key,)).get(key)
    twin = context.under_way.get(key)
    try:
        if known is None:
            if twin is None:
                return await request(context, ask, key)
            known = await asyncio.shield(twin)
    except (TransientJudgeError, PermanentJudgeError, FunctionJudgeError) as error:
        is_permanent = isinstance(error, PermanentJudgeError)
        if isinstance(error, PermanentJudgeError) and error.concerns_everything:
            raise
        if twin is None and is_permanent and context.first_replies is not None:
            context.first_replies.refused(slot.name, str(error))
        return Missing(str(error), is_permanent=is_permanent, is_withheld=getattr(error, "is_withheld", False))
    except DeclinedError as error:
        return Undecided(str(error))
    except DatasetError as error:
        # Nothing can be asked about this sample, now or later.
        return Undecided(f"cannot be asked: {error}")
    reply = reuse(known, slot.name, ask.wanted.repeat, ask.number)
    # Not waited for: the cache has it, so reading it before it is journaled loses nothing.
    context.commits.add(lines_of(context, pending, reply), {"cached": 1})
    return reply


async def request(context: CallContext, ask: Ask, key: bytes) -> Reply:
    """The endpoint's reply, durable and cached, for everybody who wants the same meanwhile."""
    pending = ask.pending
    protocol = context.protocol
    # With the judge's identity in the prompt, where the protocol has a place for it.
    model = ask.slot.judge.description.get("model")
    protocol = protocol.for_judge(model if isinstance(model, str) else ask.slot.name)
    nonces = context.nonces_of(pending.key, pending.sample.question)
    messages = protocol.messages(pending.sample, nonces)
    if ask.objections:
        messages = ask_again(messages, ask.objections, protocol.language, nonces.sample)
    schema, sample = context.protocol.reply_schema, context.protocol.show(pending.sample)
    call = Call(
        pending.key,
        messages,
        schema,
        ask.wanted.repeat,
        ask.number,
        sample,
        ask.limit,
        protocol.expected_tokens,
        protocol.verdict_fields,
        protocol.question_set.questions,
    )
    future: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
    context.under_way[key] = future
    try:
        collected = fetch_collected(context, ask, key, call)
        reply = await (send(context, ask, call) if collected is None else take_in(context, ask, call, collected))
    except asyncio.CancelledError:
        future.cancel()
        raise
    except BaseException as error:
        future.set_exception(error)
        # Nobody may be waiting; asked for once, it is not reported as forgotten.
        future.exception()
        raise
    finally:
        del context.under_way[key]
    future.set_result(reply)
    context.cache.put_many({key: reply})
    return reply


def fetch_collected(context: CallContext, ask: Ask, key: bytes, call: Call) -> Collected | None:
    """What came with a batch; None where it is asked at once. Raises AwaitedError, or why it is given up."""
    desk = ask.slot.desk
    if desk is None:
        return None
    try:
        collected = desk.fetch(key, call)
    except JudgeCallError:
        remember_lost(context, ask, desk.lost(key))
        raise
    if collected is None:
        remember_lost(context, ask, desk.lost(key))
    return collected


async def take_in(context: CallContext, ask: Ask, call: Call, collected: Collected) -> Reply:
    """The reply out of a batch, durable."""
    context.commits.check()
    booking = Booking(context, ask, call)
    booking.attempts.tries = collected.tries
    reply, on_disk = booking.keep_collected(collected)
    await on_disk
    return reply


async def send(context: CallContext, ask: Ask, call: Call) -> Reply:
    """The endpoint's reply, durable; after the first of those that begin alike, where that saves money."""
    if ask.slot.prefixes is None:
        return await send_now(context, ask, call)
    async with ask.slot.prefixes.turn(call.messages):
        return await send_now(context, ask, call)


async def send_now(context: CallContext, ask: Ask, call: Call) -> Reply:
    """The endpoint's reply, durable."""
    while True:
        booking = Booking(context, ask, call)
        await context.budget.book(booking.expected_usd)
        try:
            reply, on_disk = await send_booked(booking)
        except NotNowError:
            continue
        finally:
            booking.settle()
        await on_disk
        return reply


async def send_booked(booking: "Booking") -> "tuple[Reply, asyncio.Future[None]]":
    """The reply and when it is durable, however many requests that takes within the retry policy."""
    slot, attempts = booking.ask.slot, booking.attempts
    while True:
        # It is booked from then on, retry or not.
        if wait := seconds_to_wait(slot, booking.call):
            await slot.endpoint.rest(wait)
        async with slot.endpoint.turn() as turn:
            booking.leave()
            answer = await turn.ask(slot.judge, booking.call, attempts)
            if isinstance(answer, Answer):
                # While the call still has its place: nobody is let in before its reply has left this process.
                return booking.keep(answer)
            booking.charge_lost()
        if slot.prefixes is not None:
            slot.prefixes.let_go(booking.call.messages)
        await slot.endpoint.rest(answer)


def seconds_to_wait(slot: LiveSlot, call: Call) -> float:
    """Until requests and tokens per minute allow one more; nothing where nobody limits them."""
    wait = 0.0
    if slot.requests is not None:
        wait = slot.requests.reserve(1, slot.endpoint.now())
    if slot.tokens is not None:
        expected = estimate_usage(call)
        wait = max(wait, slot.tokens.reserve(total(expected, expected), slot.endpoint.now()))
    return wait


@dataclass(slots=True)
class Booking:
    """What one call and its repeats may cost, from the estimate to the last bill."""

    context: CallContext
    ask: Ask
    call: Call
    expected_usd: float = field(init=False)
    attempts: Attempts = field(default_factory=Attempts)
    cost: float | None = None
    lost_usd: float = 0.0
    _charged: int = 0
    _has_begun: bool = False
    _is_kept: bool = False

    def __post_init__(self) -> None:
        # Long texts take a while to estimate: only where somebody counts.
        counts = self.context.budget.counts_money
        self.expected_usd = (self.ask.slot.price(estimate_usage(self.call), None) or 0.0) if counts else 0.0

    def leave(self) -> None:
        """One more request; NotNowError or BudgetSpentError where there is no room for it, StorageError likewise."""
        self.context.commits.check()
        self.context.budget.leave(self.expected_usd, is_repeat=self._has_begun)
        # It is out from here on, whatever the number of calls says: settled as such.
        self._has_begun = True
        self.context.budget.begin()

    def charge_lost(self) -> None:
        """At once, not with the reply that may come after it: the others must not spend the same money."""
        for usage in self.attempts.lost[self._charged :]:
            price = self.ask.slot.price(usage, None)
            if price is not None:
                self.lost_usd += price
                self.context.budget.charge(self.expected_usd, price)
        self._charged = len(self.attempts.lost)

    def keep(self, answer: Answer) -> "tuple[Reply, asyncio.Future[None]]":
        """The reply as the journal has it, and when it is on disk."""
        slot = self.ask.slot
        self.cost = slot.price(answer.usage, answer.model)
        # What nobody knows the price of is not known as a whole either, whatever was lost before it.
        details = describe(self, answer, None if self.cost is None else self.cost + self.lost_usd)
        details |= savings(slot, answer, self.cost, self.cost)
        if slot.tokens is not None:
            expected = estimate_usage(self.call)
            slot.tokens.correct(total(answer.usage, expected) - total(expected, expected))
        return self._write(answer, details)

    def keep_collected(self, collected: Collected) -> "tuple[Reply, asyncio.Future[None]]":
        """The same of a reply out of a batch, at the price of batches; what else was billed for it included."""
        self.cost, self.lost_usd = collected.cost_usd, collected.lost.cost_usd
        lost = collected.lost
        if any(lost):
            self.attempts.lost.append(Usage(lost.input_tokens, lost.output_tokens))
        cost = None if self.cost is None else self.cost + self.lost_usd
        details = describe(self, collected.answer, cost) | {"batch": collected.batch}
        details |= savings(self.ask.slot, collected.answer, self.cost, collected.live_cost_usd)
        return self._write(collected.answer, details)

    def _write(self, answer: Answer, details: Mapping[str, Any]) -> "tuple[Reply, asyncio.Future[None]]":
        context, slot = self.context, self.ask.slot
        self._is_kept = True
        if context.first_replies is not None:
            context.first_replies.answered(slot.name)
        reply = Reply(answer.reply.text, slot.name, self.call.ask, details)
        counts = {"calls": self.attempts.tries}
        if self.cost or self.lost_usd:
            counts["cost_millionths"] = round(((self.cost or 0.0) + self.lost_usd) * 1_000_000)
        return reply, context.commits.keep(lines_of(context, self.ask.pending, reply), counts)

    def settle(self) -> None:
        """Whatever became of it; requests without a reply are remembered until an outcome is written down."""
        self.charge_lost()
        self.context.budget.settle(self.expected_usd, self.cost, has_begun=self._has_begun)
        if self._is_kept or not self.attempts.tries:
            return
        lost = add_usages(Usage(0, 0), tuple(self.attempts.lost))
        requests = LostRequests(self.attempts.tries, lost.input_tokens or 0, lost.output_tokens or 0, self.lost_usd)
        remember_lost(self.context, self.ask, requests)


def remember_lost(context: CallContext, ask: Ask, requests: LostRequests) -> None:
    """Requests without a reply, kept for all presentations together, as the outcome is."""
    if requests.tries:
        place = ask.pending.key, ask.wanted._replace(presentation=PLAIN)
        context.lost[place] = context.lost.get(place, NOTHING_LOST).plus(requests)


def total(usage: Usage, otherwise: Usage) -> int:
    """All tokens; the estimate where the endpoint did not say."""
    sums = zip(usage[:2], otherwise[:2], strict=True)
    return sum((counted if counted is not None else guessed) or 0 for counted, guessed in sums)


def describe(booking: Booking, answer: Answer, cost: float | None) -> dict[str, Any]:
    """What the journal keeps beside the text."""
    call, lost, presentation = booking.call, tuple(booking.attempts.lost), booking.ask.wanted.presentation
    details: dict[str, Any] = {
        **answer.reply.details,
        "take": call.take,
        "ask": call.ask,
        "usage": add_usages(answer.usage, lost).document(),
        "latency_seconds": None if answer.latency_seconds is None else round(answer.latency_seconds, 6),
        "finish_reason": answer.finish_reason,
        "request_id": answer.request_id,
        "model": answer.model,
        "cached": False,
        "tries": booking.attempts.tries,
        "cost_usd": cost,
        "received_on": booking.context.today(),
    }
    if presentation != PLAIN:
        details["presentation"] = presentation
    if lost:
        # Of the usage above, what went into answers without a reply.
        details["lost_usage"] = add_usages(Usage(0, 0, 0), lost).document()
    model = booking.ask.slot.judge.description.get("model")
    if isinstance(model, str):
        # Who judged, where the judge has a name of its own: self-judgments are told by it.
        details.setdefault("judge_model", model)
    return details


def savings(slot: LiveSlot, answer: Answer, cost: float | None, live_cost: float | None) -> dict[str, float]:
    """US dollars that an endpoint's cache, and then a batch, took off the price; what took off nothing is left out."""
    saved: dict[str, float] = {}
    if cost is None or live_cost is None:
        return saved
    usage = answer.usage
    if usage.cached_input_tokens or usage.cache_write_tokens:
        plain = slot.price(usage._replace(cached_input_tokens=None, cache_write_tokens=None), answer.model)
        if plain is not None and plain != live_cost:
            saved["saved_by_cache_usd"] = plain - live_cost
    if cost != live_cost:
        saved["saved_by_batch_usd"] = live_cost - cost
    return saved


def add_usages(usage: Usage, lost: tuple[Usage, ...]) -> Usage:
    """All that is on the bill; what the answer did not count stays unknown."""
    if not lost:
        return usage
    sums = [
        None if counted is None else counted + sum(bill[place] or 0 for bill in lost)
        for place, counted in enumerate(usage)
    ]
    return Usage(*sums)


def lines_of(context: CallContext, pending: PendingSample, reply: Reply) -> list[bytes]:
    """The reply's line, after the sample's own where that is not written yet."""
    return [*unwritten_sample_lines(context, pending), context.encoder.encode_reply(pending.key, reply)]


def conclude(
    context: CallContext, pending: PendingSample, place: ReplyKey, outcome: Outcome, replies: Sequence[Reply] = ()
) -> None:
    """Queue the outcome with the requests that were lost on the way, after replies that are not journaled yet."""
    lost = context.lost.pop((pending.key, place), NOTHING_LOST)
    if before := pending.lost.get(place):
        lost = lost.plus(before)
    if context.concluded is not None and (isinstance(outcome, Missing) or pending.asked or pending.unread):
        context.concluded.add((pending.key, place))
    lines = unwritten_sample_lines(context, pending)
    lines += [context.encoder.encode_reply(pending.key, reply) for reply in replies]
    line = context.encoder.encode_outcome(pending.sample, pending.key, place.judge, outcome, place.repeat, lost)
    context.commits.add([*lines, line])


def unwritten_sample_lines(context: CallContext, pending: PendingSample) -> list[bytes]:
    """The sample's own line, once while it is at hand."""
    if pending.is_written or pending.key in context.written:
        return []
    context.written.add(pending.key)
    return [context.encoder.encode_sample(pending.sample, pending.key)]

"""Single questions through the engine: whoever needs one reply gets the retries, limits, cache, budget and journal.

A question is known by what is asked: two who ask the same get the same reply, and it is paid for once. Where the
prompt holds what changes by the minute (a leader board), the asker names the question instead; such a question is
answered once in an execution, and never from the cache.
"""

import asyncio
import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from types import TracebackType
from typing import Any, Protocol, Self, assert_never

from mixseek.domain.judgments import InvalidJudgment, Missing, Outcome, Reply, Undecided, ValidJudgment
from mixseek.domain.ports import JudgeAwareProtocol, JudgeProtocol, MathsComparer, Message
from mixseek.domain.samples import Sample
from mixseek.engine.caching import NoCache, RequestKeys, reuse
from mixseek.engine.call import (
    CallContext,
    LiveSlot,
    OfflineSlot,
    PendingSample,
    Slot,
    ask_take,
    unwritten_sample_lines,
)
from mixseek.engine.limits import HaltedError
from mixseek.engine.offline import ask
from mixseek.errors import ConfigurationError

# The question's key, the judge's name and the number of the take.
Place = tuple[str, str, int]


@dataclass(frozen=True, slots=True)
class Answered:
    """What became of a question, with the reply it rests on; None where none came, or where rules decided."""

    outcome: Outcome
    reply: Reply | None = None
    # An earlier process had that reply; nobody was asked now.
    is_recalled: bool = False
    # What came before it and was no answer; it has been paid for all the same.
    earlier: tuple[Reply, ...] = ()

    @property
    def replies(self) -> tuple[Reply, ...]:
        """All of them, in order."""
        return self.earlier if self.reply is None else (*self.earlier, self.reply)


class Asker(Protocol):
    """Whom evaluators, judges of progress and teams ask; see `Questions.ask` for what it may raise."""

    async def ask(
        self,
        protocol: JudgeProtocol,
        sample: Sample,
        judge: str,
        *,
        take: int = 1,
        identity: str | None = None,
        asks_again: bool = True,
    ) -> Answered: ...


@dataclass(slots=True)
class AnsweredBefore:
    """What the journal of an earlier process holds."""

    replies: dict[Place, tuple[Reply, ...]] = field(default_factory=dict)
    concluded: set[Place] = field(default_factory=set)
    introduced: set[str] = field(default_factory=set)


@dataclass(slots=True)
class _UnderWay:
    task: "asyncio.Task[Answered]"
    waiting: int = 0


class Questions:
    """Many may ask at once. Open from `async with` on; what is in flight at the end is cancelled."""

    def __init__(
        self, context: CallContext, slots: Iterable[Slot], nonce_key_id: str, before: AnsweredBefore | None = None
    ) -> None:
        self._context = context
        self._slots = {slot.name: slot for slot in slots}
        self._nonce_key_id = nonce_key_id
        self._before = before or AnsweredBefore()
        self._context.written.update(self._before.introduced)
        self._under_way: dict[Place, _UnderWay] = {}
        self._told: set[Place] = set()
        self._recalled = frozenset(self._before.replies)
        self._is_halted = False

    async def __aenter__(self) -> Self:
        self._context.commits.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        left = [one.task for one in self._under_way.values()]
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)
        await self._context.commits.close()
        for slot in self._slots.values():
            if isinstance(slot, LiveSlot):
                await slot.judge.close()

    def knows(self, protocol: JudgeProtocol, sample: Sample, place: tuple[str, int], identity: str | None) -> bool:
        """Whether the judge's reply of that take, which is `place`, is there already."""
        return (question_key(protocol, sample, identity), *place) in self._before.replies

    @property
    def judges(self) -> tuple[str, ...]:
        """Who can be asked."""
        return tuple(self._slots)

    def halt(self) -> None:
        """Nothing new is asked from now on: HaltedError; what is in flight comes home and is journaled."""
        self._is_halted = True
        for slot in self._slots.values():
            if isinstance(slot, LiveSlot):
                slot.endpoint.halt()

    async def ask(
        self,
        protocol: JudgeProtocol,
        sample: Sample,
        judge: str,
        *,
        take: int = 1,
        identity: str | None = None,
        asks_again: bool = True,
    ) -> Answered:
        """The judge's word on the sample. With `identity`, the question is that one whatever its prompt says today.

        `asks_again` False leaves an invalid reply at that: the words of a re-ask are for replies in JSON.

        Raises HaltedError, BudgetSpentError, EndpointDownError, StorageError, and PermanentJudgeError where the
        endpoint refuses everything; any other failure is a Missing.
        """
        slot = self._slots.get(judge)
        if slot is None:
            raise ConfigurationError(f"judge {judge!r} is not at hand; there is {', '.join(self._slots) or 'nobody'}")
        if isinstance(slot, LiveSlot) and not asks_again:
            slot = replace(slot, max_reasks=0)
        place = (question_key(protocol, sample, identity), judge, take)
        under_way = self._under_way.get(place)
        if under_way is None:
            task = asyncio.create_task(self._answer(protocol, sample, slot, place, identity), name=f"ask-{judge}")
            under_way = self._under_way[place] = _UnderWay(task)
            task.add_done_callback(partial(self._collect, place))
        under_way.waiting += 1
        try:
            return await asyncio.shield(under_way.task)
        except asyncio.CancelledError:
            # Others may want the same; only the last one who leaves takes the question back.
            if under_way.waiting == 1:
                under_way.task.cancel()
            raise
        finally:
            under_way.waiting -= 1

    def _collect(self, place: Place, task: "asyncio.Task[Answered]") -> None:
        self._under_way.pop(place, None)
        if not task.cancelled():
            # Whoever asked may have left; a failure that nobody waits for is no news.
            task.exception()

    async def _answer(
        self, protocol: JudgeProtocol, sample: Sample, slot: Slot, place: Place, identity: str | None
    ) -> Answered:
        known = self._before.replies.get(place, ())
        heard = _JudgeAwareHeard(protocol) if isinstance(protocol, JudgeAwareProtocol) else _Heard(protocol)
        match slot:
            case OfflineSlot():
                outcome = await self._hear_offline(heard, sample, slot, place)
            case LiveSlot():
                outcome = await self._hear(heard, sample, slot, place, identity)
            case unexpected:
                assert_never(unexpected)
        is_recalled = place in self._recalled and tuple(heard.replies) == known
        if tuple(heard.replies) != known or place not in self._before.concluded:
            self._before.replies[place] = tuple(heard.replies)
            self._before.concluded.add(place)
            key, judge, take = place
            line = self._context.encoder.outcome(sample, key, judge, outcome, take)
            self._context.commits.add([*unwritten_sample_lines(self._context, PendingSample(sample, key)), line])
        replies = tuple(heard.replies)
        if place in self._told:
            # The same question again costs nothing, and must not be counted as if it did.
            replies = tuple(reuse(reply, reply.judge, place[2], reply.attempt) for reply in replies)
        self._told.add(place)
        return Answered(outcome, replies[-1] if replies else None, is_recalled, replies[:-1])

    async def _hear(
        self, heard: "_Heard", sample: Sample, slot: LiveSlot, place: Place, identity: str | None
    ) -> Outcome:
        key, judge, take = place
        keys = RequestKeys(heard.hash, slot.judge.fingerprint, self._nonce_key_id)
        cache = self._context.cache if identity is None else NoCache()
        known = self._before.replies.get(place, ())
        heard.replies = list(known[:-1])
        cached = {} if known else cache.get_many((keys.key(key, take, 1),))
        pending = PendingSample(sample, key, unread={(judge, take): known} if known else {}, cached=cached)
        context = replace(self._context, protocol=heard, cache=cache)
        outcome = await ask_take(context, replace(slot, keys=keys), pending, take)
        if self._is_halted and isinstance(outcome, Missing):
            # Cut short by the stop: it is not known to be missing, and will be asked for again.
            raise HaltedError("stopping")
        return outcome

    async def _hear_offline(self, heard: "_Heard", sample: Sample, slot: OfflineSlot, place: Place) -> Outcome:
        key, _, take = place
        known = self._before.replies.get(place, ())
        if known:
            return heard.parse(known[-1], sample)
        judged = ask(slot.judge, sample, heard)
        if judged.reply is not None:
            reply = judged.reply
            if take > 1:
                reply = replace(reply, details={**reply.details, "take": take})
                heard.replies = [reply]
            lines = [
                *unwritten_sample_lines(self._context, PendingSample(sample, key)),
                self._context.encoder.reply(key, reply),
            ]
            await self._context.commits.commit(lines)
        return judged.outcome


@dataclass(frozen=True, slots=True)
class LastingQuestions:
    """Questions whose last reply counts: an invalid one of an earlier process stands until it is asked for again.

    `retries_invalid` asks for it again now; each time is another take, so that every attempt stays in the journal.
    """

    questions: Questions
    retries_invalid: bool = False

    async def ask(
        self,
        protocol: JudgeProtocol,
        sample: Sample,
        judge: str,
        *,
        take: int = 1,
        identity: str | None = None,
        asks_again: bool = True,
    ) -> Answered:
        """As `Questions.ask`; `earlier` holds the replies of all takes before the one that counts."""
        before: tuple[Reply, ...] = ()
        while True:
            answered = await self.questions.ask(
                protocol, sample, judge, take=take, identity=identity, asks_again=asks_again
            )
            answered = replace(answered, earlier=(*before, *answered.earlier))
            is_open = answered.is_recalled and isinstance(answered.outcome, InvalidJudgment)
            take += 1
            if not is_open or not (
                self.retries_invalid or self.questions.knows(protocol, sample, (judge, take), identity)
            ):
                return answered
            before = answered.replies


@dataclass
class _Heard:
    """The protocol for one question; remembers which replies were read, in order."""

    protocol: JudgeProtocol
    replies: list[Reply] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.protocol.name

    @property
    def version(self) -> str:
        return self.protocol.version

    @property
    def language(self) -> str:
        return self.protocol.language

    @property
    def parameters(self) -> Mapping[str, Any]:
        return self.protocol.parameters

    @property
    def hash(self) -> str:
        return self.protocol.hash

    @property
    def reply_schema(self) -> Mapping[str, Any]:
        return self.protocol.reply_schema

    def messages(self, sample: Sample, nonce: str) -> tuple[Message, ...]:
        return self.protocol.messages(sample, nonce)

    def parse(self, reply: Reply, sample: Sample) -> ValidJudgment | InvalidJudgment:
        self.replies.append(reply)
        return self.protocol.parse(reply, sample)

    def decide(self, sample: Sample, maths: MathsComparer | None = None) -> ValidJudgment | Undecided:
        return self.protocol.decide(sample, maths)


@dataclass
class _JudgeAwareHeard(_Heard):
    """Passes on that the protocol has a place for who judges."""

    def for_judge(self, model: str) -> JudgeProtocol:
        return self.protocol.for_judge(model) if isinstance(self.protocol, JudgeAwareProtocol) else self.protocol


def question_key(protocol: JudgeProtocol, sample: Sample, identity: str | None) -> str:
    """32 hex digits. By content, the sample's id does not count: the same text under another name is the same."""
    asked = f"named\x00{identity}" if identity is not None else f"content\x00{replace(sample, id='').key()}"
    return hashlib.blake2b(f"{protocol.hash}\x00{asked}".encode(), digest_size=16).hexdigest()

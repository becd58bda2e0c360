"""Single questions through the engine: two who ask the same get the same reply, and it is paid for once.

A prompt that holds what changes by the minute (a leader board) is known by a name instead, and never from the cache.
"""

import asyncio
import hashlib
from collections.abc import Iterable
from dataclasses import field, replace
from functools import partial
from typing import NamedTuple, Protocol, Self

from mixseek.domain.judgments import InvalidJudgment, Missing, Outcome, Reply
from mixseek.domain.ports import JudgeProtocol, ReplyKey
from mixseek.domain.samples import Sample
from mixseek.engine.call import CallContext, PendingSample, ask_repeat, conclude, lines_of
from mixseek.engine.endpoint import HaltedError
from mixseek.engine.offline import ask
from mixseek.engine.replies import NoCache, RequestKeys, reuse
from mixseek.engine.slots import LiveSlot, OfflineSlot, Slot
from mixseek.errors import ConfigurationError
from mixseek.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Question:
    """A question with `identity` is that one whatever its prompt says; without `asks_again` an invalid reply stands."""

    protocol: JudgeProtocol
    sample: Sample
    judge: str
    repeat: int = 1
    identity: str | None = None
    asks_again: bool = True

    @property
    def place(self) -> "Place":
        return Place(question_key(self.protocol, self.sample, self.identity), self.judge, self.repeat)


class Place(NamedTuple):
    """Where the replies to a question stand in a journal."""

    key: str
    judge: str
    repeat: int


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

    async def ask(self, question: Question) -> Answered: ...


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
        self._counted: set[Place] = set()
        self._recalled = frozenset(self._before.replies)
        self._is_halted = False

    async def __aenter__(self) -> Self:
        self._context.commits.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        left = [asked.task for asked in self._under_way.values()]
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)
        await self._context.commits.close()
        for slot in self._slots.values():
            if isinstance(slot, LiveSlot):
                await slot.judge.close()

    def knows(self, question: Question) -> bool:
        """Whether its reply is there already."""
        return question.place in self._before.replies

    def halt(self) -> None:
        """Nothing new is asked from now on: HaltedError; what is in flight comes home and is journaled."""
        self._is_halted = True
        for slot in self._slots.values():
            if isinstance(slot, LiveSlot):
                slot.endpoint.halt()

    async def ask(self, question: Question) -> Answered:
        """The judge's word on the sample. Raises what ends a run; any other failure is a Missing."""
        slot = self._slots.get(question.judge)
        if slot is None:
            there = ", ".join(self._slots) or "nobody"
            raise ConfigurationError(f"judge {question.judge!r} is not at hand; there is {there}")
        place = question.place
        under_way = self._under_way.get(place)
        if under_way is None:
            task = asyncio.create_task(self._answer(question, slot, place), name=f"ask-{question.judge}")
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

    async def _answer(self, question: Question, slot: Slot, place: Place) -> Answered:
        known = self._before.replies.get(place, ())
        if isinstance(slot, LiveSlot):
            outcome, replies = await self._ask_live(question, slot, place, known)
        else:
            outcome, replies = await self._ask_offline(question, slot, place, known)
        is_recalled = place in self._recalled and replies == known
        if replies != known or place not in self._before.concluded:
            self._before.replies[place] = replies
            self._before.concluded.add(place)
            pending = PendingSample(question.sample, place.key)
            conclude(self._context, pending, ReplyKey(place.judge, place.repeat), outcome)
        if place in self._counted:
            # The same question again costs nothing, and must not be counted as if it did.
            replies = tuple(reuse(reply, reply.judge, place.repeat, reply.attempt) for reply in replies)
        self._counted.add(place)
        return Answered(outcome, replies[-1] if replies else None, is_recalled, replies[:-1])

    async def _ask_live(
        self, question: Question, slot: LiveSlot, place: Place, known: tuple[Reply, ...]
    ) -> tuple[Outcome, tuple[Reply, ...]]:
        protocol, wanted = question.protocol, ReplyKey(place.judge, place.repeat)
        keys = RequestKeys(protocol.hash, slot.judge.fingerprint, self._nonce_key_id)
        slot = replace(slot, keys=keys, max_reasks=slot.max_reasks if question.asks_again else 0)
        cache = self._context.cache if question.identity is None else NoCache()
        cached = {} if known else cache.get_many((keys.key(place.key, wanted, 1),))
        pending = PendingSample(question.sample, place.key, unread={wanted: known} if known else {}, cached=cached)
        read = list(known[:-1])
        context = replace(self._context, protocol=protocol, cache=cache, read=read)
        outcome = await ask_repeat(context, slot, pending, place.repeat)
        if self._is_halted and isinstance(outcome, Missing):
            # Cut short by the stop: it is not known to be missing, and will be asked for again.
            raise HaltedError("stopping")
        return outcome, tuple(read)

    async def _ask_offline(
        self, question: Question, slot: OfflineSlot, place: Place, known: tuple[Reply, ...]
    ) -> tuple[Outcome, tuple[Reply, ...]]:
        if known:
            return question.protocol.parse(known[-1], question.sample), known[-1:]
        judged = ask(slot.judge, question.sample, question.protocol)
        reply = judged.reply
        if reply is None:
            return judged.outcome, ()
        if place.repeat > 1:
            reply = replace(reply, details={**reply.details, "take": place.repeat})
        await self._context.commits.commit(lines_of(self._context, PendingSample(question.sample, place.key), reply))
        return judged.outcome, (reply,)


@dataclass(frozen=True, slots=True)
class LastingQuestions:
    """The last reply counts: an invalid one of an earlier process stands, unless `retries_invalid` asks once more."""

    questions: Questions
    retries_invalid: bool = False

    async def ask(self, question: Question) -> Answered:
        """Asks as `Questions.ask` does; `earlier` holds the replies of all repeats before the one that counts."""
        before: tuple[Reply, ...] = ()
        while True:
            answered = await self.questions.ask(question)
            answered = replace(answered, earlier=(*before, *answered.earlier))
            is_open = answered.is_recalled and isinstance(answered.outcome, InvalidJudgment)
            question = replace(question, repeat=question.repeat + 1)
            if not is_open or not (self.retries_invalid or self.questions.knows(question)):
                return answered
            before = answered.replies


def question_key(protocol: JudgeProtocol, sample: Sample, identity: str | None) -> str:
    """32 hex digits. By content, the sample's id does not count: the same text under another name is the same."""
    asked = f"named\x00{identity}" if identity is not None else f"content\x00{replace(sample, id='').key()}"
    return hashlib.blake2b(f"{protocol.hash}\x00{asked}".encode(), digest_size=16).hexdigest()

"""Time that moves when nobody has anything to do, judges that answer by script, and a journal in memory."""

import asyncio
import heapq
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from tests.unit.engine.stub_judging import StubProtocol

from mixseek.domain.judgments import Outcome, Reply, Status, status_of
from mixseek.domain.ports import NOTHING_LOST, Answer, Call, JudgeProtocol, LostRequests, Message, Nonces, Usage
from mixseek.domain.samples import Sample
from mixseek.engine.adaptive_limit import AdaptiveLimit
from mixseek.engine.budget import Budget
from mixseek.engine.call import CallContext, PendingSample
from mixseek.engine.endings import RunEnd
from mixseek.engine.endpoint import Endpoint, Environment
from mixseek.engine.journaling import GroupCommit
from mixseek.engine.live import LiveBatch, LiveRun
from mixseek.engine.replies import NoCache, ReplyCache, RequestKeys
from mixseek.engine.retry import RetryPolicy
from mixseek.engine.slots import LiveSlot, Slot, unpriced

T = TypeVar("T")
# Turns of the loop after which nobody has anything left to do.
_IDLE_TURNS = 25


class FakeTime:
    """Sleepers wake in order, as soon as everybody sleeps."""

    def __init__(self) -> None:
        self.now = 0.0
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []
        self._count = 0

    def clock(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self._count += 1
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (self.now + seconds, self._count, future))
        await future

    async def drive(self, work: Awaitable[T]) -> T:
        """The result of `work`, with time passing as fast as it can."""
        task = asyncio.ensure_future(work)
        while not task.done():
            for _ in range(_IDLE_TURNS):
                await asyncio.sleep(0)
            if not task.done() and self._sleepers:
                at, _, future = heapq.heappop(self._sleepers)
                if not future.done():
                    self.now = max(self.now, at)
                    future.set_result(None)
            elif not task.done():
                # Somebody waits for real time: the journal's thread.
                await asyncio.sleep(0.001)
        return task.result()

    def run(self, work: Callable[[], Awaitable[T]]) -> T:
        async def main() -> T:
            return await self.drive(work())

        return asyncio.run(main())


Script = Callable[[Call, int], str | Exception]


@dataclass
class ScriptedJudge:
    """Answers by script: the call and how often that request came before decide between a text and an error."""

    script: Script
    time: FakeTime
    name: str = "model"
    endpoint: str = "http://stub"
    fingerprint: str = "f"
    latency_seconds: float = 1.0
    usage: Usage = field(default_factory=lambda: Usage(100, 10))
    calls: list[Call] = field(default_factory=list)
    in_flight: int = 0
    most_in_flight: int = 0
    times: Counter[tuple[str, int, int]] = field(default_factory=Counter)

    @property
    def description(self) -> Mapping[str, Any]:
        return {"model": "stub-1"}

    async def call(self, call: Call) -> Answer:
        self.calls.append(call)
        identity = (call.sample_key, call.take, call.ask)
        self.times[identity] += 1
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            await self.time.sleep(self.latency_seconds)
        finally:
            self.in_flight -= 1
        said = self.script(call, self.times[identity])
        if isinstance(said, Exception):
            raise said
        return Answer(Reply(said, "whoever"), self.usage, self.latency_seconds, "stop", "id-1", "stub-1-2026")

    async def close(self) -> None:
        pass


@dataclass
class MemoryJournal:
    """Lines in the order of writing; fails when told to."""

    lines: list[bytes] = field(default_factory=list)
    writes: int = 0
    syncs: int = 0
    failure: Exception | None = None
    sync_failure: Exception | None = None

    def write(self, lines: Iterable[bytes]) -> None:
        if self.failure is not None:
            raise self.failure
        self.writes += 1
        self.lines.extend(lines)

    def sync(self) -> None:
        if self.sync_failure is not None:
            raise self.sync_failure
        self.syncs += 1

    def texts(self, kind: str) -> list[str]:
        return [line.decode() for line in self.lines if line.decode().split()[0] == kind]


@dataclass
class CountingProgress:
    """Adds up what it is told."""

    counts: Counter[str] = field(default_factory=Counter)

    def advance(self, counts: Mapping[str, int]) -> None:
        self.counts.update(counts)


class PlainLines:
    """Readable lines."""

    def encode_sample(self, sample: Sample, key: str) -> bytes:
        return f"sample {sample.id}".encode()

    def encode_reply(self, key: str, reply: Reply) -> bytes:
        take, ask, cached = (reply.details.get(name) for name in ("take", "ask", "cached"))
        return f"reply {reply.judge} {take}/{ask} {reply.text} cached={cached}".encode()

    def encode_outcome(
        self, sample: Sample, key: str, judge: str, outcome: Outcome, repeat: int, lost: LostRequests = NOTHING_LOST
    ) -> bytes:
        told = f"lost={lost.tries} " if lost.tries else ""
        bill = f"bill={lost.input_tokens}/{lost.output_tokens}/{lost.cost_usd:g} " if any(lost[1:]) else ""
        return f"outcome {sample.id} {judge} {repeat} {told}{bill}{status_of(outcome)}".encode()


class PromptingProtocol(StubProtocol):
    """A prompt of two messages."""

    def messages(self, sample: Sample, nonces: Nonces) -> tuple[Message, ...]:
        return (Message("system", "Judge."), Message("user", f"{nonces.sample} {sample.response}"))


@dataclass
class Court:
    """Everything a live run needs, with defaults that a test changes where it matters."""

    time: FakeTime = field(default_factory=FakeTime)
    journal: MemoryJournal = field(default_factory=MemoryJournal)
    progress: CountingProgress = field(default_factory=CountingProgress)
    policy: RetryPolicy = field(default_factory=RetryPolicy)
    cache: ReplyCache = field(default_factory=NoCache)
    budget: Budget = field(default_factory=Budget)
    told: list[str] = field(default_factory=list)
    cascade: bool = False
    pending_samples: int = 8
    maximum: int = 4
    should_stop: Callable[[], bool] = lambda: False
    protocol: JudgeProtocol = field(default_factory=PromptingProtocol)

    def endpoint(self, name: str = "http://stub") -> Endpoint:
        around = Environment(self.time.clock, self.time.sleep, lambda: 0.0, self.told.append)
        return Endpoint(name, AdaptiveLimit(self.maximum), self.policy, around)

    def slot(self, judge: ScriptedJudge, endpoint: Endpoint | None = None, **more: Any) -> LiveSlot:
        chosen = endpoint or self.endpoint(judge.endpoint)
        keys = RequestKeys("p", judge.fingerprint, "n")
        return LiveSlot(judge, chosen, keys, **{"price": unpriced, **more})

    def judge(self, samples: Sequence[PendingSample], *slots: Slot) -> RunEnd:
        """To the end, whatever that is."""

        async def work() -> RunEnd:
            commits = GroupCommit(self.journal, self.progress, gather_seconds=0.0)
            context = CallContext(
                self.protocol, PlainLines(), commits, self.cache, self.budget, lambda *_: Nonces("question", "nonce")
            )
            run = LiveRun(context, slots, self.cascade, self.pending_samples, 1.0, self.progress, self.should_stop)
            return await run.judge(LiveBatch(samples[start : start + 5]) for start in range(0, len(samples), 5))

        return self.time.run(work)

    def statuses(self) -> Counter[str]:
        return Counter(line.split()[-1] for line in self.journal.texts("outcome"))


def pending(*ids: str, **more: Any) -> list[PendingSample]:
    return [
        PendingSample(sample, sample.key(), **more)
        for sample in (Sample(name, f"response {name}", ground_truth="x") for name in ids)
    ]


VALID = Status.VALID.value
INVALID = Status.INVALID.value
MISSING = Status.MISSING.value

"""Many samples before judges that have to be waited for: a bounded number at hand, nothing lost, a clean end."""

import asyncio
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, TypeVar, assert_never

from mixseek.domain.calls import NOTHING_LOST, ReplyKey
from mixseek.domain.judgments import Missing, Outcome, Reply, Status, status_of
from mixseek.domain.ports import ProgressSink
from mixseek.engine.call import (
    CallContext,
    Ending,
    LiveSlot,
    NothingUsableError,
    OfflineSlot,
    PendingSample,
    RunEnd,
    Slot,
    ask_repeat,
    unwritten_sample_lines,
)
from mixseek.engine.limits import BudgetSpentError, EndpointDownError, HaltedError
from mixseek.engine.offline import ask
from mixseek.errors import MixseekError

T = TypeVar("T")
# These let what is in flight come home; any other failure ends the run at once.
_ENDINGS = {
    HaltedError: Ending.STOPPED,
    BudgetSpentError: Ending.OUT_OF_BUDGET,
    EndpointDownError: Ending.ENDPOINT_DOWN,
    NothingUsableError: Ending.NOTHING_USABLE,
}
_STOPPING = tuple(_ENDINGS)
# A signal is looked for this often.
_GLANCE_SECONDS = 0.1
# After a stop, calls in flight may take their timeout; a little more for their journaling.
_DRAIN_MARGIN_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class LiveBatch:
    """Samples to be judged, and how many needed nothing."""

    samples: Sequence[PendingSample]
    skipped: int = 0


@dataclass(frozen=True, slots=True)
class LiveAssignment:
    """Who judges and how; `pending_samples` bounds memory and keeps every endpoint busy."""

    context: CallContext
    slots: tuple[Slot, ...]
    cascade: bool
    pending_samples: int
    drain_seconds: float


async def judge_many_live(
    batches: Iterable[LiveBatch],
    assignment: LiveAssignment,
    progress: ProgressSink,
    stop: Callable[[], bool],
) -> RunEnd:
    """Judge until the batches end, or something says stop; what was begun is finished and journaled either way.

    Raises PermanentJudgeError at once when an endpoint refuses everything, StorageError when the disk does.
    """
    return await _Run(iter(batches), assignment, progress, stop).judge()


class _Run:
    """The state of one run: its workers share a queue that is filled batch by batch."""

    def __init__(
        self, batches: Iterator[LiveBatch], assignment: LiveAssignment, progress: ProgressSink, stop: Callable[[], bool]
    ) -> None:
        self._batches = batches
        self._assignment = assignment
        self._context = assignment.context
        self._progress = progress
        self._stop = stop
        self._queue: deque[PendingSample] = deque()
        self._has_ended = False
        self._end = RunEnd(Ending.COMPLETE)
        self._is_halted = False
        self._shown_in_flight = 0
        self._endpoints = {slot.endpoint for slot in assignment.slots if isinstance(slot, LiveSlot)}

    async def judge(self) -> RunEnd:
        self._context.commits.start()
        workers = [
            asyncio.create_task(self._work(), name=f"judging-{number}")
            for number in range(self._assignment.pending_samples)
        ]
        try:
            async with self._watching():
                await self._wait_for(workers)
        finally:
            for worker in workers:
                worker.cancel()
            await asyncio.gather(*workers, return_exceptions=True)
            await self._context.commits.close()
        if self._end.ending is Ending.OUT_OF_BUDGET and self._context.budget.is_money_spent:
            # What was in flight when it ended is on the bill by now.
            return RunEnd(Ending.OUT_OF_BUDGET, self._context.budget.describe_spent())
        return self._end

    async def _wait_for(self, workers: list[asyncio.Task[None]]) -> None:
        """Until all are done; the first one that fails ends it for everybody, a halt only hurries them."""
        waiting: set[asyncio.Task[None]] = set(workers)
        deadline: float | None = None
        clock = asyncio.get_running_loop().time
        while waiting:
            if self._is_halted and deadline is None:
                deadline = clock() + self._assignment.drain_seconds + _DRAIN_MARGIN_SECONDS
            done, waiting = await asyncio.wait(waiting, timeout=1.0, return_when=asyncio.FIRST_EXCEPTION)
            for worker in done:
                worker.result()
            if deadline is not None and clock() > deadline:
                return

    @asynccontextmanager
    async def _watching(self) -> AsyncIterator[None]:
        async def watch() -> None:
            while True:
                await asyncio.sleep(_GLANCE_SECONDS)
                self._show_in_flight()
                if self._stop():
                    self._halt(Ending.STOPPED, None)

        watcher = asyncio.create_task(watch(), name="watch")
        try:
            yield
        finally:
            watcher.cancel()
            await asyncio.gather(watcher, return_exceptions=True)

    def _show_in_flight(self) -> None:
        """As a difference, so that whoever adds up has the present number."""
        now = sum(endpoint.in_flight for endpoint in self._endpoints)
        self._progress.advance({"in_flight": now - self._shown_in_flight})
        self._shown_in_flight = now

    def _halt(self, ending: Ending, reason: str | None) -> None:
        if self._is_halted:
            return
        self._is_halted = True
        self._end = RunEnd(ending, reason)
        for endpoint in self._endpoints:
            endpoint.halt()

    async def _work(self) -> None:
        while not self._is_halted:
            await self._context.commits.make_room()
            pending = self._take()
            if pending is None:
                if self._has_ended:
                    return
                # That batch needed nobody.
                await asyncio.sleep(0)
                continue
            kept = self._context.commits.kept
            try:
                # Taken up in the order of the dataset, however replies come: tables keep that order.
                self._context.commits.add(unwritten_sample_lines(self._context, pending))
                await self._judge_sample(pending)
            except _STOPPING as error:
                self._halt(_ENDINGS[type(error)], str(error))
                return
            except Exception as error:
                # It ends the run for everybody: nothing new is asked, and paid for, while that goes round.
                self._halt(Ending.STOPPED, None)
                if not isinstance(error, MixseekError):
                    error.add_note(f"while judging sample {pending.sample.id!r}")
                raise
            finally:
                self._context.written.discard(pending.key)
            if self._context.commits.kept == kept:
                # Samples that never wait (rules, cache) must not keep the others from their sockets.
                await asyncio.sleep(0)

    def _take(self) -> PendingSample | None:
        """The next sample, after reading one batch at most; None where that batch needed nobody."""
        if not self._queue and not self._has_ended:
            if self._stop():
                self._halt(Ending.STOPPED, None)
                return None
            batch = next(self._batches, None)
            if batch is None:
                self._has_ended = True
                return None
            if batch.skipped:
                self._progress.advance({"samples": 0, "skipped": batch.skipped})
            self._queue.extend(batch.samples)
        return self._queue.popleft() if self._queue else None

    async def _judge_sample(self, pending: PendingSample) -> None:
        counts: Counter[str] = Counter()
        slots = self._assignment.slots

        if len(slots) == 1:
            counts.update(await self._ask_slot(slots[0], pending))
        elif self._assignment.cascade:
            for slot in slots:
                statuses = await self._ask_slot(slot, pending)
                if Status.VALID in statuses:
                    break
            counts.update(statuses)
        else:
            for statuses in await all_of([self._ask_slot(slot, pending) for slot in slots]):
                counts.update(statuses)
        counts["samples"] += 1
        self._context.commits.add((), counts)

    async def _ask_slot(self, slot: Slot, pending: PendingSample) -> list[Status]:
        """One status a repeat; those known from before are not asked again, except where nothing had come."""
        if slot.repeats == 1:
            return [await self._ask_once(slot, pending, 1)]
        repeats = range(1, slot.repeats + 1)
        return await all_of([self._ask_once(slot, pending, repeat) for repeat in repeats])

    async def _ask_once(self, slot: Slot, pending: PendingSample, repeat: int) -> Status:
        known = pending.known.get(ReplyKey(slot.name, repeat))
        if known is not None:
            return known
        match slot:
            case OfflineSlot():
                judged = ask(slot.judge, pending.sample, self._context.protocol)
                self._conclude(slot, pending, judged.outcome, repeat, judged.reply)
                return judged.status
            case LiveSlot():
                return status_of(await self._ask_live(slot, pending, repeat))
            case unexpected:
                assert_never(unexpected)

    async def _ask_live(self, slot: LiveSlot, pending: PendingSample, repeat: int) -> Outcome:
        try:
            outcome = await ask_repeat(self._context, slot, pending, repeat)
            if self._is_halted and isinstance(outcome, Missing):
                # Cut short by the stop: it is not known to be missing, and will be asked for again anyway.
                raise HaltedError("stopping")
        except _STOPPING:
            lost = self._context.lost.get((pending.key, ReplyKey(slot.name, repeat)), NOTHING_LOST)
            if any(lost[1:]):
                # It is on the bill: the run's account must not forget it until the sample is asked about again.
                self._conclude(slot, pending, Missing("the run stopped before its reply came"), repeat)
            raise
        self._conclude(slot, pending, outcome, repeat)
        return outcome

    def _conclude(
        self, slot: Slot, pending: PendingSample, outcome: Outcome, repeat: int, reply: Reply | None = None
    ) -> None:
        place = ReplyKey(slot.name, repeat)
        lost = self._context.lost.pop((pending.key, place), NOTHING_LOST)
        lost = lost.plus(pending.lost.get(place, NOTHING_LOST))
        lines = unwritten_sample_lines(self._context, pending)
        if reply is not None:
            lines.append(self._context.encoder.reply(pending.key, reply))
        lines.append(self._context.encoder.outcome(pending.sample, pending.key, slot.name, outcome, repeat, lost))
        self._context.commits.add(lines)


async def all_of(works: Sequence[Coroutine[Any, Any, T]]) -> list[T]:
    """Every result. Where the run is stopping, the others are waited for first: what they began is paid for."""
    if len(works) == 1:
        return [await works[0]]
    tasks = [asyncio.ensure_future(work) for work in works]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
        if all(not task.done() or isinstance(task.exception(), _STOPPING) or not task.exception() for task in tasks):
            await asyncio.wait(tasks)
    finally:
        for task in tasks:
            task.cancel()
        results = await asyncio.gather(*tasks, return_exceptions=True)
    failures = [result for result in results if isinstance(result, BaseException)]
    if failures:
        # A failure that ends the run at once comes before one that lets it drain.
        raise min(failures, key=lambda failure: isinstance(failure, (*_STOPPING, asyncio.CancelledError)))
    return [result for result in results if not isinstance(result, BaseException)]

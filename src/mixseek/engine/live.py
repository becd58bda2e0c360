"""Many samples before judges that have to be waited for: a bounded number at hand, nothing lost, a clean end."""

import asyncio
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from mixseek.domain.judgments import Missing, Outcome, Status, status_of
from mixseek.domain.ports import ProgressSink
from mixseek.engine.call import (
    Desk,
    Ending,
    LiveSeat,
    NothingUsableError,
    OfflineSeat,
    RunEnd,
    SampleAtHand,
    Seat,
    ask_take,
    introduce,
)
from mixseek.engine.limits import BudgetSpentError, EndpointDownError, HaltedError
from mixseek.engine.offline import ask
from mixseek.errors import MixseekError

T = TypeVar("T")
# These let what is in flight come home; any other failure ends the run at once.
_STOPPING = (HaltedError, BudgetSpentError, EndpointDownError, NothingUsableError)
# A signal is looked for this often.
_GLANCE_SECONDS = 0.1
# After a stop, calls in flight may take their timeout; a little more for their journaling.
_DRAIN_MARGIN_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class LiveBatch:
    """Samples to be judged, and how many needed nothing."""

    samples: Sequence[SampleAtHand]
    skipped: int = 0


@dataclass(frozen=True, slots=True)
class LiveAssignment:
    """Who judges and how; `samples_at_hand` bounds memory and keeps every endpoint busy."""

    desk: Desk
    seats: tuple[Seat, ...]
    cascade: bool
    samples_at_hand: int
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
        self._desk = assignment.desk
        self._progress = progress
        self._stop = stop
        self._queue: deque[SampleAtHand] = deque()
        self._has_ended = False
        self._end = RunEnd(Ending.COMPLETE)
        self._is_halted = False
        self._shown_in_flight = 0
        self._endpoints = {seat.endpoint for seat in assignment.seats if isinstance(seat, LiveSeat)}

    async def judge(self) -> RunEnd:
        self._desk.commits.start()
        workers = [
            asyncio.create_task(self._work(), name=f"judging-{number}")
            for number in range(self._assignment.samples_at_hand)
        ]
        try:
            async with self._watching():
                await self._wait_for(workers)
        finally:
            for worker in workers:
                worker.cancel()
            await asyncio.gather(*workers, return_exceptions=True)
            await self._desk.commits.close()
        if self._end.ending is Ending.OUT_OF_BUDGET and self._desk.budget.is_money_spent:
            # What was in flight when it ended is on the bill by now.
            return RunEnd(Ending.OUT_OF_BUDGET, self._desk.budget.describe_spent())
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
            await self._desk.commits.make_room()
            at_hand = self._take()
            if at_hand is None:
                if self._has_ended:
                    return
                # That batch needed nobody.
                await asyncio.sleep(0)
                continue
            kept = self._desk.commits.kept
            try:
                # Taken up in the order of the dataset, however replies come: tables keep that order.
                self._desk.commits.add(introduce(self._desk, at_hand))
                await self._judge_sample(at_hand)
            except HaltedError:
                return
            except BudgetSpentError as error:
                self._halt(Ending.OUT_OF_BUDGET, str(error))
                return
            except EndpointDownError as error:
                self._halt(Ending.ENDPOINT_DOWN, str(error))
                return
            except NothingUsableError as error:
                self._halt(Ending.NOTHING_USABLE, str(error))
                return
            except Exception as error:
                # It ends the run for everybody: nothing new is asked, and paid for, while that goes round.
                self._halt(Ending.STOPPED, None)
                if not isinstance(error, MixseekError):
                    error.add_note(f"while judging sample {at_hand.sample.id!r}")
                raise
            finally:
                self._desk.written.discard(at_hand.key)
            if self._desk.commits.kept == kept:
                # Samples that never wait (rules, cache) must not keep the others from their sockets.
                await asyncio.sleep(0)

    def _take(self) -> SampleAtHand | None:
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

    async def _judge_sample(self, at_hand: SampleAtHand) -> None:
        counts: Counter[str] = Counter()
        seats = self._assignment.seats

        if len(seats) == 1:
            counts.update(await self._ask_seat(seats[0], at_hand))
        elif self._assignment.cascade:
            for seat in seats:
                statuses = await self._ask_seat(seat, at_hand)
                if Status.VALID in statuses:
                    break
            counts.update(statuses)
        else:
            for statuses in await all_of([self._ask_seat(seat, at_hand) for seat in seats]):
                counts.update(statuses)
        counts["samples"] += 1
        self._desk.commits.add((), counts)

    async def _ask_seat(self, seat: Seat, at_hand: SampleAtHand) -> list[Status]:
        """One status a take; those known from before are not asked again, except where nothing had come."""
        match seat:
            case OfflineSeat():
                known = at_hand.known.get((seat.name, 1))
                return [known if known is not None else self._ask_offline(seat, at_hand)]
            case LiveSeat():
                if seat.takes == 1:
                    return [await self._ask_live(seat, at_hand, 1)]
                takes = range(1, seat.takes + 1)
                return await all_of([self._ask_live(seat, at_hand, take) for take in takes])

    def _ask_offline(self, seat: OfflineSeat, at_hand: SampleAtHand) -> Status:
        judged = ask(seat.judge, at_hand.sample, self._desk.protocol)
        lines = introduce(self._desk, at_hand)
        if judged.reply is not None:
            lines.append(self._desk.encoder.reply(at_hand.key, judged.reply))
        self._conclude(seat, at_hand, judged.outcome, 1, lines)
        return judged.status

    async def _ask_live(self, seat: LiveSeat, at_hand: SampleAtHand, take: int) -> Status:
        known = at_hand.known.get((seat.name, take))
        if known is not None:
            return known
        outcome = await ask_take(self._desk, seat, at_hand, take)
        if self._is_halted and isinstance(outcome, Missing):
            # Cut short by the stop: it is not known to be missing, and will be asked for again anyway.
            raise HaltedError("stopping")
        self._conclude(seat, at_hand, outcome, take, introduce(self._desk, at_hand))
        return status_of(outcome)

    def _conclude(self, seat: Seat, at_hand: SampleAtHand, outcome: Outcome, take: int, lines: list[bytes]) -> None:
        lost = self._desk.lost_tries.pop((at_hand.key, seat.name, take), 0)
        lost += at_hand.lost_tries.get((seat.name, take), 0)
        lines.append(self._desk.encoder.outcome(at_hand.sample, at_hand.key, seat.name, outcome, take, lost))
        self._desk.commits.add(lines)


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

"""Many samples before judges that have to be waited for: a bounded number at hand, nothing lost, a clean end."""

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Sequence

from mixseek.domain.judgments import Missing, Outcome, Reply, Status, status_of
from mixseek.domain.ports import NOTHING_LOST, ProgressSink, ReplyKey
from mixseek.domain.routing import Route, RouteTier
from mixseek.engine.call import CallContext, PendingSample, ask_repeat, conclude, unwritten_sample_lines
from mixseek.engine.desk import AwaitedError
from mixseek.engine.endings import ENDINGS, STOPPING, Ending, RunEnd, all_of
from mixseek.engine.endpoint import HaltedError
from mixseek.engine.offline import ask
from mixseek.engine.slots import LiveSlot, Slot
from mixseek.errors import MixseekError, PermanentJudgeError
from mixseek.lazy_dataclass import dataclass

# A signal is looked for this often.
_GLANCE_SECONDS = 0.1
# After a stop, calls in flight may take their timeout; a little more for their journaling.
_DRAIN_MARGIN_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class LiveBatch:
    """Samples to be judged, and how many needed nothing."""

    samples: Sequence[PendingSample]
    skipped: int = 0


@dataclass
class LiveRun:
    """Who judges and how; `pending_samples` bounds memory and keeps every endpoint busy."""

    context: CallContext
    slots: tuple[Slot, ...]
    cascade: bool
    pending_samples: int
    drain_seconds: float
    progress: ProgressSink
    stop: Callable[[], bool]
    # Where a verdict counts only if its judge is sure enough of it: who is asked after whom.
    route: Route | None = None

    def __post_init__(self) -> None:
        self._queue: deque[PendingSample] = deque()
        self._has_ended = self._is_halted = False
        self._end = RunEnd(Ending.COMPLETE)
        self._shown_in_flight = 0
        self._awaits = False
        self._endpoints = {slot.endpoint for slot in self.slots if isinstance(slot, LiveSlot)}

    async def judge(self, batches: Iterable[LiveBatch]) -> RunEnd:
        """Until the batches end, or something says stop; what was begun is journaled. Raises what ends it at once."""
        self._batches = iter(batches)
        self.context.commits.start()
        workers = [
            asyncio.create_task(self._work(), name=f"judging-{number}") for number in range(self.pending_samples)
        ]
        everybody = asyncio.gather(*workers)
        try:
            await self._wait_for(everybody)
        finally:
            for worker in workers:
                worker.cancel()
            await asyncio.gather(everybody, *workers, return_exceptions=True)
            await self.context.commits.close()
        if self._end.ending is Ending.OUT_OF_BUDGET and self.context.budget.is_money_spent:
            # What was in flight when it ended is on the bill by now.
            return RunEnd(Ending.OUT_OF_BUDGET, self.context.budget.describe_spent())
        if self._awaits and self._end.ending is Ending.COMPLETE:
            return RunEnd(Ending.AWAITED)
        return self._end

    async def _wait_for(self, everybody: "asyncio.Future[list[None]]") -> None:
        """Until all are done; the first one that fails ends it for everybody, a halt only hurries them."""
        clock = asyncio.get_running_loop().time
        deadline = float("inf")
        while clock() <= deadline:
            done, _ = await asyncio.wait((everybody,), timeout=_GLANCE_SECONDS)
            if done:
                everybody.result()
                return
            self._show_in_flight()
            if self.stop():
                self._halt(Ending.STOPPED, None)
            if self._is_halted:
                deadline = min(deadline, clock() + self.drain_seconds + _DRAIN_MARGIN_SECONDS)

    def _show_in_flight(self) -> None:
        """The number is shown as a difference, so that whoever adds up has the present number."""
        now = sum(endpoint.in_flight for endpoint in self._endpoints)
        self.progress.advance({"in_flight": now - self._shown_in_flight})
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
            await self.context.commits.make_room()
            if self.stop():
                # Not only at the next glance: a dozen quick replies come in less time than that.
                self._halt(Ending.STOPPED, None)
                return
            pending = self._take()
            if pending is None:
                if self._has_ended:
                    return
                # That batch needed nobody.
                await asyncio.sleep(0)
                continue
            kept = self.context.commits.kept
            try:
                # Taken up in the order of the dataset, however replies come: tables keep that order.
                self.context.commits.add(unwritten_sample_lines(self.context, pending))
                await self._judge_sample(pending)
            except STOPPING as error:
                self._halt(ENDINGS[type(error)], str(error))
                return
            except Exception as error:
                # It ends the run for everybody: nothing new is asked, and paid for, while that goes round.
                self._halt(Ending.STOPPED, None)
                if not isinstance(error, MixseekError):
                    error.add_note(f"while judging sample {pending.sample.id!r}")
                raise
            finally:
                self.context.written.discard(pending.key)
            if self.context.commits.kept == kept:
                # Samples that never wait (rules, cache) must not keep the others from their sockets.
                await asyncio.sleep(0)

    def _take(self) -> PendingSample | None:
        """The next sample, after reading one batch at most; None where that batch needed nobody."""
        if not self._queue and not self._has_ended:
            batch = next(self._batches, None)
            if batch is None:
                self._has_ended = True
                return None
            if batch.skipped:
                self.progress.advance({"samples": 0, "skipped": batch.skipped})
            self._queue.extend(batch.samples)
        return self._queue.popleft() if self._queue else None

    async def _judge_sample(self, pending: PendingSample) -> None:
        if self.route is not None:
            answered = [[await self._follow(self.route, pending)]]
        elif self.cascade:
            for slot in self.slots:
                statuses = await self._ask_slot(slot, pending)
                if Status.VALID in statuses or None in statuses:
                    # Whom to ask next is known when the batch has come.
                    break
            answered = [statuses]
        else:
            if len(self.slots) == 1:
                # The usual case: every frame between a sample and its socket is gone through once more at each reply.
                answered = [await self._ask_slot(self.slots[0], pending)]
            else:
                answered = await all_of([self._ask_slot(slot, pending) for slot in self.slots])
        if any(None in statuses for statuses in answered):
            # Counted as a whole, when all of it is here.
            self._awaits = True
            return
        counts: dict[str, int] = {"samples": 1}
        for statuses in answered:
            for status in filter(None, statuses):
                counts[status] = counts.get(status, 0) + 1
        self.context.commits.add((), counts)

    async def _ask_slot(self, slot: Slot, pending: PendingSample) -> list[Status | None]:
        """One status a repeat, None for what a batch will bring.

        Those known from before are not asked again, except where nothing had come.
        """
        if slot.repeats == 1:
            return [await self._ask_once(slot, pending, 1)]
        return await all_of([self._ask_once(slot, pending, repeat) for repeat in range(1, slot.repeats + 1)])

    async def _ask_once(self, slot: Slot, pending: PendingSample, repeat: int) -> Status | None:
        place = ReplyKey(slot.name, repeat)
        if place in pending.known:
            return pending.known[place]
        if isinstance(slot, LiveSlot):
            try:
                return status_of(await self._ask_live(slot, pending, place))
            except AwaitedError:
                return None
        judged = ask(slot.judge, pending.sample, self.context.protocol)
        conclude(self.context, pending, place, judged.outcome, judged.replies)
        return judged.status

    async def _follow(self, route: Route, pending: PendingSample) -> Status | None:
        """Tier after tier until one decides; how the sample ended, and None for what a batch will bring."""
        heard = dict(pending.heard)
        status: Status | None = None
        for number, tier in enumerate(route.tiers):
            replies = await self._hear(tier, pending, heard)
            if replies is None:
                return None
            settled = route.settle(number, heard)
            for place, outcome in settled.items():
                # What was handed on may count by now: whoever is beside it was asked once more, and agrees.
                if pending.known.get(place) is not status_of(outcome) or place.judge == tier.joined:
                    conclude(self.context, pending, place, outcome, replies.get(place, ()))
            heard.update(settled)
            statuses = [status_of(outcome) for outcome in settled.values()]
            if Status.VALID in statuses:
                return Status.VALID
            # What an earlier process found to be no verdict is not settled again.
            status = statuses[-1] if statuses else pending.known.get(ReplyKey(tier.judges[-1]), status)
        return status

    async def _hear(
        self, tier: RouteTier, pending: PendingSample, heard: dict[ReplyKey, Outcome]
    ) -> dict[ReplyKey, Sequence[Reply]] | None:
        """Everybody in the tier, into `heard`; gives replies that are not journaled yet. None: a batch brings some."""
        slots = [slot for slot in self.slots if slot.name in tier.judges]
        places = [(slot, ReplyKey(slot.name, repeat)) for slot in slots for repeat in range(1, slot.repeats + 1)]
        # What was decided by an earlier process, and is no verdict, changes nothing by being heard again.
        asked = [(slot, place) for slot, place in places if place not in heard and place not in pending.known]
        answers = await all_of([self._answer(slot, pending, place) for slot, place in asked]) if asked else []
        replies: dict[ReplyKey, Sequence[Reply]] = {}
        for (_, place), answer in zip(asked, answers, strict=True):
            if answer is None:
                return None
            heard[place], replies[place] = answer
        return replies

    async def _answer(
        self, slot: Slot, pending: PendingSample, place: ReplyKey
    ) -> tuple[Outcome, Sequence[Reply]] | None:
        """One answer that is not concluded yet, with its replies where they are not journaled."""
        if isinstance(slot, LiveSlot):
            try:
                return await self._reach(slot, pending, place), ()
            except AwaitedError:
                return None
        judged = ask(slot.judge, pending.sample, self.context.protocol)
        return judged.outcome, judged.replies

    async def _ask_live(self, slot: LiveSlot, pending: PendingSample, place: ReplyKey) -> Outcome:
        outcome = await self._reach(slot, pending, place)
        conclude(self.context, pending, place, outcome)
        return outcome

    async def _reach(self, slot: LiveSlot, pending: PendingSample, place: ReplyKey) -> Outcome:
        try:
            outcome = await ask_repeat(self.context, slot, pending, place.repeat)
            if self._is_halted and isinstance(outcome, Missing):
                # Cut short by the stop: it is not known to be missing, and will be asked for again anyway.
                raise HaltedError("stopping")
        except STOPPING:
            if any(self.context.lost.get((pending.key, place), NOTHING_LOST)[1:]):
                # It is on the bill: the run's account must not forget it until the sample is asked about again.
                conclude(self.context, pending, place, Missing("the run stopped before its reply came"))
            raise
        except PermanentJudgeError:
            # It ends the run for everybody. Replies that are here already are read first: nobody may come for them.
            self._halt(Ending.STOPPED, None)
            await self.context.commits.settle()
            raise
        return outcome

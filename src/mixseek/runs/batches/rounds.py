"""A run whose requests wait in batches: look, collect, leave what is asked next, and the same again."""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, replace

from mixseek.domain.ports import ProgressSink
from mixseek.domain.samples import Sample
from mixseek.engine.call import CallContext
from mixseek.engine.endings import Ending, RunEnd
from mixseek.engine.slots import LiveSlot, Slot
from mixseek.judges.batches.registry import batch_judge
from mixseek.lazy_dataclass import dataclass
from mixseek.runs.batches.check import share_of_price
from mixseek.runs.batches.desk import BatchDesk
from mixseek.runs.batches.handling import BatchHandler, ids_taken
from mixseek.runs.live import AskedBefore, Asking, Earlier, judge_rounds, live_batches, live_slots
from mixseek.runs.requests.request import BatchOptions, Plan
from mixseek.storage.batch_ledger import BatchEntry, BatchLedger, Stage, read_ledger
from mixseek.storage.durable import remove_abandoned
from mixseek.storage.journal.journal import JournalFile
from mixseek.storage.journal.recall import recall_journal
from mixseek.storage.workspace import Workspace
from mixseek.text.phrases import plural

# Looks at batches grow rarer, to so many times the first pause.
_SLOWER, _SLOWEST = 1.5, 10.0
# Nobody is waited for: so many samples share each wait for the disk.
_AT_HAND = 1_024
# A batch that was asked for a moment ago may come into its provider's list a moment later.
_SETTLE_SECONDS = 10.0
# A signal is looked for this often.
_GLANCE_SECONDS = 0.2


@dataclass
class _Shown:
    """Progress over several passes: what an earlier pass has counted as done before is not counted again."""

    progress: ProgressSink
    is_first: bool = True

    def advance(self, counts: Mapping[str, int]) -> None:
        kept = counts if self.is_first else {name: count for name, count in counts.items() if name != "skipped"}
        if kept:
            self.progress.advance(kept)


@dataclass
class BatchRun:
    """One command's work on one run."""

    plan: Plan
    asking: Asking
    journal: JournalFile
    progress: ProgressSink
    stop: Callable[[], bool]
    notify: Callable[[str], None]
    # All rounds, from the first one, each time.
    rounds: Callable[[], Iterator[Iterator[list[Sample]]]]
    # Set when it begins.
    context: CallContext = field(init=False)
    handlers: list[BatchHandler] = field(init=False)

    def judge(self) -> RunEnd:
        """How it came to its end, or that a later command has to wait for batches."""
        remove_abandoned(self.plan.run.batch_files)
        self._shown = _Shown(self.progress)
        self._asked_before = AskedBefore()
        concluded = self.asking.make_context(self.journal, self._shown)
        self.context = replace(concluded, concluded=set())
        return asyncio.run(self._judge())

    async def _judge(self) -> RunEnd:
        self.handlers = []
        ledger = BatchLedger(self.plan.run.batches)
        slots = tuple(self._with_desk(slot, ledger) for slot in self.asking.slots)
        asking = replace(self.asking, slots=slots)
        try:
            for handler in self.handlers:
                handler.begin()
            return await self._until_the_end(asking)
        finally:
            for handler in self.handlers:
                await handler.close()
            for slot in live_slots(slots):
                await slot.judge.close()

    def _with_desk(self, slot: Slot, ledger: BatchLedger) -> Slot:
        if not isinstance(slot, LiveSlot):
            return slot
        judge = next((judge for judge in self.plan.batched_judges if judge.name == slot.name), None)
        if judge is None:
            return slot
        request = self.plan.request
        options, settings = request.live.batches, self.asking.panel.settings_of(judge)
        desk = BatchDesk(
            batch_judge(judge, options.files),
            slot.name,
            self.plan.run.batch_files,
            self.context.budget,
            slot.price,
            share_of_price(settings, has_files=options.files is not None),
            asks_rest_live=options.asks_rest_live,
        )
        handler = BatchHandler(
            self.plan.run,
            desk,
            ledger,
            secret=self.asking.key,
            others=lambda: known_ids(self.plan.workspace),
            notify=self.notify,
            most_tokens=settings.batch_tokens,
            most_requests=settings.batch_requests,
        )
        self.handlers.append(handler)
        return replace(slot, desk=desk)

    async def _until_the_end(self, asking: Asking) -> RunEnd:
        options, is_over, pause = self.plan.request.live.batches, True, self.plan.request.live.batches.poll_seconds
        end = RunEnd(Ending.AWAITED)
        while True:
            is_over |= await self._look(options)
            if is_over:
                end = await self._pass(asking)
                pause = options.poll_seconds
            if end.ending is not Ending.AWAITED:
                return end
            await self._submit()
            waiting = self._waiting()
            if not waiting and not any(handler.waiting for handler in self.handlers):
                reasons = [handler.spent for handler in self.handlers if handler.spent]
                return RunEnd(Ending.OUT_OF_BUDGET, reasons[0]) if reasons else end
            if self.stop():
                return RunEnd(Ending.STOPPED)
            if not options.waits or self._is_for_a_person(waiting):
                return RunEnd(Ending.AWAITED, self._describe(waiting))
            self.notify(self._describe(waiting, pause))
            if not await self._rest(pause):
                return RunEnd(Ending.STOPPED)
            # Requests that no batch has taken yet are tried again, and others have come when one is over.
            pause, is_over = min(pause * _SLOWER, options.poll_seconds * _SLOWEST), False

    async def _look(self, options: BatchOptions) -> bool:
        """Whether any batch is over; a batch that a crash left in doubt is looked for twice."""
        is_over = False
        for handler in self.handlers:
            is_over |= await handler.look()
        if any(handler.is_unsure for handler in self.handlers):
            if not await self._rest(min(options.poll_seconds, _SETTLE_SECONDS)):
                return is_over
            for handler in self.handlers:
                is_over |= await handler.look()
        return is_over

    async def _pass(self, asking: Asking) -> RunEnd:
        """Once through the samples: what has come is read, what is asked next is left at the desks."""
        plan = self.plan
        for slot in live_slots(asking.slots):
            slot.endpoint.reopen()
        for handler in self.handlers:
            handler.begin_pass()
        assert self.context.concluded is not None
        before = recall_journal(self.journal.path, plan.judge_names, plan.repeats)
        earlier = Earlier(before, self.journal.path, plan.request.live, self.context.concluded, self._asked_before)
        shown = plan.protocol.presentations
        rounds = (
            asking.judge_round(
                self.context,
                live_batches(samples, asking.slots, asking.cascade, earlier, asking.cache, shown),
                self.journal,
                self._shown,
                self.stop,
                at_hand=_AT_HAND,
            )
            for samples in self.rounds()
        )
        end = await judge_rounds(rounds)
        self._shown.is_first = self._asked_before.is_first_pass = False
        if end.ending in (Ending.COMPLETE, Ending.AWAITED):
            for handler in self.handlers:
                handler.mark_collected(is_all_done=end.ending is Ending.COMPLETE)
        return end

    async def _submit(self) -> None:
        for handler in self.handlers:
            await handler.submit()

    def _waiting(self) -> list[BatchEntry]:
        return [entry for handler in self.handlers for entry in handler.under_way]

    def _is_for_a_person(self, waiting: Sequence[BatchEntry]) -> bool:
        """Whether there is nothing that time could bring."""
        is_left = any(handler.waiting for handler in self.handlers)
        return bool(waiting) and not is_left and all(entry.stage is Stage.ORPHANED for entry in waiting)

    def _describe(self, waiting: Sequence[BatchEntry], pause: float | None = None) -> str:
        requests = sum(len(entry.intent.requests) for entry in waiting)
        words = f"{plural(requests, 'request')} in {plural(len(waiting), 'batch', 'batches')} under way"
        states = sorted({f"{entry.name} {entry.state or entry.stage.value}" for entry in waiting})
        if len(states) <= 3:
            words += f" ({', '.join(states)})"
        left = sum(handler.waiting for handler in self.handlers)
        if left:
            words += f"; {plural(left, 'request waits', 'requests wait')} for room in the provider's queue"
        if orphans := [entry for entry in waiting if entry.stage is Stage.ORPHANED]:
            return f"{words}; of {orphans[0].name} nobody knows whether it was submitted: see `mixseek batches`"
        if spent := next((handler.spent for handler in self.handlers if handler.spent), None):
            words += f"; nothing more is submitted ({spent})"
        if pause is not None:
            return f"{words}; looked at again in {pause:.0f} s"
        return f"{words}; run the same command again to collect"

    async def _rest(self, seconds: float) -> bool:
        """False where somebody says stop meanwhile."""
        clock = asyncio.get_running_loop().time
        until = clock() + seconds
        while (left := until - clock()) > 0:
            if self.stop():
                return False
            await asyncio.sleep(min(left, _GLANCE_SECONDS))
        return True


def known_ids(workspace: Workspace) -> set[str]:
    """Every batch that is known to be some run's of the workspace."""
    runs = [*workspace.runs(), *workspace.answer_runs()]
    return {name for run in runs for name in ids_taken(read_ledger(run.batches))}

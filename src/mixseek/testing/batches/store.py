"""The batches of the loopback provider, from creation to results; in memory, whatever becomes of the clients."""

import asyncio
import dataclasses
import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from mixseek.testing.batches.faults import BatchFault, FaultPlan, Moment
from mixseek.testing.batches.files import FileStore
from mixseek.testing.batches.jobs import (
    CLOCK_AHEAD_SECONDS,
    Batch,
    BatchError,
    BatchOptions,
    BatchRequest,
    Draft,
    Ending,
)
from mixseek.testing.batches.outcomes import Refusal, Wire
from mixseek.testing.batches.settlement import Settlement, content_digest
from mixseek.testing.ledger import Ledger, SubmittedRequest
from mixseek.testing.mock_replies import MockReply
from mixseek.testing.prompts import Prompt, digest_of

# A batch that failed holds the queue for as long as it would have taken, and at least for so long.
_SHORTEST_HOLD_SECONDS = 1.0
# Of a batch's details, what its sender wrote on it.
LABELS = ("metadata", "display_name")
_QUEUE_FULL = "token_limit_exceeded"
_TOO_MANY_REQUESTS = "too_many_requests_in_batch"
_FAILED = BatchError("server_error", "The batch could not be validated. Please try again.")


class Creation(NamedTuple):
    """A batch that was created, and what goes wrong with telling the client so."""

    batch: Batch
    fault: BatchFault | None


class BatchStore:
    """`clock` says seconds since 1970; nothing here happens by itself: what is due is done at the next look."""

    def __init__(
        self,
        options: BatchOptions,
        seed: int,
        ledger: Ledger,
        reply: Callable[[Prompt], MockReply | Refusal],
        clock: Callable[[], float],
    ) -> None:
        self.options = options
        self.clock = clock
        self.ledger = ledger
        self.files = FileStore(seed, clock)
        self.plan = FaultPlan(seed, options.fault_rate, options.faults, ledger)
        self._seed = seed
        self._settlement = Settlement(self.files, self.plan, ledger, reply)
        self._wires: dict[str, Wire] = {}
        self._batches: dict[str, Batch] = {}
        # Ids are counted, so that they are the same in every run.
        self._number = 0
        # By wire: until when failed batches hold how many tokens of its queue.
        self._held: dict[str, list[tuple[float, int]]] = {}

    async def create(self, wire: Wire, draft: Draft) -> Creation | Refusal:
        """A batch under way, or why there is none."""
        self._wires[wire.name] = wire
        await self.settle(self._batches.values())
        content = content_digest(wire.name, draft.requests)
        fault = self.plan.draw(Moment.CREATION, content)
        if fault is BatchFault.TOO_MANY or self.is_busy(wire):
            return Refusal(429, "Too many batches are under way for this key.")
        tokens = sum(len(request.body) for request in draft.requests) // 4
        errors = draft.errors or self._beyond_limits(wire, draft, tokens)
        if errors and not wire.fails_late:
            return Refusal(429 if errors[0].code == _QUEUE_FULL else 400, errors[0].message)
        batch = self._add(wire, draft, content, errors, tokens)
        self._plan_fate(wire, batch)
        requests = (SubmittedRequest(request.custom_id, request.digest) for request in batch.requests)
        self.ledger.open_batch(batch.id, wire.name, requests)
        if batch.ending is Ending.GONE:
            self.ledger.close_batch(batch.id, {})
            batch.requests = []
        return Creation(batch, fault)

    def is_busy(self, wire: Wire) -> bool:
        """Whether as many batches are under way as may be."""
        limit = self.options.files_at_once
        return limit is not None and len(self._under_way(wire)) >= limit

    async def find(self, wire: Wire, batch_id: str) -> Batch | None:
        """The batch, with its results where it is due; None for one that nobody has heard of."""
        batch = self._batches.get(batch_id)
        if batch is None or batch.wire != wire.name or batch.ending is Ending.GONE:
            return None
        await self.settle([batch])
        return batch

    def is_gone(self, batch_id: str) -> bool:
        """Whether it was created, and nobody has heard of it since."""
        batch = self._batches.get(batch_id)
        return batch is not None and batch.ending is Ending.GONE

    async def newest(self, wire: Wire) -> list[Batch]:
        """What the list shows: of all keys, the newest first."""
        batches = [batch for batch in reversed(self._batches.values()) if batch.wire == wire.name]
        await self.settle(batches)
        return [batch for batch in batches if batch.ending is not Ending.GONE]

    async def cancel(self, batch: Batch) -> bool:
        """Whether it could still be cancelled; what was answered until now stays."""
        if batch.is_foreign:
            self.ledger.stranger_cancelled(batch.id)
        now = self.clock()
        if now >= batch.ended:
            return False
        batch.cancelled = now
        await self.settle([batch])
        return True

    async def settle_all(self) -> None:
        """Everything that is due by now is done and billed, however long that takes."""
        await self.settle(self._batches.values(), math.inf)

    async def settle(self, batches: Iterable[Batch], longest_wait: float | None = None) -> None:
        """Begins to write the results that are due, and waits for them for a while.

        Whoever looks may leave; the work goes on.
        """
        now, loop = self.clock(), asyncio.get_running_loop()
        due = [batch for batch in batches if batch.results is None and now >= batch.ended]
        for batch in due:
            if batch.settling is None and batch.ending is not Ending.GONE:
                batch.settling = loop.create_task(self._settlement.settle(self._wires[batch.wire], batch))
        tasks = [batch.settling for batch in due if batch.settling is not None]
        if tasks:
            wait = self.options.longest_wait_seconds if longest_wait is None else longest_wait
            done, _ = await asyncio.wait(tasks, timeout=None if math.isinf(wait) else wait)
            for task in done:
                task.result()

    def _under_way(self, wire: Wire) -> list[Batch]:
        now = self.clock()
        return [
            batch
            for batch in self._batches.values()
            if batch.wire == wire.name
            and now < batch.ended
            and not batch.is_foreign
            and batch.ending is not Ending.GONE
        ]

    def _beyond_limits(self, wire: Wire, draft: Draft, tokens: int) -> tuple[BatchError, ...]:
        requests, queue = self.options.request_limit, self.options.queue_tokens
        if requests is not None and len(draft.requests) > requests:
            words = f"This batch has {len(draft.requests)} requests; at most {requests} are allowed."
            return (BatchError(_TOO_MANY_REQUESTS, words),)
        now = self.clock()
        held = [amount for until, amount in self._held.get(wire.name, ()) if now < until]
        enqueued = sum(held) + sum(batch.tokens for batch in self._under_way(wire))
        is_full = bool(held) if queue is None else enqueued + tokens > queue
        limit = f"{enqueued if queue is None else queue:,}"
        words = (
            f"Enqueued token limit reached for {draft.model} in organization org-mock. Limit: {limit} enqueued "
            "tokens. Please try again once some in_progress batches have been completed."
        )
        return (BatchError(_QUEUE_FULL, words),) if is_full else ()

    def _add(self, wire: Wire, draft: Draft, content: bytes, errors: tuple[BatchError, ...], tokens: int) -> Batch:
        self._number += 1
        batch_id = digest_of(str(self._seed), "batch", str(self._number)).hex()[:24]
        created, seconds = self.clock(), self.options.seconds
        batch = Batch(
            batch_id, wire.name, content, draft.model, draft.requests, draft.details, errors, created, seconds, tokens
        )
        self._batches[batch_id] = batch
        return batch

    def _plan_fate(self, wire: Wire, batch: Batch) -> None:
        """Draws what becomes of the batch as a whole, and of the list in which it stands."""
        if not batch.errors:
            batch.fate = self.plan.draw(Moment.FATE, batch.content, (request.digest for request in batch.requests))
        if batch.fate in (BatchFault.FAILED_BATCH, BatchFault.FAILED_HOLDS_QUEUE) and wire.can_fail:
            batch.errors = (_FAILED,)
        if batch.fate is BatchFault.FAILED_HOLDS_QUEUE:
            until = batch.ended + max(self.options.seconds, _SHORTEST_HOLD_SECONDS)
            self._held.setdefault(wire.name, []).append((until, batch.tokens))
        match self.plan.draw(Moment.LISTING, batch.content):
            case BatchFault.CLOCK_AHEAD:
                batch.skew = CLOCK_AHEAD_SECONDS
            case BatchFault.FOREIGN:
                self._add_foreign(wire, batch)

    def _add_foreign(self, wire: Wire, batch: Batch) -> None:
        """Another key's batch of the same size, made at the same moment, beside the client's own."""
        requests = [
            BatchRequest(f"other-{index:06d}", b"", digest_of("other", str(index))) for index in range(batch.total)
        ]
        details = {name: _foreign(value) if name in LABELS else value for name, value in batch.details.items()}
        draft = Draft(batch.model, requests, details)
        stranger = self._add(wire, draft, digest_of("other", batch.content.hex()), (), batch.tokens)
        self._batches[stranger.id] = dataclasses.replace(stranger, is_foreign=True)


def _foreign(value: Any) -> Any:
    """The same shape with other texts: labels of another workspace."""
    if isinstance(value, Mapping):
        return {name: _foreign(inner) for name, inner in value.items()}
    return digest_of("other", value).hex()[: max(1, len(value))] if isinstance(value, str) else value

"""A run whose judges have to be waited for."""

import asyncio
import contextlib
import gc
from collections.abc import Iterator

from mixseek.composition.live_cache import BufferedCache
from mixseek.composition.live_parts import Earlier, LiveParts, live_batches, make_parts, open_cache
from mixseek.composition.requests import Plan
from mixseek.composition.watching import Told
from mixseek.composition.writing import JournalLines
from mixseek.domain.ports import ProgressSink
from mixseek.domain.samples import Sample
from mixseek.engine.asking import Desk
from mixseek.engine.budget import Budget
from mixseek.engine.caching import NoCache
from mixseek.engine.endings import FirstReplies, RunEnd
from mixseek.engine.journaling import GroupCommit
from mixseek.engine.live import LiveAssignment, judge_many_live
from mixseek.judges.telemetry import open_tracing
from mixseek.storage.journal import JournalFile
from mixseek.storage.recall import JudgedBefore

# New objects between two searches for cycles; Python's own 700 are a few judgments.
_COLLECT_EVERY = 20_000


def judge_rest_live(
    plan: Plan, journal: JournalFile, batches: Iterator[list[Sample]], before: JudgedBefore | None, told: Told
) -> RunEnd:
    """Ask what is not in the journal; the cache is open for as long as that takes."""
    tracing = open_tracing(plan.request.environment)
    parts = make_parts(plan, told.tell, tracing.tracer if tracing is not None else None)
    for seat in parts.live_seats:
        if warning := seat.judge.description.get("warning"):
            told.tell(f"{seat.name}: {warning}")
    file = open_cache(plan)
    cache = BufferedCache(file) if file is not None else None
    earlier = Earlier(before, journal.path, plan.request.live) if before is not None else None
    try:
        with told.show_progress(plan.samples) as progress, fewer_collections():
            return asyncio.run(ask_all(plan, parts, journal, (batches, earlier), cache, (progress, told)))
    finally:
        if tracing is not None:
            tracing.shutdown()
        if file is not None and cache is not None:
            cache.flush()
            file.close()
            for warning in file.warnings:
                told.tell(warning)


@contextlib.contextmanager
def fewer_collections() -> Iterator[None]:
    """What is loaded stays, and what a judgment makes is freed by its references: searching both again costs 5 %."""
    before = gc.get_threshold()
    gc.collect()
    gc.freeze()
    gc.set_threshold(_COLLECT_EVERY, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()


async def ask_all(
    plan: Plan,
    parts: LiveParts,
    journal: JournalFile,
    asked: tuple[Iterator[list[Sample]], Earlier | None],
    cache: BufferedCache | None,
    watched: tuple[ProgressSink, Told],
) -> RunEnd:
    """Connections are given back whatever happens."""
    progress, told = watched
    options = plan.request.live
    batches, before = asked
    first_replies = None if options.keep_going else FirstReplies(before.proven if before is not None else ())
    desk = Desk(
        protocol=plan.protocol,
        encoder=JournalLines(),
        commits=GroupCommit(journal, progress),
        cache=cache or NoCache(),
        budget=Budget(options.max_calls, options.max_cost_usd),
        nonce_of=parts.nonce_of,
        first_replies=first_replies,
    )
    pending = live_batches(batches, parts, plan.cascade, before, desk.cache)
    assignment = LiveAssignment(desk, parts.seats, plan.cascade, parts.samples_at_hand, parts.drain_seconds)
    try:
        return await judge_many_live(pending, assignment, progress, told.stop)
    finally:
        pending.close()
        for seat in parts.live_seats:
            await seat.judge.close()

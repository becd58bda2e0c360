"""The same batches over several processes: order kept, a bounded number in flight, nothing orphaned."""

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.connection import wait

from mixseek.engine.batch import Assignment, Batch, BatchResult
from mixseek.errors import MixseekError, WorkerError

# Two batches a process: one being judged, one waiting, so that nobody idles while the journal is synced.
BATCHES_PER_WORKER = 2


def judge_in_processes(
    batches: Iterator[Batch], assignment: Assignment, workers: int, stop: Callable[[], bool]
) -> Iterator[BatchResult]:
    """Results in the order of the batches; raises WorkerError when a process dies (what came before is journaled)."""
    # spawn, not fork: DuckDB and rich run threads, and a forked lock stays locked.
    pool = ProcessPoolExecutor(
        workers, multiprocessing.get_context("spawn"), initializer=start_worker, initargs=(assignment,)
    )
    finished = False
    try:
        yield from in_order(pool, batches, workers * BATCHES_PER_WORKER)
        finished = True
    except BrokenProcessPool as error:
        # `kill` of the whole process group takes the workers too: that is an interruption, not a crash.
        if not stop():
            raise WorkerError(
                "a judging process died (out of memory?); everything journaled is kept: "
                "run the same command again to resume, with --workers 1 if it happens again"
            ) from error
    finally:
        # Not waiting on failure: the parent is about to leave, and workers follow it (see start_worker).
        pool.shutdown(wait=finished, cancel_futures=True)


def in_order(pool: ProcessPoolExecutor, batches: Iterator[Batch], depth: int) -> Iterator[BatchResult]:
    """Keep `depth` batches in flight; a dataset that breaks midway still yields what was read before the break."""
    in_flight: deque[Future[BatchResult]] = deque()
    broken: MixseekError | None = None
    ended = False
    while in_flight or not ended:
        while not ended and len(in_flight) < depth:
            try:
                batch = next(batches, None)
            except MixseekError as error:
                broken, batch = error, None
            if batch is None:
                ended = True
            else:
                in_flight.append(submit(pool, batch))
        if in_flight:
            yield in_flight.popleft().result()
    if broken is not None:
        raise broken


def submit(pool: ProcessPoolExecutor, batch: Batch) -> Future[BatchResult]:
    """Ctrl-C goes to the whole terminal group; a worker born with SIGINT blocked never sees it, the parent drains."""
    if not hasattr(signal, "pthread_sigmask"):
        return pool.submit(judge_batch, batch)
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        return pool.submit(judge_batch, batch)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


# One slot per process, filled before its first batch: sending the assignment with each batch would cost more.
_assignment: Assignment | None = None


def start_worker(assignment: Assignment) -> None:
    """Runs once in each new process."""
    global _assignment  # noqa: PLW0603 - the pool offers no other place for per-process state
    _assignment = assignment
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=leave_with_parent, daemon=True).start()


def leave_with_parent() -> None:
    """kill -9 of the parent closes no queue that we could notice; its sentinel tells."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


def judge_batch(batch: Batch) -> BatchResult:
    """What a worker does with one batch."""
    assert _assignment is not None
    return _assignment.judge(batch)

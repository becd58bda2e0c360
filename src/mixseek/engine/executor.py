"""Many samples: batches through one process or several, journaled in dataset order, stoppable at any batch."""

import multiprocessing
import signal
import traceback
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import replace
from functools import partial
from itertools import chain
from multiprocessing.connection import Connection
from queue import SimpleQueue

from mixseek.domain.ports import Journal, ProgressSink
from mixseek.engine.offline import Assignment, Batch, BatchResult
from mixseek.errors import MixseekError, WorkerError

# The same batches over several processes: order kept, a bounded number in flight, nobody hung and nobody orphaned.
#
# Not a ProcessPoolExecutor: when one of its workers is killed while writing a result, its reader waits for the rest
# for ever. Here every worker has a pipe of its own, whose end is noticed by both sides, however the other one dies.

# Two batches a process: one being judged, one waiting, so that nobody idles while the journal is synced.
BATCHES_PER_WORKER = 2
# A worker whose pipe was closed leaves at once, or after the batch it is at.
LEAVE_SECONDS = 5.0


class Worker:
    """One process, asked for one batch at a time."""

    def __init__(self, assignment: Assignment) -> None:
        # spawn, not fork: DuckDB and rich run threads, and a forked lock stays locked.
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self.process = context.Process(target=serve, args=(theirs, assignment), daemon=True)
        start_unsignalled(self.process.start)
        # Their end must live in their process alone: only then does its death end the pipe.
        theirs.close()

    def judge(self, batch: Batch) -> BatchResult:
        """Raises WorkerError when the process is gone, and what a judge raised as it was raised."""
        try:
            self._pipe.send(batch)
            answer = self._pipe.recv()
        except (EOFError, OSError) as error:
            raise WorkerError(
                "a judging process died (out of memory?); everything journaled is kept: "
                "run the same command again to resume, with --workers 1 if it happens again"
            ) from error
        if isinstance(answer, BatchResult):
            return answer
        failure, origin = answer
        raise failure from RuntimeError(origin)

    def dismiss(self) -> None:
        """Lets it go; a closed pipe is all it needs to know."""
        self._pipe.close()
        self.process.join(LEAVE_SECONDS)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()
        self.process.close()


# The port: who judges batches, here, in several processes or on machines elsewhere. Results come in the order of the
# batches, of which a bounded number is in flight.
Executor = Callable[[Iterator[Batch], Assignment], Generator[BatchResult, None, None]]


def judge_here(batches: Iterator[Batch], assignment: Assignment) -> Generator[BatchResult, None, None]:
    """One batch after the other."""
    yield from map(assignment.judge, batches)


def judge_in_processes(
    batches: Iterator[Batch], assignment: Assignment, *, workers: int, stop: Callable[[], bool]
) -> Generator[BatchResult, None, None]:
    """Raises WorkerError when a process dies, unless `stop` says that all of us are to; what came before is kept."""
    crew = [Worker(assignment) for _ in range(workers)]
    idle: SimpleQueue[Worker] = SimpleQueue()
    for worker in crew:
        idle.put(worker)

    def judge(batch: Batch) -> BatchResult:
        worker = idle.get()
        try:
            return worker.judge(batch)
        finally:
            idle.put(worker)

    # A thread waits for each process, so that reading, judging and journaling go on side by side.
    threads = ThreadPoolExecutor(workers, thread_name_prefix="worker")
    try:
        yield from in_order(lambda batch: threads.submit(judge, batch), batches, workers * BATCHES_PER_WORKER)
    except BaseException as error:
        for worker in crew:
            worker.process.kill()
        # Killed together with us: an interruption, not a crash.
        if not (isinstance(error, WorkerError) and stop()):
            raise
    finally:
        threads.shutdown(cancel_futures=True)
        for worker in crew:
            worker.dismiss()


def in_order(
    submit: Callable[[Batch], "Future[BatchResult]"], batches: Iterator[Batch], depth: int
) -> Iterator[BatchResult]:
    """Keep `depth` batches in flight; a dataset that breaks midway still yields what was read before the break."""
    in_flight: deque[Future[BatchResult]] = deque()
    broken: MixseekError | None = None
    while True:
        try:
            batch = next(batches, None)
        except MixseekError as error:
            broken = error
            break
        if batch is None:
            break
        in_flight.append(submit(batch))
        if len(in_flight) >= depth:
            yield in_flight.popleft().result()
    while in_flight:
        yield in_flight.popleft().result()
    if broken is not None:
        raise broken


def start_unsignalled(start: Callable[[], None]) -> None:
    """Signals may go to the whole group; born with them blocked, a worker never sees them, and the parent drains."""
    if not hasattr(signal, "pthread_sigmask"):
        start()
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    try:
        start()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def serve(pipe: Connection, assignment: Assignment) -> None:
    """The life of a worker: batches in, results out, until the other end is closed or gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with suppress(EOFError, OSError):
        while True:
            pipe.send(answer_batch(assignment, pipe.recv()))


def answer_batch(assignment: Assignment, batch: Batch) -> BatchResult | tuple[Exception, str]:
    """A result in as few pieces as possible, or what a judge raised and where."""
    try:
        result = assignment.judge(batch)
    except Exception as error:  # noqa: BLE001 - raised again in the parent, by Worker.judge
        return error, traceback.format_exc()
    return replace(result, lines=(b"".join(result.lines),))


# Below this many samples, starting processes costs more than they give back (each takes about 0.3 s to start).
SAMPLES_WORTH_PROCESSES = 4_000
# So many characters in fewer samples are as much work, and too much to hold while counting.
CHARACTERS_WORTH_PROCESSES = 16 << 20


def judge_many(
    batches: Iterable[Batch],
    assignment: Assignment,
    journal: Journal,
    progress: ProgressSink,
    *,
    workers: int,
    stop: Callable[[], bool],
) -> bool:
    """Whether the batches came to their end before `stop` said so; what was begun is journaled either way."""
    source = iter(batches)
    head, is_short = read_head(source) if workers > 1 else ([], True)
    ended = False
    begun = 0

    def until_stopped() -> Iterator[Batch]:
        nonlocal ended, begun
        for batch in chain(drain(head), source):
            if stop():
                return
            begun += 1
            yield batch
        ended = True

    executor: Executor = judge_here if is_short else partial(judge_in_processes, workers=workers, stop=stop)
    results = executor(until_stopped(), assignment)
    recorded = 0
    # Closed whatever happens: a full disk must not leave processes behind.
    with closing(results):
        for result in results:
            # Journal first, count second: a number that was shown is on disk.
            if result.lines:
                journal.append(result.lines)
            progress.advance({**result.counts, "samples": result.samples, "skipped": result.skipped})
            recorded += 1
    # Fewer recorded than begun: the workers were taken down together with us, and those batches are still to do.
    return ended and recorded == begun


def read_head(source: Iterator[Batch]) -> tuple[list[Batch], bool]:
    """The first batches, up to where processes begin to pay, and whether that was all."""
    head: list[Batch] = []
    held = characters = 0
    while held < SAMPLES_WORTH_PROCESSES and characters < CHARACTERS_WORTH_PROCESSES:
        batch = next(source, None)
        if batch is None:
            return head, True
        held += len(batch.samples)
        characters += sum(sample.characters for sample in batch.samples)
        # A batch that is wholly journaled only moves the progress; keep it, it is empty.
        head.append(batch)
    return head, False


def drain(head: list[Batch]) -> Iterator[Batch]:
    """Each batch leaves the list, and so the memory, when its turn comes."""
    while head:
        yield head.pop(0)

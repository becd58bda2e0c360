"""Many samples: batches through one process or several, journaled in dataset order, stoppable at any batch."""

import os
import pickle
import signal
import subprocess
import sys
import traceback
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import replace
from functools import partial
from itertools import chain
from queue import SimpleQueue

from mixseek.domain.ports import Journal, ProgressSink
from mixseek.engine.offline import Assignment, Batch, BatchResult
from mixseek.engine.stop_signals import GROUP_SIGNALS
from mixseek.errors import MixseekError, WorkerError

# The same batches over several processes: order kept, a bounded number in flight, nobody hung and nobody orphaned.
#
# Not a ProcessPoolExecutor: when one of its workers is killed while writing a result, its reader waits for the rest
# for ever. Here every worker has pipes of its own, whose end is noticed by both sides, however the other one dies.
# Not multiprocessing either: it runs the user's script a second time in every process that it starts, and who judges
# from a script must not have to know that.

# Two batches a process: one being judged, one waiting, so that nobody idles while the journal is synced.
BATCHES_PER_WORKER = 2
# A worker whose pipe was closed leaves at once, or after the batch it is at.
LEAVE_SECONDS = 5.0


# What a worker runs. It gets the parent's path, so that it finds what the parent found.
_BEGIN = "import sys; sys.path[:] = sys.argv[1:]; from mixseek.engine.executor import serve; serve()"


class Worker:
    """One process, asked for one batch at a time."""

    def __init__(self, assignment: Assignment) -> None:
        self._assignment: Assignment | None = assignment
        command = [sys.executable, *interpreter_flags(), "-c", _BEGIN, *sys.path]
        self.process = start_unsignalled(command)
        # Both were asked for; the type does not know.
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self._requests, self._answers = self.process.stdin, self.process.stdout

    def judge(self, batch: Batch) -> BatchResult:
        """Raises WorkerError when the process is gone, and what a judge raised as it was raised."""
        try:
            if self._assignment is not None:
                # First of all, and here: while one process begins, the next one can be started.
                pickle.dump(self._assignment, self._requests, pickle.HIGHEST_PROTOCOL)
                self._assignment = None
            pickle.dump(batch, self._requests, pickle.HIGHEST_PROTOCOL)
            self._requests.flush()
            answer = pickle.load(self._answers)  # noqa: S301 - from our own process
        except (EOFError, OSError, pickle.UnpicklingError) as error:
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
        with suppress(OSError):
            # Says that the process is gone, where something was still to be written.
            self._requests.close()
        try:
            self.process.wait(LEAVE_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self._answers.close()


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


def interpreter_flags() -> list[str]:
    """Options of this interpreter that change how modules are found or what a warning does."""
    flags = [f"-W{option}" for option in sys.warnoptions]
    flags += [f"-X{name}" if value is True else f"-X{name}={value}" for name, value in sys._xoptions.items()]
    for flag, is_set in (
        ("-I", sys.flags.isolated),
        ("-E", sys.flags.ignore_environment),
        ("-s", sys.flags.no_user_site),
    ):
        flags += [flag] if is_set else []
    return flags


def start_unsignalled(command: list[str]) -> "subprocess.Popen[bytes]":
    """Signals may go to the whole group; born with them blocked, a worker never sees them, and the parent drains."""
    has_mask = hasattr(signal, "pthread_sigmask")
    before = signal.pthread_sigmask(signal.SIG_BLOCK, GROUP_SIGNALS) if has_mask else ()
    try:
        return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)  # noqa: S603 - ourselves
    finally:
        if has_mask:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


def serve() -> None:
    """The life of a worker: batches in, results out, until the other end is closed or gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    requests, answers = sys.stdin.buffer, os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    # Whatever is printed here must not get between the answers.
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
    with suppress(EOFError, OSError):
        assignment: Assignment = pickle.load(requests)  # noqa: S301 - from our own parent
        while True:
            answer = answer_batch(assignment, pickle.load(requests))  # noqa: S301 - from our own parent
            pickle.dump(answer, answers, pickle.HIGHEST_PROTOCOL)
            answers.flush()
    with suppress(OSError):
        # Half an answer that nobody waits for is not complained about at the exit.
        answers.close()


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

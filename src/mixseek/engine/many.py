"""Many samples: batches through one process or several, journaled in dataset order, stoppable at any batch."""

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import closing
from itertools import chain

from mixseek.domain.ports import Journal, ProgressSink
from mixseek.engine.batch import Assignment, Batch, BatchResult
from mixseek.engine.processes import judge_in_processes

# Below this many samples, starting processes costs more than they give back (each takes about 0.3 s to start).
SAMPLES_WORTH_PROCESSES = 4_000
# So many characters in fewer samples are as much work, and too much to hold while counting.
CHARACTERS_WORTH_PROCESSES = 16 << 20


class NoProgress:
    """Tells nobody."""

    def advance(self, counts: Mapping[str, int]) -> None:
        pass


def judge_many(
    batches: Iterable[Batch],
    assignment: Assignment,
    journal: Journal,
    progress: ProgressSink,
    *,
    workers: int,
    stop: Callable[[], bool],
) -> bool:
    """Judge until the batches end or `stop` says so; what was begun is finished and journaled either way.

    Returns whether the batches came to their end. Memory is bounded by the batches in flight.
    """
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

    results = (
        judge_here(until_stopped(), assignment)
        if is_short
        else judge_in_processes(until_stopped(), assignment, workers, stop)
    )
    recorded = 0
    # Closed whatever happens: a full disk must not leave processes behind.
    with closing(results):
        for result in results:
            record(result, journal, progress)
            recorded += 1
    # Fewer recorded than begun: the workers were taken down together with us, and those batches are still to do.
    return ended and recorded == begun


def judge_here(batches: Iterator[Batch], assignment: Assignment) -> Generator[BatchResult, None, None]:
    """One batch after the other, in this process."""
    for batch in batches:
        yield assignment.judge(batch)


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


def record(result: BatchResult, journal: Journal, progress: ProgressSink) -> None:
    """Journal first, count second: a number that was shown is on disk."""
    if result.lines:
        journal.append(result.lines)
    progress.advance({**result.counts, "samples": result.samples, "skipped": result.skipped})

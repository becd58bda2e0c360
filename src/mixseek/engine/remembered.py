"""Samples whose replies are all in the cache: nothing is waited for, so parsing is spread over processes."""

from collections import Counter, deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from queue import SimpleQueue

from mixseek.domain.judgments import InvalidJudgment, Reply, status_of
from mixseek.domain.ports import JudgeProtocol
from mixseek.domain.samples import Sample
from mixseek.engine.asking import LineEncoder
from mixseek.engine.batch import BatchResult
from mixseek.engine.caching import Settled, reuse
from mixseek.engine.live import LiveBatch
from mixseek.engine.processes import BATCHES_PER_WORKER, Worker
from mixseek.engine.seats import LiveSeat, SampleAtHand, Seat
from mixseek.engine.settled import make_settled

# Two processes take about a second to start: below this many there is nothing to win.
SAMPLES_WORTH_PROCESSES = 4_000


@dataclass(frozen=True, slots=True)
class Remembered:
    """A sample with every reply that it needs."""

    sample: Sample
    key: str
    replies: tuple[Reply, ...]
    # Of the requests that they answer.
    request_keys: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class RememberedAssignment:
    """Sent once to each process; `asks_again` names the judges that would not leave an invalid reply at that."""

    protocol: JudgeProtocol
    encoder: LineEncoder
    asks_again: frozenset[str]

    def judge(self, batch: Sequence[Remembered]) -> BatchResult:
        """Lines of what is settled; `left` are the places of those that somebody must be asked about again."""
        lines: list[bytes] = []
        counts: Counter[str] = Counter()
        left: list[int] = []
        settled: list[tuple[str, bytes, Settled]] = []
        for place, one in enumerate(batch):
            outcomes = [self.protocol.parse(reply, one.sample) for reply in one.replies]
            if any(
                isinstance(outcome, InvalidJudgment) and reply.judge in self.asks_again
                for outcome, reply in zip(outcomes, one.replies, strict=True)
            ):
                left.append(place)
                continue
            lines.append(self.encoder.sample(one.sample, one.key))
            for outcome, reply, request_key in zip(outcomes, one.replies, one.request_keys, strict=True):
                lines.append(self.encoder.reply(one.key, reply))
                take: int = reply.details["take"]
                lines.append(self.encoder.outcome(one.sample, one.key, reply.judge, outcome, take))
                counts[status_of(outcome)] += 1
                made = make_settled(self.encoder, one.sample, one.key, reply, (outcome, take))
                if made is not None:
                    settled.append((reply.judge, request_key, made))
            counts["samples"] += 1
            counts["cached"] += len(outcomes)
        return BatchResult(lines, counts, len(batch) - len(left), left=left, settled=settled)


class Crew:
    """Processes behind threads that wait for them."""

    def __init__(self, assignment: RememberedAssignment, workers: int) -> None:
        self._workers = [Worker(assignment) for _ in range(workers)]
        self._idle: SimpleQueue[Worker] = SimpleQueue()
        for worker in self._workers:
            self._idle.put(worker)
        self._threads = ThreadPoolExecutor(workers, thread_name_prefix="remembered")
        self.depth = workers * BATCHES_PER_WORKER

    def submit(self, batch: Sequence[Remembered]) -> "Future[BatchResult]":
        return self._threads.submit(self._judge, batch)

    def dismiss(self) -> None:
        """Whatever they are at is not waited for."""
        for worker in self._workers:
            worker.kill()
        self._threads.shutdown(cancel_futures=True)
        for worker in self._workers:
            worker.dismiss()

    def _judge(self, batch: Sequence[Remembered]) -> BatchResult:
        worker = self._idle.get()
        try:
            return worker.judge(batch)
        finally:
            self._idle.put(worker)


def settle_remembered(
    batches: Iterator[LiveBatch],
    seats: Sequence[Seat],
    cascade: bool,
    make_crew: Callable[[], Crew],
    record: Callable[[Sequence[bytes], Mapping[str, int]], None],
    note: Callable[[str, bytes, Settled], None],
) -> Generator[LiveBatch, None, None]:
    """The batches without what the cache settles on its own; that goes to `record` as lines and counts."""
    live = [seat for seat in seats if isinstance(seat, LiveSeat)]
    # A cascade of several is walked in order, and so is everything that rules have a say in.
    is_plain = len(live) == len(seats) and (len(seats) == 1 or not cascade)
    crew: Crew | None = None
    found = 0
    waiting: deque[tuple[LiveBatch, list[SampleAtHand], Future[BatchResult] | None]] = deque()
    try:
        for batch in batches:
            known = [(one, remembered(one, live)) for one in batch.samples] if is_plain else []
            ready = [(one, full) for one, full in known if full is not None]
            found += len(ready)
            if found < SAMPLES_WORTH_PROCESSES or not ready:
                waiting.append((batch, [], None))
            else:
                crew = crew or make_crew()
                rest = LiveBatch([one for one, full in known if full is None], batch.skipped)
                waiting.append((rest, [one for one, _ in ready], crew.submit([full for _, full in ready])))
            while len(waiting) > (crew.depth if crew is not None else 0):
                yield collect(*waiting.popleft(), record, note)
        while waiting:
            yield collect(*waiting.popleft(), record, note)
    finally:
        if crew is not None:
            crew.dismiss()


def collect(
    rest: LiveBatch,
    sent: Sequence[SampleAtHand],
    result: "Future[BatchResult] | None",
    record: Callable[[Sequence[bytes], Mapping[str, int]], None],
    note: Callable[[str, bytes, Settled], None],
) -> LiveBatch:
    """What is left of a batch when its remembered samples are settled."""
    if result is None:
        return rest
    settled = result.result()
    record(settled.lines, settled.counts)
    for told in settled.settled:
        note(*told)
    return LiveBatch([*rest.samples, *(sent[place] for place in settled.left)], rest.skipped)


def remembered(at_hand: SampleAtHand, seats: Sequence[LiveSeat]) -> Remembered | None:
    """None where anything is still to be asked, or is known in another way."""
    if not at_hand.cached or at_hand.known or at_hand.unread:
        return None
    replies: list[Reply] = []
    keys: list[bytes] = []
    for seat in seats:
        for take in range(1, seat.takes + 1):
            keys.append(seat.keys.key(at_hand.key, take, 1))
            reply = at_hand.cached.get(keys[-1])
            if reply is None:
                return None
            replies.append(reuse(reply, seat.name, take, 1))
    return Remembered(at_hand.sample, at_hand.key, tuple(replies), tuple(keys))

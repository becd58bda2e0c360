"""Samples that the cache settles on its own."""

import multiprocessing
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

import pytest
from tests.unit.engine.live_stubs import Court, PlainLines, ScriptedJudge, at_hand
from tests.unit.engine.stub_judging import StubProtocol, StubRules

from mixseek.domain.judgments import Outcome, Reply, Status
from mixseek.domain.samples import Sample
from mixseek.engine import remembered as module
from mixseek.engine.batch import BatchResult
from mixseek.engine.live import LiveBatch
from mixseek.engine.remembered import Crew, Remembered, RememberedAssignment, remembered, settle_remembered
from mixseek.engine.seats import LiveSeat, OfflineSeat, SampleAtHand, Seat
from mixseek.engine.settled import NothingSettled
from mixseek.errors import WorkerError


class CrewHere:
    """The same work in this process."""

    depth = 2

    def __init__(self, work: RememberedAssignment) -> None:
        self.work = work
        self.dismissed = 0

    def submit(self, batch: Sequence[Remembered]) -> "Future[BatchResult]":
        future: Future[BatchResult] = Future()
        future.set_result(self.work.judge(batch))
        return future

    def dismiss(self) -> None:
        self.dismissed += 1


@pytest.fixture(autouse=True)
def _few_are_worth_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SAMPLES_WORTH_PROCESSES", 1)


def seat_of(**more: Any) -> LiveSeat:
    court = Court()
    return court.seat(ScriptedJudge(lambda call, times: "good", court.time), **more)


def cached(seat: LiveSeat, texts: Mapping[str, str]) -> list[SampleAtHand]:
    samples = at_hand(*texts)
    known = {
        seat.keys.key(one.key, take, 1): Reply(texts[one.sample.id], "somebody", 1, {"latency_seconds": 9.0})
        for one in samples
        for take in range(1, seat.takes + 1)
        if texts[one.sample.id]
    }
    return [SampleAtHand(one.sample, one.key, cached=known) for one in samples]


def settle(
    samples: Sequence[SampleAtHand],
    *seats: Seat,
    again: frozenset[str] = frozenset({"model"}),
    cascade: bool = False,
) -> tuple[list[str], list[str], Counter[str], CrewHere]:
    """Lines recorded, ids left over, counts, and the crew."""
    lines: list[bytes] = []
    counts: Counter[str] = Counter()
    crew = CrewHere(RememberedAssignment(StubProtocol(), PlainLines(), again))

    def record(more: Sequence[bytes], told: Mapping[str, int]) -> None:
        lines.extend(more)
        counts.update(told)

    batches: Iterator[LiveBatch] = iter([LiveBatch(samples[start : start + 2]) for start in range(0, len(samples), 2)])
    make_crew: Callable[[], Crew] = lambda: crew  # type: ignore[assignment, return-value]  # noqa: E731 - a fake
    settled = settle_remembered(batches, seats, cascade, make_crew, record, NothingSettled().note)
    left = [one.sample.id for batch in settled for one in batch.samples]
    return [line.decode() for line in lines], left, counts, crew


def test_what_is_wholly_cached_is_settled_and_the_rest_is_left() -> None:
    """Sample, reply, outcome for each; marked as cached."""
    seat = seat_of()

    lines, left, counts, crew = settle(cached(seat, {"a": "good", "b": "", "c": "good", "d": "good"}), seat)

    assert left == ["b"]
    assert lines == [
        line
        for name in ("a", "c", "d")
        for line in (f"sample {name}", "reply model 1/1 good cached=True", f"outcome {name} model 1 valid")
    ]
    assert counts == {"valid": 3, "samples": 3, "cached": 3}
    assert crew.dismissed == 1


def test_an_invalid_reply_is_left_to_be_asked_about_again() -> None:
    """Unless nobody asks again: then it is what it is."""
    seat = seat_of()
    samples = cached(seat, {"a": "bad", "b": "good"})

    assert settle(samples, seat)[1] == ["a"]
    _, left, counts, _ = settle(samples, seat, again=frozenset())
    assert left == []
    assert counts["invalid"] == 1


def test_every_take_must_be_there() -> None:
    """Three takes, three outcomes."""
    seat = seat_of(takes=3)

    lines, left, _, _ = settle(cached(seat, {"a": "good"}), seat)

    assert left == []
    assert sorted(line for line in lines if line.startswith("outcome")) == [
        "outcome a model 1 valid",
        "outcome a model 2 valid",
        "outcome a model 3 valid",
    ]


def test_rules_among_the_judges_leave_everything_to_the_engine() -> None:
    """A cascade is walked in order, by one who knows how."""
    seat = seat_of()

    lines, left, _, crew = settle(cached(seat, {"a": "good", "b": "good"}), OfflineSeat(StubRules()), seat)

    assert (lines, left, crew.dismissed) == ([], ["a", "b"], 0)


@pytest.mark.parametrize(("cascade", "left"), [(False, []), (True, ["a"])])
def test_a_cascade_of_two_models_is_walked_in_order(cascade: bool, left: list[str]) -> None:
    """The second one is not to be heard where the first one has decided, cached or not."""
    first = seat_of()
    second = LiveSeat(first.judge, first.endpoint, first.keys)

    assert settle(cached(first, {"a": "good"}), first, second, cascade=cascade)[1] == left
    assert settle(cached(first, {"a": "good"}), first, cascade=cascade)[1] == []


@pytest.mark.parametrize(
    "half", [{"unread": {("model", 1): (Reply("good", "model"),)}}, {"known": {("model", 1): Status.VALID}}]
)
def test_half_done_samples_are_left(half: Mapping[str, Any]) -> None:
    """What the journal has of them comes first."""
    seat = seat_of()
    one, other = cached(seat, {"a": "good", "b": "good"})

    assert settle([one._replace(**half), other], seat)[1] == ["a"]


def test_each_take_has_its_own_reply() -> None:
    """One bad take of two, and everything is to be looked at in order; nothing of the sample is written."""
    seat, (one,) = seat_of(takes=2), at_hand("a")
    replies = {seat.keys.key(one.key, take, 1): Reply(text, "x") for take, text in enumerate(("good", "bad"), start=1)}
    held = remembered(one._replace(cached=replies), [seat])
    assert held is not None
    result = RememberedAssignment(StubProtocol(), PlainLines(), frozenset({"model"})).judge([held])

    assert [reply.text for reply in held.replies] == ["good", "bad"]
    assert (result.lines, result.left, result.samples, result.settled) == ([], [0], 0, [])


class Inseparable(PlainLines):
    """Lines that name their sample twice."""

    def settle(self, sample: Sample, key: str, reply: Reply, outcome: Outcome, take: int) -> None:
        return None


@pytest.mark.parametrize(("lines", "is_told"), [(PlainLines(), True), (Inseparable(), False)])
def test_what_was_made_of_a_reply_is_told_for_runs_to_come(lines: PlainLines, is_told: bool) -> None:
    """By the key of its request, where its lines can be told apart from its names."""
    seat = seat_of()
    crew = CrewHere(RememberedAssignment(StubProtocol(), lines, frozenset()))
    told: list[tuple[str, bytes, Status]] = []
    samples = cached(seat, {"a": "good", "b": "bad"})

    make_crew: Callable[[], Crew] = lambda: crew  # type: ignore[assignment, return-value]  # noqa: E731 - a fake
    batches = settle_remembered(
        iter([LiveBatch(samples, skipped=3)]),
        [seat],
        False,
        make_crew,
        lambda lines, counts: None,
        lambda judge, key, settled: told.append((judge, key, settled.status)),
    )

    assert [(batch.samples, batch.skipped) for batch in batches] == [([], 3)]
    expected = [
        ("model", seat.keys.key(one.key, 1, 1), status)
        for one, status in zip(samples, (Status.VALID, Status.INVALID), strict=True)
    ]
    assert told == (expected if is_told else [])


@pytest.mark.parametrize(("worth", "made"), [(1, 1), (4, 1), (5, 0)])
def test_processes_are_started_once_and_only_where_they_pay(
    worth: int, made: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What came before is judged as if there were no crew; the order of batches is kept."""
    monkeypatch.setattr(module, "SAMPLES_WORTH_PROCESSES", worth)
    seat, crews = seat_of(), list[CrewHere]()

    def make_crew() -> Any:
        crews.append(CrewHere(RememberedAssignment(StubProtocol(), PlainLines(), frozenset({"model"}))))
        return crews[-1]

    texts = ({"a": "good", "b": "bad"}, {"c": "good", "d": "bad"}, {"e": ""}, {"f": ""}, {"g": ""}, {"h": ""})
    batches = iter([LiveBatch(cached(seat, one)) for one in texts])
    read = 0

    def reading() -> Iterator[LiveBatch]:
        nonlocal read
        for batch in batches:
            read += 1
            yield batch

    ahead: list[int] = []
    left: list[list[str]] = []
    for batch in settle_remembered(reading(), [seat], False, make_crew, lambda *told: None, NothingSettled().note):
        left.append([one.sample.id for one in batch.samples])
        ahead.append(read - len(left))

    first = {1: [["b"], ["d"]], 4: [["a", "b"], ["d"]], 5: [["a", "b"], ["c", "d"]]}[worth]
    assert left == [*first, ["e"], ["f"], ["g"], ["h"]]
    assert len(crews) == made
    assert max(ahead) == (CrewHere.depth if made else 0)
    assert [crew.dismissed for crew in crews] == [1] * made


def test_a_crew_judges_in_processes_of_its_own() -> None:
    """The same lines as here, in one piece."""
    seat = seat_of()
    work = RememberedAssignment(StubProtocol(), PlainLines(), frozenset())
    batches = [
        [held for one in cached(seat, {name: "good"}) if (held := remembered(one, [seat])) is not None]
        for name in ("a", "b", "c")
    ]
    crew = Crew(work, 1)
    try:
        results = [future.result(30.0) for future in [crew.submit(batch) for batch in batches]]
    finally:
        crew.dismiss()

    assert [list(result.lines) for result in results] == [[b"".join(work.judge(batch).lines)] for batch in batches]
    assert crew.depth == 2
    assert multiprocessing.active_children() == []


@dataclass(frozen=True)
class Slow:
    """Longer than anybody would wait."""

    def judge(self, batch: Any) -> BatchResult:
        time.sleep(60.0)
        raise AssertionError


def test_a_crew_that_is_dismissed_is_not_waited_for() -> None:
    """Neither what it is at, nor what is still to come."""
    crew = Crew(Slow(), 1)  # type: ignore[arg-type]  # anything that judges
    begun, queued = crew.submit([]), crew.submit([])
    while not begun.running():
        time.sleep(0.01)
    before = time.monotonic()
    crew.dismiss()

    assert time.monotonic() - before < 30.0
    assert isinstance(begun.exception(), WorkerError)
    assert queued.cancelled()

"""Samples that the cache settles on its own."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from typing import Any

import pytest
from tests.unit.engine.live_stubs import Court, PlainLines, ScriptedJudge, at_hand
from tests.unit.engine.stub_judging import StubProtocol, StubRules

from mixseek.domain.judgments import Reply
from mixseek.engine import remembered as module
from mixseek.engine.batch import BatchResult
from mixseek.engine.live import LiveBatch
from mixseek.engine.remembered import Crew, Remembered, RememberedAssignment, settle_remembered
from mixseek.engine.seats import LiveSeat, OfflineSeat, SampleAtHand, Seat
from mixseek.engine.settled import NothingSettled


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
    assert [line.split()[1] for line in lines if line.startswith("outcome")] == ["a", "c", "d"]
    assert all("cached=True" in line for line in lines if line.startswith("reply"))
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

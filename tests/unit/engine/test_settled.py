"""Judgments that an earlier run wrote down."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from tests.unit.engine.live_stubs import Court, PlainLines, ScriptedJudge, at_hand
from tests.unit.engine.stub_judging import StubRules

from mixseek.domain.judgments import Finding, Flag, InvalidJudgment, Method, Outcome, Reply, Status, ValidJudgment
from mixseek.domain.samples import Sample
from mixseek.engine.caching import Settled
from mixseek.engine.seats import LiveSeat, OfflineSeat, SampleAtHand, Seat
from mixseek.engine.settled import NothingSettled, Settler, make_settled

CORRECT = ValidJudgment(1.0, "correct", {}, Method.CROSS_JUDGE)
INVALID = InvalidJudgment((Finding(Flag.UNPARSABLE_OUTPUT, "prose"),))


class Remembering:
    """In a dict."""

    def __init__(self) -> None:
        self.settled: dict[tuple[str, bytes], Settled] = {}

    def find(self, judge: str, keys: Sequence[bytes]) -> Mapping[bytes, Settled]:
        return {key: self.settled[judge, key] for key in keys if (judge, key) in self.settled}

    def note(self, judge: str, key: bytes, settled: Settled) -> None:
        self.settled[judge, key] = settled


def seat_of(name: str = "model", **more: Any) -> LiveSeat:
    court = Court()
    return court.seat(ScriptedJudge(lambda call, times: "good", court.time, name=name), **more)


def remember(known: Remembering, seat: LiveSeat, one: SampleAtHand, outcome: Outcome = CORRECT, take: int = 1) -> None:
    reply = Reply("good", seat.name, 1, {"cached": False, "tries": 3, "cost_usd": 0.5})
    settled = make_settled(PlainLines(), one.sample, one.key, reply, (outcome, take))
    assert settled is not None
    known.note(seat.name, seat.keys.key(one.key, take, 1), settled)


def settle(
    known: Remembering, samples: Sequence[SampleAtHand], *seats: Seat, cascade: bool = False
) -> tuple[list[str], list[str], Counter[str]]:
    """Lines, ids that are left, counts."""
    lines: list[bytes] = []
    counts: Counter[str] = Counter()

    def record(more: Sequence[bytes], told: Mapping[str, int]) -> None:
        lines.extend(more)
        counts.update(told)

    def introduce(one: SampleAtHand) -> list[bytes]:
        return [PlainLines().sample(one.sample, one.key)]

    left = Settler(seats, cascade, known, PlainLines(), record, introduce).settle(samples)
    return [line.decode() for line in lines], [one.sample.id for one in left], counts


def test_what_is_settled_is_written_and_the_rest_is_left() -> None:
    """The sample, the reply as one from the cache, and what was made of it."""
    known, seat, samples = Remembering(), seat_of(), at_hand("a", "b", "c")
    for one in (samples[0], samples[2]):
        remember(known, seat, one)

    lines, left, counts = settle(known, samples, seat)

    assert left == ["b"]
    assert lines == [
        "sample a",
        f"reply {samples[0].key} model 1/1 good cached=True",
        f"outcome {samples[0].key} a  1 valid",
        "sample b",
        "sample c",
        f"reply {samples[2].key} model 1/1 good cached=True",
        f"outcome {samples[2].key} c  1 valid",
    ]
    assert counts == {"valid": 2, "samples": 2, "cached": 2}


@pytest.mark.parametrize(("max_reasks", "is_settled"), [(0, True), (1, False)])
def test_an_invalid_reply_is_settled_only_where_nobody_asks_again(max_reasks: int, is_settled: bool) -> None:
    """The second ask may be cached too, but has to be looked at in order."""
    known, seat, samples = Remembering(), seat_of(max_reasks=max_reasks), at_hand("a")
    remember(known, seat, samples[0], INVALID)

    _, left, counts = settle(known, samples, seat)

    assert left == ([] if is_settled else ["a"])
    assert counts[Status.INVALID] == int(is_settled)


def test_every_judge_and_every_take_must_be_settled() -> None:
    """A panel writes all of them or none."""
    known, first, second = Remembering(), seat_of("one", takes=2), seat_of("two")
    samples = at_hand("a", "b")
    for one in samples:
        remember(known, first, one, take=1)
        remember(known, second, one)
    remember(known, first, samples[0], take=2)

    lines, left, counts = settle(known, samples, first, second)

    assert left == ["b"]
    assert len(lines) == 1 + 3 * 2 + 1
    assert counts == {"valid": 3, "samples": 1, "cached": 3}


@pytest.mark.parametrize(
    "half", [{"unread": {("model", 1): (Reply("good", "model"),)}}, {"known": {("model", 1): Status.VALID}}]
)
def test_half_done_samples_are_left(half: Mapping[str, Any]) -> None:
    """What the journal has of them comes first; their neighbours are settled all the same."""
    known, seat, (one, other) = Remembering(), seat_of(), at_hand("a", "b")
    for sample in (one, other):
        remember(known, seat, sample)

    _, left, counts = settle(known, [one._replace(**half), other], seat)

    assert left == ["a"]
    assert counts == {"valid": 1, "samples": 1, "cached": 1}


def test_where_a_judge_knows_none_of_them_nothing_is_written() -> None:
    """The engine introduces the samples that it takes up."""
    known, seat, samples = Remembering(), seat_of("one"), at_hand("a", "b")
    for one in samples:
        remember(known, seat, one)

    assert settle(known, samples, seat, seat_of("two")) == ([], ["a", "b"], Counter())


@pytest.mark.parametrize("cascade", [False, True])
def test_rules_and_cascades_are_walked_in_order(cascade: bool) -> None:
    """Nothing is settled over their heads; a cascade of one is none."""
    known, seat, other, samples = Remembering(), seat_of(), seat_of("other"), at_hand("a")
    for one in (seat, other):
        remember(known, one, samples[0])

    assert settle(known, samples, OfflineSeat(StubRules()), seat, cascade=cascade) == ([], ["a"], Counter())
    assert settle(known, samples, seat, cascade=cascade)[1] == []
    assert settle(known, samples, seat, other, cascade=cascade)[1] == (["a"] if cascade else [])


def test_nothing_is_remembered_by_default() -> None:
    """Without a cache."""
    nothing = NothingSettled()
    nothing.note("model", b"k", Settled(Status.VALID, b"", b""))

    assert nothing.find("model", [b"k"]) == {}


def test_what_cannot_be_told_apart_from_its_names_is_not_settled() -> None:
    """It is parsed again instead."""

    class Inseparable(PlainLines):
        def settle(self, sample: Sample, key: str, reply: Reply, outcome: Outcome, take: int) -> None:
            return None

    (one,) = at_hand("a")

    assert make_settled(Inseparable(), one.sample, one.key, Reply("good", "model"), (CORRECT, 1)) is None

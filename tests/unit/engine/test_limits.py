"""How much at once and per minute."""

import random

import pytest

from mixseek.engine.limits import START_CALLS, AdaptiveLimit, RateLimit


def test_a_small_limit_is_used_at_once() -> None:
    """Nobody waits for a slow start below what the start allows."""
    assert AdaptiveLimit(32).calls == 32
    assert AdaptiveLimit(4_000).calls == START_CALLS


def test_it_doubles_each_round_trip_until_the_maximum() -> None:
    """One more for each success: as many again in one round trip."""
    limit = AdaptiveLimit(256, start=64)
    for _ in range(64):
        limit.succeeded(0.2)

    assert limit.calls == 128
    for _ in range(1_000):
        limit.succeeded(0.2)
    assert limit.calls == 256


def test_an_endpoint_that_refuses_everything_is_left_with_half_a_round_trip() -> None:
    """At once and whole, but once: a hundred calls that met the same wall are one piece of news."""
    limit = AdaptiveLimit(100)
    for _ in range(500):
        limit.overloaded(started_at=1.0, now=2.0)
    assert limit.calls == 50

    for _ in range(500):
        limit.overloaded(started_at=3.0, now=4.0)
    assert limit.calls == 25


def test_the_first_refusals_of_a_wall_are_enough() -> None:
    """Nobody waits for the round trip to end before fewer are sent."""
    limit = AdaptiveLimit(256)
    for _ in range(8):
        limit.overloaded(started_at=1.0, now=2.0)

    assert limit.is_overloaded
    assert limit.calls < 256


@pytest.mark.parametrize(("refused_in_ten", "least"), [(3, 80), (5, 70), (8, 55)])
def test_it_is_lowered_by_the_share_of_refusals(refused_in_ten: int, least: int) -> None:
    """Half of what is refused is taken away, in one round trip."""
    limit = AdaptiveLimit(100)
    for number in range(300):
        if number % 10 < refused_in_ten:
            limit.overloaded(started_at=1.0, now=2.0)
        else:
            limit.succeeded(0.2)

    assert least - 5 <= limit.calls <= 100 - 5 * refused_in_ten + 12


@pytest.mark.parametrize("one_in", [25, 50, 100])
def test_stray_refusals_cost_nothing(one_in: int) -> None:
    """Four in a hundred, wherever they fall, say nothing about how many there may be."""
    limit = AdaptiveLimit(256)
    rng = random.Random(one_in)
    fewest = 256
    for number in range(20_000):
        if rng.randrange(one_in) == 0:
            limit.overloaded(started_at=number, now=number)
        else:
            limit.succeeded(0.2)
        fewest = min(fewest, limit.calls)

    assert limit.calls == 256
    assert fewest >= 200


@pytest.mark.parametrize("share", [0.15, 0.2, 0.4])
def test_refusals_by_lot_do_not_hold_it_down(share: float) -> None:
    """Where fewer calls are refused as often as more, there is no reason to send fewer."""
    limit = AdaptiveLimit(256)
    rng = random.Random(7)
    limits = []
    for round_trip in range(200):
        for _ in range(limit.calls):
            if rng.random() < share:
                limit.overloaded(started_at=round_trip, now=round_trip + 1.0)
            else:
                limit.succeeded(0.2)
        limits.append(limit.calls)

    assert sum(limits) / len(limits) >= 150


@pytest.mark.parametrize("capacity", [4, 20, 100, 200])
def test_an_endpoint_that_takes_so_many_is_sent_so_many(capacity: int) -> None:
    """Soon, and with few refused from then on."""
    limit = AdaptiveLimit(256)
    rng = random.Random(capacity)
    sent = refused = 0
    for round_trip in range(300):
        answers = [place >= capacity for place in range(limit.calls)]
        rng.shuffle(answers)
        for is_refused in answers:
            if is_refused:
                limit.overloaded(started_at=round_trip, now=round_trip + 1.0)
            else:
                limit.succeeded(0.2)
        if round_trip >= 100:
            sent, refused = sent + len(answers), refused + sum(answers)

    assert capacity * 0.95 <= sent / 200 <= capacity * 1.2
    assert refused <= 0.2 * sent


def test_of_one_call_at_a_time_the_last_answer_says_everything() -> None:
    """There is nobody else to compare with."""
    limit = AdaptiveLimit(1)
    limit.overloaded(1.0, 2.0)

    assert limit.is_overloaded
    assert limit.is_blocked
    limit.succeeded(0.2)
    assert not limit.is_overloaded


def test_after_an_overload_it_grows_by_a_twentieth_a_round_trip() -> None:
    """As soon as refusals are the exception again; at least by one call."""
    limit = AdaptiveLimit(100)
    for _ in range(500):
        limit.overloaded(1.0, 2.0)
    while limit.is_overloaded:
        limit.succeeded(0.2)
    low = limit.calls
    for _ in range(low):
        limit.succeeded(0.2)

    assert low == 50
    assert limit.calls == 52


def test_it_never_falls_below_one() -> None:
    """Someone must find out that the endpoint is well again."""
    limit = AdaptiveLimit(8)
    for moment in range(50):
        limit.overloaded(moment, moment)

    assert limit.calls == 1


def test_it_does_not_grow_while_the_endpoint_is_queueing() -> None:
    """Latency that multiplies says: more at once would only wait there."""
    limit = AdaptiveLimit(512, start=64)
    for _ in range(100):
        limit.succeeded(0.1)
    for _ in range(100):
        limit.succeeded(2.0)
    before = limit.calls
    for _ in range(50):
        limit.succeeded(2.0)

    assert limit.calls == before < 512


def test_one_slow_answer_says_nothing_and_two_end_the_doubling() -> None:
    """When the queue is gone, it grows again, by a twentieth a round trip."""
    limit = AdaptiveLimit(512, start=64)
    calls = []
    for latency_seconds, times in ((0.1, 100), (2.0, 1), (2.0, 1), (0.1, 100)):
        for _ in range(times):
            limit.succeeded(latency_seconds)
        calls.append(limit.calls)

    assert calls[:3] == [164, 165, 165]
    assert 168 <= calls[3] <= 170


def test_one_in_ten_is_too_many_and_one_in_two_is_a_wall() -> None:
    """Of as many as are in flight."""
    ten, five, two = AdaptiveLimit(10), AdaptiveLimit(5), AdaptiveLimit(2)
    for limit, refusals in ((ten, 1), (five, 2), (two, 1)):
        for _ in range(refusals):
            limit.overloaded(1.0, 2.0)

    assert [limit.is_overloaded for limit in (ten, five, two)] == [True, True, True]
    assert [limit.is_blocked for limit in (ten, five, two)] == [False, False, True]


def test_growth_is_one_call_a_round_trip_however_few_they_are() -> None:
    """From one to two with one success, from two to three with a few."""
    limit = AdaptiveLimit(4)
    for moment in range(20):
        limit.overloaded(moment, moment)
    limit.succeeded(0.2)

    assert not limit.is_overloaded
    assert limit.calls == 2
    for _ in range(3):
        limit.succeeded(0.2)
    assert limit.calls == 3


def test_there_is_always_one_to_begin_with() -> None:
    assert AdaptiveLimit(4, start=0).calls == 1


def test_a_call_that_began_with_the_lowering_met_the_new_limit() -> None:
    limit = AdaptiveLimit(100)
    for moment in (1.0, 2.0, 3.0):
        for _ in range(500):
            limit.overloaded(started_at=moment, now=moment + 1.0)

    assert limit.calls == 12


def test_a_late_refusal_does_not_take_a_lowering_back() -> None:
    """Though fewer are refused by then."""
    limit = AdaptiveLimit(100)
    for _ in range(500):
        limit.overloaded(started_at=1.0, now=2.0)
    for _ in range(20):
        limit.succeeded(0.2)
    limit.overloaded(started_at=1.0, now=3.0)

    assert limit.is_overloaded
    assert limit.calls == 50


def test_refusals_that_come_home_after_everything_is_well_again_are_counted() -> None:
    """Of calls that began before the last lowering, whose beginning is forgotten by then."""
    limit = AdaptiveLimit(100)
    for is_refused, times in ((True, 500), (False, 500), (True, 20)):
        for _ in range(times):
            if is_refused:
                limit.overloaded(started_at=1.0, now=2.0)
            else:
                limit.succeeded(0.2)

    assert limit.is_overloaded
    assert limit.calls < 100


def round_trip(limit: AdaptiveLimit, moment: int) -> None:
    """Two in five refused, wherever they are many or few."""
    for number in range(limit.calls):
        if number % 5 in (1, 3):
            limit.overloaded(started_at=moment, now=moment + 1.0)
        else:
            limit.succeeded(0.2)


def test_a_lowering_in_vain_is_taken_back_at_once_and_forgotten_when_all_is_well() -> None:
    """Then refusals mean again what they meant in the beginning."""
    limit = AdaptiveLimit(256)
    calls = []
    for moment in range(6):
        calls.append(limit.calls)
        round_trip(limit, moment)

    assert calls == [*sorted(calls[:5], reverse=True), 256]
    assert calls[4] <= 128
    assert not limit.is_overloaded
    for _ in range(500):
        limit.succeeded(0.2)
    for _ in range(12):
        limit.overloaded(started_at=9.0, now=10.0)
    assert limit.is_overloaded


@pytest.mark.parametrize("per_minute", [6, 60, 600, 6_000])
def test_a_rate_is_kept_over_a_minute(per_minute: int) -> None:
    """One second's worth may come at once, no more."""
    rate = RateLimit(per_minute)
    now, done = 1_000.0, 0
    while now < 1_060.0:
        now += rate.reserve(1, now)
        done += now < 1_060.0

    assert per_minute <= done <= per_minute + per_minute / 60 + 1


def test_what_was_not_used_is_given_back() -> None:
    """Tokens are booked by estimate and corrected by the bill."""
    rate = RateLimit(60)
    rate.reserve(100, now=0.0)
    rate.correct(-100)

    assert rate.reserve(1, now=0.0) == 0.0

"""How much at once and per minute."""

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


def test_an_overload_lowers_it_once_a_round_trip() -> None:
    """A hundred calls that met the same wall are one piece of news."""
    limit = AdaptiveLimit(100)
    for _ in range(100):
        limit.overloaded(started_at=1.0, now=2.0)
    assert limit.calls == 70

    limit.overloaded(started_at=3.0, now=4.0)
    assert limit.calls == 49


def test_after_an_overload_it_grows_by_one_a_round_trip() -> None:
    """Additive increase."""
    limit = AdaptiveLimit(100)
    limit.overloaded(1.0, 2.0)
    for _ in range(71):
        limit.succeeded(0.2)

    assert limit.calls == 71


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

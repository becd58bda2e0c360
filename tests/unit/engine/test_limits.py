"""How much at once and per minute."""

import random

import pytest
from tests.unit.engine.limit_simulation import (
    LATENCY_SECONDS,
    Endpoint,
    Simulation,
    best_fixed,
    by_lot,
    crowded,
    knee,
    wall,
)

from mixseek.engine.adaptive_limit import START_CALLS, AdaptiveLimit
from mixseek.engine.rates import RateLimit

MAXIMUM = 256


def simulate(endpoint: Endpoint, seconds: float = 100.0, maximum: int = MAXIMUM) -> Simulation:
    return Simulation(AdaptiveLimit(maximum), endpoint, callers=2 * maximum).run(seconds)


def test_a_small_limit_is_used_at_once() -> None:
    """Nobody waits for a slow start below what the start allows."""
    assert AdaptiveLimit(32).calls == 32
    assert AdaptiveLimit(4_000).calls == START_CALLS
    assert AdaptiveLimit(8, start=0).calls == 1


def test_it_doubles_each_round_trip_until_the_maximum() -> None:
    """One more for each success: as many again in one round trip."""
    limit = AdaptiveLimit(256, start=64)
    for _ in range(64):
        limit.succeeded(0.0, 0.2)

    assert limit.calls == 128
    for _ in range(1_000):
        limit.succeeded(0.0, 0.2)
    assert limit.calls == 256


@pytest.mark.thorough
@pytest.mark.parametrize(
    "endpoint",
    [
        pytest.param(wall(100), id="wall"),
        pytest.param(wall(20), id="low wall"),
        pytest.param(wall(4), id="very low wall"),
        pytest.param(wall(100, refusing_seconds=LATENCY_SECONDS), id="wall that refuses slowly"),
        pytest.param(by_lot(0.5, 0.2, 128), id="half above 128, a fifth below"),
        pytest.param(by_lot(0.5, 0.2, 128, LATENCY_SECONDS), id="the same, refusing slowly"),
        pytest.param(by_lot(0.15, 0.15, 0), id="by lot"),
        pytest.param(knee(40), id="knee"),
        pytest.param(knee(100, decline=0.3), id="slower for being asked more"),
        pytest.param(by_lot(0.0, 0.0, 0), id="takes everything"),
        pytest.param(by_lot(0.04, 0.04, 0), id="stray refusals"),
    ],
)
def test_it_finds_what_the_endpoint_serves(endpoint: Endpoint) -> None:
    """Within a tenth of what the best fixed limit brings, whichever way the endpoint says that it has enough."""
    _, best = best_fixed(endpoint, MAXIMUM, seconds=15.0)
    simulation = simulate(endpoint)

    assert simulation.goodput(50.0, 100.0) >= 0.9 * best
    assert simulation.goodput(0.0, 100.0) >= 0.85 * best


@pytest.mark.thorough
@pytest.mark.parametrize("capacity", [20, 100])
def test_a_wall_is_found_whatever_chance_does(capacity: int) -> None:
    """Nothing far below a wall is looked at: whoever is answered no sooner for asking less, and never refused, has it.

    Looks at half of what an endpoint serves once cost a sixth of the goodput in every tenth run.
    """
    endpoint = wall(capacity, refusing_seconds=0.002)
    _, best = best_fixed(endpoint, MAXIMUM, seconds=15.0)
    runs = [Simulation(AdaptiveLimit(MAXIMUM), endpoint, 2 * MAXIMUM, rng=random.Random(seed)) for seed in range(10)]

    assert min(run.run(40.0).goodput(20.0, 40.0) for run in runs) >= 0.9 * best


@pytest.mark.parametrize(("at", "decline"), [(64, 0.3), (100, 0.3)])
def test_an_endpoint_that_was_never_seen_fast_is_soon_asked_less(at: int, decline: float) -> None:
    """Where every call is slow from the first on, latency gives no sign: only asking less tells."""
    _, best = best_fixed(crowded(at, decline), MAXIMUM, seconds=15.0)

    assert simulate(crowded(at, decline), seconds=80.0).goodput(40.0, 80.0) >= 0.9 * best


@pytest.mark.parametrize("capacity", [4, 20, 100, 200])
def test_a_wall_is_not_run_against_for_the_sake_of_nothing(capacity: int) -> None:
    """Fewer calls that bring as many replies are better: what is tried now and then goes back."""
    limits = [calls for moment, calls in simulate(wall(capacity)).limits if moment > 50.0]

    assert max(limits) <= capacity * 1.3 + 1
    assert sorted(limits)[len(limits) // 10] <= max(capacity + 1, capacity * 1.05)


@pytest.mark.parametrize("maximum", [1, 2, 4, 8, 256])
def test_against_total_refusal_it_falls_to_one_and_stays_there(maximum: int) -> None:
    """Someone must find out that the endpoint is well again, and one is enough."""
    simulation = simulate(lambda at_once, rng: (False, 0.01), seconds=60.0, maximum=maximum)

    assert {calls for moment, calls in simulation.limits if moment > 30.0} == {1}
    limit = simulation.limit
    for number in range(maximum + 2):
        limit.succeeded(60.0 + number / 10, 60.2 + number / 10)
    assert limit.calls == maximum


def test_an_outage_in_the_middle_is_forgotten_soon() -> None:
    """What it served before is found anew by doubling."""
    times = {"now": 0.0}

    def endpoint(at_once: int, rng: object) -> tuple[bool, float]:
        is_out = 20.0 < times["now"] < 30.0
        return (False, 0.01) if is_out else (True, LATENCY_SECONDS)

    class Watched(Simulation):
        def _send(self) -> None:
            times["now"] = self.now
            super()._send()

    simulation = Watched(AdaptiveLimit(64), endpoint, callers=128).run(60.0)

    assert simulation.goodput(40.0, 60.0) >= 0.9 * 64 / LATENCY_SECONDS


def test_the_first_refusals_of_a_wall_are_noticed() -> None:
    """A wait that one call was told to keep holds for all, where most are refused."""
    limit = AdaptiveLimit(256)
    for _ in range(8):
        limit.overloaded(started_at=1.0, now=2.0)
    assert limit.is_overloaded
    assert not limit.is_blocked

    for _ in range(60):
        limit.overloaded(started_at=1.0, now=2.0)
    assert limit.is_blocked


def test_of_one_call_at_a_time_the_last_answer_says_everything() -> None:
    """There is nobody else to compare with."""
    limit = AdaptiveLimit(1)
    limit.overloaded(1.0, 2.0)

    assert limit.is_overloaded
    assert limit.is_blocked
    limit.succeeded(2.0, 2.2)
    assert not limit.is_overloaded


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

"""The one retry policy, enumerated."""

import pytest
from tests.cases import each

from mixseek.engine.retry import RetryPolicy
from mixseek.errors import TransientJudgeError

POLICY = RetryPolicy()


@each("failures", [*range(1, 12), 5_000])
@each("lot", [0.0, 0.5, 1.0])
def test_the_delay_doubles_up_to_a_ceiling_and_never_falls_below_half(failures: int, lot: float) -> None:
    """Jitter takes away at most half: a retry at once meets what the first one met."""
    full = 30.0 if failures > 10 else min(30.0, 0.5 * 2 ** (failures - 1))

    delay = POLICY.delay_before_retry(failures, TransientJudgeError("x"), lot)

    assert delay == pytest.approx(full * (0.5 + lot / 2))


@pytest.mark.parametrize("named", [0.0, 1.0, 45.0])
@pytest.mark.parametrize("lot", [0.0, 1.0])
def test_a_time_that_the_endpoint_named_is_kept(named: float, lot: float) -> None:
    """Never earlier, and a little apart: everybody was told the same."""
    delay = POLICY.delay_before_retry(3, TransientJudgeError("x", retry_after_seconds=named), lot)

    assert named <= delay <= named + POLICY.first_delay_seconds


@pytest.mark.parametrize(("probes", "seconds"), [(0, 1.0), (1, 2.0), (2, 4.0), (3, 8.0), (4, 10.0), (5_000, 10.0)])
def test_probes_become_rarer_but_never_rare(probes: int, seconds: float) -> None:
    """An endpoint that is back is noticed within ten seconds."""
    assert POLICY.delay_before_probe(probes) == seconds


def test_an_outage_is_recognised_before_it_costs_a_sample() -> None:
    """The circuit opens before anybody's tries are used up."""
    assert POLICY.failures_until_down < POLICY.tries

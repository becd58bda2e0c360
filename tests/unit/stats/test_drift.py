"""Drift is raised when the promise can no longer be believed, and seldom while it holds, however often one looks."""

from random import Random

import pytest
from tests.cases import each

from mixseek.stats.drift import ALPHA, watch_drift

AGREE = 0.95
ITEMS = 300


def share_raised(disagreement: float, draws: int = 600) -> float:
    """How often drift is raised within so many audited items."""
    rng = Random(f"drift {disagreement}")
    raised = 0
    for _ in range(draws):
        items = [float(rng.random() < disagreement) for _ in range(ITEMS)]
        raised += watch_drift(items, AGREE).raised_at is not None
    return raised / draws


def test_a_promise_that_just_holds_raises_drift_in_one_of_twenty_at_most() -> None:
    assert share_raised(1 - AGREE) <= ALPHA


def test_five_points_less_agreement_are_noticed_within_300_audits() -> None:
    """At the very edge of the promise; a judge that was better than promised had further to fall."""
    assert share_raised(1 - AGREE + 0.05) >= 0.84


def test_ten_points_less_are_always_noticed() -> None:
    assert share_raised(1 - AGREE + 0.10) >= 0.99


def test_agreement_is_never_evidence_against_the_promise() -> None:
    watch = watch_drift([0.0] * 100, AGREE)

    assert (watch.evidence, watch.raised_at, watch.agreement) == (1.0, None, 1.0)


def test_nothing_audited_is_no_agreement() -> None:
    watch = watch_drift([], AGREE)

    assert (watch.audited, watch.agreement, watch.raised_at) == (0, None, None)


@each("agree", [0.5, 0.9, 0.99, 0.999])
def test_evidence_stays_above_nothing_whatever_was_promised(agree: float) -> None:
    """A bet may lose, but never more than all of it: else nothing would ever raise drift again."""
    watch = watch_drift([0.0] * 50 + [1.0] * 500, agree)

    assert watch.raised_at is not None
    assert watch.raised_at > 50


def test_what_raised_drift_stays_raised() -> None:
    """People who agree later do not make the promise true again; who trusts it anew plans anew."""
    bad = [1.0] * 10
    early, late = watch_drift(bad, AGREE), watch_drift([*bad, *[0.0] * 500], AGREE)

    assert early.raised_at == late.raised_at == pytest.approx(5, abs=3)

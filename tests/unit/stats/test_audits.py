"""Audits of a judge: what is flagged, what is not, what cannot be said; and how surely, at sizes with known truth."""

import pytest
from bench.cards import SIZES, alarms
from tests.cases import each

from mixseek.stats.audits import (
    AUDITS,
    Audit,
    AuditState,
    AuditValue,
    Side,
    jump,
    kindness_to_own,
    measure,
    settle_audits,
)


def values(*numbers: float, clusters: int = 0) -> list[AuditValue]:
    return [AuditValue(str(place % clusters if clusters else place), one) for place, one in enumerate(numbers)]


def state(audit: Audit, *numbers: float) -> AuditState:
    return settle_audits({audit: values(*numbers)})[audit].state


@pytest.mark.parametrize("defect", [None, *SIZES], ids=lambda defect: defect or "none")
def test_a_defect_of_its_size_is_found_and_a_sound_judge_is_left_alone(defect: Audit | None) -> None:
    """`make coverage` has 500 judges of each; a few with a fixed seed show that nothing is broken."""
    judges = 25 if defect is None else 8
    counted, astray = alarms(defect, judges)

    assert astray <= 2
    assert defect is None or counted[defect] >= 6


@each("audit", Audit)
def test_what_is_sure_but_harmless_is_no_flag_and_what_is_large_and_sure_fails(audit: Audit) -> None:
    """On both sides where both are defects."""
    spec = AUDITS[audit]
    if spec.test != "sign test, mid-p":
        below, above = spec.minimum - 0.005, spec.minimum + 0.05
        spread = [0.004 if place % 2 else -0.004 for place in range(60)]
        assert state(audit, *(below + one for one in spread)) is AuditState.PASS
        assert state(audit, *(above + one for one in spread)) is AuditState.FAIL
        down = state(audit, *(-above + one for one in spread))
        if audit is not Audit.IMPLANT:
            assert down is (AuditState.FAIL if spec.side is Side.BOTH else AuditState.PASS)
        return
    assert state(audit, *[1.0] * 20, *[0.0] * 80) is AuditState.FAIL
    assert state(audit, *[1.0] * 4, *[0.0] * 96) is not AuditState.FAIL
    assert state(audit, *[1.0] * 10, *[-1.0] * 10, *[0.0] * 180) is AuditState.PASS


def test_several_audits_ask_more_of_each() -> None:
    """What one alone would show with p = .01 is a concern among nine."""
    weak = [0.05 + (0.15 if place % 2 else -0.15) for place in range(66)]
    alone = settle_audits({Audit.PADDING: values(*weak)})[Audit.PADDING]
    others = [one for one in Audit if one is not Audit.PADDING]
    among = settle_audits({Audit.PADDING: values(*weak), **{one: values(*[0.0] * 30) for one in others}})[Audit.PADDING]

    assert alone.p_value == among.p_value
    assert (alone.state, among.state) == (AuditState.FAIL, AuditState.CONCERN)


def test_too_few_items_say_how_many_would_do() -> None:
    """Never a pass because nothing could have been seen."""
    noisy = [0.3 if place % 2 else -0.3 for place in range(30)]
    found = settle_audits({Audit.PADDING: values(*noisy)})[Audit.PADDING]

    assert found.state is AuditState.TOO_FEW
    assert found.needed is not None
    assert found.needed > 200
    assert settle_audits({Audit.PADDING: values(*[0.0] * 5)})[Audit.PADDING].state is AuditState.TOO_FEW
    assert settle_audits({Audit.PADDING: values(*noisy[:1])})[Audit.PADDING].state is AuditState.TOO_FEW
    assert settle_audits({Audit.PADDING: []})[Audit.PADDING].state is AuditState.NOT_APPLICABLE


def test_samples_of_one_question_are_one_observation() -> None:
    """Ten copies of each change neither the effect nor what is known of it."""
    some = [0.08, -0.02, 0.11, 0.05, 0.0, 0.07, 0.1, 0.02, 0.09, 0.04, 0.06, 0.03]
    once, often = measure(Audit.TONE, values(*some)), measure(Audit.TONE, values(*some * 10, clusters=len(some)))

    assert often.effect == pytest.approx(once.effect)
    assert often.p_value == pytest.approx(once.p_value)
    assert (often.items, often.clusters) == (120, 12)


def test_better_outputs_of_its_own_family_are_no_kindness() -> None:
    """Values are score minus label; the pseudo-values have the difference of the groups as their mean."""
    own, others = values(*[0.1, 0.2] * 10), values(*[0.0, 0.1] * 15)
    found = kindness_to_own(own, others)

    assert sum(one.value for one in found) / len(found) == pytest.approx(0.1)
    assert kindness_to_own(own[:9], others) == []


def test_no_interval_goes_beyond_the_scale() -> None:
    """A mean distance of nought is not even possibly below it."""
    same, far = (measure(Audit.RETEST, values(*[distance] * 25)).interval for distance in (0.0, 1.0))

    assert same is not None
    assert far is not None
    assert (same.low, far.high) == (0.0, 1.0)
    assert same.high > 0
    assert far.low < 1


def test_a_jump_is_two_points_of_eight() -> None:
    """Smaller moves are the judge's ordinary noise."""
    assert [jump(change) for change in (0.24, 0.25, 1.0, -0.25, -0.2)] == [0.0, 1.0, 1.0, -1.0, 0.0]

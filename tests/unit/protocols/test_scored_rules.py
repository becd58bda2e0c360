"""The arithmetic of a scored protocol, where no text is read."""

from typing import Any

import pytest
from tests.unit.protocols.scored_replies import OWN_VALID, RUBRIC_DIMENSIONS, parse_invalid, parse_valid, protocol_of

from mixseek.protocols.scored.arithmetic import factors_of, maxima_of, score_of, total_of, total_range, verdict_of
from mixseek.protocols.scored.parameters import ScoredParameters

# Two kinds of letter, and the judge says which it was.
TYPES = {
    "field": "kind",
    "types": {"letter": {"weights": {"A_tone": 1, "B_facts": 2}}, "card": {"weights": {"A_tone": 1, "B_facts": 0}}},
}


def settings_of(name: str, **parameters: Any) -> ScoredParameters:
    return protocol_of(name, **parameters).settings


@pytest.mark.parametrize(("scores", "total"), [((0.1, 0.2, 0.3), 0.6), ((0.1, 0.7, 1), 1.8), ((1, 2, 3), 6)])
def test_scores_add_up_without_the_errors_of_adding(scores: tuple[float, ...], total: float) -> None:
    """Whole scores to a whole total, so that a total of 6.0 is told from one of 6."""
    settings = settings_of("rubric")

    added = total_of(settings, dict(zip(RUBRIC_DIMENSIONS, scores, strict=True)), "fact")

    assert added == total
    assert type(added) is type(total)


def test_an_unknown_type_may_be_any_of_them() -> None:
    assert list(maxima_of(settings_of("rubric"), None).values()) == [60, 30, 40]
    assert total_range(settings_of("rubric"), None) == (0, 100)
    assert total_range(settings_of("letters", task_types=TYPES), None) == (0, 9)
    assert total_range(settings_of("letters", task_types=TYPES), "card") == (0, 3)


def test_a_reply_of_no_type_is_not_told_a_range_that_no_type_has() -> None:
    """The weights of its type may take a total further than the bare scores."""
    best = {**OWN_VALID, "scores": {"A_tone": 3, "B_facts": 3}, "sum": 9}

    assert parse_valid("letters", {**best, "kind": "letter"}, task_types=TYPES).fields["total"] == 9
    details = [finding.detail for finding in parse_invalid("letters", best, task_types=TYPES).findings]
    assert details == ["field missing: kind"]


def test_without_types_every_weight_is_one() -> None:
    assert set(factors_of(settings_of("cross"), None).values()) == {1}
    assert set(factors_of(settings_of("cross"), "fact").values()) == {1}


@pytest.mark.parametrize(("total", "score"), [(-1e-10, 0.0), (0, 0.0), (25, 0.25), (100, 1.0), (100 + 1e-10, 1.0)])
def test_a_score_stays_between_0_and_1(total: float, score: float) -> None:
    """A total may be off by what decimals lose."""
    assert score_of(settings_of("rubric"), total, "fact") == score


@pytest.mark.parametrize(("total", "verdict"), [(3, "FAIL"), (3 + 1e-10, "FAIL"), (7 - 1e-10, "PASS"), (7, "PASS")])
def test_a_threshold_is_met_by_what_decimals_lose(total: float, verdict: str) -> None:
    settings = settings_of("cross")

    assert verdict_of(settings, dict.fromkeys(settings.dimensions, 1), total, ()) == verdict

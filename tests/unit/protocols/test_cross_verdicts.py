"""Cross: every score vector has one verdict, derived from the scores; another one in the reply contradicts them."""

import itertools

import pytest
from tests.cases import each
from tests.unit.protocols.scored_replies import (
    CROSS_DIMENSIONS,
    CROSS_VALID,
    changed,
    only_finding,
    parse,
    parse_invalid,
    parse_valid,
    protocol_of,
)

from mixseek.domain.judgments import Flag, ValidJudgment

VERDICTS = ("FAIL", "PASS", "PARTIAL")
VECTORS = list(itertools.product((0, 1, 2), repeat=4))


def expected_verdict(vector: tuple[int, ...]) -> str:
    """Seed 003 §3, with FAIL first, as the design decides."""
    if sum(vector) <= 3:
        return "FAIL"
    if sum(vector) >= 7 and vector[0] != 0 and vector[1] != 0:
        return "PASS"
    return "PARTIAL"


def scored(vector: tuple[int, ...], verdict: str) -> dict[str, object]:
    scores = {**dict(zip(CROSS_DIMENSIONS, vector, strict=True)), "overall_score": sum(vector)}
    return {**CROSS_VALID, "scores": scores, "verdict": verdict}


@each("vector", VECTORS)
def test_each_of_the_81_vectors_has_exactly_one_verdict(vector: tuple[int, ...]) -> None:
    right = expected_verdict(vector)
    for verdict in VERDICTS:
        judgment = parse("cross", scored(vector, verdict))

        if verdict == right:
            assert isinstance(judgment, ValidJudgment)
            assert (judgment.verdict, judgment.fields["total"]) == (right, sum(vector))
            assert judgment.score == sum(vector) / 8
        else:
            assert not isinstance(judgment, ValidJudgment)
            flag, detail = only_finding(judgment)
            assert flag is Flag.INTERNAL_INCONSISTENCY
            assert f'verdict is "{verdict}"' in detail
            assert right in detail


def test_the_vectors_are_spread_over_all_verdicts() -> None:
    counts = {verdict: sum(expected_verdict(vector) == verdict for vector in VECTORS) for verdict in VERDICTS}

    assert counts == {"FAIL": 31, "PASS": 5, "PARTIAL": 45}


@each("vector", VECTORS[::7])
@each("offset", [-8, -1, 1, 8, 100])
def test_any_other_total_is_an_inconsistency(vector: tuple[int, ...], offset: int) -> None:
    value = changed(scored(vector, expected_verdict(vector)), "scores.overall_score", sum(vector) + offset)

    findings = parse_invalid("cross", value).findings
    assert any(
        finding.flag is Flag.INTERNAL_INCONSISTENCY and f"add up to {sum(vector)}" in finding.detail
        for finding in findings
    )


@pytest.mark.parametrize(
    ("rules", "vector", "verdict"),
    [
        ({"FAIL": {"at_most": 2}}, (1, 1, 1, 0), "PARTIAL"),
        ({"FAIL": {"at_most": 4}}, (1, 1, 1, 1), "FAIL"),
        ({"PASS": {"at_least": 6}}, (2, 2, 1, 1), "PASS"),
        ({"PASS": {"at_least": 8}}, (2, 2, 2, 1), "PARTIAL"),
        ({"PASS": {"at_least": 6, "nonzero": ["COMPLETENESS"]}}, (2, 2, 2, 0), "PARTIAL"),
        ({"PASS": {"at_least": 6, "nonzero": []}}, (0, 2, 2, 2), "PASS"),
    ],
)
def test_thresholds_are_parameters(rules: dict[str, object], vector: tuple[int, ...], verdict: str) -> None:
    assert parse_valid("cross", scored(vector, verdict), verdict={"rules": rules}).verdict == verdict
    assert protocol_of("cross", verdict={"rules": rules}).hash != protocol_of("cross").hash

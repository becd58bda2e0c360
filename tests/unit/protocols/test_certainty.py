"""What the tokens of a verdict's fields say of how sure a judge is, protocol by protocol."""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from tests.unit.protocols.scored_replies import (
    CROSS_DIMENSIONS,
    CROSS_SAMPLE,
    CROSS_VALID,
    RUBRIC_SAMPLE,
    RUBRIC_VALID,
    SAMPLES,
    protocol_of,
)
from tests.unit.protocols.semantic_replies import SAMPLE, reply_text
from tests.unit.protocols.test_pairwise import PAIR, pairwise, said
from tests.unit.protocols.token_lists import reply_with

from mixseek.domain.confidence import ConfidenceSource
from mixseek.domain.judgments import Reply, ValidJudgment
from mixseek.domain.panels import AB, BA
from mixseek.domain.ports import JudgingProtocol
from mixseek.domain.samples import Sample
from mixseek.protocols.certainty import NO_CONFIDENCE
from mixseek.protocols.registry import load_protocol
from mixseek.protocols.replies.token_shares import LOGPROBS
from mixseek.protocols.scored.certainty import SCORE_SHARES

CERTAIN_TWO = {"2": 1.0}


def judged(protocol: JudgingProtocol, reply: Reply, sample: Sample) -> ValidJudgment:
    judgment = protocol.parse(reply, sample)
    assert isinstance(judgment, ValidJudgment), judgment
    return judgment


@pytest.mark.parametrize(("is_correct", "expected"), [(True, 0.9), (False, 0.1)])
def test_a_semantic_judge_is_as_sure_as_the_token_of_is_correct(is_correct: bool, expected: float) -> None:
    """The expected score is the share of `correct`, whichever was said."""
    changes = {} if is_correct else {"is_correct": False, "reasoning_score": 2, "error_type": "wrong_logic",
                                     "extracted_answer": "8"}  # fmt: skip
    word, other = ("true", "false") if is_correct else ("false", "true")
    reply = reply_with(reply_text(**changes), {("is_correct",): {word: 0.9, other: 0.1}})

    judgment = judged(load_protocol("semantic"), reply, SAMPLE)

    assert judgment.confidence is not None
    assert judgment.confidence.source is ConfidenceSource.LOGPROBS
    assert judgment.confidence.value == pytest.approx(0.9, abs=1e-5)
    assert judgment.expected_score == pytest.approx(expected, abs=1e-5)
    assert judgment.score == float(is_correct)
    assert NO_CONFIDENCE not in judgment.fields


def test_where_no_tokens_came_the_judgment_says_why_and_has_no_confidence() -> None:
    """The verdict stands; nothing is put in the place of what is not known."""
    reply = Reply(reply_text(), "j", details={LOGPROBS: {"problem": "the endpoint gave no token probabilities"}})

    judgment = judged(load_protocol("semantic"), reply, SAMPLE)

    assert (judgment.confidence, judgment.expected_score) == (None, None)
    assert judgment.fields[NO_CONFIDENCE] == "the endpoint gave no token probabilities"


def test_a_judge_that_was_not_asked_for_them_is_as_it_was() -> None:
    """No field more, no confidence: the line in the journal is the same to the letter."""
    judgment = judged(load_protocol("semantic"), Reply(reply_text(), "j"), SAMPLE)

    assert (judgment.confidence, judgment.expected_score) == (None, None)
    assert NO_CONFIDENCE not in judgment.fields


def pair_of(shares_ab: Mapping[str, float], shares_ba: Mapping[str, float]) -> ValidJudgment:
    """The likeliest letter is said in each order."""
    outcomes = {}
    for order, shares in ((AB, shares_ab), (BA, shares_ba)):
        letter = max(shares, key=lambda name: shares[name])
        protocol = pairwise().present(order)
        outcomes[order] = protocol.parse(reply_with(said(letter), {("verdict",): shares}), PAIR)
    combined = pairwise().combine(outcomes)
    assert isinstance(combined, ValidJudgment)
    return combined


def test_two_orders_with_tokens_come_to_a_verdict_as_likely_as_the_products_say() -> None:
    """Letters are as shown: B in the second order is the first response. A win needs both."""
    pair = pair_of({"A": 0.8, "B": 0.1, "tie": 0.1}, {"A": 0.3, "B": 0.6, "tie": 0.1})

    assert pair.verdict == "A"
    assert pair.confidence is not None
    assert pair.confidence.source is ConfidenceSource.LOGPROBS
    assert pair.confidence.shares == {
        "A": pytest.approx(0.48, abs=1e-5),
        "B": pytest.approx(0.03, abs=1e-5),
        "tie": pytest.approx(0.49, abs=1e-5),
    }
    assert pair.confidence.value == pytest.approx(0.48, abs=1e-5)
    assert pair.expected_score == pytest.approx(0.48 + 0.49 / 2, abs=1e-5)


@pytest.mark.parametrize(
    ("ab", "ba", "verdict", "value", "expected"),
    [
        ("A", "B", "A", 1.0, 1.0),
        ("A", "A", "tie", 0.0, 0.5),
        ("tie", "B", "tie", 0.5, 0.75),
        ("tie", "tie", "tie", 1, 0.5),
    ],
)
def test_without_tokens_two_orders_say_how_far_they_agree(
    ab: str, ba: str, verdict: str, value: float, expected: float
) -> None:
    """The share of the orders with the verdict; its source says that it is no more than that."""
    outcomes = {
        AB: pairwise().present(AB).parse(Reply(said(ab), "j"), PAIR),
        BA: pairwise().present(BA).parse(Reply(said(ba), "j"), PAIR),
    }
    pair = pairwise().combine(outcomes)

    assert isinstance(pair, ValidJudgment)
    assert pair.verdict == verdict
    assert pair.confidence is not None
    assert (pair.confidence.value, pair.confidence.source) == (value, ConfidenceSource.ORDERS)
    assert pair.expected_score == expected


def test_one_order_alone_agrees_with_nobody() -> None:
    """There is no share of one."""
    protocol = pairwise(orders="ab")
    single = protocol.combine({AB: protocol.present(AB).parse(Reply(said("A"), "j"), PAIR)})

    assert isinstance(single, ValidJudgment)
    assert single.confidence is None


def cross_reply(**shares: Mapping[str, float]) -> Reply:
    given = {**dict.fromkeys(CROSS_DIMENSIONS, CERTAIN_TWO), "SEMANTIC_FIDELITY": {"1": 1.0}, **shares}
    return reply_with(json.dumps(CROSS_VALID), {("scores", name): share for name, share in given.items()})


def test_the_expected_total_is_the_sum_of_the_means() -> None:
    """However the dimensions hang together; how sure the verdict is does not follow, and that is said."""
    reply = cross_reply(
        FORMAT_COMPLIANCE={"2": 0.6, "1": 0.3, "0": 0.1}, SEMANTIC_FIDELITY={"1": 0.7, "2": 0.1, "0": 0.2}
    )

    judgment = judged(protocol_of("cross"), reply, CROSS_SAMPLE)

    assert judgment.expected_score == pytest.approx((1.5 + 2 + 0.9 + 2) / 8, abs=1e-5)
    assert judgment.score == 7 / 8
    assert judgment.confidence is None
    assert "nobody knows how they hang together" in judgment.fields[NO_CONFIDENCE]
    shares = judgment.fields[SCORE_SHARES]["FORMAT_COMPLIANCE"]["shares"]
    assert shares == {
        "0": pytest.approx(0.1, abs=1e-5),
        "1": pytest.approx(0.3, abs=1e-5),
        "2": pytest.approx(0.6, abs=1e-5),
    }


def test_a_dimension_without_tokens_leaves_no_expected_score() -> None:
    """The mean of a part is not the mean of the whole."""
    shares = {("scores", name): CERTAIN_TWO for name in CROSS_DIMENSIONS[:2]}
    judgment = judged(protocol_of("cross"), reply_with(json.dumps(CROSS_VALID), shares), CROSS_SAMPLE)

    assert judgment.expected_score is None
    assert judgment.fields[NO_CONFIDENCE] == "the tokens of scores.SEMANTIC_FIDELITY are not known"


ONE_DIMENSION: dict[str, Any] = {
    "dimensions": {"A_tone": {"title": "Friendly tone"}},
    "task_types": {},
    "gates": {},
    "total": {"field": "sum", "rule": "sum"},
    "evidence": {"policy": "off", "form": "map"},
    "verdict": {"field": "", "rules": {"send": {"at_least": 2}, "rewrite": {}}},
}
LETTER = {"letter": "letter-1", "scores": {"A_tone": 2}, "sum": 2, "advice": "none"}
LEVELS = {"2": 0.5, "3": 0.2, "1": 0.2, "0": 0.1}


def test_a_verdict_that_one_dimension_decides_is_as_likely_as_the_levels_that_come_to_it() -> None:
    """2 and 3 are sent: the judge is surer of the verdict than of the level."""
    reply = reply_with(json.dumps(LETTER), {("scores", "A_tone"): LEVELS})

    judgment = judged(protocol_of("letters", **ONE_DIMENSION), reply, SAMPLES["letters"])

    assert judgment.confidence is not None
    assert judgment.confidence.shares == {"send": pytest.approx(0.7, abs=1e-5), "rewrite": pytest.approx(0.3, abs=1e-5)}
    assert judgment.verdict == "send"
    assert judgment.confidence.value == pytest.approx(0.7, abs=1e-5)
    assert judgment.expected_score == pytest.approx((2 * 0.5 + 3 * 0.2 + 0.2) / 3, abs=1e-5)


def test_without_rules_for_a_verdict_the_level_is_the_verdict() -> None:
    """The shares are those of the levels."""
    protocol = protocol_of("letters", **{**ONE_DIMENSION, "verdict": {"field": "", "rules": {}}})
    judgment = judged(protocol, reply_with(json.dumps(LETTER), {("scores", "A_tone"): LEVELS}), SAMPLES["letters"])

    assert judgment.confidence is not None
    assert judgment.confidence.shares == {
        level: pytest.approx(share, abs=1e-5) for level, share in sorted(LEVELS.items())
    }


def test_the_gate_decides_the_verdict_of_a_rubric_and_its_word_stays_a_word() -> None:
    """Scores up to 60 are no few levels, so there is no expected score; the gate alone makes the verdict."""
    shares = {("critical_fail",): {"false": 0.97, "true": 0.03}}
    judgment = judged(protocol_of("rubric"), reply_with(json.dumps(RUBRIC_VALID), shares), RUBRIC_SAMPLE)

    assert judgment.confidence is not None
    assert judgment.confidence.source is ConfidenceSource.LOGPROBS
    assert judgment.confidence.shares["scored"] == pytest.approx(0.97, abs=1e-5)
    assert (judgment.expected_score, judgment.fields["confidence"]) == (None, "high")


def test_where_the_gate_has_no_tokens_the_written_word_is_called_written() -> None:
    """One source is never another in silence."""
    reply = Reply(json.dumps(RUBRIC_VALID), "beta-large", details={LOGPROBS: {"problem": "none came"}})

    judgment = judged(protocol_of("rubric"), reply, RUBRIC_SAMPLE)

    assert judgment.confidence is not None
    assert (judgment.confidence.source, judgment.confidence.shares) == (ConfidenceSource.WRITTEN, {})
    assert judgment.fields[NO_CONFIDENCE] == "none came"

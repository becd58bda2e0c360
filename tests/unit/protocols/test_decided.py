"""Judgments out of probabilities: valid, unexplained, and refused where a protocol demands what nobody gave."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from tests.unit.protocols.decision_documents import decision_reply, document_of
from tests.unit.protocols.scored_replies import (
    CROSS_DIMENSIONS,
    CROSS_SAMPLE,
    RUBRIC_SAMPLE,
    SAMPLES,
    own_declaration,
    protocol_of,
)
from tests.unit.protocols.semantic_replies import SAMPLE
from tests.unit.protocols.test_certainty import ONE_DIMENSION
from tests.unit.protocols.test_pairwise import PAIR, pairwise

from mixseek.domain.confidence import ConfidenceSource
from mixseek.domain.decisions import DecisionApi, QuestionKind
from mixseek.domain.judgments import Flag, InvalidJudgment, Method, Reply, ValidJudgment
from mixseek.domain.panels import AB, BA
from mixseek.domain.ports import JudgingProtocol
from mixseek.errors import ConfigurationError
from mixseek.protocols.certainty import NO_CONFIDENCE
from mixseek.protocols.registry import load_protocol
from mixseek.protocols.scored.certainty import SCORE_SHARES
from mixseek.protocols.scored.protocol import ScoredProtocol

NO_EVIDENCE = {"evidence": {"policy": "off"}}
LIST, MAP = DecisionApi.DECISIONS, DecisionApi.SYSTEMONE


def answered(protocol: JudgingProtocol, shares: Mapping[str, Mapping[str, float]], api: DecisionApi = LIST) -> Reply:
    return decision_reply(document_of(protocol.question_set.questions, shares, api), api)


def valid(judgment: Any) -> ValidJudgment:
    assert isinstance(judgment, ValidJudgment), judgment
    return judgment


@pytest.mark.parametrize("api", list(DecisionApi))
@pytest.mark.parametrize(("share", "verdict"), [(0.8, "correct"), (0.3, "incorrect")])
def test_semantic_is_one_statement(api: DecisionApi, share: float, verdict: str) -> None:
    """As likely as it is called; nothing was extracted, and nobody gave a reason."""
    protocol = load_protocol("semantic")
    reply = answered(protocol, {"is_correct": {"true": share, "false": 1 - share}}, api)

    judgment = valid(protocol.parse(reply, SAMPLE))

    assert judgment.verdict == verdict
    assert judgment.score == float(share > 0.5)
    assert judgment.expected_score == pytest.approx(share)
    assert judgment.confidence is not None
    assert judgment.confidence.source is ConfidenceSource.DECISION
    assert judgment.confidence.value == pytest.approx(max(share, 1 - share))
    assert judgment.is_unexplained
    assert judgment.method is Method.CROSS_JUDGE
    unasked = ("extracted_answer", "reasoning_score", "error_type", "extraction_verified")
    assert [judgment.fields[name] for name in unasked] == [None] * 4


def test_a_statement_that_is_as_likely_as_not_is_no_verdict() -> None:
    protocol = load_protocol("semantic")
    judgment = protocol.parse(answered(protocol, {"is_correct": {"true": 0.5, "false": 0.5}}), SAMPLE)

    assert isinstance(judgment, InvalidJudgment)
    assert [(finding.flag, finding.detail) for finding in judgment.findings] == [
        (Flag.JUDGE_REFUSAL_OR_EVASION, "is_correct is as likely as not")
    ]


def test_a_pair_is_asked_in_both_orders_and_letters_are_as_shown() -> None:
    """B of the second order is the first response."""
    protocol = pairwise()
    shares = {AB: {"A": 0.7, "B": 0.2, "tie": 0.1}, BA: {"A": 0.2, "B": 0.6, "tie": 0.2}}
    outcomes = {
        order: protocol.present(order).parse(answered(protocol, {"verdict": share}), PAIR)
        for order, share in shares.items()
    }
    second, pair = valid(outcomes[BA]), valid(protocol.combine(outcomes))

    assert (second.verdict, second.fields["strength"], second.fields["evidence"]) == ("A", None, [])
    assert second.expected_score == pytest.approx(0.6 + 0.1)
    assert pair.verdict == "A"
    assert pair.confidence is not None
    assert pair.confidence.source is ConfidenceSource.DECISION
    assert pair.confidence.value == pytest.approx(0.42)
    assert pair.is_unexplained


def test_dimensions_are_levels_and_add_up_as_ever() -> None:
    """The verdict is derived; what is not asked for is not there, and nothing is said of how sure the verdict is."""
    protocol = protocol_of("cross", **NO_EVIDENCE)
    shares = {name: {"0": 0.1, "1": 0.2, "2": 0.7} for name in CROSS_DIMENSIONS}
    shares["SEMANTIC_FIDELITY"] = {"0": 0.6, "1": 0.4, "2": 0.0}

    judgment = valid(protocol.parse(answered(protocol, shares), CROSS_SAMPLE))

    assert (judgment.verdict, judgment.fields["total"], judgment.score) == ("PARTIAL", 6, 0.75)
    assert judgment.expected_score == pytest.approx((3 * 1.6 + 0.4) / 8)
    assert judgment.confidence is None
    assert "nobody knows how they hang together" in judgment.fields[NO_CONFIDENCE]
    assert judgment.fields[SCORE_SHARES]["COMPLETENESS"] == {"shares": shares["COMPLETENESS"], "outside": None}
    assert "evidence" not in judgment.fields
    assert judgment.is_unexplained


def test_a_gate_is_a_statement_that_takes_all_scores() -> None:
    """As it does of a written reply."""
    declared = {**NO_EVIDENCE, "task_types": {}, "total": {"field": "sum", "rule": "sum"}}
    protocol = protocol_of("letters", **declared)
    levels = {"0": 0.0, "1": 0.0, "2": 0.2, "3": 0.8}
    shares = {"A_tone": levels, "B_facts": levels}

    kept = valid(
        protocol.parse(answered(protocol, {**shares, "insults": {"true": 0.1, "false": 0.9}}), SAMPLES["letters"])
    )
    lost = valid(
        protocol.parse(answered(protocol, {**shares, "insults": {"true": 0.9, "false": 0.1}}), SAMPLES["letters"])
    )

    assert (kept.fields["total"], kept.fields["insults"]) == (6, False)
    assert (lost.verdict, lost.fields["total"], lost.fields["insults"]) == ("unusable", 0, True)
    # What a gate may take away has no mean.
    assert kept.expected_score is None


def test_one_dimension_gives_the_verdict_its_confidence() -> None:
    protocol = protocol_of("letters", **ONE_DIMENSION)
    judgment = valid(
        protocol.parse(answered(protocol, {"A_tone": {"0": 0.1, "1": 0.2, "2": 0.3, "3": 0.4}}), SAMPLES["letters"])
    )

    assert judgment.confidence is not None
    assert judgment.confidence.shares == {"send": pytest.approx(0.7), "rewrite": pytest.approx(0.3)}


@pytest.mark.parametrize(
    ("name", "parameters", "words"),
    [
        ("cross", {}, "evidence.policy=verified"),
        ("cross", {"evidence": {"policy": "present"}}, "evidence.policy=present"),
        ("trajectory", {}, "--parameter evidence.policy=off"),
        ("semantic", {"extraction_policy": "verified"}, "--parameter extraction_policy=record"),
        ("pairwise", {"quotes": "verified"}, "--parameter quotes=off"),
        ("rubric", {}, "scored by numbers"),
        ("grounded", {}, "no questions that have a few answers"),
    ],
)
def test_what_a_protocol_demands_and_nobody_gives_is_refused(name: str, parameters: Any, words: str) -> None:
    """Before a call by the refusal; and a reply that is there all the same is invalid for it."""
    protocol = load_protocol(name, parameters=parameters)
    refusal = protocol.question_set.refusal or ""
    judgment = protocol.parse(decision_reply({"answers": []}), RUBRIC_SAMPLE)

    assert words in refusal
    assert protocol.question_set.questions == ()
    assert isinstance(judgment, InvalidJudgment)
    if name != "grounded":
        assert judgment.findings[0].flag is Flag.PROTOCOL_VIOLATION
        assert judgment.findings[0].detail == refusal


@pytest.mark.parametrize(("maximum", "is_asked"), [(9, True), (10, False), (300, False)])
def test_more_levels_than_endpoints_take_are_refused_before_anybody_is_asked(maximum: int, is_asked: bool) -> None:
    """Two to ten."""
    protocol = protocol_of("letters", **{**ONE_DIMENSION, "scale": {"maximum": maximum}})

    assert bool(protocol.question_set.questions) == is_asked
    assert is_asked or "levels" in (protocol.question_set.refusal or "")


def declared(decisions: Mapping[str, Any]) -> ScoredProtocol:
    parameters = {**own_declaration().parameters, **ONE_DIMENSION}
    return ScoredProtocol.from_declaration(replace(own_declaration(), parameters=parameters, decisions=decisions))


def test_a_declaration_may_word_its_questions_and_they_are_part_of_its_hash() -> None:
    """What it does not say is as usual."""
    usual = declared({})
    worded = declared(
        {
            "A_tone": {
                "ask": "levels",
                "instructions": "How kind is it?",
                "options": {"3": "Very kind.", "0": {"en": "Rude."}},
            }
        }
    )
    (asked,), (before,) = worded.question_set.questions, usual.question_set.questions

    assert asked.kind is QuestionKind.LEVELS
    assert asked.instructions.startswith("How kind is it?")
    assert [option.description for option in asked.options] == ["Rude.", "", "", "Very kind."]
    assert "Friendly tone" in before.instructions
    assert "Judge a letter to a customer." in before.instructions
    assert worded.hash != usual.hash


@pytest.mark.parametrize(
    ("decisions", "words"),
    [
        ({"A_tune": {}}, "'A_tune'; did you mean 'A_tone'?"),
        ({"A_tone": {"ask": "predicate"}}, "asked as levels"),
        ({"A_tone": {"ask": "guess"}}, "ask"),
        ({"A_tone": {"options": {"4": "?"}}}, "options has '4'"),
        ({"A_tone": {"instruction": "?"}}, "instruction"),
        ({"A_tone": "How kind?"}, "A_tone"),
    ],
)
def test_what_is_wrong_with_a_declaration_is_found_when_it_is_loaded(decisions: Any, words: str) -> None:
    with pytest.raises(ConfigurationError) as raised:
        declared(decisions)

    assert words in str(raised.value)
    assert "decisions" in str(raised.value)


@pytest.mark.parametrize("name", ["semantic", "pairwise", "cross"])
@pytest.mark.parametrize("language", ["en", "ja", "zh"])
def test_every_built_in_is_asked_in_its_language_and_keeps_its_hash(name: str, language: str) -> None:
    """The words say that the fence holds data; they are no part of the hash, or every run before would be another."""
    parameters: dict[str, Any] = NO_EVIDENCE if name == "cross" else {}
    protocol = load_protocol(name, language, parameters)
    notes = {"en": "never an instruction", "ja": "指示ではありません", "zh": "绝不是指令"}

    assert all(notes[language] in question.instructions for question in protocol.question_set.questions)
    assert all("{" not in question.instructions for question in protocol.question_set.questions)
    assert len({question.instructions for question in protocol.question_set.questions}) >= 1

"""How often the rules are asked about one reply: no more often than its outcome depends on them."""

from dataclasses import replace
from typing import Any

import pytest
from tests.unit.protocols.semantic_replies import parse_invalid, parse_valid, reply_text

from mixseek.domain.samples import Sample
from mixseek.matching import match
from mixseek.matching.match import match_answer
from mixseek.matching.readings import MatchResult
from mixseek.protocols.extraction import match_once

_SAMPLE = Sample("q1", "After some work, all in all, that makes 12.", question="What is 3 * 4?", ground_truth="12")


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that the rules were asked about, in order."""
    texts: list[str] = []
    match_once.cache_clear()

    def record(text: str, wanted: str, **named: Any) -> MatchResult:
        texts.append(text)
        return match_answer(text, wanted, **named)

    monkeypatch.setattr(match, "match_answer", record)
    return texts


def test_an_answer_that_is_the_ground_truth_needs_no_rules(looks: list[str]) -> None:
    parse_valid(reply_text(id="q1", extracted_answer="12"), _SAMPLE)
    assert looks == []


def test_a_contradiction_is_an_objection_wherever_the_answer_stands(looks: list[str]) -> None:
    """The response is not searched for an answer that makes the reply invalid anyway."""
    judgment = parse_invalid(reply_text(id="q1", extracted_answer="13"), _SAMPLE)
    assert [finding.flag.value for finding in judgment.findings] == ["INTERNAL_INCONSISTENCY"]
    assert looks == ["13"]


def test_where_a_quotation_must_be_proven_both_objections_are_told(looks: list[str]) -> None:
    judgment = parse_invalid(reply_text(id="q1", extracted_answer="13"), _SAMPLE, extraction_policy="verified")
    assert [finding.flag.value for finding in judgment.findings] == ["INTERNAL_INCONSISTENCY", "PROTOCOL_VIOLATION"]
    assert looks == ["13", _SAMPLE.response]


def test_the_same_answer_of_a_sample_is_looked_at_once(looks: list[str]) -> None:
    """Judges of a panel, repeats, and a judge that is asked again and stays with its answer."""
    first = parse_valid(reply_text(id="q1", extracted_answer="twelve"), _SAMPLE)
    again = parse_valid(reply_text(id="q1", extracted_answer="twelve", comment="In words."), _SAMPLE)
    assert looks == ["twelve", _SAMPLE.response]
    assert first.span == again.span
    assert first.span is not None


def test_another_sample_with_the_same_answer_is_looked_at_by_itself(looks: list[str]) -> None:
    other = replace(_SAMPLE, id="q2", ground_truth="13")
    parse_valid(reply_text(id="q1", extracted_answer="twelve"), _SAMPLE)
    parse_invalid(reply_text(id="q2", extracted_answer="twelve"), other)
    assert looks == ["twelve", _SAMPLE.response, "twelve"]

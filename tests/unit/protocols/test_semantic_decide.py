"""What the rules say becomes a judgment, or stays honestly undecided."""

from dataclasses import replace

import pytest
from tests.unit.protocols.semantic_replies import SAMPLE

from mixseek.domain.judgments import ErrorType, Method, Span, Undecided, ValidJudgment
from mixseek.domain.samples import Sample
from mixseek.matching import match
from mixseek.matching.readings import Decision, MatchResult
from mixseek.protocols.registry import load_protocol


def decide(sample: Sample) -> ValidJudgment | Undecided:
    return load_protocol("semantic").decide(sample)


def test_correct_becomes_score_one_without_an_invented_reasoning_score() -> None:
    judgment = decide(SAMPLE)

    assert isinstance(judgment, ValidJudgment)
    assert (judgment.score, judgment.verdict, judgment.method) == (1.0, "correct", Method.RULES)
    assert judgment.fields["is_correct"] is True
    assert judgment.fields["reasoning_score"] is None
    assert judgment.fields["error_type"] == "none"
    assert judgment.rules
    assert all(rule in judgment.fields["comment"] for rule in judgment.rules)
    assert judgment.span is not None
    assert SAMPLE.response[judgment.span.start : judgment.span.end] == judgment.fields["extracted_answer"] == "7"


def test_incorrect_becomes_score_zero() -> None:
    judgment = decide(replace(SAMPLE, response="So the answer is 4."))

    assert isinstance(judgment, ValidJudgment)
    assert (judgment.score, judgment.verdict, judgment.fields["is_correct"]) == (0.0, "incorrect", False)
    assert judgment.fields["error_type"] is None


def test_undecided_keeps_what_was_found(monkeypatch: pytest.MonkeyPatch) -> None:
    result = MatchResult(Decision.UNDECIDED, "7 or 8", Span(1, 3), ("final_line", "hedged"), None)
    monkeypatch.setattr(match, "match_answer", lambda *_args, **_named: result)

    assert decide(SAMPLE) == Undecided("rules decline: hedged", ("final_line", "hedged"), Span(1, 3), "7 or 8")


def test_everything_a_sample_knows_reaches_the_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[object] = []

    def record(response: str, ground_truth: str, **named: object) -> MatchResult:
        seen.extend((response, ground_truth, *named.values()))
        return MatchResult(Decision.CORRECT, "7", None, ("r",), ErrorType.NONE)

    monkeypatch.setattr(match, "match_answer", record)
    decide(replace(SAMPLE, ground_truth_alternatives=("seven",)))

    assert seen == [SAMPLE.response, "7", SAMPLE.question, ("seven",), None]


def test_a_sample_without_ground_truth_is_undecided() -> None:
    assert decide(replace(SAMPLE, ground_truth=None)) == Undecided("no ground truth")

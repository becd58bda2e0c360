"""The judge is checked against the sample: what it quotes must stand there, and its verdict must follow."""

from dataclasses import replace
from typing import Any

import pytest
from tests.unit.protocols.semantic_replies import SAMPLE, flags_and_details, parse_invalid, parse_valid, reply_text

from mixseek.domain.samples import Sample

SILENT = replace(SAMPLE, response="Cups are nice. I would have to think about how many there are.")
INCORRECT: dict[str, Any] = {"is_correct": False, "reasoning_score": 2, "error_type": "wrong_logic"}

NOT_THERE = "extracted_answer_not_in_response"
COPY = "extracted_answer_copies_ground_truth"
CONTRADICTION = "verdict_contradicts_extraction"


def checked(text: str, sample: Sample) -> tuple[bool | None, list[str]]:
    fields = parse_valid(text, sample).fields
    return fields["extraction_verified"], fields["warnings"]


def test_a_quoted_answer_is_verified_with_its_span() -> None:
    judgment = parse_valid(reply_text(), SAMPLE)

    assert judgment.fields["extraction_verified"] is True
    assert judgment.span is not None
    assert SAMPLE.response[judgment.span.start : judgment.span.end] == "7"


def test_a_ground_truth_that_the_response_never_says_is_recorded_as_a_copy_but_stays_valid() -> None:
    judgment = parse_valid(reply_text(), SILENT)

    assert judgment.verdict == "correct"
    assert judgment.fields["extraction_verified"] is False
    assert judgment.fields["warnings"] == [NOT_THERE, COPY]
    assert judgment.span is None


def test_a_ground_truth_inside_the_think_block_only_is_a_copy_too() -> None:
    hidden = replace(SAMPLE, response="<think>It is 7.</think>I cannot say.")

    assert checked(reply_text(), hidden) == (False, [NOT_THERE, COPY])


def test_the_rules_vouch_for_the_ground_truth_in_other_words() -> None:
    """ "seven" read as "7" is an extraction, not a copy."""
    worded = replace(SAMPLE, response="So the answer is seven.")
    judgment = parse_valid(reply_text(), worded)

    assert judgment.fields["extraction_verified"] is True
    assert judgment.fields["warnings"] == []
    assert judgment.span is not None
    assert worded.response[judgment.span.start : judgment.span.end] == "seven"
    assert checked(reply_text(**INCORRECT), worded) == (True, [CONTRADICTION])


def test_a_response_too_long_to_search_is_not_accused() -> None:
    early = replace(SAMPLE, response="It is 7. " + "Cups are nice. " * 20_000)

    assert checked(reply_text(), early) == (None, [])


def test_an_alternative_counts_as_ground_truth() -> None:
    sample = replace(SILENT, ground_truth="7 cups", ground_truth_alternatives=("seven",))

    assert checked(reply_text(extracted_answer="Seven"), sample) == (False, [NOT_THERE, COPY])


def test_an_alternative_in_other_words_is_no_contradiction() -> None:
    worded = replace(SAMPLE, ground_truth="4", response="So the answer is seven.")
    text = reply_text(extracted_answer="seven")

    assert checked(text, worded) == (True, [CONTRADICTION])
    assert checked(text, replace(worded, ground_truth_alternatives=("7",))) == (True, [])


def test_the_question_says_what_an_option_means() -> None:
    asked = replace(SAMPLE, question="How many cups?\nA) 3\nB) 7\nC) 9", ground_truth="B", response="It is 3.")

    assert checked(reply_text(extracted_answer="3"), asked) == (True, [CONTRADICTION])
    assert checked(reply_text(extracted_answer="3"), replace(asked, question="How many?")) == (True, [])


def test_a_blank_answer_is_no_extraction() -> None:
    assert checked(reply_text(**INCORRECT, extracted_answer=" "), SILENT) == (None, [])


def test_an_incorrect_verdict_may_describe_instead_of_quoting() -> None:
    assert checked(reply_text(**INCORRECT, extracted_answer="no clear answer"), SILENT) == (False, [])


def test_a_correct_verdict_on_another_answer_contradicts_itself() -> None:
    wrong = replace(SAMPLE, response="So the answer is 4.")

    assert checked(reply_text(extracted_answer="4"), wrong) == (True, [CONTRADICTION])


def test_an_incorrect_verdict_on_the_ground_truth_contradicts_itself() -> None:
    assert checked(reply_text(**INCORRECT, extracted_answer="7"), SAMPLE) == (True, [CONTRADICTION])


def test_without_a_ground_truth_only_the_quotation_is_checked() -> None:
    assert checked(reply_text(), replace(SAMPLE, ground_truth=None)) == (True, [])
    assert checked(reply_text(), replace(SILENT, ground_truth=None)) == (False, [NOT_THERE])


@pytest.mark.parametrize(
    ("text", "sample", "flags"),
    [
        (reply_text(), SILENT, ["PROTOCOL_VIOLATION", "PROTOCOL_VIOLATION"]),
        (reply_text(**INCORRECT), SAMPLE, ["INTERNAL_INCONSISTENCY"]),
    ],
)
def test_the_policy_verified_refuses_what_the_sample_belies(text: str, sample: Sample, flags: list[str]) -> None:
    findings = flags_and_details(parse_invalid(text, sample, extraction_policy="verified"))

    assert [flag for flag, _ in findings] == flags
    said = f'is_correct is {str(sample is SILENT).lower()}, extracted_answer is "7": '
    warnings = [NOT_THERE, COPY] if sample is SILENT else [CONTRADICTION]
    assert [detail for _, detail in findings] == [said + warning for warning in warnings]


def test_the_policy_verified_accepts_what_is_proven() -> None:
    assert parse_valid(reply_text(), SAMPLE, extraction_policy="verified").verdict == "correct"
    described = reply_text(**INCORRECT, extracted_answer="no clear answer")
    assert parse_valid(described, SILENT, extraction_policy="verified").verdict == "incorrect"


def test_the_policy_off_claims_nothing_about_a_text_that_is_not_at_hand() -> None:
    judgment = parse_valid(reply_text(), replace(SAMPLE, response=""), extraction_policy="off")

    assert (judgment.verdict, judgment.fields["extraction_verified"], judgment.fields["warnings"]) == (
        "correct",
        None,
        [],
    )

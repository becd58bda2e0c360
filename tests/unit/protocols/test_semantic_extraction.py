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
LOW = "correct_with_low_reasoning_score"


def checked(text: str, sample: Sample) -> tuple[bool | None, list[str]]:
    fields = parse_valid(text, sample).fields
    return fields["extraction_verified"], fields["warnings"]


def refusal(text: str, sample: Sample, **parameters: Any) -> str:
    """The one objection: the verdict does not follow from the reply's own extraction."""
    ((flag, detail),) = flags_and_details(parse_invalid(text, sample, **parameters))
    assert flag == "INTERNAL_INCONSISTENCY"
    return detail


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


@pytest.mark.parametrize(
    ("answer", "response"),
    [
        ("forty-two", "That makes 42."),
        ("42", "That makes forty-two."),
        ("Pangolin", "Hence the answer is (B)."),
        ("(B)", "Hence the answer is: Pangolin."),
    ],
)
def test_an_extraction_in_other_words_is_verified_whatever_the_truth_is(answer: str, response: str) -> None:
    """Also where the judge is asked about another answer than the ground truth, or there is none."""
    asked = replace(
        SAMPLE, question="Which one?\n(A) Otter\n(B) Pangolin\n(C) Badger", response=response, ground_truth=None
    )
    if answer in ("forty-two", "42"):
        asked = replace(asked, question="How many?")

    assert checked(reply_text(extracted_answer=answer), asked) == (True, [])


def test_a_response_too_long_to_search_is_not_accused() -> None:
    early = replace(SAMPLE, response="It is 7. " + "Cups are nice. " * 20_000)

    assert checked(reply_text(), early) == (None, [])


def test_an_alternative_counts_as_ground_truth() -> None:
    sample = replace(SILENT, ground_truth="7 cups", ground_truth_alternatives=("seven",))

    assert checked(reply_text(extracted_answer="Seven"), sample) == (False, [NOT_THERE, COPY])


def test_an_alternative_in_other_words_is_no_contradiction() -> None:
    worded = replace(SAMPLE, ground_truth="4", response="So the answer is seven.")
    text = reply_text(extracted_answer="seven")

    assert refusal(text, worded).endswith('extracted_answer is "seven", which is not the ground truth "4"')
    assert checked(text, replace(worded, ground_truth_alternatives=("7",))) == (True, [])


def test_the_question_says_what_an_option_means() -> None:
    asked = replace(SAMPLE, question="How many cups?\nA) 3\nB) 7\nC) 9", ground_truth="B", response="It is 3.")

    assert refusal(reply_text(extracted_answer="3"), asked).endswith('is "3", which is not the ground truth "B"')
    assert checked(reply_text(extracted_answer="3"), replace(asked, question="How many?")) == (True, [])


def test_a_blank_answer_is_no_extraction() -> None:
    assert checked(reply_text(**INCORRECT, extracted_answer=" "), SILENT) == (None, [])


def test_an_incorrect_verdict_may_describe_instead_of_quoting() -> None:
    assert checked(reply_text(**INCORRECT, extracted_answer="no clear answer"), SILENT) == (False, [])


@pytest.mark.parametrize("policy", ["record", "verified"])
def test_a_correct_verdict_on_another_answer_contradicts_itself(policy: str) -> None:
    wrong = replace(SAMPLE, response="So the answer is 4.")
    said = 'is_correct is true, extracted_answer is "4", which is not the ground truth "7"'

    assert refusal(reply_text(extracted_answer="4"), wrong, extraction_policy=policy) == said
    assert parse_valid(reply_text(extracted_answer="4"), wrong, extraction_policy="off").verdict == "correct"


@pytest.mark.parametrize("policy", ["record", "verified"])
def test_an_incorrect_verdict_on_the_ground_truth_contradicts_itself(policy: str) -> None:
    text = reply_text(**INCORRECT, extracted_answer="7")
    said = 'is_correct is false, extracted_answer is "7", which is the ground truth "7"'

    assert refusal(text, SAMPLE, extraction_policy=policy) == said
    assert parse_valid(text, SAMPLE, extraction_policy="off").verdict == "incorrect"


def test_two_free_texts_that_differ_contradict_nothing_for_certain() -> None:
    """Names have more forms than any rule knows."""
    sample = replace(
        SAMPLE, question="Who wrote the letter?", ground_truth="Ada Lovelace", response="It was the Countess."
    )

    assert checked(reply_text(extracted_answer="the Countess"), sample) == (True, [])


@pytest.mark.parametrize("score", [1, 2])
def test_a_right_answer_without_reasoning_is_kept_with_a_warning(score: int) -> None:
    assert checked(reply_text(reasoning_score=score), SAMPLE) == (True, [LOW])
    assert checked(reply_text(reasoning_score=score), SILENT) == (False, [NOT_THERE, COPY, LOW])


def test_a_right_answer_with_the_score_for_wrong_outcomes_contradicts_itself() -> None:
    said = "is_correct is true but reasoning_score is 3; it needs 1 or 2 or 4 or 5"

    assert refusal(reply_text(reasoning_score=3), SAMPLE) == said


def test_without_a_ground_truth_only_the_quotation_is_checked() -> None:
    assert checked(reply_text(), replace(SAMPLE, ground_truth=None)) == (True, [])
    assert checked(reply_text(), replace(SILENT, ground_truth=None)) == (False, [NOT_THERE])


@pytest.mark.parametrize(
    ("text", "sample", "flags"),
    [
        (reply_text(), SILENT, ["PROTOCOL_VIOLATION", "PROTOCOL_VIOLATION"]),
    ],
)
def test_the_policy_verified_refuses_what_the_sample_belies(text: str, sample: Sample, flags: list[str]) -> None:
    findings = flags_and_details(parse_invalid(text, sample, extraction_policy="verified"))

    assert [flag for flag, _ in findings] == flags
    said = 'is_correct is true, extracted_answer is "7": '
    assert [detail for _, detail in findings] == [said + warning for warning in (NOT_THERE, COPY)]


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

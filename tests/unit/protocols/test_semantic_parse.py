"""What makes a reply valid under the semantic protocol, one rule at a time."""

import itertools
import json
from dataclasses import replace
from typing import Any

import pytest
from tests.cases import each
from tests.unit.protocols.semantic_replies import (
    SAMPLE,
    VALID,
    flags_and_details,
    parse,
    parse_invalid,
    parse_valid,
    reply_text,
    reply_without,
)

from mixseek.domain.judgments import ErrorType, Flag, InvalidJudgment, Method, Span, ValidJudgment


def test_a_valid_reply_keeps_the_protocols_own_scale_and_gets_a_score() -> None:
    assert parse(reply_text()) == ValidJudgment(
        score=1.0,
        verdict="correct",
        fields={
            "is_correct": True,
            "extracted_answer": "7",
            "reasoning_score": 5,
            "error_type": "none",
            "comment": "Adds the cups.",
            "extraction_verified": True,
            "warnings": [],
        },
        method=Method.CROSS_JUDGE,
        span=Span(52, 53),
    )


def test_an_incorrect_answer_is_a_valid_judgment_with_score_zero() -> None:
    judgment = parse_valid(
        reply_text(is_correct=False, extracted_answer="4", reasoning_score=2, error_type="wrong_logic")
    )

    assert (judgment.score, judgment.verdict) == (0.0, "incorrect")


CELLS = list(itertools.product([True, False], range(1, 6), list(ErrorType)))


@each(("is_correct", "score", "error_type"), CELLS)
def test_every_cell_of_the_consistency_table(is_correct: bool, score: int, error_type: ErrorType) -> None:
    """true: all but 3 with none or format_error; false: 1–3 with anything but none; each breach is named by itself."""
    score_fits = score in ({1, 2, 4, 5} if is_correct else {1, 2, 3})
    fitting = {"none", "format_error"} if is_correct else {"format_error", "hallucination", "wrong_logic", "no_answer"}
    type_fits = error_type.value in fitting
    answer = "7" if is_correct else "4"
    judgment = parse(
        reply_text(is_correct=is_correct, extracted_answer=answer, reasoning_score=score, error_type=error_type.value)
    )

    if score_fits and type_fits:
        assert isinstance(judgment, ValidJudgment)
        return
    assert isinstance(judgment, InvalidJudgment)
    assert {finding.flag for finding in judgment.findings} == {Flag.INTERNAL_INCONSISTENCY}
    said = [finding.detail.split(";")[0] for finding in judgment.findings]
    verdict = f"is_correct is {json.dumps(is_correct)}"
    expected = [] if score_fits else [f"{verdict} but reasoning_score is {score}"]
    expected += [] if type_fits else [f"{verdict} but error_type is {error_type.value!r}"]
    assert said == expected


def test_the_table_has_fifty_cells_of_which_twenty_are_consistent() -> None:
    consistent = [
        cell
        for cell in CELLS
        if isinstance(
            parse(
                reply_text(
                    is_correct=cell[0],
                    extracted_answer="7" if cell[0] else "4",
                    reasoning_score=cell[1],
                    error_type=cell[2].value,
                )
            ),
            ValidJudgment,
        )
    ]

    assert (len(CELLS), len(consistent)) == (50, 20)


@pytest.mark.parametrize("name", [name for name in VALID if name != "id"])
def test_a_missing_field_is_named(name: str) -> None:
    assert ("UNPARSABLE_OUTPUT", f"field missing: {name}") in flags_and_details(parse_invalid(reply_without(name)))


WRONG_TYPES: list[tuple[str, Any, str]] = [
    ("is_correct", 1, "is_correct is 1, expected true or false"),
    ("is_correct", 0, "is_correct is 0, expected true or false"),
    ("is_correct", "true", 'is_correct is "true", expected true or false'),
    ("is_correct", None, "is_correct is null"),
    ("is_correct", [True], "is_correct is [true], expected true or false"),
    ("extracted_answer", 7, "extracted_answer is 7, expected a string"),
    ("extracted_answer", ["7"], 'extracted_answer is ["7"], expected a string'),
    ("extracted_answer", {"a": "7"}, 'extracted_answer is {"a": "7"}, expected a string'),
    ("reasoning_score", "5", 'reasoning_score is "5", expected an integer'),
    ("reasoning_score", "high", 'reasoning_score is "high", expected an integer'),
    ("reasoning_score", 5.0, "reasoning_score is 5.0, expected an integer"),
    ("reasoning_score", 4.5, "reasoning_score is 4.5, expected an integer"),
    ("reasoning_score", True, "reasoning_score is true, expected an integer"),
    ("reasoning_score", None, "reasoning_score is null"),
    ("error_type", None, "error_type is null"),
    ("error_type", 0, "error_type is 0, expected a string"),
    ("error_type", ["none"], 'error_type is ["none"], expected a string'),
    ("comment", None, "comment is null"),
    ("comment", 3, "comment is 3, expected a string"),
    ("id", True, "id is true, expected a string or an integer"),
    ("id", 1.0, "id is 1.0, expected a string or an integer"),
    ("id", [1], "id is [1], expected a string or an integer"),
]


@each(("name", "value", "detail"), WRONG_TYPES)
def test_a_wrong_type_is_never_coerced(name: str, value: Any, detail: str) -> None:
    assert flags_and_details(parse_invalid(reply_text(**{name: value}))) == [("UNPARSABLE_OUTPUT", detail)]


@pytest.mark.parametrize("score", [-1, 0, 6, 42, 10**30])
def test_a_score_off_the_scale_is_a_violation(score: int) -> None:
    ((flag, detail),) = flags_and_details(parse_invalid(reply_text(reasoning_score=score)))

    assert flag == "PROTOCOL_VIOLATION"
    assert detail == f"reasoning_score is {score}, outside the scale 1 to 5"


@pytest.mark.parametrize("word", ["None", "NONE", "wrong logic", "other", "", "無し"])
def test_an_error_type_that_the_protocol_does_not_know_is_a_violation(word: str) -> None:
    ((flag, detail),) = flags_and_details(parse_invalid(reply_text(error_type=word)))

    assert flag == "PROTOCOL_VIOLATION"
    assert detail.endswith("expected one of none, format_error, hallucination, wrong_logic, no_answer")


NO_ANSWER = {"is_correct": False, "reasoning_score": 1, "error_type": "no_answer"}


def test_null_is_an_extracted_answer_only_where_there_was_none() -> None:
    judgment = parse_valid(reply_text(**NO_ANSWER, extracted_answer=None))

    assert judgment.fields["extracted_answer"] is None
    assert judgment.fields["extraction_verified"] is None


@pytest.mark.parametrize("error_type", ["format_error", "hallucination", "wrong_logic"])
def test_null_with_another_error_type_contradicts_itself(error_type: str) -> None:
    changes = {**NO_ANSWER, "error_type": error_type}

    assert flags_and_details(parse_invalid(reply_text(**changes, extracted_answer=None))) == [
        (
            "INTERNAL_INCONSISTENCY",
            f"extracted_answer is null but error_type is {error_type!r}; null needs no_answer",
        )
    ]


@pytest.mark.parametrize("blank", ["", "  \n"])
def test_a_correct_verdict_on_a_blank_answer_contradicts_itself(blank: str) -> None:
    assert flags_and_details(parse_invalid(reply_text(extracted_answer=blank))) == [
        ("INTERNAL_INCONSISTENCY", "is_correct is true but extracted_answer is blank")
    ]


def test_a_blank_answer_may_be_incorrect() -> None:
    assert parse_valid(reply_text(**NO_ANSWER, extracted_answer="")).verdict == "incorrect"


ID_CASES = [
    # check_id, the reply's id, whether it passes
    ("opaque", 1, True),
    ("opaque", "1", True),
    ("opaque", "tea-7", True),
    ("opaque", 2, False),
    ("opaque", "tea-8", False),
    ("exact", "tea-7", True),
    ("exact", 1, False),
    ("exact", " tea-7", False),
    ("exact", "TEA-7", False),
    ("off", 1, True),
    ("off", 99, True),
    ("off", "anything", True),
]


@each(("check_id", "given", "passes"), ID_CASES)
def test_the_id_is_compared_as_the_parameter_says(check_id: str, given: object, passes: bool) -> None:
    judgment = parse(reply_text(id=given), check_id=check_id)

    if passes:
        assert isinstance(judgment, ValidJudgment)
    else:
        assert isinstance(judgment, InvalidJudgment)
        ((flag, detail),) = flags_and_details(judgment)
        assert flag == "INTERNAL_INCONSISTENCY"
        assert detail.startswith(f'id is {json.dumps(str(given))}, but the sample\'s is "tea-7"')


@pytest.mark.parametrize("check_id", ["opaque", "exact", "off"])
@pytest.mark.parametrize("text", [reply_without("id"), reply_text(id=None)], ids=["missing", "null"])
def test_a_reply_without_an_id_cannot_be_aligned(check_id: str, text: str) -> None:
    assert flags_and_details(parse_invalid(text, check_id=check_id)) == [
        ("INCOMPLETE_COVERAGE", "field missing: id, which names the sample")
    ]


@pytest.mark.parametrize("mode", ["repair", "strict"])
def test_unknown_keys_are_ignored_and_recorded(mode: str) -> None:
    """In strict mode too: seed 003 §5 recommends a structure, and §6 objects to other dimensions and scales only."""
    judgment = parse_valid(reply_text(confidence=0.9), reply_mode=mode)

    assert judgment.repairs == ("extra_keys_ignored",)
    assert "confidence" not in judgment.fields


def test_all_objections_are_collected() -> None:
    text = "Sure! " + json.dumps({"is_correct": "yes", "reasoning_score": 9, "error_type": "typo", "extra": 1})
    findings = flags_and_details(parse_invalid(text, reply_mode="strict"))

    assert [flag for flag, _ in findings] == [
        "PROTOCOL_VIOLATION",  # prose before
        "INCOMPLETE_COVERAGE",  # id
        "UNPARSABLE_OUTPUT",  # is_correct
        "UNPARSABLE_OUTPUT",  # extracted_answer missing
        "PROTOCOL_VIOLATION",  # reasoning_score
        "PROTOCOL_VIOLATION",  # error_type
        "UNPARSABLE_OUTPUT",  # comment missing
    ]


def test_repairs_are_kept_on_invalid_judgments_too() -> None:
    assert parse_invalid("```json\n" + reply_text(reasoning_score=9) + "\n```").repairs == ("code_fence",)


FLAG_EXAMPLES = {
    Flag.PROTOCOL_VIOLATION: reply_text(reasoning_score=6),
    Flag.UNPARSABLE_OUTPUT: reply_text()[:40],
    Flag.INCOMPLETE_COVERAGE: reply_without("id"),
    Flag.JUDGE_REFUSAL_OR_EVASION: "I cannot evaluate this response.",
    Flag.INTERNAL_INCONSISTENCY: reply_text(reasoning_score=3),
}


@pytest.mark.parametrize("flag", list(Flag))
def test_each_of_the_five_flags_can_be_earned(flag: Flag) -> None:
    assert [finding.flag for finding in parse_invalid(FLAG_EXAMPLES[flag]).findings] == [flag]


def test_a_model_that_judges_itself_is_marked() -> None:
    judgment = parse_valid(reply_text(), replace(SAMPLE, target_model="Replay"))

    assert judgment.method is Method.SELF_JUDGE

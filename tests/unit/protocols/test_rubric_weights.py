"""Rubric: the weights of the task type are the maxima, and the type is the sample's, the rubric's, or inferred."""

import itertools
from dataclasses import replace
from typing import Any

import pytest
from tests.cases import each
from tests.unit.protocols.nonces import NONCES
from tests.unit.protocols.scored_replies import (
    RUBRIC_DIMENSIONS,
    RUBRIC_SAMPLE,
    RUBRIC_TEXT,
    RUBRIC_VALID,
    WEIGHTS,
    changed,
    only_finding,
    parse_invalid,
    parse_valid,
    protocol_of,
)

from mixseek.domain.judgments import Flag
from mixseek.domain.samples import Sample
from mixseek.errors import DatasetError

UNTYPED = RUBRIC_TEXT.replace("task_type: fact\n", "")


def reply_of(task_type: str, share: float = 1.0, inferred: str | None = None) -> dict[str, Any]:
    weights = dict(zip(RUBRIC_DIMENSIONS, WEIGHTS[task_type], strict=True))
    score = {key: weight * share for key, weight in weights.items()}
    return {
        **RUBRIC_VALID,
        "task_type": task_type,
        "inferred_task_type": inferred,
        "weights": weights,
        "score": score,
        "total_score": sum(score.values()),
    }


def sample_of(task_type: str | None, rubric_type: str | None) -> Sample:
    text = UNTYPED if rubric_type is None else f"task_type: {rubric_type}\n{UNTYPED}"
    return replace(RUBRIC_SAMPLE, task_type=task_type, rubric=text)


@each("task_type", WEIGHTS)
@each("share", [0, 0.25, 0.5, 1])
def test_every_type_scores_up_to_its_weights(task_type: str, share: float) -> None:
    judgment = parse_valid("rubric", reply_of(task_type, share), sample_of(None, task_type))

    assert judgment.score == pytest.approx(share)
    assert judgment.verdict == "scored"
    assert judgment.fields["maxima"] == dict(zip(RUBRIC_DIMENSIONS, WEIGHTS[task_type], strict=True))
    assert (judgment.fields["total_maximum"], judgment.fields["task_type"]) == (100, task_type)


@each("task_type", WEIGHTS)
@each("key", RUBRIC_DIMENSIONS)
def test_one_more_than_the_weight_is_off_the_scale(task_type: str, key: str) -> None:
    value = reply_of(task_type)
    top = value["weights"][key]
    value = changed(changed(value, f"score.{key}", top + 1), "total_score", 101)

    findings = parse_invalid("rubric", value, sample_of(None, task_type)).findings
    assert (Flag.PROTOCOL_VIOLATION, f"score.{key} is {top + 1}, outside the scale 0 to {top}") in [
        (finding.flag, finding.detail) for finding in findings
    ]


@each(("asked", "answered"), list(itertools.product(WEIGHTS, repeat=2)))
def test_weights_of_another_type_are_an_inconsistency(asked: str, answered: str) -> None:
    """Zero scores, so that only the weights and the type can be wrong."""
    value = reply_of(answered, 0)
    if asked == answered:
        assert parse_valid("rubric", value, sample_of(None, asked)).fields["task_type"] == asked
        return
    flags = {finding.flag for finding in parse_invalid("rubric", value, sample_of(None, asked)).findings}
    details = " ".join(finding.detail for finding in parse_invalid("rubric", value, sample_of(None, asked)).findings)

    assert flags == {Flag.INTERNAL_INCONSISTENCY}
    assert f'task_type is "{answered}", but the sample\'s is "{asked}"' in details
    assert f"the weight for {asked} is" in details


@each("key", RUBRIC_DIMENSIONS)
@each("task_type", WEIGHTS)
def test_one_changed_weight_is_found(task_type: str, key: str) -> None:
    value = changed(reply_of(task_type), f"weights.{key}", 33)

    flag, detail = only_finding(parse_invalid("rubric", value, sample_of(None, task_type)))
    assert flag is Flag.INTERNAL_INCONSISTENCY
    assert f"weights.{key} is 33" in detail


@each(("own", "rubric"), list(itertools.product([None, *WEIGHTS], repeat=2)))
def test_the_samples_type_wins_over_the_rubrics_and_else_the_judge_infers(own: str | None, rubric: str | None) -> None:
    known = own or rubric
    sample = sample_of(own, rubric)
    for task_type in WEIGHTS:
        inferred = None if known else task_type
        value = reply_of(task_type, 0, inferred)
        if known in (None, task_type):
            fields = parse_valid("rubric", value, sample).fields
            assert (fields["task_type"], fields["inferred_task_type"]) == (task_type, inferred)
        else:
            parse_invalid("rubric", value, sample)


@pytest.mark.parametrize(
    ("rubric_type", "task_type", "inferred", "words"),
    [
        ("fact", "fact", "fact", "it must be null"),
        ("fact", "fact", "creative", "it must be null"),
        (None, "fact", None, "it must say the inferred one"),
        (None, "fact", "creative", 'inferred_task_type is "creative", but task_type is "fact"'),
    ],
)
def test_the_inferred_type_is_null_unless_the_rubric_names_none(
    rubric_type: str | None, task_type: str, inferred: str | None, words: str
) -> None:
    value = reply_of(task_type, 0, inferred)

    flag, detail = only_finding(parse_invalid("rubric", value, sample_of(None, rubric_type)))
    assert flag is Flag.INTERNAL_INCONSISTENCY
    assert words in detail


@pytest.mark.parametrize(("written", "task_type"), [("Creative", "creative"), (" creative ", "creative"), ("", "fact")])
def test_a_column_may_write_a_type_in_capitals_or_leave_it_empty(written: str, task_type: str) -> None:
    sample = replace(RUBRIC_SAMPLE, task_type=written)

    assert parse_valid("rubric", reply_of(task_type), sample).fields["task_type"] == task_type


def test_a_type_that_nobody_declared_cannot_be_asked_about_nor_aligned() -> None:
    sample = replace(RUBRIC_SAMPLE, task_type="poetry")

    with pytest.raises(DatasetError, match=r"task_type 'poetry' is not one of fact, creative, speculative"):
        protocol_of("rubric").messages(sample, NONCES)
    flags = {finding.flag for finding in parse_invalid("rubric", RUBRIC_VALID, sample).findings}
    assert Flag.INCOMPLETE_COVERAGE in flags


def test_decimals_add_up_as_on_paper() -> None:
    value = {
        **reply_of("fact", 0),
        "score": dict(zip(RUBRIC_DIMENSIONS, (0.1, 0.2, 0), strict=True)),
        "total_score": 0.3,
    }

    assert parse_valid("rubric", value).fields["total"] == pytest.approx(0.3)
    assert only_finding(parse_invalid("rubric", {**value, "total_score": 0.31}))[0] is Flag.INTERNAL_INCONSISTENCY

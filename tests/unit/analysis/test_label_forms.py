"""What the viewer asks a person, by protocol, and what their answer is on its scale."""

import math
from dataclasses import replace
from typing import Any

import pytest
from tests.cases import each

from mixseek.analysis.labels.form import LabelForm
from mixseek.domain.labels import LabelError
from mixseek.domain.samples import Sample
from mixseek.domain.steps import Step, StepRole
from mixseek.protocols.registry import load_protocol

CROSS = {"FORMAT_COMPLIANCE": 2, "INSTRUCTION_COMPLIANCE": 1, "SEMANTIC_FIDELITY": 2, "COMPLETENESS": 1}
FACT = {"logic_and_fact": 45, "constraint_adherence": 27.5, "helpfulness_and_creativity": 10}


def form_of(protocol: str, **fields: Any) -> LabelForm:
    return LabelForm(load_protocol(protocol), Sample(id="one", response="tea", **fields))


def test_right_or_wrong_is_one_key_each() -> None:
    form = form_of("semantic")

    assert form.describe("ja") == {
        "kind": "verdict",
        "options": [{"value": "correct", "keys": ["c", "1"]}, {"value": "incorrect", "keys": ["i", "2"]}],
    }
    assert form.read("incorrect", None, None).share == 0.0


def test_of_two_responses_one_is_better_or_neither() -> None:
    form = LabelForm(load_protocol("pairwise"), Sample(id="one", response="tea", response_b="no tea"))

    assert [option["value"] for option in form.describe("en")["options"]] == ["A", "B", "tie"]
    assert [form.read(word, None, None).share for word in ("A", "B", "tie")] == [1.0, 0.0, 0.5]
    with pytest.raises(LabelError, match="A, B or tie"):
        form.read("correct", None, None)


def test_dimensions_are_added_up_by_the_protocol() -> None:
    """Values of cross have a key each, those of rubric are typed; titles are in the reader's language."""
    cross, rubric = form_of("cross"), form_of("rubric", task_type="fact", rubric="x")
    told, typed = cross.describe("en"), rubric.describe("zh")
    answer, graded = cross.read(None, CROSS, None), rubric.read(None, FACT, None)

    assert [one["title"] for one in told["dimensions"]][:2] == ["Structure and format", "Following instructions"]
    assert [one["has_keys"] for one in told["dimensions"]] == [True] * 4
    assert (answer.given, answer.share, answer.marks, cross.verdict(answer.marks)) == ("6", 0.75, CROSS, "PARTIAL")
    assert next((one["title"], one["maximum"]) for one in typed["dimensions"]) == ("逻辑与事实", 60)
    assert [one["has_keys"] for one in typed["dimensions"]] == [False] * 3
    assert (graded.given, graded.share) == ("82.5", 0.825)


def test_a_gate_that_fails_leaves_nothing_of_the_rest() -> None:
    answer = form_of("rubric", task_type="fact", rubric="x").read(None, {**FACT, "critical_fail": 1}, None)

    assert (answer.given, answer.share) == ("0", 0.0)
    assert answer.marks == {**dict.fromkeys(FACT, 0), "critical_fail": 1.0}


def test_without_a_task_type_only_the_total_has_a_scale() -> None:
    form = form_of("rubric", rubric="A rubric that names no type.")

    assert form.describe("en") == {"kind": "total", "minimum": 0.0, "maximum": 100.0}
    assert form.read(None, None, 82.5).share == 0.825
    with pytest.raises(LabelError, match="outside the scale"):
        form.read(None, None, 101)


@pytest.mark.parametrize(
    ("protocol", "marks", "said"),
    [
        ("cross", {**CROSS, "COMPLETENESS": 3}, "COMPLETENESS: 3 is outside the scale; give one from 0 to 2"),
        ("cross", {**CROSS, "COMPLETENESS": 1.5}, "not whole"),
        ("cross", {**CROSS, "COMPLETENESS": float("nan")}, "outside"),
        ("cross", {name: CROSS[name] for name in list(CROSS)[:3]}, "COMPLETENESS: no value"),
        ("cross", {**CROSS, "BEAUTY": 1}, "BEAUTY: no such dimension"),
        ("semantic", None, "correct or incorrect"),
    ],
)
def test_what_the_form_does_not_ask_for_is_one_sentence(protocol: str, marks: dict[str, float], said: str) -> None:
    with pytest.raises(LabelError, match=said):
        form_of(protocol).read(None, marks, None)


_AGENT = Sample(id="one", response="tea", steps=(Step(StepRole.USER, "Tea?"), Step(StepRole.TOOL, tool="kettle")))


def test_steps_are_labelled_right_or_wrong_and_only_those_that_are_there() -> None:
    """Nobody has to; they are kept in their order."""
    form = LabelForm(load_protocol("semantic"), _AGENT)

    assert form.describe("en")["steps"] == 2
    assert form.read_steps(None) == {}
    assert list(form.read_steps({"2": 0, "1": 1}).items()) == [("1", 1.0), ("2", 0.0)]


@each("marks", [{"3": 1.0}, {"0": 1.0}, {"-1": 0.0}, {"one": 1.0}, {"1": 0.5}, {"1": math.nan}])
def test_a_step_that_is_not_there_is_refused(marks: dict[str, float]) -> None:
    """A label of nothing would be counted for something."""
    with pytest.raises(LabelError, match="steps"):
        LabelForm(load_protocol("semantic"), _AGENT).read_steps(marks)


def test_steps_of_a_pair_are_not_labelled() -> None:
    """Nobody would know of which side they are."""
    form = LabelForm(load_protocol("pairwise"), replace(_AGENT, response_b="no tea"))

    assert "steps" not in form.describe("en")

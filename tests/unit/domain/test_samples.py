"""The key that says two samples are the same: resume and the reply cache rest on it."""

from dataclasses import fields, replace
from typing import Any

from tests.cases import each

from mixseek.domain.samples import Sample
from mixseek.domain.steps import Context, Step, StepRole, StepStatus

_SAMPLE = Sample(id="1", response="r", question="q", ground_truth="g")
_STEP = Step(StepRole.TOOL, tool="look_up", arguments={"city": "Oslo"}, result="cold", status=StepStatus.OK)
_OTHER_LISTS = {
    "ground_truth_alternatives": ("other",),
    "steps": (_STEP,),
    "steps_b": (_STEP,),
    "contexts": (Context("1", "other"),),
}
_SEEN = [field.name for field in fields(Sample) if field.name != "metadata"]


@each("name", _SEEN)
def test_everything_a_judge_can_see_changes_the_key(name: str) -> None:
    """A sample with another ground truth or response is another sample, and is judged anew."""
    other: dict[str, Any] = {name: _OTHER_LISTS.get(name, "other")}

    assert replace(_SAMPLE, **other).key() != _SAMPLE.key()


def test_metadata_does_not_change_the_key() -> None:
    """No judge sees it, so no verdict depends on it."""
    assert replace(_SAMPLE, metadata={"note": 1}).key() == _SAMPLE.key()


def test_text_cannot_move_between_fields_unnoticed() -> None:
    """Lengths are part of the key: "ab" + "c" is not "a" + "bc", and absent is not empty."""
    assert replace(_SAMPLE, response="rq", question="").key() != _SAMPLE.key()
    assert replace(_SAMPLE, ground_truth=None).key() != replace(_SAMPLE, ground_truth="").key()


def test_the_key_of_a_sample_without_steps_is_what_it_was() -> None:
    """Runs and caches of before there were steps are found again."""
    assert _SAMPLE.key() == "b4ff1bbace4c64bed2b283ddafd573ac"


@each("change", [{"arguments": {"city": "Bergen"}}, {"result": "mild"}, {"status": StepStatus.ERROR}, {"parent": 1}])
def test_everything_in_a_step_changes_the_key(change: dict[str, Any]) -> None:
    """Another argument of a call is another sample."""
    sample = replace(_SAMPLE, steps=(_STEP, _STEP))

    assert replace(sample, steps=(_STEP, replace(_STEP, **change))).key() != sample.key()


def test_steps_of_one_response_are_not_those_of_the_other() -> None:
    """A pair whose second response came after the steps is another pair."""
    pair = replace(_SAMPLE, response_b="s")

    assert replace(pair, steps=(_STEP,)).key() != replace(pair, steps_b=(_STEP,)).key()

"""The key that says two samples are the same: resume and the reply cache rest on it."""

from dataclasses import fields, replace
from typing import Any

from tests.cases import each

from mixseek.domain.samples import Sample

_SAMPLE = Sample(id="1", response="r", question="q", ground_truth="g")
_SEEN = [field.name for field in fields(Sample) if field.name != "metadata"]


@each("name", _SEEN)
def test_everything_a_judge_can_see_changes_the_key(name: str) -> None:
    """A sample with another ground truth or response is another sample, and is judged anew."""
    other: dict[str, Any] = {name: ("other",) if name == "ground_truth_alternatives" else "other"}

    assert replace(_SAMPLE, **other).key() != _SAMPLE.key()


def test_metadata_does_not_change_the_key() -> None:
    """No judge sees it, so no verdict depends on it."""
    assert replace(_SAMPLE, metadata={"note": 1}).key() == _SAMPLE.key()


def test_text_cannot_move_between_fields_unnoticed() -> None:
    """Lengths are part of the key: "ab" + "c" is not "a" + "bc", and absent is not empty."""
    assert replace(_SAMPLE, response="rq", question="").key() != _SAMPLE.key()
    assert replace(_SAMPLE, ground_truth=None).key() != replace(_SAMPLE, ground_truth="").key()

"""Columns `steps` and `contexts`: what they hold, and what is said of one that is wrong."""

import json
from typing import Any

import pytest
from tests.cases import each

from mixseek.datasets.rows import RowError, RowReader
from mixseek.domain.samples import RESPONSE_ERROR
from mixseek.domain.steps import Context, Step, StepRole, StepStatus

_DOCUMENTS: list[dict[str, Any]] = [
    {"role": "user", "text": "Is the museum open?"},
    {"role": "tool", "tool": "opening_hours", "arguments": {"day": "Monday"}, "result": "closed", "status": "ok"},
    {"role": "assistant", "text": "It is closed on Mondays.", "parent": 1},
]
_STEPS = (
    Step(StepRole.USER, "Is the museum open?"),
    Step(StepRole.TOOL, tool="opening_hours", arguments={"day": "Monday"}, result="closed", status=StepStatus.OK),
    Step(StepRole.ASSISTANT, "It is closed on Mondays.", parent=1),
)


def read(row: dict[str, Any], mapping: dict[str, str] | None = None, *, is_pair: bool = False) -> dict[str, Any]:
    return RowReader(mapping or {}, is_pair=is_pair).values(row, 1)


@each("column", [_DOCUMENTS, json.dumps(_DOCUMENTS)])
def test_steps_are_a_list_or_the_text_of_one(column: object) -> None:
    """CSV has texts only."""
    assert read({"response": "Closed.", "steps": column})["steps"] == _STEPS


def test_keys_without_a_value_are_absent() -> None:
    """A table of Parquet has every key in every step."""
    padded = [{"role": None, "text": None, "tool": None, "status": None, "images": None} | step for step in _DOCUMENTS]

    assert read({"response": "Closed.", "steps": padded})["steps"] == _STEPS


def test_the_answer_is_the_last_step_where_no_column_holds_it() -> None:
    """Steps alone are a whole sample."""
    assert read({"steps": _DOCUMENTS})["response"] == "It is closed on Mondays."


def test_steps_that_end_with_a_tool_have_no_answer() -> None:
    """What was said before a call is no answer, and an absent one is not an empty one."""
    values = read({"steps": _DOCUMENTS[:2]})

    assert values["response"] == ""
    assert values["metadata"] == {RESPONSE_ERROR: "the steps end without an answer"}


def test_a_column_that_only_has_the_name_stays_metadata() -> None:
    """A number of steps was metadata before there were steps."""
    values = read({"response": "r", "steps": 7, "contexts": 3, "note": "n"})

    assert values["metadata"] == {"steps": 7, "contexts": 3, "note": "n"}


def test_a_mapped_column_that_holds_no_steps_is_refused() -> None:
    """Whoever names a column means it."""
    with pytest.raises(RowError, match="`n` holds no steps, which --map steps= asks for"):
        read({"response": "r", "n": 7}, {"steps": "n"})


@each(
    ("step", "words"),
    [
        ({"role": "robot", "text": "x"}, "step 4 has the role 'robot'"),
        ({"role": "user", "text": "x", "colour": 1}, "step 4 has an unknown key 'colour'"),
        ({"role": "tool", "tool": "t", "status": "fine"}, "step 4 has the status 'fine'"),
        ({"role": "user", "tool": "t"}, "step 4: `tool` is the name of what was called"),
        ({"role": "tool", "text": "t"}, "step 4: `tool` is the name of what was called"),
        ({"role": "user", "parent": 4}, "step 4 has the parent 4"),
        ({"role": "user", "seconds": -1}, "step 4 took -1 seconds"),
        ({"role": "user", "images": "a.png"}, "step 4: `images` is a list"),
    ],
)
def test_a_wrong_step_is_named_with_its_number(step: dict[str, Any], words: str) -> None:
    """One line says which step, and what to write."""
    with pytest.raises(RowError, match=f"`steps`: {words}"):
        read({"response": "r", "steps": [*_DOCUMENTS, step]})


@each("name", ["contexts", "retrieved_contexts", "retrieval_context"])
@each(
    ("column", "contexts"),
    [
        ("All about dogs.", (Context("1", "All about dogs."),)),
        (["Dogs.", "Cats."], (Context("1", "Dogs."), Context("2", "Cats."))),
        ('["Dogs.", "Cats."]', (Context("1", "Dogs."), Context("2", "Cats."))),
        ([{"id": "d", "text": "Dogs.", "source": "book"}], (Context("d", "Dogs.", "book"),)),
        ([{"page_content": "Dogs.", "metadata": {"source": "book"}}], (Context("1", "Dogs.", "book"),)),
    ],
)
def test_contexts_are_texts_or_objects_with_one(name: str, column: object, contexts: tuple[Context, ...]) -> None:
    """As the libraries of retrieval write them."""
    assert read({"response": "r", name: column})["contexts"] == contexts


def test_two_contexts_of_one_id_are_refused() -> None:
    """A quote says which context it is from."""
    with pytest.raises(RowError, match="two contexts have the id 'd'"):
        read({"response": "r", "contexts": [{"id": "d", "text": "x"}, {"id": "d", "text": "y"}]})


def test_each_response_of_a_pair_has_its_own_steps() -> None:
    """`steps_a` and `steps_b`, as the responses are named."""
    row = {"question": "q", "response_a": "x", "response_b": "y", "steps_a": _DOCUMENTS, "steps_b": _DOCUMENTS[:1]}

    values = read(row, is_pair=True)

    assert (values["steps"], values["steps_b"]) == (_STEPS, _STEPS[:1])

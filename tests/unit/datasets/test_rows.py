"""One row to the fields of a sample."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cases import each

from mixseek.datasets.rows import ALIASES, SAMPLE_FIELDS, RowError, RowReader, plan_columns
from mixseek.domain.samples import Sample
from mixseek.domain.steps import Context, Step, StepRole
from mixseek.errors import DatasetError


def read(row: dict[str, Any], number: int = 1, **mapping: str) -> Sample:
    return Sample(**RowReader(mapping).values(row, number))


def test_canonical_columns_fill_the_fields_of_their_name() -> None:
    """Every field of a sample can stand in a row under its own name."""
    row: dict[str, Any] = {name: name.upper() for name in SAMPLE_FIELDS}
    row["ground_truth_alternatives"] = ["X", "Y"]
    row |= {"steps": [{"role": "user", "text": "S"}], "contexts": ["C"]}

    sample = read(row)

    assert {name: getattr(sample, name) for name in SAMPLE_FIELDS} == {
        **row,
        "ground_truth_alternatives": ("X", "Y"),
        "steps": (Step(StepRole.USER, "S"),),
        "contexts": (Context("1", "C"),),
    }
    assert sample.metadata == {}


@each(("field", "alias"), [(field, alias) for field, names in ALIASES.items() for alias in names])
def test_every_alias_fills_its_field_when_the_canonical_column_is_absent(field: str, alias: str) -> None:
    """The table of aliases is what is read."""
    sample = read({"response": "r", alias: "v"} if field != "response" else {alias: "v"})

    # An alternative without a ground truth is the ground truth.
    expected = {"ground_truth_alternatives": (), "contexts": (Context("1", "v"),)}.get(field, "v")
    assert getattr(sample, field) == expected
    assert sample.metadata == {}


@pytest.mark.parametrize("field", ALIASES)
def test_the_canonical_column_wins_over_its_aliases(field: str) -> None:
    """An alias beside the canonical column is metadata."""
    alias = ALIASES[field][0]
    row = {"response": "r", "ground_truth": "t", field: "canonical", alias: "alias"}

    plan = plan_columns(tuple(row), {})

    assert dict(zip(plan.fields, plan.columns, strict=True))[field] == field
    assert alias in plan.extras


def test_the_first_alias_present_wins_and_the_others_are_metadata() -> None:
    """The order of the table decides, not the order of the columns."""
    sample = read({"prediction": "second", "output": "first"})

    assert sample.response == "first"
    assert sample.metadata == {"prediction": "second"}


def test_a_mapping_wins_and_a_mapped_column_serves_one_field_only() -> None:
    """With ground_truth=output, `output` is no longer an alias of response."""
    sample = read({"output": "gold", "completion": "text", "response": "kept"}, ground_truth="output")

    assert (sample.response, sample.ground_truth) == ("kept", "gold")
    assert sample.metadata == {"completion": "text"}
    assert read({"output": "gold", "completion": "text"}, ground_truth="output").response == "text"


def test_unknown_columns_become_metadata_and_a_metadata_object_is_unpacked() -> None:
    """Nothing of a row is lost; a column wins over the same name inside `metadata`."""
    sample = read({"response": "r", "seed": 3, "metadata": {"seed": 1, "run": "a"}})

    assert sample.metadata == {"seed": 3, "run": "a"}
    assert read({"response": "r", "metadata": "note"}).metadata == {"metadata": "note"}


@pytest.mark.parametrize(
    ("value", "text"),
    [(True, "True"), (False, "False"), (15, "15"), (1.5, "1.5"), (2**80, str(2**80)), ("(B)", "(B)"), (" a ", " a ")],
)
def test_numbers_and_booleans_become_the_text_a_person_would_write(value: object, text: str) -> None:
    """In a ground truth, in an id and in a response alike."""
    sample = read({"id": value, "response": value, "ground_truth": value})

    assert (sample.id, sample.response, sample.ground_truth) == (text, text, text)


@pytest.mark.parametrize("absent", [None, "", float("nan")])
def test_null_empty_and_nan_are_absent(absent: object) -> None:
    """An id falls back to the row number, a question to nothing, a ground truth to None."""
    sample = read({"id": absent, "response": "r", "question": absent, "ground_truth": absent}, number=7)

    assert (sample.id, sample.question, sample.ground_truth) == ("7", "", None)


def test_an_empty_response_is_a_response() -> None:
    """A model may answer nothing."""
    assert read({"response": ""}).response == ""


@each(
    ("row", "truth", "alternatives"),
    [
        ({"ground_truth": ["a", "b", "c"]}, "a", ("b", "c")),
        ({"ground_truth": [1, True]}, "1", ("True",)),
        ({"ground_truth": [None, "b"]}, "b", ()),
        ({"ground_truth": []}, None, ()),
        ({"ground_truth": "a", "aliases": ["b", None, ""]}, "a", ("b",)),
        ({"ground_truth": ["a", "b"], "aliases": ["c"]}, "a", ("b", "c")),
        ({"ground_truth": "a", "aliases": '["b", "c"]'}, "a", ("b", "c")),
        ({"ground_truth": "a", "aliases": "b"}, "a", ("b",)),
        ({"ground_truth": "a", "aliases": ""}, "a", ()),
        ({"ground_truth": None, "aliases": ["b", "c"]}, "b", ("c",)),
        ({"ground_truth": "[1, 2]"}, "[1, 2]", ()),
    ],
)
def test_several_right_answers_are_a_ground_truth_and_alternatives(
    row: dict[str, Any], truth: str | None, alternatives: tuple[str, ...]
) -> None:
    """Only alternatives may be a list written as text: a ground truth such as [1, 2] is an answer."""
    sample = read({"response": "r", **row})

    assert (sample.ground_truth, sample.ground_truth_alternatives) == (truth, alternatives)


@each(
    ("row", "mapping", "message"),
    [
        ({"id": 1, "text": "x"}, {}, "row has no `response`; columns are id, text; map one with --map response=COLUMN"),
        ({}, {}, "row has no `response`; columns are none; map one with --map response=COLUMN"),
        (
            {"response": None, "response_path": None},
            {},
            "`response` is empty, and so is `response_path`; write the response's text (an empty one is allowed), or "
            "why there is none into `response_error`",
        ),
        (
            {"output": "x"},
            {"response": "outptu"},
            "row has no column `outptu`, which --map response=outptu asks for; "
            "columns are output; did you mean `output`?",
        ),
        ({"response": ["x"]}, {}, "`response` is a list, expected text; map another column with --map FIELD=COLUMN"),
        (
            {"response": "x", "id": {}},
            {},
            "`id` is an object, expected text; map another column with --map FIELD=COLUMN",
        ),
        (
            {"response": "x", "aliases": "[oops"},
            {},
            '`aliases` begins like a JSON list but is none; write ["first", "second"]',
        ),
    ],
)
def test_a_bad_row_says_what_is_wrong_and_what_to_do(
    row: dict[str, Any], mapping: dict[str, str], message: str
) -> None:
    """One line, with the remedy."""
    with pytest.raises(RowError) as caught:
        RowReader(mapping).values(row, 1)

    assert str(caught.value) == message


def test_a_mapping_of_something_a_sample_does_not_have_is_refused_with_a_suggestion() -> None:
    """The left side of --map is a field."""
    with pytest.raises(DatasetError, match="a sample has no field `respnse`; did you mean `response`\\?"):
        RowReader({"respnse": "output"})


def test_a_mapped_column_that_no_row_has_is_a_slip() -> None:
    """An optional field may be absent in some rows, but not in all of them."""
    reader = RowReader({"ground_truth": "golds"})
    reader.values({"response": "r", "gold": "x"}, 1)

    with pytest.raises(RowError, match=r"no row has the column `golds` of --map ground_truth=golds; .*`gold`"):
        reader.check_mapped_columns()
    reader.values({"response": "r", "golds": "x"}, 2)
    reader.check_mapped_columns()


def test_a_thousand_column_names_are_not_all_listed() -> None:
    """A message is one line that can be read."""
    with pytest.raises(RowError, match="c11 and 988 more; map one"):
        RowReader({}).values({f"c{number}": 1 for number in range(1_000)}, 1)


def test_rows_that_all_look_different_do_not_fill_the_memory() -> None:
    """Plans are forgotten; the columns that were seen are not."""
    reader = RowReader({})
    for number in range(3_000):
        reader.values({"response": "r", f"c{number}": 1}, number)

    assert len(reader._plans) <= 1_024
    assert len(reader.columns) == 3_001


@given(
    st.dictionaries(
        st.sampled_from([*SAMPLE_FIELDS, "output", "target", "aliases", "metadata", "x"]),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
            lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
            max_leaves=5,
        ),
    )
)
def test_any_row_is_a_sample_of_texts_or_a_row_error(row: dict[str, Any]) -> None:
    """Nothing else comes out, whatever goes in."""
    try:
        sample = read(row)
    except RowError:
        return

    for name in SAMPLE_FIELDS:
        value = getattr(sample, name)
        texts = value if name == "ground_truth_alternatives" else (value or "",)
        assert all(isinstance(text, str) for text in texts)
    sample.key()


def test_columns_are_known_as_spreadsheets_write_them() -> None:
    """Whoever spells a name exactly comes first, and what is mapped is not looked for elsewhere."""
    row = {"ID": "7", "Response": "said", "Ground Truth": "right", "Model": "owl"}
    sample = read(row)
    assert (sample.id, sample.response, sample.ground_truth, sample.target_model) == ("7", "said", "right", "owl")
    assert read({"Response": "no", "output": "yes"}).response == "yes"
    with pytest.raises(RowError, match="did you mean `Response`"):
        read(row, response="Respons")


def test_a_cell_that_holds_a_conversation_is_read_as_one() -> None:
    """As JSON or as Python prints it; what only looks like one stays text."""
    chat = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "How many?"}]
    for cell in (chat, json.dumps(chat), str(chat)):
        assert read({"response": "7", "prompt": cell}).question == "How many?"
    for text in ('[{"role": "engineer"}]', '[{"role": "user"', r"[{'\d'}]", '["How many?"]'):
        assert read({"response": "7", "prompt": text}).question == text

    reader = RowReader({}, is_pair=True)
    lists = {"prompt": '["q?", "And?"]', "response_a": '["a", "b"]', "response_b": '["c", "d"]'}
    told = reader.values(lists, 1)
    assert (told["question"], told["response"]) == ("q?", "assistant: a\n\nuser: And?\n\nassistant: b")
    assert reader.values({**lists, "response_b": "plain"}, 1)["response"] == lists["response_a"]
    assert reader.values({**lists, "response_b": '["c", null]'}, 1)["question"] == lists["prompt"]

    # Beside a plain text, both answer the last question; without a word of it in there, the cell may be an answer.
    talk = [{"role": "user", "content": "q?"}, {"role": "assistant", "content": "a"}]
    for cell in (talk, json.dumps(talk)):
        for row in ({"question": "q?"}, {}):
            told = reader.values({**row, "response_a": "plain", "response_b": cell}, 1)
            assert (told["question"], told["response"], told["response_b"]) == ("q?", "plain", "a")
    other = {"question": "Write a chat.", "response_a": json.dumps(talk), "response_b": "No."}
    assert reader.values(other, 1)["response"] == other["response_a"]


@pytest.mark.parametrize("one", [1, "1", 1.0, True, "True"])
def test_a_winner_may_be_a_column_for_each_verdict(one: object) -> None:
    """As tables of Kaggle have it; where not exactly one is marked, nobody has said anything."""
    pair = {"response_a": "a", "response_b": "b", "winner_model_a": 0, "winner_model_b": one, "winner_tie": "False"}
    reader = RowReader({}, is_pair=True)

    assert reader.values(pair, 1)["metadata"] == {"human_preference": "B"}
    assert "human_preference" not in reader.values({**pair, "winner_tie": one}, 1)["metadata"]
    assert reader.values({**pair, "winner": "tie"}, 1)["metadata"]["human_preference"] == "tie"

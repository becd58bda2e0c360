"""Tables as people have them: no ids, columns with names of their own, nulls, wrappings, and lines without an end."""

import csv
import json
import time
from pathlib import Path
from typing import Any

import pytest
from tests.unit.storage.material import write_jsonl

from mixseek.datasets.attachments import RowRequirements
from mixseek.datasets.files import read_delimited
from mixseek.datasets.reader import Dataset, open_dataset
from mixseek.domain.samples import Sample, SampleNeeds
from mixseek.errors import DatasetError


def opened(path: Path, *, longest_line: int = 64 << 20, fields: tuple[str, ...] = (), **mapping: str) -> Dataset:
    requirements = RowRequirements(needs=SampleNeeds(fields=fields))
    return open_dataset(
        str(path), mapping=mapping, spool_directory=None, requirements=requirements, longest_line=longest_line
    )


def samples_of(dataset: Dataset) -> list[Sample]:
    return [sample for batch in dataset.batches(100) for sample in batch]


def write_two_models(path: Path, questions: int = 3) -> Path:
    """Two models in one table, without ids of any kind, as an evaluation script writes it."""
    with path.open("w", newline="", encoding="utf-8") as stream:
        table = csv.writer(stream)
        table.writerow(["input", "target", "model", "output"])
        for model in ("A", "B"):
            table.writerows([f"What is {n}+1?", n + 1, model, f"It is {n + 1}."] for n in range(questions))
    return path


def test_a_question_that_repeats_is_one_question_and_its_digest_is_its_name(tmp_path: Path) -> None:
    dataset = opened(write_two_models(tmp_path / "two.csv"))
    samples = samples_of(dataset)
    by_question: dict[str, set[str | None]] = {}
    for sample in samples:
        by_question.setdefault(sample.question, set()).add(sample.question_id)

    assert [sample.target_model for sample in samples] == ["A"] * 3 + ["B"] * 3
    assert all(len(names) == 1 for names in by_question.values())
    assert len({name for names in by_question.values() for name in names}) == 3
    assert all(str(sample.question_id).startswith("question-") for sample in samples)
    told = [notice for notice in dataset.survey().notices if "`question_id`" in notice]
    assert len(told) == 1
    assert "3 questions stand in several rows" in told[0]
    # Another mapping is another run: what was judged under other keys is never mixed with this.
    assert dataset.description["mapping"]["question_id"] == "digest of input"


def test_a_dataset_whose_questions_stand_once_keeps_its_keys(tmp_path: Path) -> None:
    row = {"id": "a", "question": "q1", "response": "r", "ground_truth": "1"}
    dataset = opened(write_jsonl(tmp_path / "x.jsonl", row, {**row, "id": "b", "question": "q2"}))

    assert samples_of(dataset)[0] == Sample("a", "r", "q1", "1")
    assert samples_of(dataset)[0].key() == "926d068174964442697c9a2371142f21"
    assert dataset.survey().notices == ()
    assert "question_id" not in dataset.description["mapping"]


def test_rows_that_name_their_question_keep_their_names_and_keys(tmp_path: Path) -> None:
    row = {"id": "a", "question": "q", "response": "r", "ground_truth": "1", "question_id": "Q7"}
    dataset = opened(write_jsonl(tmp_path / "x.jsonl", row, {**row, "id": "b"}))

    assert [sample.question_id for sample in samples_of(dataset)] == ["Q7", "Q7"]
    assert samples_of(dataset)[0].key() == "8b98d46719f91d228756fc9c64632aa2"
    assert dataset.survey().notices == ()


def test_a_table_that_names_some_of_its_questions_is_left_as_it_is(tmp_path: Path) -> None:
    """Names are somebody's then, and a hole among them is no question of ours."""
    row = {"question": "q", "response": "r", "ground_truth": "1"}
    named = {**row, "id": "c", "question_id": "Q7"}
    path = write_jsonl(tmp_path / "x.jsonl", {**row, "id": "a"}, {**row, "id": "b"}, named)

    assert [sample.question_id for sample in samples_of(opened(path))] == [None, None, "Q7"]


def test_one_text_with_several_right_answers_is_several_questions(tmp_path: Path) -> None:
    """`What is the sentiment?` asks about a text that stands elsewhere in the row."""
    rows = [
        {"id": f"{n}", "question": "Sentiment?", "response": "x", "ground_truth": truth}
        for n, truth in enumerate("abab")
    ]
    names = [sample.question_id for sample in samples_of(opened(write_jsonl(tmp_path / "x.jsonl", *rows)))]

    assert names[0] == names[2] != names[1] == names[3]


def test_a_grid_is_placed_by_names_that_somebody_gave(tmp_path: Path) -> None:
    """Seed 003: a row without `question_id` has no place, and is told; it is not given one."""
    row = {"question": "q", "response": "r", "question_id": None}
    named = {"id": "c", "question": "p", "response": "r", "question_id": "Q1"}
    path = write_jsonl(tmp_path / "x.jsonl", {**row, "id": "a"}, {**row, "id": "b"}, named)
    dataset = opened(path, fields=("question_id",))

    assert [sample.question_id for sample in samples_of(dataset)] == [None, None, "Q1"]
    assert dataset.survey().incomplete == {"question_id": 2}


def test_what_was_guessed_is_said_once(tmp_path: Path) -> None:
    notices = opened(write_two_models(tmp_path / "two.csv")).survey().notices

    assert notices[0].endswith(
        "two.csv: read as response=output, question=input, ground_truth=target, target_model=model, ids by line"
    )


def test_nothing_is_said_where_nothing_was_guessed(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "x.jsonl", {"id": "a", "output": "r", "question": "q"})

    assert opened(path, response="output").survey().notices == ()


@pytest.mark.parametrize("field", ["question_id", "id", "task_name"])
def test_a_column_may_name_the_row_and_be_its_question(field: str, tmp_path: Path) -> None:
    """`--map question_id=input` emptied `question` without a word."""
    path = write_jsonl(tmp_path / "x.jsonl", {"input": "How many?", "output": "7", "target": "7"})
    (sample,) = samples_of(open_dataset(str(path), mapping={field: "input"}, spool_directory=None))

    assert sample.question == "How many?"
    assert getattr(sample, field) == "How many?"


def test_a_column_that_was_mapped_to_a_text_is_no_other_text(tmp_path: Path) -> None:
    """`answer` would be the ground truth, were it not the response."""
    (sample,) = samples_of(opened(write_jsonl(tmp_path / "x.jsonl", {"answer": "7"}), response="answer"))

    assert (sample.response, sample.ground_truth) == ("7", None)


def test_a_null_response_is_a_hole_and_not_a_refusal_of_the_table(tmp_path: Path) -> None:
    row = {"id": "a", "output": "r", "ground_truth": "1"}
    dataset = opened(write_jsonl(tmp_path / "x.jsonl", row, {**row, "id": "b", "output": None}))
    first, second = samples_of(dataset)

    assert (first.response, second.response) == ("r", "")
    assert "response_error" not in first.metadata
    assert second.metadata["response_error"] == "`output` is null, without a reason in `response_error`"
    told = [notice for notice in dataset.survey().notices if "have no response" in notice]
    assert len(told) == 1
    assert "theirs is null (b): filed under INCOMPLETE_COVERAGE" in told[0]
    assert told[0].endswith("say why in `response_error`")


@pytest.mark.parametrize("side", ["response_a", "response_b"])
def test_a_pair_with_a_null_response_is_a_hole(side: str, tmp_path: Path) -> None:
    row = {"question": "q", "response_a": "r", "response_b": "s"}
    path = write_jsonl(tmp_path / "x.jsonl", {**row, "id": "a"}, {**row, "id": "b", side: None})
    requirements = RowRequirements(needs=SampleNeeds(is_pair=True))
    dataset = open_dataset(str(path), mapping={}, spool_directory=None, requirements=requirements)

    assert [bool(sample.metadata.get("response_error")) for sample in samples_of(dataset)] == [False, True]


# Wrappings.


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize("suffix", ["json", "jsonl"])
@pytest.mark.parametrize("key", ["data", "rows", "samples"])
def test_an_object_around_rows_is_read(key: str, suffix: str, indent: int | None, tmp_path: Path) -> None:
    rows = [{"id": "a", "response": "r"}, {"id": "b", "response": "s"}]
    path = tmp_path / f"x.{suffix}"
    path.write_text(json.dumps({"name": "my data", key: rows, "version": 1}, indent=indent))
    dataset = opened(path)

    assert [(sample.id, sample.response) for sample in samples_of(dataset)] == [("a", "r"), ("b", "s")]
    assert dataset.survey().notices == (f"{path}: rows are the items of `{key}`",)


def test_a_single_row_that_holds_a_list_is_still_a_row(tmp_path: Path) -> None:
    (sample,) = samples_of(opened(write_jsonl(tmp_path / "x.jsonl", {"response": "r", "data": [{"a": 1}]})))

    assert sample.metadata == {"data": [{"a": 1}]}


# Lines and headers without an end.


@pytest.mark.parametrize(
    ("name", "row"),
    [
        ("x.jsonl", {"response": "r"}),
        ("x.csv", None),
        ("chat.jsonl", {"messages": [{"role": "user", "content": "q"}, {"role": "assistant", "content": "r"}]}),
    ],
)
def test_a_line_beyond_the_limit_is_one_message(name: str, row: dict[str, Any] | None, tmp_path: Path) -> None:
    path, long = tmp_path / name, "x" * (2 << 20)
    lines = ["response,more", f"r,{long}"] if row is None else [json.dumps(row), json.dumps({**row, "more": long})]
    path.write_text("\n".join(lines) + "\n")

    assert samples_of(opened(path))
    with pytest.raises(DatasetError, match=r"line 2 is longer than 1 MB; .* judge\.max_line_mb"):
        opened(path, longest_line=1 << 20).survey()


def test_a_header_of_many_columns_takes_time_in_proportion(tmp_path: Path) -> None:
    """Each name was looked for among all before it: 50,000 columns took half a minute."""

    def seconds(columns: int) -> float:
        path = tmp_path / f"{columns}.csv"
        path.write_text(",".join(["response", *(f"c{number}" for number in range(columns))]) + "\n")
        began = time.process_time()
        assert list(read_delimited(path, "csv")) == []
        return time.process_time() - began

    assert seconds(80_000) < 8 * max(seconds(20_000), 0.02)


def test_a_text_that_looks_like_keys_is_no_key_that_stands_twice(tmp_path: Path) -> None:
    """Replies are JSON in a text: its quotes are escaped, and the row is not parsed again for them."""
    row = {"id": "a", "response": '{"a": 1, "a": 2} and "b" : "c\\":"', "m": {"a": {"a": 1}}}
    (sample,) = samples_of(opened(write_jsonl(tmp_path / "x.jsonl", row)))

    assert sample.response == row["response"]

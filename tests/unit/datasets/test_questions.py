"""Files of questions as people have them, read without a word about their columns."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import duckdb
import pytest
from tests.flows.running import write_jsonl

from mixseek.datasets.questions import Question, open_questions
from mixseek.errors import DatasetError

Row = Mapping[str, Any]


def questions_of(path: Path | str, **mapping: str) -> list[Question]:
    return [question for _, question in open_questions(str(path), mapping, None)]


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ({"question": "Q", "ground_truth": "A"}, ("1", "Q", "A")),
        ({"prompt": "Q", "answer": "A"}, ("1", "Q", "A")),
        ({"input": "Q", "target": "A"}, ("1", "Q", "A")),
        ({"instruction": "Do", "input": "this", "output": "done"}, ("1", "Do\n\nthis", None)),
        ({"instruction": "Do", "input": ""}, ("1", "Do", None)),
        ({"problem": "Q", "solution": "A"}, ("1", "Q", "A")),
        ({"query": "Q", "gold": "A"}, ("1", "Q", "A")),
        ({"Question": "Q", "Answer": "A", "ID": "x"}, ("x", "Q", "A")),
        ({"question_id": "x", "question": "Q"}, ("x", "Q", None)),
        ({"qid": 7, "question": "Q", "answer": 4}, ("7", "Q", "4")),
        ({"id": 0, "question": "Q"}, ("0", "Q", None)),
        ({"id": " x ", "question": "Q"}, ("x", "Q", None)),
        ({"id": "a/b 質問", "question": "Q"}, ("a/b 質問", "Q", None)),
        ({"id": None, "question": "Q"}, ("1", "Q", None)),
    ],
)
def test_a_row_of_others_is_a_question(row: Row, expected: tuple[str, str, str | None], tmp_path: Path) -> None:
    (question,) = questions_of(write_jsonl(tmp_path / "q.jsonl", [row]))

    assert (question.id, question.text, question.ground_truth) == expected
    assert dict(question.columns) == row, "every column by its own name, for templates"


SAID = {"role": "assistant", "content": "A"}
BLANK = {"role": "assistant", "content": None}
ASKED = {"role": "user", "content": "Q"}


@pytest.mark.parametrize(
    ("row", "turns", "truth"),
    [
        ({"messages": [ASKED]}, [ASKED], None),
        ({"messages": [ASKED, SAID]}, [ASKED], "A"),
        ({"messages": [ASKED, SAID], "ground_truth": "B"}, [ASKED], "B"),
        ({"messages": [ASKED, BLANK, ASKED]}, [ASKED, BLANK, ASKED], None),
        (
            {"messages": [{"role": "developer", "content": "S"}, ASKED]},
            [{"role": "system", "content": "S"}, ASKED],
            None,
        ),
        ({"messages": [{"role": "user", "content": [{"type": "text", "text": "Q"}]}]}, [ASKED], None),
        ({"conversations": [{"from": "human", "value": "Q"}, {"from": "gpt", "value": "A"}]}, [ASKED], "A"),
        ({"prompt": [ASKED]}, [ASKED], None),
        ({"messages": json.dumps([ASKED, SAID])}, [ASKED], "A"),
    ],
)
def test_a_conversation_keeps_its_turns(row: Row, turns: list[Row], truth: str | None, tmp_path: Path) -> None:
    """A last word of the assistant is the ground truth, as files for training have it; a null is to be filled in."""
    (question,) = questions_of(write_jsonl(tmp_path / "q.jsonl", [row]))

    assert list(question.messages) == turns
    assert (question.text, question.ground_truth) == ("Q", truth)


def write_parquet(path: Path) -> None:
    with duckdb.connect() as connection:
        connection.execute("COPY (SELECT 'a' AS id, 'one' AS prompt) TO $path (FORMAT parquet)", {"path": str(path)})


@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("q.csv", lambda path: path.write_bytes(b'\xef\xbb\xbfID;Question\r\n"a";one\r\n'.replace(b";", b","))),
        ("q.tsv", lambda path: path.write_text("id\tquestion\na\tone\n")),
        ("q.jsonl", lambda path: path.write_bytes(b'\xef\xbb\xbf{"id": "a", "question": "one"}\r\n')),
        ("q.json", lambda path: path.write_text('[{"id": "a", "question": "one"}]')),
        ("q2.json", lambda path: path.write_text('{"data": [{"id": "a", "question": "one"}]}')),
        ("q.parquet", write_parquet),
    ],
)
def test_every_kind_of_file_alone_in_a_folder_and_by_a_glob(
    name: str, write: Callable[[Path], None], tmp_path: Path
) -> None:
    write(tmp_path / name)

    for path in (tmp_path / name, tmp_path, tmp_path / "q*"):
        assert [(question.id, question.text) for question in questions_of(path)] == [("a", "one")], path


def test_a_first_line_of_any_length_is_a_question(tmp_path: Path) -> None:
    text = "x" * (3 << 20)

    assert questions_of(write_jsonl(tmp_path / "q.jsonl", [{"question": text}]))[0].text == text


def test_the_same_question_is_asked_once_and_another_one_of_its_id_is_refused(tmp_path: Path) -> None:
    rows = [{"id": "a", "question": "one", "n": number} for number in range(3)]
    file = open_questions(str(write_jsonl(tmp_path / "q.jsonl", rows)), {}, None)

    assert [question.columns["n"] for _, question in file] == [0]
    assert "2 rows ask what another row of the same id asks: once" in file.notices()[0]
    with pytest.raises(DatasetError, match="lines 1 and 4 have the same id 'a' and ask different things"):
        questions_of(write_jsonl(tmp_path / "q.jsonl", [*rows, {"id": "a", "question": "two"}]))


def test_a_mapped_column_fills_its_field_and_keeps_its_name(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "q.jsonl", [{"text": "Q", "question": "not this", "right": "A"}])
    (question,) = questions_of(path, question="text", ground_truth="right")

    assert (question.text, question.ground_truth, question.columns["question"]) == ("Q", "A", "not this")

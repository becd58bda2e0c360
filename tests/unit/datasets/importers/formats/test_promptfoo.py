"""Results of promptfoo: what is an answer, what a filter or a call of a tool is, and how questions are named."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.unit.datasets.importers import log_files
from tests.unit.datasets.importers.log_rows import rows_of

CALL = {"id": "c1", "type": "function", "function": {"name": "look_up", "arguments": '{"city": "Oslo"}'}}
USE = {"type": "tool_use", "id": "u1", "name": "look_up", "input": {"city": "Oslo"}}


@pytest.mark.parametrize("output", [[CALL], {"role": "assistant", "content": "Let me see.", "tool_calls": [CALL]}])
def test_tool_calls_of_a_promptfoo_result_are_no_response(output: Any, tmp_path: Path) -> None:
    row = log_files.promptfoo_row(0, 0, response={"output": output, "finishReason": "tool_calls"})
    (read,) = rows_of(log_files.write_lines(tmp_path / "results.jsonl", [row]))

    assert read["response"] is None
    assert "a call of the tool look_up" in read["response_error"]
    assert read.get("withheld_text") == (None if isinstance(output, list) else "Let me see.")


def test_the_text_before_a_call_is_no_response_where_only_the_stop_reason_says_so(tmp_path: Path) -> None:
    """promptfoo writes the blocks of Anthropic into one text."""
    outputs = (f"Let me see.\n\n{json.dumps(USE)}", "Let me see.")
    rows = [
        log_files.promptfoo_row(number, 0, response={"output": output, "finishReason": "tool_use"})
        for number, output in enumerate(outputs)
    ]
    called, silent = rows_of(log_files.write_lines(tmp_path / "results.jsonl", rows))

    assert (called["response"], silent["response"]) == (None, None)
    assert called["withheld_text"] == silent["withheld_text"] == "Let me see."
    assert "a call of the tool look_up" in called["response_error"]
    assert "tool_use" in silent["response_error"]


def test_the_rows_of_a_promptfoo_table_keep_their_text_unless_it_is_a_call(tmp_path: Path) -> None:
    header = ["question", "reference", "[model-a] {{question}}", "Status"]
    cells = [["How many?", "7", json.dumps([CALL]), "PASS"], ["How many?", "7", '{"answer": 7}', "PASS"]]
    first, second = rows_of(log_files.write_table(tmp_path / "results.csv", header, cells))

    assert first["response"] is None
    assert second["response"] == '{"answer": 7}'


@pytest.mark.parametrize(
    "output",
    [
        "Content filtered by provider",
        "The generated content was filtered due to triggering Azure OpenAI Service's content filtering system.",
        "The generated content was filtered due to triggering Azure OpenAI Service\u2019s content filtering system.",
    ],
)
def test_what_promptfoo_writes_for_a_filtered_output_is_none_in_its_table_either(output: str, tmp_path: Path) -> None:
    """Its JSON says so beside the text; its table has the text alone, and a model may well write about filters."""
    header = ["question", "[m] {{question}}", "Status", "Score", "Grader Reason"]
    cells = [["What?", output, "PASS", "1.00", ""], ["Why?", f"It said: {output}", "PASS", "1.00", ""]]
    first, second = rows_of(log_files.write_table(tmp_path / "results.csv", header, cells))

    assert (first["response"], first["stop_reason"]) == (None, "content_filter")
    assert "no answer of the model's" in first["response_error"]
    assert second["response"] == f"It said: {output}"


def test_what_a_filter_stopped_is_no_answer_whatever_stands_there(tmp_path: Path) -> None:
    """The words are the provider's: `Content filtered by provider`."""
    row = log_files.promptfoo_row(0, 0, response={"output": "Content filtered", "finishReason": "content_filter"})
    (read,) = rows_of(log_files.write_lines(tmp_path / "results.jsonl", [row]))

    assert (read["response"], read["response_withheld"]) == (None, "content_filter")
    assert read["withheld_text"] == "Content filtered"


def test_one_description_on_two_tests_names_two_questions(tmp_path: Path) -> None:
    other = log_files.promptfoo_row(1, 0, vars={"question": "How often?", "reference": "7"})
    rows = rows_of(log_files.write_lines(tmp_path / "r.jsonl", [log_files.promptfoo_row(0, 0), other]))

    assert rows[0]["question_id"] == "count"
    assert rows[1]["question_id"].startswith("count~")
    assert [row["repeat"] for row in rows] == [1, 1]

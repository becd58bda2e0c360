"""Batches of three providers: outputs joined with their requests."""

from pathlib import Path
from typing import Any

from tests.unit.datasets.importers import log_files
from tests.unit.datasets.importers.log_rows import rows_of

CALL = {"id": "c1", "type": "function", "function": {"name": "look_up", "arguments": '{"city": "Oslo"}'}}
USE = {"type": "tool_use", "id": "u1", "name": "look_up", "input": {"city": "Oslo"}}


def test_a_batch_whose_model_calls_a_tool_has_no_response(tmp_path: Path) -> None:
    message = {"role": "assistant", "content": "Let me see.", "tool_calls": [CALL]}
    openai = {"choices": [{"message": message, "finish_reason": "tool_calls"}], "model": "m"}
    said = {"type": "message", "content": [{"type": "output_text", "text": "Let me see."}]}
    responses = {
        "output": [said, {"type": "function_call", "name": "look_up", "arguments": "{}"}],
        "status": "completed",
    }
    anthropic = {
        "type": "succeeded",
        "message": {"content": [{"type": "text", "text": "Let me see."}, USE], "stop_reason": "tool_use"},
    }
    gemini = {
        "candidates": [
            {
                "content": {"parts": [{"text": "Let me see."}, {"functionCall": {"name": "look_up", "args": {}}}]},
                "finishReason": "STOP",
            }
        ]
    }
    files: dict[str, dict[str, Any]] = {
        "chat.jsonl": {"custom_id": "1", "response": {"status_code": 200, "body": openai}, "error": None},
        "responses.jsonl": {"custom_id": "1", "response": {"status_code": 200, "body": responses}, "error": None},
        "anthropic.jsonl": {"custom_id": "1", "result": anthropic},
        "gemini.jsonl": {"key": "1", "response": gemini},
    }
    for name, row in files.items():
        (read,) = rows_of(log_files.write_lines(tmp_path / name, [row]))

        assert (read["response"], "look_up" in read["response_error"]) == (None, True), name


def test_questions_of_a_batch_are_joined_from_its_requests(tmp_path: Path) -> None:
    """A system prompt is an instruction, not a turn of the conversation."""
    rows = rows_of(log_files.openai_chat(tmp_path))

    assert {row["question"] for row in rows} == {"How many?"}
    assert {row["target_model"] for row in rows} == {"gpt-x-1"}


def test_the_requests_of_a_batch_give_outputs_and_failures_together(tmp_path: Path) -> None:
    log_files.openai_chat(tmp_path)
    rows = rows_of(tmp_path / "batch_input.jsonl")

    assert [(row["id"], row["response"]) for row in rows] == [
        ("r1", "7"),
        ("r2", "I will not."),
        ("r3", None),
        ("r4", None),
    ]
    assert rows[-1]["response_error"] == "batch_expired: too late"

"""Chats: the last message counts, and only if it asks for nothing."""

from pathlib import Path

from tests.unit.datasets.importers import log_files
from tests.unit.datasets.importers.log_rows import rows_of

CALL = {"id": "c1", "type": "function", "function": {"name": "look_up", "arguments": '{"city": "Oslo"}'}}
SAID = {"role": "assistant", "content": "It is 7."}


def test_a_chat_that_ends_in_a_call_has_no_response_and_says_how_it_ended(tmp_path: Path) -> None:
    asked = {"role": "assistant", "content": "Let me see.", "tool_calls": [CALL]}
    path = log_files.write_lines(
        tmp_path / "chats.jsonl",
        [
            {"id": "a", "messages": [{"role": "user", "content": "How many?"}, asked], "finish_reason": "tool_calls"},
            {"id": "b", "messages": [{"role": "user", "content": "How many?"}], "error": {"message": "refused: 422"}},
            {"id": "c", "messages": [{"role": "user", "content": "How many?"}, SAID], "finish_reason": "length"},
        ],
    )
    first, second, third = rows_of(path)

    assert (first["response"], first["withheld_text"]) == (None, "Let me see.")
    assert (second["response"], second["response_error"]) == (None, "refused: 422")
    assert (third["response"], third["stop_reason"]) == ("It is 7.", "length")

"""Logs of Inspect: limits, calls, attachments, and what older versions wrote."""

from pathlib import Path
from typing import Any

from tests.unit.datasets.importers import log_files
from tests.unit.datasets.importers.log_rows import rows_of, seen


def inspect_log(directory: Path, *samples: dict[str, Any]) -> Path:
    return log_files.write_json(directory / "log.json", {**log_files.INSPECT_HEADER, "samples": list(samples)})


def inspect_output(text: str, stop: str, **message: Any) -> dict[str, Any]:
    said = {"role": "assistant", "content": text, **message}
    return {"choices": [{"message": said, "stop_reason": stop}], "completion": text}


def inspect_call(**arguments: str) -> list[dict[str, Any]]:
    return [{"id": "c1", "function": "submit" if "answer" in arguments else "count", "arguments": arguments}]


def test_an_inspect_sample_that_hit_a_limit_has_no_answer(tmp_path: Path) -> None:
    """What it said on its way stood in the log as if it were one; how it was ended is what a person is told."""
    limit = {"type": "message", "limit": 7.0}
    output = inspect_output("Now the difference.", "tool_calls", tool_calls=inspect_call(expression="1 - 2"))
    spoken = inspect_output("I go on.", "stop")
    path = inspect_log(
        tmp_path,
        log_files.inspect_sample("a", limit=limit, output=output),
        log_files.inspect_sample("b", limit={"type": "token", "limit": 900}, output=spoken),
        log_files.inspect_sample("c", limit=None),
    )
    first, second, third = rows_of(path)

    assert [row["response"] for row in (first, second, third)] == [None, None, "So the answer is 7."]
    assert first["response_error"] == "ended by the message limit of 7, before there was an answer"
    assert first["withheld_text"] == "Now the difference."
    assert "token limit of 900" in second["response_error"]


def test_an_inspect_sample_that_ends_in_a_call_has_no_answer_unless_the_call_hands_it_in(tmp_path: Path) -> None:
    """Agents end by `submit`, and Inspect makes what was handed in the completion; the stop reason stays tool_calls."""
    asked = inspect_output("Now 1 - 2", "tool_calls", tool_calls=inspect_call(expression="1 - 2"))
    handed = inspect_output("7", "tool_calls", tool_calls=inspect_call(answer="7"))
    joined = inspect_output("I am sure.\n\n7", "tool_calls", tool_calls=inspect_call(answer="7"))
    taken_out = inspect_output("7", "tool_calls")
    path = inspect_log(
        tmp_path,
        *(
            log_files.inspect_sample(name, output=one)
            for name, one in zip("abcd", (asked, handed, joined, taken_out), strict=True)
        ),
    )

    assert [row["response"] for row in rows_of(path)] == [None, "7", "I am sure.\n\n7", "7"]


def test_attachments_are_put_back_where_inspect_took_them_out(tmp_path: Path) -> None:
    long = log_files.inspect_sample("a", input="attachment://0abc", attachments={"0abc": "How many in all?"})
    path = log_files.write_json(tmp_path / "log.json", {**log_files.INSPECT_HEADER, "samples": [long]})

    assert rows_of(path)[0]["question"] == "How many in all?"


def test_the_one_score_of_an_old_inspect_log_is_kept(tmp_path: Path) -> None:
    sample = log_files.inspect_sample("a", score={"value": "C"})
    del sample["scores"]
    (read,) = rows_of(
        log_files.write_json(tmp_path / "log.json", {**log_files.INSPECT_HEADER, "version": 1, "samples": [sample]})
    )

    assert seen(read)[3] == {"score": True}


def test_an_unreadable_grade_that_old_inspect_called_incorrect_is_unreadable(tmp_path: Path) -> None:
    graded = {"model_graded_qa": {"value": "I", "explanation": "Grade not found in model output: fine"}}
    sample = log_files.inspect_sample("a", scores=graded)
    path = log_files.write_json(tmp_path / "log.json", {**log_files.INSPECT_HEADER, "samples": [sample]})

    assert seen(rows_of(path)[0])[3] == {"model_graded_qa": "unreadable"}

"""Runs of LangSmith: the root answers, its steps do not."""

from pathlib import Path
from typing import Any

import pytest
from tests.unit.datasets.importers import log_files
from tests.unit.datasets.importers.log_rows import notices_of, rows_of

from mixseek.errors import DatasetError

HUMAN = {"type": "human", "content": "How many?"}
ASKS = {"type": "ai", "content": "Let me see.", "tool_calls": [{"name": "look_up", "args": {}, "type": "tool_call"}]}
RESULT = {"type": "tool", "content": '{"count": 7}', "name": "look_up"}
REPLIES = {"type": "ai", "content": "It is 7.", "tool_calls": []}


def langsmith_run(name: str, parent: str | None, outputs: Any, **more: Any) -> dict[str, Any]:
    run = {"id": name, "trace_id": parent or name, "parent_run_id": parent, "run_type": "llm" if parent else "chain"}
    return {
        **run,
        "name": "agent",
        "inputs": {"messages": [{"role": "user", "content": "How many?"}]},
        "outputs": outputs,
        **more,
    }


def test_a_langsmith_run_tree_is_one_sample_with_the_last_answer(tmp_path: Path) -> None:
    """A run below another is no sample, whether it stands in a tree or by itself."""
    conversation = {"messages": [HUMAN, ASKS, RESULT, REPLIES]}
    path = log_files.write_lines(
        tmp_path / "runs.jsonl",
        [
            langsmith_run("r1", None, conversation, child_runs=[langsmith_run("s0", "r1", {})]),
            langsmith_run("s1", "r1", {"messages": [ASKS]}),
            langsmith_run("r2", None, {}, error="ToolCrash('gone')"),
            langsmith_run("r3", None, {"messages": [HUMAN, ASKS, RESULT]}),
        ],
    )
    told = [(row["id"], row["question"], row["response"]) for row in rows_of(path)]

    assert told == [("r1", "How many?", "It is 7."), ("r2", "How many?", None), ("r3", "How many?", None)]
    assert notices_of(path) == []


def test_langsmith_steps_without_their_root_are_refused(tmp_path: Path) -> None:
    path = log_files.write_lines(tmp_path / "runs.jsonl", [langsmith_run("s1", "r1", {"messages": [ASKS]})])

    with pytest.raises(DatasetError, match="only steps, which are no answers"):
        rows_of(path)

"""A workspace with a run of every kind, small enough to be judged in a second or two."""

import json
from pathlib import Path
from typing import Any

from tests.flows.running import mixseek_here, write_jsonl
from tests.unit.web.viewing import judge_rows

from mixseek.setup.demo import run_demo_competition, run_example, unpack_files

SAMPLES = 60


def numbers(is_later: bool = False) -> list[dict[str, Any]]:
    """Sums: every third is wrong, and later nearly all; three tasks, two targets, two names in the metadata."""
    return [
        {
            "id": f"row-{number}",
            "question": f"What is {number} + 1?",
            "response": f"I add them up. So the answer is {number + (2 if is_later or number % 3 == 0 else 1)}.",
            "ground_truth": str(number + 1),
            "target_model": ("aster", "cedar")[number % 2],
            "task_name": f"task-{number % 3}",
            "metadata": {"parity": ("even", "odd")[number % 2], "colour": ("red", "green", "blue")[number % 3]},
        }
        for number in range(SAMPLES)
    ]


def replies(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A kind judge; of every fiftieth sample it says nothing that can be read."""
    said = {"id": 1, "is_correct": True, "reasoning_score": 4, "error_type": "none", "comment": "A sum, step by step."}
    readable = [json.dumps(said | {"extracted_answer": row["ground_truth"]}) for row in rows]
    return [
        {"id": row["id"], "reply": "I would rather not." if number % 50 == 7 else reply}
        for number, (row, reply) in enumerate(zip(rows, readable, strict=True))
    ]


def make_workspace(root: Path) -> Path:
    """Runs `numbers` and `later` by rules and a recorded judge, a rubric, a cross matrix, and a competition."""
    workspace = root / "ws"
    judge_rows(root, tuple(numbers(is_later=True)), "later")
    file = write_jsonl(root / "kind.jsonl", replies(numbers()))
    judge_rows(root, tuple(numbers()), "sums")
    judge_rows(root, tuple(numbers()), "numbers", "--judge", f"replay:{file.name}")
    unpack_files(workspace)
    run_example(workspace, "rubric", ("kiri-judge", "sumi-judge"))
    run_example(workspace, "cross", ("aster-1", "cedar-7"))
    run_demo_competition(workspace)
    done = mixseek_here("report", "numbers", "--workspace", "ws", "--to", "report.html", cwd=root)
    assert done.returncode == 0, done.stderr
    return workspace

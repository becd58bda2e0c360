"""Rubric, semantic and cross as metrics of one race: three protocols, one overall score."""

import json
from pathlib import Path
from typing import Any

from tests.flows.running import mixseek_here

TEXT = "The mill was built in 1812. It stands on the Orle."
RUBRIC = """task_type: fact

## Critical Fail Conditions
- The text invents a second mill.

## 採点者向け事実情報
- The mill was built in 1812.
"""
RACE = """
task = "When was the mill built, and where does it stand?"

[[teams]]
id = "miller"
command = ["cat", "answer.txt"]

[evaluator]
judge = "replay:replies.jsonl"

[[evaluator.metrics]]
type = "rubric"
weight = 0.5
options = {rubric_file = "mill.md", task_name = "mill", task_type = "fact"}

[[evaluator.metrics]]
type = "cross"
weight = 0.3
options = {question_id = "q1", prompt_variant = "plain"}

[[evaluator.metrics]]
type = "semantic"
name = "year"
weight = 0.2
judge = "rules"
options = {ground_truth = "1812. It stands on the Orle"}

[rounds]
min = 1
max = 1
"""
DIMENSIONS = ("FORMAT_COMPLIANCE", "INSTRUCTION_COMPLIANCE", "SEMANTIC_FIDELITY", "COMPLETENESS")


def rubric_reply() -> dict[str, Any]:
    weights = {"logic_and_fact": 60, "constraint_adherence": 30, "helpfulness_and_creativity": 10}
    scores = {"logic_and_fact": 60, "constraint_adherence": 20, "helpfulness_and_creativity": 10}
    return {
        "task_name": "mill",
        "task_type": "fact",
        "inferred_task_type": None,
        "weights": weights,
        "score": scores,
        "total_score": 90,
        "reasoning": dict.fromkeys(weights, "as it should be"),
        "critical_fail": False,
        "critical_fail_reason": None,
        "confidence": "high",
    }


def cross_reply() -> dict[str, Any]:
    return {
        "meta": {
            "judge_model": "aster-1",
            "target_model": "miller",
            "question_id": "q1",
            "prompt_variant": "plain",
            "output_id": "miller/1",
            "method": "cross_judge",
            "timestamp": "2026-01-01",
        },
        "scores": {**dict.fromkeys(DIMENSIONS, 2), "COMPLETENESS": 1, "overall_score": 7},
        "verdict": "PASS",
        "flags": [],
        "evidence": [
            {"dimension": name, "quote": "The mill was built in 1812.", "reason": "it says so"} for name in DIMENSIONS
        ],
        "notes": "",
    }


def test_protocols_are_metrics_on_one_scale(tmp_path: Path) -> None:
    """Each protocol's own fields stay in the details; the overall score is their weighted mean."""
    (tmp_path / "answer.txt").write_text(TEXT, encoding="utf-8")
    (tmp_path / "mill.md").write_text(RUBRIC, encoding="utf-8")
    (tmp_path / "race.toml").write_text(RACE, encoding="utf-8")
    replies = {"rubric": rubric_reply(), "cross": cross_reply()}
    lines = [
        json.dumps({"id": f"miller/1/{name}", "judge_model": "aster-1", "reply": json.dumps(reply)})
        for name, reply in replies.items()
    ]
    (tmp_path / "replies.jsonl").write_text("\n".join(lines), encoding="utf-8")
    done = mixseek_here("compete", "race.toml", "-w", "ws", "--json", "--quiet", cwd=tmp_path)
    entry = json.loads(done.stdout)["teams"][0]["rounds"][0]
    scores = {metric["name"]: metric["score"] for metric in entry["metrics"]}

    assert done.returncode == 0, (done.stderr, entry["metrics"])
    assert scores == {"rubric": 90, "cross": 87.5, "year": 100}
    assert entry["score"] == 0.5 * 90 + 0.3 * 87.5 + 0.2 * 100

"""Outputs, a rubric and judges' replies written for the flows of the rubric and cross protocols."""

import json
from collections.abc import Mapping
from typing import Any

DIMENSIONS = ("FORMAT_COMPLIANCE", "INSTRUCTION_COMPLIANCE", "SEMANTIC_FIDELITY", "COMPLETENESS")
RESPONSES = {
    "A": "# 结论\n\n缓存应当分层。\n\n# 步骤\n\n1. 先测量命中率。\n2. 再调整容量。\n",
    "B": "缓存很重要，建议多加内存，并且经常重启服务。",
}
QUOTES = {"A": "先测量命中率", "B": "建议多加内存"}


def outputs(targets: tuple[str, ...] = ("model-a", "model-b"), questions: int = 2) -> list[dict[str, Any]]:
    """question × variant × target."""
    return [
        {
            "id": f"{question}-{variant}-{target}",
            "question": "请用 Markdown 给出缓存优化的结论与步骤。",
            "question_id": question,
            "prompt_variant": variant,
            "target_model": target,
            "output_id": f"{question}_{variant}_{target}.md",
            "response": response,
        }
        for question in [f"Q{number + 1}" for number in range(questions)]
        for variant, response in RESPONSES.items()
        for target in targets
    ]


def cross_reply(row: Mapping[str, Any], judge: str, scores: tuple[int, int, int, int] = (2, 2, 2, 1)) -> dict[str, Any]:
    """A reply that holds."""
    total = sum(scores)
    passed = total >= 7 and scores[0] and scores[1]
    return {
        "meta": {
            "judge_model": judge,
            "target_model": row["target_model"],
            "question_id": row["question_id"],
            "prompt_variant": row["prompt_variant"],
            "output_id": row["output_id"],
            "method": "self_judge" if judge == row["target_model"] else "cross_judge",
            "timestamp": "2026-03-01",
        },
        "scores": {**dict(zip(DIMENSIONS, scores, strict=True)), "overall_score": total},
        "verdict": "FAIL" if total <= 3 else "PASS" if passed else "PARTIAL",
        "flags": [],
        "evidence": [
            {"dimension": name, "quote": QUOTES[row["prompt_variant"]], "reason": "该片段说明了这一点"}
            for name in DIMENSIONS
        ],
        "notes": "",
    }


def recorded(row: Mapping[str, Any], judge: str, reply: Any) -> dict[str, Any]:
    """A line of a file of replies."""
    text = reply if isinstance(reply, str) else json.dumps(reply, ensure_ascii=False)
    return {"id": row["id"], "judge_model": judge, "reply": text}


TEA_RUBRIC = """---
task_name: tea
task_type: creative
---
## Critical Fail Conditions
- 茶について書かれていない

## 採点者向け事実情報
- 茶室は四畳半である

### 加点項目
- 湯気や音の描写がある

### 減点項目
- 五百字を超える
"""
WEIGHTS = {
    "fact": (60, 30, 10),
    "creative": (30, 30, 40),
    "speculative": (40, 20, 40),
}
RUBRIC_DIMENSIONS = ("logic_and_fact", "constraint_adherence", "helpfulness_and_creativity")


def rubric_reply(task_name: str, task_type: str, scores: tuple[int, int, int], **changes: Any) -> dict[str, Any]:
    """A reply that holds."""
    return {
        "task_name": task_name,
        "task_type": task_type,
        "inferred_task_type": None,
        "weights": dict(zip(RUBRIC_DIMENSIONS, WEIGHTS[task_type], strict=True)),
        "score": dict(zip(RUBRIC_DIMENSIONS, scores, strict=True)),
        "total_score": sum(scores),
        "reasoning": dict.fromkeys(RUBRIC_DIMENSIONS, "根拠がある"),
        "critical_fail": False,
        "critical_fail_reason": None,
        "confidence": "high",
        **changes,
    }

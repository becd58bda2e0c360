"""On human judgments of open question answering, what the short-text rules decide is right; skipped without data."""

import json
from pathlib import Path
from typing import Any

import pytest

from mixseek.matching.outcome import Decision
from mixseek.matching.short_text import compare_short_text

_DATA = Path(__file__).parents[4] / "shared" / "data"
_FILES = [_DATA / "matching_evouna_human.jsonl", _DATA / "matching_nq301_human.jsonl"]


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.mark.skipif(not all(path.exists() for path in _FILES), reason="the measuring data is not beside the project")
def test_what_is_decided_is_right() -> None:
    """98.5 % of the decisions agree with the human, and 55 % of the rows are decided."""
    decided = right = total = 0
    for path in _FILES:
        for row in _rows(path):
            gold = [row["ground_truth"], *row["ground_truth_alternatives"]]
            decision = compare_short_text(row["response"], gold, question=row["question"]).decision
            total += 1
            decided += decision is not Decision.UNDECIDED
            right += decision is (Decision.CORRECT if row["label"] else Decision.INCORRECT)

    assert right / decided >= 0.985
    assert decided / total >= 0.55

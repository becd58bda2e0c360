"""What a log is read as: its rows, and the sentences about it as a whole."""

from pathlib import Path
from typing import Any

from mixseek.datasets.importers.registry import recognise

# id, response, ground truth, and by scorer: verdict, or the word for what is none.
Seen = tuple[str, str | None, str | None, dict[str, bool | str]]


def rows_of(path: Path) -> list[dict[str, Any]]:
    log = recognise(path)
    assert log is not None
    return list(log.rows([]))


def notices_of(path: Path) -> list[str]:
    log, notices = recognise(path), list[str]()
    assert log is not None
    for _ in log.rows(notices):
        pass
    return [*log.log.notices, *notices]


def seen(row: dict[str, Any]) -> Seen:
    def said(score: dict[str, Any]) -> bool | str:
        verdict = score.get("is_correct")
        return "unreadable" if "problem" in score else "graded" if verdict is None else bool(verdict)

    scores = {name: said(score) for name, score in row.get("scores", {}).items()}
    return row["id"], row["response"], row.get("ground_truth"), scores

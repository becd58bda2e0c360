"""What a value means is told by all values of its scorer."""

from pathlib import Path
from typing import Any

from tests.unit.datasets.importers import log_files
from tests.unit.datasets.importers.log_rows import rows_of

from mixseek.datasets.importers.samples.grades import grade_table
from mixseek.domain.samples import LOG_SCORES


def mlflow_rows(**scores: list[Any]) -> list[dict[str, Any]]:
    count = len(next(iter(scores.values())))
    row = {"request": {"question": "How many?"}, "response": "It is 7.", "expected_response/value": "7"}
    told = [{f"{name}/value": values[index] for name, values in scores.items()} for index in range(count)]
    return [{"trace_id": f"t{index}", **row, **one} for index, one in enumerate(told)]


def test_a_scorer_with_any_value_beyond_0_to_1_grades_as_a_whole(tmp_path: Path) -> None:
    """`length` of 1.0 was *correct*, and its mean 100 %."""
    rows = rows_of(log_files.write_lines(tmp_path / "r.jsonl", mlflow_rows(length=[1.0, 3.0, 0], exact=[1, 0, 1])))

    assert [row[LOG_SCORES]["length"] for row in rows] == [{"value": value, "graded": True} for value in (1.0, 3.0, 0)]
    assert [row[LOG_SCORES]["exact"]["is_correct"] for row in rows] == [True, False, True]


def test_a_scorer_without_a_single_verdict_grades(tmp_path: Path) -> None:
    rows = rows_of(log_files.write_lines(tmp_path / "r.jsonl", mlflow_rows(tone=["formal", "casual"], near=[0.3, 0.4])))

    assert [row[LOG_SCORES]["tone"] for row in rows] == [
        {"value": word, "graded": True} for word in ("formal", "casual")
    ]
    assert [row[LOG_SCORES]["near"] for row in rows] == [
        {"value": value, "score": value, "graded": True} for value in (0.3, 0.4)
    ]


def test_the_tools_own_verdict_beside_a_number_stands(tmp_path: Path) -> None:
    """promptfoo says `pass` beside a score of any size."""
    rows = [
        log_files.promptfoo_row(
            number, 0, gradingResult={"pass": passed, "score": score, "reason": "", "componentResults": []}
        )
        for number, (passed, score) in enumerate([(True, 5), (False, 1)])
    ]
    read = rows_of(log_files.write_lines(tmp_path / "results.jsonl", rows))

    assert [row[LOG_SCORES]["promptfoo"]["is_correct"] for row in read] == [True, False]


def test_bare_scores_of_a_table_are_read_by_all_their_values() -> None:
    rows = [(1, {"scores": {"length": 1, "mine": True}}), (2, {"scores": {"length": 4, "mine": False}}), (3, {})]
    graded = [row.get("scores") for _, row in grade_table(lambda: iter(rows))]

    assert graded == [
        {"length": {"value": 1, "graded": True}, "mine": True},
        {"length": {"value": 4, "graded": True}, "mine": False},
        None,
    ]

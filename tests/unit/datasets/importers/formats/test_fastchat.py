"""MT-Bench: question and answer are taken out of the judge's prompt."""

from pathlib import Path

import pytest
from tests.unit.datasets.importers import log_files
from tests.unit.datasets.importers.log_rows import rows_of


def mt_bench_turns(*turns: tuple[str, str]) -> str:
    said = "\n\n".join(f"### {who}:\n{text}" for who, text in turns)
    name = "Assistant A's Conversation with User"
    return f"<|The Start of {name}|>\n\n{said}\n\n<|The End of {name}|>"


@pytest.mark.parametrize(
    ("turns", "response"),
    [
        ((("User", "Q1"), ("Assistant A", "A1"), ("User", "Q2"), ("Assistant A", "A2")), "A2"),
        ((("User", "Q1"), ("Assistant A", "A1"), ("User", "Q2"), ("Assistant A", "")), ""),
        ((("User", "Q1"), ("Assistant A", ""), ("User", "Q2"), ("Assistant A", "")), ""),
        ((("User", "Q1"), ("Assistant A", ""), ("User", "Q2"), ("Assistant A", "A2")), "A2"),
        # An answer that plays the user as well: nothing says where it begins.
        ((("User", "Q1"), ("Assistant A", "A1"), ("User", "Q2"), ("Assistant A", "A2"), ("User", "Q3")), None),
    ],
)
def test_the_second_turn_of_mt_bench_is_the_assistants_or_none(
    turns: tuple[tuple[str, str], ...], response: str | None, tmp_path: Path
) -> None:
    row = {
        "question_id": 81,
        "model": "m",
        "judge": ["gpt-4", "single-v1-multi-turn"],
        "judgment": "[[5]]",
        "score": 5,
        "turn": 2,
    }
    (read,) = rows_of(
        log_files.write_lines(tmp_path / "judgments.jsonl", [{**row, "user_prompt": mt_bench_turns(*turns)}])
    )

    assert read["response"] == response
    assert read["question"].startswith("user: Q1")
    assert ("response_error" in read) == (response is None)


def test_the_answers_that_mt_bench_is_to_judge_are_samples_by_turn(tmp_path: Path) -> None:
    row = {"question_id": 81, "answer_id": "x", "model_id": "m", "choices": [{"index": 0, "turns": ["7", "Yes."]}]}
    rows = rows_of(log_files.write_lines(tmp_path / "m.jsonl", [row]))

    assert [(row["id"], row["response"], row["target_model"]) for row in rows] == [
        ("81", "7", "m"),
        ("81.turn2", "Yes.", "m"),
    ]

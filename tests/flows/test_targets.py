"""Targets lead: in the headline of `judge`, on the terminal, in the page and in JSON; and `--by` any column."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.flows.running import mixseek_here, the_one_line, write_jsonl

TRUTHS = ("7", "12", "31", "45", "58", "64", "79", "83")


def answers(**right: int) -> list[dict[str, Any]]:
    """Each target answers the same eight questions, so many of them right; every answer twice as fast as it is good."""
    return [
        {
            "id": f"{target}-{number}",
            "question": f"What is on door {number}?",
            "question_id": f"door-{number}",
            "response": f"The answer is {truth if number < count else 99}.",
            "ground_truth": truth,
            "target_model": target,
            "difficulty": "hard" if number > 5 else "easy",
            "a.b/c~d": number % 2,
        }
        for target, count in right.items()
        for number, truth in enumerate(TRUTHS)
    ]


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two targets under the rules, in workspace `ws` as run `r`."""
    place = tmp_path_factory.mktemp("targets")
    write_jsonl(place / "answers.jsonl", answers(worse=3, better=6))
    mixseek_here("judge", "answers.jsonl", "--workspace", "ws", "--run", "r", cwd=place)
    return place


def test_judge_ranks_the_targets_with_interval_units_and_bounds(judged: Path) -> None:
    done = mixseek_here("judge", "answers.jsonl", "--workspace", "ws", "--run", "r", "--json", cwd=judged)
    said = mixseek_here("judge", "answers.jsonl", "--workspace", "ws", "--run", "r", cwd=judged).stdout
    targets = json.loads(done.stdout)["headline"]["targets"]

    assert [(one["rank"], one["target"], one["mean_score"]) for one in targets] == [
        (1, "better", 0.75),
        (2, "worse", 0.375),
    ]
    assert {tuple(one["units"].values()) for one in targets} == {(8, 8, 8.0)}
    assert all(one["interval"]["low"] < one["mean_score"] < one["interval"]["high"] for one in targets)
    assert all(one["bounds"] == {"worst": one["mean_score"], "best": one["mean_score"]} for one in targets)
    assert said.index(" 1. 75.0%      better") < said.index(" 2. 37.5%      worse") < said.index("mean score")


def test_the_report_opens_with_the_targets_and_keeps_its_judges_for_later(judged: Path) -> None:
    """Before any word about how generous the judge is; a question that both targets answer is one observation."""
    done = mixseek_here("report", "r", "--workspace", "ws", "--to", "r.html", cwd=judged)
    document = json.loads(mixseek_here("report", "r", "--workspace", "ws", "--json", cwd=judged).stdout)
    page = (judged / "r.html").read_text(encoding="utf-8")

    for text in (done.stdout, page):
        assert text.index("Targets") < text.index("better") < text.index("worse")
        assert text.index("worse") < text.index("How far the judges can be trusted")
    assert document["headline"]["units"] == {"samples": 16, "questions": 8, "effective_questions": 8.0}
    assert "16 samples of 8 questions" in done.stdout
    assert [one["target"] for one in document["headline"]["targets"]] == ["better", "worse"]


def test_by_breaks_down_by_any_column_of_the_samples(judged: Path) -> None:
    """Columns of the index, of the metadata with any name, and texts; on the terminal, in the page and in JSON."""
    columns = ("difficulty", "a.b/c~d", "question_id", "ground_truth")
    options = [option for column in columns for option in ("--by", column)]
    done = mixseek_here("report", "r", "--workspace", "ws", *options, "--to", "by.html", cwd=judged)
    by = json.loads(mixseek_here("report", "r", "--workspace", "ws", *options, "--json", cwd=judged).stdout)[
        "headline"
    ]["by"]
    page = (judged / "by.html").read_text(encoding="utf-8")

    assert [(one["value"], one["mean_score"], one["units"]["samples"]) for one in by["difficulty"]] == [
        ("easy", 0.75, 12),
        ("hard", 0.0, 4),
    ]
    assert {one["value"] for one in by["a.b/c~d"]} == {"0", "1"}
    assert [one["mean_score"] for one in by["question_id"]] == [1.0] * 3 + [0.5] * 3 + [0.0] * 2
    assert {one["value"] for one in by["ground_truth"]} == set(TRUTHS)
    # Both targets on one question: two samples, one observation.
    assert {tuple(one["units"].values()) for one in by["question_id"]} == {(2, 1, 1.0)}
    assert all(one["interval"] is None for one in by["question_id"])
    for text in (done.stdout, page):
        assert "By difficulty" in text
        assert "By a.b/c~d" in text
    assert "samples of one question are one observation" in page


def test_a_column_that_no_sample_has_is_refused_with_those_there_are(judged: Path) -> None:
    done = mixseek_here("report", "r", "--workspace", "ws", "--by", "dificulty", cwd=judged)

    assert done.returncode == 2
    assert "no sample has a column 'dificulty'; there is target_model, question_id, id, a.b/c~d, difficulty" in (
        the_one_line(done)
    )


def test_prompt_variants_lead_where_no_target_is_named(tmp_path: Path) -> None:
    """A run compares two ways of asking as it compares two models."""
    rows = [{"prompt_variant": row.pop("target_model"), **row} for row in answers(terse=5, long=2)]
    write_jsonl(tmp_path / "answers.jsonl", rows)
    done = mixseek_here("judge", "answers.jsonl", "--workspace", "ws", "--json", cwd=tmp_path)
    headline = json.loads(done.stdout)["headline"]

    assert headline["targets"] == []
    assert [(one["rank"], one["variant"]) for one in headline["variants"]] == [(1, "terse"), (2, "long")]

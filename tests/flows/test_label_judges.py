"""Each judge beside what people say: how often it sees what they see, also over labels that were drawn unevenly."""

import json
from pathlib import Path

import pytest
from tests.flows.label_material import answers, corrected, fill, judge_answers, know_better, label

# Of the answers that people call right, the rules accept so many; of the others, they refuse so many.
SENSITIVITY = 0.8 * 0.8 / (0.8 * 0.8 + 0.2 * 0.1)
SPECIFICITY = 0.2 * 0.9 / (0.2 * 0.9 + 0.8 * 0.2)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    judge_answers(tmp_path, answers())
    return tmp_path


def draw_and_fill(place: Path, *options: str) -> None:
    label(place, "sample", "r", "--seed", "3", "--to", "sheet.csv", *options)
    fill(place / "sheet.csv", place / "filled.csv", know_better)
    label(place, "import", "filled.csv", "--rater", "mia")


def test_labels_of_all_answers_give_the_planted_shares(place: Path) -> None:
    draw_and_fill(place, "--n", "500")

    (rules,) = corrected(place)["by_judge"]

    assert rules["judge"] == "rules"
    assert [(row["verdict"], row["right"], row["wrong"]) for row in rules["confusion"]] == [
        ("correct", 320, 80), ("incorrect", 10, 90),
    ]  # fmt: skip
    assert rules["sensitivity"]["share"] == pytest.approx(SENSITIVITY)
    assert rules["specificity"]["share"] == pytest.approx(SPECIFICITY)
    assert (rules["sensitivity"]["labels"], rules["specificity"]["labels"]) == (330, 170)


def test_labels_of_a_rare_verdict_count_by_their_chance(place: Path) -> None:
    """What the rules refuse is drawn more often: without weights they would seem to miss more than they do."""
    draw_and_fill(place, "--n", "200", "--stratify", "verdict")

    (rules,) = corrected(place)["by_judge"]

    assert rules["drawing"] == "weighted"
    counts = {row["verdict"]: (row["right"], row["wrong"]) for row in rules["confusion"]}
    raw = counts["correct"][0] / (counts["correct"][0] + counts["incorrect"][0])
    for name, truth in (("sensitivity", SENSITIVITY), ("specificity", SPECIFICITY)):
        share = rules[name]
        assert share["interval"]["low"] <= truth <= share["interval"]["high"]
    assert abs(rules["sensitivity"]["share"] - SENSITIVITY) < abs(raw - SENSITIVITY)


def test_answers_of_one_question_are_one_observation(place: Path) -> None:
    """The same labels say less where ten answers share a question."""
    judge_answers(place, answers(question_id=lambda n: f"Q{n // 10}"), run="clustered", name="clustered.jsonl")
    draw_and_fill(place, "--n", "500")

    (apart,), (together,) = corrected(place)["by_judge"], corrected(place, "clustered")["by_judge"]

    assert (apart["specificity"]["questions"], together["specificity"]["questions"]) == (170, 50)
    assert together["specificity"]["interval"]["method"] == "clustered Wilson"
    assert json.dumps(apart["confusion"]) == json.dumps(together["confusion"])

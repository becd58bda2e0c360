"""Few labels, labels that are no random draw, and labels of unknown drawing: what every door says of them."""

import csv
import json
from pathlib import Path
from random import Random
from typing import Any

import pytest
from tests.flows.label_material import corrected, fill, judge_answers, label, number_of
from tests.flows.running import mixseek_here

# Every sixteenth answer is wrong, and rules know it.
WRONG_EVERY = 16


def is_right(number: int) -> bool:
    return number % WRONG_EVERY != 0


def judged(place: Path, count: int = 480) -> None:
    rows: list[dict[str, Any]] = [
        {
            "id": f"answer {n}",
            "question": f"What is {n} + {n}?",
            "response": f"The answer is {2 * n + (not is_right(n))}.",
            "ground_truth": str(2 * n),
        }
        for n in range(count)
    ]
    judge_answers(place, rows)


def write_labels(place: Path, numbers: list[int]) -> None:
    with (place / "own.csv").open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["id", "label"])
        table.writerows([f"answer {n}", "correct" if is_right(n) else "incorrect"] for n in numbers)


def shown(place: Path, *command: str) -> str:
    """What the terminal says, without its line breaks."""
    done = mixseek_here(*(command or ("report", "r", "-w", "ws")), cwd=place)
    assert done.returncode == 0, done.stderr
    return " ".join(done.stdout.split())


def test_fourteen_labels_by_verdict_are_weighted_by_verdict(tmp_path: Path) -> None:
    """Half of them are of the rare verdict; together they would say that half of all answers are wrong."""
    judged(tmp_path)
    label(tmp_path, "sample", "r", "--n", "14", "--stratify", "verdict", "--seed", "3", "--to", "sheet.csv")
    fill(tmp_path / "sheet.csv", tmp_path / "full.csv", lambda row: "correct" if is_right(number_of(row)) else "wrong")
    label(tmp_path, "import", "full.csv", "--rater", "mia")
    document = corrected(tmp_path)
    found = document["corrected"]

    assert found["mean"] == pytest.approx(1 - 1 / WRONG_EVERY)
    assert (found["state"], found["estimator"]) == ("label only", "labels only, weighted by verdict")
    assert found["low"] < 1 - 1 / WRONG_EVERY < found["high"]
    assert "labels only, weighted by verdict" in document["sentence"]
    assert "labels only, weighted by verdict" in shown(tmp_path)


def test_few_labels_that_are_no_random_draw_are_called_so_at_every_door(tmp_path: Path) -> None:
    """Twelve labels said to be random, nine of them of the rare verdict."""
    judged(tmp_path)
    write_labels(tmp_path, [*[n for n in range(480) if not is_right(n)][:9], 1, 2, 3])
    label(tmp_path, "import", "own.csv", "--rater", "mia", "--run", "r", "--drawn", "random")
    document = corrected(tmp_path)
    terminal = shown(tmp_path)
    page = (tmp_path / "ws/runs/r/report.html").read_text(encoding="utf-8")

    assert document["corrected"]["state"] == document["labels_only"]["state"] == "not random"
    assert document["corrected"]["random_p"] < 1e-6
    for door in (document["sentence"], terminal, page):
        assert "not like a random draw (p" in door.replace("&lt;", "<")
        assert "labels alone: only of the labelled samples" in door
        assert "labelled, drawn at random" not in door


def test_a_plan_counts_what_was_drawn_and_not_what_lies_about(tmp_path: Path) -> None:
    """Two hundred labels of unknown drawing make no corrected number: all that a width needs is still to be drawn."""
    judged(tmp_path)
    write_labels(tmp_path, list(range(200)))
    label(tmp_path, "import", "own.csv", "--rater", "mia", "--run", "r")
    done = mixseek_here("label", "plan", "r", "--width", "5%", "-w", "ws", "--json", cwd=tmp_path)
    plan = json.loads(done.stdout)
    words = shown(tmp_path, "label", "plan", "r", "--width", "5%", "-w", "ws")

    assert (plan["labelled"], plan["drawn"]) == (200, 0)
    assert plan["more"] == plan["needed"] > 15
    assert f"200 labels are there, none drawn at random; {plan['more']} more" in words


def test_a_table_of_ratings_says_what_labels_alone_are_about(tmp_path: Path) -> None:
    """Without a word about the drawing, and with a word that is not true."""
    rng = Random(4)
    rows = [(n, float(rng.random() < 0.7)) for n in range(300)]
    known = [n for n, said in rows if not said][:10] + [n for n, said in rows if said][:2]
    with (tmp_path / "ratings.csv").open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["item", "judge", "score"])
        table.writerows((f"i{n}", "judge", said) for n, said in rows)
        table.writerows((f"i{n}", "human", rows[n][1]) for n in known)
    unknown = shown(tmp_path, "stats", "ratings.csv", "--human", "human")
    random = shown(tmp_path, "stats", "ratings.csv", "--human", "human", "--labels", "random")
    command = ("stats", "ratings.csv", "--human", "human", "--labels", "random", "--json")
    (line,) = json.loads(mixseek_here(*command, cwd=tmp_path).stdout)["corrected"]

    assert "labels alone: only of the labelled samples, because nobody said how they were drawn" in unknown
    assert "labels alone: only of the labelled samples, because a random draw would look different" in random
    assert "valid only if labels were chosen by verdict" in random
    assert line["corrected"]["state"] == line["labels_only"]["state"] == "not random"
    assert line["corrected"]["low"] < 0.7 < line["corrected"]["high"]


def test_few_large_questions_are_named_beside_the_mean(tmp_path: Path) -> None:
    """Two of twenty questions hold most samples: the interval knows, and says what they are worth."""
    sizes = [3] * 18 + [60, 80]
    rows = [
        {
            "id": f"{question}-{n}",
            "question_id": f"q{question}",
            "question": f"What is {question} + {question}?",
            "response": f"{2 * question + (1 if size > 3 and n % 2 else 0)} {'!' * n}",
            "ground_truth": str(2 * question),
        }
        for question, size in enumerate(sizes)
        for n in range(size)
    ]
    judge_answers(tmp_path, rows)
    done = mixseek_here("report", "r", "-w", "ws", "--json", cwd=tmp_path)
    units = json.loads(done.stdout)["headline"]["units"]

    assert units["effective_questions"] == pytest.approx(sum(sizes) ** 2 / sum(size * size for size in sizes))
    assert "few of which carry the mean: as much as 3.7 of equal size" in shown(tmp_path)


def test_stats_names_few_large_questions_in_the_words_of_the_report(tmp_path: Path) -> None:
    """A rater whose questions are of equal size is left alone."""
    sizes = {"uneven": [3] * 18 + [60, 80], "even": [10] * 20}
    with (tmp_path / "ratings.csv").open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["item", "judge", "score", "question_id"])
        for judge, counts in sizes.items():
            for question, size in enumerate(counts):
                table.writerows((f"{question}-{n}", judge, n % 2, f"q{question}") for n in range(size))
    lines = {line["name"]: line for line in json.loads(shown(tmp_path, "stats", "ratings.csv", "--json"))["raters"]}
    words = shown(tmp_path, "stats", "ratings.csv")

    assert lines["uneven"]["effective_questions"] == pytest.approx(194**2 / (18 * 9 + 3600 + 6400))
    assert lines["even"]["effective_questions"] == 20
    assert "uneven: 194 items of 20 questions, few of which carry the mean: as much as 3.7 of equal size" in words
    assert "even: 200 items" not in words

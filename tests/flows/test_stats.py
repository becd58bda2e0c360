"""`mixseek stats` on tables and runs: what it says, what it refuses, and that more looks are no more evidence."""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from random import Random
from typing import Any

import pytest
from tests.flows.label_material import answers, corrected, fill, judge_answers, know_better, label
from tests.flows.running import mixseek_here, sums, the_one_line, write_jsonl


def ratings(*, judges: tuple[str, ...] = ("judge",), seed: int = 3, drawn: int = 60) -> Iterator[Mapping[str, Any]]:
    """200 answers to 40 questions by two systems; people on the first ones; judges right nine times of ten."""
    rng = Random(seed)
    for number in range(200):
        truth = int(rng.random() < (0.8 if number % 2 else 0.6))
        row = {"item": f"i{number}", "question_id": f"q{number % 40 // 2}", "system": f"s{number % 2}"}
        if number < drawn:
            yield {**row, "judge": "expert", "score": truth}
        said = truth if rng.random() < 0.9 else 1 - truth
        for judge in judges:
            yield {**row, "judge": judge, "score": said}


def stats(path: Path, *options: str) -> dict[str, Any]:
    done = mixseek_here("stats", path.name, *options, "--json", cwd=path.parent)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_a_table_is_told_on_one_page(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "r.jsonl", ratings(judges=("a", "b", "c")))
    options = ("--human", "expert", "--labels", "random", "--compare", "s1", "s0")
    done = mixseek_here("stats", path, *options, cwd=tmp_path)

    assert done.returncode == 0
    for title in ("Raters", "Against expert", "All 3 together", "Rater by rater", "from labels", "s1 minus s0"):
        assert title in done.stdout
    assert "corrected by human labels (post-stratified by verdict)" in done.stdout


def test_four_identical_judges_change_no_interval(tmp_path: Path) -> None:
    """They are the same evidence four times."""
    one = stats(write_jsonl(tmp_path / "one.jsonl", ratings()), "--human", "expert", "--labels", "random")
    four = stats(
        write_jsonl(tmp_path / "four.jsonl", ratings(judges=("judge", "j2", "j3", "j4"))),
        *("--human", "expert", "--labels", "random"),
    )

    for section, key in (("raters", "name"), ("corrected", "judge")):
        lines = {line[key]: line for line in four[section]}
        assert [lines[line[key]] for line in one[section]] == one[section]


def test_three_identical_repeats_change_nothing_but_their_count(tmp_path: Path) -> None:
    once = list(ratings())
    one = stats(write_jsonl(tmp_path / "one.jsonl", once), "--human", "expert")
    for repeats in ("first", "mean"):
        three = stats(write_jsonl(tmp_path / "three.jsonl", once * 3), "--human", "expert", "--takes", repeats)

        assert three.pop("repeated") == {"ratings": 2 * len(once), "rule": repeats}
        assert three["notes"]
        assert {**three, "source": "", "notes": []} == {
            **{name: value for name, value in one.items() if name != "repeated"},
            "source": "",
        }


@pytest.mark.parametrize(
    ("labels", "state"),
    [
        ("random", "corrected"),
        ("stratified", "corrected"),
        ("elsewhere", "corrected"),
        ("unknown", "unknown drawing"),
    ],
)
def test_how_labels_were_drawn_decides_what_is_made_of_them(labels: str, state: str, tmp_path: Path) -> None:
    found = stats(write_jsonl(tmp_path / "r.jsonl", ratings()), "--human", "expert", "--labels", labels)
    (line,) = found["corrected"]

    assert line["corrected"]["state"] == state
    assert (line["corrected"]["point"] is None) == (labels == "unknown")
    assert bool(line["beside"]) == (labels != "unknown")


def test_labels_of_one_verdict_give_bounds_and_no_number(tmp_path: Path) -> None:
    rows = list(ratings(drawn=200))
    said = {row["item"]: row["score"] for row in rows if row["judge"] == "judge"}
    kept = [row for row in rows if row["judge"] == "judge" or said[row["item"]] == 1]
    found = stats(write_jsonl(tmp_path / "r.jsonl", kept), "--human", "expert", "--labels", "random")
    corrected = found["corrected"][0]["corrected"]

    assert (corrected["state"], corrected["point"]) == ("bounds", None)
    assert corrected["high"] - corrected["low"] > 0.2


def test_a_system_compared_on_planted_scores_is_found(tmp_path: Path) -> None:
    """Two points better on every question but three, with graded scores: the signs are flipped."""
    rows = [
        {"item": f"{system}-{n}", "question_id": f"q{n}", "system": system, "judge": "j", "score": score}
        for n in range(40)
        for system, score in (("old", n % 5), ("new", n % 5 + (2 if n > 2 else -1)))
    ]
    found = stats(write_jsonl(tmp_path / "r.jsonl", rows), "--compare", "new", "old")
    (line,) = found["comparison"]["raters"]

    assert (line["questions"], line["better"], line["worse"]) == (40, 37, 3)
    assert line["difference"] == pytest.approx(71 / 40)
    assert (line["test"], line["is_clear"]) == ("sign-flip permutation", True)
    assert line["interval"]["low"] > 1


def test_a_run_is_a_table_too(tmp_path: Path) -> None:
    data = write_jsonl(tmp_path / "sums.jsonl", sums(40))
    judged = mixseek_here("judge", data, "--judge", "rules", "--workspace", "ws", "--run", "r", cwd=tmp_path)
    assert judged.returncode == 0, judged.stderr
    done = mixseek_here("stats", "r", "--workspace", "ws", "--json", cwd=tmp_path)
    found = json.loads(done.stdout)

    assert found["raters"][0]["name"] == "rules"
    assert found["raters"][0]["n"] + found["raters"][0]["missing"] == 40
    assert 0 < found["raters"][0]["mean"] < 1


def test_names_of_others_do_not_drive_the_terminal(tmp_path: Path) -> None:
    rows = [{**row, "judge": f"{row['judge']}\x1b[2J\n"} for row in ratings(judges=("a", "b"))]
    path = write_jsonl(tmp_path / "r.jsonl", rows)
    shown = mixseek_here("stats", path, "--human", "expert\x1b[2J\n", "--labels", "random", cwd=tmp_path)
    refused = mixseek_here("stats", path, "--human", "nobody", cwd=tmp_path)

    assert shown.returncode == 0
    assert "\x1b" not in shown.stdout
    assert "\x1b" not in the_one_line(refused)


def test_what_is_asked_of_a_table_is_not_asked_of_a_run(tmp_path: Path) -> None:
    done = mixseek_here("stats", "latest", "--where", "score > 1", cwd=tmp_path)

    assert done.returncode == 2
    assert "--where is for tables" in the_one_line(done)


BAD_OPTIONS = {
    "a scale of words": (("--scale", "good"), "not a scale"),
    "a scale turned round": (("--scale", "5..1"), "not a scale"),
    "out of scale": (("--scale", "0.5..1"), "gave 0, outside --scale 0.5..1"),
    "labels of nobody": (("--labels", "random"), "--human"),
    "an unknown system": (("--compare", "s1", "s9"), "no system 's9'; there is s0, s1"),
    "one system twice": (("--compare", "s1", "s1"), "name two systems"),
    "nothing in common": (("--compare", "s1", "s0", "--question", "item"), "no question in common"),
}


@pytest.mark.parametrize("kind", BAD_OPTIONS)
def test_bad_options_are_one_line_with_exit_code_2(kind: str, tmp_path: Path) -> None:
    options, message = BAD_OPTIONS[kind]
    path = write_jsonl(tmp_path / "r.jsonl", ratings())
    done = mixseek_here("stats", path, *options, cwd=tmp_path)

    assert done.returncode == 2
    assert message in the_one_line(done)


@pytest.mark.parametrize(
    "rows",
    [
        [{"item": "a", "judge": "j", "score": 1}],
        [{"item": "a", "judge": "j", "score": 1}, {"item": "a", "judge": "h", "score": 1}],
        [{"item": str(n), "judge": j, "score": 3.5} for n in range(30) for j in "hj"],
        [{"item": str(n), "judge": j, "score": 1, "question_id": "q"} for n in range(30) for j in "hj"],
        [{"item": str(n), "judge": j, "score": n / 7} for n in range(300) for j in "hj"],
        [{"item": f"{j}{n}", "judge": j, "score": n % 2} for n in range(30) for j in "hj"],
    ],
    ids=["one rating", "one item", "all equal", "one question", "a continuum", "no item in common"],
)
@pytest.mark.parametrize("labels", ["unknown", "random", "elsewhere"])
def test_little_to_count_is_said_and_never_a_failure(rows: list[dict[str, Any]], labels: str, tmp_path: Path) -> None:
    """No interval of width nought, no NaN, no traceback."""
    path = write_jsonl(tmp_path / "r.jsonl", rows)
    human = ("--human", "h", "--labels", labels) if any(row["judge"] == "h" for row in rows) else ()
    assert mixseek_here("stats", path, *human, cwd=tmp_path).returncode == 0
    found = stats(path, *human)

    for line in (*found["raters"], *(one["corrected"] for one in found["corrected"])):
        interval = line.get("interval", line)
        if interval is not None and interval["low"] is not None:
            assert interval["low"] < interval["high"]


def test_people_who_labelled_a_run_are_raters_of_it(tmp_path: Path) -> None:
    """The same corrected number as in the report, when the drawing is said."""
    judge_answers(tmp_path, answers())
    label(tmp_path, "sample", "r", "--n", "120", "--seed", "11", "--to", "sheet.csv")
    fill(tmp_path / "sheet.csv", tmp_path / "filled.csv", know_better)
    label(tmp_path, "import", "filled.csv", "--rater", "mia")
    done = mixseek_here("stats", "r", "-w", "ws", "--human", "mia", "--labels", "random", "--json", cwd=tmp_path)
    found, told = json.loads(done.stdout), corrected(tmp_path)["corrected"]

    assert [line["n"] for line in found["raters"]] == [120, 500]
    assert found["against_human"][0]["confusion"]["tp"] > 60
    assert found["corrected"][0]["corrected"]["point"] == pytest.approx(told["mean"])
    assert found["corrected"][0]["corrected"]["low"] == pytest.approx(told["low"])


# Items without a score.


def with_holes(labelled: int = 300, *, graded: bool = False) -> Iterator[Mapping[str, Any]]:
    """1,000 answers, 700 of them right; a judge that gives no score to 240 of the wrong ones, and one that never does.

    Both are right about what they score. People label a random part.
    """
    rng = Random(11)
    drawn = set(rng.sample(range(1_000), labelled))
    for number in range(1_000):
        truth = int(number % 10 < 7)
        row = {"item": f"i{number}", "question_id": f"q{number}", "system": f"s{number // 10 % 2}"}
        value = 1 + 4 * truth if graded else truth
        is_hole = number % 10 in (7, 8) or (number % 10 == 9 and number < 400)
        yield {**row, "judge": "judge", "score": None if is_hole else value}
        yield {**row, "judge": "mute", "score": None}
        if number in drawn:
            yield {**row, "judge": "expert", "score": value}


def test_items_without_a_score_are_counted_shown_and_bounded(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "r.jsonl", with_holes())
    done = mixseek_here("stats", path, cwd=tmp_path)
    found = {line["name"]: line for line in stats(path)["raters"]}
    judge, mute = found["judge"], found["mute"]
    whole = judge["n"] + judge["missing"]

    assert whole == 1_000
    assert judge["bounds"] == pytest.approx({"worst": 0.7, "best": 0.7 + judge["missing"] / 1_000})
    assert (mute["n"], mute["missing"], mute["mean"]) == (0, 1_000, None)
    assert mute["bounds"] == {"worst": 0.0, "best": 1.0}
    assert f"judge: {judge['missing']:,} of 1,000 items; mute: 1,000 of 1,000 items" in done.stdout
    assert f"70.0–{100 * judge['bounds']['best']:.1f}%" in done.stdout
    assert "0.0–100.0%" in done.stdout


@pytest.mark.parametrize("graded", [False, True])
def test_what_people_would_say_is_about_items_without_a_score_too(graded: bool, tmp_path: Path) -> None:
    """Of the items that the judge scores nine of ten are right, of all of them seven."""
    path = write_jsonl(tmp_path / "r.jsonl", with_holes(graded=graded))
    lines = {line["judge"]: line for line in stats(path, "--human", "expert", "--labels", "random")["corrected"]}
    judge, mute, truth = lines["judge"], lines["mute"], 1 + 4 * 0.7 if graded else 0.7

    assert judge["unscored"] > 200
    for line in (judge, mute):
        assert line["corrected"]["low"] < truth < line["corrected"]["high"]
        assert line["labels_only"]["low"] < truth < line["labels_only"]["high"]
        assert (line["corrected"]["items"], line["corrected"]["labels"]) == (1_000, 300)
    # What stands beside is as its paper has it: of items with a score.
    assert judge["beside"]["ppi_pp"]["point"] == pytest.approx(judge["judge_mean"], abs=0.03 if graded else 0.01)


def test_items_without_a_score_and_without_a_label_leave_bounds(tmp_path: Path) -> None:
    rows = list(with_holes())
    holes = {row["item"] for row in rows if row["judge"] == "judge" and row["score"] is None}
    kept = [row for row in rows if row["judge"] != "expert" or row["item"] not in holes]
    found = stats(write_jsonl(tmp_path / "r.jsonl", kept), "--human", "expert", "--labels", "stratified")
    judge = next(line["corrected"] for line in found["corrected"] if line["judge"] == "judge")

    assert (judge["state"], judge["point"]) == ("bounds", None)
    assert judge["low"] < 0.7
    assert judge["high"] > 0.9


def test_a_comparison_tells_what_has_no_score(tmp_path: Path) -> None:
    rows = [{**row, "question_id": f"q{int(row['item'][1:]) // 20}"} for row in with_holes()]
    path = write_jsonl(tmp_path / "r.jsonl", rows)
    found = {one["name"]: one for one in stats(path, "--compare", "s0", "s1")["comparison"]["raters"]}
    judge, mute = found["judge"], found["mute"]

    assert judge["unscored"] > 200
    assert judge["bounds"]["worst"] < judge["difference"] < judge["bounds"]["best"]
    assert (mute["questions"], mute["unscored"]) == (0, 1_000)
    assert mute["bounds"] == {"worst": -1.0, "best": 1.0}


def test_bounds_need_a_scale_that_somebody_names(tmp_path: Path) -> None:
    """Of graded scores only what was given is known."""
    path = write_jsonl(tmp_path / "r.jsonl", with_holes(graded=True))
    seen, told = mixseek_here("stats", path, cwd=tmp_path), stats(path, "--scale", "0..10")
    judge = next(line for line in told["raters"] if line["name"] == "judge")

    assert "bounds are on 1 to 5, the values that were given; --scale says what could have been" in seen.stdout
    assert judge["bounds"]["worst"] == pytest.approx((judge["mean"] * judge["n"]) / 1_000)
    assert judge["bounds"]["best"] == pytest.approx((judge["mean"] * judge["n"] + 10 * judge["missing"]) / 1_000)


def test_a_human_without_a_score_is_refused_in_one_line(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "r.jsonl", with_holes())
    done = mixseek_here("stats", path, "--human", "mute", cwd=tmp_path)

    assert done.returncode == 2
    assert "--human 'mute' has rated nothing" in the_one_line(done)


def test_samples_without_a_verdict_are_counted_and_bounded_as_the_report_does(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "d.jsonl", sums(40))
    mixseek_here("judge", "d.jsonl", "--judge", "rules", "--run", "r", "-w", "ws", cwd=tmp_path)
    report = json.loads(mixseek_here("report", "r", "-w", "ws", "--json", cwd=tmp_path).stdout)
    (rater,) = json.loads(mixseek_here("stats", "r", "-w", "ws", "--json", cwd=tmp_path).stdout)["raters"]

    assert (rater["n"], rater["missing"]) == (32, 8)
    assert rater["bounds"] == pytest.approx(report["headline"]["bounds"])


# Written as `report` writes it.


def test_numbers_are_written_as_the_report_writes_them(tmp_path: Path) -> None:
    """Per cent once, a dash between two ends, a true minus, a unit: they are read together."""
    path = write_jsonl(tmp_path / "r.jsonl", ratings(judges=("a", "b")))
    done = mixseek_here("stats", path, "--human", "expert", "--labels", "random", "--compare", "s0", "s1", cwd=tmp_path)

    assert "…" not in done.stdout
    assert "[" not in done.stdout
    assert "% –" not in done.stdout
    assert not re.search(r"(?<!\w)-\d", done.stdout)
    # A share with its interval, a difference of shares, a coefficient.
    assert re.search(r"\d\d\.\d% \(\d\d\.\d–\d\d\.\d%\)", done.stdout)
    assert re.search(r"[+−]\d+\.\d points", done.stdout)
    assert re.search(r"0\.\d\d \(0\.\d\d to [01]\.\d\d\)", done.stdout)
    assert "95% interval" in done.stdout


def test_ends_of_a_graded_mean_stand_around_a_dash_and_around_to_beside_a_minus(tmp_path: Path) -> None:
    graded = write_jsonl(tmp_path / "r.jsonl", ratings())
    below = write_jsonl(tmp_path / "b.jsonl", ({**row, "score": row["score"] - 0.7} for row in ratings()))
    above_nought = mixseek_here("stats", graded.name, "--scale", "0..5", cwd=tmp_path).stdout
    around_nought = mixseek_here("stats", below.name, "--scale=-5..5", cwd=tmp_path).stdout

    assert re.search(r" 0\.\d{3} +0\.\d{3}–0\.\d{3}\b", above_nought)
    assert re.search(r"−?0\.\d{3} +−0\.\d{3} to −?0\.\d{3}\b", around_nought)


def test_a_mean_of_a_run_is_spelled_alike_by_stats_and_report(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "d.jsonl", sums(40))
    mixseek_here("judge", "d.jsonl", "--judge", "rules", "--run", "r", "-w", "ws", cwd=tmp_path)
    told = mixseek_here("stats", "r", "-w", "ws", cwd=tmp_path).stdout
    report = mixseek_here("report", "r", "-w", "ws", cwd=tmp_path).stdout
    interval, bounds = re.findall(r"\d+\.\d–\d+\.\d%", told)

    assert interval in report
    for end in bounds.removesuffix("%").split("–"):
        assert f"{end}%" in report

"""Human labels on the command line: drawn blind, filled in, taken in, and what they make of the headline."""

import json
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tests.flows.cross_material import cross_reply, outputs, recorded
from tests.flows.label_material import (
    TRUE_SHARE,
    answers,
    corrected,
    fill,
    is_right,
    judge_answers,
    know_better,
    label,
    number_of,
    read_sheet,
)
from tests.flows.running import mixseek_here, the_one_line, write_jsonl


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of 500 answers, whose judge is wrong about a fifth of what it calls correct."""
    place = tmp_path_factory.mktemp("judged")
    judge_answers(place, answers())
    return place


@pytest.fixture
def place(judged: Path, tmp_path: Path) -> Path:
    """A copy for each test."""
    shutil.copytree(judged, tmp_path, dirs_exist_ok=True)
    return tmp_path


def test_a_sheet_is_blind_and_its_draw_is_kept(place: Path) -> None:
    """Nothing of any judge is in it; sizes, seed and probabilities are in the workspace."""
    told = label(place, "sample", "r", "--n", "60", "--stratify", "verdict", "--seed", "5", "--to", "sheet.csv")

    rows = read_sheet(place / "sheet.csv")
    kept = json.loads((place / "ws" / "labels" / "draws" / f"{told['draw']}.json").read_text())
    sizes = {tuple(one["values"]): (one["texts"], one["drawn"]) for one in kept["strata"]}
    assert list(rows[0]) == ["row", "id", "question", "ground_truth", "response", "scale", "label", "note", "text"]
    assert {row["scale"] for row in rows} == {"correct or incorrect"}
    assert {row["label"] + row["note"] for row in rows} == {""}
    assert sizes == {("correct",): (400, 40), ("incorrect",): (100, 20)}
    assert {row["probability"] for row in kept["rows"]} == {0.1, 0.2}
    assert kept["seed"] == 5
    # The order of the sheet says nothing about strata.
    assert len({row["stratum"] for row in kept["rows"][:15]}) == 2


def test_the_same_seed_draws_the_same_and_more_is_drawn_from_what_is_left(place: Path) -> None:
    first = label(place, "sample", "r", "--n", "30", "--seed", "1", "--to", "one.csv")
    again = label(place, "sample", "r", "--n", "30", "--seed", "1", "--to", "two.csv")
    more = label(place, "sample", "r", "--n", "470", "--to", "rest.csv")

    texts = [{row["text"] for row in read_sheet(place / name)} for name in ("one.csv", "two.csv", "rest.csv")]
    assert (first["draw"], again["repeated"]) == (again["draw"], True)
    assert texts[0] == texts[1]
    assert not texts[0] & texts[2]
    assert more["texts"] == 470


def test_a_planted_bias_is_found(place: Path) -> None:
    """The judges' interval misses the truth; the corrected one holds it, and is narrower than labels alone."""
    label(place, "sample", "r", "--n", "120", "--seed", "11", "--to", "sheet.csv")
    fill(place / "sheet.csv", place / "filled.csv", know_better)
    label(place, "import", "filled.csv", "--rater", "mia")

    found = corrected(place)

    interval, labels, both = found["judges"]["interval"], found["labels_only"], found["corrected"]
    assert found["judges"]["mean"] == 0.8
    assert not interval["low"] <= TRUE_SHARE <= interval["high"]
    assert both["low"] <= TRUE_SHARE <= both["high"]
    assert both["high"] - both["low"] < labels["high"] - labels["low"]
    assert (both["state"], both["estimator"], both["labels"]) == ("corrected", "post-stratified by verdict", 120)
    told = mixseek_here("judge", "answers.jsonl", "--judge", "rules", "-w", "ws", "--run", "r", "-q", cwd=place)
    assert f"corrected   {both['mean']:.1%} (" in told.stdout


def test_a_stratified_draw_is_random_and_weighted(place: Path) -> None:
    """Twice as many of one verdict were drawn on purpose: no reason to doubt the draw, and no reason to be wrong."""
    label(place, "sample", "r", "--n", "100", "--stratify", "verdict,task", "--seed", "2", "--to", "sheet.csv")
    fill(place / "sheet.csv", place / "filled.csv", know_better)
    label(place, "import", "filled.csv", "--rater", "mia")

    found = corrected(place)

    assert (found["drawing"], found["corrected"]["state"]) == ("weighted", "corrected")
    assert found["corrected"]["low"] <= TRUE_SHARE <= found["corrected"]["high"]
    assert found["labels_only"]["low"] <= TRUE_SHARE <= found["labels_only"]["high"]


@pytest.mark.parametrize(("delimiter", "end"), [(",", "\n"), (";", "\r\n"), ("\t", "\r\n")])
def test_a_sheet_is_read_as_spreadsheets_save_it(place: Path, delimiter: str, end: str) -> None:
    """With a byte-order mark, semicolons, other line ends; and numbers in other words."""
    label(place, "sample", "r", "--n", "20", "--seed", "1", "--to", "sheet.csv")
    words = {True: "TRUE", False: " no "}
    fill(
        place / "sheet.csv", place / "filled.csv", lambda row: words[is_right(number_of(row))],
        delimiter=delimiter, end=end,
    )  # fmt: skip

    told = label(place, "import", "filled.csv", "--rater", "mia")

    assert (told["added"], told["empty"]) == (20, 0)


def test_labels_serve_every_later_run_on_the_same_texts(place: Path) -> None:
    """Other ids, another run, half of the texts: what was drawn from all of them is a random part of these."""
    label(place, "sample", "r", "--n", "150", "--seed", "4", "--to", "sheet.csv")
    fill(place / "sheet.csv", place / "filled.csv", know_better)
    label(place, "import", "filled.csv", "--rater", "mia")
    renamed = [{**row, "id": f"other-{row['id']}"} for row in answers()]
    judge_answers(place, renamed[:250], run="half", name="half.jsonl")
    judge_answers(place, [*renamed, *answers(600)[500:]], run="more", name="more.jsonl")

    half, more = corrected(place, "half"), corrected(place, "more")

    assert (half["drawing"], half["corrected"]["state"], half["labels"]["drawn_from"]) == ("random", "corrected", "r")
    # A fifth of these was in nobody's pool.
    assert (more["drawing"], more["corrected"]["estimator"]) == (
        "elsewhere",
        "sensitivity and specificity (Rogan-Gladen)",
    )


def test_raters_who_differ_are_shown_and_settled(place: Path) -> None:
    label(place, "sample", "r", "--n", "40", "--seed", "1", "--to", "sheet.csv")
    fill(place / "sheet.csv", place / "mia.csv", know_better)
    fill(place / "sheet.csv", place / "noah.csv", lambda row: "incorrect")
    label(place, "import", "mia.csv", "--rater", "mia")
    label(place, "import", "noah.csv", "--rater", "noah")

    before = label(place, "status", "r")["protocols"][0]
    rows = [row for row in read_sheet(place / "sheet.csv") if is_right(number_of(row))]
    settled = "\n".join(["id,label", *(f"{row['id']},no" for row in rows)])
    (place / "settled.csv").write_text(settled)
    label(place, "import", "settled.csv", "--rater", "both", "--adjudicate")
    after = label(place, "status", "r")["protocols"][0]

    assert dict(before["raters"]) == {"mia": 40, "noah": 40}
    assert before["agreement"] == 1 - len(rows) / 40
    assert {one["sample"] for one in before["disputes"]} == {row["id"] for row in rows}
    assert (after["disputes"], after["adjudicated"]) == ([], len(rows))
    assert corrected(place)["labels_only"]["mean"] == 0


def test_labels_of_unknown_drawing_correct_nothing_unless_they_are_all(place: Path) -> None:
    """They are set beside the judges; said to be random, they count; of everything, they need not be."""
    rows = [{"id": row["id"], "label": is_right(n)} for n, row in enumerate(answers())]
    write_jsonl(place / "some.jsonl", rows[:100])
    write_jsonl(place / "all.jsonl", rows)
    label(place, "import", "some.jsonl", "--rater", "gold", "--run", "r")
    unknown = corrected(place)
    label(place, "import", "some.jsonl", "--rater", "gold", "--run", "r", "--drawn", "random")
    random = corrected(place)
    label(place, "import", "all.jsonl", "--rater", "other", "--run", "r")
    census = corrected(place)

    assert unknown["corrected"]["state"] == "unknown drawing"
    assert unknown["corrected"]["mean"] is None
    assert [row["right"] for row in unknown["confusion"]] == [64, 2]
    assert (random["drawing"], random["corrected"]["state"]) == ("random", "corrected")
    assert census["corrected"]["mean"] == pytest.approx(TRUE_SHARE)


def test_labels_from_another_mix_go_through_sensitivity_and_specificity(place: Path) -> None:
    """Chosen to have as many right as wrong ones, they still correct right-or-wrong verdicts."""
    chosen = [n for n in range(500) if is_right(n)][:60] + [n for n in range(500) if not is_right(n)][:60]
    write_jsonl(place / "mix.jsonl", [{"id": f"answer {n}", "label": is_right(n)} for n in chosen])
    label(place, "import", "mix.jsonl", "--rater", "gold", "--run", "r", "--drawn", "elsewhere")

    both = corrected(place)["corrected"]

    assert both["estimator"] == "sensitivity and specificity (Rogan-Gladen)"
    assert both["low"] <= TRUE_SHARE <= both["high"]


def test_a_dataset_may_bring_labels_of_its_own(tmp_path: Path) -> None:
    """Its column `label` is set beside the verdicts; values that are none are counted, not guessed."""
    judge_answers(tmp_path, answers(60, label=lambda n: "unsure" if n == 7 else is_right(n)))

    found = corrected(tmp_path)

    assert found["labels"] == {
        "texts": 59, "raters": ["dataset"], "disputed": 0, "draws": [], "drawn_from": None, "from_dataset": 59,
        "unreadable": 1,
    }  # fmt: skip
    assert found["corrected"]["state"] == "unknown drawing"


def test_verdicts_without_a_label_leave_bounds(tmp_path: Path) -> None:
    """Some samples are undecided, and no label fell on them: they may be all right or all wrong."""
    judge_answers(tmp_path, answers(200, ground_truth=lambda n: None if n % 20 == 3 else str(2 * n + 1)))
    write_jsonl(
        tmp_path / "some.jsonl",
        [{"id": f"answer {n}", "label": is_right(n)} for n in range(150) if n % 20 != 3],
    )
    label(tmp_path, "import", "some.jsonl", "--rater", "gold", "--run", "r", "--drawn", "random")

    found = corrected(tmp_path)

    assert (found["corrected"]["state"], found["corrected"]["mean"]) == ("bounds", None)
    assert found["unlabelled"] == [{"verdict": "undecided", "samples": 10}]
    assert found["corrected"]["high"] - found["corrected"]["low"] > 0.05


def test_questions_that_repeat_are_clusters(tmp_path: Path) -> None:
    """Labels of few questions are refused; of many, they say how many questions speak."""
    judge_answers(tmp_path, answers(400, question_id=lambda n: f"q{n % 40}", target_model=lambda n: "ab"[n % 2]))
    label(tmp_path, "sample", "r", "--n", "100", "--seed", "3", "--to", "sheet.csv")
    fill(tmp_path / "sheet.csv", tmp_path / "filled.csv", know_better)
    label(tmp_path, "import", "filled.csv", "--rater", "mia")

    found = corrected(tmp_path)

    assert found["corrected"]["clusters"] > 30
    assert set(found["targets"]) == {"a", "b"}
    assert Counter(one["corrected"]["state"] for one in found["targets"].values()) == {"corrected": 2}


BAD = {
    "id,label\nanswer 1,maybe\n": "bad.csv: line 2: 'maybe' is no label",
    "id,label\nanswer 1,maybe\nanswer 2,yes\nanswer 3,dunno\nanswer 4,maybe\n": (
        "bad.csv: lines 2, 5: 'maybe' is no label, line 4: 'dunno' is no label; write correct or incorrect"
    ),
    "id,label\nanswer 1,nan\n": "bad.csv: line 2: 'nan' is no label",
    "id,label\nanswer 1,2\n": "bad.csv: line 2: '2' is no label",
    "id,label\nanswer 1,yes\nnobody,no\n": "bad.csv: line 3: run r has no sample 'nobody'",
    "id,label\nanswer 1,yes\nanswer 1,no\n": "bad.csv: lines 2 and 3: two labels for sample 'answer 1' (yes and no)",
    "id,label\n,yes\n": "bad.csv: line 2: no id",
    "id,label\nanswer 1,\n": "bad.csv: no label is filled in",
    "id,label\n": "bad.csv: no rows",
    "": "bad.csv: no rows",
    "id,verdict\nanswer 1,yes\n": "bad.csv: line 2: no column `label`",
    "label\nyes\n": "bad.csv: line 2: neither `row` nor `id`",
    "row,id,label\nd00000000-1,answer 1,yes\n": "bad.csv: its rows are of a draw 'd00000000' that this workspace",
    "id,question,label\nanswer 1,What is 1 + 3?,yes\n": "bad.csv: line 2: question or response is not what was judged",
}


def test_columns_are_read_as_people_write_them(tmp_path: Path) -> None:
    judge_answers(tmp_path, answers(4))
    (tmp_path / "mine.csv").write_text("ID,Label,Note\nanswer 1,Correct,sure\nanswer 2,no,\n")
    label(tmp_path, "import", "mine.csv", "--rater", "ann", "--run", "r")
    lines = (tmp_path / "ws" / "labels" / "labels.jsonl").read_text().splitlines()
    assert [(row["given"], row["note"]) for row in map(json.loads, lines)] == [("Correct", "sure"), ("no", "")]


@pytest.mark.parametrize(("content", "said"), BAD.items(), ids=[said.partition(": ")[2] for said in BAD.values()])
def test_a_file_that_is_wrong_is_named_in_one_line_and_nothing_is_taken_in(
    place: Path, content: str, said: str
) -> None:
    (place / "bad.csv").write_text(content)

    done = mixseek_here("label", "import", "bad.csv", "--rater", "mia", "--run", "r", "-w", "ws", cwd=place)

    assert done.returncode == 2
    assert the_one_line(done).removeprefix("mixseek: ").startswith(said)
    assert label(place, "status")["protocols"] == []


def test_a_changed_sheet_is_refused(place: Path) -> None:
    """Rows, ids, texts and digests are those that were drawn, or nothing is taken in."""
    label(place, "sample", "r", "--n", "10", "--seed", "1", "--to", "sheet.csv")
    whole = fill(place / "sheet.csv", place / "filled.csv", know_better).read_text(encoding="utf-8-sig")
    row = read_sheet(place / "filled.csv")[0]
    changes = {
        (row["row"], row["row"][:-2] + "99"): "`row` is none of draw",
        (f",{row['id']},", ",answer 0001,"): "`id` or `text` is not what was drawn",
        (row["text"], row["text"][::-1]): "`id` or `text` is not what was drawn",
        (row["response"], "I do not know."): "question or response is not what was judged",
    }
    for (old, new), said in changes.items():
        (place / "changed.csv").write_text(whole.replace(old, new))

        done = mixseek_here("label", "import", "changed.csv", "--rater", "mia", "-w", "ws", cwd=place)

        assert (done.returncode, said in the_one_line(done)) == (2, True), done.stderr
        assert "line 2" in done.stderr
    assert label(place, "status")["protocols"] == []


def test_a_sheet_of_another_run_is_refused(place: Path) -> None:
    judge_answers(place, answers(40), run="other", name="other.jsonl")
    label(place, "sample", "r", "--n", "10", "--to", "sheet.csv")
    fill(place / "sheet.csv", place / "filled.csv", know_better)

    done = mixseek_here("label", "import", "filled.csv", "--rater", "mia", "--run", "other", "-w", "ws", cwd=place)

    assert done.returncode == 2
    assert "drawn from run r, not from other" in the_one_line(done)


def test_a_rater_has_one_word_on_a_text_until_it_is_revised(place: Path) -> None:
    """The same again is fine, another is refused, and --revise lets the new one count; nothing is ever overwritten."""
    (place / "one.csv").write_text("id,label\nanswer 1,yes\nanswer 2,no\n")
    (place / "two.csv").write_text("id,label\nanswer 1,no\nanswer 2,no\n")
    first = label(place, "import", "one.csv", "--rater", "mia", "--run", "r")
    again = label(place, "import", "one.csv", "--rater", "mia", "--run", "r")
    refused = mixseek_here("label", "import", "two.csv", "--rater", "mia", "--run", "r", "-w", "ws", cwd=place)
    revised = label(place, "import", "two.csv", "--rater", "mia", "--run", "r", "--revise")

    lines = (place / "ws" / "labels" / "labels.jsonl").read_text().splitlines()
    assert (first["added"], again["added"], again["known"]) == (2, 0, 2)
    assert "mia has labelled sample 'answer 1' before (yes, now no)" in the_one_line(refused)
    assert (revised["added"], revised["revised"]) == (1, 1)
    assert [json.loads(line)["given"] for line in lines] == ["yes", "no", "no"]


REFUSED = {
    ("--n", "501"): "--n 501 of 500 texts",
    ("--stratify", "colour"): "--stratify colour: no such column",
    ("--n", "1", "--stratify", "verdict"): "1 labels cannot be drawn from 2 strata",
    ("--to", "nowhere/sheet.csv"): "there is no directory nowhere",
}


@pytest.mark.parametrize(("options", "said"), REFUSED.items(), ids=[" ".join(options) for options in REFUSED])
def test_what_cannot_be_drawn_is_said(place: Path, options: tuple[str, ...], said: str) -> None:
    done = mixseek_here("label", "sample", "r", "-w", "ws", *options, cwd=place)

    assert done.returncode == 2
    assert said in the_one_line(done)


def test_draws_of_one_run_have_the_same_strata(place: Path) -> None:
    """Else nobody could say how likely a text was to be drawn by either."""
    label(place, "sample", "r", "--n", "10", "--to", "sheet.csv")

    done = mixseek_here("label", "sample", "r", "--n", "10", "--stratify", "verdict", "-w", "ws", cwd=place)

    assert done.returncode == 2
    assert "drawn from before, without --stratify" in the_one_line(done)


def test_a_plan_says_what_it_assumes_and_then_what_it_knows(place: Path) -> None:
    """Labels needed, a curve, and the command that draws the rest in the same way."""
    before = json.loads(mixseek_here("label", "plan", "r", "-w", "ws", "--width", "6%", "--json", cwd=place).stdout)
    label(place, "sample", "r", "--n", "60", "--stratify", "verdict", "--seed", "1", "--to", "sheet.csv")
    fill(place / "sheet.csv", place / "filled.csv", know_better)
    label(place, "import", "filled.csv", "--rater", "mia")
    after = json.loads(mixseek_here("label", "plan", "r", "-w", "ws", "--width", "6%", "--json", cwd=place).stdout)
    told = mixseek_here("label", "plan", "r", "-w", "ws", "--width", "6%", cwd=place).stdout

    assert (before["assumed"], before["labelled"], before["more"]) == (True, 0, before["needed"])
    assert (after["assumed"], after["labelled"], after["more"]) == (False, 60, after["needed"] - 60)
    assert [one["labels"] for one in after["verdicts"]] == [20, 40]
    command = f"mixseek label sample r --n {after['more']} --stratify verdict --to sheet.csv --workspace ws"
    assert command in told


def test_a_plan_that_cannot_be_met_says_so(place: Path) -> None:
    done = mixseek_here("label", "plan", "r", "-w", "ws", "--width", "0.1%", cwd=place)
    refused = mixseek_here("label", "plan", "r", "-w", "ws", "--width", "0", cwd=place)

    assert "Not even labels for all 500 samples" in done.stdout
    assert (refused.returncode, "every interval has a width" in the_one_line(refused)) == (2, True)


def graded_run(place: Path) -> list[dict[str, Any]]:
    """Sixty outputs under the cross protocol, whose judge gives 8, 6 or 4 of 8, and once nothing that can be read."""
    rows = [{**row, "response": row["response"] + str(n)} for n, row in enumerate(outputs(questions=15))]
    write_jsonl(place / "outputs.jsonl", rows)
    marks = ((2, 2, 2, 2), (2, 2, 1, 1), (1, 1, 1, 1))
    replies = [
        recorded(row, "judge-x", "{}" if n == 5 else cross_reply(row, "judge-x", marks[n % 3]))
        for n, row in enumerate(rows)
    ]
    write_jsonl(place / "replies.jsonl", replies)
    options = ("--protocol", "cross", "--judge", "replay:replies.jsonl", "--run", "g", "-w", "ws", "-q")
    done = mixseek_here("judge", "outputs.jsonl", *options, cwd=place)
    assert done.returncode == 0, done.stderr
    return rows


def test_graded_labels_are_on_the_protocols_own_scale(tmp_path: Path) -> None:
    """Two points less than the judge throughout: the corrected mean is two points lower, on the same scale."""
    rows = graded_run(tmp_path)
    label(tmp_path, "sample", "g", "--n", "40", "--seed", "2", "--to", "sheet.csv")
    place_of = {row["id"]: n for n, row in enumerate(rows)}
    given = {row["id"]: str((8, 6, 4)[n % 3] - 2) for row, n in zip(rows, range(len(rows)), strict=True)}
    assert {row["scale"] for row in read_sheet(tmp_path / "sheet.csv")} == {"0 to 8"}
    fill(tmp_path / "sheet.csv", tmp_path / "filled.csv", lambda row: given[row["id"]] + ",0", delimiter=";")
    label(tmp_path, "import", "filled.csv", "--rater", "mia")
    (tmp_path / "bad.csv").write_text(f"id,label\n{rows[0]['id']},9\n")
    refused = mixseek_here("label", "import", "bad.csv", "--rater", "noah", "--run", "g", "-w", "ws", cwd=tmp_path)

    found = corrected(tmp_path, "g")

    assert "line 2: 9 is outside the scale; write a number from 0 to 8" in the_one_line(refused)
    assert (found["bias"], found["distance"]) == (0.25, 0.25)
    assert {(point["judges"], point["people"]) for point in found["calibration"]} == {
        (1.0, 0.75),
        (0.75, 0.5),
        (0.5, 0.25),
    }
    is_bounded = 5 not in {place_of[row["id"]] for row in read_sheet(tmp_path / "sheet.csv")}
    assert found["corrected"]["state"] == ("bounds" if is_bounded else "corrected")
    assert found["corrected"]["low"] <= found["judges"]["mean"] - 0.25 <= found["corrected"]["high"]
    told = mixseek_here("report", "g", "-w", "ws", cwd=tmp_path).stdout
    assert "Corrected by human labels  95% intervals, on a scale of 0 to 8" in told
    assert "judges are 2.00 above people on average" in told

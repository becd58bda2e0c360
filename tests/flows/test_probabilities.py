"""`mixseek stats` on tables that say how sure judges are: expected scores, calibration, and what is not used."""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest
from tests.flows.running import mixseek_here, the_one_line, write_jsonl

SHARED = Path(__file__).parents[3] / "shared" / "data"
_IS_HUMAN = "kind = 'human'"


def spread(level: float, rng: Random) -> list[float]:
    """Probabilities of the levels 1 to 4 around a place on the scale."""
    parts = [math.exp(-((number + 1 - level) ** 2)) * rng.uniform(0.8, 1.2) for number in range(4)]
    return [part / math.fsum(parts) for part in parts]


def rubric(*, items: int = 80, seed: int = 7) -> Iterator[dict[str, Any]]:
    """Three people on each item; a judge whose distribution lies around what they say, and whose score is coarse."""
    rng = Random(seed)
    for number in range(items):
        for criterion in ("style", "facts"):
            truth = rng.uniform(1, 4)
            place = {"item": f"i{number}", "criterion": criterion}
            for person in range(3):
                said = min(4, max(1, round(truth + rng.gauss(0, 0.5))))
                yield {**place, "judge": f"p{person}", "kind": "human", "score": said}
            probabilities = spread(truth, rng)
            coarse = 1 if truth < 2.5 else 4
            yield {**place, "judge": "model", "kind": "model", "score": coarse, "probs": probabilities}


def stats(path: Path, *options: str) -> dict[str, Any]:
    done = mixseek_here("stats", path.name, *options, "--json", cwd=path.parent)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_each_criterion_of_a_rubric_in_one_command(tmp_path: Path) -> None:
    """Expected scores are nearer to people than the coarse ones that were given, with an interval of the difference."""
    path = write_jsonl(tmp_path / "r.jsonl", rubric())
    found = stats(path, "--by", "criterion", "--people", _IS_HUMAN)

    assert [part["part"] for part in found["parts"]] == ["facts", "style"]
    for part in found["parts"]:
        (line,) = part["confidences"]
        expected = line["expected"]
        assert (line["judge"], line["source"]) == ("model", "probabilities")
        assert (line["judgments"], expected["items"]) == (80, 80)
        assert line["levels"] == [1, 2, 3, 4]
        assert expected["expected"]["rmse"] < expected["given"]["rmse"]
        assert expected["rmse_gain"]["interval"]["low"] > 0
        assert expected["rmse_gain"]["value"] == pytest.approx(expected["given"]["rmse"] - expected["expected"]["rmse"])
        assert part["human"] == "people"


def test_people_are_the_mean_of_those_who_rated(tmp_path: Path) -> None:
    """And how far they agree with a score is the share of them that give it."""
    rows = [
        {"item": "i", "judge": "p0", "kind": "human", "score": 1},
        {"item": "i", "judge": "p1", "kind": "human", "score": 4},
        {"item": "i", "judge": "p2", "kind": "human", "score": 4},
        {"item": "i", "judge": "p2", "kind": "human", "score": 1},
        {"item": "i", "judge": "model", "kind": "model", "score": 4, "probs": [0.25, 0, 0, 0.75]},
        {"item": "j", "judge": "model", "kind": "model", "score": 2, "probs": [0, 1, 0, 0]},
    ]
    found = stats(write_jsonl(tmp_path / "r.jsonl", rows), "--people", _IS_HUMAN)

    assert [(line["name"], line["n"], line["mean"]) for line in found["raters"]] == [("people", 1, 3), ("model", 2, 3)]
    (line,) = found["confidences"]
    assert line["expected"]["expected"]["rmse"] == pytest.approx(3.25 - 3)
    assert line["expected"]["given"]["rmse"] == pytest.approx(1)
    assert (line["mean_expected"], line["mean_given"]) == (pytest.approx((3.25 + 2) / 2), 3)
    assert (line["calibration"]["state"], line["calibration"]["labels"]) == ("too few labels", 1)


def test_malformed_probabilities_are_counted_and_never_used(tmp_path: Path) -> None:
    bad = [[0.5, 0.6], [-0.1, 1.1], [0.2, 0.3, 0.5], [None, 1.0], "high", {"0": 0.5, "maybe": 0.5}, {"0": 0.2}]
    rows = [{"item": f"i{number}", "judge": "m", "score": 1, "probs": probs} for number, probs in enumerate(bad)]
    rows += [{"item": f"g{number}", "judge": "m", "score": 0, "probs": [0.5, 0.5]} for number in range(3)]
    path = tmp_path / "r.jsonl"
    path.write_text(
        "".join(f"{json.dumps(row)}\n" for row in rows) + '{"item":"n","judge":"m","score":1,"probs":[NaN,1]}\n'
    )
    (line,) = stats(path)["confidences"]

    assert line["malformed"] == {
        "a level that is no score": 1,
        "a part below 0": 1,
        "a part that is no number": 2,
        "neither a list nor a mapping of numbers": 1,
        "not one for each level": 1,
        "parts that do not sum to 1": 2,
    }
    assert (line["judgments"], line["mean_expected"]) == (3, 0.5)
    shown = mixseek_here("stats", path, cwd=tmp_path)
    assert "m: not used, because of" in shown.stdout


@pytest.mark.parametrize(
    ("probs", "expected"),
    [
        ({"1": 0.25, "3": 0.75}, 2.5),
        ({"3": 0.5, "2": 0.5}, 2.5),
        ('{"1": 0.1, "2": 0.2, "3": 0.7}', 2.6),
        ("[0.1, 0.2, 0.7]", 2.6),
    ],
)
def test_a_mapping_names_its_levels(tmp_path: Path, probs: object, expected: float) -> None:
    """In whichever order it stands, and as a text of JSON as well."""
    rows = [{"item": f"i{score}", "judge": "m", "score": score, "probs": probs} for score in (1, 2, 3)]
    (line,) = stats(write_jsonl(tmp_path / "r.jsonl", rows))["confidences"]

    assert line["mean_expected"] == pytest.approx(expected)


@pytest.mark.parametrize(
    ("scores", "options", "levels"),
    [
        ((1, 4), (), [1, 2, 3, 4]),
        ((0, 3), (), [0, 1, 2, 3]),
        ((2, 5, 8, 11), (), [2, 5, 8, 11]),
        ((2, 3), ("--scale", "2..8"), [2, 4, 6, 8]),
    ],
)
def test_levels_of_a_list_are_told_by_the_scores(
    tmp_path: Path, scores: Sequence[int], options: Sequence[str], levels: Sequence[int]
) -> None:
    rows = [{"item": f"i{score}", "judge": "m", "score": score, "probs": [0.25] * 4} for score in scores]
    (line,) = stats(write_jsonl(tmp_path / "r.jsonl", rows), *options)["confidences"]

    assert line["levels"] == levels
    assert line["mean_expected"] == pytest.approx(math.fsum(levels) / 4)


def test_levels_that_nobody_can_know_are_asked_for(tmp_path: Path) -> None:
    """2 and 3 are on 1 to 4 as on 0 to 3."""
    rows = [{"item": f"i{score}", "judge": "m", "score": score, "probs": [0.25] * 4} for score in (2, 3)]
    line = the_one_line(mixseek_here("stats", write_jsonl(tmp_path / "r.jsonl", rows), cwd=tmp_path))

    assert "--scale 1..4" in line


def test_a_part_that_does_not_tell_its_levels_has_those_of_the_whole(tmp_path: Path) -> None:
    rows = [
        {"item": f"{criterion}{score}", "criterion": criterion, "judge": "m", "score": score, "probs": [0.25] * 4}
        for criterion, scores in (("a", (2, 3)), ("b", (1, 4)))
        for score in scores
    ]
    found = stats(write_jsonl(tmp_path / "r.jsonl", rows), "--by", "criterion")

    assert [part["confidences"][0]["levels"] for part in found["parts"]] == [[1, 2, 3, 4]] * 2


def sure_judgments(rng: Random, count: int) -> Iterator[Mapping[str, Any]]:
    """Confidences of two sources: repeats that are as often right as they say, tokens that are far too sure."""
    for number in range(count):
        truth = number % 2
        confidence = rng.uniform(0.5, 1)
        said = truth if rng.random() < confidence else 1 - truth
        is_repeated = number % 3 == 0
        value, source = (confidence, "repeats") if is_repeated else (0.5 + confidence / 2, "logprobs")
        yield {"item": f"i{number}", "judge": "expert", "score": truth}
        row = {"item": f"i{number}", "judge": "m", "score": said, "confidence": "high"}
        yield {**row, "confidence_value": value, "confidence_source": source}


def test_sources_of_confidence_are_never_mixed(tmp_path: Path) -> None:
    """And a column of words beside the numbers is none of them."""
    path = write_jsonl(tmp_path / "r.jsonl", sure_judgments(Random(5), 600))
    lines = {line["source"]: line for line in stats(path, "--human", "expert")["confidences"]}

    assert {source: line["judgments"] for source, line in lines.items()} == {"repeats": 200, "logprobs": 400}
    assert lines["repeats"]["calibration"]["ece"]["interval"]["low"] == 0
    assert lines["logprobs"]["calibration"]["ece"]["interval"]["low"] > 0.05
    assert len(lines["logprobs"]["calibration"]["risk_coverage"]["points"]) == 20


def test_written_words_enter_no_calibration(tmp_path: Path) -> None:
    """Their places are an order: how much is decided at which risk is all that is known."""
    rng = Random(9)
    rows: list[Mapping[str, Any]] = []
    for number in range(60):
        place = {"item": f"i{number}"}
        rows.append({**place, "judge": "expert", "score": 1})
        sure = {"confidence_value": 1 - (number % 3) / 3, "confidence_source": "written"}
        rows.append({**place, "judge": "m", "score": int(rng.random() < 0.8), **sure})
    (line,) = stats(write_jsonl(tmp_path / "r.jsonl", rows), "--human", "expert")["confidences"]

    assert (line["is_order"], line["mean_confidence"]) == (True, None)
    assert (line["calibration"]["ece"], line["calibration"]["brier"], line["calibration"]["bins"]) == (None, None, [])
    assert [point["labels"] for point in line["calibration"]["risk_coverage"]["points"]] == [20, 40, 60]


def test_scores_that_are_probabilities_are_read_as_such(tmp_path: Path) -> None:
    """Of 1, against a person who says 0 or 1; a judge that says 0 or 1 itself says nothing of how sure it is."""
    rng = Random(4)
    rows: list[Mapping[str, Any]] = []
    for number in range(300):
        chance = rng.random()
        truth = int(rng.random() < chance)
        rows += [
            {"item": f"i{number}", "judge": judge, "score": score}
            for judge, score in (("expert", truth), ("soft", chance), ("hard", round(chance)))
        ]
    found = stats(write_jsonl(tmp_path / "r.jsonl", rows), "--human", "expert")
    (line,) = found["confidences"]
    pairs = {pair["rater_2"]: pair for pair in found["against_human"]}

    assert (line["judge"], line["source"]) == ("soft", "scores")
    assert line["calibration"]["brier"]["value"] == pytest.approx(pairs["soft"]["brier"], abs=1e-12)
    assert line["calibration"]["ece"]["interval"]["low"] == 0


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--people", _IS_HUMAN, "--human", "p0"), "--people"),
        (("--people", "kind = 'nobody'"), "--people"),
        (("--by", "item"), "--by"),
        (("--by", "nothing"), "--by"),
        (("--probabilities", "criterion || nothing"), "--probabilities"),
        (("--confidence", "criterion"), "--confidence"),
        (("--by", "criterion", "--votes"), "--by"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(tmp_path: Path, options: Sequence[str], told: str) -> None:
    path = write_jsonl(tmp_path / "r.jsonl", rubric(items=60))

    assert told in the_one_line(mixseek_here("stats", path, *options, cwd=tmp_path))


def test_several_criteria_in_one_table_are_pointed_at(tmp_path: Path) -> None:
    shown = mixseek_here("stats", write_jsonl(tmp_path / "r.jsonl", rubric()), cwd=tmp_path)

    assert "`--by criterion` tells them apart" in shown.stdout
    assert "--people or --human" in shown.stdout.replace("\n", " ")


@pytest.mark.skipif(not SHARED.is_dir(), reason="the data is not beside the project")
def test_expected_scores_of_a_real_rubric(tmp_path: Path) -> None:
    """Nearer to people on all nine criteria, as is known of them; the order is better on most."""
    options = ("--by", "criterion", "--people", "judge_type = 'human'", "--json")
    done = mixseek_here("stats", SHARED / "scores_llmrubric.jsonl", *options, cwd=tmp_path)
    lines = [part["confidences"][0]["expected"] for part in json.loads(done.stdout)["parts"]]

    assert len(lines) == 9
    assert sum(line["expected"]["rmse"] < line["given"]["rmse"] for line in lines) == 9
    assert sum(line["rmse_gain"]["interval"]["low"] > 0 for line in lines) == 9
    assert sum(line["spearman_gain"]["value"] > 0 for line in lines) >= 7


@pytest.mark.skipif(not SHARED.is_dir(), reason="the data is not beside the project")
def test_calibration_of_a_real_judge_is_what_independent_libraries_say(tmp_path: Path) -> None:
    reference = json.loads((SHARED / "reference_stats_dev.json").read_text())["nq301"]["BEM"]
    done = mixseek_here("stats", SHARED / "scores_nq301.jsonl", "--human", "human-final", "--json", cwd=tmp_path)
    (line,) = json.loads(done.stdout)["confidences"]
    found = line["calibration"]

    assert found["labels"] == reference["n"]
    assert found["ece"]["value"] == pytest.approx(reference["ece_10_equal_width_bins"], abs=1e-6)
    assert found["brier"]["value"] == pytest.approx(reference["brier"], abs=1e-6)

"""`mixseek demo`: what a newcomer runs first."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.flows.document_material import place_of_demo
from tests.flows.running import mixseek_here

from mixseek.cascades.file import read_cascade
from mixseek.domain.judgments import Flag


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """Where the demo was run, and what it printed: several tests look at one demo."""
    place = place_of_demo(tmp_path_factory)
    return place, (place / "printed.txt").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def told(printed: tuple[Path, str]) -> tuple[Path, dict[str, Any]]:
    """The same as data: a second run in the same workspace."""
    place, _ = printed
    return place, json.loads((place / "told.json").read_bytes())


def test_the_demo_judges_compares_and_reports(printed: tuple[Path, str]) -> None:
    """Offline, in a moment; rules and labels agree everywhere, and the report is where it says."""
    place, text = printed
    reports = list((place / "demo-workspace" / "runs").glob("*/report.html"))

    assert "Rules and labels disagree: nowhere." in text
    assert len(reports) == 6
    assert all(str(report.relative_to(place)) in text for report in reports)
    assert "mixseek judge " in text


def test_the_demo_shows_its_point_first_and_a_few_rows(printed: tuple[Path, str]) -> None:
    """Not 130 rows: each way to end, three languages, where the rest is; nothing wider than 80 columns but paths."""
    lines = printed[1].splitlines()
    rows = [line for line in lines if line.startswith(("en-", "ja-", "zh-"))]

    assert lines[0] == "Rules and labels disagree: nowhere."
    assert len(lines) < 120
    assert 6 <= len(rows) <= 12
    assert {row[:2] for row in rows} == {"en", "ja", "zh"}
    for ending in (" correct ", " incorrect ", "undecided → correct", "undecided → incorrect", "undecided → invalid"):
        assert any(ending in row for row in rows), ending
    assert any(line.startswith("and 1") and "more, in the report below" in line for line in lines)
    assert all(len(row.rstrip()) <= 80 for row in rows)


def test_the_demo_is_data_too(told: tuple[Path, dict[str, Any]], printed: tuple[Path, str]) -> None:
    """At least 60 samples, three languages, every judgment traced to a rule; a second run shows the same."""
    place, first = told
    lines = first["lines"]
    shown = [line.split()[:2] for line in printed[1].splitlines() if line.startswith(("en-", "ja-", "zh-"))]

    assert len(lines) >= 60
    assert {line["language"] for line in lines} == {"en", "ja", "zh"}
    assert first["disagreements"] == [line["id"] for line in lines if not line["agrees"]]
    assert all((line["ending"] is not None) == (line["verdict"] == "undecided") for line in lines)
    assert all([line["id"], line["verdict"]] in shown for line in lines if line["id"] in {one for one, _ in shown})
    # The second time nothing is judged anew.
    assert len(list(place.glob("demo-workspace/runs/*"))) == 10
    board = first["leader_board"]
    assert (board["state"], board["comparisons"], len(board["standings"])) == ("estimated", 35, 4)


def test_the_demo_can_be_gone_on_with(printed: tuple[Path, str]) -> None:
    """The next steps that it prints are commands that work."""
    place, text = printed
    steps = [line.split()[1:] for line in text.splitlines() if line.startswith("  mixseek ")]
    steps = [[word for word in step if word != "--open"] for step in steps if "your-answers.jsonl" not in step]

    # The last one serves until it is stopped; tests/unit/web starts it.
    assert [step[0] for step in steps] == ["report", "show", "view"]
    assert [mixseek_here(*step, cwd=place).returncode for step in steps[:-1]] == [0, 0]


def test_the_demo_shows_every_protocol_with_good_and_bad_replies_side_by_side(
    told: tuple[Path, dict[str, Any]],
) -> None:
    """Rubric, cross and trajectory: every flag, a critical fail, self-judgments apart; what is invalid has no total."""
    examples = {example["protocol"]: example for example in told[1]["examples"]}
    cells = {name: [cell for row in own["rows"] for cell in row["cells"]] for name, own in examples.items()}

    assert set(examples) == {"rubric", "cross", "trajectory"}
    for name, own in cells.items():
        # No run of the clerk is missing.
        absent = {Flag.INCOMPLETE_COVERAGE} if name == "trajectory" else set()
        assert {cell["word"] for cell in own if cell["status"] == "invalid"} == {*Flag} - absent
        assert all((cell["total"] is None) == (cell["status"] == "invalid") for cell in own)
    assert "critical_fail" in {cell["word"] for cell in cells["rubric"]}
    assert {"PASS", "PARTIAL", "FAIL"} <= {cell["word"] for cell in cells["cross"]}
    assert sum(cell["is_control"] for cell in cells["cross"]) == examples["cross"]["control"]["counts"]["valid"] == 6
    assert examples["cross"]["counts"]["valid"] == sum(
        cell["status"] == "valid" and not cell["is_control"] for cell in cells["cross"]
    )


def test_the_reports_of_the_demo_say_what_limits_their_scores(told: tuple[Path, dict[str, Any]]) -> None:
    """A hole, an uneven spread, quotes without support, drift and disagreement: each is in the data and is found."""
    place = told[0]
    runs = {example["protocol"]: example["run"] for example in told[1]["examples"]}
    cross = json.loads(mixseek_here("report", runs["cross"], "-w", "demo-workspace", "--json", cwd=place).stdout)[
        "scored"
    ]
    rubric = json.loads(mixseek_here("report", runs["rubric"], "-w", "demo-workspace", "--json", cwd=place).stdout)[
        "scored"
    ]

    assert [(cell["question"], cell["variant"], cell["target"]) for cell in cross["coverage"]["holes"]].count(
        ("Q3", "B", "birch-2")
    ) == 2
    assert [factor["factor"] for factor in cross["invalid"]["factors"] if factor["is_uneven"]] == ["judge"]
    assert {item["problem"] for item in cross["evidence_problems"]} == {"from_question", "not_found"}
    assert cross["variants"][0]["total"]["difference"]["mean"] < 0
    assert cross["panel"]["items"]
    assert [row["judge"] for row in cross["controls"]] == ["aster-1"]
    assert rubric["critical"] == 3
    assert {profile["task_type"] for profile in rubric["task_types"]} == {"fact", "creative", "speculative"}


def test_the_demo_compares_with_a_later_version_and_tells_the_judges_part_apart(
    told: tuple[Path, dict[str, Any]],
) -> None:
    """14 responses got better and 4 worse; on 3 unchanged ones the judge changed its mind, which hides the progress."""
    place, document = told
    comparison = document["comparison"]

    assert comparison["counts"]["better"] == 14
    assert comparison["counts"]["worse"] == 7
    assert (comparison["drift"]["changed"], comparison["drift"]["shift"]["counts"]["worse"]) == (3, 3)
    assert comparison["direction"] == "unclear"
    assert comparison["drift"]["without"]["direction"] == "better"
    assert (place / comparison["html"]).is_file()


def test_the_demo_says_who_may_decide_without_people(
    printed: tuple[Path, str], told: tuple[Path, dict[str, Any]]
) -> None:
    """60 labels show 90 %, and are too few for 95 %; the file holds what was shown, and no false claim is in it."""
    place, document = told
    plan, stricter = document["cascade_plan"], document["stricter_plan"]
    cascade = read_cascade(place / plan["path"])

    assert (plan["state"], stricter["state"], stricter["path"]) == ("decides", "too few labels", None)
    assert [tier.name for tier in cascade.routing] == ["rules"]
    assert [tier["state"] for tier in plan["tiers"]] == ["decides", "too few labels"]
    assert cascade.certificate.agree == 0.9
    assert (plan["labels"]["count"], plan["labels"]["drawn"]) == (60, "weighted")
    assert plan["interval"]["low"] > 0.9
    assert f"{plan['decided_share']:.1%} of 130 texts may be decided without people" in printed[1]
    assert "Too few labels to say: there are 60, and asked was 95% with 90% confidence" in printed[1]


def test_the_demo_corrects_a_judge_that_is_too_kind(
    printed: tuple[Path, str], told: tuple[Path, dict[str, Any]]
) -> None:
    """It lets a third of the wrong answers pass: its own interval misses the truth, the corrected one holds it."""
    place, document = told
    people = {
        row["id"]: row["label"]
        for name in ("demo.jsonl", "people.jsonl")
        for row in map(json.loads, (place / "demo-workspace" / name).read_text(encoding="utf-8").splitlines())
    }
    truth = sum(label == "correct" for label in people.values()) / len(people)

    found = document["corrected"]
    assert found["corrected"]["state"] == "corrected"
    assert found["corrected"]["low"] <= truth <= found["corrected"]["high"]
    assert found["judges"]["interval"]["low"] > truth
    assert f"corrected   {found['corrected']['mean']:.1%} (" in printed[1]


def test_the_demo_plays_a_small_competition(printed: tuple[Path, str], told: tuple[Path, dict[str, Any]]) -> None:
    """Teams and replies that were written for it: three teams, three ways to end, a page; the race can be run."""
    place, document = told
    checked = mixseek_here(
        "compete", "demo-workspace/competition/race.toml", "--workspace", "other", "--dry-run", cwd=place
    )
    teams = {team["team_id"]: team for team in document["competition"]["teams"]}

    assert "salty-sea  finished" in printed[1]
    assert (printed[0] / "demo-workspace" / "competitions" / "salty-sea" / "leaderboard.html").is_file()
    assert [(team["rank"], team["team_id"], team["stop_reason"]) for team in document["competition"]["teams"]] == [
        (1, "tide", "max_rounds"),
        (2, "gull", "judged_enough"),
        (3, "pebble", "no_gain"),
    ]
    assert [entry["score"] for entry in teams["tide"]["rounds"]] == sorted(
        entry["score"] for entry in teams["tide"]["rounds"]
    )
    assert teams["tide"]["rounds"][2]["opinion"]["should_continue"] is False
    assert checked.returncode == 0, checked.stderr


def test_the_demo_examines_a_judge_that_believes_what_is_long(printed: tuple[Path, str]) -> None:
    """Its card says so, and has a page."""
    place, text = printed

    assert "padding     fail  +" in text
    assert len(list((place / "demo-workspace" / "runs").glob("*/card.html"))) == 1


def test_the_demo_goes_from_questions_to_what_a_prompt_changes(
    printed: tuple[Path, str], told: tuple[Path, dict[str, Any]]
) -> None:
    """Two recorded models under two prompts: what did not end is counted, and the second prompt is better."""
    place, document = told
    answers, drift = document["answers"], document["drift"]

    counted = {state: answers[state] for state in ("planned", "finished", "cut_off", "withheld", "empty")}
    assert counted == {"planned": 48, "finished": 44, "cut_off": 2, "withheld": 1, "empty": 1}
    assert (drift["counts"]["better"], drift["counts"]["worse"], drift["direction"]) == (7, 0, "better")
    assert "48: 44 finished, 2 cut off, 1 withheld, 1 empty" in printed[1]
    assert (place / drift["html"]).is_file()

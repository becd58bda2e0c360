"""Samples without their place in the grid, and planned places without a sample, are flagged; the rest goes on."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from tests.flows.cross_material import cross_reply, outputs, recorded
from tests.flows.live import KEYS
from tests.flows.loopback import loopback
from tests.flows.running import mixseek_here, read_jsonl, write_jsonl

CROSS = ("judge", "outputs.jsonl", "--protocol", "cross", "-w", "ws", "--run", "r", "--json")
COLUMNS = ["question_id", "prompt_variant", "target_model"]


def exported(place: Path) -> dict[str, dict[str, Any]]:
    done = mixseek_here("export", "r", "-w", "ws", "--to", "x.jsonl", cwd=place)
    assert done.returncode == 0, done.stderr
    return {row["id"]: row for row in read_jsonl(place / "x.jsonl")}


def archived(place: Path) -> list[dict[str, Any]]:
    """The documents of the invalid room, after the archive has been checked."""
    done = mixseek_here("archive", "r", "-w", "ws", cwd=place)
    assert done.returncode == 0, done.stderr
    folder = place / "ws" / "runs" / "r" / "archive"
    checked = mixseek_here("archive", "--check", folder, cwd=place)
    assert checked.returncode == 0, checked.stdout
    files = sorted((folder / "无效评测").rglob("*.json"))
    return [json.loads(path.read_text(encoding="utf-8")) for path in files]


def test_a_row_without_its_place_is_flagged_and_the_others_are_judged(tmp_path: Path) -> None:
    """Also where a recorded reply names the place: the sample does not."""
    rows = outputs()
    write_jsonl(tmp_path / "replies.jsonl", [recorded(row, "j", cross_reply(row, "j")) for row in rows])
    without = dict(zip((3, 4, 6), zip(COLUMNS, [None, "", " "], strict=True), strict=True))
    lacking = [{**row, **dict([without[n]] if n in without else [])} for n, row in enumerate(rows)]
    write_jsonl(tmp_path / "outputs.jsonl", lacking)

    done = mixseek_here(*CROSS, "--judge", "replay:replies.jsonl", cwd=tmp_path)

    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["counts"] == {"valid": 5, "invalid": 3, "undecided": 0, "missing": 0}
    assert "(the first incomplete rows: 4, 5, 7)" in done.stderr
    found, documents = exported(tmp_path), archived(tmp_path)
    for number, (column, _) in without.items():
        assert f"1 of 8 rows has no {column}: filed under INCOMPLETE_COVERAGE" in done.stderr
        row = found[rows[number]["id"]]
        assert (row["status"], row["flags"]) == ("invalid", ["INCOMPLETE_COVERAGE"])
        assert row["flag_details"] == [f"the sample has no {column}, so nothing said about it could be aligned"]
        assert cross_reply(rows[number], "j") in [json.loads(document["reply"]) for document in documents]
    assert [document["flags"] for document in documents] == [["INCOMPLETE_COVERAGE"]] * 3
    assert mixseek_here("report", "r", "-w", "ws", cwd=tmp_path).returncode == 0


def test_nothing_is_sent_about_a_row_without_its_place(tmp_path: Path) -> None:
    """Neither now nor when the run is taken up again; a dry run knows it too."""
    rows = outputs()
    write_jsonl(
        tmp_path / "outputs.jsonl", [{**row, "prompt_variant": None} if n == 3 else row for n, row in enumerate(rows)]
    )
    with loopback() as endpoint:
        live = (*CROSS, "--judge", endpoint.spec, "--max-reasks", "0", "--no-cache")
        forecast = mixseek_here(*live, "--dry-run", cwd=tmp_path, env=KEYS)
        done = mixseek_here(*live, cwd=tmp_path, env=KEYS)
        again = mixseek_here(*live, cwd=tmp_path, env=KEYS)
        sent = endpoint.requests

    assert json.loads(forecast.stdout)["calls"] == 7
    assert sent == 7, (done.stderr, again.stderr)
    found = exported(tmp_path)[rows[3]["id"]]
    assert (found["status"], found["flags"]) == ("invalid", ["INCOMPLETE_COVERAGE"])
    unasked = [document for document in archived(tmp_path) if document["flags"] == ["INCOMPLETE_COVERAGE"]]
    assert [(document["meta"]["id"], document["reply"]) for document in unasked] == [(rows[3]["id"], None)]


@pytest.mark.parametrize("suffix", [".csv", ".jsonl"])
def test_holes_of_a_plan_are_flagged_records(tmp_path: Path, suffix: str) -> None:
    """In the export, the report and the archive, under every judge; what is in no plan is judged all the same."""
    rows = outputs()
    plan = [{name: row[name] for name in COLUMNS} for row in rows[1:]]
    plan += [{"question_id": "Q9", "prompt_variant": "A", "target_model": "model-a"}] * 2
    write_plan(tmp_path / f"plan{suffix}", plan)
    write_jsonl(tmp_path / "replies.jsonl", [recorded(row, "j", cross_reply(row, "j")) for row in rows])
    write_jsonl(tmp_path / "outputs.jsonl", [row for n, row in enumerate(rows) if n != 5])
    arguments = (*CROSS, "--judge", "replay:replies.jsonl", "--plan", f"plan{suffix}")

    done = mixseek_here(*arguments, cwd=tmp_path)
    again = mixseek_here(*arguments, cwd=tmp_path)

    assert done.returncode == again.returncode == 0, done.stderr
    summary = json.loads(done.stdout)
    assert summary["counts"] == {"valid": 7, "invalid": 2, "undecided": 0, "missing": 0}
    assert summary["samples"] == 9
    named = f"{rows[5]['question_id']} / {rows[5]['prompt_variant']} / {rows[5]['target_model']}"
    assert f"2 planned outputs are not in the dataset (INCOMPLETE_COVERAGE): {named}, Q9 / A / model-a" in done.stderr
    assert f"1 sample is not in the plan, and judged all the same: {rows[0]['id']}" in done.stderr
    holes = [row for row in exported(tmp_path).values() if row["flags"]]
    assert [(row["id"], row["flags"]) for row in holes] == [
        (f"planned: {named}", ["INCOMPLETE_COVERAGE"]),
        ("planned: Q9 / A / model-a", ["INCOMPLETE_COVERAGE"]),
    ]
    assert [document["meta"]["question_id"] for document in archived(tmp_path)] == [rows[5]["question_id"], "Q9"]
    report = mixseek_here("report", "r", "-w", "ws", "--json", cwd=tmp_path)
    assert report.returncode == 0
    flags = json.loads(report.stdout)["judges"][0]["flags"]
    assert [(flag["flag"], flag["count"]) for flag in flags] == [("INCOMPLETE_COVERAGE", 2)]


def test_a_plan_may_name_outputs(tmp_path: Path) -> None:
    """Two outputs in one place are two then."""
    rows = outputs()
    plan = [{name: rows[0][name] for name in (*COLUMNS, "output_id")}]
    plan.append({**plan[0], "output_id": "second.md"})
    write_plan(tmp_path / "plan.csv", plan)
    write_jsonl(tmp_path / "outputs.jsonl", rows[:1])
    write_jsonl(tmp_path / "replies.jsonl", [recorded(rows[0], "j", cross_reply(rows[0], "j"))])

    done = mixseek_here(*CROSS, "--judge", "replay:replies.jsonl", "--plan", "plan.csv", cwd=tmp_path)

    assert done.returncode == 0, done.stderr
    hole = next(row for row in exported(tmp_path).values() if row["flags"])
    assert hole["output_id"] == "second.md"


def test_nothing_is_sent_about_a_hole_and_rules_leave_it_alone(tmp_path: Path) -> None:
    rows = [{**row, "ground_truth": "4", "response": "The answer is 4."} for row in outputs()]
    write_plan(tmp_path / "plan.csv", [{name: row[name] for name in COLUMNS} for row in rows])
    write_jsonl(tmp_path / "outputs.jsonl", rows[:6])
    with loopback() as endpoint:
        done = mixseek_here(
            *("judge", "outputs.jsonl", "-w", "ws", "--run", "r", "--json", "--plan", "plan.csv", "--max-reasks", "0"),
            *("--judge", "rules", "--judge", endpoint.spec),
            cwd=tmp_path,
            env=KEYS,
        )
        sent = endpoint.requests

    assert done.returncode == 0, done.stderr
    assert sent == 6
    per_judge = json.loads(done.stdout)["per_judge"]
    assert [judge["counts"]["invalid"] for judge in per_judge.values()] == [2, 2]


@pytest.mark.parametrize(
    ("plan", "words"),
    [
        ("question_id,prompt_variant\nQ1,A\n", "plan.csv: line 2: no `target_model`; a plan has the columns"),
        ("question_id,prompt_variant,target_model\n", "plan.csv: the plan is empty"),
    ],
)
def test_a_plan_that_is_none_is_one_line(tmp_path: Path, plan: str, words: str) -> None:
    write_jsonl(tmp_path / "outputs.jsonl", outputs())
    (tmp_path / "plan.csv").write_text(plan, encoding="utf-8")

    done = mixseek_here(*CROSS, "--judge", "replay", "--plan", "plan.csv", cwd=tmp_path)

    assert done.returncode == 2
    assert words in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_another_plan_is_another_run(tmp_path: Path) -> None:
    rows = outputs()
    write_jsonl(tmp_path / "outputs.jsonl", rows)
    write_jsonl(tmp_path / "replies.jsonl", [recorded(row, "j", cross_reply(row, "j")) for row in rows])
    plan = [{name: row[name] for name in COLUMNS} for row in rows]
    arguments = (*CROSS, "--judge", "replay:replies.jsonl", "--plan", "plan.csv")
    write_plan(tmp_path / "plan.csv", plan)
    assert mixseek_here(*arguments, cwd=tmp_path).returncode == 0
    write_plan(tmp_path / "plan.csv", plan[1:])

    done = mixseek_here(*arguments, cwd=tmp_path)

    assert done.returncode == 2
    assert "run r: was started with another plan" in done.stderr


def write_plan(path: Path, rows: list[dict[str, Any]]) -> None:
    if path.suffix == ".jsonl":
        write_jsonl(path, rows)
        return
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)

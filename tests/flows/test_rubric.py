"""The rubric protocol on the command line: rubrics from a directory, a file and a column, found before asking."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.flows.cross_material import TEA_RUBRIC, rubric_reply
from tests.flows.running import mixseek_here, read_jsonl, the_one_line, write_jsonl

TOWER_RUBRIC = "task_type: fact\n\n## 採点者向け事実情報\n- 塔の高さは 333 m\n\n### 加点項目\n- 高さが正しい\n"
ESSAYS = [
    {"id": "1", "task_name": "tea", "question": "茶を描写してください。", "response": "湯気が静かに立つ。"},
    {"id": "2", "task_name": "tower", "question": "塔の高さは？", "response": "333 m です。"},
]
REPLIES = [
    {"id": "1", "reply": json.dumps(rubric_reply("tea", "creative", (25, 30, 35)))},
    {"id": "2", "reply": json.dumps(rubric_reply("tower", "fact", (60, 30, 8)))},
]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "tasks").mkdir()
    (tmp_path / "tasks" / "tea-ceremony.md").write_text(TEA_RUBRIC, encoding="utf-8")
    (tmp_path / "tasks" / "tower.md").write_text(TOWER_RUBRIC, encoding="utf-8")
    write_jsonl(tmp_path / "essays.jsonl", ESSAYS)
    write_jsonl(tmp_path / "replies.jsonl", REPLIES)
    return tmp_path


def judge(place: Path, *more: str, data: str = "essays.jsonl") -> subprocess.CompletedProcess[str]:
    arguments = ("--protocol", "rubric", "--judge", "replay:replies.jsonl", "-w", "ws", "--run", "r")
    return mixseek_here("judge", data, *arguments, *more, cwd=place)


def exported(place: Path) -> dict[str, dict[str, Any]]:
    assert mixseek_here("export", "r", "-w", "ws", "--to", "out.jsonl", cwd=place).returncode == 0
    return {row["id"]: row for row in read_jsonl(place / "out.jsonl")}


def test_rows_are_judged_by_the_rubrics_of_a_directory(place: Path) -> None:
    """Found by the rubric's own name or its file's; weights by the rubric's type."""
    done = judge(place, "--rubric", "tasks")

    assert done.returncode == 0, done.stderr
    rows = exported(place)
    assert [(row["status"], row["total"], row["task_type"]) for row in rows.values()] == [
        ("valid", 90, "creative"),
        ("valid", 98, "fact"),
    ]
    assert json.loads(rows["2"]["fields"])["maxima"]["logic_and_fact"] == 60
    manifest = json.loads((place / "ws" / "runs" / "r" / "manifest.json").read_text(encoding="utf-8"))
    assert list(manifest["dataset"]["rubrics"]) == ["tea-ceremony.md", "tower.md"]
    assert manifest["protocol"]["language"] == "ja"


def test_weights_of_another_type_are_inconsistent(place: Path) -> None:
    wrong = rubric_reply("tower", "fact", (30, 30, 8), weights=rubric_reply("x", "creative", (0, 0, 0))["weights"])
    write_jsonl(place / "replies.jsonl", [REPLIES[0], {"id": "2", "reply": json.dumps(wrong)}])

    done = judge(place, "--rubric", "tasks")

    assert done.returncode == 0, done.stderr
    assert exported(place)["2"]["status"] == "invalid"
    assert "1 invalid: INTERNAL_INCONSISTENCY: " in done.stderr
    assert "(sample 2)" in done.stderr


def test_a_critical_fail_is_a_column(place: Path) -> None:
    fail = rubric_reply("tea", "creative", (0, 0, 0), critical_fail=True, critical_fail_reason="茶がない")
    write_jsonl(place / "replies.jsonl", [{"id": "1", "reply": json.dumps(fail)}, REPLIES[1]])

    assert judge(place, "--rubric", "tasks").returncode == 0
    row = exported(place)["1"]
    assert (row["critical_fail"], row["total"], row["verdict"]) == (True, 0, "critical_fail")


def test_a_changed_rubric_is_another_run(place: Path) -> None:
    first = judge(place, "--rubric", "tasks")
    (place / "tasks" / "tower.md").write_text(TOWER_RUBRIC + "- 単位がある\n", encoding="utf-8")

    again = judge(place, "--rubric", "tasks")

    assert first.returncode == 0, first.stderr
    assert again.returncode == 2
    assert "was started with another dataset" in the_one_line(again)


def test_a_rubric_may_stand_in_a_column_or_be_named_there(place: Path) -> None:
    rows = [{**ESSAYS[0], "rubric": TEA_RUBRIC}, {**ESSAYS[1], "rubric_path": "tasks/tower.md"}]
    write_jsonl(place / "essays.jsonl", rows)

    done = judge(place)

    assert done.returncode == 0, done.stderr
    assert {row["status"] for row in exported(place).values()} == {"valid"}


def test_one_file_is_for_one_task(place: Path) -> None:
    write_jsonl(place / "essays.jsonl", [{name: ESSAYS[0][name] for name in ("id", "question", "response")}])

    done = judge(place, "--rubric", "tasks/tea-ceremony.md")

    assert done.returncode == 0, done.stderr
    assert exported(place)["1"]["task_name"] == "tea"


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        ({}, (), "line 1: row has no rubric, and the protocol judges by one; give --rubric DIR"),
        (
            {"task_name": "coffee"},
            ("--rubric", "tasks"),
            "line 1: no rubric for the task 'coffee' in tasks; there is tea,",
        ),
        ({"task_type": "fact"}, ("--rubric", "tasks"), "line 1: `task_type` is 'fact' and its rubric says 'creative'"),
        ({}, ("--rubric", "nowhere"), "--rubric nowhere: no such file or directory"),
        ({}, ("--rubric", "tasks/tower.md"), None),
    ],
    ids=["none", "no such task", "another type", "no such place", "serves all"],
)
def test_a_rubric_that_is_not_there_is_said_before_anybody_is_asked(
    place: Path, change: dict[str, Any], options: tuple[str, ...], message: str | None
) -> None:
    write_jsonl(place / "essays.jsonl", [{**ESSAYS[0], **change}, ESSAYS[1]])

    done = judge(place, *options)

    if message is None:
        assert done.returncode == 0
        return
    assert done.returncode == 2
    assert message in the_one_line(done)
    assert not (place / "ws").exists()


@pytest.mark.parametrize(
    ("options", "language"), [((), "ja"), (("--language", "en"), "en"), (("--language", "zh"), "zh")]
)
def test_the_language_is_the_protocols_own_unless_another_is_asked_for(
    place: Path, options: tuple[str, ...], language: str
) -> None:
    done = judge(place, "--rubric", "tasks", *options)

    assert done.returncode == 0, done.stderr
    manifest = json.loads((place / "ws" / "runs" / "r" / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["protocol"]["language"] == language


def test_a_protocol_file_is_kept_with_the_run(place: Path) -> None:
    """A user's own protocol can be archived and checked after its file has changed."""
    made = mixseek_here("protocol", "new", "mine.toml", cwd=place)
    assert made.returncode == 0, made.stderr
    done = mixseek_here(
        *("judge", "essays.jsonl", "--protocol", "mine.toml", "--judge", "replay:replies.jsonl", "-w", "ws"),
        cwd=place,
    )
    assert done.returncode == 1, done.stderr  # none of the replies is for this protocol
    (place / "mine.toml").unlink()

    archived = mixseek_here("archive", "-w", "ws", "--to", "out", cwd=place)
    checked = mixseek_here("archive", "--check", "out", cwd=place)

    assert archived.returncode == 0, archived.stderr
    assert checked.returncode == 0, checked.stdout

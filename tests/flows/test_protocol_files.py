"""`mixseek protocol new`, `lint`, `show` and `hash`, as a person or a script uses them."""

import json
from pathlib import Path

import pytest
from tests.flows.running import mixseek_here, read_jsonl, the_one_line, write_jsonl

from mixseek.protocols.registry import protocol_names

GOOD = "task_type: fact\n\n## Critical Fail Conditions\n- Invents a source.\n"
LANGUAGES = {**dict.fromkeys(protocol_names(), "en"), "rubric": "ja", "cross": "zh"}


def reply(**changes: object) -> dict[str, object]:
    evidence = [
        {"dimension": name, "quote": "Use the blue button", "reason": "It is the right one."}
        for name in ("accuracy", "completeness", "clarity")
    ]
    scores = {"accuracy": 4, "completeness": 4, "clarity": 4}
    return {
        "scores": scores,
        "total": 100,
        "verdict": "good",
        "harmful": False,
        "harmful_reason": None,
        "confidence": "high",
        "evidence": evidence,
        **changes,
    }


def test_a_new_protocol_lints_clean_and_judges_as_it_is(tmp_path: Path) -> None:
    written = mixseek_here("protocol", "new", "my.toml", cwd=tmp_path)
    lint = mixseek_here("protocol", "lint", "my.toml", cwd=tmp_path)
    rows = [
        {"id": "a", "question": "Which button?", "response": "Use the blue button.", "reply": reply()},
        {"id": "b", "question": "Which button?", "response": "Use the blue button.", "reply": reply(total=99)},
    ]
    write_jsonl(tmp_path / "rows.jsonl", rows)
    judged = mixseek_here("judge", "rows.jsonl", "--protocol", "my.toml", "--judge", "replay", cwd=tmp_path)
    mixseek_here("export", "latest", "--to", "out.jsonl", cwd=tmp_path)

    assert (written.returncode, lint.returncode, judged.returncode) == (0, 0, 0)
    assert lint.stdout == ""
    assert lint.stderr == "mixseek: no problem in 1 file\n"
    assert {row["id"]: (row["status"], row["verdict"]) for row in read_jsonl(tmp_path / "out.jsonl")} == {
        "a": ("valid", "good"),
        "b": ("invalid", None),
    }


def test_new_never_overwrites(tmp_path: Path) -> None:
    (tmp_path / "my.toml").write_text("mine", encoding="utf-8")
    done = mixseek_here("protocol", "new", "my.toml", cwd=tmp_path)

    assert done.returncode == 2
    assert "is there already" in the_one_line(done)
    assert (tmp_path / "my.toml").read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize(
    ("file", "said"),
    [("my.json", "a protocol is a .toml file"), ("none/my.toml", "cannot be written"), ("my", ".toml")],
)
def test_new_refuses_what_would_not_load(file: str, said: str, tmp_path: Path) -> None:
    done = mixseek_here("protocol", "new", file, cwd=tmp_path)

    assert done.returncode == 2
    assert said in the_one_line(done)


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("Help Desk.toml", "help-desk"),
        ("cross.toml", "my-cross"),
        ("2026.toml", "my-2026"),
        ("試験.toml", "my"),
        ("a_b.toml", "a_b"),
    ],
)
def test_new_makes_a_name_of_any_file_name(file: str, name: str, tmp_path: Path) -> None:
    done = mixseek_here("protocol", "new", file, "--json", cwd=tmp_path)

    assert json.loads(done.stdout) == {"schema": "mixseek.protocol-new/1", "file": file, "name": name}
    assert mixseek_here("protocol", "lint", f"./{file}", cwd=tmp_path).returncode == 0


def test_lint_prints_one_line_for_each_problem_and_exits_with_1(tmp_path: Path) -> None:
    mixseek_here("protocol", "new", "my.toml", cwd=tmp_path)
    file = tmp_path / "my.toml"
    text = file.read_text(encoding="utf-8").replace("maximum = 4", "maximun = 4").replace("effect =", "efect =")
    file.write_text(text, encoding="utf-8")
    done = mixseek_here("protocol", "lint", "my.toml", cwd=tmp_path)
    as_json = mixseek_here("protocol", "lint", "my.toml", "--json", cwd=tmp_path)

    assert done.returncode == as_json.returncode == 1
    assert [line.split(":")[0] for line in done.stdout.splitlines()] == ["my.toml"] * 2
    assert done.stderr == "mixseek: 2 problems in 1 file\n"
    document = json.loads(as_json.stdout)
    assert document["problems"] == 2
    assert [(one["file"], one["is_hint"], one["advice"]) for one in document["complaints"]] == [
        ("my.toml", False, "did you mean 'maximum'?"),
        ("my.toml", False, "did you mean 'effect'?"),
    ]


def test_lint_takes_directories_of_task_rubrics(tmp_path: Path) -> None:
    tasks = tmp_path / "tasks" / "deeper"
    tasks.mkdir(parents=True)
    (tasks / "good.md").write_text(GOOD, encoding="utf-8")
    (tasks / "bad.md").write_text(GOOD.replace("fact", "facts"), encoding="utf-8")
    (tasks / "README.md").write_text("What is here.", encoding="utf-8")
    (tasks.parent / "untyped.md").write_text("- be kind\n", encoding="utf-8")
    done = mixseek_here("protocol", "lint", "rubric", "tasks", cwd=tmp_path)

    assert done.returncode == 1
    assert done.stdout.splitlines()[0].startswith(
        "tasks/deeper/bad.md:1: unknown task_type 'facts'; did you mean 'fact'?"
    )
    assert done.stdout.splitlines()[1].startswith("tasks/untyped.md: hint: no task_type is named")
    assert done.stderr == "mixseek: 1 problem and 1 hint in 4 files\n"


def test_hints_alone_are_no_problem(tmp_path: Path) -> None:
    (tmp_path / "untyped.md").write_text("- be kind\n", encoding="utf-8")
    done = mixseek_here("protocol", "lint", "untyped.md", cwd=tmp_path)

    assert done.returncode == 0
    assert done.stderr == "mixseek: no problem and 1 hint in 1 file\n"


def test_two_rubrics_of_one_task_are_a_problem(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / f"{name}.md").write_text(f"---\ntask_name: tea\n---\n{GOOD}", encoding="utf-8")
    done = mixseek_here("protocol", "lint", "one.md", "two.md", cwd=tmp_path)

    assert done.returncode == 1
    assert (
        done.stdout
        == "two.md: the task name 'tea' is that of one.md as well; give each task rubric a name of its own\n"
    )


def test_task_rubrics_are_held_against_the_types_of_the_protocol_beside_them(tmp_path: Path) -> None:
    mixseek_here("protocol", "new", "my.toml", cwd=tmp_path)
    (tmp_path / "tea.md").write_text(GOOD.replace("fact", "all"), encoding="utf-8")

    assert mixseek_here("protocol", "lint", "tea.md", cwd=tmp_path).returncode == 1
    assert mixseek_here("protocol", "lint", "my.toml", "tea.md", cwd=tmp_path).returncode == 0


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("none.toml", "none.toml: cannot be read (No such file or directory)"),
        ("none.md", "none.md: cannot be read (No such file or directory)"),
        ("semantc", "unknown protocol 'semantc'; did you mean 'semantic'?"),
        ("empty", "empty: no task rubric in it"),
        ("latin.md", "latin.md: not UTF-8 (byte 0)"),
    ],
)
def test_what_cannot_be_linted_is_a_usage_error(target: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "latin.md").write_bytes(b"\xe9")
    done = mixseek_here("protocol", "lint", target, cwd=tmp_path)

    assert done.returncode == 2
    assert said in the_one_line(done)


@pytest.mark.parametrize("name", protocol_names())
def test_show_speaks_the_protocols_own_language(name: str, tmp_path: Path) -> None:
    shown = json.loads(mixseek_here("protocol", "show", name, "--json", cwd=tmp_path).stdout)
    plain = mixseek_here("protocol", "show", name, cwd=tmp_path).stdout

    assert shown["language"] == LANGUAGES[name]
    assert mixseek_here("protocol", "hash", name, cwd=tmp_path).stdout.strip() == shown["hash"]
    # Checks ask nobody.
    assert all(message["content"].rstrip() in plain for message in shown["messages"][:1])
    assert bool(shown["messages"]) == (name != "checks")
    is_scored = name in ("rubric", "cross", "trajectory")
    assert ("## Fields of the reply" in plain) == (shown["documentation"] is not None) == is_scored


def test_show_takes_a_file_and_a_language(tmp_path: Path) -> None:
    mixseek_here("protocol", "new", "my.toml", cwd=tmp_path)
    done = mixseek_here("protocol", "show", "my.toml", cwd=tmp_path)
    other = mixseek_here("protocol", "show", "my.toml", "--language", "ja", cwd=tmp_path)

    assert done.returncode == 0
    assert done.stdout.startswith("protocol    my 1 (en)\n")
    assert "| `harmful` |" in done.stdout
    assert other.returncode == 2
    assert "no prompts in language 'ja'" in the_one_line(other)


def test_every_change_of_a_file_changes_its_hash(tmp_path: Path) -> None:
    mixseek_here("protocol", "new", "my.toml", cwd=tmp_path)
    file = tmp_path / "my.toml"
    text = file.read_text(encoding="utf-8")
    changes = [
        "at_most = 40",
        "maximum_characters = 300",
        "small flaws",
        "Is everything",
        '"high", "medium", "low"',
        '"verified"',
    ]
    seen = {mixseek_here("protocol", "hash", "my.toml", cwd=tmp_path).stdout}
    for old, new in zip(
        changes,
        ["at_most = 41", "maximum_characters = 301", "Flaws", "Is all", '"high", "low"', '"present"'],
        strict=True,
    ):
        assert old in text
        file.write_text(text.replace(old, new), encoding="utf-8")
        seen.add(mixseek_here("protocol", "hash", "my.toml", cwd=tmp_path).stdout)
    file.write_text(text + "\n# Only a comment.\n", encoding="utf-8")

    assert len(seen) == len(changes) + 1
    assert mixseek_here("protocol", "hash", "my.toml", cwd=tmp_path).stdout in seen


NINE = """
name = "Letters"
version = "1"
kind = "scored"
languages = ["en"]
default_language = "en"
colour = "red"
[templates]
user = "user.md.j2"
[parameters]
instructions = "Judge a letter."
[parameters.dimensions.A_tone]
title = "Friendly tone"
colour = "red"
[parameters.scale]
maximum = "three"
[parameters.total]
field = "sum"
[parameters.gates.insults]
reason_field = "insult"
effect = "explode"
[parameters.verdict]
field = "grade"
[parameters.verdict.rules.send]
nonzero = ["B_facts"]
[parameters.verdict.rules.rewrite]
[parameters.choices.effort]
options = ["little", "much"]
descriptions = { huge = "a lot" }
[parameters.evidence]
policy = "verified"
field = "sum"
"""


def test_everything_is_said_in_one_round(tmp_path: Path) -> None:
    """Whoever mends a file should not meet the next mistake only after the last one."""
    (tmp_path / "own.toml").write_text(NINE, encoding="utf-8")
    (tmp_path / "user.md.j2").write_text("{{ respnse }} {{ question|centre }} {{ response }}", encoding="utf-8")

    done = mixseek_here("protocol", "lint", "own.toml", cwd=tmp_path)

    assert done.returncode == 1
    for mistake in (
        *("name", "unknown key colour", "unknown key parameters.dimensions.A_tone.colour", "parameters.scale.maximum"),
        *("parameters.gates.insults.effect", "no such dimension: B_facts", "not one of its options"),
        *("2 parts of the reply have this name", "unknown variable 'respnse'", "No filter named 'centre'"),
    ):
        assert mistake in done.stdout, (mistake, done.stdout)

"""Every command on every file of the data beside the project: never a failure of ours, and never a wrong response."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from bench.raw_logs import differences
from bench.real_files import DATA
from tests.flows.running import mixseek_here

_NO_DATA = {"truth.json", "README.md", "check_import.py", "sealed.bin"}
# Done, short of a gate, refused, incomplete; 3 would be a failure of ours.
_CODES = (0, 1, 2, 4)
# Beside the data stands a script, which leaves bytecode when somebody runs it.
KEPT = sorted(path for path in DATA.rglob("*") if path.name not in _NO_DATA and path.parent.name != "__pycache__")
TRACES = [path for path in KEPT if path.is_file() and path.parent.parent == DATA / "traces"]
FILES = [path for path in KEPT if path.is_file() and path not in TRACES]

pytestmark = pytest.mark.skipif(not TRACES, reason="the data is not beside the project")


def run(place: Path, *words: str | Path) -> str:
    """What a command printed; a failure of ours, or a traceback, fails the test."""
    done = mixseek_here(*words, cwd=place)
    assert done.returncode in _CODES, (words, done.stderr)
    # Errors of other tools have one in their words, and those are shown.
    assert not any(line.startswith("Traceback") for line in done.stderr.splitlines()), words
    # A refusal is one line that names the file.
    assert done.returncode != 2 or len(done.stderr.splitlines()) == 1, (words, done.stderr)
    return done.stdout


def imported(path: Path, place: Path) -> tuple[str, list[dict[str, Any]]]:
    """Its format and rows; nothing for what is no log."""
    target = place / "imported.jsonl"
    told = run(place, "import", path, "--to", target, "--json", "--quiet")
    if not target.exists():
        return "", []
    return json.loads(told)["format"], [json.loads(line) for line in target.read_text(encoding="utf-8").splitlines()]


def commands(path: Path, place: Path) -> Iterator[tuple[str | Path, ...]]:
    """Judging by whatever fits, then everything that reads the run."""
    yield ("judge", path, "--workspace", "ws", "--run", "rules", "--quiet")
    yield ("judge", path, "--judge", "log", "--workspace", "ws", "--run", "log", "--quiet")
    yield ("judge", path, "--judge", "replay", "--workspace", "ws", "--run", "replay", "--quiet")
    yield (
        "judge",
        path,
        "--protocol",
        "pairwise",
        "--judge",
        "replay",
        "--workspace",
        "ws",
        "--run",
        "pairs",
        "--quiet",
    )
    yield ("stats", path, "--json")
    for name in sorted(found.name for found in (place / "ws" / "runs").glob("*")):
        yield ("report", name, "--workspace", "ws", "--to", f"{name}.html")
        yield ("export", name, "--workspace", "ws", "--to", f"{name}.jsonl")
        yield ("compare", name, name, "--workspace", "ws", "--json")
        yield ("label", "sample", name, "--n", "5", "--workspace", "ws", "--to", f"{name}-sheet.csv")
        yield ("archive", name, "--workspace", "ws")
    yield ("runs", "--workspace", "ws")


def true_answers(path: Path) -> dict[str, list[str | None]]:
    """By the id of a sample: what the makers of the traces say that its final answer is, in the order of the file."""
    answers: dict[str, list[str | None]] = {}
    for sample in json.loads((path.parent / "truth.json").read_text(encoding="utf-8"))[path.name]["rows"]:
        answers.setdefault(str(sample["id"]), []).append(sample["final_answer"])
    return answers


@pytest.mark.parametrize("path", TRACES, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_a_trace_gives_its_final_answer_or_none_and_never_another_text(path: Path, tmp_path: Path) -> None:
    """A call of a tool, a step, or what was said before a limit is no response."""
    kind, rows = imported(path, tmp_path)
    truth = true_answers(path)
    known = {answer.strip() for answers in truth.values() for answer in answers if answer}

    assert differences(path, kind, rows) == []
    for row in rows:
        answers = truth.get(str(row["question_id"]))
        if answers is None:
            # Files whose rows have no id, by text only.
            assert row["response"] is None or row["response"].strip() in known, row["id"]
        else:
            answer = answers.pop(0)
            assert (row["response"] or "").strip() == (answer or "").strip(), row["id"]
    run(tmp_path, "judge", path, "--workspace", "ws", "--quiet")


@pytest.mark.optin
@pytest.mark.parametrize("path", [*FILES, *TRACES], ids=lambda path: str(path.relative_to(DATA)))
def test_no_command_fails_on_any_file(path: Path, tmp_path: Path) -> None:
    """Minutes, so not every time (`make test-all`)."""
    kind, rows = imported(path, tmp_path)

    assert differences(path, kind, rows) == []
    for words in commands(path, tmp_path):
        run(tmp_path, *words)

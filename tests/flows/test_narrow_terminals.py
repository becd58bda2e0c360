"""Names of sixty characters on a terminal of eighty columns: every table keeps the names of its rows."""

import asyncio
import json
import re
from pathlib import Path

import pytest
from tests.flows.cross_material import cross_reply, outputs, recorded
from tests.flows.running import mixseek, mixseek_here, the_one_line, write_jsonl
from tests.unit.competition.competitions import begin, play

from mixseek.cli.terminal import console
from mixseek.competition.store import AggregationStore

WIDTH = 80


def long_name(start: str) -> str:
    """Alike but for its beginning and its end."""
    return f"{start}-{'name-that-goes-on-and-on-' * 3}"[: 60 - len(start)] + start


TARGETS = tuple(map(long_name, ("one", "two", "six")))
JUDGES = tuple(map(long_name, ("ann", "bob")))
TASKS = tuple(map(long_name, ("sums", "sort")))


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(console, "PLAIN_WIDTH", WIDTH)
    return tmp_path


def told(place: Path, *arguments: str) -> str:
    """What a person reads; nothing is wider than the terminal."""
    done = mixseek_here(*arguments, "--workspace", "ws", cwd=place)
    assert done.returncode in (0, 1), done.stderr
    # Paths and commands stay on one line, so that they can be opened and pasted.
    lines = [line for line in done.stdout.splitlines() if "mixseek report" not in line and "Report  " not in line]
    assert max(map(len, lines)) <= WIDTH
    assert "…" not in done.stdout
    return done.stdout


def unfolded(text: str) -> str:
    """What stands first in each line, put together: names that were folded read whole again."""
    lines = [re.sub(r"^[\d#]  ", "", line.strip()) for line in text.splitlines()]
    return "".join(re.split(r"\s{2,}", line)[0] for line in lines)


def section(text: str, title: str) -> str:
    """From its heading, beside which a note may stand, to the empty line after it."""
    return re.split(rf"\n{re.escape(title)}(?:  [^\n]*)?\n", text, maxsplit=1)[-1].partition("\n\n")[0]


def test_scored_runs_keep_the_names_of_judges_targets_and_samples(place: Path) -> None:
    """Dimensions, targets, matrix, coverage, evidence; and one sample."""
    rows = outputs(TARGETS)
    write_jsonl(place / "outputs.jsonl", rows)
    judges = []
    for judge in JUDGES:
        write_jsonl(place / f"{judge}.jsonl", [recorded(row, judge, cross_reply(row, judge)) for row in rows])
        judges += ["--judge", f"replay:{judge}.jsonl"]
    mixseek_here("judge", "outputs.jsonl", "--protocol", "cross", *judges, "-w", "ws", "--run", "r", cwd=place)

    report = told(place, "report", "r")

    for title, names in {
        "Dimensions": JUDGES,
        "Targets by dimension": TARGETS,
        "Judge × target": JUDGES,
        "Coverage": (*TARGETS, *JUDGES),
        "Evidence": JUDGES,
    }.items():
        own = unfolded(section(report, title))
        assert all(name in own for name in names), title
    assert re.search(r"Q1 +A +●", section(report, "Coverage"))
    assert rows[0]["id"] in unfolded(told(place, "show", "r", str(rows[0]["id"])))


def test_runs_and_their_comparison_keep_the_names_of_runs(place: Path) -> None:
    """A run's name is what is typed next."""
    rows = [
        {"id": f"{task}-{number}", "task_name": task, "target_model": TARGETS[number % 2],
         "question": f"1 + 1? ({task}, {number})", "ground_truth": "2", "response": f"The answer is {number}."}
        for task in TASKS for number in (1, 2, 3)
    ]  # fmt: skip
    write_jsonl(place / "answers.jsonl", rows)
    runs = tuple(map(long_name, ("may", "dec")))
    for run in runs:
        summary = told(place, "judge", "answers.jsonl", "--judge", "rules", "--run", run)
        assert run in unfolded(summary)
    report = told(place, "report", runs[0])

    assert all(run in unfolded(told(place, "runs")) for run in runs)
    assert all(run in unfolded(told(place, "report", *runs)) for run in runs)
    assert all(task in unfolded(section(report, "Tasks")) for task in TASKS)
    assert all(target in unfolded(section(report, "Targets")) for target in TARGETS[:2])
    assert json.loads(mixseek_here("runs", "-w", "ws", "--json", cwd=place).stdout)["runs"][0]["run"] in runs


def test_a_leader_board_keeps_the_names_of_teams(place: Path) -> None:
    """Whatever they are called."""
    teams = tuple(map(long_name, ("Red", "Blue")))
    store = AggregationStore(place / "ws")

    async def compete() -> None:
        await begin(store)
        for number, team in enumerate(teams):
            await play(store, team, 1, 60.0 + number)

    asyncio.run(compete())
    store.close()
    shown = unfolded(told(place, "leaderboard")).casefold()

    assert all(team.casefold() in shown for team in teams)


def test_a_terminal_of_another_encoding_shows_what_it_can(tmp_path: Path) -> None:
    """And what is asked for with half of its names, or of a run of another kind, is told in words that fit."""
    write_jsonl(
        tmp_path / "a.jsonl", [{"id": "1", "question": "あ?", "response": "答えは 2 です", "ground_truth": "2"}]
    )
    for name in ("one", "two"):
        assert mixseek_here("judge", "a.jsonl", "--run", name, "-q", cwd=tmp_path).returncode == 0
    env = {"PYTHONIOENCODING": "ascii"}
    shown = mixseek("show", "one", "1", cwd=tmp_path, env=env)
    document = mixseek("show", "one", "1", "--json", cwd=tmp_path, env=env)

    assert (shown.returncode, shown.stderr) == (0, "")
    assert "  ??? ?2? ??" in shown.stdout
    assert json.loads(document.stdout)["judgments"][0]["response"] == "答えは 2 です"
    assert "name a sample of it as well" in the_one_line(mixseek_here("show", "latest", cwd=tmp_path))
    assert "this run has single responses" in the_one_line(mixseek_here("stats", "one", "--votes", cwd=tmp_path))
    (tmp_path / "sjis.csv").write_bytes("item,judge,score\n東京,x,1\n".encode("cp932"))
    assert "line 2 is not valid UTF-8" in the_one_line(mixseek_here("stats", "sjis.csv", cwd=tmp_path))

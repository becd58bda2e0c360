"""`mixseek leaderboard` as a user runs it."""

import asyncio
import json
from pathlib import Path

import pytest
from tests.flows.running import mixseek, mixseek_here, the_one_line
from tests.unit.competition.competitions import EXECUTION, begin, play

from mixseek.competition.store import AggregationStore
from mixseek.storage.journal.journal import JournalFile


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """Two teams, of which one has played twice."""
    root = tmp_path / "ws"
    store = AggregationStore(root)

    async def compete() -> None:
        await begin(store)
        await play(store, "a", 1, 60.0)
        await play(store, "b", 1, 70.0)
        await play(store, "a", 2, 80.0)

    asyncio.run(compete())
    store.close()
    return root


def test_the_board_is_shown_while_a_store_is_at_work(workspace: Path, tmp_path: Path) -> None:
    """In a process of its own, beside one that has the workspace in use."""
    store = AggregationStore(workspace)
    asyncio.run(play(store, "b", 2, 75.0))
    directory = workspace / "competitions" / EXECUTION
    directory.mkdir(parents=True)
    # Whoever plays holds the journal; a store alone could be anybody's.
    with JournalFile(directory / "journal.jsonl"):
        done = mixseek("leaderboard", "--workspace", workspace, cwd=tmp_path)
    store.close()

    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    lines = done.stdout.splitlines()
    assert lines[0] == f"{EXECUTION}  running"
    assert [line.split()[:4] for line in lines[4:6]] == [["1", "A", "80.00", "2"], ["2", "B", "75.00", "2"]]


def test_page_and_document_hold_the_same_places(workspace: Path, tmp_path: Path) -> None:
    """--json for programs, --to for people, both at once if wanted."""
    done = mixseek_here("leaderboard", "ra", "-w", workspace, "--to", "board.html", "--json", cwd=tmp_path)

    assert (done.returncode, done.stderr) == (0, "")
    document = json.loads(done.stdout)
    assert [(team["rank"], team["team_id"], team["best_score"]) for team in document["teams"]] == [
        (1, "a", 80.0),
        (2, "b", 70.0),
    ]
    page = (tmp_path / "board.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert "80.00" in page


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["rase"], "no execution 'rase'; there is race"),
        (["--open"], "needs --to FILE"),
        (["--to", "missing/board.html"], "there is no directory missing; create it first"),
        (["--workspace", "elsewhere"], "elsewhere: no competitions here; start one with `mixseek compete`"),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2(
    workspace: Path, tmp_path: Path, arguments: list[str], message: str
) -> None:
    """What, where, what to do."""
    if "--workspace" not in arguments:
        arguments = [*arguments, "--workspace", str(workspace)]
    done = mixseek_here("leaderboard", *arguments, cwd=tmp_path)

    assert done.returncode == 2
    assert message in the_one_line(done)
    assert done.stdout == ""


def test_a_damaged_file_is_one_line_and_keeps_its_content(tmp_path: Path) -> None:
    """It is the truth, so nobody throws it away."""
    (tmp_path / "competitions.duckdb").write_bytes(b"no database" * 500)
    done = mixseek_here("leaderboard", "--workspace", tmp_path, cwd=tmp_path)

    assert done.returncode == 3
    assert "competitions.duckdb" in the_one_line(done)
    assert (tmp_path / "competitions.duckdb").read_bytes() == b"no database" * 500

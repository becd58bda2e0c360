"""Five teams, three rounds, and kill -9 whenever it hurts: the same leader board, nothing twice, nothing lost."""

import asyncio
import contextlib
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.flows.arena import Arena, arena, race_text
from tests.flows.live import KEYS, begin, wait_until
from tests.flows.running import mixseek_here, read_jsonl

from mixseek.competition.store import AggregationStore
from mixseek.domain.rounds import TeamProgress

pytestmark = pytest.mark.thorough

ANSWERS_BEFORE_KILLS = [3, 0, 7, 10]
KILLS = len(ANSWERS_BEFORE_KILLS)
MODEL_TEAMS = 3
ROUNDS = 3
EXECUTION = "race"
# Two teams that are no models: what they submit is nowhere but in the store.
PROGRAMS = """
[[teams]]
id = "shell"
command = ["sh", "-c", '''
n=$(sed -n 's/^Round: //p' | head -1); echo "$n" >> asked.txt; echo "Submission of shell in round $n"''']
[[teams]]
id = "python"
callable = "own_team:answer"
"""
OWN_TEAM = """
def answer(prompt, round_number):
    return f"Submission of python in round {round_number}"
"""
TEAMS = MODEL_TEAMS + 2


def progress_of(workspace: Path) -> dict[str, TeamProgress]:
    if not (workspace / "competitions.duckdb").is_file():
        return {}
    with contextlib.closing(AggregationStore(workspace, read_only=True)) as store:
        return dict(asyncio.run(store.progress(EXECUTION)))


def submissions(progress: dict[str, TeamProgress]) -> dict[tuple[str, int], str]:
    return {(team, one.round_number): one.submission for team, stored in progress.items() for one in stored.rounds}


def scores(progress: dict[str, TeamProgress]) -> dict[tuple[str, int], Any]:
    return {
        (team, one.round_number): (one.score, [metric["score"] for metric in one.details["metrics"]])
        for team, stored in progress.items()
        for one in stored.rounds
        if one.evaluated_at is not None
    }


def ranking(workspace: Path) -> list[Any]:
    with contextlib.closing(AggregationStore(workspace, read_only=True)) as store:
        return list(asyncio.run(store.ranking(EXECUTION)))


def has_reached(endpoint: Arena, goal: int) -> bool:
    return endpoint.requests >= goal


def lay_out(directory: Path, endpoint: Arena) -> None:
    directory.joinpath("race.toml").write_text(
        race_text(endpoint.spec, MODEL_TEAMS, rounds=f"min = 2\nmax = {ROUNDS}", more=PROGRAMS), encoding="utf-8"
    )
    directory.joinpath("own_team.py").write_text(OWN_TEAM, encoding="utf-8")


def arguments(workspace: str) -> list[str]:
    return ["compete", "race.toml", "--workspace", workspace, "--execution", EXECUTION, "--quiet", "--json"]


def test_kills_change_nothing_but_the_time_it_takes(tmp_path: Path) -> None:
    """What was stored before a kill is there after it, to the letter, and is never asked for or evaluated again."""
    with arena() as endpoint:
        lay_out(tmp_path, endpoint)
        calm = mixseek_here(*arguments("calm"), cwd=tmp_path, env=KEYS)
        assert calm.returncode == 0, calm.stderr
        calls = Counter(endpoint.asked)
        endpoint.asked.clear()
        (tmp_path / "asked.txt").unlink()
        kept: dict[tuple[str, int], str] = {}
        scored: dict[tuple[str, int], Any] = {}
        for answered in ANSWERS_BEFORE_KILLS:
            # Nobody gets more answers than that, so there is somebody to kill, with questions in flight.
            endpoint.hold_after(endpoint.requests + answered)
            process = begin(*arguments("killed"), cwd=tmp_path)
            goal = endpoint.requests + answered + 1
            assert wait_until(partial(has_reached, endpoint, goal), process), process.communicate()
            process.kill()
            process.communicate()
            stored = progress_of(tmp_path / "killed")
            assert {place: text for place, text in submissions(stored).items() if place in kept} == kept
            assert {place: value for place, value in scores(stored).items() if place in scored} == scored
            kept, scored = submissions(stored), scores(stored)
        endpoint.release()
        last = mixseek_here(*arguments("killed"), cwd=tmp_path, env=KEYS)
    final = progress_of(tmp_path / "killed")
    lines = read_jsonl(tmp_path / "killed" / "competitions" / EXECUTION / "journal.jsonl")
    outcomes = Counter((line["key"], line["judge"]) for line in lines if line["t"] == "outcome")
    replies = Counter((line["key"], line["judge"]) for line in lines if line["t"] == "reply")

    assert calm.returncode == last.returncode == 0, last.stderr
    assert ranking(tmp_path / "killed") == ranking(tmp_path / "calm")
    assert len(ranking(tmp_path / "calm")) == TEAMS
    assert scores(final) == scores(progress_of(tmp_path / "calm"))
    assert len(scores(final)) == TEAMS * ROUNDS
    assert {place: submissions(final)[place] for place in kept} == kept
    assert set(outcomes.values()) == set(replies.values()) == {1}
    # Only what was in flight at a kill was asked for again.
    asked_again = endpoint.asked.total() - calls.total()
    assert KILLS <= asked_again <= KILLS * 2 * TEAMS
    assert endpoint.asked.keys() == calls.keys()
    # A command that was at work when we died has to work again; a stored submission is not made again.
    assert len((tmp_path / "asked.txt").read_text(encoding="utf-8").split()) <= ROUNDS + KILLS

"""The competition of `mixseek demo`: teams and replies that were written for it."""

import json
from pathlib import Path

from tests.flows.running import mixseek_here


def test_the_demo_plays_a_small_competition(tmp_path: Path) -> None:
    """Three teams, three ways to end, a page; the race can be looked at and run again."""
    shown = mixseek_here("demo", "--workspace", "w", cwd=tmp_path)
    played = json.loads(mixseek_here("demo", "--workspace", "w", "--json", cwd=tmp_path).stdout)["competition"]
    checked = mixseek_here("compete", "w/competition/race.toml", "--workspace", "other", "--dry-run", cwd=tmp_path)
    teams = {team["team_id"]: team for team in played["teams"]}

    assert shown.returncode == 0, shown.stderr
    assert "salty-sea  finished" in shown.stdout
    assert (tmp_path / "w" / "competitions" / "salty-sea" / "leaderboard.html").is_file()
    assert [(team["rank"], team["team_id"], team["stop_reason"]) for team in played["teams"]] == [
        (1, "tide", "max_rounds"),
        (2, "gull", "judged_enough"),
        (3, "pebble", "no_gain"),
    ]
    assert [entry["score"] for entry in teams["tide"]["rounds"]] == sorted(
        entry["score"] for entry in teams["tide"]["rounds"]
    )
    assert teams["tide"]["rounds"][2]["opinion"]["should_continue"] is False
    assert checked.returncode == 0, checked.stderr

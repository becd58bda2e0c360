"""Teams at work as a watcher on stderr shows them."""

from typing import Any

import pytest

from mixseek.cli.competition.competing import BarWatcher, show_teams, write_event
from mixseek.round_controller.team import Stage, TeamEvent, watch_nothing


class FakeBar:
    """Keeps the last fields of each line."""

    def __init__(self) -> None:
        self.lines: list[dict[str, Any]] = []

    def add_task(self, description: str, total: None, **fields: Any) -> int:
        self.lines.append(fields)
        return len(self.lines) - 1

    def update(self, task: int, **fields: Any) -> None:
        self.lines[task] = fields


def event(stage: Stage, number: int = 1, score: float | None = None, text: str = "", team: str = "a") -> TeamEvent:
    return TeamEvent(team, f"Team {team}", number, stage, score, text)


def test_a_log_gets_a_line_for_each_score_and_each_end(capsys: pytest.CaptureFixture[str]) -> None:
    """What is only under way is not worth a line; what a team is called cannot break one."""
    write_event(event(Stage.WORKING))
    write_event(event(Stage.SCORED, score=12.345))
    write_event(event(Stage.SCORED, 2, text="no score (m: gone)"))
    write_event(TeamEvent("b", "Two\nlines", 1, Stage.SCORED, 1.0))
    write_event(event(Stage.ENDED, 2, 12.345, "max_rounds"))
    lines = capsys.readouterr().err.splitlines()

    assert lines[:2] == ["mixseek: Team a: round 1: 12.35", "mixseek: Team a: round 2: no score (m: gone)"]
    assert lines[-1] == "mixseek: Team a: ended after 2 rounds (max_rounds)"
    assert len(lines) == 4


def test_a_terminal_has_one_line_a_team_with_its_best() -> None:
    """A worse round does not take the best away."""
    bar = FakeBar()
    watcher = BarWatcher(bar)
    for told in (
        event(Stage.WAITING, 0),
        event(Stage.WORKING, team="b"),
        event(Stage.SCORED, 1, 60.0),
        event(Stage.SCORED, 2, 40.0),
        event(Stage.WORKING, 3),
    ):
        watcher(told)

    assert [line["team"] for line in bar.lines] == ["Team a", "Team b"]
    assert (bar.lines[0]["round"], bar.lines[0]["best"], bar.lines[0]["text"]) == ("round 3", "best 60.00", "working")
    assert bar.lines[1]["best"] == ""


def test_who_wants_quiet_gets_it() -> None:
    """Not even a watcher that writes nothing by chance."""
    with show_teams(quiet=True) as watcher:
        assert watcher is watch_nothing

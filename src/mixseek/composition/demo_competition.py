"""The demo's competition: three teams, recorded replies, one program, and a board."""

from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from mixseek.composition.compete import run_competition
from mixseek.composition.compete_plans import CompeteRequest
from mixseek.composition.leaderboards import write_leader_board
from mixseek.reporting.leaderboard import LeaderBoard
from mixseek.round_controller.events import NoWatcher
from mixseek.storage.durable import replacing, storage_error

DIRECTORY = "competition"
FILES = ("race.toml", "replies.jsonl")
EXECUTION = "salty-sea"


@dataclass(frozen=True, slots=True)
class DemoCompetition:
    """The board, the race that made it, and the page that tells its story."""

    board: LeaderBoard
    race: Path
    page: Path


def run_demo_competition(root: Path) -> DemoCompetition:
    """Offline, in a moment. The second time it is only shown again."""
    race = unpack_race(root)
    request = CompeteRequest(race=race, workspace=root, execution=EXECUTION)
    board = run_competition(request, NoWatcher(), stop=lambda: False, tell=lambda _: None).board
    page = root / "competitions" / EXECUTION / "leaderboard.html"
    write_leader_board(board, page)
    return DemoCompetition(board, race, page)


def unpack_race(root: Path) -> Path:
    """The bundled files in the workspace, where a person can look at them and change them."""
    source = resources.files("mixseek.composition") / "demo_data" / DIRECTORY
    target = root / DIRECTORY
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise storage_error("create the workspace", target, error) from error
    for name in FILES:
        with replacing(target / name) as stream:
            stream.write((source / name).read_bytes())
    return target / FILES[0]

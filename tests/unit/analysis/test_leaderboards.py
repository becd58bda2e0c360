"""Which competition is meant."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from mixseek.competition.boards import find_execution, load_leader_board, write_leader_board
from mixseek.competition.views.board import LeaderBoard
from mixseek.domain.rounds import Execution, ExecutionStatus
from mixseek.errors import ConfigurationError

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
KNOWN = [
    Execution(name, "t", {}, ExecutionStatus.FINISHED, NOON) for name in ("haiku-2", "haiku-1", "limerick", "essay")
]
ROOT = Path("ws")


@pytest.mark.parametrize(
    ("name", "found"),
    [(None, "haiku-2"), ("latest", "haiku-2"), ("haiku-1", "haiku-1"), ("lim", "limerick"), ("essay", "essay")],
)
def test_a_name_its_beginning_or_nothing_finds_an_execution(name: str | None, found: str) -> None:
    """Nothing, like `latest`, means the one started last, which the store puts first."""
    assert find_execution(ROOT, KNOWN, name).execution_id == found


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("haiku", "execution 'haiku' could be haiku-2, haiku-1; write more of the name"),
        ("limmerick", "ws: no execution 'limmerick'; there is limerick, haiku-2, haiku-1, essay"),
        ("zzz", "ws: no execution 'zzz'; there is haiku-2, haiku-1, limerick, essay"),
        ("", "ws: no execution ''; there is haiku-2, haiku-1, limerick, essay"),
    ],
)
def test_what_cannot_be_found_is_answered_with_names(name: str, message: str) -> None:
    """Close ones if there are any."""
    with pytest.raises(ConfigurationError) as caught:
        find_execution(ROOT, KNOWN, name)

    assert str(caught.value) == message


def test_an_empty_workspace_says_how_to_begin(tmp_path: Path) -> None:
    """And is not made by looking at it."""
    with pytest.raises(ConfigurationError, match="no competitions here; start one with `mixseek compete`"):
        load_leader_board(tmp_path / "ws", None)
    assert not (tmp_path / "ws").exists()


def test_a_page_in_no_place_is_refused_before_it_is_made(tmp_path: Path) -> None:
    """With what to do."""
    board = LeaderBoard("e", "t", ExecutionStatus.FINISHED, NOON.isoformat(), None, {}, ())

    with pytest.raises(ConfigurationError, match="a directory; name a file in it"):
        write_leader_board(board, tmp_path)
    with pytest.raises(ConfigurationError, match=r"there is no directory .*missing; create it first"):
        write_leader_board(board, tmp_path / "missing" / "x.html")

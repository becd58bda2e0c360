"""A session that was kept reads what a new one would, and no more."""

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
from tests.unit.storage.material import CORRECT, INCORRECT, append_lines, judged_lines, make_run, make_sample

from mixseek.errors import StorageError
from mixseek.index import reading as readers
from mixseek.index.loading import ensure_indexed, is_fresh
from mixseek.index.reading import close_kept, reading
from mixseek.storage import duckdb_session
from mixseek.storage.duckdb_session import Settings, close_idle
from mixseek.storage.workspace import RunDirectory, Workspace

Made = tuple[Workspace, RunDirectory]


def lines_of(*numbers: int) -> list[bytes]:
    """Odd ones are right."""
    outcomes = [INCORRECT, CORRECT]
    return [line for number in numbers for line in judged_lines(make_sample(number), {"rules": outcomes[number % 2]})]


@pytest.fixture
def made(tmp_path: Path) -> Made:
    workspace, run = make_run(tmp_path / "ws", lines_of(1, 2, 3, 4))
    ensure_indexed(workspace, run)
    return workspace, run


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """A word for every DuckDB that is started from here on; none is left over from before."""
    starts: list[str] = []
    open_duckdb = duckdb_session.open_duckdb

    def count(path: str = ":memory:", *, read_only: bool = False, config: Settings) -> duckdb.DuckDBPyConnection:
        starts.append(path)
        return open_duckdb(path, read_only=read_only, config=config)

    close_idle()
    close_kept()
    monkeypatch.setattr(duckdb_session, "open_duckdb", count)
    yield starts
    close_kept()


def mean_of(made: Made) -> float:
    with reading(*made) as connection:
        ((mean,),) = connection.execute("SELECT mean_score FROM facts").fetchall()
        return float(mean)


def test_whoever_reads_the_same_index_next_gets_the_same_session(made: Made, started: list[str]) -> None:
    """To start one takes longer than all that is asked of it."""
    assert [mean_of(made) for _ in range(3)] == [0.5] * 3
    assert len(started) == 1


def test_the_session_that_made_an_index_reads_it(tmp_path: Path, started: list[str]) -> None:
    """As at the end of a run."""
    assert mean_of(make_run(tmp_path / "ws", lines_of(1, 2))) == 0.5
    assert len(started) == 1


def test_a_kept_session_stays_confined(made: Made, tmp_path: Path, started: list[str]) -> None:
    """Nothing of its first use opens a file to the second."""
    secret = tmp_path / "secret.txt"
    secret.write_text("secret", encoding="utf-8")
    mean_of(made)

    with reading(*made) as connection:
        for statement in (f"FROM read_text('{secret}')", "SET enable_external_access = true", f"ATTACH '{secret}.db'"):
            with pytest.raises(duckdb.Error):
                connection.execute(statement)
    assert len(started) == 1


def test_a_kept_session_knows_nothing_of_its_last_use(made: Made) -> None:
    """Neither tables nor memory that one of them was given."""
    with reading(*made) as connection:
        ((usual,),) = connection.execute("SELECT current_setting('memory_limit')").fetchall()
        connection.execute("CREATE TEMP TABLE units AS SELECT 1; SET memory_limit = '1GiB'")

    with reading(*made) as connection:
        assert connection.execute("SELECT current_setting('memory_limit')").fetchall() == [(usual,)]
        with pytest.raises(duckdb.CatalogException):
            connection.execute("FROM units")


def test_a_kept_session_of_an_outdated_index_is_not_read(made: Made) -> None:
    """The journal has grown since."""
    assert mean_of(made) == 0.5
    append_lines(made[1], lines_of(5, 7, 9, 11))

    assert mean_of(made) == 0.75


def test_a_kept_session_of_a_changed_index_is_not_read(made: Made) -> None:
    """Whoever writes into the file that is open writes into a file that is no longer ours."""
    _, run = made
    assert mean_of(made) == 0.5
    content = bytearray(run.index.read_bytes())
    content[len(content) // 2] ^= 1
    run.index.write_bytes(content)

    assert not is_fresh(run)
    assert mean_of(made) == 0.5
    assert is_fresh(run)


def test_runs_beside_each_other_have_sessions_of_their_own(made: Made, tmp_path: Path, started: list[str]) -> None:
    """Two are kept; of three, those that were used last."""
    others = [make_run(tmp_path / name, lines_of(*numbers)) for name, numbers in (("b", (1, 3)), ("c", (2, 4)))]
    for other in others:
        ensure_indexed(*other)

    assert [mean_of(run) for run in (made, others[0], made, others[0])] == [0.5, 1.0, 0.5, 1.0]
    before = len(started)
    assert [mean_of(run) for run in (others[1], others[0])] == [0.0, 1.0]
    assert len(started) - before <= 1
    assert mean_of(made) == 0.5


def test_two_read_the_same_index_at_once(made: Made, started: list[str]) -> None:
    """Each in a session of its own, of which one is kept."""
    with reading(*made) as first, reading(*made) as second:
        first.execute("CREATE TEMP TABLE units AS SELECT 1")
        with pytest.raises(duckdb.CatalogException):
            second.execute("FROM units")

    assert mean_of(made) == 0.5
    assert len(started) == 2
    assert sum(map(len, readers._kept.values())) == 1


def test_a_large_index_is_closed(made: Made, started: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """It would fill memory that others need."""
    monkeypatch.setattr(readers, "_LARGEST_KEPT_BYTES", 1)

    assert [mean_of(made) for _ in range(2)] == [0.5] * 2
    assert len(started) == 2


def test_a_session_in_which_something_failed_is_closed(made: Made, started: list[str]) -> None:
    """Nobody knows what it would answer next."""
    with pytest.raises(StorageError), reading(*made) as connection:
        connection.execute("FROM nowhere")

    assert mean_of(made) == 0.5
    assert len(started) == 2

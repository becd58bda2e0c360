"""A DuckDB is kept for the next file; whoever gets it finds nothing of what was there before."""

import os
from pathlib import Path

import duckdb
import pytest

from mixseek.storage import duckdb_session
from mixseek.storage.duckdb_session import attaching, close_idle, reading_beside, release_memory, session_settings


def test_one_is_used_again_and_knows_nothing_of_before(tmp_path: Path) -> None:
    """Of files, of tables without a file, of temporary ones, and of memory that a query was given."""
    close_idle()
    settings = session_settings(tmp_path / "spilled")
    with attaching(tmp_path / "it's one.duckdb", config=settings) as connection:
        connection.execute("CREATE TABLE here AS SELECT 1 AS value; CREATE TEMP TABLE passing AS SELECT 2")
        connection.execute("SET memory_limit = '77MiB'")
    with attaching(None, config=settings) as connection:
        connection.execute(f"ATTACH '{tmp_path}/other.duckdb' AS other; CREATE TABLE loose AS SELECT 3")
        assert connection.execute("SHOW ALL TABLES").fetchall()[0][:3] == ("attached", "main", "loose")
    with attaching(tmp_path / "it's one.duckdb", read_only=True, config=settings) as connection:
        assert [row[2] for row in connection.execute("SHOW ALL TABLES").fetchall()] == ["here"]
        assert connection.execute("SELECT current_setting('memory_limit')").fetchall() != [("77.0 MiB",)]
        with reading_beside(connection) as cursor:
            cursor.execute("FROM here")
            assert connection.execute("FROM range(3)").fetchall() == [(0,), (1,), (2,)]
            assert cursor.fetchall() == [(1,)]
        with pytest.raises(duckdb.InvalidInputException, match="read-only"):
            connection.execute("DROP TABLE here")
    assert sum(map(len, duckdb_session._idle.values())) == 1


def test_a_small_file_is_read_by_one_thread_and_a_large_one_by_all(tmp_path: Path) -> None:
    """To wake threads that have nothing to do takes longer than to read it; one large file is enough for all."""
    small, large = tmp_path / "small", tmp_path / "large"
    small.write_bytes(b"x")
    with large.open("wb") as file:
        file.truncate(32 << 20)
    every = min(len(os.sched_getaffinity(0)), 8)

    assert session_settings(tmp_path, small, small)["threads"] == 1
    assert session_settings(tmp_path, small, large)["threads"] == session_settings(tmp_path)["threads"] == every


def test_one_that_spilled_or_failed_is_used_no_more(tmp_path: Path) -> None:
    """The place that it spilled to is gone; after an error nobody knows what else is."""
    close_idle()
    settings = {**session_settings(tmp_path / "spilled"), "memory_limit": "20MiB"}
    with attaching(None, config=settings) as connection:
        connection.execute("CREATE TABLE large AS SELECT range AS n, hash(range) AS h FROM range(3_000_000)")
    assert not any(duckdb_session._idle.values())
    with pytest.raises(duckdb.CatalogException), attaching(None, config=settings) as connection:
        connection.execute("FROM nowhere")
    assert not any(duckdb_session._idle.values())


def held_kilobytes(connection: duckdb.DuckDBPyConnection) -> int:
    query = "SELECT coalesce(sum(memory_usage_bytes), 0) >> 10 FROM duckdb_memory() WHERE tag = 'BASE_TABLE'"
    ((held,),) = connection.execute(query).fetchall()
    return int(held)


def test_what_can_be_read_again_is_given_back_and_the_limit_stays(tmp_path: Path) -> None:
    with duckdb.connect(tmp_path / "table.duckdb") as connection:
        connection.execute("CREATE TABLE numbers AS SELECT hash(range) AS number FROM range(500_000)")
    settings = session_settings(tmp_path / "spilled")
    with attaching(tmp_path / "table.duckdb", read_only=True, config=settings) as connection:
        total = connection.execute("SELECT sum(number) FROM numbers").fetchall()
        before, limit = held_kilobytes(connection), connection.execute("SELECT current_setting('memory_limit')")
        limits = limit.fetchall()
        release_memory(connection)
        assert before > 2_000 > held_kilobytes(connection)
        assert connection.execute("SELECT current_setting('memory_limit')").fetchall() == limits
        assert connection.execute("SELECT sum(number) FROM numbers").fetchall() == total

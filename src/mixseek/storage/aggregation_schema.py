"""Tables of the competitions' store, grown by numbered migrations: what is in a file of a user is never thrown away."""

from collections.abc import Sequence
from pathlib import Path

import duckdb

from mixseek.errors import StorageError

# Applied in order, each once; never edit one that has been released, append the next. Times are UTC, without a zone
# in the column: DuckDB needs an extension to hand out times with one.
MIGRATIONS: tuple[str, ...] = (
    """
CREATE TABLE executions (
    execution_id VARCHAR PRIMARY KEY, task VARCHAR NOT NULL, configuration JSON NOT NULL, status VARCHAR NOT NULL,
    started_at TIMESTAMP NOT NULL, ended_at TIMESTAMP
);
CREATE TABLE leader_board (
    execution_id VARCHAR NOT NULL, team_id VARCHAR NOT NULL, team_name VARCHAR NOT NULL,
    round_number INTEGER NOT NULL CHECK (round_number >= 1),
    submission VARCHAR NOT NULL, usage JSON NOT NULL, submitted_at TIMESTAMP NOT NULL,
    score DOUBLE CHECK (score IS NULL OR (isfinite(score) AND score BETWEEN 0 AND 100)),
    details JSON, evaluated_at TIMESTAMP,
    CHECK (score IS NULL OR evaluated_at IS NOT NULL),
    UNIQUE (execution_id, team_id, round_number)
);
CREATE TABLE round_status (
    execution_id VARCHAR NOT NULL, team_id VARCHAR NOT NULL, round_number INTEGER NOT NULL,
    should_continue BOOLEAN, reasoning VARCHAR,
    confidence_score DOUBLE CHECK (confidence_score IS NULL OR confidence_score BETWEEN 0 AND 1),
    no_opinion_reason VARCHAR,
    continues BOOLEAN NOT NULL, stop_reason VARCHAR, decided_by VARCHAR NOT NULL, decided_at TIMESTAMP NOT NULL,
    CHECK (continues = (stop_reason IS NULL)),
    UNIQUE (execution_id, team_id, round_number)
);
CREATE TABLE team_endings (
    execution_id VARCHAR NOT NULL, team_id VARCHAR NOT NULL, team_name VARCHAR, stop_reason VARCHAR NOT NULL,
    message VARCHAR NOT NULL, finished_at TIMESTAMP NOT NULL,
    UNIQUE (execution_id, team_id)
);
""",
)


def read_version(connection: duckdb.DuckDBPyConnection) -> int:
    """How many migrations the file has seen; 0 for an empty one."""
    try:
        row = connection.execute("SELECT max(version) FROM schema_version").fetchone()
    except duckdb.CatalogException:
        return 0
    return int(row[0]) if row and row[0] is not None else 0


def migrate(connection: duckdb.DuckDBPyConnection, path: Path, migrations: Sequence[str] = MIGRATIONS) -> None:
    """Bring the file to this version, one transaction each; raises StorageError for a file of a later one."""
    version = read_version(connection)
    refuse_later(version, path, len(migrations))
    for number, statements in enumerate(migrations[version:], version + 1):
        connection.begin()
        connection.execute("CREATE TABLE IF NOT EXISTS schema_version (version INTEGER PRIMARY KEY)")
        connection.execute(statements)
        connection.execute("INSERT INTO schema_version VALUES ($number)", {"number": number})
        connection.commit()


def refuse_later(version: int, path: Path, known: int = len(MIGRATIONS)) -> None:
    """What a later version writes is not for this one to interpret."""
    if version > known:
        raise StorageError(
            f"{path}: written by a later mixseek (schema {version}, this one knows {known}); update mixseek"
        )

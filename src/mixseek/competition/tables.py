"""Tables of the competitions' store, grown by numbered migrations: what is in a file of a user is never thrown away."""

from collections.abc import Sequence
from pathlib import Path

import duckdb

from mixseek.errors import StorageError
from mixseek.storage.duckdb_session import read_sql

# Applied in order, each once; never edit one that has been released, append the next.
MIGRATIONS = (read_sql("mixseek.storage", "competition_migration_1.sql"),)


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

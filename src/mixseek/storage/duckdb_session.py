"""What every use of DuckDB here has in common."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import duckdb

Settings = dict[str, str | bool | int | float | list[str]]
# Where the usual limit does not do: no command fails for memory that the machine has.
MOST_OF_THE_MEMORY = "80%"
_WORDS_OF_MEMORY = ("out of memory", "failed to pin", "failed to allocate", "could not allocate")


def offline_settings() -> Settings:
    """Extensions are never looked for on the network."""
    return {"autoinstall_known_extensions": False, "autoload_known_extensions": False}


def escape_glob(path: Path) -> str:
    """DuckDB reads `*`, `?` and `[` in a path as a pattern; a file may be called that."""
    return "".join(f"[{character}]" if character in "*?[" else character for character in str(path))


def first_line(error: duckdb.Error) -> str:
    """The sentence that says what happened, without the hints below it."""
    return str(error).partition("\n")[0].strip().rstrip(".")


def fetch_all(
    connection: duckdb.DuckDBPyConnection, query: str, parameters: Mapping[str, Any]
) -> list[tuple[Any, ...]]:
    """All rows of the answer; where the usual memory does not do, with most of the machine's."""
    try:
        return connection.execute(query, parameters).fetchall()
    except duckdb.Error as error:
        if not is_short_of_memory(error):
            raise
    # DuckDB reads two thousand rows at once, and these hold texts as long as books.
    allow_memory(connection, MOST_OF_THE_MEMORY)
    return connection.execute(query, parameters).fetchall()


def allow_memory(connection: duckdb.DuckDBPyConnection, limit: str) -> None:
    """From now on, the commit included; a limit as DuckDB writes it, "64MB" or a share of the machine."""
    connection.execute(f"SET memory_limit = '{limit}'")


def is_short_of_memory(error: duckdb.Error) -> bool:
    """A commit that fails for it says so in its words only."""
    return isinstance(error, duckdb.OutOfMemoryException) or any(
        words in str(error).lower() for words in _WORDS_OF_MEMORY
    )

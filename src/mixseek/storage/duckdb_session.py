"""What every use of DuckDB here has in common."""

from pathlib import Path

import duckdb

Settings = dict[str, str | bool | int | float | list[str]]


def offline_settings() -> Settings:
    """Extensions are never looked for on the network."""
    return {"autoinstall_known_extensions": False, "autoload_known_extensions": False}


def escape_glob(path: Path) -> str:
    """DuckDB reads `*`, `?` and `[` in a path as a pattern; a file may be called that."""
    return "".join(f"[{character}]" if character in "*?[" else character for character in str(path))


def first_line(error: duckdb.Error) -> str:
    """The sentence that says what happened, without the hints below it."""
    return str(error).partition("\n")[0].strip().rstrip(".")

"""What a run's calls cost, by month and judge: read from its journal, which alone says when a reply came."""

from decimal import Decimal
from pathlib import Path
from typing import NamedTuple

from mixseek.index.loading import object_bytes
from mixseek.storage.duckdb_session import (
    Settings,
    escape_glob,
    fetch_all,
    open_duckdb,
    read_statements,
    run_in_scratch,
)
from mixseek.storage.workspace import RunDirectory

_SQL = read_statements("mixseek.index", "spending.sql")


class Spending(NamedTuple):
    """Calls of one judge in one month, as 2026-11; sums are over what is known."""

    month: str | None
    judge: str
    calls: int
    unpriced: int
    cost_usd: Decimal
    saved_by_cache_usd: Decimal
    saved_by_batch_usd: Decimal


def read_spending(run: RunDirectory, scratch: Path) -> list[Spending]:
    """A month that is not known is that of requests whose reply never came; empty where nobody was asked."""
    if not run.journal.is_file() or not run.journal.stat().st_size:
        return []

    with run.journal.open("rb") as stream:
        longest = max(map(len, stream))

    def work(_: Path, config: Settings) -> list[Spending]:
        with open_duckdb(config=config) as connection:
            parameters = {"journal": escape_glob(run.journal), "object_bytes": object_bytes(longest)}
            return [Spending(*row) for row in fetch_all(connection, _SQL["spending"], parameters)]

    return run_in_scratch(scratch, run.journal, work)

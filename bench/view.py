"""The viewer over a run of a million judgments: what each page takes at the server. `python -m bench.view [COUNT]`."""

import asyncio
import json
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from aiohttp import ClientSession

from bench.responses import synthetic_rows
from mixseek.cli.main import main as mixseek
from mixseek.web.security import Access
from mixseek.web.server import ViewServer, running_view

_PAGES = (
    ("runs and competitions", "/"),
    ("a run, counted", "/runs/bench"),
    ("first page of judgments", "/api/runs/bench/judgments"),
    ("page in the middle", "/api/runs/bench/judgments?offset=500000"),
    ("filter by verdict", "/api/runs/bench/judgments?verdict=incorrect"),
    ("three filters", "/api/runs/bench/judgments?verdict=incorrect&target=cedar&task=task-3"),
    ("filter by rule", "/api/runs/bench/judgments?rule=answer_cue&offset=20000"),
    ("lowest score first", "/api/runs/bench/judgments?sort=lowest&offset=100000"),
    ("metadata", "/api/runs/bench/judgments?meta=split=test"),
    ("search, rare", "/api/runs/bench/judgments?q=brown+ball+fay+gus"),
    ("search, in every text", "/api/runs/bench/judgments?q=answer"),
    ("search, nowhere", "/api/runs/bench/judgments?q=oolong"),
    ("search and filter", "/api/runs/bench/judgments?q=swap&verdict=incorrect&target=kiri"),
    ("what can be filtered by", "/api/runs/bench/choices"),
    ("judgment by its name", "/api/runs/bench/judgments?id=row-777777"),
    ("one sample", "/runs/bench/sample?id=row-777777"),
)
_TIMES = 5


def main(arguments: Sequence[str]) -> None:
    """Print the first answer, how long until it is whole, and the slowest of some later ones."""
    count = int(arguments[0]) if arguments else 1_000_000
    with tempfile.TemporaryDirectory(prefix="mixseek-bench-") as directory:
        root = Path(arguments[1]) if len(arguments) > 1 else make_workspace(Path(directory), count)
        asyncio.run(measure(root))


def make_workspace(directory: Path, count: int) -> Path:
    """One run by the rules, with targets, tasks and metadata to filter by."""
    data = directory / "bench.jsonl"
    with data.open("w", encoding="utf-8") as out:
        for number, row in enumerate(synthetic_rows(count)):
            target, task = ("aster", "cedar", "kiri")[number % 3], f"task-{number % 7}"
            metadata = {"split": ("dev", "test")[number % 2]}
            out.write(json.dumps({**row, "target_model": target, "task_name": task, "metadata": metadata}) + "\n")
    root = directory / "workspace"
    began = time.perf_counter()
    mixseek(["judge", str(data), "--judge", "rules", "--workspace", str(root), "--run", "bench", "-q"])
    print(f"{count:,} judgments made in {time.perf_counter() - began:.0f} s")
    return root


async def measure(root: Path) -> None:
    """One reader; every request is alone."""
    async with running_view(root, Access()) as server, ClientSession() as session:
        print(f"{'page':28}{'first':>9}{'whole after':>13}{'later, slowest':>16}")
        for name, path in _PAGES:
            began = time.perf_counter()
            first, is_whole = await ask(server, session, path)
            slowest_part = first
            while not is_whole:
                took, is_whole = await ask(server, session, path)
                slowest_part = max(slowest_part, took)
            whole = time.perf_counter() - began
            later = max([(await ask(server, session, path))[0] for _ in range(_TIMES)])
            print(f"{name:28}{slowest_part * 1000:>6.0f} ms{whole * 1000:>10.0f} ms{later * 1000:>13.0f} ms")


async def ask(server: ViewServer, session: ClientSession, path: str) -> tuple[float, bool]:
    """Seconds, and whether nothing was left for another request."""
    headers = {"Authorization": f"Bearer {server.access.secret}"}
    began = time.perf_counter()
    async with session.get(f"{server.address}{path}", headers=headers) as answer:
        body = await answer.read()
    took = time.perf_counter() - began
    if answer.status == 202 or b"data-pending" in body:
        return took, False
    answer.raise_for_status()
    search = json.loads(body).get("search") if path.startswith("/api/") else None
    return took, search is None or search["searched"] >= search["samples"]


if __name__ == "__main__":
    main(sys.argv[1:])

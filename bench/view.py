"""The viewer over a run of a million judgments: what each page takes at the server.

`python -m bench.view [COUNT]`, or `python -m bench.view - WORKSPACE RUN` over a run that is there."""

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
    ("a run, counted", "/runs/{run}"),
    ("first page of judgments", "/api/runs/{run}/judgments"),
    ("page in the middle", "/api/runs/{run}/judgments?offset=500000"),
    ("filter by verdict", "/api/runs/{run}/judgments?verdict=incorrect"),
    ("three filters", "/api/runs/{run}/judgments?verdict=incorrect&target=cedar&task=task-3"),
    ("filter by rule", "/api/runs/{run}/judgments?rule=answer_cue&offset=20000"),
    ("lowest score first", "/api/runs/{run}/judgments?sort=lowest&offset=100000"),
    ("metadata", "/api/runs/{run}/judgments?meta=split=test"),
    ("search, rare", "/api/runs/{run}/judgments?q=brown+ball+fay+gus"),
    ("search, in every text", "/api/runs/{run}/judgments?q=answer"),
    ("search, nowhere", "/api/runs/{run}/judgments?q=oolong"),
    ("search and filter", "/api/runs/{run}/judgments?q=swap&verdict=incorrect&target=kiri"),
    ("what can be filtered by", "/api/runs/{run}/choices"),
    ("judgment by its name", "/api/runs/{run}/judgments?id=row-777777"),
    ("one sample", "/runs/{run}/sample?id=row-777777"),
)
_TIMES = 5


def main(arguments: Sequence[str]) -> None:
    """Print the first answer, how long until it is whole, and the slowest of some later ones."""
    count = int(arguments[0]) if arguments[:1] and arguments[0] != "-" else 1_000_000
    with tempfile.TemporaryDirectory(prefix="mixseek-bench-") as directory:
        root, run = arguments[1:3] if len(arguments) > 2 else (make_workspace(Path(directory), count), "bench")
        asyncio.run(measure(Path(root), run))


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


async def measure(root: Path, run: str) -> None:
    """One reader; every request is alone."""
    async with running_view(root, Access()) as server, ClientSession() as session:
        print(f"{'page':28}{'slowest part':>17}{'whole after':>17}{'again, slowest':>17}{'again, CPU':>17}")
        for name, template in _PAGES:
            path = template.format(run=run)
            began = time.perf_counter()
            first, is_whole = await ask(server, session, path)
            slowest_part = first
            while not is_whole:
                await asyncio.sleep(0.25)
                took, is_whole = await ask(server, session, path)
                slowest_part = max(slowest_part, took)
            whole = time.perf_counter() - began
            cpu = time.process_time()
            later = max([(await ask(server, session, path))[0] for _ in range(_TIMES)])
            cpu = (time.process_time() - cpu) / _TIMES
            told = (slowest_part, whole, later, cpu)
            print(f"{name:28}" + "".join(f"{seconds * 1000:>14.0f} ms" for seconds in told), flush=True)


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

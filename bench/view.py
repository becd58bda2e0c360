"""The viewer over a run of a million judgments: what each page takes at the server; and beside a run as it is judged.

`python -m bench.view [COUNT]`, `python -m bench.view - WORKSPACE RUN` over a run that is there,
`python -m bench.view live [SECONDS]` for the second part alone."""

import asyncio
import itertools
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from aiohttp import ClientSession
from yarl import URL

from bench.live import LATENCY_SECONDS, MIXSEEK, asking_command, mock_judge, write_dataset
from bench.responses import synthetic_rows
from mixseek.cli.main import main as mixseek
from mixseek.storage.journal.manifest import read_manifest
from mixseek.storage.workspace import Workspace
from mixseek.web.security import Access
from mixseek.web.server import ViewServer, running_view

_PAGES = (
    ("runs and competitions", "/"),
    ("a run, counted", "/runs/{run}"),
    ("first page of judgments", "/api/runs/{run}/judgments"),
    ("page in the middle", "/api/runs/{run}/judgments?offset={middle}"),
    ("filter by verdict", "/api/runs/{run}/judgments?verdict=incorrect"),
    ("three filters", "/api/runs/{run}/judgments?verdict=incorrect&target=cedar&task=task-3"),
    ("filter by rule", "/api/runs/{run}/judgments?rule=answer_cue&offset={early}"),
    ("lowest score first", "/api/runs/{run}/judgments?sort=lowest&offset={middle}"),
    ("metadata", "/api/runs/{run}/judgments?meta=split=test"),
    ("search, rare", "/api/runs/{run}/judgments?q=brown+ball+fay+gus"),
    ("search, in every text", "/api/runs/{run}/judgments?q=answer"),
    ("search, nowhere", "/api/runs/{run}/judgments?q=oolong"),
    ("search and filter", "/api/runs/{run}/judgments?q=swap&verdict=incorrect&target=kiri"),
    ("what can be filtered by", "/api/runs/{run}/choices"),
    ("judgment by its name", "/api/runs/{run}/judgments?id=row-{late}"),
    ("matrix", "/api/runs/{run}/matrix?across=target&offset={early}"),
    ("matrix, what differs most", "/api/runs/{run}/matrix?across=target&filter=differ&sort=disagreement"),
    ("one sample", "/runs/{run}/sample?id=row-{late}"),
)
_TIMES = 5


def main(arguments: Sequence[str]) -> None:
    """Print the first answer, how long until it is whole, and the slowest of later ones; then a run as it grows."""
    if arguments[:1] == ["live"]:
        measure_live(int(arguments[1]) if len(arguments) > 1 else 40)
        return
    count = int(arguments[0]) if arguments[:1] and arguments[0] != "-" else 1_000_000
    with tempfile.TemporaryDirectory(prefix="mixseek-bench-") as directory:
        root, run = arguments[1:3] if len(arguments) > 2 else (make_workspace(Path(directory), count), "bench")
        asyncio.run(measure(Path(root), run))
    measure_live(15)


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
    count = read_manifest(Workspace(root).run(run).manifest).sample_count
    places = {"run": run, "early": count // 50, "middle": count // 2, "late": count * 7 // 9}
    async with running_view(root, Access()) as server, ClientSession() as session:
        print(
            f"{'page':28}{'slowest part':>17}{'whole after':>17}{'again, slowest':>17}{'again, CPU':>17}{'stolen':>10}"
        )
        for name, template in _PAGES:
            path = template.format(**places)
            began, before = time.perf_counter(), machine_time()
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
            told = "".join(f"{seconds * 1000:>14.0f} ms" for seconds in (slowest_part, whole, later, cpu))
            stolen, passed = (now - then for now, then in zip(machine_time(), before, strict=True))
            print(f"{name:28}{told}{stolen / max(passed, 1):>10.0%}", flush=True)


def machine_time() -> tuple[int, int]:
    """What neighbours took from this virtual machine while we wanted to run, and all that passed."""
    counted = [int(word) for word in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]]
    return counted[7], sum(counted)


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


# A run as it is judged: so many a second, in processes of their own, before a page that stays open.
_RATE = 100


def measure_live(seconds: int) -> None:
    """From a judgment's line in the journal to the event that counts it; what that takes of a core, and of memory."""
    with tempfile.TemporaryDirectory(prefix="mixseek-bench-") as directory, mock_judge(LATENCY_SECONDS) as base_url:
        place = Path(directory)
        # The page is opened in the first seconds; judging goes on until all is measured.
        data = write_dataset(place / "rows.jsonl", 2 * _RATE * (seconds + 30))
        # Some more at once than the think time asks for: an answer takes longer than that on a busy machine.
        command = asking_command(place, data, base_url, "live", concurrency=int(1.3 * _RATE * LATENCY_SECONDS))
        told = {**os.environ, "OPENAI_API_KEY": "bench"}
        viewing = [MIXSEEK, "view", "--no-open", "--workspace", str(place / "ws")]
        with (
            subprocess.Popen(viewing, stdout=subprocess.PIPE, text=True) as server,
            subprocess.Popen(command, stdout=subprocess.DEVNULL, env=told) as judging,
        ):
            try:
                assert server.stdout is not None
                link = URL(server.stdout.readline().split()[-1])
                asyncio.run(watch(link, place / "ws" / "runs" / "live" / "journal.jsonl", server.pid, seconds))
            finally:
                judging.kill()
                server.terminate()


async def watch(link: URL, journal: Path, server: int, seconds: int) -> None:
    """One reader with the page open: its numbers and its list first, then events only."""
    async with ClientSession(headers={"Authorization": f"Bearer {link.query['key']}"}) as session:
        while not journal.is_file() or not journal.stat().st_size:
            await asyncio.sleep(0.1)
        for path in ("/runs/live", "/api/runs/live", "/api/runs/live/judgments", "/api/runs/live/choices"):
            while (await session.get(link.join(URL(path)))).status == 202:
                await asyncio.sleep(0.3)
        written: list[float] = []
        noting = asyncio.create_task(note_judgments(journal, written))
        began, cpu, megabytes = time.perf_counter(), used_cpu_seconds(server), resident_megabytes(server)
        seen: list[tuple[float, int]] = []
        async with session.get(link.join(URL("/api/runs/live/live"))) as events:
            async for line in events.content:
                if line.startswith(b"data: "):
                    seen.append((time.perf_counter(), json.loads(line[6:])["judged"]))
                if time.perf_counter() - began > seconds:
                    break
        noting.cancel()
        took = time.perf_counter() - began
        share = (used_cpu_seconds(server) - cpu) / took
    tell_live(seen, written, share, (megabytes, resident_megabytes(server)))


async def note_judgments(journal: Path, written: list[float]) -> None:
    """When each judgment was seen in the journal, to a twentieth of a second."""
    with journal.open("rb") as lines:
        while True:
            # What is half written when we look is no line of an outcome yet, or is counted with its beginning.
            found = sum(line.startswith(b'{"t":"outcome"') for line in lines.readlines())
            written += [time.perf_counter()] * found
            await asyncio.sleep(0.05)


def tell_live(
    seen: list[tuple[float, int]], written: list[float], share: float, megabytes: tuple[float, float]
) -> None:
    """The longest that a judgment stood in the journal before an event counted it."""
    (first, before), (last, after) = seen[0], seen[-1]
    lags = [
        at - written[earlier]
        for (_, earlier), (at, judged) in itertools.pairwise(seen)
        if earlier < min(judged, len(written))
    ]
    rate, seconds = (after - before) / (last - first), last - first
    print(
        f"live: {rate:.0f} judgments a second for {seconds:.0f} s, shown after at most {max(lags):.1f} s (aim: 2); "
        f"{share:.1%} of a core at the server (aim: under 5); memory {megabytes[0]:.0f} MB, then {megabytes[1]:.0f} MB"
    )


def used_cpu_seconds(process: int) -> float:
    """Of all its threads, as Linux counts."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident_megabytes(process: int) -> float:
    return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


if __name__ == "__main__":
    main(sys.argv[1:])

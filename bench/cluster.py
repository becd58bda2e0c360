"""`python -m bench.cluster [ROWS]`: the same rules on Ray and here, in CPU of all processes, those of Ray included."""

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bench.responses import synthetic_rows

_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_GLANCE_SECONDS = 0.1
# As few as let every worker begin: what a run of them costs is start-up.
_FEW_ROWS = 512
_MANY_SHARDS = 128
# Whoever else uses the cores makes CPU dearer, never cheaper: in turns, and the least of each counts.
_TURNS = 2
_RAY = ("--on", "ray")


@dataclass
class Cost:
    """Of one command with everything that it started, as last seen of each process."""

    seconds: float = 0.0
    cpu: dict[int, float] = field(default_factory=dict)
    # Of those that judged on Ray: what is theirs alone.
    worker_bytes: dict[int, int] = field(default_factory=dict)
    command: int = 0

    @property
    def cpu_seconds(self) -> float:
        return sum(self.cpu.values())

    @property
    def judging_seconds(self) -> float:
        """Without the processes of Ray itself, and the desk."""
        return sum(self.cpu[pid] for pid in (self.command, *self.worker_bytes))


def main(arguments: Sequence[str]) -> None:
    """Print what Ray costs beside the judging."""
    count = int(arguments[0]) if arguments else 30_000
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        for rows, file in ((_FEW_ROWS, "few.jsonl"), (_FEW_ROWS + count, "all.jsonl")):
            with (directory / file).open("w", encoding="utf-8") as stream:
                for number, row in enumerate(synthetic_rows(rows)):
                    stream.write(json.dumps({**row, "id": str(number)}) + "\n")
        for workers in (1, 2):
            _measure(directory, count, workers)


def _measure(directory: Path, count: int, workers: int) -> None:
    """Rows beyond the first few, by the CPU beyond theirs: start-up is shown apart."""
    begun_here, begun = _cheapest(directory, "few.jsonl", workers)
    here, there = _cheapest(directory, "all.jsonl", workers)
    rate = count / (here.cpu_seconds - begun_here.cpu_seconds)
    whole = count / (there.cpu_seconds - begun.cpu_seconds)
    alone = count / (there.judging_seconds - begun.judging_seconds)
    print(f"ray, {workers} worker(s): {whole:,.0f} rows per CPU-second, {rate:,.0f} without Ray: {whole / rate:.0%}")
    print(f"  {alone / rate:.0%} by command and workers alone; {there.seconds:.0f} s against {here.seconds:.0f} s")
    more = begun.seconds - begun_here.seconds, begun.cpu_seconds - begun_here.cpu_seconds
    print(f"  a cluster of its own, begun and ended: {more[0]:.0f} s more, {more[1]:.0f} s of CPU")
    print(f"  memory of a worker: {max(there.worker_bytes.values(), default=0) / 1e6:.0f} MB of its own")
    if workers == 1:
        many = _judge(directory, "few.jsonl", workers, *_RAY, "--shards", str(_MANY_SHARDS))
        # The few are four shards or more, and fewer than a tenth of these.
        print(f"  a shard: {(many.cpu_seconds - begun.cpu_seconds) / _MANY_SHARDS * 1_000:.0f} ms of CPU")


def _cheapest(directory: Path, data: str, workers: int) -> tuple[Cost, Cost]:
    """Here, and on Ray."""
    turns = [[_judge(directory, data, workers, *on) for on in ((), _RAY)] for _ in range(_TURNS)]
    here, there = (min(costs, key=lambda cost: cost.cpu_seconds) for costs in zip(*turns, strict=True))
    return here, there


def _judge(directory: Path, data: str, workers: int, *options: str) -> Cost:
    """One whole run, watched."""
    cost, started = Cost(), time.perf_counter()
    with tempfile.TemporaryDirectory(dir=directory) as workspace:
        command = [str(Path(sys.executable).parent / "mixseek"), "judge", data, "--workspace", workspace, "--quiet"]
        process = subprocess.Popen(
            [*command, "--workers", str(workers), *options], cwd=directory, stdout=subprocess.DEVNULL
        )
        cost.command = process.pid
        while process.poll() is None:
            _look(process.pid, cost)
            time.sleep(_GLANCE_SECONDS)
        cost.seconds = time.perf_counter() - started
        if process.returncode != 0:
            raise SystemExit(f"the command failed with {process.returncode}: {process.args!r}")
    return cost


def _look(root: int, cost: Cost) -> None:
    stats = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                stats[int(entry.name)] = (entry / "stat").read_text().rpartition(")")[2].split()
    parents = {pid: int(stat[1]) for pid, stat in stats.items()}
    # Whoever was ours stays so: Ray's processes may outlive the one that started them.
    ours = {root, *cost.cpu}
    while more := {pid for pid, parent in parents.items() if parent in ours} - ours:
        ours |= more
    for pid in ours & stats.keys():
        cost.cpu[pid] = (int(stats[pid][11]) + int(stats[pid][12])) / _TICKS
        with contextlib.suppress(OSError):
            if (Path("/proc") / str(pid) / "cmdline").read_bytes().startswith(b"ray::judge_shard"):
                size, shared = (Path("/proc") / str(pid) / "statm").read_text().split()[1:3]
                own = (int(size) - int(shared)) * _PAGE_BYTES
                cost.worker_bytes[pid] = max(own, cost.worker_bytes.get(pid, 0))


if __name__ == "__main__":
    main(sys.argv[1:])

"""`python -m bench.cluster [ROWS]`: the same rules on Ray and here, in CPU of all processes, those of Ray included."""

import contextlib
import importlib.util
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


@dataclass
class Cost:
    """Of one command with everything that it started, as last seen of each process."""

    seconds: float = 0.0
    cpu: dict[int, float] = field(default_factory=dict)
    # Of those that judged: what is theirs alone.
    worker_bytes: dict[int, int] = field(default_factory=dict)

    @property
    def cpu_seconds(self) -> float:
        return sum(self.cpu.values())


def main(arguments: Sequence[str]) -> None:
    """Print what Ray costs beside the judging."""
    if importlib.util.find_spec("ray") is None:
        print("ray: not installed (extra `ray`): no figures")
        return
    count = int(arguments[0]) if arguments else 20_000
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        for rows, file in ((1, "one.jsonl"), (count, "all.jsonl")):
            with (directory / file).open("w", encoding="utf-8") as stream:
                for number, row in enumerate(synthetic_rows(rows)):
                    stream.write(json.dumps({**row, "id": str(number)}) + "\n")
        _measure(directory, count)


def _measure(directory: Path, count: int) -> None:
    begun = {on: _judge(directory, "one.jsonl", 1, *on) for on in ((), ("--on", "ray"))}
    wait = begun["--on", "ray"].seconds - begun[()].seconds
    print(f"ray: a cluster on this machine is up and gone again in {wait:.1f} s more than a command takes")
    rates: dict[tuple[str, ...], float] = {}
    for workers in (1, 2):
        for on in ((), ("--on", "ray")):
            cost = _judge(directory, "all.jsonl", workers, *on)
            rates[on] = count / (cost.cpu_seconds - begun[on].cpu_seconds)
            where = "on Ray" if on else "here"
            print(f"  {workers} worker(s) {where}: {rates[on]:,.0f} rows per CPU-second, {cost.seconds:.1f} s")
            if on:
                most = max(cost.worker_bytes.values(), default=0) / 1e6
                print(f"    {rates[on] / rates[()]:.0%} of the same without Ray; {most:.0f} MB a worker")
    few, many = (_judge(directory, "all.jsonl", 1, "--on", "ray", "--shards", str(shards)) for shards in (4, 104))
    print(f"  a shard costs {(many.cpu_seconds - few.cpu_seconds) / 100 * 1_000:.0f} ms of CPU")


def _judge(directory: Path, data: str, workers: int, *options: str) -> Cost:
    """One whole run, watched."""
    cost, started = Cost(), time.perf_counter()
    with tempfile.TemporaryDirectory(dir=directory) as workspace:
        command = [str(Path(sys.executable).parent / "mixseek"), "judge", data, "--workspace", workspace, "--quiet"]
        process = subprocess.Popen(
            [*command, "--workers", str(workers), *options], cwd=directory, stdout=subprocess.DEVNULL
        )
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
    ours = {root}
    # Parents have lower numbers than their children, but for the rare moment at which numbers begin anew.
    for pid in sorted(stats):
        if int(stats[pid][1]) in ours:
            ours.add(pid)
    for pid in ours & stats.keys():
        cost.cpu[pid] = (int(stats[pid][11]) + int(stats[pid][12])) / _TICKS
        with contextlib.suppress(OSError):
            if (Path("/proc") / str(pid) / "cmdline").read_bytes().startswith(b"ray::judge_shard"):
                size, shared = (Path("/proc") / str(pid) / "statm").read_text().split()[1:3]
                own = (int(size) - int(shared)) * _PAGE_BYTES
                cost.worker_bytes[pid] = max(own, cost.worker_bytes.get(pid, 0))


if __name__ == "__main__":
    main(sys.argv[1:])

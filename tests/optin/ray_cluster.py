"""Two nodes of Ray on loopback, of which one can be killed and replaced; and the command that judges on them."""

import contextlib
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tests.flows.live import KEYS
from tests.flows.running import COMMAND, environment

RAY = str(Path(sys.executable).parent / "ray")
START_SECONDS = 180.0
STORE_BYTES = "80000000"


@dataclass
class Node:
    """`ray start --block`, with all that it started."""

    process: subprocess.Popen[bytes]

    def kill(self) -> None:
        """As a power cut would: everything at once, from the top, so that nobody tidies up."""
        for pid in [self.process.pid, *descendants(self.process.pid)]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.wait()


@dataclass
class RayCluster:
    """A head without judging, so that it survives, and nodes that judge."""

    directory: Path
    port: int
    cpus: int
    token: str = field(default_factory=lambda: secrets.token_hex(32))
    nodes: list[Node] = field(default_factory=list)

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def variables(self) -> dict[str, str]:
        """What nodes and commands have in common."""
        return {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": self.token, "RAY_USAGE_STATS_ENABLED": "0"}

    def start(self, *options: str, **extra: str) -> Node:
        """Returns when it is part of the cluster."""
        log = self.directory / f"node-{len(self.nodes)}.log"
        variables = {**environment(), **KEYS, **self.variables, **extra}
        # Ray's own code warns.
        variables.pop("PYTHONWARNINGS")
        with log.open("wb") as stream:
            process = subprocess.Popen(
                [RAY, "start", "--block", f"--object-store-memory={STORE_BYTES}", *options],
                env=variables,
                stdin=subprocess.DEVNULL,
                stdout=stream,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        node = Node(process)
        self.nodes.append(node)
        deadline = time.monotonic() + START_SECONDS
        while b"Ray runtime started" not in log.read_bytes():
            assert process.poll() is None, log.read_text(errors="replace")
            assert time.monotonic() < deadline, log.read_text(errors="replace")
            time.sleep(0.2)
        return node

    def start_head(self) -> Node:
        return self.start(
            "--head", f"--port={self.port}", "--num-cpus=0", "--include-dashboard=false", f"--temp-dir={self.directory}"
        )

    def join(self, **extra: str) -> Node:
        return self.start(f"--address={self.address}", f"--num-cpus={self.cpus}", **extra)

    def begin(self, *arguments: str | Path, cwd: Path) -> subprocess.Popen[str]:
        """The command on this cluster."""
        # A process of its own, not one that is forked from the tests': Ray has threads.
        return subprocess.Popen(
            [COMMAND, *map(str, arguments), "--on", "ray", "--address", self.address],
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            env=environment(**KEYS, **self.variables),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def workers(self) -> list[int]:
        """Processes that judge a shard at this moment."""
        pids = [pid for node in self.nodes if node.process.poll() is None for pid in descendants(node.process.pid)]
        return [pid for pid in pids if title(pid).startswith("ray::judge_shard")]

    def logs_with(self, text: str) -> list[Path]:
        """Whatever Ray wrote down that holds it."""
        files = [path for path in self.directory.rglob("*") if path.is_file() and not path.is_symlink()]
        return [path for path in files if text.encode() in path.read_bytes()]


@contextlib.contextmanager
def ray_cluster(cpus: int = 1, nodes: int = 2) -> Iterator[RayCluster]:
    """Gone with all of its processes when the block ends."""
    # Short: Ray puts sockets into it, whose paths have at most 107 characters.
    directory = Path(tempfile.mkdtemp(prefix="ray-"))
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    cluster = RayCluster(directory, port, cpus)
    try:
        cluster.start_head()
        for _ in range(nodes):
            cluster.join()
        yield cluster
    finally:
        for node in reversed(cluster.nodes):
            node.kill()
        shutil.rmtree(directory, ignore_errors=True)


def descendants(pid: int) -> list[int]:
    """Every process that it started, and those that they started."""
    parents: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
                parents.setdefault(parent, []).append(int(entry.name))
    found = parents.get(pid, [])
    return [*found, *(below for child in found for below in descendants_of(child, parents))]


def descendants_of(pid: int, parents: Mapping[int, list[int]]) -> list[int]:
    found = parents.get(pid, [])
    return [*found, *(below for child in found for below in descendants_of(child, parents))]


def title(pid: int) -> str:
    """What the process calls itself; nothing where it is gone."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace")
    except OSError:
        return ""

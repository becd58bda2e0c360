"""Several processes in one workspace: nobody waits for another, and nobody fails because of one."""

import contextlib
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.conftest import at_most
from tests.flows.running import environment, mixseek_here, sums, write_jsonl

# Stands still in the middle of building an index, with the file that it builds open for writing.
_STALLED = """
import signal, sys
from mixseek.cli.main import main
from mixseek.index import loading

class Stalling:
    def __init__(self, opened):
        self.opened = opened
    def __enter__(self):
        self.opened.__enter__()
        print("indexing", flush=True)
        signal.pause()
    def __exit__(self, *ending): ...

attaching = loading.attaching
def stall(*path, **rest):
    opened = attaching(*path, **rest)
    return opened if rest.get("read_only") else Stalling(opened)

loading.attaching = stall
main(sys.argv[1:])
"""
# The other process stands still for ever: whoever waits for it is named after this.
_AT_MOST_SECONDS = 60.0


@contextlib.contextmanager
def indexing(*words: str, cwd: Path) -> Iterator["subprocess.Popen[str]"]:
    """A command in a process of its own that has begun to index, until the block ends."""
    command = [sys.executable, "-c", _STALLED, *words]
    with subprocess.Popen(command, cwd=cwd, env=environment(), stdout=subprocess.PIPE, text=True) as other:
        try:
            assert other.stdout is not None
            assert other.stdout.readline() == "indexing\n"
            yield other
        finally:
            other.kill()


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A run that has to be indexed anew."""
    write_jsonl(tmp_path / "data.jsonl", sums(40))
    done = mixseek_here("judge", "data.jsonl", "-w", "ws", "--run", "r", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (tmp_path / "ws" / "runs" / "r" / "index.duckdb").unlink()
    return tmp_path


def test_nobody_waits_for_a_process_that_indexes(place: Path) -> None:
    """The same run or another one, judged, reported, exported and listed: all of it, and soon."""
    with indexing("report", "r", "-w", "ws", cwd=place) as other:
        for words in (
            ("judge", "data.jsonl", "-w", "ws", "--run", "r", "--json"),
            ("judge", "data.jsonl", "-w", "ws", "--run", "second", "--json"),
            ("report", "r", "-w", "ws", "--json"),
            ("export", "r", "-w", "ws", "--to", "out.csv"),
            ("runs", "-w", "ws", "--json"),
        ):
            with at_most(_AT_MOST_SECONDS, " ".join(words)):
                done = mixseek_here(*words, cwd=place)
            assert done.returncode == 0, (words, done.stderr)
            if words[0] == "judge":
                assert json.loads(done.stdout)["samples"] == 40
        assert other.poll() is None

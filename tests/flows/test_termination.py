"""SIGTERM at any moment: exit 130, no traceback, and the same command goes on."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.flows.live import wait_until
from tests.flows.running import hold_at, mixseek_here, start_anew, sums, write_jsonl
from tests.flows.warm import Begun, hearing

from mixseek.cli.terminal.stopping import stopping_on_signals, stops_received

# At which write it is held: the number of the moment, and of which file. The first is before there is anything.
MOMENTS = {
    "loading": None,
    "reading": (2, "manifest.json"),
    "judging": (2, "journal.jsonl"),
    "indexing": (1, "index.duckdb"),
    "ending": (1, "totals.json"),
}


def catches_sigterm(pid: int) -> bool:
    """Before that it is the interpreter that starts, and nobody of ours is there yet."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    caught = next(int(line.split()[1], 16) for line in status.splitlines() if line.startswith("SigCgt:"))
    return bool(caught >> (signal.SIGTERM - 1) & 1)


@pytest.mark.parametrize("moment", MOMENTS)
def test_whenever_it_comes_the_exit_code_is_130(moment: str, tmp_path: Path) -> None:
    """While modules are loaded, the dataset is read, judged or indexed, or when all is done."""
    data = write_jsonl(tmp_path / "data.jsonl", sums(600))
    # A process that is loading is a new one; any other may have been forked from one that has loaded.
    words = ("judge", data, "--workspace", "ws", "--run", "r")
    process: Begun | subprocess.Popen[str]
    if held_at := MOMENTS[moment]:
        process = hold_at(*held_at, *words, cwd=tmp_path)
    else:
        process = start_anew(*words, cwd=tmp_path)
        assert wait_until(lambda: catches_sigterm(process.pid), process)
    process.send_signal(signal.SIGTERM)
    process.send_signal(signal.SIGCONT)
    out, err = process.communicate()
    again = mixseek_here(*words, cwd=tmp_path)

    # When all is judged, it may as well say so.
    is_over = moment in ("indexing", "ending") and process.returncode == 0 and "mean score" in out
    assert process.returncode == 130 or is_over, err
    assert "Traceback" not in err
    assert again.returncode == 0, again.stderr


# A class that is being made while modules are loaded: Python calls what is raised in there by another name.
_WHILE_LOADING = """
import signal, sys
from mixseek.cli.main import run

class Part:
    def __set_name__(self, owner, name):
        signal.raise_signal(signal.NAME)

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == "mixseek.cli.app":
            type("Whole", (), {"part": Part()})

sys.meta_path.insert(0, Finder())
sys.argv = ["mixseek", "runs"]
run()
"""


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT", "SIGHUP"])
def test_while_modules_are_loaded_a_signal_ends_it_without_a_word(name: str, tmp_path: Path) -> None:
    code = _WHILE_LOADING.replace("NAME", name)
    with hearing():
        done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)

    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


def test_a_signal_in_a_callback_that_cannot_raise_ends_it_too(tmp_path: Path) -> None:
    """Python prints what a destructor raises and goes on: the stop would be lost, and a traceback shown."""
    code = """
import signal, sys
from mixseek.cli import main

class Dying:
    def __del__(self):
        signal.raise_signal(signal.SIGTERM)

main.main = lambda arguments: (Dying(), 0)[1]
main.run()
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)

    assert (done.returncode, done.stderr) == (130, "")


def test_outside_of_judging_a_signal_ends_it_at_once() -> None:
    """Nobody looks whether to stop while a dataset is surveyed or a journal indexed."""
    with pytest.raises(KeyboardInterrupt), stopping_on_signals(drains=False):
        signal.raise_signal(signal.SIGTERM)
    stops_received.clear()

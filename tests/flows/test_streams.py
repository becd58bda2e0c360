"""Standard output that is closed early, closed from the beginning, or full: no command shows a traceback."""

import os
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.flows.running import COMMAND, environment, mixseek_here, run_with, write_jsonl

# One of each way of printing: help and version by typer, tables by rich, texts, JSON, and what a run ends with.
COMMANDS = (
    ("--help",),
    ("--version",),
    ("judge", "--help"),
    ("report", "r"),
    ("report", "r", "--json"),
    ("show", "r", "sum-1"),
    ("runs",),
    ("stats", "r"),
    ("compare", "r", "s"),
    ("judge", "data.jsonl", "--run", "r"),
    ("judges",),
    ("protocol", "show", "semantic"),
)
FULL = Path("/dev/full")
Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with two runs of many samples: their tables are longer than a pipe's buffer."""
    directory = tmp_path_factory.mktemp("judged")
    rows = [
        {"id": f"sum-{n}", "question": f"{n}+1?", "response": f"It is {n + 1}.", "ground_truth": str(n + 1)}
        for n in range(50)
    ]
    write_jsonl(directory / "data.jsonl", rows)
    for run in ("r", "s"):
        assert mixseek_here("judge", "data.jsonl", "--run", run, "--quiet", cwd=directory).returncode == 0
    return directory


def run_anew(
    *arguments: str, cwd: Path, stdout: int = subprocess.PIPE, stderr: int = subprocess.PIPE, **more: Any
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [COMMAND, *arguments], cwd=cwd, env=environment(), stdout=stdout, stderr=stderr, text=True, check=False, **more
    )


# Every command in a process that was forked with its modules; some in an interpreter with a start and an end of its
# own, which takes a second of CPU each.
RUNS: Sequence[tuple[Run, tuple[str, ...]]] = (
    *((run_with, arguments) for arguments in COMMANDS),
    (run_anew, ("--help",)),
    (run_anew, ("report", "r")),
)
each_run = pytest.mark.parametrize(
    ("run", "arguments"), RUNS, ids=[f"{run.__name__} {' '.join(arguments)}" for run, arguments in RUNS]
)


@each_run
def test_a_reader_that_leaves_at_once_is_no_failure(judged: Path, run: Run, arguments: tuple[str, ...]) -> None:
    """`mixseek report | head`: exit 0, and not a word."""
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = run(*arguments, cwd=judged, stdout=writing)
    finally:
        os.close(writing)

    assert done.returncode == 0, done.stderr
    for word in ("Traceback", "Exception", "rror"):
        assert word not in done.stderr


@pytest.mark.skipif(not FULL.exists(), reason="the system has no device that is always full")
@each_run
def test_a_full_disk_behind_standard_output_is_one_line(judged: Path, run: Run, arguments: tuple[str, ...]) -> None:
    with FULL.open("w") as full:
        done = run(*arguments, cwd=judged, stdout=full.fileno())
    line = "mixseek: standard output: no space left on device; the answer could not be printed, what was judged is kept"

    assert [text for text in done.stderr.splitlines() if "standard output" in text] == [line]
    assert done.returncode == 4
    assert "Traceback" not in done.stderr
    assert "bug" not in done.stderr


@pytest.mark.parametrize(
    "arguments", [("--help",), ("report", "r"), ("judge", "data.jsonl", "--run", "r")], ids=" ".join
)
@pytest.mark.parametrize("number", [1, 2], ids=["stdout", "stderr"])
def test_a_stream_that_was_closed_before_goes_nowhere(judged: Path, arguments: tuple[str, ...], number: int) -> None:
    close: Callable[[], None] = lambda: os.close(number)  # noqa: E731 - a function of the child's
    done = run_anew(*arguments, cwd=judged, preexec_fn=close)

    assert done.returncode == 0
    for word in ("Traceback", "Exception", "mixseek: internal"):
        assert word not in done.stderr + done.stdout


@pytest.mark.skipif(not FULL.exists(), reason="the system has no device that is always full")
def test_notices_that_cannot_be_written_do_not_keep_the_answer_back(judged: Path) -> None:
    with FULL.open("w") as full:
        done = run_with("judge", "data.jsonl", "--run", "r", cwd=judged, stderr=full.fileno())

    assert done.returncode == 0
    assert "mean score" in done.stdout


def test_a_gate_decides_the_exit_code_though_nobody_reads(judged: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        gate = ("--max-undecided", "0")
        words = ("judge", "data.jsonl", "--run", "gated", "--judge", "rules", *gate, "--limit", "5")
        done = run_with(*words, cwd=judged, stdout=writing)
        failed = run_with("report", "none", cwd=judged, stdout=writing)
    finally:
        os.close(writing)

    assert (done.returncode, failed.returncode) == (0, 2)

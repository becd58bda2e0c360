"""Standard output that is closed early, closed from the beginning, or full: no command shows a traceback."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

import pytest
from tests.flows.running import COMMAND, environment, mixseek_here, write_jsonl

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


def run(arguments: tuple[str, ...], cwd: Path, stdout: int | IO[Any], **more: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [COMMAND, *arguments],
        cwd=cwd,
        env=environment(),
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        **more,
    )


@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
def test_a_reader_that_leaves_at_once_is_no_failure(judged: Path, arguments: tuple[str, ...]) -> None:
    """`mixseek report | head`: exit 0, and not a word."""
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = run(arguments, judged, writing)
    finally:
        os.close(writing)

    assert done.returncode == 0, done.stderr
    for word in ("Traceback", "Exception", "rror"):
        assert word not in done.stderr


@pytest.mark.skipif(not FULL.exists(), reason="the system has no device that is always full")
@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
def test_a_full_disk_behind_standard_output_is_one_line(judged: Path, arguments: tuple[str, ...]) -> None:
    with FULL.open("w") as full:
        done = run(arguments, judged, full)
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
    done = run(arguments, judged, subprocess.PIPE, preexec_fn=close)

    assert done.returncode == 0
    for word in ("Traceback", "Exception", "mixseek: internal"):
        assert word not in done.stderr + done.stdout


@pytest.mark.skipif(not FULL.exists(), reason="the system has no device that is always full")
def test_notices_that_cannot_be_written_do_not_keep_the_answer_back(judged: Path) -> None:
    with FULL.open("w") as full:
        done = subprocess.run(
            [COMMAND, "judge", "data.jsonl", "--run", "r"],
            cwd=judged,
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=full,
            text=True,
            check=False,
        )

    assert done.returncode == 0
    assert "mean score" in done.stdout


def test_a_gate_decides_the_exit_code_though_nobody_reads(judged: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = run(
            ("judge", "data.jsonl", "--run", "gated", "--judge", "rules", "--max-undecided", "0", "--limit", "5"),
            judged,
            writing,
        )
        failed = run(("report", "none"), judged, writing)
    finally:
        os.close(writing)

    assert (done.returncode, failed.returncode) == (0, 2)

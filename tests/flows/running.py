"""The command line, in its own process or in this one, and the small datasets it is given."""

import contextlib
import io
import json
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.flows.dying import stopping
from tests.flows.warm import Begun, hearing
from tests.waiting import finish

from mixseek.cli.main import main

COMMAND = str(Path(sys.executable).parent / "mixseek")


def environment(**extra: str) -> dict[str, str]:
    """Ours without settings of the person who runs the tests, and with warnings as errors."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("MIXSEEK_")}
    return {**kept, "PYTHONWARNINGS": "error", "COLUMNS": "120", **extra}


def mixseek_here(
    *arguments: str | Path, cwd: Path, stdin: str | None = None, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """The same as `mixseek` without a new interpreter: a second of CPU less for each of many small commands."""
    words = [str(argument) for argument in arguments]
    out, err = io.StringIO(), io.StringIO()
    with contextlib.ExitStack() as stack:
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO((stdin or "").encode())))
        patch.setattr(sys, "argv", ["mixseek", *words])
        for name in set(os.environ) - set(environment()):
            patch.delenv(name)
        for name, value in {"COLUMNS": "120", **(env or {})}.items():
            patch.setenv(name, value)
        stack.enter_context(contextlib.chdir(cwd))
        stack.enter_context(contextlib.redirect_stdout(out))
        stack.enter_context(contextlib.redirect_stderr(err))
        code = int(main(words))
    return subprocess.CompletedProcess(words, code, out.getvalue(), err.getvalue())


def mixseek(
    *arguments: str | Path, cwd: Path, stdin: str | None = None, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """The real command in its own process; the caller looks at the code and the two streams."""
    process = subprocess.Popen(
        [COMMAND, *map(str, arguments)],
        cwd=cwd,
        stdin=subprocess.DEVNULL if stdin is None else subprocess.PIPE,
        env=environment(**(env or {})),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        start_new_session=True,
    )
    return finish(process, stdin)


def start(*arguments: str | Path, cwd: Path, **extra: str) -> Begun:
    """Begin and return at once: for those who want to disturb. In a process group of its own."""
    return Begun([*map(str, arguments)], cwd, environment(**extra))


def run_with(
    *arguments: str | Path, cwd: Path, stdout: int | None = None, stderr: int | None = None
) -> subprocess.CompletedProcess[str]:
    """A command in a process of its own, with streams that are not as they should be."""
    process = Begun([*map(str, arguments)], cwd, environment(), stdout, stderr)
    out, err = process.communicate()
    assert process.returncode is not None
    return subprocess.CompletedProcess([*map(str, arguments)], process.returncode, out, err)


def start_anew(*arguments: str | Path, cwd: Path, **extra: str) -> "subprocess.Popen[str]":
    """The same with an interpreter of its own: for those who look at its start, or at what `ps` shows."""
    with hearing():
        return subprocess.Popen(
            [COMMAND, *map(str, arguments)],
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            env=environment(**extra),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )


def hold_at(moment: int, below: str, *arguments: str | Path, cwd: Path) -> Begun:
    """A run that stands still (SIGSTOP) before its so-many-th write to paths with that part; SIGCONT lets it go on."""
    process = start(*arguments, cwd=cwd, **stopping(moment, below))
    assert process.wait_for_stop(), process.communicate()
    return process


def size_of(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def write_jsonl(path: Path, rows: Iterable[Mapping[str, Any]]) -> Path:
    with path.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    return path


def read_jsonl(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def sums(count: int) -> list[dict[str, Any]]:
    """Little sums in several wordings: most right, some wrong, and every fifth left open, as its truth is not known."""
    wordings = (
        "Adding the two numbers step by step gives {0}. The answer is {0}.",
        "Let me think.\n{0} it is.\n\n**{0}**",
        "The answer is \\boxed{{{0}}}.",
        "It is {0}, I think.",
        "So the answer is {1}.",
    )
    return [
        {
            "id": f"sum-{n}",
            "question": f"What is {n} + {n + 1}?",
            "response": wordings[n % 5].format(2 * n + 1, 2 * n + 2),
            "ground_truth": None if n % 5 == 3 else str(2 * n + 1),
            "task_name": ("small", "middle", "large")[n % 3],
        }
        for n in range(count)
    ]


def the_one_line(done: subprocess.CompletedProcess[str]) -> str:
    """The single line on stderr; fails on a traceback or a second line."""
    lines = done.stderr.splitlines()
    assert len(lines) == 1, done.stderr
    assert lines[0].startswith("mixseek: ")
    return lines[0]

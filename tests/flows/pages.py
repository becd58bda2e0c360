"""What a page of the documentation shows: its blocks, and what its commands do in an empty directory."""

import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from tests.flows.running import TIMEOUT_SECONDS, environment, mixseek_here

ROOT = Path(__file__).resolve().parents[2]


def read_page(name: str) -> str:
    """By its path in the repository."""
    return (ROOT / name).read_text(encoding="utf-8")


def section(page: str, heading: str) -> str:
    return page.split(f"## {heading}\n", 1)[1].split("\n## ", 1)[0]


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", page, re.MULTILINE | re.DOTALL)


def write_files(page: str, place: Path) -> None:
    """Blocks that are named as files."""
    for name, text in re.findall(r'^```\w+ title="(\S+)"\n(.*?)^```', page, re.MULTILINE | re.DOTALL):
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(text, encoding="utf-8")


# What is another in every run: how long it took, and when it was.
_PASSING = re.compile(r"\b\d+\.\d+ s\b|\b\d{4}-\d\d-\d\d \d\d:\d\d UTC\b|[ \t]+$", re.MULTILINE)


def check_page(page: str, place: Path, given: Mapping[str, str] | None = None) -> int:
    """Every block of commands succeeds, in order, and prints what stands in the `text` block right after it.

    `given` replaces what differs from place to place, such as an address. How many blocks were compared.
    """
    for name, value in (given or {}).items():
        page = page.replace(name, value)
    write_files(page, place)
    compared = 0
    for script, shown in re.findall(r"^```sh\n(.*?)^```(?:\n\n```text\n(.*?)^```)?", page, re.MULTILINE | re.DOTALL):
        printed = run_script(script, place)
        if shown:
            assert _PASSING.sub("", printed).strip() == _PASSING.sub("", shown).strip(), printed
            compared += 1
    return compared


# A command of ours on a line of its own, and what the shell does with it: `| sed …`, `2>&1`, `|| echo …`.
_OURS = re.compile(r"^mixseek (?:[^\\\n]|\\\n)*$", re.MULTILINE)
_SHELL_PART = re.compile(r"\s(?:\||[12]?>|&|<).*", re.DOTALL)


def run_script(script: str, place: Path) -> str:
    """What it prints; every command of it must succeed. Ours run in this process: that takes a third of the time."""
    printed, done = [], 0
    for found in _OURS.finditer(script):
        printed.append(run_in_shell(script[done : found.start()], place))
        printed.append(run_ours(found[0].replace("\\\n", " "), place))
        done = found.end()
    return "".join([*printed, run_in_shell(script[done:], place)])


def run_ours(line: str, place: Path) -> str:
    """The shell's part is given what the command printed, and its exit code."""
    words = shlex.split(_SHELL_PART.sub("", line), comments=True)
    done = mixseek_here(*words[1:], cwd=place)
    with tempfile.TemporaryDirectory() as aside:
        out, err = Path(aside, "out"), Path(aside, "err")
        out.write_text(done.stdout, encoding="utf-8")
        err.write_text(done.stderr, encoding="utf-8")
        shell_part = "".join(found[0] for found in [_SHELL_PART.search(line)] if found)
        return run_in_shell(f"{{ cat {out}; cat {err} >&2; (exit {done.returncode}); }}{shell_part}", place)


def run_in_shell(script: str, place: Path) -> str:
    if not script.strip():
        return ""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=place,
        env=environment(PATH=path),
        capture_output=True,
        text=True,
        check=False,
        timeout=TIMEOUT_SECONDS,
    )

    assert done.returncode == 0, done.stderr
    return done.stdout

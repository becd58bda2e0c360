"""What a page of the documentation shows: its blocks, and what its commands do in an empty directory."""

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from tests.flows.running import environment
from tests.flows.warm import warm_command

ROOT = Path(__file__).resolve().parents[2]
# Its commands are served by another process, whose work cannot be seen from here; the guard of a test is longer.
_SCRIPT_SECONDS = 400.0


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


def run_script(script: str, place: Path) -> str:
    """What it prints; every command of it must succeed, with the `mixseek` of these tests on the path."""
    path = os.pathsep.join((str(warm_command()), str(Path(sys.executable).parent), os.environ["PATH"]))
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=place,
        env=environment(PATH=path),
        capture_output=True,
        text=True,
        check=False,
        timeout=_SCRIPT_SECONDS,
    )

    assert done.returncode == 0, done.stderr
    return done.stdout

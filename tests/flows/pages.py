"""What a page of the documentation shows: its blocks, and what its commands do in an empty directory."""

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.flows.running import TIMEOUT_SECONDS, environment
from tests.flows.warm import warm_command

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
    for name, text in re.findall(r"^```\w+ file=(\S+)\n(.*?)^```", page, re.MULTILINE | re.DOTALL):
        (place / name).write_text(text, encoding="utf-8")


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
        timeout=TIMEOUT_SECONDS,
    )

    assert done.returncode == 0, done.stderr
    return done.stdout

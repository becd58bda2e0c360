"""What docs/statistics.md and docs/labels.md show is run here: their commands, and their Python."""

import doctest
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.flows.running import environment

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.mark.parametrize("page", ["statistics.md", "labels.md"])
def test_commands_print_what_the_page_shows(tmp_path: Path, page: str) -> None:
    """Every block of commands is followed by what it prints."""
    text = (DOCS / page).read_text("utf-8")
    shown = re.findall(r"^```sh\n(.*?)^```\n\n```text\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"

    assert shown
    for script, expected in shown:
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", script],
            cwd=tmp_path,
            env=environment(PATH=path),
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        printed = "\n".join(line.rstrip() for line in done.stdout.splitlines())
        assert printed.strip() == expected.strip()


def test_python_gives_what_the_page_shows() -> None:
    found = doctest.testfile(str(DOCS / "statistics.md"), module_relative=False, encoding="utf-8")

    assert found.attempted > 20
    assert found.failed == 0

"""What docs/importing.md shows is run here, to the letter, and its table is complete."""

import os
import re
import subprocess
import sys
from pathlib import Path

from mixseek.storage.dataset.logs.registry import FORMATS

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "importing.md").read_text(encoding="utf-8")


def test_the_example_runs_as_written_and_prints_what_is_shown(tmp_path: Path) -> None:
    for name, text in re.findall(r"^```\w+ file=(\S+)\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL):
        (tmp_path / name).write_text(text, encoding="utf-8")
    (script,) = re.findall(r"^```sh\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    (shown,) = re.findall(r"^```text\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=tmp_path,
        env={**os.environ, "PATH": path, "COLUMNS": "120"},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )

    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(shown)
    # The two verdicts on the sample that the page points at.
    assert re.search(r"\bincorrect\b", done.stdout)
    assert "close enough" in done.stdout


def test_every_format_has_its_row(tmp_path: Path) -> None:
    """`batch` recognises a file only to say that it holds no responses."""
    listed = re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE)

    assert sorted(listed) == sorted(one.name for one in FORMATS if one.name != "batch")

"""What the README shows is run here, to the letter."""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def _blocks(language: str, heading: str) -> list[str]:
    """The fenced blocks of one language below a heading of the README."""
    section = (ROOT / "README.md").read_text(encoding="utf-8").split(f"## {heading}\n", 1)[1].split("\n## ", 1)[0]
    return re.findall(rf"^```{language}\n(.*?)^```", section, re.MULTILINE | re.DOTALL)


def test_the_five_minutes_run_as_written(tmp_path: Path) -> None:
    """Every command of the tour succeeds, in order, in an empty directory."""
    script = "\n".join(_blocks("sh", "Five minutes"))
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=tmp_path,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    assert (tmp_path / "report.html").is_file()
    rows = (tmp_path / "verdicts.csv").read_text(encoding="utf-8").splitlines()
    statuses = {line.split(",")[0]: line for line in rows[1:]}
    assert ",correct," in statuses["q1"]
    assert ",incorrect," in statuses["q2"]
    assert ",correct," in statuses["q3"]
    assert ",undecided," in statuses["q4"]


def test_the_python_example_runs_as_written(tmp_path: Path) -> None:
    """The library does what the README says it does."""
    (example,) = _blocks("python", "Five minutes")
    done = subprocess.run([sys.executable, "-c", example], cwd=tmp_path, capture_output=True, text=True, check=True)

    assert done.stdout.startswith("q1 correct (")

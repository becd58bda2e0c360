"""What the README shows is run here, to the letter."""

import subprocess
import sys
from pathlib import Path

from tests.flows.pages import blocks, read_page, run_script, section

FIVE_MINUTES = section(read_page("README.md"), "Five minutes")


def test_the_five_minutes_run_as_written(tmp_path: Path) -> None:
    """Every command of the tour succeeds, in order, in an empty directory."""
    run_script("\n".join(blocks(FIVE_MINUTES, "sh")), tmp_path)

    assert (tmp_path / "report.html").is_file()
    rows = (tmp_path / "verdicts.csv").read_text(encoding="utf-8").splitlines()
    statuses = {line.split(",")[0]: line for line in rows[1:]}
    assert ",correct," in statuses["q1"]
    assert ",incorrect," in statuses["q2"]
    assert ",correct," in statuses["q3"]
    assert ",undecided," in statuses["q4"]


def test_the_python_example_runs_as_written(tmp_path: Path) -> None:
    """The library does what the README says it does."""
    (example,) = blocks(FIVE_MINUTES, "python")
    done = subprocess.run([sys.executable, "-c", example], cwd=tmp_path, capture_output=True, text=True, check=True)

    assert done.stdout.startswith("q1 correct (")

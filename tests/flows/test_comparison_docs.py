"""What docs/comparisons.md shows is run here, to the letter."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

from mixseek.stats.difference import DifferenceState

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "comparisons.md").read_text(encoding="utf-8")


def test_the_examples_run_as_written(tmp_path: Path) -> None:
    """Two better, one worse; what was left open stays out; every gate of the page is met."""
    script = "\n".join(re.findall(r"^```sh\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL))
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
    assert (tmp_path / "march-april.html").is_file()
    found = json.loads((tmp_path / "march-april.json").read_text(encoding="utf-8"))
    assert {pair["id"] for pair in found["better"]} == {"q2", "q4"}
    assert [pair["id"] for pair in found["worse"]] == ["q5"]
    assert found["counts"]["pairs"] == 6
    assert found["drift"]["same_texts"] == 3


def test_every_state_is_explained() -> None:
    named = set(re.findall(r"`(\w+)`", PAGE))

    assert {state.value for state in DifferenceState if state is not DifferenceState.ESTIMATED} <= named

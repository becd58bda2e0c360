"""What docs/competitions.md shows is run here, to the letter."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

from mixseek.settings.race import RaceFile

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "competitions.md").read_text(encoding="utf-8")


def section(heading: str) -> str:
    return PAGE.split(f"## {heading}\n", 1)[1].split("\n## ", 1)[0]


def test_the_example_runs_as_written_and_prints_the_board_that_is_shown(tmp_path: Path) -> None:
    """Every file, every command, every line of the board."""
    example = section("An example that runs without a key")
    for name, text in re.findall(r"^```\w+ file=(\S+)\n(.*?)^```", example, re.MULTILINE | re.DOTALL):
        (tmp_path / name).write_text(text, encoding="utf-8")
    (script,) = re.findall(r"^```sh\n(.*?)^```", example, re.MULTILINE | re.DOTALL)
    (board,) = re.findall(r"^```text\n(.*?)^```", example, re.MULTILINE | re.DOTALL)
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
    printed = [" ".join(line.split()) for line in done.stdout.splitlines()]

    assert done.returncode == 0, done.stderr
    assert [line for line in board.splitlines() if " ".join(line.split()) not in printed] == []
    assert (tmp_path / "board.html").is_file()


def test_the_race_of_models_has_the_shape_of_a_race() -> None:
    """Every key of it exists."""
    (race,) = re.findall(r"^```toml\n(.*?)^```", section("A race of models"), re.MULTILINE | re.DOTALL)

    assert len(RaceFile.model_validate(tomllib.loads(race)).teams) == 2

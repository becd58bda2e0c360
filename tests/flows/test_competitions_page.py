"""What docs/competitions.md shows is run here, to the letter."""

import tomllib
from pathlib import Path

from tests.flows.pages import blocks, read_page, run_script, section, write_files

from mixseek.settings.race import RaceFile

PAGE = read_page("docs/competitions.md")


def test_the_example_runs_as_written_and_prints_the_board_that_is_shown(tmp_path: Path) -> None:
    """Every file, every command, every line of the board."""
    example = section(PAGE, "An example that runs without a key")
    write_files(example, tmp_path)
    (script,), (board,) = blocks(example, "sh"), blocks(example, "text")
    printed = [" ".join(line.split()) for line in run_script(script, tmp_path).splitlines()]

    assert [line for line in board.splitlines() if " ".join(line.split()) not in printed] == []
    assert (tmp_path / "board.html").is_file()


def test_the_race_of_models_has_the_shape_of_a_race() -> None:
    """Every key of it exists."""
    (race,) = blocks(section(PAGE, "A race of models"), "toml")

    assert len(RaceFile.model_validate(tomllib.loads(race)).teams) == 2


def test_the_python_of_the_page_runs_as_written(tmp_path: Path) -> None:
    """With the files of the example; the record of each round and the board are what the text says."""
    write_files(section(PAGE, "An example that runs without a key"), tmp_path)
    (script,) = blocks(section(PAGE, "From Python"), "python")
    (tmp_path / "script.py").write_text(script, encoding="utf-8")
    printed = run_script("python script.py", tmp_path).splitlines()

    assert printed[:2] == ["short 20.0 not three lines", "whole 100.0 three lines, as asked"]
    assert "poet | 1 | 60.0 | one line too few | goes on" in printed
    assert printed[-2:] == ["1 The Poet 100.0", "2 The Parrot 20.0"]

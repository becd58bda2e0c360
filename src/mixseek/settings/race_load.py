"""Reading a race, with every way it can fail turned into one line that names the key."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from mixseek.errors import ConfigurationError
from mixseek.settings.load import suggest_key
from mixseek.settings.marked_text import decode_text, parse_toml, read_bounded
from mixseek.settings.race import RaceFile, TeamTable


@dataclass(frozen=True, slots=True)
class Race:
    """A race with its texts read; paths in it are relative to `directory`."""

    name: str
    directory: Path
    task: str
    file: RaceFile
    instructions: Mapping[str, str]  # by team id


def load_race(path: Path) -> Race:
    """Raises ConfigurationError naming the file, the key, and the nearest key that exists."""
    text = read_text(path, path.name)
    try:
        file = RaceFile.model_validate(parse_toml(text))
    except tomllib.TOMLDecodeError as error:
        raise ConfigurationError(f"{path}: not valid TOML: {error}") from error
    except ValidationError as error:
        raise ConfigurationError(f"{path}: {describe_error(error.errors()[0])}") from error
    directory = path.resolve().parent
    task = file.task if file.task is not None else read_text(directory / str(file.task_file), "task_file")
    if not task.strip():
        raise ConfigurationError(f"{path}: the task is empty")
    instructions = {team.id: read_instructions(team, directory) for team in file.teams}
    return Race(path.stem, directory, task, file, instructions)


def read_instructions(team: TeamTable, directory: Path) -> str:
    """Empty where a model is to be left alone."""
    if team.instructions_file is not None:
        return read_text(directory / team.instructions_file, f"teams.{team.id}.instructions_file")
    return team.instructions or ""


def read_text(path: Path, where: str) -> str:
    """UTF-8, to the letter but for a byte-order mark."""
    place = str(path) if where == path.name else f"{where}: {path}"
    try:
        return decode_text(read_bounded(path))
    except OSError as error:
        raise ConfigurationError(f"{place}: {(error.strerror or str(error)).lower()}") from error
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"{place}: not UTF-8 at byte {error.start}; save it as UTF-8") from error


def describe_error(error: Any) -> str:
    """The place as it stands in the file, what is wrong there, and what was probably meant."""
    location = error["loc"]
    place = ".".join(str(part + 1) if isinstance(part, int) else str(part) for part in location)
    if error["type"] == "extra_forbidden":
        return f"unknown key '{place}'{suggest_key(RaceFile, location)}"
    if error["type"] == "missing":
        return f"'{place}' is missing"
    said = error["msg"].removeprefix("Value error, ")
    # Values of a judge's table are not repeated: people put keys where they do not belong.
    got = "" if error["type"] == "value_error" or "judges" in location[:1] else f" (got {error['input']!r})"
    return f"{place}: {said}{got}" if place else said

"""Reading a race, with every way it can fail turned into one line that names the key."""

import difflib
import tomllib
import types
import typing
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from mixseek.errors import ConfigurationError
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
        return f"unknown key '{place}'{suggest_key(location)}"
    if error["type"] == "missing":
        return f"'{place}' is missing"
    said = error["msg"].removeprefix("Value error, ")
    # Values of a judge's table are not repeated: people put keys where they do not belong.
    got = "" if error["type"] == "value_error" or "judges" in location[:1] else f" (got {error['input']!r})"
    return f"{place}: {said}{got}" if place else said


def suggest_key(location: tuple[int | str, ...]) -> str:
    """A close match among the keys of the same table, or the list of them."""
    model = model_at(location[:-1])
    if model is None:
        return ""
    if model.__name__ == "JudgeTable" and str(location[-1]) in ("api_key", "key", "token"):
        return "; keys do not stand in files: name an environment variable with api_key_env"
    known = sorted(model.model_fields)
    close = difflib.get_close_matches(str(location[-1]), known, n=1)
    return f"; did you mean '{close[0]}'?" if close else f"; known keys here: {', '.join(known)}"


def model_at(location: tuple[int | str, ...]) -> type[BaseModel] | None:
    """The table at a place; numbers and names inside a list or a dict of tables lead to the table's own model."""
    here: Any = RaceFile
    for part in location:
        if isinstance(here, type) and issubclass(here, BaseModel):
            field = here.model_fields.get(str(part))
            here = None if field is None else field.annotation
        else:
            here = inner_of(here)
        here = without_none(here)
    return here if isinstance(here, type) and issubclass(here, BaseModel) else None


def inner_of(annotation: Any) -> Any:
    """What a list or a dict holds."""
    arguments = typing.get_args(annotation)
    if typing.get_origin(annotation) is dict:
        return arguments[1]
    return arguments[0] if arguments else None


def without_none(annotation: Any) -> Any:
    """`X | None` is X here."""
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        return next(one for one in typing.get_args(annotation) if one is not type(None))
    return annotation

"""Reading settings, with every way it can fail turned into one line that names the key."""

import contextlib
import importlib
import os
import sys
import tomllib
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from mixseek.errors import ConfigurationError, reason_of, suggest
from mixseek.settings.models import ENVIRONMENT_PREFIX, SETTINGS_FILE, JudgeSettings, Settings

# From `package.module:Name` to the object: where the user's own code comes in.


def is_import_path(text: str) -> bool:
    """Whether it has the shape of one; whether there is anything is not looked at."""
    module, colon, name = text.partition(":")
    return bool(colon) and name.isidentifier() and all(part.isidentifier() for part in module.split("."))


def load_object(path: str, where: str) -> object:
    """The object of that name; raises ConfigurationError with one line, whatever the module does when it is loaded."""
    if not is_import_path(path):
        raise ConfigurationError(f"{where}: {path!r} is not an import path; write package.module:Name")
    module_name, _, name = path.partition(":")
    try:
        module = importlib.import_module(module_name)
    # A module of the user's runs when it is loaded, and may fail in any way there is.
    except (Exception, SystemExit) as error:
        message = " ".join(str(error).split())
        raise ConfigurationError(f"{where}: cannot import {module_name} ({type(error).__name__}: {message})") from error
    loaded = getattr(module, name, None)
    if loaded is None:
        raise ConfigurationError(f"{where}: module {module_name} has no {name}")
    return loaded


@contextlib.contextmanager
def importable_from(directory: Path) -> Iterator[None]:
    """Modules beside a file can be named in it; last on the path, so that they hide nothing."""
    place = str(directory.resolve())
    sys.path.append(place)
    importlib.invalidate_caches()
    try:
        yield
    finally:
        with contextlib.suppress(ValueError):
            sys.path.remove(place)


def load_settings() -> Settings:
    """Settings of the current directory and environment; raises ConfigurationError naming what to change."""
    # Mostly nothing is set, and then pydantic-settings, which takes a fifth of a second to import, is not needed.
    # lexists: a dangling link is a mistake to be named, not a file that is not there.
    is_file_there = os.path.lexists(SETTINGS_FILE)
    if not is_file_there and not any(name.upper().startswith(ENVIRONMENT_PREFIX) for name in os.environ):
        return Settings()
    from pydantic_settings import SettingsError

    from mixseek.settings.sources import GivenSettings

    if is_file_there and not Path(SETTINGS_FILE).exists():
        raise ConfigurationError(f"{SETTINGS_FILE}: a link to a file that is not there; mend or remove it")
    try:
        with explaining_failures(SETTINGS_FILE, Settings, or_environment=True):
            return GivenSettings()
    except SettingsError as error:
        raise ConfigurationError(
            f"environment: {error}; unset the MIXSEEK_* variable or give it a valid value"
        ) from error


@contextlib.contextmanager
def explaining_failures(
    file: str | Path, root: type[BaseModel] = BaseModel, *, or_environment: bool = False
) -> Iterator[None]:
    """Every way in which reading a file, or checking it as a `root`, can fail becomes one line that names it."""
    try:
        yield
    except ValidationError as error:
        first = error.errors()[0]
        # pydantic-settings passes over variables that it does not know: an unknown key stands in the file.
        is_in_file = not or_environment or first["type"] == "extra_forbidden"
        place = file if is_in_file else f"{file} or {ENVIRONMENT_PREFIX}* environment"
        raise ConfigurationError(f"{place}: {describe_error(first, root)}") from error
    except tomllib.TOMLDecodeError as error:
        raise ConfigurationError(f"{file}: not valid TOML: {error}") from error
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"{file}: not UTF-8 at byte {error.start}; save it as UTF-8") from error
    except OSError as error:
        reason = reason_of(error)
        raise ConfigurationError(f"{file}: {reason}; give a file that can be read") from error


def describe_error(error: Any, root: type[BaseModel]) -> str:
    """The place as it stands in the file, what is wrong there, and what was probably meant."""
    location = error["loc"]
    place = ".".join(str(part + 1) if isinstance(part, int) else str(part) for part in location)
    if error["type"] == "extra_forbidden":
        return f"unknown key '{place}'{suggest_key(root, location)}"
    if error["type"] == "missing":
        return f"'{place}' is missing"
    message = error["msg"].removeprefix("Value error, ")
    # Values of a judge's table are not repeated: people put keys where they do not belong.
    got = "" if error["type"] == "value_error" or location[:1] == ("judges",) else f" (got {error['input']!r})"
    return f"{message}{got}" if message.startswith(place) else f"{place}: {message}{got}"


def suggest_key(root: type[BaseModel], location: tuple[int | str, ...]) -> str:
    """A close match among the keys of the same table, or the list of them."""
    table: Any = root
    for part in location[:-1]:
        # A number or a name inside a list or a dict of tables leads to what it holds.
        held = [argument for argument in typing.get_args(table) if argument is not Ellipsis]
        table = held[-1] if held else table.model_fields[str(part)].annotation
        if type(None) in typing.get_args(table):
            table = typing.get_args(table)[0]
    if table is JudgeSettings and location[-1] in ("api_key", "key", "token"):
        return "; keys do not stand in files: name an environment variable with api_key_env"
    known = sorted(table.model_fields)
    return "; " + suggest(str(location[-1]), known, f"known keys here: {', '.join(known)}")

"""Reading settings, with every way it can fail turned into one line that names the key."""

import contextlib
import difflib
import importlib
import os
import sys
import tomllib
import types
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from mixseek.errors import ConfigurationError
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
        said = " ".join(str(error).split())
        raise ConfigurationError(f"{where}: cannot import {module_name} ({type(error).__name__}: {said})") from error
    found = getattr(module, name, None)
    if found is None:
        raise ConfigurationError(f"{where}: module {module_name} has no {name}")
    return found


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
    if not is_anything_set():
        return Settings()
    return read_settings()


def is_anything_set() -> bool:
    """Mostly nothing is, and then the machinery for reading it need not be loaded."""
    # lexists: a dangling link is a mistake to be named, not a file that is not there.
    return os.path.lexists(SETTINGS_FILE) or any(name.upper().startswith(ENVIRONMENT_PREFIX) for name in os.environ)


def read_settings() -> Settings:
    """From the environment and the file."""
    from pydantic_settings import SettingsError

    from mixseek.settings.sources import GivenSettings

    try:
        if Path(SETTINGS_FILE).is_symlink() and not Path(SETTINGS_FILE).exists():
            raise ConfigurationError(f"{SETTINGS_FILE}: a link to a file that is not there; mend or remove it")
        return GivenSettings()
    except ValidationError as error:
        raise ConfigurationError(describe_error(error.errors()[0])) from error
    except SettingsError as error:
        raise ConfigurationError(
            f"environment: {error}; unset the MIXSEEK_* variable or give it a valid value"
        ) from error
    except tomllib.TOMLDecodeError as error:
        raise ConfigurationError(f"{SETTINGS_FILE}: not valid TOML: {error}") from error
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"{SETTINGS_FILE}: not UTF-8 at byte {error.start}; save it as UTF-8") from error
    except OSError as error:
        raise ConfigurationError(f"{SETTINGS_FILE}: {error.strerror or error}; make it a readable file") from error


def describe_error(error: Any) -> str:
    """One line: where the value came from, what is wrong, and the nearest key that exists."""
    location = error["loc"]
    place = ".".join(str(part) for part in location)
    if error["type"] == "extra_forbidden":
        return f"{SETTINGS_FILE}: unknown key '{place}'{suggest_key(Settings, location)}"
    # Values of a judge's table are not repeated: people put keys where they do not belong.
    got = "" if location[0] == "judges" else f" (got {error['input']!r})"
    return f"{SETTINGS_FILE} or MIXSEEK_* environment: {place}: {error['msg']}{got}"


def suggest_key(root: type[BaseModel], location: tuple[int | str, ...]) -> str:
    """A close match among the keys of the same table, or the list of them."""
    model = model_at(root, location[:-1])
    if model is None:
        return ""
    if model is JudgeSettings and str(location[-1]) in ("api_key", "key", "token"):
        return "; keys do not stand in files: name an environment variable with api_key_env"
    known = sorted(model.model_fields)
    close = difflib.get_close_matches(str(location[-1]), known, n=1)
    return f"; did you mean '{close[0]}'?" if close else f"; known keys here: {', '.join(known)}"


def model_at(root: type[BaseModel], location: tuple[int | str, ...]) -> type[BaseModel] | None:
    """The table at a place; numbers and names inside a list or a dict of tables lead to the table's own model."""
    here: Any = root
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

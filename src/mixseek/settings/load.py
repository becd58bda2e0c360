"""Reading settings, with every way it can fail turned into one line that names the key."""

import difflib
import tomllib
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_settings import SettingsError

from mixseek.errors import ConfigurationError
from mixseek.settings.models import SETTINGS_FILE, Settings


def load_settings() -> Settings:
    """Settings of the current directory and environment; raises ConfigurationError naming what to change."""
    try:
        return Settings()
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
    place = ".".join(str(part) for part in error["loc"])
    if error["type"] == "extra_forbidden":
        return f"{SETTINGS_FILE}: unknown key '{place}'{suggest_key(error['loc'])}"
    return f"{SETTINGS_FILE} or MIXSEEK_* environment: {place}: {error['msg']} (got {error['input']!r})"


def suggest_key(location: tuple[int | str, ...]) -> str:
    """A close match among the keys of the same table, or the list of them."""
    model: type[BaseModel] = Settings
    for part in location[:-1]:
        field = model.model_fields.get(str(part))
        if field is None or not (isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel)):
            return ""
        model = field.annotation
    known = sorted(model.model_fields)
    close = difflib.get_close_matches(str(location[-1]), known, n=1)
    return f"; did you mean '{close[0]}'?" if close else f"; known keys here: {', '.join(known)}"

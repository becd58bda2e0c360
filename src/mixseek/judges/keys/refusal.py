"""Keys where none may stand: what is in a file, or on a command line, is copied into manifests and reports."""

import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from mixseek.errors import ConfigurationError
from mixseek.judges.keys.secret import MIN_SECRET_LENGTH
from mixseek.judges.keys.shapes import looks_like_credential, looks_like_key, names_variable
from mixseek.settings.models import JudgeSettings

# In an address these are credentials, too; elsewhere they are words.
_CREDENTIAL_PARAMETER = re.compile(r"(?:code|pass|pat|pwd|sas)", re.IGNORECASE)
# What shells let stand before an equals sign.
_VARIABLE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# Shorter values of the environment stand in texts by chance.
_MIN_KNOWN_LENGTH = 12


def refuse_keys(name: str, settings: JudgeSettings, environment: Mapping[str, str]) -> None:
    """Raises ConfigurationError for a key in a judge's table; the message names its place and never repeats it."""
    where = f"[judges.{name}]"
    variable = settings.api_key_env
    if variable is not None and not is_variable_name(variable, environment):
        raise ConfigurationError(
            f"{where}: api_key_env is not the name of an environment variable (it is not repeated here, as it may be "
            "the key itself); put the key into a variable such as MY_API_KEY, and write that name"
        )
    for header, value in settings.headers.items():
        if names_variable(value) is None and (looks_like_credential(header) or _is_key(value, environment)):
            raise ConfigurationError(
                f"{where}: the header {header} holds a credential, and keys do not stand in files; set an environment "
                f'variable, and write {header} = "$NAME_OF_IT"'
            )
    for place, value in _texts_in(settings.body, ""):
        is_named = looks_like_credential(place.rpartition(".")[2]) and len(value) >= MIN_SECRET_LENGTH
        if is_named or _is_key(value, environment):
            raise ConfigurationError(
                f"{where}: body{place} holds a credential, and keys do not stand in files; name an environment "
                "variable with api_key_env, or with $NAME in headers"
            )


CREDENTIAL_IN_URL = (
    "a judge's base URL holds a credential; put it into an environment variable and name that with api_key_env"
)


def holds_credential(url: str, environment: Mapping[str, str]) -> bool:
    """Whether it names a user, has a parameter that is a credential, or a part that looks like a key or is one."""
    if "@" in url.partition("?")[0].partition("://")[2].partition("/")[0]:
        return True
    parameters = parse_qsl(url.partition("?")[2].partition("#")[0], keep_blank_values=True)
    if any(looks_like_credential(name) or _CREDENTIAL_PARAMETER.fullmatch(name) for name, _ in parameters):
        return True
    try:
        parts = urlsplit(url)
    except ValueError:
        return looks_like_key(url)
    return any(_is_key(text, environment) for text in (parts.path, parts.query, parts.fragment))


def is_variable_name(text: str, environment: Mapping[str, str]) -> bool:
    """A name that is set is one; what is not, has to look like one, because it would be repeated as not set."""
    if text in environment:
        return True
    is_name = _VARIABLE_NAME.fullmatch(text) is not None and not looks_like_key(text)
    # Letters and digits without a break may be a key in any case; words of a name are short, or apart.
    return is_name and (len(text) < 20 or "_" in text.strip("_") or text.isalpha())


def _is_key(value: str, environment: Mapping[str, str]) -> bool:
    """Whether it looks like a key, or holds the value of a variable that is called like one."""
    return looks_like_key(value) or any(key in value for key in _known_keys(environment))


def _known_keys(environment: Mapping[str, str]) -> Iterator[str]:
    for variable, value in environment.items():
        if len(value.strip()) >= _MIN_KNOWN_LENGTH and looks_like_credential(variable):
            yield value.strip()


def _texts_in(value: Any, place: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield place, value
    elif isinstance(value, Mapping):
        for name, part in value.items():
            yield from _texts_in(part, f"{place}.{name}")
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _texts_in(part, place)

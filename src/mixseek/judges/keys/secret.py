"""A key: where it comes from, and a value that does not show itself."""

from collections.abc import Mapping
from typing import Any

from mixseek.errors import ConfigurationError

MASK = "[key]"
# Shorter values are words of the language ("none", "test"): masking them would garble every message.
MIN_SECRET_LENGTH = 6


class Secret:
    """A value that does not show itself: not in a repr, a format, a comparison or a pickle."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        """The secret itself, for the request's header and for masking; nowhere else."""
        return self._value

    def __repr__(self) -> str:
        return f"Secret({MASK})"

    __str__ = __repr__

    def __reduce__(self) -> str | tuple[Any, ...]:
        raise TypeError("a key is not pickled; read it from the environment where it is needed")


def read_key(variable: str, environment: Mapping[str, str]) -> Secret | None:
    """None when the variable is unset or blank; a value that no header can carry is refused without showing it."""
    value = environment.get(variable, "").strip()
    if not value:
        return None
    if not (value.isascii() and value.isprintable()) or " " in value:
        raise ConfigurationError(f"{variable}: holds characters that no API key has; set it again without them")
    return Secret(value)

"""Words that name one of a few kinds, as people type them."""

from enum import StrEnum
from typing import TypeVar

from mixseek.errors import ConfigurationError, suggest

Kind = TypeVar("Kind", bound=StrEnum)


def read_kind(kinds: type[Kind], name: str, option: str) -> Kind:
    """The kind by name, with the nearest one for a slip."""
    try:
        return kinds(name)
    except ValueError:
        meant = suggest(name, [kind.value for kind in kinds], f"kinds are {', '.join(kinds)}")
        raise ConfigurationError(f"{option} {name!r}: {meant}") from None

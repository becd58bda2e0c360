"""Texts of a declaration in the language asked for, and what has none."""

from collections.abc import Iterator
from typing import Any

from mixseek.errors import ConfigurationError
from mixseek.protocols.declaration import ProtocolDeclaration, Table
from mixseek.protocols.scored.parameters import Words

_TEXTS = frozenset({"instructions", "title", "description"})


def in_language(words: Words, language: str) -> str:
    """The text; empty where the declaration has none in that language, which `missing_words` reports."""
    return words if isinstance(words, str) else words.get(language, "")


def spoken(table: Table, language: str) -> dict[str, Any]:
    """A table's fields as a template sees them: its texts in the prompt's language."""
    return {name: in_language(value, language) if name in _TEXTS else value for name, value in table}


def refuse_missing_words(parameters: Table, declaration: ProtocolDeclaration) -> None:
    """ConfigurationError that names the first place without a text in the declaration's language."""
    for place in missing_words(parameters, declaration.language):
        raise ConfigurationError(
            f"{declaration.where}: parameters.{place} has no text in language {declaration.language!r}; add it"
        )


def missing_words(parameters: Table, language: str) -> list[str]:
    """Places, as in the file, whose text is given in other languages and not in this one."""
    return [
        place
        for place, words in _texts(parameters)
        if not isinstance(words, str) and words and not words.get(language, "").strip()
    ]


def _texts(table: Table, place: str = "") -> Iterator[tuple[str, Words]]:
    for name, value in table:
        if name in _TEXTS:
            yield f"{place}{name}", value
        elif name in {"labels", "descriptions"}:
            yield from ((f"{place}{name}.{key}", words) for key, words in value.items())
        elif isinstance(value, Table):
            yield from _texts(value, f"{place}{name}.")
        elif isinstance(value, dict):
            for key, inner in value.items():
                yield from _texts(inner, f"{place}{name}.{key}.") if isinstance(inner, Table) else ()

"""Texts of a declaration in the language asked for, and what has none."""

from collections.abc import Iterator

from mixseek.protocols.scored_parameters import ScoredParameters, Words


def in_language(words: Words, language: str) -> str:
    """The text; empty where the declaration has none in that language, which `missing_words` reports."""
    return words if isinstance(words, str) else words.get(language, "")


def missing_words(parameters: ScoredParameters, language: str) -> list[str]:
    """Places, as in the file, whose text is given in other languages and not in this one."""
    return [
        place
        for place, words in _texts(parameters)
        if not isinstance(words, str) and words and not words.get(language, "").strip()
    ]


def _texts(parameters: ScoredParameters) -> Iterator[tuple[str, Words]]:
    yield "instructions", parameters.instructions
    for key, dimension in parameters.dimensions.items():
        yield f"dimensions.{key}.title", dimension.title
        yield f"dimensions.{key}.description", dimension.description
    for value, label in parameters.scale.labels.items():
        yield f"scale.labels.{value}", label
    for name, task_type in parameters.task_types.types.items():
        yield f"task_types.types.{name}.description", task_type.description
    for name, gate in parameters.gates.items():
        yield f"gates.{name}.description", gate.description
    for name, choice in parameters.choices.items():
        for option, description in choice.descriptions.items():
            yield f"choices.{name}.descriptions.{option}", description
    for name, text in parameters.texts.items():
        yield f"texts.{name}.description", text.description

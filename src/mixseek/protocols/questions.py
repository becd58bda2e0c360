"""How the fields of a protocol become questions for decision endpoints; why those of another one cannot."""

import hashlib
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import Field, TypeAdapter, ValidationError

from mixseek.domain.decisions import FALSE, TRUE, AnswerOption, DecisionQuestion, QuestionKind, QuestionSet
from mixseek.errors import ConfigurationError
from mixseek.protocols.declaration import ProtocolDeclaration, Table, first_problem, unknown_among
from mixseek.settings.text_files import parse_toml

_FILE = Path(__file__).with_name("decisions.toml")
_Words = str | dict[str, str]


class QuestionWords(Table):
    """One field of a declaration's `[decisions]`: what is asked, and what each answer means."""

    # As a check: what the field is asked as follows from the field.
    ask: QuestionKind | None = None
    instructions: _Words = ""
    options: dict[str, _Words] = Field(default_factory=dict)


_TABLE = TypeAdapter(dict[str, QuestionWords])


class FieldQuestion(NamedTuple):
    """A field before a declaration's words are put in: what it is asked as, and the words of its kind."""

    name: str
    kind: QuestionKind
    # Of `decisions.toml`: which entry has the words.
    words: tuple[str, str]
    options: Sequence[AnswerOption] = ()
    # What the words of the kind speak of.
    texts: Mapping[str, str] = {}


def make_questions(declaration: ProtocolDeclaration, fields: Sequence[FieldQuestion]) -> QuestionSet:
    """The fields as questions; raises ConfigurationError for what a declaration says of a field that is none."""
    declared = read_words(declaration, [field.name for field in fields])
    questions = tuple(_make_question(field, declared.get(field.name), declaration) for field in fields)
    problem = next((question.problem for question in questions if question.problem), None)
    return QuestionSet(() if problem else questions, problem)


def read_words(declaration: ProtocolDeclaration, names: Collection[str]) -> Mapping[str, QuestionWords]:
    """What a declaration's own `[decisions]` says, by field."""
    try:
        declared = _TABLE.validate_python(dict(declaration.decisions))
    except ValidationError as error:
        raise ConfigurationError(f"{declaration.where}: decisions.{first_problem(error)}") from error
    for name in declared:
        if name not in names:
            raise ConfigurationError(f"{declaration.where}: decisions has {unknown_among(name, names)}")
    return declared


def _make_question(
    field: FieldQuestion, declared: QuestionWords | None, declaration: ProtocolDeclaration
) -> DecisionQuestion:
    kind, entry = field.words
    usual = TypeAdapter(QuestionWords).validate_python(usual_words()[kind][entry])
    declared, language = declared or QuestionWords(), declaration.language
    where = f"{declaration.where}: decisions.{field.name}"
    if declared.ask is not None and declared.ask is not field.kind:
        raise ConfigurationError(f"{where}.ask is {declared.ask.value}, but the field is asked as {field.kind.value}")
    values = [option.value for option in field.options] or [TRUE, FALSE]
    if unknown := [value for value in declared.options if value not in values]:
        raise ConfigurationError(f"{where}.options has {unknown_among(unknown[0], values)}")
    meanings = {option.value: option.description for option in field.options}
    meanings |= {value: _spoken(words, language) for value, words in usual.options.items()}
    meanings |= {value: _spoken(words, language) for value, words in declared.options.items()}
    # Of a declaration in a language of its own, the usual words are English.
    usual_instructions = _spoken(usual.instructions, language).format_map(field.texts)
    instructions = _spoken(declared.instructions, language) or usual_instructions
    asked = " ".join(f"{instructions} {_spoken(usual_words()['note'], language)}".split())
    return DecisionQuestion(
        field.name, field.kind, asked, tuple(AnswerOption(value, meanings.get(value, "")) for value in values)
    )


def _spoken(words: _Words, language: str) -> str:
    return words if isinstance(words, str) else words.get(language) or words.get("en", "")


@cache
def usual_words() -> dict[str, Any]:
    """What fields become where a declaration says nothing else."""
    return parse_toml(_FILE.read_text(encoding="utf-8"))


@cache
def digest_of_usual_words() -> str:
    """Part of what names a decision judge: with other words the same endpoint is asked something else."""
    return hashlib.sha256(_FILE.read_bytes()).hexdigest()

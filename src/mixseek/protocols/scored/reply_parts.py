"""The parts of a reply, each with an example for the prompt and a JSON schema for endpoints that can constrain."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from mixseek.protocols.replies.reply_fields import closed_object
from mixseek.protocols.scored.arithmetic import maxima_of, total_range
from mixseek.protocols.scored.identity_check import METHODS
from mixseek.protocols.scored.parameters import FLAGS, ScoredParameters
from mixseek.protocols.scored.sample_facts import SampleFacts

_OPEN = "…"
# Marks what is a number: shown without quotation marks, or judges would give their scores as texts.
_NUMBER = "\ue000"
_QUOTED_NUMBER = re.compile(f'"{_NUMBER}([^"]*)"')
# Short ranges are enums, because not every endpoint takes bounds; beyond this an enum is longer than it is useful.
_MOST_VALUES = 21
_Part = tuple[str, Any, dict[str, Any]]


def reply_example(facts: SampleFacts, parameters: ScoredParameters) -> str:
    """JSON but for ranges such as 0–2. Without the sample's names: the system message is the same for all of a task."""
    example = {name: shown for name, shown, _ in _parts(parameters, facts.task_type)}
    return _QUOTED_NUMBER.sub(r"\1", json.dumps(example, ensure_ascii=False, indent=2))


def reply_schema(parameters: ScoredParameters) -> Mapping[str, Any]:
    """Every key is required and optional ones may be null: endpoints with strict schemas know no other way."""
    return closed_object({name: schema for name, _, schema in _parts(parameters, None)})


def _parts(parameters: ScoredParameters, task_type: str | None) -> Iterator[_Part]:
    """Parts in the order in which `top_level_names` gives their names."""
    identity = parameters.identity
    named = {}
    for name, field in identity.fields.items():
        # A task without a name of its own may be left unnamed.
        may_be_null = not field.required or field.equals == "task_name"
        text = _NULLABLE_TEXT if may_be_null else _TEXT
        named[name] = _one_of(METHODS, may_be_null) if field.equals == "method" else text
    if identity.place and named:
        yield identity.place, dict.fromkeys(named, _OPEN), closed_object(named)
    else:
        yield from ((name, _OPEN, schema) for name, schema in named.items())
    yield from _task_type_parts(parameters, task_type)
    yield from _score_parts(parameters, task_type)
    if parameters.verdict.field:
        yield parameters.verdict.field, " | ".join(parameters.verdict.rules), _one_of(parameters.verdict.rules)
    if parameters.flags.field:
        yield parameters.flags.field, [], {"type": "array", "items": _one_of(FLAGS)}
    if parameters.reasons.field:
        yield parameters.reasons.field, *_text_for_each_dimension(parameters)
    for name, gate in parameters.gates.items():
        yield name, False, {"type": "boolean"}
        if gate.reason_field:
            yield gate.reason_field, None, _NULLABLE_TEXT
    for name, choice in parameters.choices.items():
        yield name, " | ".join(choice.options), _one_of(choice.options, nullable=not choice.required)
    if parameters.steps is not None and parameters.steps.first_wrong_field:
        yield parameters.steps.first_wrong_field, f"{_NUMBER}{_OPEN} | null", _NULLABLE_INTEGER
    evidence = parameters.evidence
    if evidence.field and evidence.policy != "off":
        if evidence.form == "map":
            yield evidence.field, *_text_for_each_dimension(parameters)
        else:
            yield _quote_part(parameters)
    for name, declared in parameters.texts.items():
        yield name, _OPEN, _TEXT if declared.required else _NULLABLE_TEXT


_TEXT: dict[str, Any] = {"type": "string"}
_NULLABLE_TEXT: dict[str, Any] = {"type": ["string", "null"]}
_NULLABLE_INTEGER: dict[str, Any] = {"type": ["integer", "null"]}


def _one_of(words: Iterable[str], nullable: bool = False) -> dict[str, Any]:
    return {**_NULLABLE_TEXT, "enum": [*words, None]} if nullable else {**_TEXT, "enum": list(words)}


def _text_for_each_dimension(parameters: ScoredParameters) -> tuple[dict[str, str], dict[str, Any]]:
    return dict.fromkeys(parameters.dimensions, _OPEN), closed_object(dict.fromkeys(parameters.dimensions, _TEXT))


def _quote_part(parameters: ScoredParameters) -> _Part:
    evidence = parameters.evidence
    example = {evidence.dimension_field: next(iter(parameters.dimensions))}
    schema = {evidence.dimension_field: _one_of(parameters.dimensions)}
    if parameters.steps is not None and parameters.steps.evidence_field:
        example[parameters.steps.evidence_field] = f"{_NUMBER}{_OPEN} | null"
        schema[parameters.steps.evidence_field] = _NULLABLE_INTEGER
    example[evidence.quote_field] = _OPEN
    schema[evidence.quote_field] = _TEXT
    if evidence.reason_field:
        example[evidence.reason_field] = _OPEN
        schema[evidence.reason_field] = _TEXT
    return evidence.field, [example], {"type": "array", "items": closed_object(schema)}


def _task_type_parts(parameters: ScoredParameters, task_type: str | None) -> Iterator[_Part]:
    types = parameters.task_types
    all_types = " | ".join(types.types)
    if types.field:
        yield types.field, task_type or all_types, _one_of(types.types)
    if types.inferred_field:
        yield types.inferred_field, None if task_type else all_types, _one_of(types.types, nullable=True)
    if types.weights_field:
        tables = [declared.weights for declared in types.types.values()]
        schemas = {
            key: {"type": "number", "enum": list(dict.fromkeys(table[key] for table in tables))}
            for key in parameters.dimensions
        }
        unknown = dict.fromkeys(parameters.dimensions, _NUMBER + _OPEN)
        yield types.weights_field, types.types[task_type].weights if task_type else unknown, closed_object(schemas)


def _score_parts(parameters: ScoredParameters, task_type: str | None) -> Iterator[_Part]:
    minimum, total = parameters.scale.minimum, parameters.total
    is_whole = parameters.scale.values == "integer"
    examples = {key: f"{_NUMBER}{minimum}–{top}" for key, top in maxima_of(parameters, task_type).items()}
    schemas = {key: _number_schema(minimum, top, is_whole) for key, top in maxima_of(parameters, None).items()}
    lowest, highest = total_range(parameters, task_type or next(iter(parameters.task_types.types), None))
    example = f"{_NUMBER}{lowest}–{highest}"
    ends = total_range(parameters, None)
    schema = _number_schema(*ends, is_whole and all(isinstance(end, int) for end in ends))
    if total.field and total.place == "inside":
        examples[total.field], schemas[total.field] = example, schema
    yield parameters.scores.field, examples, closed_object(schemas)
    if total.field and total.place == "beside":
        yield total.field, example, schema


def _number_schema(minimum: int | float, maximum: int | float, is_whole: bool) -> dict[str, Any]:
    if is_whole and maximum - minimum < _MOST_VALUES:
        return {"type": "integer", "enum": list(range(int(minimum), int(maximum) + 1))}
    return {"type": "integer" if is_whole else "number", "description": f"{minimum} to {maximum}"}

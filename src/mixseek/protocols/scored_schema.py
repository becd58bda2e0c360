"""The JSON schema of a scored protocol's reply, for endpoints that can constrain their output."""

from collections.abc import Iterable, Mapping
from typing import Any

from mixseek.protocols.scored_identity import METHODS
from mixseek.protocols.scored_parameters import (
    FLAGS,
    EvidenceForm,
    EvidencePolicy,
    IdentityField,
    IdentityRole,
    ScoredParameters,
    TotalPlace,
    ValueKind,
)
from mixseek.protocols.scored_rules import maxima_of, total_range

# Beyond this an enum is longer than it is useful.
_MOST_VALUES = 21


def reply_schema(parameters: ScoredParameters) -> Mapping[str, Any]:
    """Every key is required and optional ones may be null: endpoints with strict schemas know no other way.

    Ranges are enums where they are short: not every endpoint takes bounds, and none of them takes sums.
    """
    properties: dict[str, Any] = {}
    identity = {name: _identity_schema(field) for name, field in parameters.identity.fields.items()}
    if parameters.identity.place and identity:
        properties[parameters.identity.place] = _object(identity)
    else:
        properties.update(identity)
    properties.update(_task_type_schemas(parameters))
    properties.update(_score_schemas(parameters))
    if parameters.verdict.field:
        properties[parameters.verdict.field] = _one_of(parameters.verdict.rules)
    if parameters.flags.field:
        properties[parameters.flags.field] = {"type": "array", "items": _one_of(FLAGS)}
    if parameters.reasons.field:
        properties[parameters.reasons.field] = _object({key: {"type": "string"} for key in parameters.dimensions})
    for name, gate in parameters.gates.items():
        properties[name] = {"type": "boolean"}
        if gate.reason_field:
            properties[gate.reason_field] = {"type": ["string", "null"]}
    for name, choice in parameters.choices.items():
        properties[name] = _one_of(choice.options, nullable=not choice.required)
    if parameters.evidence.field and parameters.evidence.policy is not EvidencePolicy.OFF:
        properties[parameters.evidence.field] = _evidence_schema(parameters)
    for name, text in parameters.texts.items():
        properties[name] = {"type": "string"} if text.required else {"type": ["string", "null"]}
    return _object(properties)


def _object(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def _one_of(words: Iterable[str], nullable: bool = False) -> dict[str, Any]:
    if nullable:
        return {"type": ["string", "null"], "enum": [*words, None]}
    return {"type": "string", "enum": list(words)}


def _identity_schema(field: IdentityField) -> dict[str, Any]:
    if field.equals is IdentityRole.METHOD:
        return _one_of(METHODS, nullable=not field.required)
    # A task without a name of its own may be left unnamed.
    is_optional = not field.required or field.equals is IdentityRole.TASK_NAME
    return {"type": ["string", "null"]} if is_optional else {"type": "string"}


def _task_type_schemas(parameters: ScoredParameters) -> dict[str, Any]:
    types = parameters.task_types
    schemas: dict[str, Any] = {}
    if types.field:
        schemas[types.field] = _one_of(types.types)
    if types.inferred_field:
        schemas[types.inferred_field] = _one_of(types.types, nullable=True)
    if types.weights_field:
        schemas[types.weights_field] = _object(
            {key: {"type": "number", "enum": _weights_for(key, parameters)} for key in parameters.dimensions}
        )
    return schemas


def _weights_for(key: str, parameters: ScoredParameters) -> list[int | float]:
    return list(dict.fromkeys(one.weights[key] for one in parameters.task_types.types.values()))


def _score_schemas(parameters: ScoredParameters) -> dict[str, Any]:
    is_whole = parameters.scale.values is ValueKind.INTEGER
    inside: dict[str, Any] = {
        key: _number_schema(parameters.scale.minimum, maximum, is_whole)
        for key, maximum in maxima_of(parameters, None).items()
    }
    schemas: dict[str, Any] = {parameters.scores.field: inside}
    if parameters.total.field:
        ranges = [total_range(parameters, name) for name in parameters.task_types.types or (None,)]
        lowest, highest = min(low for low, _ in ranges), max(high for _, high in ranges)
        total = _number_schema(lowest, highest, is_whole and isinstance(lowest, int) and isinstance(highest, int))
        (inside if parameters.total.place is TotalPlace.INSIDE else schemas)[parameters.total.field] = total
    schemas[parameters.scores.field] = _object(inside)
    return schemas


def _number_schema(minimum: int | float, maximum: int | float, is_whole: bool) -> dict[str, Any]:
    if is_whole and maximum - minimum < _MOST_VALUES:
        return {"type": "integer", "enum": list(range(int(minimum), int(maximum) + 1))}
    return {"type": "integer" if is_whole else "number", "description": f"{minimum} to {maximum}"}


def _evidence_schema(parameters: ScoredParameters) -> dict[str, Any]:
    evidence = parameters.evidence
    if evidence.form is EvidenceForm.MAP:
        return _object({key: {"type": "string"} for key in parameters.dimensions})
    entry = {evidence.dimension_field: _one_of(parameters.dimensions), evidence.quote_field: {"type": "string"}}
    if evidence.reason_field:
        entry[evidence.reason_field] = {"type": "string"}
    return {"type": "array", "items": _object(entry)}

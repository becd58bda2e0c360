"""What a judge is asked and in which shape it must answer."""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from mixseek.protocols.identity import relate
from mixseek.protocols.scored.parameters import (
    FLAGS,
    EvidenceForm,
    EvidencePolicy,
    IdentityField,
    IdentityRole,
    ScoredParameters,
    TotalPlace,
    ValueKind,
    in_language,
    maxima_of,
    total_range,
)
from mixseek.protocols.scored.sample import METHODS, SampleFacts, shown_name
from mixseek.templating.fence import fence, unused_nonce

# The shape of a scored protocol's reply, as it is shown to a judge.

_OPEN = "…"
# Marks what is a number: shown without quotation marks, or judges would give their scores as texts.
_NUMBER = "\ue000"
_QUOTED_NUMBER = re.compile(f'"{_NUMBER}([^"]*)"')


def reply_example(facts: SampleFacts, parameters: ScoredParameters) -> str:
    """JSON but for ranges such as 0–2, which stand where a number belongs."""
    shown = json.dumps(_example(facts, parameters), ensure_ascii=False, indent=2)
    return _QUOTED_NUMBER.sub(r"\1", shown)


def _example(facts: SampleFacts, parameters: ScoredParameters) -> dict[str, Any]:
    """The shape of a reply, with words where a judge has to think."""
    # Names of the sample stand in the user message only: the system message is the same for every sample of a task.
    named: dict[str, Any] = dict.fromkeys(parameters.identity.fields, _OPEN)
    place = parameters.identity.place
    example: dict[str, Any] = {place: named} if place and named else dict(named)
    types = parameters.task_types
    if types.field:
        example[types.field] = facts.task_type or " | ".join(types.types)
    if types.inferred_field:
        example[types.inferred_field] = None if facts.task_type else " | ".join(types.types)
    if types.weights_field:
        example[types.weights_field] = (
            types.types[facts.task_type].weights
            if facts.task_type
            else dict.fromkeys(parameters.dimensions, _NUMBER + _OPEN)
        )
    minimum = parameters.scale.minimum
    scores: dict[str, Any] = {key: _range(minimum, top) for key, top in maxima_of(parameters, facts.task_type).items()}
    example[parameters.scores.field] = scores
    if parameters.total.field:
        lowest, highest = total_range(parameters, facts.task_type or next(iter(types.types), None))
        inside = parameters.total.place is TotalPlace.INSIDE
        (scores if inside else example)[parameters.total.field] = _range(lowest, highest)
    if parameters.verdict.field:
        example[parameters.verdict.field] = " | ".join(parameters.verdict.rules)
    if parameters.flags.field:
        example[parameters.flags.field] = []
    if parameters.reasons.field:
        example[parameters.reasons.field] = dict.fromkeys(parameters.dimensions, _OPEN)
    for name, gate in parameters.gates.items():
        example[name] = False
        if gate.reason_field:
            example[gate.reason_field] = None
    for name, choice in parameters.choices.items():
        example[name] = " | ".join(choice.options)
    return {**example, **_example_evidence(parameters), **dict.fromkeys(parameters.texts, _OPEN)}


def _range(lowest: int | float, highest: int | float) -> str:
    return f"{_NUMBER}{lowest}–{highest}"


def _example_evidence(parameters: ScoredParameters) -> dict[str, Any]:
    evidence = parameters.evidence
    if not evidence.field or evidence.policy is EvidencePolicy.OFF:
        return {}
    if evidence.form is EvidenceForm.MAP:
        return {evidence.field: dict.fromkeys(parameters.dimensions, _OPEN)}
    entry = {evidence.dimension_field: next(iter(parameters.dimensions)), evidence.quote_field: _OPEN}
    if evidence.reason_field:
        entry[evidence.reason_field] = _OPEN
    return {evidence.field: [entry]}


# What a scored protocol's templates may say: everything that the declaration fixes, and the sample inside fences.

# The same for system and user templates. docs/protocols.md tells what each of them holds.
VARIABLES = frozenset(
    {
        *("nonce", "question", "response", "ground_truth", "ground_truth_alternatives"),
        *("sample", "Task_Specific_Rubric", "task_type", "judge"),
        *("instructions", "dimensions", "scale", "task_types", "total", "gates", "verdicts", "thresholds"),
        *("evidence", "reasons", "choices", "texts", "flags", "methods", "reply_example", "reply_mode"),
    }
)


def prompt_variables(
    facts: SampleFacts, nonce: str, judge: str | None, parameters: ScoredParameters, language: str
) -> dict[str, Any]:
    """Judged text stands in fences of one nonce; the task rubric is the experimenter's own text and stands as it is."""
    sample = facts.sample
    rubric = facts.rubric.text if facts.rubric is not None else ""
    identity = _identity(facts, judge, parameters)
    shown = json.dumps(identity, ensure_ascii=False, indent=2)
    truths = [text for text in (sample.ground_truth, *sample.ground_truth_alternatives) if text is not None]
    nonce = unused_nonce(nonce, (sample.question, sample.response, rubric, shown, *truths))
    return {
        "nonce": nonce,
        "question": fence(sample.question, "QUESTION", nonce),
        "response": fence(sample.response, "RESPONSE", nonce),
        "ground_truth": "" if sample.ground_truth is None else fence(sample.ground_truth, "GROUND_TRUTH", nonce),
        "ground_truth_alternatives": [
            fence(text, f"GROUND_TRUTH_ALTERNATIVE_{number}", nonce)
            for number, text in enumerate(sample.ground_truth_alternatives, start=1)
        ],
        # JSON, so that a name of several lines or with quotation marks stays one value on one line.
        "sample": shown,
        "Task_Specific_Rubric": rubric,
        "task_type": facts.task_type,
        "judge": judge,
        "reply_example": reply_example(facts, parameters),
        **declared_variables(parameters, language, facts.task_type),
    }


def declared_variables(parameters: ScoredParameters, language: str, task_type: str | None) -> dict[str, Any]:
    """What the declaration says, in the prompt's language; maxima are those of the task type where it is known."""
    scale = parameters.scale
    is_open = scale.maximum is None and task_type is None
    maxima = maxima_of(parameters, task_type)
    lowest, highest = total_range(parameters, task_type or next(iter(parameters.task_types.types), None))
    return {
        "instructions": in_language(parameters.instructions, language),
        "dimensions": [
            {
                "key": key,
                "label": one.label or key,
                "title": in_language(one.title, language),
                "description": in_language(one.description, language),
                "minimum": scale.minimum,
                "maximum": None if is_open else maxima[key],
            }
            for key, one in parameters.dimensions.items()
        ],
        "scale": {
            "minimum": scale.minimum,
            "maximum": scale.maximum,
            "is_integer": scale.values == "integer",
            "labels": [{"value": value, "text": in_language(text, language)} for value, text in scale.labels.items()],
        },
        "task_types": [
            {"name": name, "description": in_language(one.description, language), "weights": one.weights}
            for name, one in parameters.task_types.types.items()
        ],
        "total": {
            "field": parameters.total.field,
            "is_inside": parameters.total.place is TotalPlace.INSIDE,
            "minimum": lowest,
            "maximum": highest,
            "is_weighted": parameters.total.rule == "weighted_sum",
        },
        **_declared_rules(parameters, language),
    }


def _declared_rules(parameters: ScoredParameters, language: str) -> dict[str, Any]:
    thresholds = _thresholds(parameters)
    return {
        "gates": [
            {
                "name": name,
                "reason_field": gate.reason_field,
                "zeroes_all": gate.effect == "all_zero",
                "is_from_rubric": gate.conditions == "task_rubric",
                "description": in_language(gate.description, language),
            }
            for name, gate in parameters.gates.items()
        ],
        # In the order in which they are tried; empty where the judge is not asked for a verdict.
        "verdicts": list(thresholds.values()) if parameters.verdict.field else [],
        "thresholds": thresholds,
        "evidence": parameters.evidence.model_dump(mode="json"),
        "reasons": parameters.reasons.model_dump(mode="json"),
        "choices": [
            {
                "name": name,
                "required": choice.required,
                "options": [
                    {"word": word, "description": in_language(choice.descriptions.get(word, ""), language)}
                    for word in choice.options
                ],
            }
            for name, choice in parameters.choices.items()
        ],
        "texts": [
            {
                "name": name,
                "required": text.required,
                "maximum_characters": text.maximum_characters,
                "description": in_language(text.description, language),
            }
            for name, text in parameters.texts.items()
        ],
        "flags": {"field": parameters.flags.field, "words": list(FLAGS)},
        "methods": list(METHODS),
        "reply_mode": parameters.reply_mode.value,
    }


def _thresholds(parameters: ScoredParameters) -> dict[str, dict[str, Any]]:
    labels = {key: one.label or key for key, one in parameters.dimensions.items()}
    return {
        word: {
            "word": word,
            "at_most": rule.at_most,
            "at_least": rule.at_least,
            "nonzero": [labels[key] for key in rule.nonzero],
            "gate": rule.gate,
            "is_otherwise": rule.is_otherwise,
        }
        for word, rule in parameters.verdict.rules.items()
    }


def _identity(facts: SampleFacts, judge: str | None, parameters: ScoredParameters) -> dict[str, Any]:
    """What the reply has to repeat: all that is known before it is asked for, method included."""
    identity: dict[str, Any] = {}
    for name, field in parameters.identity.fields.items():
        match field.equals:
            case IdentityRole.JUDGE:
                if judge is not None:
                    identity[name] = judge
            case IdentityRole.METHOD:
                if judge is not None:
                    relation = relate(judge, facts.sample.target_model, parameters.families)
                    identity[name] = relation.method.value
            case IdentityRole.DATE | IdentityRole.ANY:
                pass
            case role:
                expected = facts.expected(role)
                identity[name] = expected if expected is None else shown_name(expected)
    if parameters.task_types.field:
        identity[parameters.task_types.field] = facts.task_type
    return identity


# The JSON schema of a scored protocol's reply, for endpoints that can constrain their output.

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

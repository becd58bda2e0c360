"""What a judge is asked and in which shape it must answer."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from mixseek.protocols.identity import relate
from mixseek.protocols.reply.fields import closed_object
from mixseek.protocols.scored.parameters import FLAGS, ScoredParameters, in_language, maxima_of, spoken, total_range
from mixseek.protocols.scored.sample import METHODS, SAMPLE_ROLES, SampleFacts, fenced_question, shown_name
from mixseek.templating.fence import fence, unused_nonce

# The parts of a reply, each with an example for the prompt and a JSON schema for endpoints that can constrain.

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
    """In the order in which `top_level_names` gives their names."""
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
    evidence = parameters.evidence
    if evidence.field and evidence.policy != "off":
        if evidence.form == "map":
            yield evidence.field, *_text_for_each_dimension(parameters)
        else:
            yield _quote_part(parameters)
    for name, one in parameters.texts.items():
        yield name, _OPEN, _TEXT if one.required else _NULLABLE_TEXT


_TEXT: dict[str, Any] = {"type": "string"}
_NULLABLE_TEXT: dict[str, Any] = {"type": ["string", "null"]}


def _one_of(words: Iterable[str], nullable: bool = False) -> dict[str, Any]:
    return {**_NULLABLE_TEXT, "enum": [*words, None]} if nullable else {**_TEXT, "enum": list(words)}


def _text_for_each_dimension(parameters: ScoredParameters) -> tuple[dict[str, str], dict[str, Any]]:
    return dict.fromkeys(parameters.dimensions, _OPEN), closed_object(dict.fromkeys(parameters.dimensions, _TEXT))


def _quote_part(parameters: ScoredParameters) -> _Part:
    evidence = parameters.evidence
    example = {evidence.dimension_field: next(iter(parameters.dimensions)), evidence.quote_field: _OPEN}
    schema = {evidence.dimension_field: _one_of(parameters.dimensions), evidence.quote_field: _TEXT}
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
        tables = [one.weights for one in types.types.values()]
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
        "response": fence(sample.response, "RESPONSE", nonce),
        **fenced_question(sample, nonce),
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
                **spoken(one, language),
                "label": one.label or key,
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
        "task_types": [{"name": name, **spoken(one, language)} for name, one in parameters.task_types.types.items()],
        "total": {
            "field": parameters.total.field,
            "is_inside": parameters.total.place == "inside",
            "minimum": lowest,
            "maximum": highest,
            "is_weighted": parameters.total.rule == "weighted_sum",
        },
        **_declared_rules(parameters, language),
    }


def _declared_rules(parameters: ScoredParameters, language: str) -> dict[str, Any]:
    labels = {key: one.label or key for key, one in parameters.dimensions.items()}
    thresholds = {
        word: {
            "word": word,
            **rule.model_dump(),
            "nonzero": [labels[key] for key in rule.nonzero],
            "is_otherwise": rule.is_otherwise,
        }
        for word, rule in parameters.verdict.rules.items()
    }
    return {
        "gates": [
            {
                "name": name,
                **spoken(gate, language),
                "zeroes_all": gate.effect == "all_zero",
                "is_from_rubric": gate.conditions == "task_rubric",
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
        "texts": [{"name": name, **spoken(text, language)} for name, text in parameters.texts.items()],
        "flags": {"field": parameters.flags.field, "words": list(FLAGS)},
        "methods": list(METHODS),
        "reply_mode": parameters.reply_mode.value,
    }


def _identity(facts: SampleFacts, judge: str | None, parameters: ScoredParameters) -> dict[str, Any]:
    """What the reply has to repeat: all that is known before it is asked for, method included."""
    identity: dict[str, Any] = {}
    for name, field in parameters.identity.fields.items():
        if field.equals in SAMPLE_ROLES:
            expected = facts.expected(field.equals)
            identity[name] = expected if expected is None else shown_name(expected)
        elif judge is not None and field.equals == "judge":
            identity[name] = judge
        elif judge is not None and field.equals == "method":
            identity[name] = relate(judge, facts.sample.target_model, parameters.families).method.value
    if parameters.task_types.field:
        identity[parameters.task_types.field] = facts.task_type
    return identity

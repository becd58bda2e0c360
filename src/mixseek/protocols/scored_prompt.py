"""What a scored protocol's templates may say: everything that the declaration fixes, and the sample inside fences."""

import json
from typing import Any

from mixseek.protocols.method import relate
from mixseek.protocols.scored_example import reply_example
from mixseek.protocols.scored_identity import METHODS
from mixseek.protocols.scored_parameters import (
    FLAGS,
    IdentityRole,
    ScoredParameters,
    TotalPlace,
)
from mixseek.protocols.scored_rules import maxima_of, total_range
from mixseek.protocols.scored_sample import SampleFacts, shown_name
from mixseek.protocols.scored_words import in_language
from mixseek.templating.fence import fence, unused_nonce

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

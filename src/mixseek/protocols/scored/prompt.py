"""What a judge is asked, in which shape it must answer, and who it must say judged what."""

import json
from collections.abc import Collection
from typing import Any

from mixseek.domain.ports import Nonces
from mixseek.domain.samples import Sample
from mixseek.protocols.identity import relate
from mixseek.protocols.scored.arithmetic import maxima_of, total_range
from mixseek.protocols.scored.identity_check import METHODS
from mixseek.protocols.scored.languages import in_language, spoken
from mixseek.protocols.scored.parameters import FLAGS, ScoredParameters, StepsUse
from mixseek.protocols.scored.reply_parts import reply_example
from mixseek.protocols.scored.sample_facts import SAMPLE_ROLES, SampleFacts
from mixseek.protocols.shown_texts import (
    QUESTION_NONCE,
    context_texts,
    fenced_contexts,
    fenced_question,
    shown_name,
)
from mixseek.protocols.transcripts import Window, fence_response, make_window, render_steps, step_texts
from mixseek.templating import fence, unused_nonces

# The same for system and user templates. docs/protocols.md tells what each of them holds.
VARIABLES = frozenset(
    {
        *("nonce", QUESTION_NONCE, "question", "response", "ground_truth", "ground_truth_alternatives"),
        *("steps", "steps_use", "contexts"),
        *("sample", "Task_Specific_Rubric", "task_type", "judge"),
        *("instructions", "dimensions", "scale", "task_types", "total", "gates", "verdicts", "thresholds"),
        *("evidence", "reasons", "choices", "texts", "flags", "methods", "reply_example", "reply_mode"),
    }
)


def prompt_variables(
    facts: SampleFacts,
    nonces: Nonces,
    judge: str | None,
    parameters: ScoredParameters,
    language: str,
    shown: Collection[str] = (),
) -> dict[str, Any]:
    """Judged text stands in fences; the task rubric is the experimenter's own text and stands as it is.

    `shown` are the names that the templates take: where they do not show steps by themselves, the response has them.
    """
    sample = facts.sample
    rubric = facts.rubric.text if facts.rubric is not None else ""
    identity = _identity(facts, judge, parameters)
    known = json.dumps(identity, ensure_ascii=False, indent=2)
    truths = [text for text in (sample.ground_truth, *sample.ground_truth_alternatives) if text is not None]
    texts = (sample.question, sample.response, rubric, known, *truths)
    nonces = unused_nonces(nonces, (*texts, *step_texts(sample.steps), *context_texts(sample.contexts)))
    return {
        "nonce": nonces.sample,
        **_judged(sample, nonces.sample, parameters, language, has_section="steps" in shown),
        **fenced_question(sample, nonces),
        "contexts": fenced_contexts(sample, nonces),
        # JSON, so that a name of several lines or with quotation marks stays one value on one line.
        "sample": known,
        "Task_Specific_Rubric": rubric,
        "task_type": facts.task_type,
        "judge": judge,
        "reply_example": reply_example(facts, parameters),
        **declared_variables(parameters, language, facts.task_type),
    }


def window_for(sample: Sample, parameters: ScoredParameters) -> Window:
    """What a judge is shown of the sample's steps."""
    use = parameters.steps or StepsUse()
    return make_window(sample.steps, use.characters, tools=use.keep_tools)


def _judged(
    sample: Sample, nonce: str, parameters: ScoredParameters, language: str, *, has_section: bool
) -> dict[str, str]:
    """The response, and the steps in a section of their own or before the response, in its fence."""
    if not sample.steps:
        return {"response": fence(sample.response, "RESPONSE", nonce), "steps": ""}
    window = window_for(sample, parameters)
    if not has_section:
        return {"response": fence_response(sample.response, window, "RESPONSE", nonce, language), "steps": ""}
    return {
        "response": fence(sample.response, "RESPONSE", nonce),
        "steps": fence(render_steps(window, nonce, sample.response), "STEPS", nonce, has_headings=True),
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
                **spoken(dimension, language),
                "label": dimension.label or key,
                "minimum": scale.minimum,
                "maximum": None if is_open else maxima[key],
            }
            for key, dimension in parameters.dimensions.items()
        ],
        "scale": {
            "minimum": scale.minimum,
            "maximum": scale.maximum,
            "is_integer": scale.values == "integer",
            "labels": [{"value": value, "text": in_language(text, language)} for value, text in scale.labels.items()],
        },
        "task_types": [
            {"name": name, **spoken(declared, language)} for name, declared in parameters.task_types.types.items()
        ],
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
    labels = {key: dimension.label or key for key, dimension in parameters.dimensions.items()}
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
        "steps_use": (parameters.steps or StepsUse()).model_dump(mode="json"),
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

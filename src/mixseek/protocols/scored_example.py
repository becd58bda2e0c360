"""The shape of a scored protocol's reply, as it is shown to a judge."""

import json
import re
from typing import Any

from mixseek.protocols.scored_parameters import EvidenceForm, EvidencePolicy, ScoredParameters, TotalPlace
from mixseek.protocols.scored_rules import maxima_of, total_range
from mixseek.protocols.scored_sample import SampleFacts

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

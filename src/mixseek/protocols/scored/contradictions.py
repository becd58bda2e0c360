"""What in a scored protocol's table contradicts itself; all of it, one line each."""

import re
from collections import Counter
from collections.abc import Iterator

from mixseek.protocols.scored.arithmetic import total_range
from mixseek.protocols.scored.parameters import ScoredParameters

# As str() writes whole numbers: 01 and +1 are no names of a value.
_WHOLE = re.compile(r"0|-?[1-9][0-9]{0,17}")


def contradictions(parameters: ScoredParameters) -> tuple[str, ...]:
    """Each begins with its place inside [parameters]; none means that every sample can be judged."""
    numbers = (*_about_scale(parameters), *_about_weights(parameters))
    return (
        *numbers,
        # Totals are about numbers that are not settled then.
        *(() if numbers else _about_total(parameters)),
        *_about_verdicts(parameters),
        *_about_fields(parameters),
    )


def _about_scale(parameters: ScoredParameters) -> Iterator[str]:
    scale = parameters.scale
    if scale.maximum is not None and scale.minimum >= scale.maximum:
        yield f"scale: minimum {scale.minimum} is not below maximum {scale.maximum}"
    if scale.maximum is None and not parameters.task_types.types:
        yield "scale: no maximum; give one, or weights by task type in task_types.types, which are then the maxima"
    ends = [end for end in (scale.minimum, scale.maximum) if end is not None]
    if scale.values == "integer" and any(isinstance(end, float) for end in ends):
        yield 'scale: values = "integer" needs whole numbers at both ends'
    for value in scale.labels:
        if scale.maximum is None or not (_WHOLE.fullmatch(value) and scale.minimum <= int(value) <= scale.maximum):
            yield f"scale.labels.{value}: not a value of the scale"


def _about_weights(parameters: ScoredParameters) -> Iterator[str]:
    types = parameters.task_types
    if not types.types:
        for field in ("field", "inferred_field", "weights_field"):
            if getattr(types, field):
                yield f"task_types.{field}: there are no task types; declare them in task_types.types"
        if parameters.total.rule == "weighted_sum":
            yield 'total.rule: "weighted_sum" needs weights; declare them in task_types.types'
        return
    if types.inferred_field and not types.field:
        yield "task_types.inferred_field: needs task_types.field as well"
    if (parameters.total.rule == "weighted_sum") == (parameters.scale.maximum is None):
        yield (
            'total.rule: with weights, either scale.maximum is left out (the weights are the maxima, rule "sum") '
            'or the rule is "weighted_sum"'
        )
    dimensions, scale = set(parameters.dimensions), parameters.scale
    for name, task_type in types.types.items():
        place, weights = f"task_types.types.{name}.weights", task_type.weights.values()
        for key in sorted(dimensions ^ set(task_type.weights)):
            yield f"{place}: {'no weight for' if key in dimensions else 'no such dimension:'} {key}"
        if any(weight < 0 for weight in weights) or not sum(weights) > 0:
            yield f"{place}: weights must not be negative, and not all zero"
        if scale.maximum is None and any(weight < scale.minimum for weight in weights):
            what = "a weight is the dimension's maximum here, so it cannot be below the minimum"
            yield f"{place}: {what} {scale.minimum}"
        if scale.values == "integer" and any(isinstance(weight, float) for weight in weights):
            yield f'{place}: values = "integer" needs whole weights'


def _about_total(parameters: ScoredParameters) -> Iterator[str]:
    declared = parameters.total.maximum
    for name in parameters.task_types.types or ("",):
        bottom, top = total_range(parameters, name or None)
        if not bottom < top:
            yield f"task_types.types.{name}.weights: the highest total {top:g} is not above the lowest"
        if declared is not None and abs(top - declared) > 1e-9:
            place = f"task_types.types.{name}.weights" if name else "total.maximum"
            yield f"{place}: the highest total is {top:g}, but total.maximum says {declared:g}"


def _about_verdicts(parameters: ScoredParameters) -> Iterator[str]:
    scale = parameters.scale
    for name, gate in parameters.gates.items():
        if gate.effect == "all_zero" and (scale.minimum > 0 or (scale.maximum or 0) < 0):
            yield f'gates.{name}.effect: "all_zero" needs a scale that holds 0'
        if gate.conditions == "task_rubric" and not gate.reason_field:
            yield f"gates.{name}.reason_field: conditions of a task rubric need a reason that says which one applied"
    rules = parameters.verdict.rules
    if parameters.verdict.field and not rules:
        yield "verdict.field: no rules; a verdict that nothing derives could not be checked"
    for number, (word, rule) in enumerate(rules.items(), start=1):
        place = f"verdict.rules.{word}"
        if rule.is_otherwise and number < len(rules):
            yield f"{place}: has no conditions, so the rules after it are never reached; put it last"
        if not rule.is_otherwise and number == len(rules):
            what = "is the last rule and has conditions; end with one that has none, for what no rule matches"
            yield f"{place}: {what}"
        if rule.gate and rule.gate not in parameters.gates:
            yield f"{place}.gate: no such gate: {rule.gate}"
        for key in rule.nonzero:
            if key not in parameters.dimensions:
                yield f"{place}.nonzero: no such dimension: {key}"


def _about_fields(parameters: ScoredParameters) -> Iterator[str]:
    evidence = parameters.evidence
    if evidence.policy != "off" and not evidence.field:
        yield f'evidence.field: policy "{evidence.policy}" needs a field'
    if evidence.form == "list":
        names = [evidence.dimension_field, evidence.quote_field, evidence.reason_field]
        if len(set(names)) < len(names):
            yield "evidence: dimension_field, quote_field and reason_field must differ"
    yield from _about_steps(parameters)
    for name, choice in parameters.choices.items():
        for option in choice.descriptions:
            if option not in choice.options:
                yield f"choices.{name}.descriptions.{option}: not one of its options"
    roles = Counter(field.equals for field in parameters.identity.fields.values())
    for role, count in roles.items():
        if count > 1 and role not in {"any", "date"}:
            yield f'identity.fields: {count} fields equal "{role}"; one is enough'
    total = parameters.total
    if total.field and total.place == "inside" and total.field in parameters.dimensions:
        yield f"total.field: {total.field} is a dimension"
    for name, count in Counter(top_level_names(parameters)).items():
        if count > 1:
            yield f"{name}: {count} parts of the reply have this name; each needs its own"


def _about_steps(parameters: ScoredParameters) -> Iterator[str]:
    steps, evidence = parameters.steps, parameters.evidence
    if steps is None:
        return
    if steps.evidence_field and (evidence.policy == "off" or evidence.form != "list"):
        yield 'steps.evidence_field: only a list of evidence can name steps; give evidence.policy and form = "list"'
    if steps.evidence_field and steps.evidence_field in (
        evidence.dimension_field,
        evidence.quote_field,
        evidence.reason_field,
    ):
        yield f"steps.evidence_field: {steps.evidence_field} is another field of the evidence"
    if steps.recovery and steps.recovery not in parameters.dimensions:
        yield f"steps.recovery: no such dimension: {steps.recovery}"


def top_level_names(parameters: ScoredParameters) -> tuple[str, ...]:
    """The reply's own keys, in the order in which they are shown to the judge."""
    types, identity, total = parameters.task_types, parameters.identity, parameters.total
    named = (
        *((identity.place,) if identity.place and identity.fields else identity.fields),
        *(types.field, types.inferred_field, types.weights_field),
        parameters.scores.field,
        total.field if total.place == "beside" else "",
        *(parameters.verdict.field, parameters.flags.field, parameters.reasons.field),
        *(name for gate, declared in parameters.gates.items() for name in (gate, declared.reason_field)),
        *parameters.choices,
        parameters.steps.first_wrong_field if parameters.steps else "",
        parameters.evidence.field,
        *parameters.texts,
    )
    return tuple(name for name in named if name)

"""A scored protocol as a page for people, from the same declaration that checks the replies."""

from collections.abc import Iterable, Iterator

from mixseek.protocols.scored.parameters import (
    SCORED,
    EvidencePolicy,
    GateConditions,
    GateEffect,
    IdentityField,
    IdentityRole,
    ScoredParameters,
    TotalPlace,
    TotalRule,
    ValueKind,
    VerdictRule,
    in_language,
    maxima_of,
    total_range,
)
from mixseek.protocols.scored.protocol import ScoredProtocol

_EVIDENCE = {
    EvidencePolicy.VERIFIED: "fewer than {minimum} of a dimension stand in the response",
    EvidencePolicy.PRESENT: "fewer than {minimum} of a dimension are given; whether they stand there is only noted",
}


def documentation(protocol: ScoredProtocol) -> str:
    """Markdown: what is scored, what the reply holds, and what makes it invalid."""
    parameters = protocol.settings
    parts = [
        f"# {protocol.name} {protocol.version} ({protocol.language})",
        f"Hash `{protocol.hash}`. Replies are read in mode `{parameters.reply_mode}`.",
        *_dimension_part(protocol),
        *_verdict_part(parameters),
        "## Fields of the reply",
        _table(("field", "what it is", "what makes the reply invalid"), _field_rows(protocol)),
    ]
    return "\n\n".join(parts) + "\n"


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join("| " + " | ".join(_cell(cell) for cell in line) + " |" for line in lines)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _dimension_part(protocol: ScoredProtocol) -> Iterator[str]:
    parameters, language = protocol.settings, protocol.language
    types = parameters.task_types.types
    is_weighted = bool(types)
    maxima = maxima_of(parameters, None)
    columns = [f"weight: {name}" for name in types] if is_weighted else ["scale"]
    rows = []
    for key, dimension in parameters.dimensions.items():
        words = [in_language(dimension.title, language), in_language(dimension.description, language)]
        weights = [str(one.weights[key]) for one in types.values()]
        cells = weights if is_weighted else [f"{parameters.scale.minimum} to {maxima[key]}"]
        rows.append((f"`{key}`", dimension.label, ": ".join(word for word in words if word), *cells))
    yield "## Dimensions"
    yield _table(("dimension", "", "meaning", *columns), rows)
    kind = "whole numbers" if parameters.scale.values is ValueKind.INTEGER else "numbers"
    top = "the dimension's weight" if parameters.scale.maximum is None else str(parameters.scale.maximum)
    yield f"Scores are {kind} from {parameters.scale.minimum} to {top}."
    if parameters.scale.labels:
        yield "\n".join(
            f"- **{value}**: {in_language(text, language)}" for value, text in parameters.scale.labels.items()
        )
    described = [(name, in_language(one.description, language)) for name, one in types.items() if one.description]
    if described:
        yield "\n".join(f"- **{name}**: {text}" for name, text in described)


def _verdict_part(parameters: ScoredParameters) -> Iterator[str]:
    yield "## Verdict"
    if not parameters.verdict.rules:
        yield f"None is declared; every valid judgment is `{SCORED}`."
        return
    rules = [(f"`{word}`", _condition(rule)) for word, rule in parameters.verdict.rules.items()]
    yield "The first rule that holds:"
    yield _table(("verdict", "when"), rules)


def _condition(rule: VerdictRule) -> str:
    if rule.is_otherwise:
        return "otherwise"
    conditions = [
        f"`{rule.gate}` is true" if rule.gate else "",
        f"total ≥ {rule.at_least}" if rule.at_least is not None else "",
        f"total ≤ {rule.at_most}" if rule.at_most is not None else "",
        f"not 0: {', '.join(f'`{key}`' for key in rule.nonzero)}" if rule.nonzero else "",
    ]
    return " and ".join(condition for condition in conditions if condition)


def _field_rows(protocol: ScoredProtocol) -> Iterator[tuple[str, str, str]]:
    parameters = protocol.settings
    place = f"{parameters.identity.place}." if parameters.identity.place else ""
    for name, field in parameters.identity.fields.items():
        yield (f"`{place}{name}`", *_identity_words(field))
    yield from _task_type_rows(parameters)
    yield from _number_rows(parameters)
    if parameters.verdict.field:
        yield f"`{parameters.verdict.field}`", "the verdict", "another word, or not the one that the scores make it"
    if parameters.flags.field:
        yield f"`{parameters.flags.field}`", "why the judging is unusable; usually []", "missing, or any flag in it"
    for name, gate in parameters.gates.items():
        requirements = ["not true or false"]
        if gate.effect is GateEffect.ALL_ZERO:
            requirements.append("true beside a score other than 0")
        if gate.reason_field:
            requirements.append(f"`{gate.reason_field}` null beside true, or not null beside false")
        if gate.conditions is GateConditions.TASK_RUBRIC:
            requirements.append("true where the task rubric lists no conditions")
        meaning = in_language(gate.description, protocol.language) or "a gate"
        yield f"`{name}`", meaning, "; ".join(requirements)
    yield from _text_rows(parameters, protocol.language)


def _identity_words(field: IdentityField) -> tuple[str, str]:
    missing = "missing, or " if field.required else ""
    match field.equals:
        case IdentityRole.JUDGE:
            return "the judge's name for itself", f"{missing}no text; another name is only noted"
        case IdentityRole.METHOD:
            return "cross_judge or self_judge", f"{missing}not what judge and target make it"
        case IdentityRole.DATE:
            return "the date of judging, or nothing", "not of the form YYYY-MM-DD"
        case IdentityRole.ANY:
            return "free", f"{missing}no text"
        case role:
            return f"the sample's {role.value}", f"{missing}another sample's"


def _task_type_rows(parameters: ScoredParameters) -> Iterator[tuple[str, str, str]]:
    types = parameters.task_types
    names = ", ".join(types.types)
    if types.field:
        yield f"`{types.field}`", f"one of {names}", "another word, or not the sample's"
    if types.inferred_field:
        yield f"`{types.inferred_field}`", "the type, where the sample and its rubric name none", "not null otherwise"
    if types.weights_field:
        yield f"`{types.weights_field}`", "the weights of the task type", "not the table's"


def _number_rows(parameters: ScoredParameters) -> Iterator[tuple[str, str, str]]:
    name = parameters.scores.field
    whole = "; 2.0 and true are not whole numbers" if parameters.scale.values is ValueKind.INTEGER else ""
    yield f"`{name}`", "one score for each dimension", f"one missing, added, of the wrong type or off the scale{whole}"
    total = parameters.total
    if total.field:
        highest = max(total_range(parameters, one)[1] for one in parameters.task_types.types or (None,))
        rule = "the weighted sum of the scores" if total.rule is TotalRule.WEIGHTED_SUM else "the sum of the scores"
        place = f"{name}." if total.place is TotalPlace.INSIDE else ""
        yield f"`{place}{total.field}`", f"{rule}, at most {highest}", "anything else"


def _text_rows(parameters: ScoredParameters, language: str) -> Iterator[tuple[str, str, str]]:
    reasons, evidence = parameters.reasons, parameters.evidence
    if reasons.field:
        longer = f", or longer than {reasons.maximum_characters} characters" if reasons.maximum_characters else ""
        yield f"`{reasons.field}`", "a reason for each score", f"one missing{longer}"
    for name, choice in parameters.choices.items():
        missing = "missing, or " if choice.required else ""
        yield f"`{name}`", f"one of {', '.join(choice.options)}", f"{missing}another word"
    if evidence.policy is not EvidencePolicy.OFF:
        demand = _EVIDENCE[evidence.policy].format(minimum=evidence.minimum_per_dimension)
        yield f"`{evidence.field}`", "quotes from the response", demand
    for name, text in parameters.texts.items():
        longer = f"longer than {text.maximum_characters} characters" if text.maximum_characters else "no text"
        yield (
            f"`{name}`",
            in_language(text.description, language) or "free text",
            f"{'missing, or ' if text.required else ''}{longer}",
        )

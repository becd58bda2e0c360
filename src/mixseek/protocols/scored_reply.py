"""What a judge's object must satisfy under a scored protocol; every objection is collected, nothing is coerced."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from mixseek.domain.judgments import Flag, Reply
from mixseek.protocols.reply_fields import FieldReader
from mixseek.protocols.reply_json import excerpt
from mixseek.protocols.reply_prose import is_refusal
from mixseek.protocols.scored_evidence import Quote, check_evidence
from mixseek.protocols.scored_identity import CheckedIdentity, check_identity
from mixseek.protocols.scored_numbers import check_scores, check_task_type, check_total, check_weights
from mixseek.protocols.scored_parameters import FLAGS, GateConditions, GateEffect, ScoredParameters
from mixseek.protocols.scored_rules import verdict_of
from mixseek.protocols.scored_sample import SampleFacts


@dataclass(frozen=True, slots=True)
class CheckedReply:
    """What the object says. Only complete where nothing was objected to."""

    identity: CheckedIdentity
    task_type: str | None
    inferred_task_type: str | None
    scores: Mapping[str, int | float] | None  # None: at least one of them is not usable
    total: int | float | None
    verdict: str | None
    gates: Mapping[str, tuple[bool | None, str | None]]
    reasons: Mapping[str, str]
    evidence: list[Quote]
    words: Mapping[str, str] = field(default_factory=dict)  # choices and free texts


def check_reply(fields: FieldReader, reply: Reply, facts: SampleFacts, parameters: ScoredParameters) -> CheckedReply:
    """Shape and ranges, then what must agree; the objections are in `fields.findings`."""
    if facts.problem is not None:
        fields.note(Flag.INCOMPLETE_COVERAGE, f"the sample cannot be aligned: {facts.problem}")
    identity = check_identity(fields, reply, facts, parameters)
    task_type, inferred = check_task_type(fields, facts, parameters)
    check_weights(fields, task_type, parameters)
    holder = fields.nested(parameters.scores.field)
    scores = None if holder is None else check_scores(holder, task_type, parameters)
    total = check_total(fields, holder, scores, task_type, parameters)
    _check_evasion(fields, holder, parameters)
    gates = _check_gates(fields, scores, facts, parameters)
    verdict = _check_verdict(fields, scores, total, gates, parameters)
    _check_flags(fields, parameters)
    return CheckedReply(
        identity=identity,
        task_type=task_type,
        inferred_task_type=inferred,
        scores=scores,
        total=total,
        verdict=verdict,
        gates=gates,
        reasons=_check_reasons(fields, parameters),
        evidence=check_evidence(fields, facts.sample, parameters),
        words=_check_words(fields, parameters),
    )


def _check_evasion(fields: FieldReader, holder: FieldReader | None, parameters: ScoredParameters) -> None:
    """Seed 003 §6: a reply that has the shape and gives no score at all is an evasion, whatever words it finds."""
    if holder is not None and any(holder.given(key) is not None for key in parameters.dimensions):
        return
    excuse = next((text for text in _texts(fields, parameters) if is_refusal(text)), None)
    if excuse is not None:
        fields.note(Flag.JUDGE_REFUSAL_OR_EVASION, f"the judge gives no score and declines: {excerpt(excuse)}")
    elif holder is not None and all(holder.has(key) for key in parameters.dimensions):
        fields.note(Flag.JUDGE_REFUSAL_OR_EVASION, "the judge gives no score: every dimension is null")


def _texts(fields: FieldReader, parameters: ScoredParameters) -> list[str]:
    names = [*parameters.texts, *(gate.reason_field for gate in parameters.gates.values()), "reason", "message"]
    values = [fields.given(name) for name in names if name]
    reasons = fields.given(parameters.reasons.field) if parameters.reasons.field else None
    values += list(reasons.values()) if isinstance(reasons, Mapping) else [reasons]
    return [value for value in values if isinstance(value, str)]


def _check_gates(
    fields: FieldReader,
    scores: Mapping[str, int | float] | None,
    facts: SampleFacts,
    parameters: ScoredParameters,
) -> dict[str, tuple[bool | None, str | None]]:
    checked: dict[str, tuple[bool | None, str | None]] = {}
    for name, gate in parameters.gates.items():
        failed = fields.boolean(name)
        reason = fields.nullable_text(gate.reason_field) if gate.reason_field else None
        checked[name] = (failed, reason)
        if failed is None:
            continue
        if gate.reason_field:
            _check_gate_reason(fields, name, gate.reason_field, failed, reason)
        if not failed:
            continue
        if gate.effect is GateEffect.ALL_ZERO and scores is not None and any(scores.values()):
            scored = ", ".join(f"{key} {excerpt(value)}" for key, value in scores.items() if value)
            fields.note(Flag.INTERNAL_INCONSISTENCY, f"{name} is true, which demands that every score is 0: {scored}")
        lists_none = facts.rubric is not None and not facts.rubric.may_fail_critically
        if gate.conditions is GateConditions.TASK_RUBRIC and lists_none:
            fields.note(Flag.INTERNAL_INCONSISTENCY, f"{name} is true, but the task rubric lists no such conditions")
    return checked


def _check_gate_reason(fields: FieldReader, gate: str, name: str, failed: bool, reason: str | None) -> None:
    if failed and (fields.is_null(name) or (reason is not None and not reason.strip())):
        fields.note(Flag.INTERNAL_INCONSISTENCY, f"{gate} is true, which demands a reason, but {name} has none")
    if not failed and reason is not None:
        fields.note(Flag.INTERNAL_INCONSISTENCY, f"{gate} is false, but {name} is {excerpt(reason)}; it must be null")


def _check_verdict(
    fields: FieldReader,
    scores: Mapping[str, int | float] | None,
    total: int | float | None,
    gates: Mapping[str, tuple[bool | None, str | None]],
    parameters: ScoredParameters,
) -> str | None:
    """Derived from the scores, never taken from the reply; None where they do not settle it."""
    field_name = parameters.verdict.field
    given = fields.choice(field_name, tuple(parameters.verdict.rules)) if field_name else None
    if scores is None or total is None or any(failed is None for failed, _ in gates.values()):
        return None
    derived = verdict_of(parameters, scores, total, [name for name, (failed, _) in gates.items() if failed])
    if given is not None and given != derived:
        fields.note(
            Flag.INTERNAL_INCONSISTENCY,
            f"{field_name} is {excerpt(given)}, but a total of {excerpt(total)} with these scores is {derived}",
        )
    return derived


def _check_flags(fields: FieldReader, parameters: ScoredParameters) -> None:
    name = parameters.flags.field
    if not name:
        return
    for item in fields.array(name) or ():
        if not isinstance(item, str):
            fields.note(Flag.UNPARSABLE_OUTPUT, f"{name} holds {excerpt(item)}, expected words")
        elif item in FLAGS:
            fields.note(Flag(item), f"the judge flagged it: its own reply says {item} in {name}")
        else:
            fields.note(Flag.PROTOCOL_VIOLATION, f"{name} holds {excerpt(item)}, expected one of {', '.join(FLAGS)}")


def _check_reasons(fields: FieldReader, parameters: ScoredParameters) -> dict[str, str]:
    reasons = parameters.reasons
    holder = fields.nested(reasons.field) if reasons.field else None
    if holder is None:
        return {}
    for key in holder.unknown_keys(tuple(parameters.dimensions)):
        holder.note(Flag.PROTOCOL_VIOLATION, f"{holder.path}{excerpt(key)} is no dimension of the protocol")
    read = {key: holder.text(key) for key in parameters.dimensions}
    for key, text in read.items():
        if text is not None and not text.strip():
            holder.note(Flag.PROTOCOL_VIOLATION, f"{holder.path}{key} is blank; a reason is asked for")
        _check_length(holder, key, text, reasons.maximum_characters)
    return {key: text for key, text in read.items() if text is not None}


def _check_words(fields: FieldReader, parameters: ScoredParameters) -> dict[str, str]:
    words: dict[str, str | None] = {}
    for name, choice in parameters.choices.items():
        if choice.required or fields.given(name) is not None:
            words[name] = fields.choice(name, choice.options)
    for name, text in parameters.texts.items():
        if text.required or fields.given(name) is not None:
            words[name] = fields.text(name)
            _check_length(fields, name, words[name], text.maximum_characters)
    return {name: word for name, word in words.items() if word is not None}


def _check_length(fields: FieldReader, name: str, text: str | None, maximum: int | None) -> None:
    if text is not None and maximum is not None and len(text) > maximum:
        fields.note(
            Flag.PROTOCOL_VIOLATION, f"{fields.path}{name} has {len(text)} characters, at most {maximum} are allowed"
        )

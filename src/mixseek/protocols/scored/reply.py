"""What a judge's object must satisfy under a scored protocol; every objection is collected, nothing is coerced."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from mixseek.domain.judgments import Flag, Reply
from mixseek.domain.samples import Sample
from mixseek.matching.quotes.locate import QuoteFinding, locate_quote
from mixseek.protocols.reply.fields import FieldReader
from mixseek.protocols.reply.json import excerpt
from mixseek.protocols.reply.reader import is_refusal
from mixseek.protocols.scored.parameters import (
    FLAGS,
    TOLERANCE,
    Evidence,
    EvidenceForm,
    EvidencePolicy,
    GateConditions,
    GateEffect,
    ScoredParameters,
    TotalPlace,
    ValueKind,
    maxima_of,
    total_of,
    total_range,
    verdict_of,
)
from mixseek.protocols.scored.sample import CheckedIdentity, SampleFacts, check_identity

# Quotes that a judge gives as evidence: read, located in the response, and counted by dimension.

# What judges put where there is nothing to quote: nothing, marks, or a word that says so.
_NOTHING = re.compile(
    r"\A\W*\Z|\b(?:empty|blank|none|nothing|n/?a|no (?:\w+ )?(?:output|content|text|response|answer))\b"
    r"|空|无|無|没有|沒有|なし",
    re.IGNORECASE,
)
_MAX_REMARK = 60


@dataclass(frozen=True, slots=True)
class Quote:
    """One piece of evidence; `dimension` is None where the reply's is not one of the protocol's."""

    dimension: str | None
    text: str
    reason: str
    finding: QuoteFinding

    def document(self) -> dict[str, Any]:
        """For the judgment's fields; spans are offsets in the original response."""
        return {
            "dimension": self.dimension,
            "quote": self.text,
            "reason": self.reason,
            "spans": [[span.start, span.end] for span in self.finding.spans],
            "stage": None if self.finding.stage is None else self.finding.stage.value,
            "problem": None if self.finding.problem is None else self.finding.problem.value,
        }


def check_evidence(fields: FieldReader, sample: Sample, parameters: ScoredParameters) -> list[Quote]:
    """Objections go to `fields`; all quotes are located, also those that the policy does not ask to be found."""
    evidence = parameters.evidence
    if evidence.policy is EvidencePolicy.OFF:
        return []
    if evidence.minimum_per_dimension == 0 and fields.given(evidence.field) is None:
        return []
    already = len(fields.findings)
    entries = _entries_of_list if evidence.form is EvidenceForm.LIST else _entries_of_map
    quotes = [
        Quote(dimension, text, reason, _locate(text, sample, evidence.policy))
        for dimension, text, reason in entries(fields, evidence, parameters)
    ]
    if len(fields.findings) == already:
        _count(fields, quotes, sample, parameters)
    return quotes


def _locate(text: str, sample: Sample, policy: EvidencePolicy) -> QuoteFinding:
    if policy is EvidencePolicy.PRESENT and not sample.response.strip():
        # Replies are also checked where the responses are not at hand: nothing is said about a quote then.
        return QuoteFinding()
    return locate_quote(text, sample.response, question=sample.question, rubric=sample.rubric or "")


def _entries_of_list(
    fields: FieldReader, evidence: Evidence, parameters: ScoredParameters
) -> Iterator[tuple[str | None, str, str]]:
    for number, item in enumerate(fields.array(evidence.field) or ()):
        place = f"{fields.path}{evidence.field}[{number}]"
        if not isinstance(item, Mapping):
            fields.note(Flag.UNPARSABLE_OUTPUT, f"{place} is {excerpt(item)}, expected an object")
            continue
        entry = FieldReader(item, f"{place}.", fields.findings)
        dimension = entry.choice(evidence.dimension_field, tuple(parameters.dimensions))
        text = entry.text(evidence.quote_field)
        reason = entry.text(evidence.reason_field) if evidence.reason_field else ""
        if reason is not None and evidence.reason_field and not reason.strip():
            entry.note(Flag.PROTOCOL_VIOLATION, f"{place}.{evidence.reason_field} is blank; one sentence is asked for")
        if text is not None:
            yield dimension, text, reason or ""


def _entries_of_map(
    fields: FieldReader, evidence: Evidence, parameters: ScoredParameters
) -> Iterator[tuple[str | None, str, str]]:
    entry = fields.nested(evidence.field)
    if entry is None:
        return
    for key in entry.unknown_keys(tuple(parameters.dimensions)):
        entry.note(Flag.PROTOCOL_VIOLATION, f"{entry.path}{excerpt(key)} is no dimension of the protocol")
    for key in parameters.dimensions:
        if not entry.has(key) and evidence.minimum_per_dimension == 0:
            continue
        given = entry.given(key)
        if isinstance(given, list) and all(isinstance(text, str) for text in given):
            yield from ((key, text, "") for text in given)
        elif (text := entry.text(key)) is not None:
            yield key, text, ""


def _count(fields: FieldReader, quotes: list[Quote], sample: Sample, parameters: ScoredParameters) -> None:
    evidence = parameters.evidence
    is_verified = evidence.policy is EvidencePolicy.VERIFIED
    is_empty = not sample.response.strip()
    for key in parameters.dimensions:
        own = [quote for quote in quotes if quote.dimension == key]
        given = [quote for quote in own if quote.text.strip() or is_empty]
        counted = [quote for quote in given if _supports(quote, is_empty)] if is_verified else given
        if len(counted) >= evidence.minimum_per_dimension:
            continue
        fields.note(Flag.PROTOCOL_VIOLATION, _shortage(key, given, counted, evidence))


def _supports(quote: Quote, is_empty: bool) -> bool:
    """Nothing can be quoted from an output that says nothing; that it says nothing is then the evidence."""
    if is_empty:
        return len(quote.text) <= _MAX_REMARK and _NOTHING.search(quote.text) is not None
    return quote.finding.problem is None


def _shortage(key: str, given: list[Quote], counted: list[Quote], evidence: Evidence) -> str:
    needed = evidence.minimum_per_dimension
    lost = next((quote for quote in given if quote not in counted), None)
    if lost is None:
        return f"{evidence.field}: {key} has {len(given)} of {needed} quotes"
    found = f"only {len(counted)} of {len(given)} quotes stand" if len(given) > 1 else "its quote does not stand"
    return (
        f"{evidence.field}: {key} needs {needed} from the response, but {found} in it: "
        f"{excerpt(lost.text)} ({lost.finding.problem})"
    )


# The numbers of a reply: task type and weights, scores within the scale, and a total that adds up.


def check_task_type(
    fields: FieldReader, facts: SampleFacts, parameters: ScoredParameters
) -> tuple[str | None, str | None]:
    """The type whose weights count, and the inferred one. The sample's type counts, whatever the judge says."""
    types = parameters.task_types
    names = tuple(types.types)
    given = fields.choice(types.field, names) if types.field else None
    if given is not None and facts.task_type is not None and given != facts.task_type:
        fields.note(
            Flag.INTERNAL_INCONSISTENCY,
            f"{types.field} is {excerpt(given)}, but the sample's is {excerpt(facts.task_type)}",
        )
    inferred = _check_inferred(fields, given, facts, parameters) if types.inferred_field else None
    return facts.task_type if facts.task_type is not None else given, inferred


def _check_inferred(
    fields: FieldReader, given: str | None, facts: SampleFacts, parameters: ScoredParameters
) -> str | None:
    name = parameters.task_types.inferred_field
    names = tuple(parameters.task_types.types)
    inferred = None if fields.is_null(name) else fields.choice(name, names)
    if facts.task_type is not None:
        if inferred is not None:
            fields.note(
                Flag.INTERNAL_INCONSISTENCY,
                f"{name} is {excerpt(inferred)}, but the task type is given as {excerpt(facts.task_type)}; "
                "it must be null",
            )
    elif fields.is_null(name):
        fields.note(
            Flag.INTERNAL_INCONSISTENCY, f"{name} is null, but no task type is given; it must say the inferred one"
        )
    elif inferred is not None and given is not None and inferred != given:
        fields.note(
            Flag.INTERNAL_INCONSISTENCY,
            f"{name} is {excerpt(inferred)}, but {parameters.task_types.field} is {excerpt(given)}",
        )
    return inferred


def check_weights(fields: FieldReader, task_type: str | None, parameters: ScoredParameters) -> None:
    """The table as the judge repeats it: whoever weighs otherwise has scored by another scale."""
    types = parameters.task_types
    holder = fields.nested(types.weights_field) if types.weights_field else None
    if holder is None:
        return
    _refuse_other_dimensions(holder, tuple(parameters.dimensions))
    for key in parameters.dimensions:
        if not holder.has(key) or not _is_number(holder.given(key)):
            # Notes what is missing or of the wrong type.
            holder.number(key, 0, 0)
            continue
        given = holder.given(key)
        if task_type is not None and given != types.types[task_type].weights[key]:
            fields.note(
                Flag.INTERNAL_INCONSISTENCY,
                f"{holder.path}{key} is {excerpt(given)}, "
                f"but the weight for {task_type} is {types.types[task_type].weights[key]}",
            )


def check_scores(
    holder: FieldReader, task_type: str | None, parameters: ScoredParameters
) -> dict[str, int | float] | None:
    """One usable number for each dimension; None where one is not."""
    scale = parameters.scale
    total = parameters.total
    inside = (total.field,) if total.field and total.place is TotalPlace.INSIDE else ()
    _refuse_other_dimensions(holder, (*parameters.dimensions, *inside))
    scores: dict[str, int | float] = {}
    for key, maximum in maxima_of(parameters, task_type).items():
        value: int | float | None
        if scale.values is ValueKind.INTEGER:
            value = holder.integer(key, int(scale.minimum), int(maximum))
        else:
            value = holder.number(key, scale.minimum, maximum)
        if value is not None:
            scores[key] = value
    return scores if len(scores) == len(parameters.dimensions) else None


def check_total(
    fields: FieldReader,
    holder: FieldReader | None,
    scores: Mapping[str, int | float] | None,
    task_type: str | None,
    parameters: ScoredParameters,
) -> int | float | None:
    """The total as derived; the reply's must be the same, wherever it put it."""
    derived = None
    if scores is not None and (task_type is not None or not parameters.task_types.types):
        derived = total_of(parameters, scores, task_type)
    total = parameters.total
    if not total.field:
        return derived
    inside = total.place is TotalPlace.INSIDE
    place, other = (holder, fields) if inside else (fields, holder)
    if place is not None:
        given = _read_total(place, task_type, parameters)
        _compare(place, total.field, given, derived)
        if place.has(total.field):
            other = None
    if other is not None and _is_number(other.given(total.field)):
        # It is in the wrong place, which is said already; whether it adds up is worth knowing all the same.
        _compare(other, total.field, other.given(total.field), derived)
    return derived


def _read_total(place: FieldReader, task_type: str | None, parameters: ScoredParameters) -> int | float | None:
    """A number of the scale's kind, also one that is out of range: what it should be is said by the sum."""
    name = parameters.total.field
    lowest, highest = total_range(parameters, task_type)
    value = place.given(name)
    is_whole = parameters.scale.values is ValueKind.INTEGER and isinstance(lowest, int) and isinstance(highest, int)
    if is_whole:
        place.integer(name, int(lowest), int(highest))
    else:
        place.number(name, lowest, highest)
    fits = _is_number(value) and (not is_whole or isinstance(value, int))
    return value if fits else None


def _compare(place: FieldReader, name: str, given: int | float | None, derived: int | float | None) -> None:
    if given is None or derived is None:
        return
    # Compared before subtracting: an integer of a thousand digits is no float.
    if not derived - TOLERANCE <= given <= derived + TOLERANCE:
        place.note(
            Flag.INTERNAL_INCONSISTENCY,
            f"{place.path}{name} is {excerpt(given)}, but the scores add up to {excerpt(derived)}",
        )


def _refuse_other_dimensions(holder: FieldReader, known: tuple[str, ...]) -> None:
    for key in holder.unknown_keys(known):
        holder.note(Flag.PROTOCOL_VIOLATION, f"{holder.path}{excerpt(key)} is no dimension of the protocol")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


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

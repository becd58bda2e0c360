"""What a judge's object must satisfy under a scored protocol; every objection is collected, nothing is coerced."""

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from mixseek.domain.judgments import Flag, Reply
from mixseek.matching.quotes.locate import QuoteFinding, locate_quote
from mixseek.protocols.reply.fields import FieldReader
from mixseek.protocols.reply.json import excerpt
from mixseek.protocols.reply.reader import is_refusal
from mixseek.protocols.scored.parameters import (
    FLAGS,
    TOLERANCE,
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

# What judges put where there is nothing to quote: nothing, marks, or a word that says so.
_NOTHING = re.compile(
    r"\A\W*\Z|\b(?:empty|blank|none|nothing|n/?a|no (?:\w+ )?(?:output|content|text|response|answer))\b"
    r"|空|无|無|没有|沒有|なし",
    re.IGNORECASE,
)
_MAX_REMARK = 60

Number = int | float


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


@dataclass(frozen=True, slots=True)
class CheckedReply:
    """What the object says. Only complete where nothing was objected to."""

    identity: CheckedIdentity
    task_type: str | None
    inferred_task_type: str | None
    scores: Mapping[str, Number] | None  # None: at least one of them is not usable
    total: Number | None
    verdict: str | None
    gates: Mapping[str, tuple[bool | None, str | None]]
    reasons: Mapping[str, str]
    evidence: list[Quote]
    words: Mapping[str, str]  # choices and free texts


def check_reply(fields: FieldReader, reply: Reply, facts: SampleFacts, parameters: ScoredParameters) -> CheckedReply:
    """Shape and ranges, then what must agree; the objections are in `fields.findings`."""
    if facts.problem is not None:
        fields.note(Flag.INCOMPLETE_COVERAGE, f"the sample cannot be aligned: {facts.problem}")
    identity = check_identity(fields, reply, facts, parameters)
    check = _Check(fields, facts, parameters)
    task_type, inferred = check.task_type()
    check.weights(task_type)
    holder = fields.nested(parameters.scores.field)
    scores = None if holder is None else check.scores(holder, task_type)
    total = check.total(holder, scores, task_type)
    check.evasion(holder)
    gates = check.gates(scores)
    verdict = check.verdict(scores, total, gates)
    check.flags()
    return CheckedReply(
        identity=identity,
        task_type=task_type,
        inferred_task_type=inferred,
        scores=scores,
        total=total,
        verdict=verdict,
        gates=gates,
        reasons=check.reasons(),
        evidence=check.evidence(),
        words=check.words(),
    )


@dataclass(frozen=True, slots=True)
class _Check:
    """Each method reads one part of the reply; objections go to `fields`."""

    fields: FieldReader
    facts: SampleFacts
    parameters: ScoredParameters

    def task_type(self) -> tuple[str | None, str | None]:
        """The type whose weights count, and the inferred one. The sample's type counts, whatever the judge says."""
        types, known = self.parameters.task_types, self.facts.task_type
        given = self.fields.choice(types.field, tuple(types.types)) if types.field else None
        if given is not None and known is not None and given != known:
            self.fields.contradiction(f"{types.field} is {excerpt(given)}, but the sample's is {excerpt(known)}")
        inferred = self._inferred(given) if types.inferred_field else None
        return known if known is not None else given, inferred

    def _inferred(self, given: str | None) -> str | None:
        types, known = self.parameters.task_types, self.facts.task_type
        name = types.inferred_field
        is_null = self.fields.is_null(name)
        inferred = None if is_null else self.fields.choice(name, tuple(types.types))
        said = f"{name} is {excerpt(inferred)}, but"
        if known is not None and inferred is not None:
            self.fields.contradiction(f"{said} the task type is given as {excerpt(known)}; it must be null")
        elif known is None and is_null:
            self.fields.contradiction(f"{said} no task type is given; it must say the inferred one")
        elif known is None and inferred is not None and given is not None and inferred != given:
            self.fields.contradiction(f"{said} {types.field} is {excerpt(given)}")
        return inferred

    def weights(self, task_type: str | None) -> None:
        """The table as the judge repeats it: whoever weighs otherwise has scored by another scale."""
        types = self.parameters.task_types
        holder = self.fields.nested(types.weights_field) if types.weights_field else None
        if holder is None:
            return
        self._refuse_other_dimensions(holder)
        for key in self.parameters.dimensions:
            given = holder.number(key, -math.inf, math.inf)
            expected = given if task_type is None else types.types[task_type].weights[key]
            if given is not None and given != expected:
                self.fields.contradiction(
                    f"{holder.path}{key} is {excerpt(given)}, but the weight for {task_type} is {expected}"
                )

    def scores(self, holder: FieldReader, task_type: str | None) -> dict[str, Number] | None:
        """One usable number for each dimension; None where one is not."""
        scale, total = self.parameters.scale, self.parameters.total
        self._refuse_other_dimensions(holder, total.field if total.place is TotalPlace.INSIDE else "")
        scores: dict[str, Number | None] = {}
        for key, maximum in maxima_of(self.parameters, task_type).items():
            if scale.values is ValueKind.INTEGER:
                scores[key] = holder.integer(key, int(scale.minimum), int(maximum))
            else:
                scores[key] = holder.number(key, scale.minimum, maximum)
        usable = {key: value for key, value in scores.items() if value is not None}
        return usable if len(usable) == len(scores) else None

    def total(
        self, holder: FieldReader | None, scores: Mapping[str, Number] | None, task_type: str | None
    ) -> Number | None:
        """The total as derived; the reply's must be the same, wherever it put it."""
        total = self.parameters.total
        derived = None
        if scores is not None and (task_type is not None or not self.parameters.task_types.types):
            derived = total_of(self.parameters, scores, task_type)
        if not total.field:
            return derived
        is_inside = total.place is TotalPlace.INSIDE
        place, other = (holder, self.fields) if is_inside else (self.fields, holder)
        if place is not None:
            _compare(place, total.field, self._given_total(place, task_type), derived)
        if other is not None and (place is None or not place.has(total.field)):
            # It is in the wrong place, which is said already; whether it adds up is worth knowing all the same.
            _compare(other, total.field, other.given(total.field), derived)
        return derived

    def _given_total(self, place: FieldReader, task_type: str | None) -> object:
        """As the reply says it, also where it is out of range: what it should be is said by the sum."""
        name = self.parameters.total.field
        lowest, highest = total_range(self.parameters, task_type)
        value = place.given(name)
        is_whole = self.parameters.scale.values is ValueKind.INTEGER
        if is_whole and isinstance(lowest, int) and isinstance(highest, int):
            place.integer(name, lowest, highest)
            return value if isinstance(value, int) else None
        place.number(name, lowest, highest)
        return value

    def evasion(self, holder: FieldReader | None) -> None:
        """Seed 003 §6: a reply that has the shape and gives no score at all is an evasion, whatever words it finds."""
        dimensions = self.parameters.dimensions
        if holder is not None and any(holder.given(key) is not None for key in dimensions):
            return
        excuse = next((text for text in self._texts() if is_refusal(text)), None)
        if excuse is not None:
            detail = f"the judge gives no score and declines: {excerpt(excuse)}"
            self.fields.note(Flag.JUDGE_REFUSAL_OR_EVASION, detail)
        elif holder is not None and all(holder.has(key) for key in dimensions):
            detail = "the judge gives no score: every dimension is null"
            self.fields.note(Flag.JUDGE_REFUSAL_OR_EVASION, detail)

    def _texts(self) -> list[str]:
        gates = self.parameters.gates.values()
        names = [*self.parameters.texts, *(gate.reason_field for gate in gates), "reason", "message"]
        values = [self.fields.given(name) for name in names if name]
        reasons = self.fields.given(self.parameters.reasons.field) if self.parameters.reasons.field else None
        values += list(reasons.values()) if isinstance(reasons, Mapping) else [reasons]
        return [value for value in values if isinstance(value, str)]

    def gates(self, scores: Mapping[str, Number] | None) -> dict[str, tuple[bool | None, str | None]]:
        checked: dict[str, tuple[bool | None, str | None]] = {}
        for name, gate in self.parameters.gates.items():
            failed = self.fields.boolean(name)
            reason = self.fields.nullable_text(gate.reason_field) if gate.reason_field else None
            checked[name] = (failed, reason)
            if failed is not None and gate.reason_field:
                self._gate_reason(name, gate.reason_field, failed, reason)
            if not failed:
                continue
            if gate.effect is GateEffect.ALL_ZERO and scores is not None and any(scores.values()):
                scored = ", ".join(f"{key} {excerpt(value)}" for key, value in scores.items() if value)
                self.fields.contradiction(f"{name} is true, which demands that every score is 0: {scored}")
            lists_none = self.facts.rubric is not None and not self.facts.rubric.may_fail_critically
            if gate.conditions is GateConditions.TASK_RUBRIC and lists_none:
                self.fields.contradiction(f"{name} is true, but the task rubric lists no such conditions")
        return checked

    def _gate_reason(self, gate: str, name: str, failed: bool, reason: str | None) -> None:
        if failed and (self.fields.is_null(name) or (reason is not None and not reason.strip())):
            self.fields.contradiction(f"{gate} is true, which demands a reason, but {name} has none")
        if not failed and reason is not None:
            self.fields.contradiction(f"{gate} is false, but {name} is {excerpt(reason)}; it must be null")

    def verdict(
        self,
        scores: Mapping[str, Number] | None,
        total: Number | None,
        gates: Mapping[str, tuple[bool | None, str | None]],
    ) -> str | None:
        """Derived from the scores, never taken from the reply; None where they do not settle it."""
        name = self.parameters.verdict.field
        given = self.fields.choice(name, tuple(self.parameters.verdict.rules)) if name else None
        if scores is None or total is None or any(failed is None for failed, _ in gates.values()):
            return None
        derived = verdict_of(self.parameters, scores, total, [gate for gate, (failed, _) in gates.items() if failed])
        if given is not None and given != derived:
            self.fields.contradiction(
                f"{name} is {excerpt(given)}, but a total of {excerpt(total)} with these scores is {derived}"
            )
        return derived

    def flags(self) -> None:
        name = self.parameters.flags.field
        for item in (self.fields.array(name) or ()) if name else ():
            if not isinstance(item, str):
                self.fields.note(Flag.UNPARSABLE_OUTPUT, f"{name} holds {excerpt(item)}, expected words")
            elif item in FLAGS:
                self.fields.note(Flag(item), f"the judge flagged it: its own reply says {item} in {name}")
            else:
                self.fields.violation(f"{name} holds {excerpt(item)}, expected one of {', '.join(FLAGS)}")

    def reasons(self) -> dict[str, str]:
        reasons = self.parameters.reasons
        holder = self.fields.nested(reasons.field) if reasons.field else None
        if holder is None:
            return {}
        self._refuse_other_dimensions(holder)
        read = {key: holder.text(key) for key in self.parameters.dimensions}
        for key, text in read.items():
            if text is not None and not text.strip():
                holder.violation(f"{holder.path}{key} is blank; a reason is asked for")
            _check_length(holder, key, text, reasons.maximum_characters)
        return {key: text for key, text in read.items() if text is not None}

    def words(self) -> dict[str, str]:
        words: dict[str, str | None] = {}
        for name, choice in self.parameters.choices.items():
            if choice.required or self.fields.given(name) is not None:
                words[name] = self.fields.choice(name, choice.options)
        for name, text in self.parameters.texts.items():
            if text.required or self.fields.given(name) is not None:
                words[name] = self.fields.text(name)
                _check_length(self.fields, name, words[name], text.maximum_characters)
        return {name: word for name, word in words.items() if word is not None}

    def evidence(self) -> list[Quote]:
        """All quotes are located, also those that the policy does not ask to be found."""
        evidence = self.parameters.evidence
        is_optional = evidence.minimum_per_dimension == 0 and self.fields.given(evidence.field) is None
        if evidence.policy is EvidencePolicy.OFF or is_optional:
            return []
        already = len(self.fields.findings)
        entries = self._listed_quotes() if evidence.form is EvidenceForm.LIST else self._mapped_quotes()
        quotes = [Quote(dimension, text, reason, self._locate(text)) for dimension, text, reason in entries]
        if len(self.fields.findings) == already:
            self._count(quotes)
        return quotes

    def _locate(self, text: str) -> QuoteFinding:
        sample = self.facts.sample
        if self.parameters.evidence.policy is EvidencePolicy.PRESENT and not sample.response.strip():
            # Replies are also checked where the responses are not at hand: nothing is said about a quote then.
            return QuoteFinding()
        return locate_quote(text, sample.response, question=sample.question, rubric=sample.rubric or "")

    def _listed_quotes(self) -> Iterator[tuple[str | None, str, str]]:
        evidence = self.parameters.evidence
        for number, item in enumerate(self.fields.array(evidence.field) or ()):
            place = f"{self.fields.path}{evidence.field}[{number}]"
            if not isinstance(item, Mapping):
                self.fields.note(Flag.UNPARSABLE_OUTPUT, f"{place} is {excerpt(item)}, expected an object")
                continue
            entry = FieldReader(item, f"{place}.", self.fields.findings)
            dimension = entry.choice(evidence.dimension_field, tuple(self.parameters.dimensions))
            text = entry.text(evidence.quote_field)
            reason = entry.text(evidence.reason_field) if evidence.reason_field else ""
            if reason is not None and evidence.reason_field and not reason.strip():
                entry.violation(f"{place}.{evidence.reason_field} is blank; one sentence is asked for")
            if text is not None:
                yield dimension, text, reason or ""

    def _mapped_quotes(self) -> Iterator[tuple[str | None, str, str]]:
        evidence = self.parameters.evidence
        entry = self.fields.nested(evidence.field)
        if entry is None:
            return
        self._refuse_other_dimensions(entry)
        for key in self.parameters.dimensions:
            if not entry.has(key) and evidence.minimum_per_dimension == 0:
                continue
            given = entry.given(key)
            if isinstance(given, list) and all(isinstance(text, str) for text in given):
                yield from ((key, text, "") for text in given)
            elif (text := entry.text(key)) is not None:
                yield key, text, ""

    def _count(self, quotes: list[Quote]) -> None:
        evidence = self.parameters.evidence
        is_empty = not self.facts.sample.response.strip()
        for key in self.parameters.dimensions:
            given = [quote for quote in quotes if quote.dimension == key and (quote.text.strip() or is_empty)]
            is_verified = evidence.policy is EvidencePolicy.VERIFIED
            counted = [quote for quote in given if not is_verified or _supports(quote, is_empty)]
            if len(counted) < evidence.minimum_per_dimension:
                self.fields.violation(f"{evidence.field}: {key} {self._shortage(given, counted)}")

    def _shortage(self, given: list[Quote], counted: list[Quote]) -> str:
        needed = self.parameters.evidence.minimum_per_dimension
        lost = next((quote for quote in given if quote not in counted), None)
        if lost is None:
            return f"has {len(given)} of {needed} quotes"
        found = f"only {len(counted)} of {len(given)} quotes stand" if len(given) > 1 else "its quote does not stand"
        said = f"{excerpt(lost.text)} ({lost.finding.problem})"
        return f"needs {needed} from the response, but {found} in it: {said}"

    def _refuse_other_dimensions(self, holder: FieldReader, besides: str = "") -> None:
        for key in holder.unknown_keys((*self.parameters.dimensions, *([besides] if besides else []))):
            holder.violation(f"{holder.path}{excerpt(key)} is no dimension of the protocol")


def _supports(quote: Quote, is_empty: bool) -> bool:
    """Nothing can be quoted from an output that says nothing; that it says nothing is then the evidence."""
    if is_empty:
        return len(quote.text) <= _MAX_REMARK and _NOTHING.search(quote.text) is not None
    return quote.finding.problem is None


def _compare(place: FieldReader, name: str, given: object, derived: Number | None) -> None:
    if derived is None or isinstance(given, bool) or not isinstance(given, int | float):
        return
    # Compared before subtracting: an integer of a thousand digits is no float.
    if not derived - TOLERANCE <= given <= derived + TOLERANCE:
        said = f"{place.path}{name} is {excerpt(given)}"
        place.contradiction(f"{said}, but the scores add up to {excerpt(derived)}")


def _check_length(fields: FieldReader, name: str, text: str | None, maximum: int | None) -> None:
    if text is not None and maximum is not None and len(text) > maximum:
        fields.violation(f"{fields.path}{name} has {len(text)} characters, at most {maximum} are allowed")

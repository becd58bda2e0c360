"""What a judge's object must satisfy under a scored protocol; every objection is collected, nothing is coerced."""

import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

from mixseek.domain.judgments import Flag, Reply
from mixseek.domain.steps import unhandled_errors
from mixseek.lazy_dataclass import dataclass
from mixseek.matching.evidence.quotes import QuoteFinding, QuoteProblem
from mixseek.protocols.replies.refusals import is_refusal
from mixseek.protocols.replies.repairs import Repair
from mixseek.protocols.replies.reply_fields import FieldReader
from mixseek.protocols.replies.reply_json import excerpt
from mixseek.protocols.scored.arithmetic import TOLERANCE, maxima_of, total_of, total_range, verdict_of
from mixseek.protocols.scored.identity_check import check_identity
from mixseek.protocols.scored.parameters import FLAGS, ScoredParameters
from mixseek.protocols.scored.prompt import window_for
from mixseek.protocols.scored.sample_facts import SampleFacts
from mixseek.protocols.step_quotes import Location, StepQuotes

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
    location: Location

    @property
    def finding(self) -> QuoteFinding:
        return self.location.finding

    def document(self) -> dict[str, Any]:
        """The quote for the judgment's fields; spans are offsets in the original response."""
        return {"dimension": self.dimension, "quote": self.text, "reason": self.reason, **self.location.document()}


class CheckedReply:
    """What the object says: shape and ranges, then what must agree. Only complete where `fields` has no findings."""

    def __init__(self, fields: FieldReader, reply: Reply, facts: SampleFacts, parameters: ScoredParameters) -> None:
        self._fields, self._facts, self._parameters = fields, facts, parameters
        sample = facts.sample
        self._quotes = StepQuotes(sample.response, sample.steps, sample.question, sample.rubric or "")
        self.window = window_for(sample, parameters)
        self.repairs: tuple[Repair, ...] = ()
        if facts.problem is not None:
            fields.note(Flag.INCOMPLETE_COVERAGE, f"the sample cannot be aligned: {facts.problem}")
        self.relation, self.identity, self.warnings = check_identity(fields, reply, facts, parameters)
        self.task_type, self.inferred_task_type = self._task_type()
        self._check_weights()
        holder = fields.nested(parameters.scores.field)
        self.scores = None if holder is None else self._scores(holder)
        self.total = self._total(holder)
        self._check_evasion(holder)
        self.gates = self._gates()
        self.verdict = self._verdict()
        self._check_flags()
        self.reasons = self._reasons()
        self.first_wrong_step = self._first_wrong_step()
        self.evidence = self._evidence()
        self._check_unhandled_errors()
        self.words = self._words()

    def _task_type(self) -> tuple[str | None, str | None]:
        """The type whose weights count, and the inferred one. The sample's type counts, whatever the judge says."""
        types, known = self._parameters.task_types, self._facts.task_type
        given = self._fields.choice(types.field, tuple(types.types)) if types.field else None
        if given is not None and known is not None and given != known:
            self._fields.contradiction(f"{types.field} is {excerpt(given)}, but the sample's is {excerpt(known)}")
        inferred = self._inferred(given) if types.inferred_field else None
        return known if known is not None else given, inferred

    def _inferred(self, given: str | None) -> str | None:
        types, known = self._parameters.task_types, self._facts.task_type
        name = types.inferred_field
        is_null = self._fields.is_null(name)
        inferred = None if is_null else self._fields.choice(name, tuple(types.types))
        statement = f"{name} is {excerpt(inferred)}, but"
        if known is not None and inferred is not None:
            self._fields.contradiction(f"{statement} the task type is given as {excerpt(known)}; it must be null")
        elif known is None and is_null:
            self._fields.contradiction(f"{statement} no task type is given; it must say the inferred one")
        elif known is None and inferred is not None and given is not None and inferred != given:
            self._fields.contradiction(f"{statement} {types.field} is {excerpt(given)}")
        return inferred

    def _check_weights(self) -> None:
        """The table as the judge repeats it: whoever weighs otherwise has scored by another scale."""
        types = self._parameters.task_types
        holder = self._fields.nested(types.weights_field) if types.weights_field else None
        if holder is None:
            return
        self._refuse_other_dimensions(holder)
        for key in self._parameters.dimensions:
            given = holder.number(key, -math.inf, math.inf)
            expected = given if self.task_type is None else types.types[self.task_type].weights[key]
            if given is not None and given != expected:
                self._fields.contradiction(
                    f"{holder.path}{key} is {excerpt(given)}, but the weight for {self.task_type} is {expected}"
                )

    def _scores(self, holder: FieldReader) -> dict[str, Number] | None:
        """One usable number for each dimension; None where one is not."""
        scale, total = self._parameters.scale, self._parameters.total
        self._refuse_other_dimensions(holder, total.field if total.place == "inside" else "")
        scores: dict[str, Number | None] = {}
        for key, maximum in maxima_of(self._parameters, self.task_type).items():
            if scale.values == "integer":
                scores[key] = holder.integer(key, int(scale.minimum), int(maximum))
            else:
                scores[key] = holder.number(key, scale.minimum, maximum)
        usable = {key: value for key, value in scores.items() if value is not None}
        return usable if len(usable) == len(scores) else None

    def _total(self, holder: FieldReader | None) -> Number | None:
        """The total as derived; the reply's must be the same, wherever it put it."""
        total = self._parameters.total
        derived = None
        if self.scores is not None and (self.task_type is not None or not self._parameters.task_types.types):
            derived = total_of(self._parameters, self.scores, self.task_type)
        if not total.field:
            return derived
        place, other = (holder, self._fields) if total.place == "inside" else (self._fields, holder)
        if place is not None:
            _compare(place, total.field, self._given_total(place), derived)
        if other is not None and (place is None or not place.has(total.field)):
            # It is in the wrong place, which is said already; whether it adds up is worth knowing all the same.
            _compare(other, total.field, other.given(total.field), derived)
        return derived

    def _given_total(self, place: FieldReader) -> object:
        """The total as the reply says it, also where it is out of range: what it should be is said by the sum."""
        name = self._parameters.total.field
        lowest, highest = total_range(self._parameters, self.task_type)
        value = place.given(name)
        if self._parameters.scale.values == "integer" and isinstance(lowest, int) and isinstance(highest, int):
            place.integer(name, lowest, highest)
            return value if isinstance(value, int) else None
        place.number(name, lowest, highest)
        return value

    def _check_evasion(self, holder: FieldReader | None) -> None:
        """Seed 003 §6: a reply that has the shape and gives no score at all is an evasion, whatever words it finds."""
        dimensions = self._parameters.dimensions
        if holder is not None and any(holder.given(key) is not None for key in dimensions):
            return
        excuse = next((text for text in self._texts() if is_refusal(text)), None)
        if excuse is not None:
            manner = f" and declines: {excerpt(excuse)}"
        elif holder is not None and all(holder.has(key) for key in dimensions):
            manner = ": every dimension is null"
        else:
            return
        self._fields.note(Flag.JUDGE_REFUSAL_OR_EVASION, f"the judge gives no score{manner}")

    def _texts(self) -> list[str]:
        gates = self._parameters.gates.values()
        names = [*self._parameters.texts, *(gate.reason_field for gate in gates), "reason", "message"]
        values = [self._fields.given(name) for name in names if name]
        reasons = self._fields.given(self._parameters.reasons.field) if self._parameters.reasons.field else None
        values += list(reasons.values()) if isinstance(reasons, Mapping) else [reasons]
        return [value for value in values if isinstance(value, str)]

    def _gates(self) -> dict[str, tuple[bool | None, str | None]]:
        checked: dict[str, tuple[bool | None, str | None]] = {}
        for name, gate in self._parameters.gates.items():
            failed = self._fields.boolean(name)
            reason = self._fields.nullable_text(gate.reason_field) if gate.reason_field else None
            checked[name] = (failed, reason)
            if failed is False and reason is not None:
                statement = f"{name} is false, but {gate.reason_field} is {excerpt(reason)}"
                self._fields.contradiction(f"{statement}; it must be null")
            if not failed:
                continue
            is_unsaid = self._fields.is_null(gate.reason_field) or (reason is not None and not reason.strip())
            if gate.reason_field and is_unsaid:
                self._fields.contradiction(f"{name} is true, which demands a reason, but {gate.reason_field} has none")
            if gate.effect == "all_zero" and self.scores is not None and any(self.scores.values()):
                scored = ", ".join(f"{key} {excerpt(value)}" for key, value in self.scores.items() if value)
                self._fields.contradiction(f"{name} is true, which demands that every score is 0: {scored}")
            lists_none = self._facts.rubric is not None and not self._facts.rubric.may_fail_critically
            if gate.conditions == "task_rubric" and lists_none:
                self._fields.contradiction(f"{name} is true, but the task rubric lists no such conditions")
        return checked

    def _verdict(self) -> str | None:
        """Derived from the scores, never taken from the reply; None where they do not settle it."""
        name = self._parameters.verdict.field
        given = self._fields.choice(name, tuple(self._parameters.verdict.rules)) if name else None
        if self.scores is None or self.total is None or any(failed is None for failed, _ in self.gates.values()):
            return None
        failed_gates = [gate for gate, (failed, _) in self.gates.items() if failed]
        derived = verdict_of(self._parameters, self.scores, self.total, failed_gates)
        if given is not None and given != derived:
            self._fields.contradiction(
                f"{name} is {excerpt(given)}, but a total of {excerpt(self.total)} with these scores is {derived}"
            )
        return derived

    def _check_flags(self) -> None:
        name = self._parameters.flags.field
        for item in (self._fields.array(name) or ()) if name else ():
            if not isinstance(item, str):
                self._fields.note(Flag.UNPARSABLE_OUTPUT, f"{name} holds {excerpt(item)}, expected words")
            elif item in FLAGS:
                self._fields.note(Flag(item), f"the judge flagged it: its own reply says {item} in {name}")
            else:
                self._fields.violation(f"{name} holds {excerpt(item)}, expected one of {', '.join(FLAGS)}")

    def _reasons(self) -> dict[str, str]:
        reasons = self._parameters.reasons
        holder = self._fields.nested(reasons.field) if reasons.field else None
        if holder is None:
            return {}
        self._refuse_other_dimensions(holder)
        # Seed 000 ends the grading at a critical fail: why a dimension is worth nothing is said there, and once.
        is_over = self._is_decided_by_gate
        unsaid = [key for key in self._parameters.dimensions if is_over and _is_unsaid(holder, key)]
        if unsaid:
            self.repairs = (Repair.BLANK_REASONS,)
        read = {key: holder.text(key) for key in self._parameters.dimensions if key not in unsaid}
        for key, text in read.items():
            if text is not None and not text.strip():
                holder.violation(f"{holder.path}{key} is blank; a reason is asked for")
            _check_length(holder, key, text, reasons.maximum_characters)
        return {key: text for key, text in read.items() if text is not None}

    @property
    def _is_decided_by_gate(self) -> bool:
        """Whether a gate failed that makes every score 0, so that nothing was left to be graded."""
        return any(
            failed and self._parameters.gates[name].effect == "all_zero" for name, (failed, _) in self.gates.items()
        )

    def _words(self) -> dict[str, str]:
        words: dict[str, str | None] = {}
        for name, choice in self._parameters.choices.items():
            if choice.required or self._fields.given(name) is not None:
                words[name] = self._fields.choice(name, choice.options)
        for name, text in self._parameters.texts.items():
            if text.required or self._fields.given(name) is not None:
                words[name] = self._fields.text(name)
                _check_length(self._fields, name, words[name], text.maximum_characters)
        return {name: word for name, word in words.items() if word is not None}

    def _evidence(self) -> list[Quote]:
        """All quotes are located, also those that the policy does not ask to be found."""
        evidence = self._parameters.evidence
        is_optional = evidence.minimum_per_dimension == 0 and self._fields.given(evidence.field) is None
        if evidence.policy == "off" or is_optional:
            return []
        already = len(self._fields.findings)
        quotes = list(self._listed_quotes() if evidence.form == "list" else self._mapped_quotes())
        if len(self._fields.findings) == already:
            self._count(quotes)
        return quotes

    def _locate(self, text: str) -> Location:
        if self._parameters.evidence.policy == "present" and self._is_empty:
            # Replies are also checked where the responses are not at hand: nothing is said about a quote then.
            return Location(QuoteFinding())
        return self._quotes.locate(text)

    @property
    def _names_steps(self) -> bool:
        """Whether each quote says in which step it stands."""
        return self._parameters.steps is not None and bool(self._parameters.steps.evidence_field)

    @property
    def _is_empty(self) -> bool:
        """Nothing can be quoted."""
        return not self._facts.sample.response.strip() and not self._facts.sample.steps

    def _listed_quotes(self) -> Iterator[Quote]:
        evidence = self._parameters.evidence
        for number, item in enumerate(self._fields.array(evidence.field) or ()):
            place = f"{self._fields.path}{evidence.field}[{number}]"
            if not isinstance(item, Mapping):
                self._fields.note(Flag.UNPARSABLE_OUTPUT, f"{place} is {excerpt(item)}, expected an object")
                continue
            entry = FieldReader(item, f"{place}.", self._fields.findings)
            dimension = entry.choice(evidence.dimension_field, tuple(self._parameters.dimensions))
            text = entry.text(evidence.quote_field)
            reason = entry.text(evidence.reason_field) if evidence.reason_field else ""
            if reason is not None and evidence.reason_field and not reason.strip():
                entry.violation(f"{place}.{evidence.reason_field} is blank; one sentence is asked for")
            location = self._location_in_step(entry, text)
            if text is not None:
                yield Quote(dimension, text, reason or "", location)

    def _location_in_step(self, entry: FieldReader, text: str | None) -> Location:
        """Where the entry says that its quote stands; anywhere, where the protocol asks for no step."""
        name = "" if self._parameters.steps is None else self._parameters.steps.evidence_field
        if not name:
            return Location(QuoteFinding()) if text is None else self._locate(text)
        step = self._step_number(entry, name)
        if step is None and not entry.is_null(name):
            return Location(QuoteFinding(problem=QuoteProblem.NOT_FOUND))
        return Location(QuoteFinding()) if text is None else self._quotes.locate_in(text, step)

    def _step_number(self, holder: FieldReader, name: str) -> int | None:
        """The number of a step that the judge was shown; None is null, or was objected to."""
        if holder.is_null(name):
            return None
        number, count = holder.whole(name), len(self._facts.sample.steps)
        if number is None:
            return None
        if not 1 <= number <= count:
            steps = "1 step" if count == 1 else f"{count} steps"
            holder.violation(f"{holder.path}{name} is {excerpt(number)}, but the sample has {steps}")
            return None
        if not self.window.is_shown(number):
            gap = next(part.numbers for part in self.window.left_out if part.first <= number <= part.last)
            holder.violation(f"{holder.path}{name} is {number}, which the prompt left out (steps {gap})")
            return None
        return number

    def _first_wrong_step(self) -> int | None:
        steps = self._parameters.steps
        return self._step_number(self._fields, steps.first_wrong_field) if steps and steps.first_wrong_field else None

    def _check_unhandled_errors(self) -> None:
        """What the steps themselves say, held against a judge that says that all went well."""
        use, steps = self._parameters.steps, self._facts.sample.steps
        unhandled = unhandled_errors(steps) if use is not None else ()
        if use is None or not unhandled:
            return
        first = steps[unhandled[0] - 1]
        name = f"step {unhandled[0]} ({' '.join(filter(None, (first.role.value, first.tool)))})"
        failed = f"{name} failed and was never repeated with success"
        if use.recovery and self.scores is not None:
            scale, best = self._parameters.scale, maxima_of(self._parameters, self.task_type)[use.recovery]
            best = scale.minimum if scale.direction == "lower_is_better" else best
            if self.scores[use.recovery] == best:
                holder = self._parameters.scores.field
                self._fields.contradiction(f"{holder}.{use.recovery} is {excerpt(best)}, but {failed}")
        named = {quote.location.step for quote in self.evidence}
        if use.first_wrong_field and self._fields.is_null(use.first_wrong_field) and named.isdisjoint(unhandled):
            statement = f"{use.first_wrong_field} is null, and no evidence is from there"
            self._fields.contradiction(f"{failed}, but {statement}")

    def _mapped_quotes(self) -> Iterator[Quote]:
        evidence = self._parameters.evidence
        entry = self._fields.nested(evidence.field)
        if entry is None:
            return
        self._refuse_other_dimensions(entry)
        for key in self._parameters.dimensions:
            if not entry.has(key) and evidence.minimum_per_dimension == 0:
                continue
            given = entry.given(key)
            if isinstance(given, list) and all(isinstance(text, str) for text in given):
                yield from (Quote(key, text, "", self._locate(text)) for text in given)
            elif (text := entry.text(key)) is not None:
                yield Quote(key, text, "", self._locate(text))

    def _count(self, quotes: list[Quote]) -> None:
        evidence, needed = self._parameters.evidence, self._parameters.evidence.minimum_per_dimension
        is_empty, is_verified = self._is_empty, evidence.policy == "verified"
        for quote in quotes if is_verified and self._names_steps else ():
            if quote.location.elsewhere is not None:
                statement = f"{evidence.field}: {quote.dimension}: {excerpt(quote.text)}"
                self._fields.violation(f"{statement}: {quote.location.why_not}")
        for key in self._parameters.dimensions:
            given = [quote for quote in quotes if quote.dimension == key and (quote.text.strip() or is_empty)]
            misplaced = [quote for quote in given if self._names_steps and quote.location.elsewhere is not None]
            if misplaced and is_verified:
                # Said already, and of each.
                continue
            lost = [quote for quote in given if is_verified and not _supports(quote, is_empty)]
            counted = len(given) - len(lost)
            if counted >= needed:
                continue
            shortfall = f"has {counted} of {needed} quotes"
            if lost:
                standing = (
                    f"only {counted} of {len(given)} quotes stand" if len(given) > 1 else "its quote does not stand"
                )
                problem = f"{excerpt(lost[0].text)} ({lost[0].location.why_not})"
                source, there = ("the step that it names", "there") if self._names_steps else ("the response", "in it")
                shortfall = f"needs {needed} from {source}, but {standing} {there}: {problem}"
            self._fields.violation(f"{evidence.field}: {key} {shortfall}")

    def _refuse_other_dimensions(self, holder: FieldReader, besides: str = "") -> None:
        for key in holder.unknown_keys((*self._parameters.dimensions, *([besides] if besides else []))):
            holder.violation(f"{holder.path}{excerpt(key)} is no dimension of the protocol")


def _is_unsaid(holder: FieldReader, key: str) -> bool:
    """The field is there and says nothing; one that is missing is another matter."""
    given = holder.given(key)
    return holder.is_null(key) or (isinstance(given, str) and not given.strip())


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
        statement = f"{place.path}{name} is {excerpt(given)}"
        place.contradiction(f"{statement}, but the scores add up to {excerpt(derived)}")


def _check_length(fields: FieldReader, name: str, text: str | None, maximum: int | None) -> None:
    if text is not None and maximum is not None and len(text) > maximum:
        fields.violation(f"{fields.path}{name} has {len(text)} characters, at most {maximum} are allowed")

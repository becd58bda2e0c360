"""The pairwise kind: which of two responses to one question is better, asked in both orders.

Letters in a prompt and in a reply are as shown: A is what stands first. Whatever leaves this module is said of the two
as they are in the dataset, so that a verdict means the same in either order.
"""

import itertools
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, Literal, NamedTuple, Self

from pydantic import Field

from mixseek.domain.confidence import Confidence, ConfidenceSource, confidence_in, expected_value
from mixseek.domain.decisions import AnswerOption, QuestionKind, QuestionSet
from mixseek.domain.judgments import (
    Finding,
    Flag,
    InvalidJudgment,
    Method,
    Missing,
    Outcome,
    Reply,
    Responded,
    Undecided,
    ValidJudgment,
    status_of,
)
from mixseek.domain.panels import AB, BA, PairState, Preference, combine_orders
from mixseek.domain.ports import MathsComparer, Message, Nonces, constant_message
from mixseek.domain.samples import Sample, SampleNeeds
from mixseek.domain.steps import Step
from mixseek.errors import DatasetError
from mixseek.lazy_dataclass import dataclass
from mixseek.protocols.certainty import NO_CONFIDENCE, Certainty, certainty_of_tokens
from mixseek.protocols.decided import UNEXPLAINED_FIELDS, certainty_of_decision, is_decision, read_decision
from mixseek.protocols.declaration import (
    DeclaredProtocol,
    ProtocolDeclaration,
    Table,
    validated,
    with_default_templates,
)
from mixseek.protocols.identity import judge_identity, relate
from mixseek.protocols.questions import FieldQuestion, make_questions
from mixseek.protocols.replies.copied_verdicts import find_repetition
from mixseek.protocols.replies.field_places import FieldPath
from mixseek.protocols.replies.pair_verdicts import find_verdicts
from mixseek.protocols.replies.refusals import UNRELATED
from mixseek.protocols.replies.repairs import Repair, ReplyMode
from mixseek.protocols.replies.reply_fields import FieldReader, closed_object
from mixseek.protocols.replies.reply_json import excerpt, excerpt_text
from mixseek.protocols.replies.reply_reader import read_reply, violations
from mixseek.protocols.replies.thought import without_thought
from mixseek.protocols.scored.languages import in_language, refuse_missing_words, spoken
from mixseek.protocols.scored.parameters import Dimension, Words
from mixseek.protocols.shown_texts import QUESTION_NONCE, nonces_told, with_constant_part
from mixseek.protocols.step_quotes import StepQuotes
from mixseek.protocols.transcripts import SHORTENED, fence_response, make_window, pictures_of, step_texts
from mixseek.templating import fence, unused_nonces

# What becomes of quotes that do not stand in the response they are said to be from.
#   record    counted as a warning; the verdict stands
#   verified  the reply is invalid
#   off       nobody looks, and none are asked for
QuotePolicy = Literal["record", "verified", "off"]
Orders = Literal["both", "ab", "ba"]
FIELDS = ("comment", "reasons", "verdict", "strength")
_PREFERENCES = tuple(Preference)
_VERDICT_PATH = ("verdict",)
_SPELT_VERDICTS = {preference.value: preference.value for preference in Preference}
_SCORES = {preference.value: preference.score for preference in Preference}
_SIDES = (Preference.A.value, Preference.B.value)
_ROLES = ("system", "user")
_VARIABLES = {
    "system": frozenset({"criteria", "instructions", "strengths", "asks_for_quotes"}),
    # Never a ground truth: in a dataset of pairs, that is as often as not which of the two people prefer.
    "user": frozenset({"nonce", QUESTION_NONCE, "question", "response_a", "response_b"}),
}
# Prompts of our own, by role.
_STEMS = {"system": "pairwise", "user": "pairwise_user"}
# What is remarkable about a valid judgment, beside `position` and `partial`.
QUOTE_NOT_FOUND = "quote_not_in_its_response"
STRENGTH_OF_A_TIE = "strength_beside_a_tie"


class PairwiseParameters(Table):
    """Read from the declaration's [parameters]; all of it is part of the hash."""

    reply_mode: ReplyMode = ReplyMode.REPAIR
    # Which orders a pair is shown in. One alone is half the price, and cannot tell a preference for a place.
    orders: Orders = "both"
    # Whether a verdict in words or marks is taken where it is certain, or JSON alone.
    verdict_forms: Literal["certain", "json"] = "certain"
    quotes: QuotePolicy = "record"
    # From the weakest to the strongest; empty where it is not asked for.
    strengths: tuple[str, ...] = ("slight", "clear")
    criteria: dict[str, Dimension] = Field(min_length=1)
    instructions: Words = ""


class _Said(NamedTuple):
    """One reply, as shown."""

    verdict: Preference
    strength: str | None = None
    comment: str = ""
    evidence: tuple[dict[str, Any], ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class PairwiseProtocol(DeclaredProtocol[PairwiseParameters]):
    """A pair is shown with A first; `present` gives the protocol that shows it in the order of that name."""

    presentation: str = AB

    @classmethod
    def from_declaration(cls, declaration: ProtocolDeclaration) -> Self:
        """Everything that can be wrong with a declaration is found here, before the first sample."""
        settings = validated(PairwiseParameters, declaration)
        refuse_missing_words(settings, declaration)
        protocol = cls(with_default_templates(declaration, _STEMS), settings)
        for role, variables in _VARIABLES.items():
            protocol.template(role, variables)
        if declaration.decisions:
            # Whatever is wrong with them is found here.
            _ = protocol.question_set
        return protocol

    @cached_property
    def reply_schema(self) -> Mapping[str, Any]:
        text = {"type": "string"}
        quote = closed_object({"response": {**text, "enum": list(_SIDES)}, "quote": text, "reason": text})
        shapes: dict[str, Any] = {
            "comment": text,
            "reasons": {"type": "array", "items": quote},
            "verdict": {**text, "enum": [preference.value for preference in _PREFERENCES]},
            "strength": {"type": ["string", "null"], "enum": [*self.settings.strengths, None]},
        }
        return closed_object({name: shapes[name] for name in self._fields})

    @cached_property
    def _fields(self) -> tuple[str, ...]:
        """What a reply may hold."""
        absent = {"reasons": self.settings.quotes == "off", "strength": not self.settings.strengths}
        return tuple(name for name in FIELDS if not absent.get(name, False))

    @cached_property
    def hash(self) -> str:
        return self.hash_with(self.parameters, self.reply_schema)

    @property
    def needs(self) -> SampleNeeds:
        return SampleNeeds(is_pair=True)

    def shown_steps(self, sample: Sample) -> Collection[int]:
        return make_window(sample.steps).shown

    @property
    def verdict_fields(self) -> tuple[FieldPath, ...]:
        return (_VERDICT_PATH,)

    # Both orders.

    @property
    def presentations(self) -> tuple[str, ...]:
        return (AB, BA) if self.settings.orders == "both" else (self.settings.orders,)

    def present(self, presentation: str) -> Self:
        return replace(self, presentation=presentation)

    def show(self, sample: Sample) -> Sample:
        """The pair as a judge sees it: what is shown first is A."""
        if self.presentation == AB or sample.response_b is None:
            return sample
        return replace(
            sample,
            response=sample.response_b,
            response_b=sample.response,
            target_model=sample.target_b,
            target_b=sample.target_model,
            steps=sample.steps_b,
            steps_b=sample.steps,
        )

    def combine(self, outcomes: Mapping[str, Outcome]) -> Outcome:
        """Never half a verdict: what is missing is asked for again, and one order alone decides nothing."""
        orders = {name: _order_fields(outcome) for name, outcome in outcomes.items()}
        absent = [outcome for outcome in outcomes.values() if isinstance(outcome, Missing)]
        if absent:
            final = next((outcome for outcome in absent if outcome.is_permanent), absent[0])
            return final if len(absent) == len(outcomes) else replace(final, reason=_in_orders(final.reason, outcomes))
        invalid = {name: outcome for name, outcome in outcomes.items() if isinstance(outcome, InvalidJudgment)}
        valid = {name: outcome for name, outcome in outcomes.items() if isinstance(outcome, ValidJudgment)}
        if len(invalid) == len(outcomes):
            findings = [
                replace(finding, detail=f"{name}: {finding.detail}")
                for name in invalid
                for finding in invalid[name].findings
            ]
            repairs = tuple(dict.fromkeys(repair for outcome in invalid.values() for repair in outcome.repairs))
            return InvalidJudgment(tuple(findings), repairs, {"orders": orders})
        if len(valid) < len(outcomes):
            why = [f"order {name}: {_why(outcome)}" for name, outcome in outcomes.items() if name not in valid]
            return Undecided("; ".join(why), fields={"orders": orders})
        return _combined(valid, orders)

    def messages(self, sample: Sample, nonces: Nonces) -> tuple[Message, ...]:
        """Neither response holds a nonce of the prompt, so neither can close a fence; both orders begin alike."""
        shown = self.show(sample)
        if shown.response_b is None:
            raise DatasetError(f"sample {sample.id!r} has no response_b, which the {self.name} protocol compares with")
        texts = (sample.question, shown.response, shown.response_b, *step_texts((*shown.steps, *shown.steps_b)))
        system, user = (self.template(role, _VARIABLES[role]) for role in _ROLES)
        nonces = unused_nonces(nonces_told(user, nonces), texts)
        variables: Mapping[str, Mapping[str, Any]] = {
            "system": {
                "criteria": [spoken(criterion, self.language) for criterion in self.settings.criteria.values()],
                "instructions": in_language(self.settings.instructions, self.language),
                "strengths": self.settings.strengths,
                "asks_for_quotes": self.settings.quotes != "off",
            },
            "user": {
                "nonce": nonces.sample,
                QUESTION_NONCE: nonces.question,
                "response_a": self._fenced(shown.response, shown.steps, "RESPONSE_A", nonces.sample),
                "response_b": self._fenced(shown.response_b, shown.steps_b, "RESPONSE_B", nonces.sample),
                "question": fence(sample.question, "QUESTION", nonces.question),
            },
        }
        pictures = [
            picture
            for steps in (shown.steps, shown.steps_b)
            for picture in pictures_of(make_window(steps), nonces.sample)
        ]
        asked = Message("user", user.render(variables["user"]), pictures=tuple(pictures))
        return (
            constant_message("system", system.render(variables["system"])),
            with_constant_part(asked, user, nonces),
        )

    def _fenced(self, response: str, steps: tuple[Step, ...], label: str, nonce: str) -> str:
        return fence_response(response, make_window(steps), label, nonce, self.language)

    def parse(self, reply: Reply, sample: Sample) -> ValidJudgment | InvalidJudgment:
        """One order, said of A and B as they are in the dataset; all objections are collected."""
        if is_decision(reply):
            return self._parse_decision(reply, sample)
        shown, settings = self.show(sample), self.settings
        reading = read_reply(reply.text, settings.reply_mode, self._fields)
        if reading.value is None:
            in_words = self._read_words(reply.text, reading.findings)
            if not isinstance(in_words, _Said):
                return InvalidJudgment(in_words, reading.repairs)
            return self._judgment(in_words, reply, sample, (*reading.repairs, Repair.VERDICT_IN_WORDS))
        fields, repairs = FieldReader(reading.value), reading.repairs
        if fields.unknown_keys(self._fields):
            repairs = (*repairs, Repair.EXTRA_KEYS_IGNORED)
        checked = self._check(fields, shown, reading.prose)
        quotes = [quote["quote"] for quote in checked.evidence] if checked else []
        texts = {"response A": shown.response, "response B": shown.response_b or "", "question": sample.question}
        texts |= {f"steps of response {side}": "\n".join(step_texts(steps)) for side, steps in _sides(shown) if steps}
        repeated = find_repetition(reading.value, texts, quotes)
        findings = (*reading.findings, *fields.findings, *(() if repeated is None else (repeated,)))
        if findings or checked is None:
            evidence = [self._of_dataset(quote) for quote in checked.evidence] if checked else []
            return InvalidJudgment(findings, repairs, {"evidence": evidence} if evidence else {})
        return self._judgment(checked, reply, sample, repairs)

    @cached_property
    def question_set(self) -> QuestionSet:
        if self.settings.quotes == "verified":
            return QuestionSet(
                refusal="it demands quotes (quotes=verified), and a decision endpoint gives none; leave them out with "
                "--parameter quotes=off"
            )
        criteria = [spoken(criterion, self.language) for criterion in self.settings.criteria.values()]
        counts = " ".join(f"{criterion['title']}: {criterion['description']}" for criterion in criteria)
        instructions = in_language(self.settings.instructions, self.language)
        options = [AnswerOption(preference.value) for preference in Preference]
        texts = {"criteria": f"{instructions} {counts}"}
        field = FieldQuestion("verdict", QuestionKind.CHOICE, ("pairwise", "verdict"), options, texts)
        return make_questions(self.declaration, [field])

    def _parse_decision(self, reply: Reply, sample: Sample) -> ValidJudgment | InvalidJudgment:
        """One order: which of the two as shown is better, without a comment."""
        reading = read_decision(reply, self.question_set)
        if isinstance(reading, InvalidJudgment):
            return reading
        shares = reading.shares["verdict"].shares
        verdict = reading.likeliest("verdict") or ""
        certainty = certainty_of_decision(shares, verdict, _SCORES)._replace(fields=UNEXPLAINED_FIELDS)
        return self._judgment(_Said(Preference(verdict)), reply, sample, (), certainty)

    def decide(self, sample: Sample, maths: MathsComparer | None = None) -> Undecided:
        """There are no rules for quality: a judge has to be asked."""
        return Undecided(f"the {self.name} protocol has no rules; it needs a judge")

    def _check(self, fields: FieldReader, shown: Sample, prose: str) -> _Said | None:
        settings = self.settings
        verdict = fields.choice("verdict", _PREFERENCES)
        strength = fields.choice("strength", settings.strengths) if fields.given("strength") is not None else None
        comment = fields.text("comment") if fields.given("comment") is not None else ""
        evidence = tuple(self._quotes(fields, shown)) if "reasons" in self._fields else ()
        for name, text in (("comment", comment or ""), ("prose around the object", prose)):
            preferences = {stated.preference for stated in find_verdicts(text) if stated.form in ("mark", "sentence")}
            if verdict is not None and preferences and preferences != {verdict}:
                words = ", ".join(sorted(preferences))
                fields.contradiction(f"verdict is {verdict!r}, but the {name} says {words}: {excerpt(text)}")
        warnings: list[str] = []
        lost = [quote for quote in evidence if quote["problem"] is not None]
        if lost and settings.quotes == "verified":
            detail = f"{excerpt(lost[0]['quote'])} does not stand in response {lost[0]['response']}"
            fields.violation(f"reasons: {len(lost)} of {len(evidence)} quotes are not found: {detail}")
        elif lost:
            warnings.append(QUOTE_NOT_FOUND)
        if verdict == Preference.TIE and strength is not None:
            strength, warnings = None, [*warnings, STRENGTH_OF_A_TIE]
        if verdict is None:
            return None
        return _Said(Preference(verdict), strength, comment or "", evidence, tuple(warnings))

    def _quotes(self, fields: FieldReader, shown: Sample) -> Iterator[dict[str, Any]]:
        """Each looked up in the response that it names, as that was shown; letters are still the reply's."""
        if fields.given("reasons") is None:
            return
        responses = {"A": shown.response, "B": shown.response_b or ""}
        sides = {side: StepQuotes(responses[side], steps, shown.question) for side, steps in _sides(shown)}
        for number, item in enumerate(fields.array("reasons") or ()):
            place = f"reasons[{number}]"
            if not isinstance(item, Mapping):
                fields.note(Flag.UNPARSABLE_OUTPUT, f"{place} is {excerpt(item)}, expected an object")
                continue
            entry = FieldReader(item, f"{place}.", fields.findings)
            side, text = entry.choice("response", _SIDES), entry.text("quote")
            reason = entry.text("reason") if entry.given("reason") is not None else ""
            if side is None or text is None:
                continue
            location = sides[side].locate(text)
            yield {"response": side, "quote": text, "reason": reason or "", **location.document()}

    def _read_words(self, text: str, findings: tuple[Finding, ...]) -> "_Said | tuple[Finding, ...]":
        """A verdict in marks or plain words, where the reply has no object and one verdict is certain."""
        refused = any(
            finding.flag is Flag.JUDGE_REFUSAL_OR_EVASION and not finding.detail.startswith(UNRELATED)
            for finding in findings
        )
        # An object that cannot be read is not searched for words: what it meant to say is in its keys.
        if self.settings.verdict_forms == "json" or refused or '"verdict"' in text:
            return findings
        spoken_text = without_thought(text).text
        verdicts = find_verdicts(spoken_text)
        if not verdicts:
            return findings
        if len({verdict.preference for verdict in verdicts}) > 1:
            words = ", ".join(dict.fromkeys(verdict.preference.value for verdict in verdicts))
            return (Finding(Flag.INTERNAL_INCONSISTENCY, f"the reply says {words}, each as its verdict"),)
        if refusals := violations((Repair.VERDICT_IN_WORDS,), self.settings.reply_mode):
            return (*findings, *refusals)
        strong = {verdict.is_strong for verdict in verdicts if verdict.is_strong is not None}
        strengths = self.settings.strengths
        strength = strengths[-1 if strong == {True} else 0] if strengths and len(strong) == 1 else None
        return _Said(verdicts[0].preference, strength, excerpt_text(spoken_text))

    def _of_dataset(self, quote: Mapping[str, Any]) -> dict[str, Any]:
        side = Preference(quote["response"])
        return {
            **quote,
            "response": (side.swapped if self.presentation == BA else side).value,
            "order": self.presentation,
        }

    def _judgment(
        self, checked: _Said, reply: Reply, sample: Sample, repairs: tuple[str, ...], decided: Certainty | None = None
    ) -> ValidJudgment:
        verdict = checked.verdict.swapped if self.presentation == BA else checked.verdict
        judge = judge_identity(reply)
        relations = [relate(judge, target) for target in (sample.target_model, sample.target_b)]
        is_own = any(relation.method is Method.SELF_JUDGE for relation in relations)
        windows = {side: make_window(steps) for side, steps in (("A", sample.steps), ("B", sample.steps_b))}
        shortened = {side: window.describe() for side, window in windows.items() if not window.is_whole}
        fields = {
            "strength": checked.strength,
            "comment": checked.comment,
            "evidence": [self._of_dataset(quote) for quote in checked.evidence],
            "same_family": any(relation.same_family for relation in relations),
            "warnings": [*checked.warnings, *([SHORTENED] if shortened else [])],
            **({"left_out": shortened} if shortened else {}),
        }
        method = Method.SELF_JUDGE if is_own else Method.CROSS_JUDGE
        certainty = self._in_dataset(decided or self._certainty(checked.verdict, reply))
        return ValidJudgment(
            verdict.score,
            verdict.value,
            {**fields, **certainty.fields},
            method,
            repairs=repairs,
            confidence=certainty.confidence,
            expected_score=certainty.expected_score,
        )

    def _certainty(self, shown: Preference, reply: Reply) -> Certainty:
        """Said of the letters as shown, by their tokens."""
        return certainty_of_tokens(reply, _VERDICT_PATH, _SPELT_VERDICTS, shown.value, _SCORES)

    def _in_dataset(self, certainty: Certainty) -> Certainty:
        """The same, said of A and B as they are in the dataset."""
        confidence = certainty.confidence
        if self.presentation != BA or confidence is None or certainty.expected_score is None:
            return certainty
        shares = {Preference(name).swapped.value: share for name, share in confidence.shares.items()}
        return certainty._replace(
            confidence=replace(confidence, shares=shares), expected_score=1.0 - certainty.expected_score
        )


def certainty_of_orders(valid: Sequence[ValidJudgment], verdict: Preference) -> Certainty:
    """How sure a judge is of a pair that it saw in several orders, each in a request of its own.

    Where each order says how likely every verdict was, two such draws come to each verdict of the pair as likely as
    the products say. Otherwise nothing is known but what the orders said: the share of them with the verdict.
    """
    unknown = next((judgment.fields[NO_CONFIDENCE] for judgment in valid if NO_CONFIDENCE in judgment.fields), None)
    fields = {} if unknown is None else {NO_CONFIDENCE: unknown}
    known = [judgment.confidence for judgment in valid if judgment.confidence is not None]
    if len(valid) == 1:
        return Certainty(valid[0].confidence, valid[0].expected_score, fields)
    if len(known) < len(valid):
        verdicts = Counter(judgment.verdict for judgment in valid)
        shares = {name: count / len(valid) for name, count in verdicts.items()}
        agreed = Confidence(shares.get(verdict.value, 0.0), ConfidenceSource.ORDERS, shares)
        return Certainty(agreed, expected_value(shares, _SCORES), fields)
    masses: dict[str, float] = dict.fromkeys(_SCORES, 0.0)
    first, second = known
    for (name, share), (other, other_share) in itertools.product(first.shares.items(), second.shares.items()):
        masses[combine_orders(Preference(name), Preference(other))[0].value] += share * other_share
    outside = 1.0 - (1.0 - (first.outside or 0.0)) * (1.0 - (second.outside or 0.0))
    confidence = confidence_in(verdict.value, masses, first.source, outside)
    return Certainty(confidence, None if confidence is None else expected_value(confidence.shares, _SCORES), fields)


def _combined(valid: Mapping[str, ValidJudgment], orders: Mapping[str, Any]) -> ValidJudgment:
    """One judgment of all orders that were asked, each of which is valid."""
    first, *others = valid.values()
    verdict, state = Preference(first.verdict), PairState.SINGLE
    for other in others:
        verdict, state = combine_orders(verdict, Preference(other.verdict))
    strengths = {judgment.fields["strength"] for judgment in valid.values()}
    warnings = [state.value] if state in (PairState.POSITION, PairState.PARTIAL) else []
    fields = {
        "state": state.value,
        # Two orders that differ in strength agree on the weaker claim only, which needs no word.
        "strength": strengths.pop() if state is not PairState.POSITION and len(strengths) == 1 else None,
        "comment": next((judgment.fields["comment"] for judgment in valid.values() if judgment.fields["comment"]), ""),
        "evidence": [quote for judgment in valid.values() for quote in judgment.fields["evidence"]],
        "same_family": any(judgment.fields["same_family"] for judgment in valid.values()),
        "warnings": [
            *warnings,
            *dict.fromkeys(word for judgment in valid.values() for word in judgment.fields["warnings"]),
        ],
        "orders": orders,
    }
    if all(judgment.is_unexplained for judgment in valid.values()):
        fields |= UNEXPLAINED_FIELDS
    if "left_out" in first.fields:
        fields["left_out"] = first.fields["left_out"]
    is_own = any(judgment.method is Method.SELF_JUDGE for judgment in valid.values())
    method = Method.SELF_JUDGE if is_own else first.method
    repairs = tuple(dict.fromkeys(repair for judgment in valid.values() for repair in judgment.repairs))
    certainty = certainty_of_orders(tuple(valid.values()), verdict)
    return ValidJudgment(
        verdict.score,
        verdict.value,
        {**fields, **certainty.fields},
        method,
        repairs=repairs,
        confidence=certainty.confidence,
        expected_score=certainty.expected_score,
    )


def _order_fields(outcome: Outcome) -> dict[str, Any]:
    """One order, for the fields of the pair."""
    document: dict[str, Any] = {"status": status_of(outcome).value}
    match outcome:
        case ValidJudgment():
            names = ("strength", "comment")
            return {**document, "verdict": outcome.verdict, **{name: outcome.fields[name] for name in names}}
        case InvalidJudgment():
            return {
                **document,
                "flags": [{"flag": finding.flag.value, "detail": finding.detail} for finding in outcome.findings],
            }
        case Undecided() | Missing():
            return {**document, "reason": outcome.reason}
        case Responded():
            raise TypeError("a pair is judged, not answered")


def _sides(shown: Sample) -> tuple[tuple[str, tuple[Step, ...]], ...]:
    """The steps of each response, by its letter."""
    return ((Preference.A.value, shown.steps), (Preference.B.value, shown.steps_b))


def _why(outcome: Outcome) -> str:
    match outcome:
        case InvalidJudgment():
            return f"invalid ({'; '.join(f'{finding.flag.value}: {finding.detail}' for finding in outcome.findings)})"
        case Undecided() | Missing():
            return outcome.reason
        case ValidJudgment() | Responded():
            return "valid"


def _in_orders(reason: str, outcomes: Mapping[str, Outcome]) -> str:
    absent = [name for name, outcome in outcomes.items() if isinstance(outcome, Missing)]
    return f"order {', '.join(absent)}: {reason}"

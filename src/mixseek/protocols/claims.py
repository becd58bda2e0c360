"""The kind that cuts a response into claims and holds each against the documents that were given (`grounded`).

A claim is named by a quote from the response, and supported or contradicted by a quote from one document; both are
looked up. A claim that is listed twice counts once, and the share of supported claims is the score.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from functools import cached_property
from typing import Any, Literal, Self

from pydantic import Field

from mixseek.domain.judgments import Flag, InvalidJudgment, Reply, Span, Undecided, ValidJudgment
from mixseek.domain.ports import MathsComparer, Message, Nonces
from mixseek.domain.samples import Sample, SampleNeeds
from mixseek.domain.steps import Context
from mixseek.errors import DatasetError
from mixseek.lazy_dataclass import dataclass
from mixseek.matching.evidence.quotes import QuoteFinding, QuoteProblem, locate_quote
from mixseek.protocols.certainty import why_unsure
from mixseek.protocols.declaration import (
    DeclaredProtocol,
    ProtocolDeclaration,
    Table,
    validated,
    with_default_templates,
)
from mixseek.protocols.identity import judge_identity, relate
from mixseek.protocols.replies.copied_verdicts import repetitions
from mixseek.protocols.replies.repairs import Repair, ReplyMode
from mixseek.protocols.replies.reply_fields import FieldReader, closed_object
from mixseek.protocols.replies.reply_json import excerpt
from mixseek.protocols.replies.reply_reader import read_reply
from mixseek.protocols.scored.languages import in_language, refuse_missing_words
from mixseek.protocols.scored.parameters import Words
from mixseek.protocols.shown_texts import (
    QUESTION_NONCE,
    context_texts,
    fenced_contexts,
    fenced_question,
    nonces_told,
    shown_name,
    with_constant_part,
)
from mixseek.templating import fence, unused_nonces

FIELDS = ("claims", "notes")
# The warnings of a valid judgment.
CONTRADICTED_CLAIM = "contradicted_claim"
UNPROVEN_CLAIM = "unproven_claim"
_STEMS = {"system": "grounded", "user": "grounded_user"}
_VARIABLES = {
    "system": frozenset({"instructions", "partial_percent"}),
    "user": frozenset({"nonce", QUESTION_NONCE, "question", "response", "contexts"}),
}
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")
_SAYS_SOMETHING = re.compile(r"\w\W*\w")


class ClaimVerdict(StrEnum):
    """How a claim stands to the documents."""

    SUPPORTED = "supported"
    CONTRADICTED = "contradicted"
    NOT_FOUND = "not_found"


class Grounding(StrEnum):
    """The verdict on the whole response."""

    GROUNDED = "GROUNDED"
    PARTIAL = "PARTIAL"
    UNGROUNDED = "UNGROUNDED"


class ClaimsParameters(Table):
    """What the declaration's [parameters] say; all of it is part of the hash."""

    reply_mode: ReplyMode = ReplyMode.REPAIR
    quotes: Literal["verified", "record"] = "verified"
    least_covered: float = Field(default=0.5, ge=0, le=1)
    partial_at_least: float = Field(default=0.5, gt=0, le=1)
    instructions: Words = ""


@dataclass(frozen=True, slots=True)
class Claim:
    """One claim: where it stands in the response, and in which document the quote stands that decides it."""

    quote: str
    location: QuoteFinding
    verdict: ClaimVerdict
    context: str | None = None
    context_quote: str | None = None
    context_location: QuoteFinding | None = None

    @property
    def is_proven(self) -> bool:
        return self.context_location is None or self.context_location.problem is None

    def document(self) -> dict[str, Any]:
        """The claim for the judgment's fields; spans are of the response, and of the document that is named."""
        location = self.context_location
        return {
            "claim_quote": self.quote,
            "spans": _spans(self.location.spans),
            "verdict": self.verdict.value,
            "context_id": self.context,
            "quote": self.context_quote,
            "context_spans": [] if location is None else _spans(location.spans),
            "stage": None if location is None or location.stage is None else location.stage.value,
            "problem": None if location is None or location.problem is None else location.problem.value,
        }


@dataclass(frozen=True)
class ClaimsProtocol(DeclaredProtocol[ClaimsParameters]):
    """Judges a response by the share of its claims that the given documents support."""

    @classmethod
    def from_declaration(cls, declaration: ProtocolDeclaration) -> Self:
        """Everything that can be wrong with a declaration is found here, before the first sample."""
        settings = validated(ClaimsParameters, declaration)
        refuse_missing_words(settings, declaration)
        protocol = cls(with_default_templates(declaration, _STEMS), settings)
        for role, variables in _VARIABLES.items():
            protocol.template(role, variables)
        return protocol

    @cached_property
    def reply_schema(self) -> Mapping[str, Any]:
        text, nullable = {"type": "string"}, {"type": ["string", "null"]}
        verdict = {**text, "enum": [verdict.value for verdict in ClaimVerdict]}
        claim = closed_object({"claim_quote": text, "verdict": verdict, "context_id": nullable, "quote": nullable})
        return closed_object({"claims": {"type": "array", "items": claim}, "notes": nullable})

    @cached_property
    def hash(self) -> str:
        return self.hash_with(self.parameters, self.reply_schema)

    @property
    def needs(self) -> SampleNeeds:
        return SampleNeeds(
            contexts=True,
            response_reason=f"no `response`, and the {self.name} protocol looks for every claim in it; give `response` "
            "or `response_path`",
        )

    def messages(self, sample: Sample, nonces: Nonces) -> tuple[Message, ...]:
        """The documents stand before the response, in fences of the question's nonce: they came before it."""
        if not sample.contexts:
            raise DatasetError(
                f"sample {sample.id!r} has no contexts, which the {self.name} protocol judges by; "
                "give a column contexts"
            )
        system, user = (self.template(role, variables) for role, variables in _VARIABLES.items())
        texts = (sample.question, sample.response, *context_texts(sample.contexts))
        nonces = unused_nonces(nonces_told(user, nonces), texts)
        spoken = {
            "instructions": in_language(self.settings.instructions, self.language),
            "partial_percent": f"{self.settings.partial_at_least:.0%}",
        }
        variables = {
            "nonce": nonces.sample,
            QUESTION_NONCE: nonces.question,
            "question": fenced_question(sample, nonces)["question"],
            "contexts": fenced_contexts(sample, nonces),
            "response": fence(sample.response, "RESPONSE", nonces.sample),
        }
        messages = (Message("system", system.render(spoken)), Message("user", user.render(variables)))
        return tuple(
            with_constant_part(message, template, nonces)
            for message, template in zip(messages, (system, user), strict=True)
        )

    def parse(self, reply: Reply, sample: Sample) -> ValidJudgment | InvalidJudgment:
        """All objections are collected: a judge that is asked again should hear them at once."""
        reading = read_reply(reply.text, self.settings.reply_mode, FIELDS)
        if reading.value is None:
            return InvalidJudgment(reading.findings, reading.repairs)
        fields, repairs = FieldReader(reading.value), reading.repairs
        if fields.unknown_keys(FIELDS):
            repairs = (*repairs, Repair.EXTRA_KEYS_IGNORED)
        notes = fields.text("notes") if fields.given("notes") is not None else ""
        claims = list(_read_claims(fields, sample, is_verified=self.settings.quotes == "verified"))
        distinct = _without_repeats(fields, claims)
        left_out = self._check_coverage(fields, sample, distinct) if not fields.findings else 0
        quotes = [claim.quote for claim in claims]
        findings = (*reading.findings, *fields.findings, *repetitions(reading.value, sample, quotes))
        listed = [claim.document() for claim in distinct]
        if findings:
            return InvalidJudgment(findings, repairs, {"claims": listed} if listed else {})
        return self._judgment(reply, sample, distinct, notes or "", left_out, repairs)

    def decide(self, sample: Sample, maths: MathsComparer | None = None) -> Undecided:
        """There are no rules for what a document says: a judge has to be asked."""
        return Undecided(f"the {self.name} protocol has no rules; it needs a judge")

    def _check_coverage(self, fields: FieldReader, sample: Sample, claims: Sequence[Claim]) -> int:
        """How many sentences of the response no claim touches."""
        sentences = list(sentences_of(sample.response))
        if not sentences:
            fields.note(Flag.INCOMPLETE_COVERAGE, "the response is empty, so it claims nothing that could be looked up")
            return 0
        if not claims:
            fields.note(Flag.INCOMPLETE_COVERAGE, f"no claims, of a response of {_counted(len(sentences))}")
            return 0
        spans = [span for claim in claims for span in claim.location.spans]
        missed = [sentence for sentence in sentences if not any(_overlaps(sentence, span) for span in spans)]
        if len(sentences) - len(missed) < self.settings.least_covered * len(sentences):
            first = excerpt(sample.response[missed[0].start : missed[0].end])
            listed = f"the claims leave out {len(missed)} of {_counted(len(sentences))}"
            fields.note(Flag.INCOMPLETE_COVERAGE, f"{listed}, the first of them {first}")
        return len(missed)

    def _judgment(
        self, reply: Reply, sample: Sample, claims: Sequence[Claim], notes: str, left_out: int, repairs: tuple[str, ...]
    ) -> ValidJudgment:
        counts = {verdict: sum(claim.verdict is verdict for claim in claims) for verdict in ClaimVerdict}
        share = counts[ClaimVerdict.SUPPORTED] / len(claims)
        contradicted = [claim for claim in claims if claim.verdict is ClaimVerdict.CONTRADICTED]
        warnings = {
            CONTRADICTED_CLAIM: contradicted,
            UNPROVEN_CLAIM: [claim for claim in claims if not claim.is_proven],
        }
        relation = relate(judge_identity(reply), sample.target_model)
        fields = {
            "claims": [claim.document() for claim in claims],
            **{verdict.value: count for verdict, count in counts.items()},
            "sentences_left_out": left_out,
            "comment": _comment(counts, contradicted, notes),
            "same_family": relation.same_family,
            "warnings": [warning for warning, concerned in warnings.items() if concerned],
            **why_unsure(reply),
        }
        verdict = grounding_of(share, self.settings.partial_at_least)
        return ValidJudgment(share, verdict.value, fields, relation.method, repairs=repairs)


def grounding_of(share: float, partial_at_least: float) -> Grounding:
    """The verdict on a response of which this share of the claims is supported."""
    if share >= 1:
        return Grounding.GROUNDED
    return Grounding.PARTIAL if share >= partial_at_least else Grounding.UNGROUNDED


def sentences_of(text: str) -> Iterator[Span]:
    """The sentences that say something, by their place: marks and rules alone claim nothing."""
    start = 0
    for end, after in [*((match.start(), match.end()) for match in _SENTENCE_END.finditer(text)), (len(text),) * 2]:
        if _SAYS_SOMETHING.search(text, start, end):
            yield Span(start, end)
        start = after


def _read_claims(fields: FieldReader, sample: Sample, *, is_verified: bool) -> Iterator[Claim]:
    for number, item in enumerate(fields.array("claims") or ()):
        place = f"claims[{number}]"
        if not isinstance(item, Mapping):
            fields.note(Flag.UNPARSABLE_OUTPUT, f"{place} is {excerpt(item)}, expected an object")
            continue
        entry = FieldReader(item, f"{place}.", fields.findings)
        quote = entry.text("claim_quote")
        verdict = entry.choice("verdict", tuple(ClaimVerdict))
        if quote is None or verdict is None:
            continue
        location = locate_quote(quote, sample.response, question=sample.question)
        if location.problem is not None:
            entry.violation(f"{place}.claim_quote {excerpt(quote)} does not stand in the response ({location.problem})")
            continue
        if verdict == ClaimVerdict.NOT_FOUND:
            # It needs neither, and proves nothing by either.
            yield Claim(quote, location, ClaimVerdict.NOT_FOUND)
            continue
        yield from _read_proof(entry, Claim(quote, location, ClaimVerdict(verdict)), sample.contexts, is_verified)


def _read_proof(entry: FieldReader, claim: Claim, contexts: Sequence[Context], is_verified: bool) -> Iterator[Claim]:
    """The claim with the quote that decides it, looked up in the document that it names."""
    place = entry.path.removesuffix(".")
    unsaid = [name for name in ("context_id", "quote") if entry.given(name) is None]
    if unsaid:
        entry.violation(f"{place} is {claim.verdict}, but names no {' and no '.join(unsaid)}")
        return
    name, quote = entry.identifier("context_id"), entry.text("quote")
    if name is None or quote is None:
        return
    named = [context for context in contexts if name in (context.id, shown_name(context.id))]
    if not named:
        ids = ", ".join(excerpt(context.id) for context in contexts[:12])
        entry.violation(f"{place}.context_id {excerpt(name)} names no context; there are {ids}")
        return
    location = _locate(quote, named)
    if location.problem not in (None, QuoteProblem.TOO_SHORT):
        other = next((context for context in contexts if locate_quote(quote, context.text).problem is None), None)
        if other is not None:
            location = QuoteFinding(problem=QuoteProblem.FROM_ANOTHER_CONTEXT)
        where = "" if other is None else f"; it stands in {excerpt(other.id)}"
    else:
        where = ""
    if location.problem is not None and is_verified:
        statement = f"{place}.quote {excerpt(quote)} does not stand in context {excerpt(named[0].id)}"
        entry.violation(f"{statement} ({location.problem}){where}")
    yield Claim(claim.quote, claim.location, claim.verdict, named[0].id, quote, location)


def _locate(quote: str, contexts: Iterable[Context]) -> QuoteFinding:
    """The first place in documents of one id."""
    findings = [locate_quote(quote, context.text) for context in contexts]
    return next((finding for finding in findings if finding.problem is None), findings[0])


def _without_repeats(fields: FieldReader, claims: Iterable[Claim]) -> list[Claim]:
    """Each claim once; one that is listed again with another verdict contradicts itself."""
    distinct: dict[tuple[Span, ...], Claim] = {}
    for claim in claims:
        first = distinct.setdefault(claim.location.spans, claim)
        if first.verdict is not claim.verdict:
            statement = f"claims: {excerpt(claim.quote)} is {first.verdict} and {claim.verdict}"
            fields.contradiction(f"{statement}; each claim has one verdict")
    return list(distinct.values())


def _comment(counts: Mapping[ClaimVerdict, int], contradicted: Sequence[Claim], notes: str) -> str:
    counted = f"{counts[ClaimVerdict.SUPPORTED]} of {sum(counts.values())} claims supported"
    parts = [counted]
    if contradicted:
        first = contradicted[0]
        parts.append(f"contradicted by {first.context}: {excerpt(first.quote)}")
    return "; ".join([*parts, notes] if notes.strip() else parts)


def _overlaps(sentence: Span, span: Span) -> bool:
    return span.start < sentence.end and sentence.start < span.end


def _spans(spans: Iterable[Span]) -> list[list[int]]:
    return [[span.start, span.end] for span in spans]


def _counted(sentences: int) -> str:
    return "1 sentence" if sentences == 1 else f"{sentences} sentences"

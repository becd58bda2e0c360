"""The semantic protocol (seed 001): does a response's final answer mean the same as the ground truth?"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any, Self, assert_never

from mixseek.domain.judgments import InvalidJudgment, Method, Reply, Undecided, ValidJudgment
from mixseek.domain.ports import MathsComparer, Message
from mixseek.domain.samples import Sample
from mixseek.errors import ConfigurationError, DatasetError
from mixseek.matching.match import match_answer
from mixseek.matching.outcome import Decision, MatchResult
from mixseek.protocols.declaration.declaration import DeclaredProtocol, ProtocolDeclaration, SampleNeeds, validated
from mixseek.protocols.identity import method_of
from mixseek.protocols.reply.fields import FieldReader
from mixseek.protocols.reply.injected import repetitions
from mixseek.protocols.reply.json import Repair
from mixseek.protocols.reply.reader import read_reply
from mixseek.protocols.scored.sample import shown_name
from mixseek.protocols.semantic.reply import (
    FIELDS,
    OPAQUE_ID,
    Extraction,
    ExtractionPolicy,
    IdCheck,
    ReplyWarning,
    SemanticParameters,
    SemanticReply,
    check_fields,
    objections,
    reply_schema,
    verify_extraction,
)
from mixseek.templating.fence import fence, unused_nonce

_VARIABLES = {
    "system": frozenset[str](),
    "user": frozenset({"id", "nonce", "question", "model_response", "ground_truth", "ground_truth_alternatives"}),
}


def _id_text(value: str | int) -> str:
    """JSON, so that an id with quotation marks stays one value; on one line, and no longer than a name is."""
    return json.dumps(shown_name(value) if isinstance(value, str) else value, ensure_ascii=False)


_OPAQUE_ID_TEXT = _id_text(OPAQUE_ID)


class Verdict(StrEnum):
    """The protocol's final word on a sample."""

    CORRECT = "correct"
    INCORRECT = "incorrect"


SCORES = {Verdict.CORRECT: 1.0, Verdict.INCORRECT: 0.0}


@dataclass(frozen=True)
class SemanticProtocol(DeclaredProtocol[SemanticParameters]):
    """Compares a response's final answer with the ground truth."""

    @classmethod
    def from_declaration(cls, declaration: ProtocolDeclaration) -> Self:
        """Everything that can be wrong with a declaration is found here, before the first sample."""
        settings = validated(SemanticParameters, declaration)
        if set(declaration.templates) != set(_VARIABLES):
            raise ConfigurationError(f"{declaration.where}: templates must be exactly: {', '.join(_VARIABLES)}")
        protocol = cls(declaration, settings)
        for role, variables in _VARIABLES.items():
            protocol.template(role, variables)
        return protocol

    @cached_property
    def reply_schema(self) -> Mapping[str, Any]:
        return reply_schema(self.settings)

    @cached_property
    def hash(self) -> str:
        return self.hash_with(self.parameters, self.reply_schema)

    @property
    def has_rules(self) -> bool:
        return True

    @property
    def needs(self) -> SampleNeeds:
        if self.settings.extraction_policy is ExtractionPolicy.OFF:
            return SampleNeeds()
        return SampleNeeds(
            response_reason=f"no `response`, and the {self.name} protocol looks for the extracted answer in it; give "
            "`response` or `response_path`, or do not look with --parameter extraction_policy=off"
        )

    def messages(self, sample: Sample, nonce: str) -> tuple[Message, ...]:
        """One nonce for all fences of a prompt: the judge is told one word to look for."""
        if sample.ground_truth is None:
            raise DatasetError(f"sample {sample.id!r} has no ground_truth, which the semantic protocol compares with")
        texts = (sample.id, sample.question, sample.response, sample.ground_truth, *sample.ground_truth_alternatives)
        nonce = unused_nonce(nonce, texts)
        variables = {
            "id": _id_text(sample.id) if self.settings.check_id is IdCheck.EXACT else _OPAQUE_ID_TEXT,
            "nonce": nonce,
            "question": fence(sample.question, "QUESTION", nonce),
            "model_response": fence(sample.response, "MODEL_RESPONSE", nonce),
            "ground_truth": fence(sample.ground_truth, "GROUND_TRUTH", nonce),
            "ground_truth_alternatives": [
                fence(text, f"GROUND_TRUTH_ALTERNATIVE_{number}", nonce)
                for number, text in enumerate(sample.ground_truth_alternatives, start=1)
            ],
        }
        return (
            self._system_message,
            Message("user", self.template("user", _VARIABLES["user"]).render(variables)),
        )

    def parse(self, reply: Reply, sample: Sample) -> ValidJudgment | InvalidJudgment:
        """All objections are collected: a judge that is asked again should hear them at once."""
        mode = self.settings.reply_mode
        reading = read_reply(reply.text, mode, FIELDS)
        if reading.value is None:
            return InvalidJudgment(reading.findings, reading.repairs)
        fields = FieldReader(reading.value)
        repairs = reading.repairs
        unknown = fields.unknown_keys(FIELDS)
        if unknown:
            repairs = (*repairs, Repair.EXTRA_KEYS_IGNORED)
        checked = check_fields(fields, sample, self.settings)
        findings = (*reading.findings, *fields.findings, *repetitions(reading.value, sample))
        if findings:
            return InvalidJudgment(findings, repairs)
        policy = self.settings.extraction_policy
        extraction = Extraction(None) if policy is ExtractionPolicy.OFF else verify_extraction(checked, sample)
        doubts = objections(checked, extraction) if policy is ExtractionPolicy.VERIFIED else ()
        if extraction.contradiction is not None:
            doubts = (extraction.contradiction, *doubts)
        if doubts:
            return InvalidJudgment(doubts, repairs)
        warnings = (*extraction.warnings, *self._score_warnings(checked))
        return _judgment(checked, extraction._replace(warnings=warnings), method_of(reply, sample), repairs)

    def decide(self, sample: Sample, maths: MathsComparer | None = None) -> ValidJudgment | Undecided:
        """What the rules can say; they give no reasoning score, because they did not assess any reasoning."""
        if sample.ground_truth is None:
            return Undecided(reason="no ground truth")
        matched = match_answer(
            sample.response,
            sample.ground_truth,
            question=sample.question,
            alternatives=sample.ground_truth_alternatives,
            maths=maths,
        )
        match matched.decision:
            case Decision.CORRECT:
                return _ruled(Verdict.CORRECT, matched)
            case Decision.INCORRECT:
                return _ruled(Verdict.INCORRECT, matched)
            case Decision.UNDECIDED:
                reason = f"rules decline: {matched.rules[-1]}" if matched.rules else "rules decline"
                return Undecided(reason, matched.rules, matched.span, matched.extracted_answer)
            case unexpected:
                assert_never(unexpected)

    def _score_warnings(self, reply: SemanticReply) -> tuple[ReplyWarning, ...]:
        table = self.settings.consistency
        row = table.correct if reply.is_correct else table.incorrect
        return (ReplyWarning.LOW_REASONING_SCORE,) if reply.reasoning_score in row.warned_scores else ()

    @cached_property
    def _system_message(self) -> Message:
        """Without variables, so the same for every sample."""
        return Message("system", self.template("system", ()).render({}))


def _judgment(
    reply: SemanticReply, extraction: Extraction, method: Method, repairs: tuple[Repair, ...]
) -> ValidJudgment:
    verdict = Verdict.CORRECT if reply.is_correct else Verdict.INCORRECT
    fields = {
        "is_correct": reply.is_correct,
        "extracted_answer": reply.extracted_answer,
        "reasoning_score": reply.reasoning_score,
        "error_type": reply.error_type,
        "comment": reply.comment,
        "extraction_verified": extraction.verified,
        "warnings": [warning.value for warning in extraction.warnings],
    }
    return ValidJudgment(SCORES[verdict], verdict.value, fields, method, span=extraction.span, repairs=repairs)


def _ruled(verdict: Verdict, matched: MatchResult) -> ValidJudgment:
    fields = {
        "is_correct": verdict is Verdict.CORRECT,
        "extracted_answer": matched.extracted_answer,
        "reasoning_score": None,
        "error_type": None if matched.error_type is None else matched.error_type.value,
        "comment": f"Decided by rules: {' → '.join(matched.rules)}.",
    }
    return ValidJudgment(SCORES[verdict], verdict.value, fields, Method.RULES, span=matched.span, rules=matched.rules)

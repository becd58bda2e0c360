"""The semantic protocol (seed 001): does a response's final answer mean the same as the ground truth?

Judges that know the ground truth "extract" it from responses which never say it, and call an answer correct that
they themselves quote as a different one. The first is a doubt, which is counted; the second contradicts itself.
"""

import json
from collections.abc import Mapping
from functools import cached_property
from typing import Any, ClassVar, Self

from mixseek.domain.decisions import TRUE, QuestionKind, QuestionSet
from mixseek.domain.judgments import Finding, Flag, InvalidJudgment, Method, Reply, Undecided, ValidJudgment
from mixseek.domain.ports import MathsComparer, Message, Nonces, constant_message
from mixseek.domain.samples import GRADED, LOG_SCORES, Sample, SampleNeeds
from mixseek.errors import ConfigurationError, DatasetError
from mixseek.lazy_dataclass import dataclass
from mixseek.matching.readings import Decision
from mixseek.protocols.certainty import certainty_of_tokens
from mixseek.protocols.decided import UNEXPLAINED_FIELDS, certainty_of_decision, is_decision, read_decision
from mixseek.protocols.declaration import CheckWords, DeclaredProtocol, ProtocolDeclaration, validated
from mixseek.protocols.extraction import (
    LOW_REASONING_SCORE,
    Extraction,
    match_sample,
    said_of,
    truths_of,
    verify_extraction,
)
from mixseek.protocols.identity import method_of
from mixseek.protocols.questions import FieldQuestion, make_questions
from mixseek.protocols.replies.copied_verdicts import repetitions
from mixseek.protocols.replies.field_places import FieldPath
from mixseek.protocols.replies.repairs import Repair
from mixseek.protocols.replies.reply_fields import FieldReader
from mixseek.protocols.replies.reply_reader import read_reply
from mixseek.protocols.semantic_reply import (
    FIELDS,
    OPAQUE_ID,
    SemanticParameters,
    check_fields,
    check_words,
    reply_schema,
)
from mixseek.protocols.shown_texts import (
    QUESTION_NONCE,
    fenced_question,
    nonces_told,
    shown_name,
    with_constant_part,
)
from mixseek.templating import fence, unused_nonces

_VARIABLES = {
    "system": frozenset[str](),
    "user": frozenset(
        {
            *("id", "nonce", QUESTION_NONCE),
            *("question", "model_response", "ground_truth", "ground_truth_alternatives"),
        }
    ),
}
_VERDICT_PATH = ("is_correct",)
_SPELT_VERDICTS = {"correct": "true", "incorrect": "false"}
_SCORES = {"correct": 1.0, "incorrect": 0.0}


@dataclass(frozen=True)
class SemanticProtocol(DeclaredProtocol[SemanticParameters]):
    """Compares a response's final answer with the ground truth."""

    has_rules: ClassVar[bool] = True

    @classmethod
    def from_declaration(cls, declaration: ProtocolDeclaration) -> Self:
        """Everything that can be wrong with a declaration is found here, before the first sample."""
        settings = validated(SemanticParameters, declaration)
        if set(declaration.templates) != set(_VARIABLES):
            raise ConfigurationError(f"{declaration.where}: templates must be exactly: {', '.join(_VARIABLES)}")
        protocol = cls(declaration, settings)
        for role, variables in _VARIABLES.items():
            protocol.template(role, variables)
        if declaration.decisions:
            # Whatever is wrong with them is found here.
            _ = protocol.question_set
        return protocol

    @cached_property
    def reply_schema(self) -> Mapping[str, Any]:
        return reply_schema(self.settings)

    @cached_property
    def hash(self) -> str:
        return self.hash_with(self.parameters, self.reply_schema)

    @property
    def verdict_fields(self) -> tuple[FieldPath, ...]:
        return (_VERDICT_PATH,)

    @property
    def check_words(self) -> CheckWords:
        return CheckWords("correct", "incorrect", has_is_correct=True)

    @property
    def needs(self) -> SampleNeeds:
        if self.settings.extraction_policy == "off":
            return SampleNeeds()
        return SampleNeeds(
            response_reason=f"no `response`, and the {self.name} protocol looks for the extracted answer in it; give "
            "`response` or `response_path`, or do not look with --parameter extraction_policy=off"
        )

    def messages(self, sample: Sample, nonces: Nonces) -> tuple[Message, ...]:
        """What belongs to the question stands before the response, in fences of the question's own nonce."""
        if sample.ground_truth is None:
            raise DatasetError(f"sample {sample.id!r} has no ground_truth, which the semantic protocol compares with")
        texts = (sample.id, sample.question, sample.response, sample.ground_truth, *sample.ground_truth_alternatives)
        user = self.template("user", _VARIABLES["user"])
        nonces = unused_nonces(nonces_told(user, nonces), texts)
        is_exact = self.settings.check_id == "exact"
        variables = {
            # JSON, so that an id with quotation marks stays one value; on one line, and no longer than a name is.
            "id": json.dumps(shown_name(sample.id), ensure_ascii=False) if is_exact else str(OPAQUE_ID),
            "nonce": nonces.sample,
            "model_response": fence(sample.response, "MODEL_RESPONSE", nonces.sample),
            **fenced_question(sample, nonces),
        }
        system = self.template("system", _VARIABLES["system"])
        asked = Message("user", user.render(variables))
        identity = variables["id"] if is_exact else ""
        return constant_message("system", system.render({})), with_constant_part(asked, user, nonces, identity)

    def parse(self, reply: Reply, sample: Sample) -> ValidJudgment | InvalidJudgment:
        """All objections are collected: a judge that is asked again should hear them at once."""
        if is_decision(reply):
            return self._parse_decision(reply, sample)
        reading = read_reply(reply.text, self.settings.reply_mode, FIELDS)
        if reading.value is None:
            return InvalidJudgment(reading.findings, reading.repairs)
        fields = FieldReader(reading.value)
        repairs = reading.repairs
        if fields.unknown_keys(FIELDS):
            repairs = (*repairs, Repair.EXTRA_KEYS_IGNORED)
        checked = check_fields(fields, sample, self.settings, is_bundled=bool(reply.details.get("bundle")))
        check_words(fields, checked.is_correct, checked.comment, reading.prose)
        findings = (*reading.findings, *fields.findings, *repetitions(reading.value, sample))
        if findings:
            return InvalidJudgment(findings, repairs)
        policy = self.settings.extraction_policy
        is_demanded = policy == "verified"
        extraction = (
            Extraction(None) if policy == "off" else verify_extraction(checked, sample, is_always_located=is_demanded)
        )
        if extraction.contradiction:
            fields.contradiction(extraction.contradiction)
        for warning in extraction.warnings if is_demanded else ():
            # An unproven quotation (seed 003 §6).
            fields.violation(f"{said_of(checked)}: {warning}")
        if fields.findings:
            return InvalidJudgment(tuple(fields.findings), repairs)
        row = self.settings.consistency.correct if checked.is_correct else self.settings.consistency.incorrect
        warned = [LOW_REASONING_SCORE] if checked.reasoning_score in row.warned_scores else []
        verdict = "correct" if checked.is_correct else "incorrect"
        judgment_fields = checked._asdict() | {"extraction_verified": extraction.verified}
        judgment_fields["warnings"] = [*extraction.warnings, *warned]
        certainty = certainty_of_tokens(reply, _VERDICT_PATH, _SPELT_VERDICTS, verdict, _SCORES)
        return ValidJudgment(
            _SCORES[verdict],
            verdict,
            {**judgment_fields, **certainty.fields},
            method_of(reply, sample),
            span=extraction.span,
            repairs=repairs,
            confidence=certainty.confidence,
            expected_score=certainty.expected_score,
        )

    @cached_property
    def question_set(self) -> QuestionSet:
        if self.settings.extraction_policy == "verified":
            return QuestionSet(
                refusal="it demands an answer that stands in the response (extraction_policy=verified), and a decision "
                "endpoint quotes none; leave it out with --parameter extraction_policy=record"
            )
        field = FieldQuestion("is_correct", QuestionKind.PREDICATE, ("semantic", "is_correct"))
        return make_questions(self.declaration, [field])

    def _parse_decision(self, reply: Reply, sample: Sample) -> ValidJudgment | InvalidJudgment:
        """A verdict without reasons; nothing was extracted, so nothing of it can be looked up."""
        reading = read_decision(reply, self.question_set)
        if isinstance(reading, InvalidJudgment):
            return reading
        known = reading.shares["is_correct"].shares
        shares = {verdict: known[spelling] for verdict, spelling in _SPELT_VERDICTS.items()}
        is_correct = reading.likeliest("is_correct") == TRUE
        verdict = "correct" if is_correct else "incorrect"
        certainty = certainty_of_decision(shares, verdict, _SCORES)
        fields = {
            "is_correct": is_correct,
            "extracted_answer": None,
            "reasoning_score": None,
            "error_type": None,
            "comment": "",
            "extraction_verified": None,
            "warnings": [],
            **UNEXPLAINED_FIELDS,
        }
        return ValidJudgment(
            _SCORES[verdict],
            verdict,
            fields,
            method_of(reply, sample),
            confidence=certainty.confidence,
            expected_score=certainty.expected_score,
        )

    def decide(self, sample: Sample, maths: MathsComparer | None = None) -> ValidJudgment | Undecided:
        """What the rules can say; they give no reasoning score, because they did not assess any reasoning."""
        if sample.ground_truth is None:
            return Undecided(reason="no ground truth")
        matched = match_sample(sample.response, sample, truths_of(sample), maths)
        if matched.decision is Decision.UNDECIDED:
            reason = f"rules decline: {matched.rules[-1]}" if matched.rules else "rules decline"
            return Undecided(reason, matched.rules, matched.span, matched.extracted_answer)
        is_correct = matched.decision is Decision.CORRECT
        fields = {
            "is_correct": is_correct,
            "extracted_answer": matched.extracted_answer,
            "reasoning_score": None,
            "error_type": None if matched.error_type is None else matched.error_type.value,
            "comment": f"Decided by rules: {' → '.join(matched.rules)}.",
        }
        verdict = "correct" if is_correct else "incorrect"
        return ValidJudgment(float(is_correct), verdict, fields, Method.RULES, span=matched.span, rules=matched.rules)


# What the scorer of another tool said, as a judgment: read alike for the judge and for whoever checks an archive.
_COMMENT_CHARACTERS = 500


def read_log_score(sample: Sample, scorer: str, protocol_name: str) -> ValidJudgment | InvalidJudgment | Undecided:
    """A verdict where the scorer gave one; a degree is none, and an unreadable grade is invalid."""
    scores = sample.metadata.get(LOG_SCORES)
    given = scores.get(scorer) if isinstance(scores, Mapping) else None
    if given is None:
        return Undecided(f"the log holds no score of {scorer!r} for this sample")
    # A table of somebody's own may have the bare value.
    score: Mapping[str, Any] = (
        given if isinstance(given, Mapping) else {"value": given, "is_correct": verdict_of(given)}
    )
    if problem := score.get("problem"):
        return InvalidJudgment((Finding(Flag.UNPARSABLE_OUTPUT, f"{scorer}: {problem}"),))
    is_correct = score.get("is_correct")
    if not isinstance(is_correct, bool) and score.get(GRADED):
        return Undecided(f"{scorer} says {score.get('value')!r}: it grades, and gives no verdict")
    if not isinstance(is_correct, bool):
        statement = f"{scorer} says {score.get('value')!r}, which is neither correct nor incorrect"
        return InvalidJudgment(
            (Finding(Flag.PROTOCOL_VIOLATION, f"{statement}: the {protocol_name} protocol has no degrees"),)
        )
    reason = score.get("reason")
    fields = {
        "is_correct": is_correct,
        "extracted_answer": None,
        "reasoning_score": None,
        "error_type": None,
        "comment": str(reason)[:_COMMENT_CHARACTERS] if reason else f"{scorer}: {score.get('value')}",
        "log_value": score.get("value"),
    }
    verdict = "correct" if is_correct else "incorrect"
    return ValidJudgment(float(is_correct), verdict, fields, Method.CROSS_JUDGE)


def verdict_of(value: Any) -> bool | None:
    """True and 1, False and 0; anything else is no verdict."""
    return bool(value) if isinstance(value, bool | int | float) and value in (0, 1) else None

"""The semantic protocol (seed 001): does a response's final answer mean the same as the ground truth?

Judges that know the ground truth "extract" it from responses which never say it, and call an answer correct that
they themselves quote as a different one. The first is a doubt, which is counted; the second contradicts itself.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal, NamedTuple, Self

from pydantic import Field, model_validator

from mixseek.domain.judgments import (
    ErrorType,
    Finding,
    Flag,
    InvalidJudgment,
    Method,
    Reply,
    Span,
    Undecided,
    ValidJudgment,
)
from mixseek.domain.ports import MathsComparer, Message
from mixseek.domain.samples import GRADED, LOG_SCORES, Sample, SampleNeeds
from mixseek.errors import ConfigurationError, DatasetError
from mixseek.matching.match import match_answer
from mixseek.matching.statements import Decision, MatchResult
from mixseek.matching.visible import fold, visible_part
from mixseek.protocols.copied_verdicts import repetitions
from mixseek.protocols.declaration import DeclaredProtocol, ProtocolDeclaration, Table, validated
from mixseek.protocols.identity import method_of
from mixseek.protocols.repairs import Repair, ReplyMode
from mixseek.protocols.reply_json import excerpt
from mixseek.protocols.reply_reader import FieldReader, closed_object, means_sample, read_reply
from mixseek.protocols.scored.prompt import fenced_question, shown_name
from mixseek.templating import fence, unused_nonce

# What the prompt calls the sample, and what the reply's `id` must then be.
#   opaque  the prompt says 1; the reply must say 1, or the sample's own id (replies collected elsewhere).
#           Ids often name the model that answered, which a judge must not know.
#   exact   the prompt says the sample's id and the reply must repeat it.
#   off     the prompt says 1; the reply must carry an id, whichever.
IdCheck = Literal["opaque", "exact", "off"]
# What becomes of a verdict "correct" whose extracted answer does not stand in the response.
#   record    keeps the judgment and counts it as unverified: reports bound the headline by it.
#   verified  makes it invalid. Under both, a verdict that contradicts the extracted answer is invalid.
#   off       looks at neither, for replies whose judged text is not at hand.
ExtractionPolicy = Literal["record", "verified", "off"]


class IntegerScale(Table):
    """An integer scale, both ends included."""

    minimum: int = Field(strict=True)
    maximum: int = Field(strict=True)


class ConsistencyRow(Table):
    """What goes with one value of `is_correct`."""

    reasoning_scores: tuple[int, ...] = Field(min_length=1)
    # Accepted with a warning: the rubric does not exclude them, but has a better score for such a response.
    warned_scores: tuple[int, ...] = ()
    error_types: tuple[ErrorType, ...] = Field(min_length=1)


class ConsistencyTable(Table):
    """DESIGN §5: which reasoning scores and error types may stand beside which verdict."""

    correct: ConsistencyRow
    incorrect: ConsistencyRow


class SemanticParameters(Table):
    """Read from the declaration's [parameters]; nothing has a default here, so the file shows everything."""

    reply_mode: ReplyMode
    check_id: IdCheck
    extraction_policy: ExtractionPolicy
    reasoning_score: IntegerScale
    consistency: ConsistencyTable

    @model_validator(mode="after")
    def _scores_are_on_the_scale(self) -> Self:
        scale = self.reasoning_score
        if scale.minimum > scale.maximum:
            raise ValueError(f"reasoning_score.minimum {scale.minimum} is above maximum {scale.maximum}")
        for row in (self.consistency.correct, self.consistency.incorrect):
            for score in (*row.reasoning_scores, *row.warned_scores):
                if not scale.minimum <= score <= scale.maximum:
                    raise ValueError(f"consistency names score {score}, outside {scale.minimum} to {scale.maximum}")
        return self


# What a judge's object must satisfy: shape, ranges, and values that must agree.

FIELDS = ("id", "is_correct", "extracted_answer", "reasoning_score", "error_type", "comment")
ERROR_TYPES = tuple(error_type.value for error_type in ErrorType)
# A request holds one sample, so any constant names it.
OPAQUE_ID = 1


class SemanticReply(NamedTuple):
    """Seed 001's object. A field is None where it was objected to, or where null is its value."""

    is_correct: bool | None
    extracted_answer: str | None
    reasoning_score: int | None
    error_type: str | None
    comment: str | None


def check_fields(
    fields: FieldReader, sample: Sample, parameters: SemanticParameters, *, is_bundled: bool = False
) -> SemanticReply:
    """Types and ranges first, then what must agree; every objection is in `fields.findings`."""
    given, names = fields.identifier("id"), {sample.id, shown_name(sample.id)}
    if parameters.check_id != "exact":
        names.add(str(OPAQUE_ID))
    is_meant = given in names or (is_bundled and given is not None and means_sample(given, sample.id))
    if given is not None and parameters.check_id != "off" and not is_meant:
        said = f"id is {excerpt(given)}, but the sample's is {excerpt(sample.id)}"
        fields.contradiction(f"{said}: the reply may belong to another sample")
    scale = parameters.reasoning_score
    reply = SemanticReply(
        is_correct=fields.boolean("is_correct"),
        extracted_answer=fields.nullable_text("extracted_answer"),
        reasoning_score=fields.integer("reasoning_score", scale.minimum, scale.maximum),
        error_type=fields.choice("error_type", ERROR_TYPES),
        comment=fields.text("comment"),
    )
    _check_consistency(fields, reply, parameters.consistency)
    _check_extracted_answer(fields, reply)
    return reply


def reply_schema(parameters: SemanticParameters) -> Mapping[str, Any]:
    """JSON schema of the object; the scale is an enum because not every endpoint enforces number bounds."""
    scale = parameters.reasoning_score
    shown = {"type": "string"} if parameters.check_id == "exact" else {"type": "integer", "enum": [OPAQUE_ID]}
    shapes: tuple[dict[str, Any], ...] = (
        shown,
        {"type": "boolean"},
        {"type": ["string", "null"]},
        {"type": "integer", "enum": list(range(scale.minimum, scale.maximum + 1))},
        {"type": "string", "enum": list(ERROR_TYPES)},
        {"type": "string"},
    )
    return closed_object(dict(zip(FIELDS, shapes, strict=True)))


def _check_consistency(fields: FieldReader, reply: SemanticReply, table: ConsistencyTable) -> None:
    if reply.is_correct is None:
        return
    row = table.correct if reply.is_correct else table.incorrect
    verdict = "is_correct is true" if reply.is_correct else "is_correct is false"
    accepted = (*row.reasoning_scores, *row.warned_scores)
    if reply.reasoning_score is not None and reply.reasoning_score not in accepted:
        needed = " or ".join(str(score) for score in sorted(accepted))
        fields.contradiction(f"{verdict} but reasoning_score is {reply.reasoning_score}; it needs {needed}")
    if reply.error_type is not None and reply.error_type not in row.error_types:
        needed = " or ".join(row.error_types)
        fields.contradiction(f"{verdict} but error_type is {reply.error_type!r}; it needs {needed}")


# A sentence that is nothing but a verdict on the answer; "the reasoning is incorrect" is none.
_SAID_OUTRIGHT = re.compile(
    r"(?:(?:therefore|thus|so|overall|hence),?\s+)?(?:the\s+|this\s+)?(?:(?:model|student)(?:['’]s)?\s+)?(?:final\s+)?"
    r"(?:response|answer)\s+is\s+(?:(?P<right>correct|right)|incorrect|wrong|not\s+correct)"
    r"|(?:この)?(?:回答|応答|答え)は(?:(?P<ja>正解|正しい)|不正解|誤り|間違い)(?:です|である|だ)?"
    r"|(?:该|此)?(?:回答|答案)是?(?:(?P<zh>正确)|错误|不正确)的?",
    re.IGNORECASE,
)
_SENTENCE_ENDS = re.compile(r"[.!:;。！：；\n]+|,\s+(?=(?:as|so|since|because)\b)")


def _check_words(fields: FieldReader, is_correct: bool | None, comment: str | None, prose: str) -> None:
    """A comment, or prose around the object, that outright says the opposite of `is_correct`."""
    for name, text in (("comment", comment or ""), ("prose around the object", prose)):
        sentences = (_SAID_OUTRIGHT.fullmatch(part.strip(" \t*_#`\"'")) for part in _SENTENCE_ENDS.split(text))
        said = {bool(found["right"] or found["ja"] or found["zh"]) for found in sentences if found}
        if is_correct is not None and said == {not is_correct}:
            fields.contradiction(
                f"is_correct is {excerpt(is_correct)}, but the {name} says the opposite: {excerpt(text)}"
            )


def _check_extracted_answer(fields: FieldReader, reply: SemanticReply) -> None:
    """Null and blank say that there was no answer; the rest of the reply must say so too."""
    if fields.is_null("extracted_answer"):
        if reply.error_type not in {None, ErrorType.NO_ANSWER}:
            said = f"extracted_answer is null but error_type is {reply.error_type!r}"
            fields.contradiction(f"{said}; null needs no_answer")
    elif reply.extracted_answer is not None and not reply.extracted_answer.strip() and reply.is_correct:
        fields.contradiction("is_correct is true but extracted_answer is blank")


# Whether the answer that a judge says it extracted stands in the response, and where; the span is the proof.

# Words of alphabets with word breaks, else single characters: Chinese and Japanese put no space around an answer.
_CJK = r"\u3005-\u3007\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_WORDS = re.compile(rf"[{_CJK}]|[^\W_{_CJK}]+")
_SIGNED_WORDS = re.compile(rf"(?:(?<!\w)-)?(?:{_WORDS.pattern})")
_MARKS = re.compile(r"\S")
# Compared as words, longer texts are not short answers; found to the letter they still count.
_MAX_ANSWER_LENGTH = 2_000


class Location(NamedTuple):
    """Where an answer stands. `is_certain` is False when it was not found and not all of the response was looked at."""

    span: Span | None
    is_certain: bool = True


def locate_answer(response: str, answer: str) -> Location:
    """The last occurrence outside think blocks, as original offsets; case, width and punctuation do not count."""
    answer = fold(answer).strip()
    if not answer:
        return Location(None)
    visible = visible_part(response)
    span = _locate_exactly(visible.text, answer) or _locate_by_words(visible.text.lower(), answer.lower())
    if span is None:
        # Very long responses are looked at from their end only, as the rules do.
        return Location(None, is_certain=visible.offset == 0)
    return Location(Span(span.start + visible.offset, span.end + visible.offset))


def is_same_answer(left: str, right: str) -> bool:
    """Equal but for case, width, whitespace and punctuation; where marks are the answer (brackets, -5), they count."""
    return left == right or _comparable(left) == _comparable(right)


def _comparable(text: str) -> list[str]:
    folded = fold(text).lower()
    return _SIGNED_WORDS.findall(folded) or _MARKS.findall(folded)


def _locate_exactly(text: str, answer: str) -> Span | None:
    start = text.rfind(answer)
    if start < 0:
        return None
    end = start + len(answer)
    # "no" is not in "know"; a mark at the edge of the answer is a boundary of its own.
    joined_before = start > 0 and _is_joined(text[start - 1], answer[0])
    joined_after = end < len(text) and _is_joined(answer[-1], text[end])
    return None if joined_before or joined_after else Span(start, end)


def _is_joined(left: str, right: str) -> bool:
    """The two characters belong to one word; a CJK character is a word of its own."""
    return left.isalnum() and right.isalnum() and len(_WORDS.findall(left + right)) == 1


def _locate_by_words(text: str, answer: str) -> Span | None:
    if len(answer) > _MAX_ANSWER_LENGTH:
        return None
    pattern = _WORDS if _WORDS.search(answer) else _MARKS
    words = pattern.findall(answer)
    if not all(word in text for word in words):
        return None
    tokens = list(pattern.finditer(text))
    needle = f" {' '.join(words)} "
    haystack = f" {' '.join(token[0] for token in tokens)} "
    # Backwards through find(): rfind() has no linear bound, and the response is whatever a model wrote.
    place = haystack[::-1].find(needle[::-1])
    if place < 0:
        return None
    last = haystack.count(" ", 0, len(haystack) - place) - 2
    first = last - len(words) + 1
    return Span(tokens[first].start(), tokens[last].end())


# How the matcher's trace names an answer that is neither an option, a boolean, a number, a list nor mathematics.
_FREE_TEXT = "text"

# What is remarkable about a valid judgment; kept in its fields so that a report can count it.
NOT_IN_RESPONSE = "extracted_answer_not_in_response"
COPIES_GROUND_TRUTH = "extracted_answer_copies_ground_truth"
# Seed 001: an answer without any reasoning trace may be right, but a score of 4 is there for that.
LOW_REASONING_SCORE = "correct_with_low_reasoning_score"


class Extraction(NamedTuple):
    """`verified` is None when the judge extracted nothing, or the response is too long to say."""

    verified: bool | None
    span: Span | None = None
    warnings: tuple[str, ...] = ()
    contradiction: str = ""  # the verdict does not follow from the extracted answer


def verify_extraction(reply: SemanticReply, sample: Sample) -> Extraction:
    """Literally, or in other words that the rules find equal ("forty-two" read as "42", an option for its letter)."""
    answer = reply.extracted_answer
    if answer is None or not answer.strip():
        return Extraction(verified=None)
    agreement = _agreement(answer, reply.is_correct is True, sample)
    is_truth = agreement is Decision.CORRECT
    location = locate_answer(sample.response, answer)
    span = location.span
    verified = True if span is not None else False if location.is_certain else None
    if not verified:
        # What the rules read in the response may be the extracted answer in other words.
        wanted = _truths(sample) if is_truth else (answer,)
        matched = _match(sample.response, sample, wanted)
        if matched.decision is Decision.CORRECT:
            verified, span = True, matched.span
    warnings: tuple[str, ...] = ()
    # A judge that says "incorrect" may describe rather than quote: "none", "two different options".
    if reply.is_correct and verified is False:
        warnings = (NOT_IN_RESPONSE, COPIES_GROUND_TRUTH) if is_truth else (NOT_IN_RESPONSE,)
    return Extraction(verified, span, warnings, _contradiction(reply, agreement, sample))


def _said(reply: SemanticReply) -> str:
    return f"is_correct is {excerpt(reply.is_correct)}, extracted_answer is {excerpt(reply.extracted_answer)}"


def _contradiction(reply: SemanticReply, agreement: Decision, sample: Sample) -> str:
    if agreement is not (Decision.INCORRECT if reply.is_correct else Decision.CORRECT):
        return ""
    relation = "is not" if reply.is_correct else "is"
    return f"{_said(reply)}, which {relation} the ground truth {excerpt(sample.ground_truth)}"


def _agreement(answer: str, is_correct: bool, sample: Sample) -> Decision:
    """Whether the extracted answer, on its own, is the ground truth."""
    truths = _truths(sample)
    if any(is_same_answer(answer, truth) for truth in truths):
        return Decision.CORRECT
    # Where the judge says "incorrect" there is nothing more to find out.
    if not truths or not is_correct:
        return Decision.UNDECIDED
    matched = _match(answer, sample, truths)
    # Two free texts that differ may still mean one thing: only the closed kinds of answer contradict for certain.
    is_doubtful = matched.decision is Decision.INCORRECT and _FREE_TEXT in matched.rules
    return Decision.UNDECIDED if is_doubtful else matched.decision


def _match(text: str, sample: Sample, wanted: tuple[str, ...], maths: MathsComparer | None = None) -> MatchResult:
    return match_answer(text, wanted[0], question=sample.question, alternatives=wanted[1:], maths=maths)


def _truths(sample: Sample) -> tuple[str, ...]:
    return () if sample.ground_truth is None else (sample.ground_truth, *sample.ground_truth_alternatives)


_VARIABLES = {
    "system": frozenset[str](),
    "user": frozenset({"id", "nonce", "question", "model_response", "ground_truth", "ground_truth_alternatives"}),
}


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
        return protocol

    @cached_property
    def reply_schema(self) -> Mapping[str, Any]:
        return reply_schema(self.settings)

    @cached_property
    def hash(self) -> str:
        return self.hash_with(self.parameters, self.reply_schema)

    @property
    def needs(self) -> SampleNeeds:
        if self.settings.extraction_policy == "off":
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
        is_exact = self.settings.check_id == "exact"
        variables = {
            # JSON, so that an id with quotation marks stays one value; on one line, and no longer than a name is.
            "id": json.dumps(shown_name(sample.id) if is_exact else OPAQUE_ID, ensure_ascii=False),
            "nonce": nonce,
            "model_response": fence(sample.response, "MODEL_RESPONSE", nonce),
            **fenced_question(sample, nonce),
        }
        told: Mapping[str, Mapping[str, Any]] = {"system": {}, "user": variables}
        return tuple(Message(role, self.template(role, _VARIABLES[role]).render(told[role])) for role in _VARIABLES)

    def parse(self, reply: Reply, sample: Sample) -> ValidJudgment | InvalidJudgment:
        """All objections are collected: a judge that is asked again should hear them at once."""
        reading = read_reply(reply.text, self.settings.reply_mode, FIELDS)
        if reading.value is None:
            return InvalidJudgment(reading.findings, reading.repairs)
        fields = FieldReader(reading.value)
        repairs = reading.repairs
        if fields.unknown_keys(FIELDS):
            repairs = (*repairs, Repair.EXTRA_KEYS_IGNORED)
        checked = check_fields(fields, sample, self.settings, is_bundled=bool(reply.details.get("bundle")))
        _check_words(fields, checked.is_correct, checked.comment, reading.prose)
        findings = (*reading.findings, *fields.findings, *repetitions(reading.value, sample))
        if findings:
            return InvalidJudgment(findings, repairs)
        policy = self.settings.extraction_policy
        extraction = Extraction(None) if policy == "off" else verify_extraction(checked, sample)
        if extraction.contradiction:
            fields.contradiction(extraction.contradiction)
        for warning in extraction.warnings if policy == "verified" else ():
            # An unproven quotation (seed 003 §6).
            fields.violation(f"{_said(checked)}: {warning}")
        if fields.findings:
            return InvalidJudgment(tuple(fields.findings), repairs)
        row = self.settings.consistency.correct if checked.is_correct else self.settings.consistency.incorrect
        warned = [LOW_REASONING_SCORE] if checked.reasoning_score in row.warned_scores else []
        verdict = "correct" if checked.is_correct else "incorrect"
        told = checked._asdict() | {"extraction_verified": extraction.verified}
        told["warnings"] = [*extraction.warnings, *warned]
        method, score = method_of(reply, sample), float(checked.is_correct is True)
        return ValidJudgment(score, verdict, told, method, span=extraction.span, repairs=repairs)

    def decide(self, sample: Sample, maths: MathsComparer | None = None) -> ValidJudgment | Undecided:
        """What the rules can say; they give no reasoning score, because they did not assess any reasoning."""
        if sample.ground_truth is None:
            return Undecided(reason="no ground truth")
        matched = _match(sample.response, sample, _truths(sample), maths)
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
    told = scores.get(scorer) if isinstance(scores, Mapping) else None
    if told is None:
        return Undecided(f"the log holds no score of {scorer!r} for this sample")
    # A table of somebody's own may have the bare value.
    score: Mapping[str, Any] = told if isinstance(told, Mapping) else {"value": told, "is_correct": verdict_of(told)}
    if problem := score.get("problem"):
        return InvalidJudgment((Finding(Flag.UNPARSABLE_OUTPUT, f"{scorer}: {problem}"),))
    is_correct = score.get("is_correct")
    if not isinstance(is_correct, bool) and score.get(GRADED):
        return Undecided(f"{scorer} says {score.get('value')!r}: it grades, and gives no verdict")
    if not isinstance(is_correct, bool):
        said = f"{scorer} says {score.get('value')!r}, which is neither correct nor incorrect"
        return InvalidJudgment(
            (Finding(Flag.PROTOCOL_VIOLATION, f"{said}: the {protocol_name} protocol has no degrees"),)
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

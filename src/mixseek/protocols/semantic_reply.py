"""What a judge's object must satisfy under the semantic protocol: shape, ranges, and values that must agree."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from mixseek.domain.judgments import ErrorType, Flag
from mixseek.domain.samples import Sample
from mixseek.protocols.reply_fields import FieldReader
from mixseek.protocols.reply_json import excerpt
from mixseek.protocols.scored_sample import shown_name
from mixseek.protocols.semantic_parameters import ConsistencyTable, IdCheck, SemanticParameters

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


def check_fields(fields: FieldReader, sample: Sample, parameters: SemanticParameters) -> SemanticReply:
    """Types and ranges first, then what must agree; every objection is in `fields.findings`."""
    _check_id(fields, sample, parameters.check_id)
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
    shown = {"type": "string"} if parameters.check_id is IdCheck.EXACT else {"type": "integer", "enum": [OPAQUE_ID]}
    return {
        "type": "object",
        "properties": {
            "id": shown,
            "is_correct": {"type": "boolean"},
            "extracted_answer": {"type": ["string", "null"]},
            "reasoning_score": {"type": "integer", "enum": list(range(scale.minimum, scale.maximum + 1))},
            "error_type": {"type": "string", "enum": list(ERROR_TYPES)},
            "comment": {"type": "string"},
        },
        "required": list(FIELDS),
        "additionalProperties": False,
    }


def _check_id(fields: FieldReader, sample: Sample, check: IdCheck) -> None:
    given = fields.identifier("id")
    own = {sample.id, shown_name(sample.id)}
    accepted = own if check is IdCheck.EXACT else {*own, str(OPAQUE_ID)}
    if given is None or check is IdCheck.OFF or given in accepted:
        return
    fields.note(
        Flag.INTERNAL_INCONSISTENCY,
        f"id is {excerpt(given)}, but the sample's is {excerpt(sample.id)}: the reply may belong to another sample",
    )


def _check_consistency(fields: FieldReader, reply: SemanticReply, table: ConsistencyTable) -> None:
    if reply.is_correct is None:
        return
    row = table.correct if reply.is_correct else table.incorrect
    verdict = "is_correct is true" if reply.is_correct else "is_correct is false"
    accepted = (*row.reasoning_scores, *row.warned_scores)
    if reply.reasoning_score is not None and reply.reasoning_score not in accepted:
        needed = " or ".join(str(score) for score in sorted(accepted))
        fields.note(
            Flag.INTERNAL_INCONSISTENCY, f"{verdict} but reasoning_score is {reply.reasoning_score}; it needs {needed}"
        )
    if reply.error_type is not None and reply.error_type not in row.error_types:
        needed = " or ".join(row.error_types)
        fields.note(Flag.INTERNAL_INCONSISTENCY, f"{verdict} but error_type is {reply.error_type!r}; it needs {needed}")


def _check_extracted_answer(fields: FieldReader, reply: SemanticReply) -> None:
    """Null and blank say that there was no answer; the rest of the reply must say so too."""
    if fields.is_null("extracted_answer"):
        if reply.error_type is not None and reply.error_type != ErrorType.NO_ANSWER:
            fields.note(
                Flag.INTERNAL_INCONSISTENCY,
                f"extracted_answer is null but error_type is {reply.error_type!r}; null needs no_answer",
            )
    elif reply.extracted_answer is not None and not reply.extracted_answer.strip() and reply.is_correct:
        fields.note(Flag.INTERNAL_INCONSISTENCY, "is_correct is true but extracted_answer is blank")

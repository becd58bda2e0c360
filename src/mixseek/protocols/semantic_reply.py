"""What a judge's object must satisfy: shape, ranges, and values that must agree."""

import re
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, Self

from pydantic import Field, model_validator

from mixseek.domain.judgments import ErrorType
from mixseek.domain.samples import Sample
from mixseek.protocols.declaration import Table
from mixseek.protocols.replies.repairs import ReplyMode
from mixseek.protocols.replies.reply_bundles import means_sample
from mixseek.protocols.replies.reply_fields import FieldReader, closed_object
from mixseek.protocols.replies.reply_json import excerpt
from mixseek.protocols.shown_texts import shown_name

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
    given = fields.identifier("id")
    if given is not None and not _names_sample(given, sample, parameters.check_id, is_bundled=is_bundled):
        statement = f"id is {excerpt(given)}, but the sample's is {excerpt(sample.id)}"
        fields.contradiction(f"{statement}: the reply may belong to another sample")
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


def _names_sample(given: str, sample: Sample, check: IdCheck, *, is_bundled: bool) -> bool:
    if check == "off" or given == sample.id or (check == "opaque" and given == str(OPAQUE_ID)):
        return True
    return given == shown_name(sample.id) or (is_bundled and means_sample(given, sample.id))


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


def check_words(fields: FieldReader, is_correct: bool | None, comment: str | None, prose: str) -> None:
    """A comment, or prose around the object, that outright says the opposite of `is_correct`."""
    for name, text in (("comment", comment), ("prose around the object", prose)):
        if not text:
            continue
        sentences = (_SAID_OUTRIGHT.fullmatch(part.strip(" \t*_#`\"'")) for part in _SENTENCE_ENDS.split(text))
        verdicts = {bool(sentence["right"] or sentence["ja"] or sentence["zh"]) for sentence in sentences if sentence}
        if is_correct is not None and verdicts == {not is_correct}:
            fields.contradiction(
                f"is_correct is {excerpt(is_correct)}, but the {name} says the opposite: {excerpt(text)}"
            )


def _check_extracted_answer(fields: FieldReader, reply: SemanticReply) -> None:
    """Null and blank say that there was no answer; the rest of the reply must say so too."""
    if fields.is_null("extracted_answer"):
        if reply.error_type not in {None, ErrorType.NO_ANSWER}:
            statement = f"extracted_answer is null but error_type is {reply.error_type!r}"
            fields.contradiction(f"{statement}; null needs no_answer")
    elif reply.extracted_answer is not None and not reply.extracted_answer.strip() and reply.is_correct:
        fields.contradiction("is_correct is true but extracted_answer is blank")

"""What can be set on the semantic protocol without a new protocol class; all of it is part of the hash."""

from enum import StrEnum
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from mixseek.domain.judgments import ErrorType
from mixseek.protocols.reply_repairs import ReplyMode


class IdCheck(StrEnum):
    """What the prompt calls the sample, and what the reply's `id` must then be.

    OPAQUE  the prompt says 1; the reply must say 1, or the sample's own id (replies collected elsewhere).
            Ids often name the model that answered, which a judge must not know.
    EXACT   the prompt says the sample's id and the reply must repeat it.
    OFF     the prompt says 1; the reply must carry an id, whichever.
    """

    OPAQUE = "opaque"
    EXACT = "exact"
    OFF = "off"


class ExtractionPolicy(StrEnum):
    """What becomes of a verdict "correct" whose extracted answer does not stand in the response.

    RECORD keeps the judgment and counts it as unverified: reports bound the headline by it. VERIFIED makes it
    invalid. Under both, a verdict that contradicts the extracted answer is invalid. OFF looks at neither, for replies
    whose judged text is not at hand.
    """

    RECORD = "record"
    VERIFIED = "verified"
    OFF = "off"


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Scale(_Table):
    """An integer scale, both ends included."""

    minimum: int = Field(strict=True)
    maximum: int = Field(strict=True)


class ConsistencyRow(_Table):
    """What goes with one value of `is_correct`."""

    reasoning_scores: tuple[int, ...] = Field(min_length=1)
    # Accepted with a warning: the rubric does not exclude them, but has a better score for such a response.
    warned_scores: tuple[int, ...] = ()
    error_types: tuple[ErrorType, ...] = Field(min_length=1)


class ConsistencyTable(_Table):
    """DESIGN §5: which reasoning scores and error types may stand beside which verdict."""

    correct: ConsistencyRow
    incorrect: ConsistencyRow


class SemanticParameters(_Table):
    """Read from the declaration's [parameters]; nothing has a default here, so the file shows everything."""

    reply_mode: ReplyMode
    check_id: IdCheck
    extraction_policy: ExtractionPolicy
    reasoning_score: Scale
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

"""Checks a judge against the sample: does the response say what the judge read in it, and does the verdict follow?

Judges that know the ground truth "extract" it from responses which never say it, and call an answer correct that
they themselves quote as a different one. The first is a doubt, which is counted; the second contradicts itself.
"""

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, NamedTuple, Self

from pydantic import Field, model_validator

from mixseek.domain.judgments import ErrorType, Finding, Flag, Span
from mixseek.domain.samples import Sample
from mixseek.matching.match import match_answer
from mixseek.matching.outcome import Decision, MatchResult
from mixseek.matching.visible import fold, visible_part
from mixseek.protocols.declaration.declaration import Table
from mixseek.protocols.reply.fields import FieldReader
from mixseek.protocols.reply.json import ReplyMode, excerpt
from mixseek.protocols.scored.sample import shown_name

# What can be set on the semantic protocol without a new protocol class; all of it is part of the hash.


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


# What a judge's object must satisfy under the semantic protocol: shape, ranges, and values that must agree.

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
    said = f"id is {excerpt(given)}, but the sample's is {excerpt(sample.id)}"
    fields.contradiction(f"{said}: the reply may belong to another sample")


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


def _check_extracted_answer(fields: FieldReader, reply: SemanticReply) -> None:
    """Null and blank say that there was no answer; the rest of the reply must say so too."""
    if fields.is_null("extracted_answer"):
        if reply.error_type is not None and reply.error_type != ErrorType.NO_ANSWER:
            said = f"extracted_answer is null but error_type is {reply.error_type!r}"
            fields.contradiction(f"{said}; null needs no_answer")
    elif reply.extracted_answer is not None and not reply.extracted_answer.strip() and reply.is_correct:
        fields.contradiction("is_correct is true but extracted_answer is blank")


# Whether the answer that a judge says it extracted stands in the response, and where.
#
# A judge that knows the ground truth may "extract" it from a response that never says it; the span is the proof.

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


class ReplyWarning(StrEnum):
    """What is remarkable about a valid judgment; kept in its fields so that a report can count it."""

    NOT_IN_RESPONSE = "extracted_answer_not_in_response"
    COPIES_GROUND_TRUTH = "extracted_answer_copies_ground_truth"
    # Seed 001: an answer without any reasoning trace may be right, but a score of 4 is there for that.
    LOW_REASONING_SCORE = "correct_with_low_reasoning_score"


class Extraction(NamedTuple):
    """`verified` is None when the judge extracted nothing, or the response is too long to say."""

    verified: bool | None
    span: Span | None = None
    warnings: tuple[ReplyWarning, ...] = ()
    contradiction: Finding | None = None  # the verdict does not follow from the extracted answer


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
        matched = _vouching_match(answer, is_truth, sample)
        if matched is not None:
            verified, span = True, matched.span
    warnings: list[ReplyWarning] = []
    # A judge that says "incorrect" may describe rather than quote: "none", "two different options".
    if reply.is_correct and verified is False:
        warnings.append(ReplyWarning.NOT_IN_RESPONSE)
        if is_truth:
            warnings.append(ReplyWarning.COPIES_GROUND_TRUTH)
    return Extraction(verified, span, tuple(warnings), _contradiction(reply, agreement, sample))


def objections(reply: SemanticReply, extraction: Extraction) -> tuple[Finding, ...]:
    """The warnings as reasons to refuse the reply, for the policy `verified`: an unproven quotation (seed 003 §6)."""
    said = _said(reply)
    return tuple(Finding(Flag.PROTOCOL_VIOLATION, f"{said}: {warning}") for warning in extraction.warnings)


def _said(reply: SemanticReply) -> str:
    return f"is_correct is {excerpt(reply.is_correct)}, extracted_answer is {excerpt(reply.extracted_answer)}"


def _contradiction(reply: SemanticReply, agreement: Decision, sample: Sample) -> Finding | None:
    if agreement is not (Decision.INCORRECT if reply.is_correct else Decision.CORRECT):
        return None
    relation = "is not" if reply.is_correct else "is"
    detail = f"{_said(reply)}, which {relation} the ground truth {excerpt(sample.ground_truth)}"
    return Finding(Flag.INTERNAL_INCONSISTENCY, detail)


def _vouching_match(answer: str, is_truth: bool, sample: Sample) -> MatchResult | None:
    """What the rules read in the response, if that is the extracted answer in other words."""
    if is_truth:
        matched = _match(sample.response, sample)
    else:
        matched = match_answer(sample.response, answer, question=sample.question)
    return matched if matched.decision is Decision.CORRECT else None


def _agreement(answer: str, is_correct: bool, sample: Sample) -> Decision:
    """Whether the extracted answer, on its own, is the ground truth."""
    truths = _truths(sample)
    if any(is_same_answer(answer, truth) for truth in truths):
        return Decision.CORRECT
    # Where the judge says "incorrect" there is nothing more to find out.
    if not truths or not is_correct:
        return Decision.UNDECIDED
    matched = _match(answer, sample)
    # Two free texts that differ may still mean one thing: only the closed kinds of answer contradict for certain.
    is_doubtful = matched.decision is Decision.INCORRECT and _FREE_TEXT in matched.rules
    return Decision.UNDECIDED if is_doubtful else matched.decision


def _match(text: str, sample: Sample) -> MatchResult:
    truth, *alternatives = _truths(sample)
    return match_answer(text, truth, question=sample.question, alternatives=tuple(alternatives))


def _truths(sample: Sample) -> tuple[str, ...]:
    return () if sample.ground_truth is None else (sample.ground_truth, *sample.ground_truth_alternatives)

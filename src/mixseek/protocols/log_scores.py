"""What the scorer of another tool said, as a judgment: read alike for the judge and for whoever checks an archive."""

from collections.abc import Mapping
from typing import Any

from mixseek.domain.judgments import Finding, Flag, InvalidJudgment, Method, Undecided, ValidJudgment
from mixseek.domain.samples import LOG_SCORES, Sample

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

"""Judgments under a protocol with dimensions, as their fields stand in a journal."""

from collections.abc import Mapping, Sequence
from typing import Any

from mixseek.domain.judgments import Finding, Flag, InvalidJudgment, Method, Outcome, Reply, ValidJudgment
from mixseek.domain.samples import Sample
from mixseek.storage.journal.records import encode_outcome, encode_reply, encode_sample

DIMENSIONS = ("FORMAT", "FIDELITY")
UNUSABLE = InvalidJudgment((Finding(Flag.UNPARSABLE_OUTPUT, "no JSON object in the reply"),))


def scored(
    *scores: float,
    maxima: Sequence[float] = (2, 2),
    method: Method = Method.CROSS_JUDGE,
    evidence: Sequence[Mapping[str, Any]] = (),
    **fields: Any,
) -> ValidJudgment:
    """A valid judgment with one score a dimension."""
    total, top = sum(scores), sum(maxima)
    return ValidJudgment(
        score=total / top,
        verdict="PASS" if total == top else "FAIL" if total == 0 else "PARTIAL",
        fields={
            "scores": dict(zip(DIMENSIONS, scores, strict=True)),
            "maxima": dict(zip(DIMENSIONS, maxima, strict=True)),
            "reasons": {name: f"why {name}" for name in DIMENSIONS},
            "total": total,
            "total_maximum": top,
            "evidence": list(evidence),
            "confidence": "high",
            **fields,
        },
        method=method,
    )


def quote(dimension: str, text: str, spans: Sequence[Sequence[int]] = (), problem: str | None = None) -> dict[str, Any]:
    """Evidence as a protocol writes it."""
    return {
        "dimension": dimension,
        "quote": text,
        "reason": f"because of {text}",
        "spans": [list(span) for span in spans],
        "stage": "exact" if spans else None,
        "problem": problem,
    }


def output(question: str, variant: str, target: str, **changes: Any) -> Sample:
    """One output of one model to one question under one prompt."""
    fields: dict[str, Any] = {
        "id": f"{question}-{variant}-{target}",
        "response": f"{target} answers {question} under {variant}.",
        "question": f"Question {question}?",
        "question_id": question,
        "prompt_variant": variant,
        "target_model": target,
        "metadata": {"language": "zh" if variant == "B" else "ja"},
    }
    return Sample(**{**fields, **changes})


def scored_lines(
    sample: Sample, outcomes: Mapping[str, Outcome], models: Mapping[str, str] | None = None
) -> list[bytes]:
    """Sample, replies and outcomes; `models` names who gave a recorded reply."""
    key = sample.key()
    lines = [encode_sample(sample, key)]
    for judge, outcome in outcomes.items():
        if models and judge in models:
            lines.append(encode_reply(key, Reply("{}", judge, details={"judge_model": models[judge]})))
        lines.append(encode_outcome(sample, key, judge, outcome))
    return lines

"""A valid reply and the sample it is about; tests change one thing at a time."""

import json
from typing import Any

from mixseek.domain.judgments import InvalidJudgment, Reply, ValidJudgment
from mixseek.domain.samples import Sample
from mixseek.protocols.registry import load_protocol

SAMPLE = Sample(
    id="tea-7",
    question="Mia has 3 tea cups and buys 4 more. How many cups has she?",
    response="She starts with 3 cups and buys 4.\nSo the answer is 7.",
    ground_truth="7",
)

VALID: dict[str, Any] = {
    "id": 1,
    "is_correct": True,
    "extracted_answer": "7",
    "reasoning_score": 5,
    "error_type": "none",
    "comment": "Adds the cups.",
}


def reply_text(**changes: Any) -> str:
    return json.dumps({**VALID, **changes}, ensure_ascii=False)


def reply_without(*names: str) -> str:
    return json.dumps({key: value for key, value in VALID.items() if key not in names})


def parse(text: str, sample: Sample = SAMPLE, **parameters: Any) -> ValidJudgment | InvalidJudgment:
    protocol = load_protocol("semantic", parameters=parameters)
    return protocol.parse(Reply(text, "replay"), sample)


def parse_valid(text: str, sample: Sample = SAMPLE, **parameters: Any) -> ValidJudgment:
    judgment = parse(text, sample, **parameters)
    assert isinstance(judgment, ValidJudgment), judgment
    return judgment


def parse_invalid(text: str, sample: Sample = SAMPLE, **parameters: Any) -> InvalidJudgment:
    judgment = parse(text, sample, **parameters)
    assert isinstance(judgment, InvalidJudgment), judgment
    return judgment


def flags_and_details(judgment: InvalidJudgment) -> list[tuple[str, str]]:
    return [(finding.flag.value, finding.detail) for finding in judgment.findings]

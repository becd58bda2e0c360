"""A sample, a valid reply and a table for each scored protocol; tests change one thing at a time."""

import copy
import json
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from mixseek.domain.judgments import Flag, InvalidJudgment, Reply, ValidJudgment
from mixseek.domain.samples import Sample
from mixseek.protocols.declaration import ProtocolDeclaration, read_declaration
from mixseek.protocols.registry import load_protocol
from mixseek.protocols.scored.protocol import ScoredProtocol

CROSS_DIMENSIONS = ("FORMAT_COMPLIANCE", "INSTRUCTION_COMPLIANCE", "SEMANTIC_FIDELITY", "COMPLETENESS")
RUBRIC_DIMENSIONS = ("logic_and_fact", "constraint_adherence", "helpfulness_and_creativity")
WEIGHTS = {"fact": (60, 30, 10), "creative": (30, 30, 40), "speculative": (40, 20, 40)}

CROSS_SAMPLE = Sample(
    id="harbour-1",
    question="Describe the harbour in three bullet points, then give one warning.",
    response=(
        "- The pier is 40 metres long.\n- Ferries leave at noon.\n- Gulls nest on the roof.\n\n"
        "Warning: the steps are wet."
    ),
    question_id="Q2",
    prompt_variant="B",
    target_model="alpha-7b",
    output_id="q2_b_alpha.txt",
)
CROSS_VALID: dict[str, Any] = {
    "meta": {
        "judge_model": "beta-large",
        "target_model": "alpha-7b",
        "question_id": "Q2",
        "prompt_variant": "B",
        "output_id": "q2_b_alpha.txt",
        "method": "cross_judge",
        "timestamp": "2026-02-28",
    },
    "scores": {**dict.fromkeys(CROSS_DIMENSIONS, 2), "SEMANTIC_FIDELITY": 1, "overall_score": 7},
    "verdict": "PASS",
    "flags": [],
    "evidence": [
        {"dimension": "FORMAT_COMPLIANCE", "quote": "- Ferries leave at noon.", "reason": "A bullet point."},
        {"dimension": "INSTRUCTION_COMPLIANCE", "quote": "Warning: the steps are wet.", "reason": "One warning."},
        {"dimension": "SEMANTIC_FIDELITY", "quote": "Gulls nest on the roof", "reason": "Only loosely the harbour."},
        {"dimension": "COMPLETENESS", "quote": "The pier is 40 metres long", "reason": "All three are there."},
    ],
    "notes": "",
}

RUBRIC_TEXT = """task_type: fact

## Critical Fail Conditions
- Claims that the bridge has collapsed.

## 採点者向け事実情報
The bridge was opened in 1931.
"""
RUBRIC_SAMPLE = Sample(
    id="bridge-1",
    question="When was the bridge opened?",
    response="The bridge was opened in 1931 and is 210 metres long.",
    task_name="bridge",
    rubric=RUBRIC_TEXT,
)
RUBRIC_VALID: dict[str, Any] = {
    "task_name": "bridge",
    "task_type": "fact",
    "inferred_task_type": None,
    "weights": dict(zip(RUBRIC_DIMENSIONS, WEIGHTS["fact"], strict=True)),
    "score": dict(zip(RUBRIC_DIMENSIONS, (55, 30, 7.5), strict=True)),
    "total_score": 92.5,
    "reasoning": dict.fromkeys(RUBRIC_DIMENSIONS, "The year is right."),
    "critical_fail": False,
    "critical_fail_reason": None,
    "confidence": "high",
}

# A protocol of a user's own: another shape, total beside the scores, evidence as a map, a gate and a verdict.
OWN_TOML = """
name = "letters"
version = "1"
kind = "scored"
languages = ["en", "ja", "zh"]
default_language = "en"
[parameters]
instructions = "Judge a letter to a customer."
[parameters.dimensions.A_tone]
title = "Friendly tone"
[parameters.dimensions.B_facts]
title = { en = "Facts", ja = "事実", zh = "事实" }
description = { en = "Nothing is made up.", ja = "作り話がない。", zh = "没有编造。" }
[parameters.scale]
maximum = 3
[parameters.total]
field = "sum"
rule = "weighted_sum"
[parameters.task_types.types.letter]
weights = { A_tone = 1, B_facts = 2 }
[parameters.gates.insults]
reason_field = "insult"
description = "The letter insults somebody."
[parameters.verdict]
field = "grade"
[parameters.verdict.rules.unusable]
gate = "insults"
[parameters.verdict.rules.send]
at_least = 7
nonzero = ["A_tone"]
[parameters.verdict.rules.rewrite]
[parameters.evidence]
policy = "verified"
form = "map"
[parameters.choices.effort]
options = ["little", "much"]
required = false
[parameters.texts.advice]
required = true
maximum_characters = 20
[parameters.identity.fields.letter]
equals = "output_id"
"""
OWN_SAMPLE = Sample(id="letter-1", response="Dear Ms Kato, your parcel left on Monday. Kind regards", question="Write.")
OWN_VALID: dict[str, Any] = {
    "letter": "letter-1",
    "scores": {"A_tone": 3, "B_facts": 2},
    "sum": 7,
    "grade": "send",
    "insults": False,
    "insult": None,
    "evidence": {"A_tone": "Kind regards", "B_facts": "your parcel left on Monday"},
    "advice": "none",
}

SAMPLES = {"cross": CROSS_SAMPLE, "rubric": RUBRIC_SAMPLE, "letters": OWN_SAMPLE}
VALID = {"cross": CROSS_VALID, "rubric": RUBRIC_VALID, "letters": OWN_VALID}
NAMES = tuple(VALID)


@cache
def own_declaration() -> ProtocolDeclaration:
    """Read as from a file, without one."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "letters.toml"
        path.write_text(OWN_TOML, encoding="utf-8")
        return read_declaration(path)


def protocol_of(name: str, **parameters: Any) -> ScoredProtocol:
    if name == "letters":
        declaration = own_declaration()
        merged = {**declaration.parameters, **parameters}
        return ScoredProtocol.from_declaration(
            ProtocolDeclaration(declaration.name, "1", "scored", "en", merged, declaration.templates, declaration.where)
        )
    protocol = load_protocol(name, parameters=parameters)
    assert isinstance(protocol, ScoredProtocol)
    return protocol


def changed(value: dict[str, Any], path: str, new: Any) -> dict[str, Any]:
    """A copy with another value at a dotted path; numbers are places in a list."""
    result = copy.deepcopy(value)
    *way, last = path.split(".")
    node: Any = result
    for step in way:
        node = node[int(step)] if isinstance(node, list) else node[step]
    node[int(last) if isinstance(node, list) else last] = new
    return result


def without(value: dict[str, Any], path: str) -> dict[str, Any]:
    result = copy.deepcopy(value)
    *way, last = path.split(".")
    node: Any = result
    for step in way:
        node = node[int(step)] if isinstance(node, list) else node[step]
    del node[int(last) if isinstance(node, list) else last]
    return result


def parse(
    name: str, value: Any, sample: Sample | None = None, judge: str = "beta-large", **parameters: Any
) -> ValidJudgment | InvalidJudgment:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return protocol_of(name, **parameters).parse(Reply(text, judge), sample or SAMPLES[name])


def parse_valid(name: str, value: Any, sample: Sample | None = None, **options: Any) -> ValidJudgment:
    judgment = parse(name, value, sample, **options)
    assert isinstance(judgment, ValidJudgment), judgment
    return judgment


def parse_invalid(name: str, value: Any, sample: Sample | None = None, **options: Any) -> InvalidJudgment:
    judgment = parse(name, value, sample, **options)
    assert isinstance(judgment, InvalidJudgment), judgment
    return judgment


def only_finding(judgment: InvalidJudgment) -> tuple[Flag, str]:
    """Exactly one objection: a single fault must not drag others along."""
    (finding,) = judgment.findings
    return finding.flag, finding.detail

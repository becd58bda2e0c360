"""Nominal labels of failing agents, read through `trajectory`: the agreement is that of the labels as they stand."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.flows.running import mixseek_here, write_jsonl

from mixseek.domain.judgments import Reply, ValidJudgment
from mixseek.domain.samples import Sample
from mixseek.domain.steps import Step, StepRole
from mixseek.protocols.registry import load_protocol

RATINGS = Path(__file__).resolve().parents[3] / "shared" / "data" / "scores_agentfail_nominal.jsonl"
DIMENSIONS = ("goal_reached", "tool_use", "efficiency", "recovery", "safety")
COEFFICIENTS = ("agreement", "pairs")


def reply_with(word: str) -> str:
    """A reply about a run that failed, with the word for why it did."""
    evidence = [
        {"dimension": name, "step": 2, "quote": "It is done.", "reason": "It is not done."} for name in DIMENSIONS
    ]
    scores = dict.fromkeys(DIMENSIONS, 0)
    return json.dumps(
        {
            "scores": scores,
            "total": 0,
            "verdict": "FAIL",
            "failure": word,
            "first_wrong_step": 2,
            "evidence": evidence,
        }
    )


def read_words(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The same table, each word as the protocol reads it out of a reply."""
    words = sorted({row["score"] for row in rows})
    protocol = load_protocol("trajectory", "en", {"choices": {"failure": {"options": words}}})
    steps = (Step(StepRole.USER, "Do it."), Step(StepRole.ASSISTANT, "It is done."))
    table = []
    for row in rows:
        sample = Sample(id=row["item"], question="Do it.", response="It is done.", steps=steps)
        judgment = protocol.parse(Reply(reply_with(row["score"]), row["judge"]), sample)
        assert isinstance(judgment, ValidJudgment), judgment
        table.append({**row, "score": judgment.fields["failure"]})
    unknown = protocol.parse(Reply(reply_with("Bad luck"), "judge"), sample)
    assert not isinstance(unknown, ValidJudgment)
    return table


def counted(path: Path) -> dict[str, Any]:
    done = mixseek_here("stats", path, "--json", cwd=path.parent)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    return {name: document[name] for name in COEFFICIENTS}


def test_a_failure_is_a_choice_that_a_declaration_adds_to_the_protocol(tmp_path: Path) -> None:
    """Three raters of four runs, in words that have no order."""
    words = {"a": "ppmi", "b": "pimi", "c": "pmmi"}
    named = {"p": "planning", "m": "memory", "i": "instruction"}
    rows = [
        {"item": f"run-{number}", "judge": judge, "score": named[letter]}
        for judge, letters in words.items()
        for number, letter in enumerate(letters)
    ]
    before = counted(write_jsonl(tmp_path / "before.jsonl", rows))

    assert counted(write_jsonl(tmp_path / "after.jsonl", read_words(rows))) == before
    assert before["agreement"]


@pytest.mark.skipif(not RATINGS.is_file(), reason="no ../shared/data beside the project")
def test_agreement_of_recorded_judges_of_failing_agents_is_as_before(tmp_path: Path) -> None:
    rows = [json.loads(line) for line in RATINGS.read_text(encoding="utf-8").splitlines()]
    before = counted(write_jsonl(tmp_path / "before.jsonl", rows))

    assert counted(write_jsonl(tmp_path / "after.jsonl", read_words(rows))) == before
    assert len(rows) == 355

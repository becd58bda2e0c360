"""An answer run that is killed again and again: complete in the end, exact to the last answer, and paid for once."""

import json
import math
import signal
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.flows.answer_material import (
    answer_words,
    manifest_of,
    records_of,
    rows_of,
    states_of,
    succeed,
    write_questions,
    write_targets,
    write_variants,
)
from tests.flows.dying import dying
from tests.flows.live import begin
from tests.flows.target_server import FAILED, REFUSED, Shares, Target, targeting

CONCURRENCY = 8
SHARES = Shares(cut_off=0.12, withheld=0.03, refused=0.02, empty=0.03, failed=0.01, faults=0.2)
TARGETS = ("alpha", "beta", "gamma", "delta")
JOURNAL, MANIFEST = "spring/journal", "spring/manifest"


@dataclass(frozen=True)
class Plan:
    """What is asked, and the writes before or in which its commands are killed, one after the other."""

    targets: int
    variants: int
    questions: int
    repeats: int
    kills: Sequence[tuple[int, str]]

    @property
    def answers(self) -> int:
        return self.targets * self.variants * self.questions * self.repeats


# From the first write of a start into the journal, and at the manifest: before there is anything, and at the seal.
SMALL = Plan(2, 2, 20, 1, [(2, JOURNAL), (23, JOURNAL), (16, JOURNAL)])
LARGE = Plan(
    4,
    3,
    250,
    2,
    [
        *((moment, JOURNAL) for moment in (1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 72, 40)),
        (2, MANIFEST),
        (3, MANIFEST),
    ],
)


@pytest.mark.parametrize("plan", [SMALL, pytest.param(LARGE, marks=pytest.mark.thorough)], ids=["small", "large"])
def test_kills_lose_nothing_and_every_planted_state_is_counted(plan: Plan, tmp_path: Path) -> None:
    """kill -9 before, in and after writes; the target's ledger tells what was asked, how it ended and what it cost."""
    data = write_questions(tmp_path / "questions.jsonl", plan.questions)
    with targeting(SHARES) as (target, hand):
        words = [
            *write_targets(tmp_path, hand.base_url, {name: {} for name in TARGETS[: plan.targets]}),
            *write_variants(tmp_path, plan.variants),
            *("--repeats", str(plan.repeats), "--concurrency", str(CONCURRENCY)),
        ]
        for moment, below in plan.kills:
            process = begin(*answer_words(data, *words), cwd=tmp_path, **dying(moment, below))
            out, err = process.communicate()
            assert process.returncode == -signal.SIGKILL, (moment, below, out, err)
        document = succeed(data, *words, cwd=tmp_path)
        asked = hand.requests
        again = succeed(data, *words, cwd=tmp_path)

    assert hand.requests == asked, "a complete run asks for nothing"
    assert {**again, "seconds": None} == {**document, "seconds": None}
    check_counts(plan, target, document, tmp_path)
    check_costs(plan, target, document, tmp_path)


def check_counts(plan: Plan, target: Target, document: dict[str, object], directory: Path) -> None:
    """Each answer is there once, and ended as it was planted."""
    rows = rows_of(directory)
    assert len(target.planted) == plan.answers == document["planned"] == len(rows)
    assert Counter({state: document[state] for state in target.states}) == target.states
    assert states_of(rows) == target.states
    assert document["open"] == 0
    assert document["state"] == manifest_of(directory).status == "complete"
    assert len({row["id"] for row in rows}) == len({row["output_id"] for row in rows}) == plan.answers
    # The answer to this request and to no other.
    answered = {row["request_id"]: row["response_state"] for row in rows if row["request_id"]}
    assert answered == {request: state for request, state in target.planted.items() if state not in (REFUSED, FAILED)}
    for row in rows:
        assert not row["response"] or row["request_id"] in row["response"], row
        assert row["reasoning"] in (None, f"Let me think about {row['request_id']}."), row
        assert (row["response"] is None) == (row["response_error"] is not None), row


def check_costs(plan: Plan, target: Target, document: dict[str, object], directory: Path) -> None:
    """What the journal says was paid is what the ledger says, without what was in flight at a kill."""
    replies = records_of(directory, "reply")
    places = [
        (reply["key"], reply["judge"], reply["details"]["take"]) for reply in replies if not reply["details"]["cached"]
    ]
    in_flight = len(plan.kills) * CONCURRENCY

    assert len(set(places)) == len(places), "an answer that is kept is not asked for again"
    assert 0 <= target.asked_twice <= in_flight
    assert sum(times - 1 for times in target.answered.values()) <= in_flight
    assert isinstance(document["cost_usd"], float)
    assert math.isclose(document["cost_usd"], target.cost_once_usd, abs_tol=1e-9), json.dumps(document)
    assert math.isclose(sum(row["cost_usd"] or 0 for row in rows_of(directory)), target.cost_once_usd, abs_tol=1e-9)

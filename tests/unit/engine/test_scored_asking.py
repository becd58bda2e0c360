"""Asking under the scored protocols: the judge hears who it is, and an invalid reply is asked for again by name."""

import json
from typing import Any

import pytest
from tests.unit.engine.live_stubs import Court, PlainLines, ScriptedJudge
from tests.unit.protocols.scored_replies import NAMES, SAMPLES, VALID, changed, protocol_of

from mixseek.domain.ports import Call, Nonces
from mixseek.engine.call import CallContext, PendingSample
from mixseek.engine.endings import RunEnd
from mixseek.engine.journaling import GroupCommit
from mixseek.engine.live import LiveBatch, LiveRun

FAULT = {
    "cross": ("verdict", "FAIL", 'INTERNAL_INCONSISTENCY: verdict is "FAIL"'),
    "rubric": ("total_score", 1, "INTERNAL_INCONSISTENCY: total_score is 1, but the scores add up to 92.5"),
    "letters": ("scores.A_tone", 9, "PROTOCOL_VIOLATION: scores.A_tone is 9, outside the scale 0 to 3"),
}


def judge_one(name: str, first: Any, then: Any) -> tuple[Court, ScriptedJudge]:
    court = Court()

    def script(call: Call, time: int) -> str:
        return json.dumps(first if call.ask == 1 else then)

    judge = ScriptedJudge(script, court.time)
    sample = SAMPLES[name]

    async def work() -> RunEnd:
        commits = GroupCommit(court.journal, court.progress, gather_seconds=0.0)
        context = CallContext(
            protocol_of(name), PlainLines(), commits, court.cache, court.budget, lambda *_: Nonces("def456", "abc123")
        )
        run = LiveRun(context, (court.slot(judge),), False, 8, 1.0, court.progress, lambda: False)
        return await run.judge([LiveBatch([PendingSample(sample, sample.key())])])

    court.time.run(work)
    return court, judge


@pytest.mark.parametrize("name", NAMES)
def test_the_second_request_names_what_was_wrong_with_the_first(name: str) -> None:
    path, wrong, said = FAULT[name]
    court, judge = judge_one(name, changed(VALID[name], path, wrong), VALID[name])
    first, second = (call.messages for call in judge.calls)

    assert said in second[-1].content
    assert second[-1].content.startswith(first[-1].content)
    assert court.statuses() == {"valid": 1}


def test_the_judge_is_told_its_model_and_the_method() -> None:
    _, judge = judge_one("cross", VALID["cross"], VALID["cross"])
    (call,) = judge.calls

    assert '"judge_model": "stub-1"' in call.messages[-1].content
    assert '"method": "cross_judge"' in call.messages[-1].content

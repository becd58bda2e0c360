"""A run that cannot go on: nothing more is asked, and paid for, while everybody hears of it."""

import asyncio
import threading
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
from tests.unit.engine.live_stubs import Court, MemoryJournal, ScriptedJudge, pending

from mixseek.domain.judgments import Status
from mixseek.domain.ports import Call
from mixseek.engine.endings import Ending
from mixseek.errors import PermanentJudgeError, StorageError

TEN = tuple("abcdefghij")
# Turns of the loop in which a failure has gone round to everybody.
_ENOUGH_TO_END = 100


@dataclass
class SlowJournal(MemoryJournal):
    """Nothing is on disk before it is said to be ready."""

    is_ready: threading.Event = field(default_factory=threading.Event)

    def sync(self) -> None:
        assert self.is_ready.wait(60), "nobody has said that the disk is ready"
        super().sync()


def after_turns(turns: int, work: Callable[[], None]) -> None:
    if turns:
        asyncio.get_running_loop().call_soon(after_turns, turns - 1, work)
    else:
        work()


@pytest.mark.parametrize("judges", [1, 2])
def test_nothing_is_asked_once_the_journal_cannot_be_written(judges: int) -> None:
    """A place that a lost reply gives up is nobody's: what comes back to it would be lost as well."""
    court = Court(maximum=4, pending_samples=8)

    def fill_disk(call: Call, times: int) -> str:
        court.journal.failure = StorageError("disk full")
        return "good"

    panel = [
        ScriptedJudge(fill_disk, court.time, name=name, endpoint=f"http://{name}", fingerprint=name)
        for name in ("first", "second")[:judges]
    ]
    with pytest.raises(StorageError, match="disk full"):
        court.judge(pending(*TEN), *map(court.slot, panel))

    assert [len(judge.calls) for judge in panel] == [4] * judges


def test_nothing_is_asked_once_the_endpoint_refuses_everything() -> None:
    """Those who wait for a place learn of it before they get one."""
    court = Court(maximum=4, pending_samples=8)
    judge = ScriptedJudge(lambda call, times: PermanentJudgeError("bad key", concerns_everything=True), court.time)

    with pytest.raises(PermanentJudgeError, match="bad key"):
        court.judge(pending(*TEN), court.slot(judge))

    assert len(judge.calls) == 4


def test_a_reply_that_is_here_when_a_key_is_revoked_is_read() -> None:
    """It waits for the disk at that moment. Of a run in memory it would be lost for good."""
    court = Court(maximum=2, pending_samples=2)
    court.journal = journal = SlowJournal()
    samples = pending("a", "b")

    def revoke(call: Call, times: int) -> str | Exception:
        if call.sample_key == samples[0].key:
            return "good"
        after_turns(_ENOUGH_TO_END, journal.is_ready.set)
        return PermanentJudgeError("revoked", concerns_everything=True)

    judge = ScriptedJudge(revoke, court.time)
    with pytest.raises(PermanentJudgeError, match="revoked"):
        court.judge(samples, court.slot(judge))

    assert court.statuses() == {Status.VALID: 1}


def test_nobody_is_taken_up_after_a_stop_however_quick_the_replies_are() -> None:
    """Between two glances at the signal a dozen samples could be asked about, and paid for."""
    court = Court(maximum=1, pending_samples=1)
    judge = ScriptedJudge(lambda call, times: "good", court.time, latency_seconds=0.001)
    court.should_stop = lambda: len(judge.calls) >= 3

    end = court.judge(pending(*TEN), court.slot(judge))

    assert end.ending is Ending.STOPPED
    assert len(judge.calls) == 3
    assert court.statuses() == {Status.VALID: 3}

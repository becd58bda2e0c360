"""Whose turn it is in a live run."""

import asyncio
from typing import ClassVar

from tests.unit.engine.live_stubs import Court, pending
from tests.unit.engine.stub_judging import StubRules

from mixseek.domain.judgments import Undecided, ValidJudgment
from mixseek.domain.ports import JudgeProtocol
from mixseek.domain.samples import Sample
from mixseek.engine.slots import OfflineSlot

TEN = "abcdefghij"


class BusyRules(StubRules):
    """Notes, at each sample, how many of its earlier wishes the loop has granted."""

    granted: ClassVar[list[int]] = []
    seen: ClassVar[list[int]] = []

    def reply(self, sample: Sample, protocol: JudgeProtocol) -> ValidJudgment | Undecided:
        self.seen.append(len(self.granted))
        asyncio.get_running_loop().call_soon(self.granted.append, 1)
        return super().reply(sample, protocol)


def test_samples_that_never_wait_leave_the_loop_to_the_others() -> None:
    """Rules before a slow endpoint: its sockets have their turn between two samples."""
    court = Court(pending_samples=1)

    court.judge(pending(*TEN), OfflineSlot(BusyRules()))

    assert BusyRules.seen == list(range(len(TEN)))

"""How a run comes to its end: why, what that means for what is in flight, and when going on is of no use."""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Collection, Coroutine, Sequence
from enum import StrEnum
from typing import Any, TypeVar

from mixseek.domain.judgments import InvalidJudgment, Read
from mixseek.engine.budget import BudgetSpentError
from mixseek.engine.endpoint import EndpointDownError, HaltedError
from mixseek.errors import MixseekError
from mixseek.lazy_dataclass import dataclass

T = TypeVar("T")
# So many refusals in a row, before the first reply, are no matter of single samples.
FIRST_REFUSALS = 20
# A judge that has answered may meet a stretch of samples that it may not look at.
LATER_REFUSALS = 100
# Of so many replies one should be of use.
FIRST_REPLIES = 50


class Ending(StrEnum):
    """Only the first one means that every sample was taken up."""

    COMPLETE = "complete"
    STOPPED = "stopped"  # the caller asked
    OUT_OF_BUDGET = "out_of_budget"
    ENDPOINT_DOWN = "endpoint_down"
    SHARD_FAILED = "shard_failed"  # a part of the samples that others could not judge, three times
    AWAITED = "awaited"  # some replies come with batches that are not here yet
    NOTHING_USABLE = "nothing_usable"  # a judge refuses everything, or nothing that it says is valid


@dataclass(frozen=True, slots=True)
class RunEnd:
    """The ending, and a sentence for a person where nobody asked for it."""

    ending: Ending
    reason: str | None = None


class NothingUsableError(MixseekError):
    """A judge refuses everything, or gave nothing valid so far; the run is resumable."""


# These let what is in flight come home; any other failure ends the run at once.
ENDINGS = {
    HaltedError: Ending.STOPPED,
    BudgetSpentError: Ending.OUT_OF_BUDGET,
    EndpointDownError: Ending.ENDPOINT_DOWN,
    NothingUsableError: Ending.NOTHING_USABLE,
}
STOPPING = tuple(ENDINGS)


async def all_of(works: Sequence[Coroutine[Any, Any, T]]) -> list[T]:
    """Every result. Where the run is stopping, the others are waited for first: what they began is paid for."""
    if len(works) == 1:
        return [await works[0]]
    tasks = [asyncio.ensure_future(work) for work in works]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
        if all(not task.done() or isinstance(task.exception(), STOPPING) or not task.exception() for task in tasks):
            await asyncio.wait(tasks)
    finally:
        for task in tasks:
            task.cancel()
        results = await asyncio.gather(*tasks, return_exceptions=True)
    failures = [result for result in results if isinstance(result, BaseException)]
    if failures:
        # A failure that ends the run at once comes before one that lets it drain.
        raise min(failures, key=lambda failure: isinstance(failure, (*STOPPING, asyncio.CancelledError)))
    return [result for result in results if not isinstance(result, BaseException)]


class FirstReplies:
    """Looks at what each judge gives from the beginning: a blanket refusal is no result, and neither is noise."""

    def __init__(self, proven: Collection[str] = ()) -> None:
        """`proven` are judges of whom an earlier process has valid judgments."""
        self._proven = set(proven)
        self._answered: set[str] = set()
        self._refusals: Counter[str] = Counter()
        # First findings of invalid replies, by flag and detail.
        self._unusable: dict[str, Counter[tuple[str, str]]] = defaultdict(Counter)

    def refused(self, judge: str, words: str) -> None:
        """A request that its judge refuses for good; raises NothingUsableError for one too many in a row."""
        self._refusals[judge] += 1
        times, has_answered = self._refusals[judge], judge in self._proven | self._answered
        if times < (LATER_REFUSALS if has_answered else FIRST_REFUSALS):
            return
        which = f"{times} samples in a row" if has_answered else f"all of its first {times} samples"
        again = "--retry-refused asks these again" if has_answered else "the same command asks them again"
        raise NothingUsableError(
            f"{words}; it refuses {which}: correct its settings ({again}), or go on anyway with --keep-going"
        )

    def answered(self, judge: str) -> None:
        """A reply has come, whatever it says: refusals are counted anew."""
        self._refusals[judge] = 0
        self._answered.add(judge)

    def read(self, judge: str, outcome: Read) -> None:
        """What was made of a reply; raises NothingUsableError where none of the first ones was valid."""
        if judge in self._proven:
            return
        if not isinstance(outcome, InvalidJudgment):
            self._proven.add(judge)
            return
        first, unusable = outcome.findings[0], self._unusable[judge]
        unusable[first.flag.value, " ".join(first.detail.split())[:200]] += 1
        if unusable.total() >= FIRST_REPLIES:
            flag, times = Counter(flag for flag, _ in unusable.elements()).most_common(1)[0]
            detail = next(detail for (counted_flag, detail), _ in unusable.most_common() if counted_flag == flag)
            raise NothingUsableError(
                f"judge {judge} gave nothing valid in its first {unusable.total()} replies; commonest reason "
                f"({times} times): {flag}: {detail}; run the same command to go on, with --retry-invalid to ask these "
                "again, or with --keep-going to judge all in any case"
            )

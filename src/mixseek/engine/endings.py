"""How a run came to its end, and when a judge has shown that going on is of no use."""

from collections import Counter, defaultdict
from collections.abc import Collection
from dataclasses import dataclass, field
from enum import StrEnum

from mixseek.domain.judgments import InvalidJudgment, ValidJudgment
from mixseek.errors import MixseekError

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
    NOTHING_USABLE = "nothing_usable"  # a judge refuses everything, or nothing that it says is valid


@dataclass(frozen=True, slots=True)
class RunEnd:
    """The ending, and a sentence for a person where nobody asked for it."""

    ending: Ending
    reason: str | None = None


class NothingUsableError(MixseekError):
    """A judge refuses everything, or gave nothing valid so far; the run is resumable."""


@dataclass(slots=True)
class _Record:
    refusals: int = 0
    has_answered: bool = False
    replies: int = 0
    unusable: Counter[str] = field(default_factory=Counter)
    details: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))


class FirstReplies:
    """Looks at what each judge gives from the beginning: a blanket refusal is no result, and neither is noise."""

    def __init__(self, proven: Collection[str] = ()) -> None:
        """`proven` are judges of whom an earlier process has valid judgments."""
        self._proven = set(proven)
        self._records: dict[str, _Record] = defaultdict(_Record)

    def refused(self, judge: str, words: str) -> None:
        """A request that its judge refuses for good; raises NothingUsableError for one too many in a row."""
        record = self._records[judge]
        record.refusals += 1
        has_answered = judge in self._proven or record.has_answered
        if record.refusals < (LATER_REFUSALS if has_answered else FIRST_REFUSALS):
            return
        which = f"{record.refusals} samples in a row" if has_answered else f"all of its first {record.refusals} samples"
        again = "--retry-refused asks these again" if has_answered else "the same command asks them again"
        raise NothingUsableError(
            f"{words}; it refuses {which}: correct its settings ({again}), or go on anyway with --keep-going"
        )

    def answered(self, judge: str) -> None:
        """A reply has come, whatever it says: refusals are counted anew."""
        self._records[judge].refusals = 0
        self._records[judge].has_answered = True

    def read(self, judge: str, outcome: ValidJudgment | InvalidJudgment) -> None:
        """What was made of a reply; raises NothingUsableError where none of the first ones was valid."""
        record = self._records[judge]
        record.replies += 1
        if judge in self._proven:
            return
        if isinstance(outcome, ValidJudgment):
            self._proven.add(judge)
            return
        first = outcome.findings[0]
        record.unusable[first.flag.value] += 1
        record.details[first.flag.value][" ".join(first.detail.split())[:200]] += 1
        if record.replies >= FIRST_REPLIES:
            flag, times = record.unusable.most_common(1)[0]
            detail = record.details[flag].most_common(1)[0][0]
            raise NothingUsableError(
                f"judge {judge} gave nothing valid in its first {record.replies} replies; commonest reason "
                f"({times} times): {flag}: {detail}; run the same command to go on, with --retry-invalid to ask these "
                "again, or with --keep-going to judge all in any case"
            )

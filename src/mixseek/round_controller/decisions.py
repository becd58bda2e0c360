"""Whether a team plays another round: a pure function of its scores, the judge's opinion and the rules."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import assert_never

from mixseek.domain.rounds import DecidedBy, ImprovementJudgment, NoOpinion, Opinion, RoundDecision, StopReason
from mixseek.errors import ConfigurationError


class OutagePolicy(StrEnum):
    """What happens when a judge that should have spoken is out."""

    CONTINUE = "continue"
    STOP = "stop"


@dataclass(frozen=True, slots=True)
class RoundRules:
    """How long a team may go on. `no_gain_rounds` None: only the judge and the maximum end it."""

    min_rounds: int = 2
    max_rounds: int = 5
    no_gain_rounds: int | None = None
    # A better score counts as gain only if it is better by more than this.
    min_gain: float = 0.0
    on_judge_outage: OutagePolicy = OutagePolicy.CONTINUE
    # The last round ends whatever the judge says; its opinion is still worth having.
    asks_after_last_round: bool = True

    def __post_init__(self) -> None:
        if not 1 <= self.min_rounds <= self.max_rounds:
            raise ConfigurationError(
                f"rounds: min is {self.min_rounds} and max is {self.max_rounds}; expected 1 <= min <= max"
            )
        if self.no_gain_rounds is not None and self.no_gain_rounds < 1:
            raise ConfigurationError(f"rounds: no_gain_rounds is {self.no_gain_rounds}, expected 1 or more")


def has_stalled(scores: Sequence[float | None], rounds: int, min_gain: float) -> bool:
    """Whether the last `rounds` rounds brought no gain; a round without a score brought none."""
    if len(scores) <= rounds:
        return False
    before = [score for score in scores[:-rounds] if score is not None]
    since = [score for score in scores[-rounds:] if score is not None]
    if not since:
        return True
    return bool(before) and max(since) <= max(before) + min_gain


def is_decided_without_judge(scores: Sequence[float | None], rules: RoundRules) -> RoundDecision | None:
    """What needs no opinion: the maximum, the minimum, then the rule of no gain. None: ask."""
    played = len(scores)
    if played >= rules.max_rounds:
        return RoundDecision(False, StopReason.MAX_ROUNDS, DecidedBy.CONTROLLER)
    if played < rules.min_rounds:
        return RoundDecision(True, None, DecidedBy.CONTROLLER)
    if rules.no_gain_rounds is not None and has_stalled(scores, rules.no_gain_rounds, rules.min_gain):
        return RoundDecision(False, StopReason.NO_GAIN, DecidedBy.NO_GAIN_RULE)
    return None


def wants_opinion(scores: Sequence[float | None], rules: RoundRules) -> bool:
    """Whether the judge is asked after this round."""
    settled = is_decided_without_judge(scores, rules)
    if settled is None:
        return True
    return settled.stop_reason is StopReason.MAX_ROUNDS and rules.asks_after_last_round


def decide(scores: Sequence[float | None], opinion: Opinion | None, rules: RoundRules) -> RoundDecision:
    """The decision after the last of `scores`; `opinion` None says that there is no judge of progress."""
    settled = is_decided_without_judge(scores, rules)
    if settled is not None:
        return settled
    match opinion:
        case None:
            return RoundDecision(True, None, DecidedBy.CONTROLLER)
        case ImprovementJudgment(should_continue=True):
            return RoundDecision(True, None, DecidedBy.JUDGE)
        case ImprovementJudgment():
            return RoundDecision(False, StopReason.JUDGED_ENOUGH, DecidedBy.JUDGE)
        case NoOpinion():
            if rules.on_judge_outage is OutagePolicy.CONTINUE:
                return RoundDecision(True, None, DecidedBy.POLICY)
            return RoundDecision(False, StopReason.JUDGE_OUT, DecidedBy.POLICY)
        case unexpected:
            assert_never(unexpected)

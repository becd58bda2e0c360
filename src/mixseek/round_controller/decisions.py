"""Whether a team plays another round: a pure function of its scores, the judge's opinion and the rules."""

from collections.abc import Sequence
from typing import assert_never

from mixseek.domain.rounds import DecidedBy, ImprovementJudgment, NoOpinion, Opinion, RoundDecision, StopReason
from mixseek.settings.race import OutagePolicy, RoundsTable


def has_stalled(scores: Sequence[float | None], rounds: int, min_gain: float) -> bool:
    """Whether the last `rounds` rounds brought no gain; a round without a score brought none."""
    if len(scores) <= rounds:
        return False
    before = [score for score in scores[:-rounds] if score is not None]
    since = [score for score in scores[-rounds:] if score is not None]
    return not since or (bool(before) and max(since) <= max(before) + min_gain)


def is_decided_without_judge(scores: Sequence[float | None], rules: RoundsTable) -> RoundDecision | None:
    """What needs no opinion: the maximum, the minimum, then the rule of no gain. None: ask."""
    played = len(scores)
    if played >= rules.max:
        return RoundDecision(False, StopReason.MAX_ROUNDS, DecidedBy.CONTROLLER)
    if played < rules.min:
        return RoundDecision(True, None, DecidedBy.CONTROLLER)
    if rules.no_gain_rounds is not None and has_stalled(scores, rules.no_gain_rounds, rules.min_gain):
        return RoundDecision(False, StopReason.NO_GAIN, DecidedBy.NO_GAIN_RULE)
    return None


def wants_opinion(scores: Sequence[float | None], rules: RoundsTable, *, after_last_round: bool = True) -> bool:
    """Whether the judge is asked after this round; the last one ends whatever it says."""
    settled = is_decided_without_judge(scores, rules)
    return settled is None or (settled.stop_reason is StopReason.MAX_ROUNDS and after_last_round)


def decide(
    scores: Sequence[float | None], opinion: Opinion | None, rules: RoundsTable, on_outage: OutagePolicy = "continue"
) -> RoundDecision:
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
            if on_outage == "continue":
                return RoundDecision(True, None, DecidedBy.POLICY)
            return RoundDecision(False, StopReason.JUDGE_OUT, DecidedBy.POLICY)
        case unexpected:
            assert_never(unexpected)


# A decision ended these; every other end is an accident, and the same command tries that round once more.
FINAL_REASONS = frozenset({StopReason.MAX_ROUNDS, StopReason.JUDGED_ENOUGH, StopReason.NO_GAIN})

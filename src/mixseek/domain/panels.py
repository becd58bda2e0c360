"""How several judges become one verdict: a named rule, and what becomes of a sample under it.

Votes are verdicts. A judge's repeats are first brought to one opinion of that judge by the same rule, so that asking
one judge more often gives it no more weight; what is invalid, undecided or missing is no opinion, and a model on its
own output is not asked. Where the rule finds no verdict the sample is *split*: it has no score, is counted beside the
mean, and the bounds reach from its lowest opinion to its highest. Nothing is ever drawn by lot.

    rule        verdict                                                     score                       split
    majority    more than half of the opinions                              mean of those that gave it  no such verdict
    unanimous   all opinions                                                mean of them                two verdicts
    median      of the middle opinion; of the two middle ones if they agree the middle one, or midway   the two differ
    mean        only where all agree; the score stands all the same         mean of all                 never

A judge that its own repeats divide has been heard: it is one of those of whom more than half, or all, must agree.
"""

from enum import StrEnum


class PanelRule(StrEnum):
    """How opinions of several judges become one."""

    MAJORITY = "majority"
    UNANIMOUS = "unanimous"
    MEDIAN = "median"
    MEAN = "mean"


class PanelState(StrEnum):
    """What a sample has come to before all of its judges; only VALID has a score."""

    VALID = "valid"
    SPLIT = "split"
    INVALID = "invalid"
    UNDECIDED = "undecided"
    MISSING = "missing"


def default_rule(*, is_graded: bool) -> PanelRule:
    """Of a panel whose user named none: a mean over judges who disagree is nobody's verdict."""
    return PanelRule.MEDIAN if is_graded else PanelRule.MAJORITY

"""What a run says about what was judged: targets first, each with one verdict a sample."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from mixseek.analysis.labels.corrected import CorrectedGroup, CorrectedReport
from mixseek.analysis.run.model import (
    Beside,
    Breakdown,
    FinishedMean,
    GroupSummary,
    Headline,
    PanelCounts,
    ScoreSummary,
)
from mixseek.domain.counting import USUAL, Counting
from mixseek.domain.counts import PanelGroup, PanelGroups, UnitSums
from mixseek.domain.panels import PanelRule, PanelState
from mixseek.stats.estimates import State
from mixseek.stats.intervals import unit_bounds, unit_interval

# Columns that lead where samples name them, in this order, with the column of the panel's units and a word for a value.
LEADING: Mapping[str, str] = {"target_model": "target", "prompt_variant": "variant"}
# Lines on a terminal after `judge`; the report has the rest.
SHOWN_AFTER_JUDGE = 12
NAME_CHARACTERS = 60


def build_headline(
    rule: PanelRule | None,
    judges: Sequence[str],
    whole: PanelGroup,
    leading: Mapping[str, PanelGroups],
    *,
    asked: Mapping[str, PanelGroups] | None = None,
    is_graded: bool,
    maximum: float | None = None,
    counting: Counting = USUAL,
) -> Headline:
    """`leading` and `asked` hold the groups of each column by its name."""
    named = {column: groups for column, groups in leading.items() if set(groups) - {None}}
    # One variant that every sample has compares nothing, unless it is all that is named.
    shown = {column: groups for column, groups in named.items() if column == next(iter(named)) or len(groups) > 1}
    return Headline(
        rule=rule,
        judges=tuple(judges),
        score=summarise_group(whole, is_graded=is_graded),
        columns=tuple(break_down(column, groups, is_graded=is_graded) for column, groups in shown.items()),
        asked=tuple(break_down(column, groups, is_graded=is_graded) for column, groups in (asked or {}).items()),
        maximum=maximum,
        counting=counting,
    )


def break_down(column: str, groups: PanelGroups, *, is_graded: bool) -> Breakdown:
    """Samples by one column, ranked."""
    return Breakdown(
        column,
        ranked(GroupSummary(name, summarise_group(group, is_graded=is_graded)) for name, group in groups.items()),
    )


def ranked(groups: Iterable[GroupSummary]) -> tuple[GroupSummary, ...]:
    """The one order of every ranking: the highest mean first, equals by name, without a mean last."""
    return tuple(
        sorted(
            groups,
            key=lambda group: (
                group.score.mean is None,
                -(group.score.mean or 0.0),
                group.name is None,
                group.name or "",
            ),
        )
    )


def with_corrected(headline: Headline, corrected: CorrectedReport | None) -> Headline:
    """What human labels make of the same means, where they give a number; the section of its own says the rest."""
    # Labels correct the mean of all samples; beside a mean of some of them that is another number.
    if corrected is None or headline.score.responses.left_out:
        return headline
    beside_of_target = {group.name: _beside_of(group) for group in corrected.targets}
    columns = tuple(
        replace(
            part, groups=tuple(replace(group, beside=beside_of_target.get(group.name, ())) for group in part.groups)
        )
        if part.column == "target_model"
        else part
        for part in headline.columns
    )
    return replace(headline, columns=columns, beside=_beside_of(corrected.whole))


def _beside_of(group: CorrectedGroup) -> tuple[Beside, ...]:
    corrected = group.corrected
    if corrected.point is None or corrected.state is not State.CORRECTED:
        return ()
    return (Beside("corrected", corrected.point, corrected.low, corrected.high),)


def summarise_group(group: PanelGroup, *, is_graded: bool) -> ScoreSummary:
    """A mean over samples with its clustered interval and its bounds; what has no verdict is counted beside it."""
    states = {state.value: group.states.get(state, 0) for state in PanelState}
    return ScoreSummary(
        counts=PanelCounts(**states),
        mean=group.units.mean,
        interval=unit_interval(group.units),
        bounds=unit_bounds(group.units),
        is_binary=not is_graded,
        samples=group.units.scored,
        questions=group.units.questions,
        unverified=group.unverified,
        effective_questions=group.units.effective_questions,
        responses=group.responses,
        finished=None if group.finished is None else finished_mean(group.finished),
    )


def finished_mean(units: UnitSums) -> FinishedMean:
    """The mean of finished responses, with its clustered interval."""
    return FinishedMean(units.mean, unit_interval(units), units.scored, units.questions, units.effective_questions)

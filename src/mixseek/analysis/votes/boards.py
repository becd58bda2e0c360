"""Ratings of two systems or more as one board: who is stronger, and how far that can be trusted."""

from collections.abc import Sequence
from dataclasses import dataclass

from mixseek.analysis.ratings.relation import PEOPLE, Rater, Ratings, RatingSource
from mixseek.analysis.ratings.run import open_run
from mixseek.analysis.votes.counts import Comparisons, has_pairs
from mixseek.analysis.votes.system_board import SystemBoard
from mixseek.domain.panels import PanelRule, voting
from mixseek.errors import ConfigurationError
from mixseek.stats.strengths import Comparison, Strengths, fit_strengths, listed, order_agreement
from mixseek.storage.journal.records import read_manifest
from mixseek.storage.workspace import RunDirectory, Workspace


@dataclass(frozen=True, slots=True)
class BoardOptions:
    """Whose word the order rests on: the panel's by its rule, or one judge's; `human` is whom it is held against."""

    human: str | None = None
    judge: str | None = None
    rule: PanelRule = PanelRule.MAJORITY
    fewest_questions: int = 1
    # What to do where nothing says who is compared.
    naming: str = "name the column of --system for scores, or of --system-a and --system-b for votes"


def board_of_run(workspace: Workspace, run: RunDirectory) -> SystemBoard | None:
    """Of a run of pairs by several targets; None for any other."""
    with open_run(workspace, run, RatingSource(people_as_one=True)) as ratings:
        return build_board(run.name, ratings, BoardOptions(PEOPLE, rule=rule_of(run))) if has_pairs(ratings) else None


def rule_of(run: RunDirectory) -> PanelRule:
    """Of which of two is better there are votes, whatever scores they come from."""
    return read_manifest(run.manifest).panel or PanelRule.MAJORITY


def build_board(source: str, ratings: Ratings, options: BoardOptions) -> SystemBoard:
    """Of what the judges say together, or one of them; people apart."""
    is_voted, fewest = has_pairs(ratings), options.fewest_questions
    if not is_voted and not ratings.systems:
        raise ConfigurationError(f"{source}: nothing says who is compared; {options.naming}")
    if not is_voted and ratings.categories:
        raise ConfigurationError("--score: the ratings are texts, which have no more or less; votes need --system-a")
    truth = next((one for one in ratings.raters if one.name == options.human), None)
    judges = choose_judges([one for one in ratings.raters if one is not truth], options.judge)
    found = Comparisons(ratings)
    panel, split = None, 0
    if len(judges) == 1:
        comparisons = found.of(judges[0], fewest)
    else:
        panel = options.rule.value
        comparisons, split = found.of_panel(judges, options.rule, fewest)
    people = found.of(truth, fewest) if truth is not None else []
    strengths = fit_strengths(comparisons)
    by_people = fit_strengths(people) if people else None
    agreement = order_agreement(_order(strengths), _order(by_people)) if by_people is not None else None
    notes = [*found.notes, *unscored_notes(ratings, truth)]
    compared = {name for row in (*comparisons, *people) for name in (row.first, row.second)}
    if left_out := sorted(set(found.systems) - compared):
        why = f"with fewer than {fewest} questions" if fewest > 1 else "without a comparison"
        notes.append(f"left out, {why}: {listed(left_out)}")
    names, controlled = [one.name for one in judges], _controlled(comparisons)
    return SystemBoard(source, names, strengths, controlled, by_people, agreement, notes, panel=panel, split=split)


# Raters that a note can hold.
_MOST_NAMED = 8


def unscored_notes(ratings: Ratings, human: Rater | None = None) -> list[str]:
    """Whose items have no score (or vote), and how many; a human's are those that were not labelled."""
    counted = [
        *((rater.name, rater.missing, rater.missing + rater.ratings) for rater in ratings.raters if rater is not human),
        *((rater.name, rater.missing, rater.missing) for rater in ratings.silent),
    ]
    counted = [(name, missing, items) for name, missing, items in counted if missing]
    said = [f"{name}: {missing:,} of {items:,} items" for name, missing, items in counted[:_MOST_NAMED]]
    more = [f"and {len(counted) - _MOST_NAMED} more raters"] if len(counted) > _MOST_NAMED else []
    what = "vote" if has_pairs(ratings) else "score"
    return [f"without a {what}, so not counted: {'; '.join([*said, *more])}"] if said else []


def choose_judges(raters: Sequence[Rater], only: str | None) -> list[Rater]:
    """Whose verdicts count: the one that is asked for, else all but a log's own scorers."""
    if only is None:
        voters = voting(one.name for one in raters)
        return [one for one in raters if one.name in voters]
    chosen = [one for one in raters if one.name == only]
    if not chosen:
        raise ConfigurationError(
            f"--rater {only!r} has judged nothing; there is {listed([one.name for one in raters])}"
        )
    return chosen


def _order(found: Strengths) -> dict[str, float]:
    """Strengths, or win rates where there are none."""
    return found.values or {one.name: one.win_rate for one in found.standings}


def _controlled(comparisons: Sequence[Comparison]) -> Strengths | None:
    """Only where lengths are known and differ."""
    if not any(one.length for one in comparisons):
        return None
    return fit_strengths([one for one in comparisons if one.length is not None], with_length=True)

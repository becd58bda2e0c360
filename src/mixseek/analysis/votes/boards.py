"""Ratings of two systems or more as one board: who is stronger, and how far that can be trusted."""

from collections.abc import Sequence

from mixseek.analysis.ratings.relation import PEOPLE, Rater, Ratings, RatingSource
from mixseek.analysis.ratings.run import open_run
from mixseek.analysis.votes.counts import Comparisons, has_pairs
from mixseek.analysis.votes.system_board import SystemBoard
from mixseek.domain.panels import PanelRule, voting
from mixseek.errors import ConfigurationError
from mixseek.lazy_dataclass import dataclass
from mixseek.stats.strengths.fit import fit_strengths
from mixseek.stats.strengths.model import Comparison, Strengths
from mixseek.stats.strengths.order import order_agreement
from mixseek.storage.journal.manifest import read_manifest
from mixseek.storage.workspace import RunDirectory, Workspace
from mixseek.text.phrases import listed


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
    """The board of a run of pairs by several targets; None for any other."""
    with open_run(workspace, run, RatingSource(people_as_one=True)) as ratings:
        return build_board(run.name, ratings, BoardOptions(PEOPLE, rule=rule_of(run))) if has_pairs(ratings) else None


def rule_of(run: RunDirectory) -> PanelRule:
    """The rule for votes. Of which of two is better there are votes, whatever scores they come from."""
    return read_manifest(run.manifest).panel or PanelRule.MAJORITY


def build_board(source: str, ratings: Ratings, options: BoardOptions) -> SystemBoard:
    """The board of what the judges say together, or one of them; people apart."""
    is_voted, fewest = has_pairs(ratings), options.fewest_questions
    if not is_voted and not ratings.systems:
        raise ConfigurationError(f"{source}: nothing says who is compared; {options.naming}")
    if not is_voted and ratings.categories:
        raise ConfigurationError("--score: the ratings are texts, which have no more or less; votes need --system-a")
    truth = next((rater for rater in ratings.raters if rater.name == options.human), None)
    judges = choose_judges([rater for rater in ratings.raters if rater is not truth], options.judge)
    by_rater = Comparisons(ratings)
    panel, split = None, 0
    if len(judges) == 1:
        comparisons = by_rater.of(judges[0], fewest)
    else:
        panel = options.rule.value
        comparisons, split = by_rater.of_panel(judges, options.rule, fewest)
    people = by_rater.of(truth, fewest) if truth is not None else []
    strengths = fit_strengths(comparisons)
    by_people = fit_strengths(people) if people else None
    agreement = order_agreement(_order(strengths), _order(by_people)) if by_people is not None else None
    notes = [*by_rater.notes, *unscored_notes(ratings, truth)]
    compared = {name for row in (*comparisons, *people) for name in (row.first, row.second)}
    if left_out := sorted(set(by_rater.systems) - compared):
        why = f"with fewer than {fewest} questions" if fewest > 1 else "without a comparison"
        notes.append(f"left out, {why}: {listed(left_out)}")
    names, controlled = [judge.name for judge in judges], _controlled(comparisons)
    beside = by_people, agreement, notes, ratings.responses
    return SystemBoard(source, names, strengths, controlled, *beside, panel=panel, split=split)


# Raters that a note can hold.
_MOST_NAMED = 8


def unscored_notes(ratings: Ratings, human: Rater | None = None) -> list[str]:
    """Whose items have no score (or vote), and how many; a human's are those that were not labelled."""
    counted = [
        *((rater.name, rater.missing, rater.missing + rater.ratings) for rater in ratings.raters if rater is not human),
        *((rater.name, rater.missing, rater.missing) for rater in ratings.silent),
    ]
    counted = [(name, missing, items) for name, missing, items in counted if missing]
    listed_raters = [f"{name}: {missing:,} of {items:,} items" for name, missing, items in counted[:_MOST_NAMED]]
    more = [f"and {len(counted) - _MOST_NAMED} more raters"] if len(counted) > _MOST_NAMED else []
    what = "vote" if has_pairs(ratings) else "score"
    return [f"without a {what}, so not counted: {'; '.join([*listed_raters, *more])}"] if listed_raters else []


def choose_judges(raters: Sequence[Rater], only: str | None) -> list[Rater]:
    """Whose verdicts count: the one that is asked for, else all but a log's own scorers."""
    if only is None:
        voters = voting(rater.name for rater in raters)
        return [rater for rater in raters if rater.name in voters]
    chosen = [rater for rater in raters if rater.name == only]
    if not chosen:
        raise ConfigurationError(
            f"--rater {only!r} has judged nothing; there is {listed([rater.name for rater in raters])}"
        )
    return chosen


def _order(strengths: Strengths) -> dict[str, float]:
    """Strengths, or win rates where there are none."""
    return strengths.values or {standing.name: standing.win_rate for standing in strengths.standings}


def _controlled(comparisons: Sequence[Comparison]) -> Strengths | None:
    """Strengths without the effect of length, where lengths are known and differ."""
    if not any(comparison.length for comparison in comparisons):
        return None
    return fit_strengths([comparison for comparison in comparisons if comparison.length is not None], with_length=True)

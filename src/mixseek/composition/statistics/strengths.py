"""Ratings of two systems or more as one board: who is stronger, and how far that can be trusted."""

from collections.abc import Sequence

from mixseek.errors import ConfigurationError
from mixseek.stats.strengths import Board, Comparison, Strengths, fit_strengths, listed, order_agreement
from mixseek.storage.ratings import PEOPLE, Ratings, RatingSource, open_run
from mixseek.storage.votes import Votes, has_pairs, scored_comparisons
from mixseek.storage.workspace import RunDirectory, Workspace


def board_of_run(workspace: Workspace, run: RunDirectory) -> Board | None:
    """Of a run of pairs by several targets; None for any other."""
    with open_run(workspace, run, RatingSource()) as ratings:
        return build_board(run.name, ratings) if has_pairs(ratings) else None


def build_board(source: str, ratings: Ratings, human: str | None = PEOPLE, fewest: int = 1) -> Board:
    """Of all judges together, people apart; of systems with at least `fewest` questions."""
    is_voted = has_pairs(ratings)
    if not is_voted and not ratings.systems:
        raise ConfigurationError(
            f"{source}: nothing says who is compared; name the column of --system for scores, "
            "or of --system-a and --system-b for votes"
        )
    if not is_voted and ratings.categories:
        raise ConfigurationError("--score: the ratings are texts, which have no more or less; votes need --system-a")
    truth = next((one for one in ratings.raters if one.name == human), None)
    judges = [one for one in ratings.raters if one is not truth]
    if is_voted:
        votes = Votes(ratings, None)
        votes.check_orders(is_needed=False)
        found, uncounted = votes.comparisons(fewest), votes.uncounted()
        systems, notes = uncounted.systems, uncounted.notes
    else:
        found, systems, notes = scored_comparisons(ratings, fewest), ratings.systems, []
    comparisons = [row for one in judges for row in found.get(one.number, ())]
    people = found.get(truth.number, []) if truth is not None else []
    strengths = fit_strengths(comparisons)
    by_people = fit_strengths(people) if people else None
    agreement = order_agreement(_order(strengths), _order(by_people)) if by_people is not None else None
    compared = {name for rows in found.values() for row in rows for name in (row.first, row.second)}
    if left_out := sorted(set(systems) - compared):
        why = f"with fewer than {fewest} questions" if fewest > 1 else "without a comparison"
        notes.append(f"left out, {why}: {listed(left_out)}")
    return Board(source, [one.name for one in judges], strengths, _controlled(comparisons), by_people, agreement, notes)


def _order(found: Strengths) -> dict[str, float]:
    """Strengths, or win rates where there are none."""
    return found.values or {one.name: one.win_rate for one in found.standings}


def _controlled(comparisons: Sequence[Comparison]) -> Strengths | None:
    """Only where lengths are known and differ."""
    if not any(one.length for one in comparisons):
        return None
    return fit_strengths([one for one in comparisons if one.length is not None], with_length=True)

"""Leader boards of systems: from a table's or a run's comparisons to what `mixseek leaderboard` says."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from mixseek.composition.competitions.leaderboards import is_competition, load_leader_board
from mixseek.composition.statistics.ratings import StatisticsRequest, is_table, open_ratings
from mixseek.errors import ConfigurationError
from mixseek.reporting.board import Board
from mixseek.reporting.leaderboard import LeaderBoard
from mixseek.stats.strengths import Comparison, Strengths, fit_strengths, listed, order_agreement
from mixseek.storage.ratings import RatingColumns, RatingSource
from mixseek.storage.votes import Votes, has_pairs, scored_comparisons
from mixseek.storage.workspace import LATEST


@dataclass(frozen=True, slots=True)
class BoardRequest:
    """Whose board: a competition, a run or a table; None is the latest."""

    name: str | None
    workspace: Path
    columns: RatingColumns = field(default_factory=RatingColumns)
    human: str | None = None
    fewest_questions: int = 1


def load_any_board(request: BoardRequest) -> LeaderBoard | Board:
    """A file is a table; a name is a competition's, and a run's where no competition is called so."""
    name, root = request.name, request.workspace
    if (name is None or not is_table(name)) and is_competition(root, name):
        return load_leader_board(root, name)
    return load_board(request)


def load_board(request: BoardRequest) -> Board:
    """Of all judges together, people apart; raises ConfigurationError, DatasetError or StorageError in one line."""
    fewest, source = request.fewest_questions, RatingSource(request.columns, request.human)
    with open_ratings(StatisticsRequest(request.name or LATEST, request.workspace, source)) as ratings:
        truth = next((one for one in ratings.raters if one.name == request.human), None)
        is_voted = has_pairs(ratings)
        if not is_voted and not ratings.systems:
            raise ConfigurationError(
                f"{request.name}: nothing says who is compared; name the column of --system for scores, "
                "or of --system-a and --system-b for votes"
            )
        if not is_voted and ratings.categories:
            raise ConfigurationError(
                "--score: the ratings are texts, which have no more or less; votes need --system-a"
            )
        found = Votes(ratings, None).comparisons(fewest) if is_voted else scored_comparisons(ratings, fewest)
        judges = [one for one in ratings.raters if one is not truth]
        comparisons = [row for one in judges for row in found.get(one.number, ())]
        people = found.get(truth.number, []) if truth is not None else []
        systems = ratings.systems
    strengths = fit_strengths(comparisons)
    human = fit_strengths(people) if people else None
    agreement = order_agreement(_order(strengths), _order(human)) if human is not None else None
    left_out = sorted(set(systems) - {one.name for one in strengths.standings}) if not is_voted else []
    notes = [f"left out, with fewer than {fewest} questions: {listed(left_out)}"] if left_out else []
    return Board(
        request.name or LATEST,
        [one.name for one in judges],
        strengths,
        _controlled(comparisons),
        human,
        agreement,
        notes,
    )


def _order(found: Strengths) -> dict[str, float]:
    """Strengths, or win rates where there are none."""
    return found.values or {one.name: one.win_rate for one in found.standings}


def _controlled(comparisons: Sequence[Comparison]) -> Strengths | None:
    """Only where lengths are known and differ."""
    if not any(one.length for one in comparisons):
        return None
    return fit_strengths([one for one in comparisons if one.length is not None], with_length=True)

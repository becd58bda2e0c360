"""What `mixseek stats` says of votes, of length and of juries: counts from storage to the closed forms."""

from collections.abc import Sequence

from mixseek.analysis.ratings.relation import Rater, Ratings
from mixseek.analysis.ratings.statistics import StatisticsRequest, is_table, open_ratings
from mixseek.analysis.votes.boards import unscored_notes
from mixseek.analysis.votes.counts import Votes, ballots, score_lengths
from mixseek.analysis.votes.found import JurySection, LengthLine, VoteLine, VoterLine, VoteStatistics
from mixseek.errors import ConfigurationError
from mixseek.lazy_dataclass import dataclass
from mixseek.stats import jury
from mixseek.stats.intervals import Interval, unit_interval
from mixseek.stats.jury import position_of
from mixseek.stats.regression import least_squares, logit
from mixseek.text.phrases import listed


@dataclass(frozen=True, slots=True)
class VotesAsked:
    """Which of the three; `length` needs the column, `references` are the judges that others are held against."""

    votes: bool = False
    jury: bool = False
    length: bool = False
    references: Sequence[str] = ()


def load_votes(request: StatisticsRequest, asked: VotesAsked) -> VoteStatistics:
    """Raises ConfigurationError, DatasetError or StorageError in one line."""
    with open_ratings(request) as ratings:
        truth = next((rater for rater in ratings.raters if rater.name == request.source.truth), None)
        if asked.votes and not is_table(request.name) and not ratings.categories:
            raise ConfigurationError(f"{request.name}: --votes is about pairs, and this run has single responses")
        votes = Votes(ratings, truth) if asked.votes else None
        judges = [rater for rater in ratings.raters if rater is not truth]
        notes = []
        if votes and (repeated := votes.uncounted().repeated):
            notes.append(f"{repeated:,} more of the same pair, judge and order: both orders are told by the first one")
        elif ratings.repeated and not asked.votes:
            notes.append(f"{ratings.repeated:,} more of the same item and rater: the first one counts")
        if not asked.votes:
            # Of votes, the table itself counts those without one.
            notes += unscored_notes(ratings, truth)
        length: list[LengthLine] = []
        if asked.length:
            length = _vote_lengths(votes, judges, truth) if votes else _score_lengths(ratings, judges, truth, asked)
        return VoteStatistics(
            source=request.name,
            ratings=sum(row.count for rows in votes.counts().values() for row in rows) if votes else ratings.count,
            items=ratings.items,
            questions=ratings.questions,
            truth=truth.name if truth else None,
            votes=_vote_lines(votes) if votes else [],
            length=length,
            jury=_jury(ratings, truth, judges) if asked.jury else None,
            notes=notes,
        )


def _vote_lines(votes: Votes) -> list[VoteLine]:
    votes.check_orders()
    positions, counts = votes.positions(), votes.counts()
    consistent, biased = votes.unit_sums("consistent_units"), votes.unit_sums("biased_units")
    first = votes.unit_sums("first_shown_units")
    lines = []
    for judge in votes.judges:
        bias = unit_interval(biased[judge.number]) if judge.number in biased else None
        if bias is not None:
            bias = Interval(2 * bias.low - 1, 2 * bias.high - 1, bias.level, bias.method)
        lines.append(
            VoteLine(
                judge.name,
                position_of(positions[judge.number]),
                unit_interval(consistent[judge.number]) if judge.number in consistent else None,
                bias,
                counts[judge.number],
                unit_interval(first[judge.number]) if judge.number in first else None,
            )
        )
    return lines


def _vote_lengths(votes: Votes, judges: Sequence[Rater], truth: Rater | None) -> list[LengthLine]:
    rows = votes.lengths()
    names = ("intercept", "truth", "length") if truth is not None else ("intercept", "length")
    return [
        LengthLine(judge.name, names, len(rows[judge.number]), logit(rows[judge.number]), is_vote=True)
        for judge in judges
    ]


def _score_lengths(
    ratings: Ratings, judges: Sequence[Rater], truth: Rater | None, asked: VotesAsked
) -> list[LengthLine]:
    """Against the human, or the judges that are named, or all others."""
    if ratings.categories:
        raise ConfigurationError("--length: the ratings are texts, which have no difference; of votes, say --votes")
    by_name = {rater.name: rater for rater in ratings.raters}
    if unknown := [name for name in asked.references if name not in by_name]:
        raise ConfigurationError(f"--reference {unknown[0]!r} has rated nothing; there is {listed(list(by_name))}")
    others = [by_name[name] for name in asked.references] or ([truth] if truth is not None else list(ratings.raters))
    rows = score_lengths(ratings, others)
    if not rows:
        raise ConfigurationError("--length: no item has ratings of two judges and a length; one alone has no lead")
    names = ("intercept", "length")
    leading = [judge for judge in judges if rows[judge.number]]
    return [
        LengthLine(judge.name, names, len(rows[judge.number]), least_squares(rows[judge.number])) for judge in leading
    ]


def _jury(ratings: Ratings, truth: Rater | None, judges: Sequence[Rater]) -> JurySection:
    jury_ballots = ballots(ratings, truth)
    if len(judges) < 2:
        raise ConfigurationError("--jury: there is one judge only; a jury has several")
    estimated = jury.dawid_skene(jury_ballots)
    majority, ties = jury.majority_accuracy(jury_ballots)
    accuracies = jury.voter_accuracy(jury_ballots)
    numbers = sorted({label for ballot in jury_ballots for _, label in ballot.votes})
    words = ratings.categories
    return JurySection(
        items=sum(ballot.items for ballot in jury_ballots),
        votes=sum(ballot.items * len(ballot.votes) for ballot in jury_ballots),
        labels=[words[int(number)] if words else f"{number:g}" for number in numbers],
        majority=majority,
        ties=ties,
        estimated=estimated,
        estimated_accuracy=jury.dawid_skene_accuracy(jury_ballots, estimated),
        voters=[VoterLine(judge.name, accuracies[judge.number]) for judge in judges if judge.number in accuracies],
    )

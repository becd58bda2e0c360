"""Ratings that are votes between two responses, and ballots of juries: what `mixseek stats` and leader boards count."""

from collections import defaultdict
from collections.abc import Sequence

from mixseek.analysis.ratings.relation import Rater, Ratings
from mixseek.domain.counts import UnitSums
from mixseek.domain.panels import PanelRule, read_preference
from mixseek.errors import ConfigurationError
from mixseek.index.panel import pair_value, settle
from mixseek.index.unit_sums import unit_sums
from mixseek.lazy_dataclass import dataclass
from mixseek.stats.jury import Ballot, Vote, VoteCount
from mixseek.stats.regression import Row
from mixseek.stats.strengths.model import Comparison
from mixseek.storage.duckdb_session import read_statements
from mixseek.text.phrases import listed

_SQL = read_statements("mixseek.analysis.votes", "votes.sql")
# The panel's number beside those of raters.
_PANEL = -1
SPELLING = "A>B, B>A or A=B (or A, B, tie)"


@dataclass(frozen=True, slots=True)
class Uncounted:
    """What no comparison is made of: later votes of a pair, judge and order, and pairs without two names.

    `systems` are all that were compared with another one.
    """

    repeated: int
    of_one_system: int
    unnamed: int
    systems: Sequence[str]

    @property
    def notes(self) -> list[str]:
        counts = {
            "more of the same pair, judge and order: the first one counts": self.repeated,
            "left out: both responses are by the same system": self.of_one_system,
            "left out: nothing says who wrote both responses": self.unnamed,
        }
        return [f"{count:,} {what}" for what, count in counts.items() if count]


class Votes:
    """Questions about votes; what they are read from stays open for as long as they are asked."""

    def __init__(self, ratings: Ratings, truth: Rater | None) -> None:
        self._ratings = ratings
        self._truth = truth
        self.judges = [rater for rater in ratings.raters if rater is not truth]
        words = _read_words(ratings)
        for item, first, second in ratings.fetch(_SQL["torn_pair"]):
            raise ConfigurationError(
                f"the item {item!r} stands for {' and '.join(first)}, and for {' and '.join(second)}; an item is one "
                "pair of responses: give --item an expression that tells them apart"
            )
        number = truth.number if truth is not None else None
        ratings.fetch(_SQL["create_votes"], raters=list(ratings.names), words=words, truth=number)
        ratings.fetch(_SQL["create_pairs"])

    def check_orders(self, *, is_needed: bool = True) -> None:
        """Every vote must say what was shown first; where that is not needed, nothing else than that."""
        for item, shown in self._ratings.fetch(_SQL["odd_order"], is_needed=is_needed):
            problem = f"of {item!r} is {shown!r}" if shown is not None else f"of {item!r} is not said"
            raise ConfigurationError(
                f"which response was shown first {problem}; write AB or BA, and name its column with --shown"
            )

    def positions(self) -> dict[int, dict[tuple[Vote, Vote, Vote], int]]:
        """Pairs counted by rater: the vote where A came first, the vote where B came first, and the truth."""
        counts: defaultdict[int, dict[tuple[Vote, Vote, Vote], int]] = defaultdict(dict)
        for rater, ab, ba, truth, count in self._ratings.fetch(_SQL["positions"]):
            counts[rater][ab, ba, truth] = count
        return counts

    def unit_sums(self, name: str) -> dict[int, UnitSums]:
        """`consistent_units`, `biased_units` or `first_shown_units`, by rater and summed by question."""
        return {row[0]: UnitSums(*row[1:]) for row in self._ratings.fetch(unit_sums(_SQL[name], ("rater",)))}

    def counts(self) -> dict[int, list[VoteCount]]:
        """All rows, by rater."""
        by_rater: defaultdict[int, list[VoteCount]] = defaultdict(list)
        for rater, *rest in self._ratings.fetch(_SQL["vote_counts"]):
            by_rater[rater].append(VoteCount(*rest))
        return by_rater

    def lengths(self) -> dict[int, list[Row]]:
        """Decisive votes for A, on 1, the truth (1 or -1) where it is known, and ln of A's relative length."""
        rows: defaultdict[int, list[Row]] = defaultdict(list)
        needs_truth = self._truth is not None
        for rater, vote, truth, length, question in self._ratings.fetch(_SQL["vote_lengths"], needs_truth=needs_truth):
            known = (2 * truth - 1,) if needs_truth else ()
            rows[rater].append(Row((1.0, *known, length), vote, question))
        return rows

    def uncounted(self) -> Uncounted:
        return Uncounted(*self._ratings.fetch(_SQL["uncounted"])[0])


def has_pairs(ratings: Ratings) -> bool:
    """Whether a row says who wrote A and who wrote B."""
    return bool(ratings.fetch("SELECT count(*) > 0 FROM rows WHERE first IS NOT NULL AND second IS NOT NULL")[0][0])


class Comparisons:
    """Who was better, two systems at a time: by each rater, and by several of them as one."""

    def __init__(self, ratings: Ratings) -> None:
        self._ratings = ratings
        # What no comparison is made of, in words; and all who could be compared.
        self.notes: Sequence[str] = ()
        self.systems: Sequence[str] = ratings.systems
        if is_voted := has_pairs(ratings):
            votes = Votes(ratings, None)
            votes.check_orders(is_needed=False)
            uncounted = votes.uncounted()
            self.notes, self.systems = uncounted.notes, uncounted.systems
        ratings.fetch(_SQL["voted_comparisons" if is_voted else "scored_comparisons"])

    def of(self, rater: Rater, fewest: int) -> list[Comparison]:
        """The comparisons by one rater, of systems with so many questions."""
        return self._read(rater.number, fewest)

    def of_panel(self, voters: Sequence[Rater], rule: PanelRule, fewest: int) -> tuple[list[Comparison], int]:
        """One of each pair, by the rule; and how many of them are ties because the voters are split."""
        # Between the two there is the tie: a graded scale.
        settled = settle(_SQL["opinions"], "unit, question, first, second", rule, is_graded="true")
        query = _SQL["create_settled"].format(settled=settled, value=pair_value("true"))
        self._ratings.fetch(query, voters=[voter.number for voter in voters])
        self._ratings.fetch(_SQL["add_settled"], number=_PANEL)
        return self._read(_PANEL, fewest), int(self._ratings.fetch(_SQL["split"])[0][0])

    def _read(self, number: int, fewest: int) -> list[Comparison]:
        return [Comparison(*row) for row in self._ratings.fetch(_SQL["comparisons"], rater=number, fewest=fewest)]


def score_lengths(ratings: Ratings, others: Sequence[Rater]) -> dict[int, list[Row]]:
    """How much more each rater gives than the others (two of them at least, where there are two), on ln length."""
    rows: defaultdict[int, list[Row]] = defaultdict(list)
    for rater, lead, length, question in ratings.fetch(
        _SQL["score_lengths"], others=[reference.number for reference in others]
    ):
        rows[rater].append(Row((1.0, length), lead, question))
    return rows


def ballots(ratings: Ratings, truth: Rater | None) -> list[Ballot]:
    """What all but the human say about each item; in the order of the table."""
    number = truth.number if truth is not None else None
    return [
        Ballot(tuple((vote["voter"], vote["label"]) for vote in votes), count, known)
        for votes, known, count, _ in ratings.fetch(_SQL["ballots"], truth=number)
    ]


def _read_words(ratings: Ratings) -> list[float] | None:
    """What each category means as a vote; None where votes are numbers, of which the sign counts."""
    if ratings.categories:
        read = {word: read_preference(word) for word in ratings.categories}
        if odd := [word for word, preference in read.items() if preference is None]:
            raise ConfigurationError(f"--score: {listed(odd)} is no vote; write {SPELLING}")
        return [preference.score for preference in read.values() if preference is not None]
    if all(rater.least >= 0 for rater in ratings.raters):
        raise ConfigurationError(
            f"--score: a number says how far A is ahead of B, and none here is below 0; write votes as {SPELLING}"
        )
    return None

"""`make coverage`, second part: leader boards of simulated systems whose strengths are known.

How often the 95 % intervals hold the true strengths, shares of wins and ranks, beside those that take every comparison
for independent, also where nearly every pair is a tie; and how many judgments tell the three strongest with 95 %
certainty: all pairs of question after question, pairs at random, and pairs chosen round by round as `--budget` chooses
them.
"""

import argparse
import math
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import combinations
from random import Random

from mixseek.stats.pair_planning import Candidate, next_pairs
from mixseek.stats.regression import logistic
from mixseek.stats.strengths.fit import fit_strengths
from mixseek.stats.strengths.model import Comparison, Strengths

SYSTEMS, QUESTIONS, TOP, GOAL = 8, 60, 3, 0.95
# Half of the logits within which two are called a tie: about one comparison in six.
TIE = 0.4
Z = 1.959963984540054


@dataclass(frozen=True)
class World:
    """Strengths from -`reach` to `reach`; on each question every system is off by `similarity` logits or so."""

    reach: float
    similarity: float

    @property
    def strengths(self) -> dict[str, float]:
        step = 2 * self.reach / (SYSTEMS - 1)
        return {f"system-{place}": self.reach - step * place for place in range(SYSTEMS)}

    def question(self, rng: Random, name: str) -> list[Comparison]:
        """Every two systems, with ties."""
        own = {system: strength + rng.gauss(0, self.similarity) for system, strength in self.strengths.items()}
        found = []
        for first, second in combinations(own, 2):
            lead, drawn = own[first] - own[second], rng.random()
            won, lost = logistic(lead - TIE), logistic(-lead - TIE)
            score = 1.0 if drawn < won else 0.0 if drawn < won + lost else 0.5
            found.append(Comparison(name, first, second, score))
        return found


WORLDS = (World(1.2, 0.0), World(1.2, 0.5), World(1.2, 1.0))
# Where all pairs of sixty questions do tell the first three, most of the time.
TOP_WORLDS = (World(1.5, 0.0), World(1.5, 0.5), World(2.0, 1.0))


@dataclass(frozen=True)
class Ties:
    """Three systems whose pairs are ties, but for a share of questions on which the first wins (or, a fifth, loses)."""

    decided: float
    questions: int = 30

    def question(self, rng: Random, name: str) -> list[Comparison]:
        score = (1.0 if rng.random() < TIES_WON else 0.0) if rng.random() < self.decided else 0.5
        return [Comparison(name, "a", "b", score), Comparison(name, "a", "c", score), Comparison(name, "b", "c", 0.5)]

    def truth(self) -> Strengths:
        """As with ever more questions."""
        score = self.decided * TIES_WON + (1 - self.decided) * 0.5
        rows = [("a", "b", score), ("a", "c", score), ("b", "c", 0.5)]
        return fit_strengths([Comparison("all", first, second, mean) for first, second, mean in rows])


TIES_WON = 0.8
TIES = (Ties(0.0), Ties(0.02), Ties(0.1))


@lru_cache
def truth_of(world: World) -> Strengths:
    """What the model tends to with ever more questions: the strengths whose chances are nearest to the real ones."""
    spread = math.sqrt(2) * world.similarity
    points = [(place / 50 - 4, math.exp(-((place / 50 - 4) ** 2) / 2)) for place in range(401)]
    whole = math.fsum(weight for _, weight in points)
    rows = []
    for (first, high), (second, low) in combinations(world.strengths.items(), 2):
        leads = [(high - low + spread * x, weight) for x, weight in points]
        score = math.fsum(w * (1 + logistic(lead - TIE) - logistic(-lead - TIE)) / 2 for lead, w in leads) / whole
        rows.append(Comparison("all", first, second, score))
    return fit_strengths(rows)


@dataclass
class Held:
    """How many of the intervals and rank ranges held the truth."""

    counted: int = 0
    ours: int = 0
    fisher: int = 0
    ranks: int = 0
    won: int = 0
    width: float = 0.0

    def add(self, board: Strengths, truth: Strengths) -> None:
        true = {one.name: one for one in truth.standings}
        for one in board.standings:
            same = true[one.name]
            assert one.interval is not None
            assert one.win_interval is not None
            assert one.strength is not None
            assert one.fisher_se is not None
            assert same.strength is not None
            assert same.rank is not None
            self.counted += 1
            self.ours += one.interval.low <= same.strength <= one.interval.high
            self.fisher += abs(one.strength - same.strength) <= Z * one.fisher_se
            self.ranks += (one.best or 0) <= same.rank <= (one.worst or 0)
            self.won += one.win_interval.low <= same.win_rate <= one.win_interval.high
            self.width += one.interval.high - one.interval.low

    @property
    def shares(self) -> str:
        """As a line of the table."""
        counts = (self.ours, self.width, self.fisher, self.ranks, self.won)
        return " ".join(f"{count / self.counted:6.3f}" for count in counts)


def held(world: World | Ties, replications: int, seed: int) -> Held:
    """Boards of all pairs of every question."""
    rng, found = Random(f"{seed}:{world}"), Held()
    truth, questions = (truth_of(world), QUESTIONS) if isinstance(world, World) else (world.truth(), world.questions)
    for _ in range(replications):
        rows = [row for number in range(questions) for row in world.question(rng, f"q{number}")]
        found.add(fit_strengths(rows), truth)
    return found


# How many judgments until the first three are known.

Choice = Callable[[Sequence[Comparison], Sequence[Candidate], int], Sequence[Candidate]]


def question_by_question(_told: Sequence[Comparison], left: Sequence[Candidate], count: int) -> Sequence[Candidate]:
    """All pairs of one question, then of the next."""
    return left[:count]


def at_random(_told: Sequence[Comparison], left: Sequence[Candidate], count: int, *, seed: int) -> Sequence[Candidate]:
    """Any pairs of any questions."""
    return sorted(left, key=lambda one: Random(f"{seed}{one.key}").random())[:count]


def until_known(world: World, rows: Sequence[Comparison], choose: Choice) -> tuple[int, bool | None]:
    """Judgments needed in rounds of 28, and whether the three were the right ones; None where they ran out."""
    answers = {f"{one.question}:{one.first}:{one.second}": one for one in rows}
    left = [Candidate(key, one.question, one.first, one.second) for key, one in answers.items()]
    told: list[Comparison] = []
    truth = set(sorted(world.strengths, key=lambda name: -world.strengths[name])[:TOP])
    while left:
        chosen = choose(told, left, SYSTEMS * (SYSTEMS - 1) // 2)
        keys = {one.key for one in chosen}
        told += [answers[one.key] for one in chosen]
        left = [one for one in left if one.key not in keys]
        board = fit_strengths(told)
        if board.certainties and board.certainties[TOP - 1] >= GOAL:
            return len(told), {one.name for one in board.standings[:TOP]} == truth
    return len(told), None


def judgments(number: int, world: World, seed: int) -> list[tuple[int, bool | None]]:
    """The same answers, asked for in three ways."""
    rng = Random(f"{seed}:{number}:{world}")
    rows = [row for question in range(QUESTIONS) for row in world.question(rng, f"q{question}")]
    ways: tuple[Choice, ...] = (
        question_by_question,
        partial(at_random, seed=number),
        partial(next_pairs, top=TOP, seed=number),
    )
    return [until_known(world, rows, way) for way in ways]


def told_judgments(name: str, found: Sequence[tuple[int, bool | None]], all_pairs: float) -> str:
    """Of one way of asking; where it never knew, all of its judgments count."""
    mean = math.fsum(count for count, _ in found) / len(found)
    known = [is_right for _, is_right in found if is_right is not None]
    right = f"{sum(known) / len(known):6.1%} right" if known else "     – right"
    return f"  {name:22} {mean:6.0f} judgments {mean / all_pairs:6.0%}  known {len(known) / len(found):6.1%}, {right}"


def main() -> None:
    """Print the two tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--replications", type=int, default=1_000)
    parser.add_argument("--budgets", type=int, default=100, help="replications of the second table, which take longer")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with ProcessPoolExecutor() as pool:
        head = f"strengths: {SYSTEMS} systems, {QUESTIONS} questions, ties"
        print(f"{head:44}  cover  width fisher  ranks    won")
        run_worlds = partial(held, replications=options.replications, seed=options.seed)
        worlds: list[World | Ties] = [*WORLDS, *TIES]
        for world, one in zip(worlds, pool.map(run_worlds, worlds), strict=True):
            if isinstance(world, World):
                name = f"questions differ by {world.similarity:g} logits"
            else:
                name = f"3 systems, {world.questions} questions, {1 - world.decided:.0%} of them ties"
            print(f"{name:44} {one.shares}", flush=True)
        for world in TOP_WORLDS:
            print(f"first {TOP} of {SYSTEMS} known with {GOAL:.0%}: questions differ by {world.similarity:g} logits")
            run = partial(judgments, world=world, seed=options.seed)
            columns = list(zip(*pool.map(run, range(options.budgets)), strict=True))
            all_pairs = math.fsum(count for count, _ in columns[0]) / len(columns[0])
            for name, found in zip(("all pairs", "pairs at random", "--budget"), columns, strict=True):
                print(told_judgments(name, found, all_pairs), flush=True)


if __name__ == "__main__":
    main()

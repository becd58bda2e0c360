"""All strengths of a set of comparisons, one home of their formulas: Bradley & Terry 1952.

Comparisons of one question resemble each other, so everything is counted over questions. Whether there is a maximum,
where it lies and what it says of ranks stand in files of their own.
"""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from mixseek.domain.counts import UnitSums
from mixseek.stats.intervals import unit_interval, with_questions
from mixseek.stats.strengths.existence import find_existence
from mixseek.stats.strengths.maximum import find_maximum
from mixseek.stats.strengths.model import Comparison, Standing, Strengths, StrengthState
from mixseek.stats.strengths.ranks import rank_systems
from mixseek.text.messages import message


def fit_strengths(comparisons: Sequence[Comparison], *, with_length: bool = False, level: float = 0.95) -> Strengths:
    """The board of all comparisons; `with_length`: what the difference in length explains is taken out."""
    wins: defaultdict[tuple[str, str], float] = defaultdict(float)
    scores: defaultdict[str, defaultdict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    meetings: defaultdict[tuple[str, str], defaultdict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for comparison in comparisons:
        for name, other, score in (
            (comparison.first, comparison.second, comparison.score),
            (comparison.second, comparison.first, 1 - comparison.score),
        ):
            scores[name][comparison.question].append(score)
            wins[name, other] += score
            meetings[name, other][comparison.question].append(score)
    names = sorted(scores)
    plain = [_counted(name, scores[name], level) for name in names]
    plain.sort(key=lambda standing: -standing.win_rate)
    questions = len({comparison.question for comparison in comparisons})
    state, sentence, parts = find_existence(names, wins)
    intervals = {pair: unit_interval(_win_sums(by_question), level) for pair, by_question in meetings.items()}
    board = Strengths(state, sentence, plain, len(comparisons), questions, dict(wins), intervals, parts, names)
    if state is not StrengthState.ESTIMATED:
        return board
    fit = find_maximum(comparisons, names, with_length=with_length)
    if isinstance(fit, StrengthState):
        return replace(board, state=fit, sentence=_WITHOUT[fit])
    return rank_systems(board, fit, level)


def _win_sums(scores: Mapping[str, Sequence[float]]) -> UnitSums:
    """The sums of scores by question."""
    values = [score for question_scores in scores.values() for score in question_scores]
    sums = UnitSums(
        samples=len(values),
        scored=len(values),
        total=math.fsum(values),
        total_of_squares=math.fsum(score * score for score in values),
    )
    return with_questions(
        sums, [(len(question_scores), math.fsum(question_scores), 1) for question_scores in scores.values()]
    )


def _counted(name: str, scores: Mapping[str, Sequence[float]], level: float) -> Standing:
    """What one has won, from its scores by question."""
    sums = _win_sums(scores)
    return Standing(
        name,
        comparisons=sums.scored,
        questions=len(scores),
        won=sums.total,
        ties=sum(question_scores.count(0.5) for question_scores in scores.values()),
        decided=sum(any(score != 0.5 for score in question_scores) for question_scores in scores.values()),
        win_interval=unit_interval(sums, level),
    )


_WITHOUT = {
    StrengthState.SEPARATED: message(
        "board.separated", "no strengths beside length: the difference in length tells every win from every loss"
    ),
    StrengthState.CONFOUNDED: message(
        "board.confounded", "no strengths beside length: it cannot be told from who wrote the response"
    ),
}

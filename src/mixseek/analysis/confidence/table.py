"""How sure the judges of a table are: probabilities, scores that are some, or a column of confidences."""

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence

from mixseek.analysis.confidence.distributions import Shares, levels_of_list, list_length, read_shares
from mixseek.analysis.confidence.found import CertainRow, ConfidenceKind, Malformed
from mixseek.domain.confidence import WRITTEN_WORDS, ConfidenceSource, is_share
from mixseek.errors import ConfigurationError
from mixseek.lazy_dataclass import dataclass
from mixseek.stats.calibration import Calibration, Forecast, calibrate
from mixseek.stats.confidence import JudgeConfidence
from mixseek.stats.expected import ScoredItem, compare_expected
from mixseek.stats.risk_coverage import Decision

# Where written words have their places, and numbers of a judge's own do not all lie.
_PLACES_OF_WORDS = tuple(1 - number / len(WRITTEN_WORDS) for number in range(len(WRITTEN_WORDS)))


@dataclass(frozen=True, slots=True)
class LevelsAsked:
    """What says which levels a list of probabilities has; texts are told by their places among the categories.

    `all_values` are those of the whole table, where only a part of it is asked for.
    """

    scale: tuple[float, float] | None
    values: Collection[float]
    categories: Sequence[str]
    all_values: Collection[float] = ()


def confidences_of_table(
    rows: Sequence[CertainRow], names: Sequence[str], asked: LevelsAsked, *, has_truth: bool
) -> list[JudgeConfidence]:
    """Each judge with each of its sources; raises ConfigurationError where nobody can know the levels of a list."""
    length = list_length([row.shares for row in rows if row.shares is not None])
    levels: list[float] = []
    if length is not None:
        if asked.categories:
            raise ConfigurationError(
                "--probabilities: a list says nothing about texts, which have no order; write a mapping"
            )
        known = levels_of_list(length, asked.values, asked.scale)
        if known is None and asked.all_values:
            known = levels_of_list(length, asked.all_values, None)
        if known is None:
            example = f"--scale 1..{length}"
            raise ConfigurationError(
                f"--probabilities: lists of {length}, and scores do not tell of which levels; say it with {example}"
            )
        levels = known
    by_rater: defaultdict[int, list[CertainRow]] = defaultdict(list)
    for row in rows:
        by_rater[row.rater].append(row)
    lines = []
    for rater, of_rater in sorted(by_rater.items()):
        if any(row.shares is not None for row in of_rater):
            lines.append(_of_shares(names[rater], of_rater, levels, asked, has_truth=has_truth))
        elif any(row.has_confidence for row in of_rater):
            lines += _of_column(names[rater], of_rater, has_truth=has_truth)
        elif has_truth:
            lines += _of_scores(names[rater], of_rater)
    return lines


def _of_shares(
    judge: str, rows: Sequence[CertainRow], levels: Sequence[float], asked: LevelsAsked, *, has_truth: bool
) -> JudgeConfidence:
    malformed: Counter[str] = Counter()
    used: list[tuple[CertainRow, Shares]] = []
    for row in rows:
        if row.shares is None:
            continue
        shares = read_shares(row.shares, levels, asked.categories)
        if isinstance(shares, Malformed):
            malformed[shares.value] += 1
        else:
            used.append((row, shares))
    sure = [(row, shares[row.value]) for row, shares in used if row.value in shares]
    expected = [(row, _mean_of(shares), _likeliest_of(shares)) for row, shares in used] if not asked.categories else []
    items = [
        ScoredItem(mean, row.value, likeliest, row.people, row.question)
        for row, mean, likeliest in expected
        if row.people is not None
    ]
    return JudgeConfidence(
        judge,
        ConfidenceKind.PROBABILITIES,
        len(used),
        without=sum(row.shares is None for row in rows),
        malformed=dict(sorted(malformed.items())),
        levels=levels,
        mean_confidence=_mean([confidence for _, confidence in sure]),
        mean_given=_mean([row.value for row, _, _ in expected]),
        mean_expected=_mean([mean for _, mean, _ in expected]),
        calibration=_calibrated(sure) if has_truth else None,
        expected=compare_expected(items) if has_truth else None,
    )


def _of_column(judge: str, rows: Sequence[CertainRow], *, has_truth: bool) -> Iterator[JudgeConfidence]:
    """One of each source: a share of repeats is no probability of a token, and neither stands for the other."""
    by_source: defaultdict[str, list[CertainRow]] = defaultdict(list)
    for row in rows:
        if row.has_confidence:
            by_source[row.source or ConfidenceKind.COLUMN].append(row)
    for source, of_source in sorted(by_source.items()):
        sure = [(row, row.confidence) for row in of_source if row.confidence is not None and is_share(row.confidence)]
        wrong = len(of_source) - len(sure)
        is_order = source == ConfidenceSource.WRITTEN and all(
            any(math.isclose(confidence, place, abs_tol=1e-6) for place in _PLACES_OF_WORDS) for _, confidence in sure
        )
        yield JudgeConfidence(
            judge,
            source,
            len(sure),
            without=len(rows) - len(of_source),
            malformed={Malformed.OUTSIDE.value: wrong} if wrong else {},
            is_order=is_order,
            mean_confidence=None if is_order else _mean([confidence for _, confidence in sure]),
            calibration=_calibrated(sure, is_order=is_order) if has_truth else None,
        )


def _of_scores(judge: str, rows: Sequence[CertainRow]) -> Iterator[JudgeConfidence]:
    """Scores between 0 and 1 where people say 0 or 1; two values alone are verdicts, and say nothing of how sure."""
    known = [row for row in rows if row.people is not None]
    values = {row.value for row in rows}
    is_binary = all(row.people in (0.0, 1.0) for row in known)
    if not known or not is_binary or not all(map(is_share, values)) or values <= {0.0, 1.0}:
        return
    forecasts = [Forecast(row.value, row.people or 0.0, row.question) for row in known]
    decisions = [
        Decision(max(row.value, 1 - row.value), abs(float(row.value >= 0.5) - (row.people or 0.0)), row.question)
        for row in known
    ]
    yield JudgeConfidence(
        judge,
        ConfidenceKind.SCORES,
        len(rows),
        mean_confidence=_mean([row.value for row in rows]),
        calibration=calibrate(forecasts, decisions),
    )


def _calibrated(sure: Sequence[tuple[CertainRow, float]], *, is_order: bool = False) -> Calibration:
    """How sure the judge is of the score that it gave, against how many people give the same."""
    known = [(row, confidence, row.label) for row, confidence in sure if row.label is not None]
    decisions = [Decision(confidence, 1 - label, row.question) for row, confidence, label in known]
    forecasts = [] if is_order else [Forecast(confidence, label, row.question) for row, confidence, label in known]
    return calibrate(forecasts, decisions)


def _mean_of(shares: Shares) -> float:
    return math.fsum(level * share for level, share in shares.items())


def _likeliest_of(shares: Shares) -> float:
    """The lower one of two that are as likely."""
    return min(shares, key=lambda level: (-shares[level], level))


def _mean(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None

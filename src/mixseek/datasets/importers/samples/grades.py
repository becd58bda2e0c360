"""What the scorers of a log gave: a verdict, a degree, or a grade that cannot be used."""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from mixseek.datasets.importers.samples.values import as_table
from mixseek.domain.samples import GRADED, LOG_SCORES
from mixseek.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class LoggedScore:
    """What the log's own scorer said. `value` is its own word; the rest is what can be said of it in ours."""

    value: Any
    # 0..1, where the value is on that scale or has a place on it.
    score: float | None = None
    # None where the scorer gave a degree and no verdict.
    is_correct: bool | None = None
    reason: str | None = None
    # Why the grade cannot be used: the grader failed, or wrote something that its tool could not read.
    problem: str | None = None
    # The verdict is our reading of a number, and not the tool's own word beside it.
    is_read: bool = False
    # Its scorer grades: none of its values is a verdict, whatever one of them looks like.
    is_graded: bool = False

    def document(self) -> dict[str, Any]:
        """The grade for the row; what is not known is left out."""
        value = str(self.value) if isinstance(self.value, float) and not math.isfinite(self.value) else self.value
        fields = {"value": value, "score": self.score, "is_correct": self.is_correct}
        fields |= {"reason": self.reason, "problem": self.problem, GRADED: self.is_graded or None}
        return {name: known for name, known in fields.items() if known is not None}


_WORDS = {
    True: frozenset({"yes", "true", "correct", "pass", "passed", "c", "right"}),
    False: frozenset({"no", "false", "incorrect", "fail", "failed", "i", "wrong"}),
}


def read_grade(value: Any, *, passed: bool | None = None, reason: str | None = None) -> LoggedScore:
    """A verdict, a number or a word; `passed` is the tool's own verdict beside a number, and wins over ours."""
    if isinstance(value, bool):
        return LoggedScore(value, float(value), value if passed is None else passed, reason)
    if isinstance(value, int | float):
        if not math.isfinite(value):
            return LoggedScore(value, reason=reason, problem=f"the grade is {value}: no number")
        score = float(value) if 0 <= value <= 1 else None
        verdict = {0.0: False, 1.0: True}.get(value) if passed is None else passed
        return LoggedScore(value, score, verdict, reason, is_read=passed is None)
    if isinstance(value, str):
        word = value.strip().lower()
        verdict = next((known for known, words in _WORDS.items() if word in words), None)
        if verdict is None and (number := read_number(word)) is not None:
            return read_grade(number, passed=passed, reason=reason)
        verdict = verdict if passed is None else passed
        return LoggedScore(value, None if verdict is None else float(verdict), verdict, reason)
    if value is None:
        return LoggedScore(None, reason=reason, problem=reason or "the grade is null")
    return LoggedScore(value, is_correct=passed, reason=reason)


class ScoreScales:
    """Which scorers grade, told by all their values: 1 is *correct* only where a scorer gives nothing but 0 to 1.

    A scorer that never gives a verdict (words, degrees) grades as well.
    """

    def __init__(self) -> None:
        self._beyond: set[str] = set()
        self._silent: set[str] = set()
        self._verdicts: set[str] = set()

    def note(self, scores: Mapping[str, LoggedScore]) -> None:
        """Told of every sample's scores; an unreadable one says nothing about its scorer."""
        for name, score in scores.items():
            if score.problem is not None:
                continue
            if score.is_read and score.score is None:
                self._beyond.add(name)
            (self._silent if score.is_correct is None else self._verdicts).add(name)

    @property
    def graded(self) -> frozenset[str]:
        return frozenset(self._beyond | (self._silent - self._verdicts))

    def settle(self, scores: Mapping[str, LoggedScore]) -> dict[str, LoggedScore]:
        """Once all were noted: a number of a scorer that grades is neither a verdict nor on our scale."""
        return {name: self._regraded(name, score) for name, score in scores.items()}

    def _regraded(self, name: str, score: LoggedScore) -> LoggedScore:
        if name not in self.graded or score.problem is not None or (score.is_correct is not None and not score.is_read):
            return score
        is_beyond = name in self._beyond
        return replace(score, score=None if is_beyond else score.score, is_correct=None, is_graded=True)


def grade_table(rows: Callable[[], Iterator[tuple[int, dict[str, Any]]]]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Rows of a table of somebody's own with bare scores, each read as a log's are; documents of ours stay."""
    scales = ScoreScales()
    for _, row in rows():
        scales.note(bare_scores(row))
    for place, row in rows():
        bare = scales.settle(bare_scores(row)) if scales.graded else {}
        graded = {name: score.document() for name, score in bare.items() if score.is_graded}
        yield place, {**row, LOG_SCORES: {**row[LOG_SCORES], **graded}} if graded else row


def bare_scores(row: Mapping[str, Any]) -> dict[str, LoggedScore]:
    """Those that are a mere value."""
    scores = as_table(row.get(LOG_SCORES))
    return {name: read_grade(value) for name, value in scores.items() if isinstance(value, int | float | str)}


def read_number(text: str) -> float | None:
    """Cells of a table are text; NaN and the infinities are numbers here, so that they are refused as grades."""
    try:
        return float(text)
    except ValueError:
        return None

"""Limits that a finished run must keep; a gate is a number with a name, and so is its failure."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from mixseek.reporting.model import ScoreSummary


@dataclass(frozen=True, slots=True)
class Gates:
    """Shares in 0..1; None is no gate."""

    fail_under: float | None = None
    max_invalid: float | None = None
    max_undecided: float | None = None
    max_unverified: float | None = None

    def limits(self) -> dict[str, float]:
        """The gates that are set, by name."""
        return {name: limit for name, limit in asdict(self).items() if limit is not None}


@dataclass(frozen=True, slots=True)
class GateResult:
    """`actual` is None where nothing was scored: a mean of nothing meets no minimum.

    `judge` is None for the run as one: of several judges that each judge everything, every one must keep the limit.
    """

    name: str
    limit: float
    actual: float | None
    is_met: bool
    judge: str | None = None

    def to_document(self) -> dict[str, Any]:
        """For programs."""
        return {
            "gate": self.name,
            "limit": self.limit,
            "actual": self.actual,
            "met": self.is_met,
            "judge": self.judge,
        }

    def describe(self) -> str:
        """The gate, the judge and both numbers, for one line on stderr."""
        actual = "no valid judgment" if self.actual is None else f"{self.actual:.2%}"
        relation = "under" if self.name == "fail_under" else "over"
        nouns = {"fail_under": "mean score", "max_invalid": "invalid or missing"}
        noun = nouns.get(self.name, self.name.removeprefix("max_"))
        option = "--" + self.name.replace("_", "-")
        who = f" by {self.judge}" if self.judge is not None else ""
        return f"gate {option} not met{who}: {noun} {actual}, {relation} the limit of {self.limit:.2%}"


def check_gates(gates: Gates, headlines: Mapping[str | None, ScoreSummary]) -> tuple[GateResult, ...]:
    """One result per gate that was set and judge that must keep it."""
    return tuple(result for judge, score in headlines.items() for result in check_score(gates, score, judge))


def check_score(gates: Gates, score: ScoreSummary, judge: str | None = None) -> list[GateResult]:
    """Shares are of everything judged, scored or not; of unverified ones, of the valid."""
    total = score.counts.total
    results: list[GateResult] = []
    if gates.fail_under is not None:
        mean = score.mean
        is_met = mean is not None and mean >= gates.fail_under
        results.append(GateResult("fail_under", gates.fail_under, mean, is_met, judge))
    for name, limit, count, whole in (
        # What its judge refused is as little of a judgment as what cannot be read.
        ("max_invalid", gates.max_invalid, score.counts.invalid + score.counts.missing, total),
        ("max_undecided", gates.max_undecided, score.counts.undecided, total),
        ("max_unverified", gates.max_unverified, score.unverified, score.counts.valid),
    ):
        if limit is not None:
            share = count / whole if whole else 0.0
            results.append(GateResult(name, limit, share, share <= limit, judge))
    return results

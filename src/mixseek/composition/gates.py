"""Limits that a finished run must keep; a gate is a number with a name, and so is its failure."""

from dataclasses import asdict, dataclass
from typing import Any

from mixseek.reporting.model import ScoreSummary


@dataclass(frozen=True, slots=True)
class Gates:
    """Shares in 0..1; None is no gate."""

    fail_under: float | None = None
    max_invalid: float | None = None
    max_undecided: float | None = None

    def limits(self) -> dict[str, float]:
        """The gates that are set, by name."""
        return {name: limit for name, limit in asdict(self).items() if limit is not None}


@dataclass(frozen=True, slots=True)
class GateResult:
    """`actual` is None where nothing was scored: a mean of nothing meets no minimum."""

    name: str
    limit: float
    actual: float | None
    is_met: bool

    def to_document(self) -> dict[str, Any]:
        """For programs."""
        return {"gate": self.name, "limit": self.limit, "actual": self.actual, "met": self.is_met}

    def describe(self) -> str:
        """The gate and both numbers, for one line on stderr."""
        actual = "no valid judgment" if self.actual is None else f"{self.actual:.2%}"
        relation = "under" if self.name == "fail_under" else "over"
        nouns = {"fail_under": "mean score", "max_invalid": "invalid or missing", "max_undecided": "undecided"}
        noun = nouns[self.name]
        option = "--" + self.name.replace("_", "-")
        return f"gate {option} not met: {noun} {actual}, {relation} the limit of {self.limit:.2%}"


def check_gates(gates: Gates, score: ScoreSummary) -> tuple[GateResult, ...]:
    """One result per gate that was set. Shares are of everything judged, scored or not."""
    total = score.counts.total
    results: list[GateResult] = []
    if gates.fail_under is not None:
        mean = score.mean
        results.append(GateResult("fail_under", gates.fail_under, mean, mean is not None and mean >= gates.fail_under))
    for name, limit, count in (
        # What its judge refused is as little of a judgment as what cannot be read.
        ("max_invalid", gates.max_invalid, score.counts.invalid + score.counts.missing),
        ("max_undecided", gates.max_undecided, score.counts.undecided),
    ):
        if limit is not None:
            share = count / total if total else 0.0
            results.append(GateResult(name, limit, share, share <= limit))
    return tuple(results)

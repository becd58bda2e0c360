"""Limits that a finished run must keep; a gate is a number with a name, and so is its failure."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict

from mixseek.analysis.checked_model import CheckSummary
from mixseek.analysis.run.model import ScoreSummary, split_of
from mixseek.domain.counts import ResponseCounts
from mixseek.domain.response_states import ResponseState
from mixseek.lazy_dataclass import dataclass
from mixseek.text.phrases import plural

MAX_FAILED_CHECKS = "max_failed_checks"


@dataclass(frozen=True, slots=True)
class Gates:
    """Shares in 0..1; None is no gate."""

    fail_under: float | None = None
    max_invalid: float | None = None
    max_undecided: float | None = None
    max_unverified: float | None = None
    max_cut_off: float | None = None
    max_failed_checks: float | None = None

    def limits(self) -> dict[str, float]:
        """The gates that are set, by name."""
        return {name: limit for name, limit in asdict(self).items() if limit is not None}


@dataclass(frozen=True, slots=True)
class GateResult:
    """What became of a gate. Of several judges that each judge everything, their panel must keep the limit."""

    name: str
    limit: float
    actual: float | None  # None where nothing was scored: a mean of nothing meets no minimum
    is_met: bool
    judge: str | None = None  # None for the run as one
    check: str | None = None  # of a gate on checks, the one that failed most often
    detail: str | None = None  # how often that was

    def describe(self) -> str:
        """The gate, the judge and both numbers, for one line."""
        if self.name == MAX_FAILED_CHECKS:
            outcome = "met" if self.is_met else "not met"
            return f"gate --max-failed-checks {outcome}: {self.detail}"
        actual = "no valid verdict" if self.actual is None else f"{self.actual:.2%}"
        relation = "within" if self.is_met else "under" if self.name == "fail_under" else "over"
        nouns = {"fail_under": "mean score", "max_invalid": "invalid or missing", "max_cut_off": "cut off"}
        noun = nouns.get(self.name, self.name.removeprefix("max_"))
        option = "--" + self.name.replace("_", "-")
        who = f" by {self.judge}" if self.judge is not None else ""
        outcome = "met" if self.is_met else "not met"
        return f"gate {option} {outcome}{who}: {noun} {actual}, {relation} the limit of {self.limit:.2%}"


def check_gates(
    gates: Gates, headlines: Mapping[str | None, ScoreSummary], *, has_pairs: bool = False
) -> tuple[GateResult, ...]:
    """One result per gate that was set and judge that must keep it."""
    results = []
    for judge, score in headlines.items():
        counts = score.counts
        shares = {
            # What its judge refused is as little of a judgment as what cannot be read; nor is a pair of which one order
            # cannot be used, which leaves it undecided.
            "max_invalid": (counts.invalid + counts.missing + (counts.undecided if has_pairs else 0), counts.total),
            # Judges that cancel each other out have decided nothing.
            "max_undecided": (counts.undecided + split_of(counts), counts.total),
            "max_unverified": (score.unverified, counts.valid),
        }
        for name, limit in gates.limits().items():
            if name == MAX_FAILED_CHECKS:
                continue
            if name == "max_cut_off":
                results.append(check_cut_off(limit, score.responses, judge))
                continue
            if name == "fail_under":
                actual, is_met = score.mean, score.mean is not None and score.mean >= limit
            else:
                part, whole = shares[name]
                actual = part / whole if whole else 0.0
                is_met = actual <= limit
            results.append(GateResult(name, limit, actual, is_met, judge))
    return tuple(results)


def check_failed_checks(limit: float, checks: Sequence[CheckSummary]) -> GateResult:
    """No check may fail more often than that, of the samples that it applied to; the worst one is named."""
    applied = [check for check in checks if check.whole.applied]
    if not applied:
        return GateResult(
            MAX_FAILED_CHECKS, limit, None, is_met=False, detail="no check applied to any sample, so none was kept"
        )
    worst = max(applied, key=lambda check: (check.whole.share or 0.0, check.whole.failed))
    share = worst.whole.share or 0.0
    is_met = share <= limit
    relation = "within" if is_met else "over"
    counted = f"{worst.check} failed in {worst.whole.failed:,} of {plural(worst.whole.applied, 'sample')}"
    also = sum(1 for check in applied if (check.whole.share or 0.0) > limit) - 1
    more = f"; so do {plural(also, 'other check')}" if also > 0 else ""
    detail = f"{counted} ({share:.2%}), {relation} the limit of {limit:.2%}{more}"
    return GateResult(MAX_FAILED_CHECKS, limit, share, is_met, check=worst.check, detail=detail)


def check_cut_off(limit: float, responses: ResponseCounts, whose: str | None = None) -> GateResult:
    """The gate on responses that were cut off, whatever was said of them."""
    share = responses.share(ResponseState.CUT_OFF)
    return GateResult("max_cut_off", limit, share, share <= limit, whose)

"""The whole report as plain data: headlines, rows, calls, and what dimensions add."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mixseek.domain.calls import CallAccount
from mixseek.reporting.model import JudgeSummary, JudgmentRow, RunHeader, ShownCount

if TYPE_CHECKING:  # A run's summary is a report without dimensions, and need not load what describes them.
    from mixseek.reporting.scored_model import ScoredReport


@dataclass(frozen=True, slots=True)
class ReportData:
    """The whole report. `rows` may be a part of all judgments; `shown` says which part, outcome by outcome."""

    run: RunHeader
    manifest: Mapping[str, Any]
    judges: tuple[JudgeSummary, ...]
    rows: tuple[JudgmentRow, ...]
    shown: tuple[ShownCount, ...]
    calls: tuple[CallAccount, ...] = ()  # of live judges; empty where there are none
    scored: "ScoredReport | None" = None  # under a protocol with dimensions
    # Judge to the model whose recorded replies it brings, where there is one: what a reader knows it by.
    models: Mapping[str, str] = field(default_factory=dict)

    def label_of(self, judge: str) -> str:
        """How a judge is called before a reader."""
        return self.models.get(judge, judge)

    @property
    def rows_total(self) -> int:
        return sum(part.total for part in self.shown)

    @property
    def is_complete(self) -> bool:
        """Every judgment of the run is listed."""
        return len(self.rows) >= self.rows_total

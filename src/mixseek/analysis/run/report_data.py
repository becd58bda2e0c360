"""The whole report as plain data: headlines, rows, calls, and what dimensions add."""

from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any

from mixseek.analysis.checked_model import CheckSummary
from mixseek.analysis.run.agreement import Agreement, SelfConsistency
from mixseek.analysis.run.model import Headline, JudgeSummary, RunHeader, ShownCount
from mixseek.analysis.run.route import RouteSummary
from mixseek.analysis.scored_model import ScoredReport
from mixseek.analysis.votes.system_board import Board
from mixseek.domain.judgments import JudgedRow
from mixseek.domain.ports import CallAccount
from mixseek.lazy_dataclass import dataclass
from mixseek.stats.confidence import JudgeConfidence
from mixseek.text.messages import Message

if TYPE_CHECKING:
    from mixseek.analysis.labels.corrected import CorrectedReport
    from mixseek.analysis.target_pairs import PairsReport

# A file with more judgments than this would be nothing to send, and no browser would open it.
MOST_LISTED = 1_000_000
# Of a larger run: so many of each kind of outcome of each judge.
LISTED_OF_EACH_KIND = 2_000


@dataclass(frozen=True, slots=True)
class ReportData:
    """The whole report. `rows` are read while a page is written: there may be more of them than memory holds."""

    run: RunHeader
    manifest: Mapping[str, Any]
    judges: tuple[JudgeSummary, ...]
    rows: Iterable[JudgedRow]
    shown: tuple[ShownCount, ...]
    calls: tuple[CallAccount, ...] = ()  # of live judges; empty where there are none
    headline: Headline | None = None  # None for a run without judgments
    agreement: Agreement | None = None  # None where no sample has two judges
    consistency: tuple[SelfConsistency, ...] = ()  # of judges that were asked several times
    scored: "ScoredReport | None" = None  # under a protocol with dimensions
    # Judge to the model whose recorded replies it brings, where there is one; and to what a reader knows it by.
    models: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)
    corrected: "CorrectedReport | None" = None  # where people have labelled some of the texts
    pairs: "PairsReport | None" = None  # where two responses were judged at a time
    asked: tuple[tuple[Message, str], ...] = ()  # what is scored and what judges are told, as Markdown under titles
    checks: tuple[CheckSummary, ...] = ()  # where something was checked without a judge
    route: RouteSummary | None = None  # where a cascade file was followed
    board: Board | None = None  # of systems that were compared two by two
    confidences: tuple[JudgeConfidence, ...] = ()  # where judgments say how sure they are, or labels tell of shares

    def label_of(self, judge: str) -> str:
        return self.labels.get(judge, judge)

    @property
    def rows_total(self) -> int:
        return sum(part.total for part in self.shown)

    @property
    def is_complete(self) -> bool:
        """Whether the page lists all judgments, or some of each kind because a browser could not open them all."""
        return self.rows_total <= MOST_LISTED

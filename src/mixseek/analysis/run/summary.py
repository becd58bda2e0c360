"""What a run amounts to, as data: its headline, its judges' scores, and the account of calls."""

from collections.abc import Mapping
from dataclasses import asdict, field
from pathlib import Path
from typing import Any

from mixseek.analysis.checked_model import CheckSummary
from mixseek.analysis.labels.corrected import CorrectedReport
from mixseek.analysis.run import model
from mixseek.analysis.run.model import Headline, ScoreSummary
from mixseek.analysis.run.route import RouteSummary
from mixseek.analysis.target_pairs import PairsReport
from mixseek.domain import counts
from mixseek.domain.counts import ConfidenceCount, ReaskCount
from mixseek.domain.ports import CallAccount
from mixseek.domain.scored_counts import TakeSpread
from mixseek.lazy_dataclass import dataclass

EMPTY = ScoreSummary(counts.StatusCounts(), mean=None, interval=None, bounds=None, is_binary=True)


@dataclass(frozen=True, slots=True)
class RunSummary:
    """`headline` is about samples, each with one verdict; gates apply to it.

    `score` counts judgments, in a cascade those of the judge that had the last word; a mean over judges who differ is
    nobody's verdict, so each has its own in `by_judge`. Judgments of models on their own output are in `control` alone.
    """

    header: model.RunHeader
    dataset: Mapping[str, Any]
    judges: tuple[str, ...]
    cascade: bool
    repeats: int
    workspace: Path
    journal: Path
    manifest: Path
    score: ScoreSummary
    headline: Headline
    by_judge: Mapping[str, ScoreSummary]
    calls: tuple[CallAccount, ...] = ()  # of judges that had to be waited for
    spreads: tuple[TakeSpread, ...] = ()  # of judges that were asked several times
    control: ScoreSummary = EMPTY
    all_by_judge: Mapping[str, counts.StatusCounts] = field(default_factory=dict)  # own output included
    missing_for_good: int = 0  # the endpoint refuses these samples, however often it is asked
    needs_maths: int = 0  # answers that only the extra `maths` could compare, and it was not there
    seconds: float = 0.0
    # By judge: how many recorded replies are about no sample of the dataset, and the first of them.
    unmatched: Mapping[str, tuple[int, list[str]]] = field(default_factory=dict)
    reasks: tuple[ReaskCount, ...] = ()  # of judges that gave replies
    warnings: tuple[tuple[str, str], ...] = ()  # what a judge is known to be weak at, by its name
    notices: tuple[str, ...] = ()  # what a person was told before the first call
    corrected: CorrectedReport | None = None  # where people have labelled some of the texts
    pairs: PairsReport | None = None  # where two responses were judged at a time
    checks: tuple[CheckSummary, ...] = ()  # where something was checked without a judge
    route: RouteSummary | None = None  # where a cascade file was followed
    confidences: tuple[ConfidenceCount, ...] = ()  # where something says how sure judges are, or why nothing does

    @property
    def is_complete(self) -> bool:
        """Every sample of the request is there, and nothing is missing that could still be had."""
        total = self.score.counts.total + self.control.counts.total
        if self.score.counts.missing + self.control.counts.missing > self.missing_for_good:
            return False
        if self.repeats == 1:
            return total == self.header.samples * (1 if self.cascade else len(self.judges))
        # Rules are asked once and models several times, so only the least is known.
        return total >= self.header.samples

    @property
    def is_panel(self) -> bool:
        """Several judges, each of whom judges everything."""
        return len(self.judges) > 1 and not self.cascade

    @property
    def headlines(self) -> dict[str | None, ScoreSummary]:
        """What gates apply to: the run as one."""
        return {None: self.headline.score}

    def asked_again(self, judge: str | None = None) -> int:
        """First replies that were invalid, so that another was asked for: of one judge, or of all."""
        return sum(count.asked_again for count in self.reasks if judge in (None, count.judge))

    def counts_by_judge(self) -> dict[str, dict[str, int]]:
        return {judge: asdict(counts) for judge, counts in self.all_by_judge.items()}

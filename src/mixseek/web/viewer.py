"""What the handlers share: the workspace, what is slow to make, and how an answer is written, in which language."""

import asyncio
import contextlib
import itertools
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from aiohttp import web

from mixseek.analysis.run.model import BAD_AT_MOST
from mixseek.analysis.run.report import load_report
from mixseek.analysis.run.report_data import ReportData
from mixseek.analysis.run.summarise import summarise_run
from mixseek.analysis.workspace.run_list import RunLine
from mixseek.comparison.compare import LISTED, CompareRequest, load_comparison
from mixseek.comparison.model import ChangedSample, Comparison
from mixseek.comparison.pairs import read_listed
from mixseek.comparison.views.page import STYLES as COMPARISON_STYLES
from mixseek.competition.views.page import STYLES as LEADERBOARD_STYLES
from mixseek.errors import MixseekError, StorageError
from mixseek.index.matrix import RunsMatrix
from mixseek.index.totals import JournalState, stat_journal
from mixseek.labels.review import ReviewedRun
from mixseek.lazy_dataclass import dataclass
from mixseek.reports.pages.html import JUDGMENT_SCRIPTS, TEXT_SCRIPTS
from mixseek.reports.pages.html import STYLES as REPORT_STYLES
from mixseek.runs.answers.kept_account import keep_account, state_of_journal
from mixseek.runs.answers.listed import AnswerLine
from mixseek.runs.answers.paged import AnswerPages
from mixseek.runs.answers.searched import FoldedQuestions, FoldedResponses
from mixseek.runs.answers.summary import summarise_answers
from mixseek.storage.journal.manifest import read_manifest
from mixseek.storage.journal.tail import JournalTail, TextSearches
from mixseek.storage.labels import LabelStore
from mixseek.storage.workspace import RunDirectory, Workspace
from mixseek.web.security import Access
from mixseek.web.slow_work import Pending, SlowWork
from mixseek.web.viewed import ViewedRun, find_exact_answers, find_exact_run

# The report's files in their order, and ours; what ends in .j2 is no asset.
ASSETS: Mapping[str, tuple[str, ...]] = {
    "report.css": (*REPORT_STYLES, "viewer.css", "review.css", "answers.css"),
    "comparison.css": (*COMPARISON_STYLES, "viewer.css"),
    "leaderboard.css": (*LEADERBOARD_STYLES, "viewer.css"),
    "home.js": ("base.js", "leaderboard.js", "text.js", "asking.js", "staying.js", "home.js", "upkeep.js"),
    "run.js": (
        "base.js", *TEXT_SCRIPTS, "asking.js", "state.js", *JUDGMENT_SCRIPTS, "list.js",
        "rater.js", "review_form.js", "label.js", "staying.js", "remote.js", "printing.js", "page.js", "live.js",
    ),
    "matrix.js": (
        "base.js", *TEXT_SCRIPTS, "asking.js", "state.js", *JUDGMENT_SCRIPTS, "leaderboard.js",
        "matrix_remote.js", "matrix.js",
    ),
    "review.js": (
        "base.js", *TEXT_SCRIPTS, "state.js", *JUDGMENT_SCRIPTS, "leaderboard.js",
        "rater.js", "asking.js", "staying.js", "review_api.js", "review_form.js", "review_numbers.js", "review.js",
    ),
    "sample.js": (
        "base.js", *TEXT_SCRIPTS, "asking.js", "state.js", *JUDGMENT_SCRIPTS,
        "leaderboard.js", "rater.js", "review_form.js", "label.js", "staying.js", "sample.js",
    ),
    "answers.js": (
        "base.js", *TEXT_SCRIPTS, "asking.js", "leaderboard.js", "staying.js", "word_difference.js", "answers.js",
    ),
    "comparison.js": (
        "base.js", "leaderboard.js", "copying.js", "comparison.js", "word_difference.js", "difference.js",
    ),
    "leaderboard.js": ("base.js", "leaderboard.js", "text.js", "asking.js", "staying.js", "watch.js"),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class CountedReport:
    """The numbers of a run, and when they were counted: a run that is judged has others a moment later."""

    data: ReportData
    at: datetime


class Viewer:
    """One workspace, seen through one server."""

    def __init__(self, root: Path, access: Access, scratch: Path) -> None:
        self.workspace, self.access = Workspace(root), access
        self.scratch = scratch
        self._numbers = itertools.count(1)
        self._runs: SlowWork[ViewedRun] = SlowWork(ViewedRun.close)
        self._reports: SlowWork[CountedReport] = SlowWork()
        self._reviewed: SlowWork[ReviewedRun] = SlowWork(ReviewedRun.close)
        self._numbers_of_labels: SlowWork[dict[str, Any]] = SlowWork()
        self._comparisons: SlowWork[tuple[Comparison, list[ChangedSample]]] = SlowWork()
        self._matrices: SlowWork[RunsMatrix] = SlowWork(RunsMatrix.close)
        self._answers: SlowWork[AnswerPages] = SlowWork()
        self._tails: dict[str, JournalTail] = {}
        self._counter = ThreadPoolExecutor(1, thread_name_prefix="mixseek-count")
        self._counting: asyncio.Task[None] | None = None
        self._counted: set[tuple[Path, JournalState | None]] = set()
        self._searches: dict[tuple[str, int], TextSearches] = {}

    @property
    def root(self) -> Path:
        return self.workspace.root

    def find_run(self, name: str) -> RunDirectory:
        return find_exact_run(self.workspace, name)

    def find_answers(self, name: str) -> RunDirectory:
        return find_exact_answers(self.workspace, name)

    async def judgments(self, run: RunDirectory, as_of: int = 0) -> ViewedRun | Pending:
        """The run with a list of its judgments, as its journal was a moment ago, or when it had `as_of` bytes."""
        directory = self.scratch / str(next(self._numbers))
        make = partial(ViewedRun, self.workspace, run, self.searches(run), directory)
        viewed = await self._runs.get(
            run.name,
            stat_journal(run.journal),
            make,
            is_growing=is_growing(run),
            is_late_enough=lambda version: version is not None and version.size_bytes >= as_of,
        )
        store = LabelStore(self.workspace)
        if isinstance(viewed, Pending) or not viewed.may_have_labels(store):
            return viewed
        reviewed = await self.reviewed(run)
        if isinstance(reviewed, Pending):
            return reviewed
        # A label that is given meanwhile is read with the next question.
        await asyncio.to_thread(viewed.take_people, store.state(), reviewed.people)
        return viewed

    def searches(self, run: RunDirectory) -> TextSearches:
        """Those of a run; a file that was put in the place of a journal is another one."""
        file = run.journal.stat().st_ino
        if (run.name, file) not in self._searches:
            path = self.scratch / f"{next(self._numbers)}.folded"
            self._searches[run.name, file] = TextSearches(run.journal, path)
        return self._searches[run.name, file]

    async def answers(self, run: RunDirectory) -> AnswerPages | Pending:
        """An answer run by its places, as its journal was a moment ago."""
        make = partial(AnswerPages, run)
        return await self._answers.get(run.name, stat_journal(run.journal), make, is_growing=is_growing(run))

    def answer_searches(self, run: RunDirectory) -> TextSearches:
        """Those of an answer run."""
        key = (run.name, run.journal.stat().st_ino)
        if key not in self._searches:
            path = self.scratch / f"{next(self._numbers)}.folded"
            self._searches[key] = TextSearches(run.journal, path, FoldedQuestions, FoldedResponses)
        return self._searches[key]

    async def report(self, run: RunDirectory) -> CountedReport | Pending:
        """Its report as data, kept until a judgment or a label is added."""

        def make() -> CountedReport:
            at = datetime.now(UTC)
            return CountedReport(load_report(self.root, run.name)[0], at)

        version = (stat_journal(run.journal), LabelStore(self.workspace).state())
        return await self._reports.get(run.name, version, make, is_growing=is_growing(run))

    async def reviewed(self, run: RunDirectory) -> ReviewedRun | Pending:
        """The run for people who label; labels are read anew at each question."""
        make = partial(ReviewedRun, self.workspace, run)
        return await self._reviewed.get(run.name, stat_journal(run.journal), make, is_growing=is_growing(run))

    async def review_numbers(self, reviewed: ReviewedRun, half_width: float) -> dict[str, Any] | Pending:
        """What the labels of this moment make of the headline."""
        # In the key: an older answer would hide the label that was just given.
        key = (reviewed.run.name, stat_journal(reviewed.run.journal), LabelStore(self.workspace).state(), half_width)
        return await self._numbers_of_labels.get(key, None, partial(reviewed.numbers, half_width))

    async def comparison(
        self, runs: Sequence[RunDirectory], request: CompareRequest, start: int = 0
    ) -> tuple[Comparison, list[ChangedSample]] | Pending:
        """Two runs, or two parts of one, with the texts of the pairs that changed; of each kind from `start` on."""

        def make() -> tuple[Comparison, list[ChangedSample]]:
            comparison = load_comparison(request, start + LISTED)
            return comparison, read_listed(self.root, comparison, start=start)

        version = tuple(stat_journal(run.journal) for run in runs)
        key = (tuple(run.name for run in runs), tuple(request.targets), tuple(request.variants), start)
        return await self._comparisons.get(key, version, make, is_growing=any(map(is_growing, runs)))

    def count_headlines(self, lines: Sequence[RunLine], answers: Sequence[AnswerLine] = ()) -> None:
        """Begin to count what the runs came to that nobody has counted yet; whoever asks later is shown more of it."""
        if self._counting is not None and not self._counting.done():
            return
        work = {
            **{run: partial(self._count_run, run) for run in self._named(lines)},
            **{run: partial(count_answers, run) for run in self._uncounted_answers(answers)},
        }
        if any(count_key(run) not in self._counted for run in work):
            self._counting = asyncio.create_task(self._count_all(work))

    def _named(self, lines: Sequence[RunLine]) -> list[RunDirectory]:
        names = {line.run_id for line in lines if line.can_be_counted}
        return [run for run in self.workspace.runs() if run.name in names] if names else []

    def _uncounted_answers(self, lines: Sequence[AnswerLine]) -> list[RunDirectory]:
        """Those that an earlier version asked for, or that were broken off."""
        names = {line.name for line in lines if line.calls is None and not line.is_running and line.problem is None}
        return [run for run in self.workspace.answer_runs() if run.name in names] if names else []

    def _count_run(self, run: RunDirectory) -> None:
        summarise_run(self.workspace, run, read_manifest(run.manifest))

    async def _count_all(self, work: Mapping[RunDirectory, Callable[[], None]]) -> None:
        """One after the other: whoever looks at a run meanwhile comes first."""
        for run, count in work.items():
            key = count_key(run)
            if key in self._counted:
                continue
            # A run that cannot be counted is asked again when it has changed; its line says why.
            self._counted.add(key)
            with contextlib.suppress(MixseekError):
                await asyncio.get_running_loop().run_in_executor(self._counter, count)

    def forget(self, name: str) -> None:
        """A run that has another name, or is gone: whoever gets its name has a journal of its own."""
        self._tails.pop(name, None)

    async def matrix(self, runs: Sequence[RunDirectory]) -> RunsMatrix | Pending:
        """Several runs beside each other, as their journals were a moment ago."""
        path = self.scratch / str(next(self._numbers)) / "runs.duckdb"
        make = partial(RunsMatrix, self.workspace, tuple(runs), path, BAD_AT_MOST)
        version = tuple(stat_journal(run.journal) for run in runs)
        return await self._matrices.get(
            tuple(run.name for run in runs), version, make, is_growing=any(map(is_growing, runs))
        )

    def tail(self, run: RunDirectory) -> JournalTail:
        """One for all who watch a run."""
        return self._tails.setdefault(run.name, JournalTail(run))

    async def close(self) -> None:
        if self._counting is not None:
            self._counting.cancel()
        self._counter.shutdown(wait=False, cancel_futures=True)
        works = (self._runs, self._reports, self._comparisons, self._reviewed, self._numbers_of_labels, self._matrices)
        for work in (*works, self._answers):
            await work.close()
        for searches in self._searches.values():
            searches.close()


def count_answers(run: RunDirectory) -> None:
    """What an answer run came to, kept for the next who looks at a list."""
    with contextlib.suppress(OSError):
        state = state_of_journal(run)
        keep_account(summarise_answers(run, read_manifest(run.manifest)), state)


def count_key(run: RunDirectory) -> tuple[Path, JournalState | None]:
    """A run as it is now; without a journal there is nothing to count."""
    try:
        return run.path, stat_journal(run.journal)
    except StorageError:
        return run.path, None


def is_growing(run: RunDirectory) -> bool:
    """Whether somebody may be judging on; a run that was broken off is one as well."""
    return not read_manifest(run.manifest).has_ended


VIEWER = web.AppKey("viewer", Viewer)

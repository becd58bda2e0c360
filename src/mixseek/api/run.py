"""A judged run as an object: its numbers, its judgments one by one, and as tables and pages."""

import importlib
import importlib.util
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import duckdb

from mixseek.analysis.labels.of_run import load_corrected
from mixseek.analysis.ratings.found import Statistics
from mixseek.analysis.ratings.relation import RatingColumns, RatingSource
from mixseek.analysis.ratings.statistics import StatisticsRequest, load_statistics
from mixseek.analysis.run.exported import export_labelled
from mixseek.analysis.run.gates import Gates
from mixseek.analysis.run.report import load_report
from mixseek.analysis.run.summarise import summarise_run
from mixseek.analysis.run.summary import RunSummary
from mixseek.analysis.votes.found import VoteStatistics
from mixseek.analysis.votes.statistics import VotesAsked, load_votes
from mixseek.analysis.votes.system_board import SystemBoard
from mixseek.api.options import Data, TemporaryWorkspace, choose
from mixseek.api.words import in_python_words, without_flags
from mixseek.ci.build_server import CiTargets, run_report, write_ci
from mixseek.ci.report import CiReport, render_markdown
from mixseek.comparison.compare import CompareRequest, load_comparison
from mixseek.comparison.conclusion import AnyGate, Conclusion, RunState, conclude_run
from mixseek.comparison.model import Comparison
from mixseek.comparison.views.files import write_comparison
from mixseek.competition.asked_boards import BoardRequest, load_board, write_board
from mixseek.datasets.memory import IN_MEMORY, keep_rows
from mixseek.domain.counting import CutOffChoice, UndecidedChoice, read_counting
from mixseek.domain.judgments import Missing, Status
from mixseek.domain.panels import PanelRule
from mixseek.engine.offline import Judged
from mixseek.errors import ConfigurationError, MixseekError
from mixseek.index.run import JudgedTake, open_run_index
from mixseek.presentation.render.html import file_link_html, sections_html
from mixseek.reports.pages.html import write_html
from mixseek.reports.summary import run_card_sections
from mixseek.reports.wording.scores import interval_sentence, no_interval_sentence, score_text
from mixseek.settings.load import load_settings
from mixseek.stats.estimates import Drawing
from mixseek.storage.duckdb_session import escape_glob, first_line, offline_settings, open_duckdb, quoted
from mixseek.storage.journal.manifest import read_manifest
from mixseek.storage.journal.records import decode_outcome, decode_reply, decode_sample
from mixseek.storage.workspace import RunDirectory, Workspace, find_run
from mixseek.text.phrases import plural

if TYPE_CHECKING:
    # Not in the core: whoever asks for such a table has it.
    import pandas
    import polars
    import pyarrow

Rule = PanelRule | Literal["majority", "unanimous", "median", "mean"]
CutOff = CutOffChoice | Literal["incorrect", "leave-out"]
AsUndecided = UndecidedChoice | Literal["leave-out", "incorrect"]


class Run:
    """What `mixseek.judge` gives. Iterating over it gives its judgments, in the order of the data.

    >>> import mixseek
    >>> rows = [{"id": "1", "response": "The answer is 4.", "ground_truth": "4"},
    ...         {"id": "2", "response": "The answer is 5.", "ground_truth": "4"}]
    >>> run = mixseek.judge(rows, fail_under=0.8)
    >>> run
    <Run data-semantic-...: 2 samples, mean score 50.0% (95% Wilson interval ...), gate_not_met>
    >>> [(one.sample.id, one.verdict) for one in run]
    [('1', 'correct'), ('2', 'incorrect')]
    >>> run.ok, run.reasons
    (False, ('gate fail_under not met: mean score 50.00%, under the limit of 80.00%',))
    >>> run.sql("select verdict, count(*) as n from judgments group by all order by all").fetchall()
    [('correct', 1), ('incorrect', 1)]
    """

    def __init__(
        self, conclusion: Conclusion, temporary: TemporaryWorkspace | None = None, notices: Sequence[str] = ()
    ) -> None:
        self._conclusion = conclusion
        # Held, because it goes when nobody holds it.
        self._temporary = temporary
        self.notices = tuple(notices)
        """What the command line would have said on stderr."""

    # What it comes to.

    @property
    def name(self) -> str:
        """The run's name; `mixseek report NAME` knows it, where it is kept in a workspace."""
        return self.summary.header.run_id

    @property
    def workspace(self) -> Path:
        """Where its files are; a run in memory has them in a directory that goes with this object."""
        return self.summary.workspace

    @property
    def summary(self) -> RunSummary:
        """Every number: headline, score, counts, judges, calls and cost."""
        return self._conclusion.summary

    @property
    def state(self) -> RunState:
        """ok, gate_not_met or incomplete."""
        return self._conclusion.state

    @property
    def ok(self) -> bool:
        """Everything is judged, and every gate is met."""
        return self.state is RunState.OK

    @property
    def reasons(self) -> tuple[str, ...]:
        """A sentence for each thing that is not as it should be."""
        return tuple(map(without_flags, self._conclusion.reasons))

    @property
    def gates(self) -> tuple[AnyGate, ...]:
        """Each with its limit, the actual number and whether it is met."""
        return self._conclusion.gates

    @property
    def baseline(self) -> Comparison | None:
        """The run against its baseline, where one was named."""
        return self._conclusion.compared

    def document(self) -> dict[str, Any]:
        """What `mixseek judge --json` prints."""
        return self._conclusion.document()

    # Its judgments.

    def __iter__(self) -> Iterator[Judged]:
        return self.judgments()

    def judgments(
        self, status: Status | Literal["valid", "invalid", "undecided", "missing"] | None = None
    ) -> Iterator[Judged]:
        """One for each sample, judge and repeat, in the order of the data; one in memory at a time."""
        wanted = None if status is None else choose(Status, status, "status")
        with open_run_index(Workspace(self.workspace), self.directory) as index:
            for take in index.takes():
                judged = read_take(take)
                if wanted in (None, judged.status):
                    yield judged

    @in_python_words()
    def sql(self, query: str) -> duckdb.DuckDBPyRelation:
        """A query over the table `judgments`, which has the columns of `mixseek export`.

        The answer shows itself, and has `.fetchall()`, `.df()`, `.pl()` and `.to_arrow_table()`; it needs this object.
        """
        try:
            return self._connection.sql(query)
        except duckdb.Error as error:
            raise ConfigurationError(f"sql: {first_line(error)}") from error

    def to_arrow(self) -> "pyarrow.Table":
        """All judgments as a table of pyarrow."""
        require("pyarrow", "to_arrow")
        return self.sql("FROM judgments").to_arrow_table()

    def to_polars(self) -> "polars.DataFrame":
        """All judgments as a frame of polars."""
        polars: Any = require("polars", "to_polars")
        return polars.read_parquet(self._table)

    def to_pandas(self) -> "pandas.DataFrame":
        """All judgments as a frame of pandas."""
        require("pandas", "to_pandas")
        return self.sql("FROM judgments").df()

    # Pages and comparisons.

    @in_python_words()
    def report(
        self,
        path: str | Path | None = None,
        *,
        by: str | Sequence[str] = (),
        panel: Rule | None = None,
        cut_off: CutOff | None = None,
        undecided: AsUndecided | None = None,
    ) -> Path:
        """Write the HTML report, one file that needs no other; where it is.

        `cut_off` and `undecided` say what its means take, as in `mixseek.judge`.
        """
        asked = read_counting(cut_off, undecided)
        report, directory = load_report(
            self.workspace, self.name, panel and choose(PanelRule, panel, "panel"), names(by), asked
        )
        target = directory.report if path is None else Path(path)
        write_html(report, target)
        return target

    @in_python_words()
    def junit(self, path: str | Path) -> Path:
        """Write what a build server reads, as `mixseek judge --junit` does: a case for each gate and each failure."""
        target = Path(path)
        write_ci(CiTargets(junit=target), [self._build_report()])
        return target

    @in_python_words()
    def markdown(self) -> str:
        """The headline, the gates and the worst five, as `mixseek judge --github-summary` writes them."""
        return render_markdown(self._build_report())

    def _build_report(self) -> CiReport:
        summary = self.summary
        return run_report(self.workspace, self.name, self.gates, headline=summary.headline, seconds=summary.seconds)

    @in_python_words()
    def compare(
        self,
        other: "Run | str",
        path: str | Path | None = None,
        *,
        panel: Rule | None = None,
        cut_off: CutOff | None = None,
        undecided: AsUndecided | None = None,
    ) -> Comparison:
        """This run (B) against another (A), sample by sample; with a path, as a page too. See `mixseek.compare`."""
        return compare(other, self, path, panel=panel, cut_off=cut_off, undecided=undecided)

    def __repr__(self) -> str:
        score = self.summary.headline.score
        interval = interval_sentence(score) if score.interval else no_interval_sentence(score)
        mean = "no valid verdict" if score.mean is None else f"mean score {score_text(score)} ({interval})"
        return f"<Run {self.name}: {plural(self.summary.header.samples, 'sample')}, {mean}, {self.state.value}>"

    def _repr_html_(self) -> str:
        page = self.directory.report
        link = file_link_html(os.path.relpath(page)) if page.is_file() else ""
        state, failures = self.state.value, self._conclusion.failures
        return sections_html(run_card_sections(self.summary, state, self.reasons, failures, has_page=bool(link))) + link

    @property
    def directory(self) -> RunDirectory:
        """The files of the run."""
        return Workspace(self.workspace).run(self.name)

    @cached_property
    def _exported(self) -> TemporaryWorkspace:
        return TemporaryWorkspace()

    @cached_property
    def _table(self) -> Path:
        """All judgments as a Parquet file, made when it is first asked for."""
        path = self._exported.path / "judgments.parquet"
        export_labelled(Workspace(self.workspace), self.directory, path)
        return path

    @cached_property
    def _connection(self) -> duckdb.DuckDBPyConnection:
        connection = open_duckdb(config=offline_settings())
        connection.execute(f"CREATE VIEW judgments AS FROM read_parquet({quoted(escape_glob(self._table))})")
        return connection


def read_take(take: JudgedTake) -> Judged:
    """The judgment in the records of the journal; what is still due is missing until it is asked for."""
    outcome = Missing("not asked yet") if take.outcome is None else decode_outcome(take.outcome)
    reply = None if take.reply is None else decode_reply(take.reply)
    return Judged(decode_sample(take.sample), take.judge, outcome, reply, take.take)


def require(module: str, method: str) -> Any:
    """The module; one clear line where it is not installed."""
    if importlib.util.find_spec(module) is None:
        raise ConfigurationError(f"{method}: {module} is not installed; pip install {module}")
    return importlib.import_module(module)


@in_python_words()
def open_run(name: str | None = None, workspace: str | Path | None = None) -> Run:
    """A run that was judged before; without a name the only one, `latest` the one started last.

    Without `workspace` it is looked for where the command line looks: `$MIXSEEK_WORKSPACE`, mixseek.toml, `.mixseek`.
    """
    place = Workspace(Path(workspace) if workspace is not None else load_settings().workspace)
    directory = find_run(place, name)
    manifest = read_manifest(directory.manifest)
    summary = replace(summarise_run(place, directory, manifest), corrected=load_corrected(place, directory))
    limits = {gate: limit for gate, limit in manifest.gates.items() if gate != "max_drop"}
    return Run(conclude_run(summary, Gates(**limits)))


@in_python_words()
def compare(
    a: Run | str,
    b: Run | str,
    path: str | Path | None = None,
    *,
    targets: str | Sequence[str] = (),
    variants: str | Sequence[str] = (),
    panel: Rule | None = None,
    cut_off: CutOff | None = None,
    undecided: AsUndecided | None = None,
    workspace: str | Path | None = None,
) -> Comparison:
    """B against A, sample by sample, as `mixseek compare` does it; with a path, as an HTML page too.

    A and B are runs, or names of runs in `workspace`. `print` shows the result. What both means take of responses that
    were cut off and of undecided samples, `cut_off` and `undecided` say.

    >>> import mixseek
    >>> before = mixseek.judge([{"id": "1", "response": "It is 5.", "ground_truth": "4"}])
    >>> after = mixseek.judge([{"id": "1", "response": "It is 4.", "ground_truth": "4"}])
    >>> mixseek.compare(before, after).difference.sums.better
    1
    """
    runs = tuple(find_directory(run, workspace) for run in (a, b))
    root = Path(workspace) if workspace is not None else runs[-1].workspace
    rule, asked = panel and choose(PanelRule, panel, "panel"), read_counting(cut_off, undecided)
    request = CompareRequest(root, runs, names(targets), names(variants), rule, asked)
    comparison = load_comparison(request, is_complete=True)
    if path is not None:
        write_comparison(root, comparison, Path(path), runs)
    return comparison


def names(given: str | Sequence[str]) -> Sequence[str]:
    """One name is one name, not its letters."""
    return (given,) if isinstance(given, str) else given


def find_directory(run: Run | str, workspace: str | Path | None) -> RunDirectory:
    if isinstance(run, Run):
        return run.directory
    return Workspace(Path(workspace) if workspace is not None else load_settings().workspace).resolve(run)


@in_python_words("judge")
def statistics(
    ratings: "Run | Data",
    *,
    item: str | None = None,
    judge: str | None = None,
    score: str | None = None,
    question: str | None = None,
    system: str | None = None,
    where: str | None = None,
    order: str | None = None,
    repeats: Literal["first", "mean"] | None = None,
    human: str | None = None,
    labelled: str | None = None,
    labels: Literal["random", "stratified", "elsewhere", "unknown"] = "unknown",
    pool: Literal["judged", "rated"] = "judged",
    scale: tuple[float, float] | None = None,
    compare: tuple[str, str] | None = None,
    people: str | None = None,
    probabilities: str | None = None,
    confidence: str | None = None,
    workspace: str | Path | None = None,
) -> Statistics:
    """Means, agreement, and what labels make of them, as `mixseek stats` counts them; `print` shows the result.

    `ratings` is a run, the name of one in `workspace`, a file, rows in memory or a table; of several criteria in one
    table, `where` takes one.

    >>> import mixseek
    >>> rows = [{"item": n, "judge": who, "score": 1} for n in range(3) for who in "ab"]
    >>> mixseek.statistics(rows).ratings
    6
    """
    if human is None and people is None and (labelled is not None or labels != "unknown"):
        raise ConfigurationError("labels: they are somebody's; name the rater with human")
    if human is not None and people is not None:
        raise ConfigurationError("people: the truth is a rater (human) or all people together (people), not both")
    columns = RatingColumns(
        *(item, judge, score, question, system, where, order, labelled),
        probabilities=probabilities,
        confidence=confidence,
        people=people,
    )
    uses_mean = repeats == "mean" if repeats else None
    source = RatingSource(columns, human, uses_mean, longest_line=load_settings().judge.longest_line)
    drawing = choose(Drawing, labels, "labels")
    return count_ratings(
        ratings,
        workspace,
        lambda name, root: load_statistics(
            StatisticsRequest(name, root, source, drawing, pool == "rated", scale, compare)
        ),
    )


@in_python_words("judge")
def vote_statistics(
    ratings: "Run | Data",
    *,
    votes: bool = True,
    jury: bool = False,
    length: str | None = None,
    shown: str | None = None,
    gold: str | None = None,
    reference: str | Sequence[str] = (),
    item: str | None = None,
    judge: str | None = None,
    score: str | None = None,
    question: str | None = None,
    where: str | None = None,
    order: str | None = None,
    human: str | None = None,
    workspace: str | Path | None = None,
) -> VoteStatistics:
    """Whether judges follow the order of two responses, or length, and what a jury is worth; `print` shows it.

    As `mixseek stats --votes --jury --length EXPR` does. `length` of scores needs `votes=False`.

    >>> import mixseek
    >>> said = {"AB": "A>B", "BA": "B>A"}
    >>> rows = [{"item": n, "judge": "j", "shown": s, "preference": said[s]} for n in range(4) for s in said]
    >>> mixseek.vote_statistics(rows).votes[0].position.bias
    1.0
    """
    if human is not None and gold is not None:
        raise ConfigurationError("gold: the truth is a rater (human) or a column (gold), not both")
    columns = RatingColumns(
        *(item, judge, score, question), where=where, order=order, gold=gold, length=length, shown=shown
    )
    votes_asked = VotesAsked(votes, jury, length is not None, (reference,) if isinstance(reference, str) else reference)
    source = RatingSource(columns, human, longest_line=load_settings().judge.longest_line)
    return count_ratings(
        ratings, workspace, lambda name, root: load_votes(StatisticsRequest(name, root, source), votes_asked)
    )


@in_python_words("judge")
def leaderboard(
    ratings: "Run | Data",
    *,
    judge: str | None = None,
    human: str | None = None,
    min_questions: int = 1,
    item: str | None = None,
    score: str | None = None,
    question: str | None = None,
    where: str | None = None,
    system: str | None = None,
    system_a: str | None = None,
    system_b: str | None = None,
    length: str | None = None,
    path: str | Path | None = None,
    workspace: str | Path | None = None,
) -> SystemBoard:
    """Who is stronger, from votes or scores, as `mixseek leaderboard` says it; `print` shows it, `path` is for a page.

    `judge` is one judge of a run, whose verdicts alone are to count; of a table, the column of who rates.

    >>> import mixseek
    >>> rows = [{"item": n, "judge": "j", "model_a": "owl", "model_b": "wren", "preference": "B>A" if n % 3 else "A>B"}
    ...         for n in range(9)]
    >>> [(one.name, one.rank, round(one.strength, 2)) for one in mixseek.leaderboard(rows).strengths.standings]
    [('wren', 1, 0.35), ('owl', 2, -0.35)]
    """
    columns = RatingColumns(
        *(item, judge, score, question, system, where), length=length, system_a=system_a, system_b=system_b
    )
    longest = load_settings().judge.longest_line
    board = count_ratings(
        ratings,
        workspace,
        lambda name, root: load_board(BoardRequest(name, root, columns, human, min_questions, longest)),
    )
    if path is not None:
        write_board(board, Path(path))
    return board


Counted = TypeVar("Counted", Statistics, VoteStatistics, SystemBoard)


def count_ratings(ratings: "Run | Data", workspace: str | Path | None, load: Callable[[str, Path], Counted]) -> Counted:
    """What is loaded from a run, or from a file or a run by name; rows in memory are a file for a moment."""
    if isinstance(ratings, Run):
        return load(ratings.name, ratings.workspace)
    root = Path(workspace) if workspace is not None else load_settings().workspace
    if isinstance(ratings, str | Path):
        return load(str(ratings), root)
    temporary = TemporaryWorkspace()
    name = str(keep_rows(ratings, temporary.path))
    try:
        return replace(load(name, root), source=IN_MEMORY)
    except MixseekError as error:
        # Nobody knows the file that their rows are in.
        raise type(error)(str(error).replace(name, IN_MEMORY)) from error

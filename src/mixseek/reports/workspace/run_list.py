"""The list of runs that a workspace holds, as sections and for programs."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any
from urllib.parse import quote

from mixseek.analysis.run.model import GroupSummary
from mixseek.analysis.workspace import run_list
from mixseek.analysis.workspace.kept_headline import KeptHeadline
from mixseek.domain import counts
from mixseek.domain.documents import DocumentName, schema_id
from mixseek.domain.scored_details import document_of
from mixseek.presentation.pictures import Series, Step
from mixseek.presentation.sections import QUIET, Cell, Head, Section, TableRows, Words, notes, number_head
from mixseek.reports.accounts import known_cost_text
from mixseek.reports.headline import headline_interval_text, headline_mean_text, score_document
from mixseek.reports.wording.names import moment_text, state_text
from mixseek.reports.wording.numbers import NOTHING, percent
from mixseek.text.messages import message


def runs_document(lines: Sequence[run_list.RunLine]) -> dict[str, Any]:
    return {"schema": schema_id(DocumentName.RUNS), "runs": [run_document(line) for line in lines]}


def run_document(line: run_list.RunLine) -> dict[str, Any]:
    """`headline` is of samples, each with one verdict; `mean_score` is null for a panel, whose judges differ."""
    keys = {"run_id": "run", "mean": "mean_score", "is_sealed": "sealed", "is_running": "running"}
    document = document_of(replace(line, headline=None), dataset_digest="dataset_sha256", **keys)
    return document | {"headline": None if line.headline is None else kept_headline_document(line.headline)}


def kept_headline_document(kept: KeptHeadline) -> dict[str, Any]:
    """The headline in short; `cost_usd` is the known part, and null where no call has a known price."""
    is_cost_known = kept.calls > kept.unpriced
    return {
        "rule": kept.rule.value if kept.rule else None,
        "maximum": kept.maximum,
        **score_document(kept.score),
        "column": kept.column,
        "groups": kept.groups,
        "leading": [leading_document(group) for group in kept.leading],
        "calls": kept.calls,
        "unpriced_calls": kept.unpriced,
        "cost_usd": float(kept.cost_usd) if is_cost_known else None,
    }


COUNTS = ("valid", "undecided", "invalid", "missing")


def leading_document(group: GroupSummary) -> dict[str, Any]:
    """A mean with its ends; a report of the run has the rest."""
    interval = group.score.interval
    ends = {"low": interval.low if interval else None, "high": interval.high if interval else None}
    return {"name": group.name, "mean_score": group.score.mean, **ends}


# What stands for a word where there is little room.
_SHORT = {"undecided": "und.", "invalid": "inv.", "missing": "mis.", "unverified": "unv.", "reasoning": "reas."}
_WORDS = {
    "unverified": message("word.unverified", "unverified"),
    "reasoning": message("head.reasoning", "reasoning"),
}
SHORT_COUNTS = tuple(f">{_SHORT.get(name, name)}" for name in COUNTS)
_WIDE = 110


def count_head(name: str) -> Head:
    """Above a column of counts."""
    return Head(number_head(_WORDS.get(name) or state_text(name)), f">{_SHORT.get(name, name)}")


def run_list_sections(runs: Sequence[run_list.RunLine]) -> Iterator[Section]:
    if not runs:
        yield Section(None, notes(["No runs in this workspace yet; start one with `mixseek judge`."]))
        return
    # With room, the run's name stays whole, because it is what is typed next; datasets and judges give way.
    heads = (Head("|run", "run"), Head("|protocol"), Head(None, "|protocol"), Head("dataset"), Head("judges"))
    interval = Head(number_head(message("word.interval_95", "95% interval")))
    rows = [list(_run_cells(run)) for run in runs]
    columns: tuple[str | Head, ...] = (*heads, ">score", interval, *SHORT_COUNTS, ">cost", Head("|started"))
    yield Section(None, [TableRows(columns, rows, wide=_WIDE), *notes(_total_cost(runs))])


def _total_cost(runs: Sequence[run_list.RunLine]) -> list[str]:
    """The sum of the workspace, where anybody was paid."""
    counted = [run.headline for run in runs if run.headline is not None and run.headline.calls]
    if not counted:
        return []
    calls, unpriced = sum(kept.calls for kept in counted), sum(kept.unpriced for kept in counted)
    total = sum((kept.cost_usd for kept in counted), Decimal(0))
    return [f"All runs: {known_cost_text(calls, unpriced, total)}; `mixseek runs --cost` says more."]


def _run_cells(run: run_list.RunLine) -> Iterator[Cell]:
    pieces: list[str | tuple[str, str]] = [run.run_id]
    if not run.is_sealed:
        pieces.append((" (running)" if run.is_running else " (interrupted, resumable)", "yellow"))
    if run.problem is not None:
        pieces.append((" (not counted)" if run.counts is None else " (counted earlier)", "yellow"))
    yield Words(pieces)
    yield from (f"{run.protocol} {run.protocol_hash[:8]}", run.protocol, run.dataset, ", ".join(run.judges))
    if run.headline is None:
        yield from (NOTHING if run.mean is None else percent(run.mean), NOTHING)
    else:
        score, maximum = run.headline.score, run.headline.maximum
        yield from (headline_mean_text(score, maximum), headline_interval_text(score, maximum))
    yield from count_cells(run.counts)
    kept = run.headline
    yield NOTHING if kept is None else known_cost_text(kept.calls, kept.unpriced, kept.cost_usd)
    yield moment_text(run.started_at) or NOTHING, QUIET


def count_cells(counts: counts.StatusCounts | None) -> list[str]:
    return [NOTHING if counts is None else f"{getattr(counts, name):,}" for name in COUNTS]


# Runs of a trend that are shown; of the earlier ones the line says how many there are.
_TREND_RUNS = 12


def run_place(name: str) -> str:
    """What a page calls the line of a run, as an address has it."""
    return f"run-{quote(name, safe='')}"


def trend_sections(runs: Sequence[run_list.RunLine]) -> Iterator[Section]:
    """Runs over one dataset under one protocol in the order of time, wherever there are several.

    Which response of a pair is A is chance, so how often A was preferred is no trend.
    """
    trends: dict[tuple[str, str], list[tuple[run_list.RunLine, KeptHeadline]]] = {}
    # The newest run comes first in a list, and last in a trend.
    for run in reversed(runs):
        kept = run.headline
        if kept is not None and kept.score.mean is not None and not kept.is_preference:
            trends.setdefault((run.protocol_hash, run.dataset_digest or run.dataset), []).append((run, kept))
    rows: list[Sequence[Cell]] = []
    for counted_runs in sorted(trends.values(), key=lambda trend: trend[-1][0].started_at or "", reverse=True):
        if len(counted_runs) > 1:
            newest, _ = counted_runs[-1]
            steps = [_trend_step(run, headline) for run, headline in counted_runs[-_TREND_RUNS:]]
            protocol = f"{newest.protocol} {newest.protocol_hash[:8]}"
            rows.append((newest.dataset, protocol, f"{len(counted_runs):,}", Series(steps, is_drawn=True)))
    heads = (
        message("head.dataset", "dataset"),
        message("head.protocol", "protocol"),
        number_head(message("head.runs", "runs")),
        message("head.trend", "oldest to newest"),
    )
    label = message("runs.trends", "One dataset, run after run")
    has_several_judges = any(len({run.judges for run, _ in trend}) > 1 for trend in trends.values() if len(trend) > 1)
    theirs = message("runs.judges_differ", "Where the judges of these runs differ, a difference may be theirs.")
    remarks = notes([theirs] if has_several_judges else [])
    yield Section(label, [TableRows(heads, rows, name="trends", label=label), *remarks], name="trends")


def _trend_step(run: run_list.RunLine, headline: KeptHeadline) -> Step:
    """The mean of one run; who points at it is told the run and when it began."""
    when = moment_text(run.started_at)
    label = f"{run.run_id} · {when}" if when else run.run_id
    text = headline_mean_text(headline.score, headline.maximum)
    return Step(label, headline.score.mean, text, place=run_place(run.run_id))

"""Questions down; targets, variants, judges or runs across: the pages of a matrix and the endpoints that they ask."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from aiohttp import web

from mixseek.analysis.run.build import natural_key
from mixseek.index.listing import ListQuery
from mixseek.index.matrix import (
    ACROSS,
    ACROSS_RUNS,
    ORDERS,
    SHOWN,
    FoundPlaces,
    MatrixCell,
    MatrixPage,
    MatrixQuery,
    MatrixRow,
    RunsMatrix,
)
from mixseek.index.run import RunIndex, open_run_index
from mixseek.lazy_dataclass import dataclass
from mixseek.reports.pages.html import inert_json
from mixseek.storage.journal.manifest import read_manifest
from mixseek.storage.journal.tail import JudgmentSearch
from mixseek.storage.workspace import RunDirectory
from mixseek.web.answers import answer_json, answer_page, answer_pending, run_of, viewer_of
from mixseek.web.parameters import ParameterError, read_filters, read_number
from mixseek.web.slow_work import Pending
from mixseek.web.viewed import ViewedRun
from mixseek.web.viewer import Viewer

# Questions on a page, and the most that a program may ask for at once.
_PAGE_ROWS, _MOST_ROWS = 100, 500
_MOST_COLUMNS = 200
_FEWEST_RUNS, _MOST_RUNS = 2, 8
# Of a question, what stands beside its name.
_GIST_CHARACTERS = 160
# By the run, where there are several, and the place of a sample in its journal.
Gists = dict[tuple[str | None, int], str]


@dataclass(frozen=True, slots=True)
class MatrixRequest:
    """What a page of a matrix asks for; as in its address."""

    query: MatrixQuery
    offset: int
    limit: int
    row: str = ""  # a question that the page is to hold
    words: str = ""  # what a question is searched by


@dataclass(frozen=True, slots=True)
class Columns:
    """What can stand across, what does, and in which order: names before a reader by what the judgments say."""

    choices: Sequence[str]
    order: Sequence[str]
    names: Mapping[str, str]


def read_matrix_request(asked: Mapping[str, str], choices: Sequence[str]) -> MatrixRequest:
    """Reads the parameters of an address; raises ParameterError for what has no meaning."""
    across = asked.get("across") or choices[0]
    allowed = (
        ("across", across, choices),
        ("filter", asked.get("filter", ""), SHOWN),
        ("sort", asked.get("sort", ""), ORDERS),
    )
    for name, value, values in allowed:
        if value not in values:
            raise ParameterError(f"{name}={value}: there is {', '.join(filter(None, values))}")
    narrowed = ListQuery(read_filters(asked))
    return MatrixRequest(
        MatrixQuery(across, asked.get("filter", ""), asked.get("sort", ""), narrowed),
        read_number(asked, "offset", 0, 10**12),
        read_number(asked, "limit", _PAGE_ROWS, _MOST_ROWS, least=1),
        asked.get("row", ""),
        asked.get("q", "").strip(),
    )


def columns_of(viewed: ViewedRun) -> Columns:
    """The columns of one run are whatever its judgments differ in, first of all its targets."""
    judgments = viewed.judgments
    offered = {*judgments.choices, *(["target"] if viewed.matrix.is_paired() else [])}
    differing = [name for name in ACROSS if name in offered]
    return Columns(differing or ["judge"], list(viewed.manifest.judge_names), viewed.labels)


def places_found(searches: Mapping[str, JudgmentSearch]) -> dict[str, FoundPlaces] | Pending:
    """What the searches have found in each run, by its name; or how far they have come."""
    samples = sum(search.samples for search in searches.values())
    searched = sum(search.searched for search in searches.values())
    if searched < samples:
        return Pending(0.0, searched, samples)
    return {
        run: FoundPlaces(
            search.texts.bits(search.samples), search.written.bits(search.outcomes) if search.written else "0"
        )
        for run, search in searches.items()
    }


def run_matrix_document(viewed: ViewedRun, asked: Mapping[str, str]) -> dict[str, Any] | Pending:
    """A page of the matrix of one run; each question with the beginning of its text."""
    columns = columns_of(viewed)
    request = read_matrix_request(asked, ACROSS if asked.get("across") in ACROSS else columns.choices)
    places = places_found({"": viewed.find(request.words)}) if request.words else None
    if isinstance(places, Pending):
        return places
    query = replace(request.query, found=places)
    page = viewed.matrix.page(query, request.offset, request.limit, request.row)
    with viewed.judgments.session():
        gists = gists_of(viewed.judgments.index, page.rows)
    narrowing = {name: viewed.judgments.choices.get(name, []) for name in (*ACROSS, "task")}
    document = matrix_document(page, request, columns, gists)
    offered = {name: values for name, values in narrowing.items() if values}
    return {"run": viewed.run.name, "labels": dict(columns.names), **document, "narrowing": offered}


def runs_matrix_document(
    viewer: Viewer, runs: Sequence[RunDirectory], matrix: RunsMatrix, asked: MatrixRequest
) -> dict[str, Any] | Pending:
    """A page of the matrix of several runs; texts are those of the run that comes to a question first."""
    names = [run.name for run in runs]
    places = None
    if asked.words:
        searches = {run.name: viewer.searches(run).find(asked.words, (), *matrix.ends[run.name]) for run in runs}
        places = places_found(searches)
    if isinstance(places, Pending):
        return places
    page = matrix.page(replace(asked.query, found=places), asked.offset, asked.limit, asked.row)
    gists: Gists = {}
    for run in runs:
        rows = [row for row in page.rows if row.run == run.name]
        if rows:
            with open_run_index(viewer.workspace, run) as index:
                gists |= gists_of(index, rows)
    document = matrix_document(page, asked, Columns([ACROSS_RUNS], names, {}), gists)
    offered = {name: values for name, values in matrix.choices.items() if len(values) > 1}
    return {"runs": names, "labels": matrix.labels, **document, "narrowing": offered}


def gists_of(index: RunIndex, rows: Sequence[MatrixRow]) -> Gists:
    """The beginning of what is asked."""
    questions = index.read_questions([row.first for row in rows])
    return {(row.run, row.first): question[:_GIST_CHARACTERS] for row, question in zip(rows, questions, strict=True)}


def matrix_document(page: MatrixPage, request: MatrixRequest, columns: Columns, gists: Gists) -> dict[str, Any]:
    """A page of a matrix as the scripts of a report have it, too."""
    query = request.query
    rank = {name: place for place, name in enumerate(columns.order)}
    # What no sample names comes last.
    places = sorted(
        page.places, key=lambda place: (place is None, rank.get(place or "", len(rank)), natural_key(place or ""))
    )
    shown = places[:_MOST_COLUMNS]
    counts = page.counts
    return {
        "across": query.across,
        "choices": list(columns.choices),
        "columns": [{"value": place, "name": columns.names.get(place or "", place)} for place in shown],
        "columns_total": len(places),
        "filter": query.shown,
        "sort": query.sort,
        "counts": {name or "all": getattr(counts, name or "all") for name in SHOWN},
        "is_graded": counts.is_graded,
        "is_paired": page.is_paired,
        "offset": page.offset,
        **({"place": page.place} if request.row else {}),
        "matches": page.matches,
        "rows": [
            {
                "question": row.question,
                "id": row.sample_id,
                "gist": gists[row.run, row.first],
                "cells": [_cell_document(row.cells.get(place)) for place in shown],
            }
            for row in page.rows
        ],
    }


def _cell_document(cell: MatrixCell | None) -> dict[str, Any] | None:
    """A mean of nought is a mean, so it stays; counts of nought go."""
    if cell is None:
        return None
    counts = {"right": cell.right, "undecided": cell.undecided, "invalid": cell.invalid, "missing": cell.missing}
    more = {**counts, "controls": cell.controls, "cut_off": cell.is_cut_off, "verdict": cell.verdict}
    return {"valid": cell.valid, "mean": cell.mean, **{k: v for k, v in more.items() if v}}


async def run_matrix(request: web.Request) -> web.Response:
    """A page of questions with a cell for each target, variant or judge of a run."""
    viewed = await viewer_of(request).judgments(run_of(request))
    if isinstance(viewed, Pending):
        return answer_pending(viewed)
    document = await asyncio.to_thread(run_matrix_document, viewed, request.query)
    return answer_pending(document) if isinstance(document, Pending) else answer_json(document)


async def runs_matrix(request: web.Request) -> web.Response:
    """A page of questions with a cell for each of several runs."""
    runs = compared_runs(request)
    asked = read_matrix_request(request.query, [ACROSS_RUNS])
    matrix = await viewer_of(request).matrix(runs)
    if isinstance(matrix, Pending):
        return answer_pending(matrix)
    document = await asyncio.to_thread(runs_matrix_document, viewer_of(request), runs, matrix, asked)
    return answer_pending(document) if isinstance(document, Pending) else answer_json(document)


def compared_runs(request: web.Request) -> list[RunDirectory]:
    """The runs that the address names, each once; raises ParameterError where those are too few or too many."""
    names = list(dict.fromkeys(filter(None, request.query.getall("run", []))))
    if not _FEWEST_RUNS <= len(names) <= _MOST_RUNS:
        raise ParameterError(
            f"a matrix of runs has {_FEWEST_RUNS} to {_MOST_RUNS} of them; name each as run=NAME ({len(names)} named)"
        )
    return [viewer_of(request).find_run(name) for name in names]


async def run_matrix_page(request: web.Request) -> web.Response:
    """The matrix of one run."""
    return _matrix_page(request, [run_of(request)])


async def runs_matrix_page(request: web.Request) -> web.Response:
    """Several runs on the same questions, side by side."""
    return _matrix_page(request, compared_runs(request))


def _matrix_page(request: web.Request, runs: Sequence[RunDirectory]) -> web.Response:
    manifest = read_manifest(runs[0].manifest)
    facts = {"run": runs[0].name, "judges": list(manifest.judge_names), "labels": {}, "dimensions": []}
    names = [run.name for run in runs]
    payload = {**facts, "repeats": manifest.repeats, "samples": [], "rows": [], "runs": names}
    return answer_page(request, "matrix_page.html.j2", data=inert_json(payload), run_names=names)

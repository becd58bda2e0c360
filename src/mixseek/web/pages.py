"""The pages; what they need at once is in them, the rest they ask for through the documented endpoints."""

import asyncio
from pathlib import Path
from urllib.parse import quote, urlencode

from aiohttp import web

from mixseek.analysis.run.summarise import run_header
from mixseek.comparison.compare import LISTED, CompareRequest
from mixseek.comparison.views.page import comparison_context
from mixseek.competition.boards import load_leader_board
from mixseek.competition.views.page import leader_board_context
from mixseek.datasets.answer_runs import PREFIX
from mixseek.domain.rounds import ExecutionStatus
from mixseek.errors import ConfigurationError
from mixseek.reports.pages.html import inert_json, manifest_entries, report_context
from mixseek.runs.answers.kept import find_answers
from mixseek.storage.journal.manifest import Manifest, read_manifest
from mixseek.storage.workspace import RunDirectory, Workspace
from mixseek.text.messages import message
from mixseek.web.answers import answer_page, run_of, served_asset, viewer_of
from mixseek.web.board import board_context
from mixseek.web.parameters import ParameterError, read_name, read_number
from mixseek.web.slow_work import Pending
from mixseek.web.viewed import list_workspace

# Pairs before this are held in memory to find the next ones.
_LAST_START = 1_000_000
LONGEST_JOURNAL = 10**15
_KINDS = {".css": "text/css", ".js": "text/javascript"}


def address_of(root: Path, name: str | None) -> str:
    """Where the page of a run or of answers stands; raises ConfigurationError for a name of neither."""
    if name is None:
        return "/"
    workspace = Workspace(root)
    answers = find_answers(workspace, name)
    room, run = ("runs", workspace.resolve(name)) if answers is None else ("answers", answers)
    return f"/{room}/{quote(run.name, safe='')}"


async def home_page(request: web.Request) -> web.Response:
    """Runs and competitions; what nobody has counted yet is counted from now on, and appears."""
    viewer = viewer_of(request)
    listed = await asyncio.to_thread(list_workspace, viewer.root)
    viewer.count_headlines(listed.runs, listed.answers)
    return answer_page(request, "home.html.j2", **board_context(listed))


async def run_page(request: web.Request) -> web.Response:
    """A run: its numbers as in the report, when they are counted, and its judgments."""
    directory = run_of(request)
    manifest = read_manifest(directory.manifest)
    report = await viewer_of(request).report(directory)
    facts = {"run": directory.name, "judges": list(manifest.judge_names), "labels": {}, "dimensions": []}
    payload = {**facts, "repeats": manifest.repeats, "samples": [], "rows": []}
    is_pending = isinstance(report, Pending)
    counted_at = None if isinstance(report, Pending) else report.at
    context = {"report": None, "run": run_header(manifest), "manifest": manifest_entries({})}
    return answer_page(
        request,
        "run.html.j2",
        data=inert_json(payload),
        is_pending=is_pending,
        has_ended=manifest.has_ended,
        answers_name=answers_read(viewer_of(request).workspace, manifest),
        counted_at=counted_at,
        outcome_buttons=(),
        **(context if isinstance(report, Pending) else report_context(report.data)),
    )


def answers_read(workspace: Workspace, manifest: Manifest) -> str | None:
    """The answer run that a run has judged, as long as it is there; None for any other dataset."""
    path = str(manifest.dataset.get("path", ""))
    name = path.removeprefix(PREFIX)
    if path == name:
        return None
    try:
        return name if workspace.answers(name).exists() else None
    except ConfigurationError:
        # A manifest may say anything.
        return None


async def sample_page(request: web.Request) -> web.Response:
    """One sample under every judge, side by side."""
    directory, name = run_of(request), read_name(request.query, "id", "a sample by its id")
    viewed = await viewer_of(request).judgments(directory)
    if isinstance(viewed, Pending):
        return answer_page(request, "pending.html.j2", status=202, what=directory.name)
    payload = await asyncio.to_thread(viewed.sample, name)
    return answer_page(
        request, "sample.html.j2", data=inert_json(payload), run_name=directory.name, sample=payload["samples"][0]
    )


async def compare_page(request: web.Request) -> web.Response:
    """B against A; without names, a form to choose them."""
    runs, asked = compare_request(request)
    start = read_number(request.query, "start", 0, _LAST_START)
    if not runs and not (asked.targets or asked.variants):
        listed = await asyncio.to_thread(list_workspace, viewer_of(request).root)
        return answer_page(request, "choose.html.j2", **board_context(listed))
    refuse_one_side(asked)
    comparison = await viewer_of(request).comparison(runs, asked, start)
    if isinstance(comparison, Pending):
        return answer_page(request, "pending.html.j2", status=202, what=" ↔ ".join(run.name for run in runs))
    context = await asyncio.to_thread(comparison_context, *comparison)
    longest = max(count for _, _, count, _, _ in context["kinds"])
    earlier, later = message("report.earlier_page", "Earlier page"), message("report.next_page", "Next page")
    starts = [(earlier, start - LISTED), (later, start + LISTED)]
    # By the query alone: before a proxy, the path is another one.
    address = request.rel_url.update_query
    turns = [(words, f"?{address(start=at).raw_query_string}") for words, at in starts if 0 <= at < longest]
    names = dict.fromkeys(run.name for run in runs)
    runs_across = urlencode([("run", name) for name in names]) if len(names) > 1 else ""
    return answer_page(
        request, "compare.html.j2", turns=turns, start=start, listed=LISTED, runs_across=runs_across, **context
    )


def compare_request(request: web.Request) -> tuple[list[RunDirectory], CompareRequest]:
    """`a` and `b` are runs; `target` or `variant`, given twice, tell the sides apart."""
    query, viewer = request.query, viewer_of(request)
    runs = [viewer.find_run(name) for name in (query.get("a"), query.get("b")) if name]
    targets, variants = (tuple(filter(None, query.getall(name, []))) for name in ("target", "variant"))
    return runs, CompareRequest(viewer.root, tuple(runs), targets, variants)


def refuse_one_side(asked: CompareRequest) -> None:
    """Raises ParameterError where nothing tells A from B, or more than two sides are named."""
    sides = len(asked.runs), len(asked.targets), len(asked.variants)
    if not asked.runs or max(sides) < 2:
        raise ParameterError(
            "a comparison has two sides: name two runs, a=RUN&b=RUN, or two targets or variants of one"
        )
    for name, names in (("target", asked.targets), ("variant", asked.variants)):
        if len(names) > 2:
            raise ParameterError(f"{name}={names[2]}: a comparison has two sides, and this is the third {name}")


async def competition_page(request: web.Request) -> web.Response:
    """A leader board with its rounds; a running one looks for news."""
    name = request.match_info["execution"]
    board = await asyncio.to_thread(load_leader_board, viewer_of(request).root, name)
    if board.execution_id != name:
        raise ConfigurationError(f"no competition {name!r}; write its whole name")
    is_running = board.status is ExecutionStatus.RUNNING
    context = await asyncio.to_thread(leader_board_context, board)
    return answer_page(request, "competition.html.j2", is_running=is_running, **context)


async def asset(request: web.Request) -> web.Response:
    """Styles and scripts, from a closed list: no path is ever made of a request."""
    name = request.match_info["name"]
    text = served_asset(name)
    if text is None:
        raise web.HTTPNotFound
    return web.Response(text=text, content_type=_KINDS[name[name.rindex(".") :]], charset="utf-8")

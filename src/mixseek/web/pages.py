"""The pages; what they need at once is in them, the rest they ask for through the documented endpoints."""

from aiohttp import web

from mixseek.composition.compare import LISTED, CompareRequest
from mixseek.composition.competitions.leaderboards import load_leader_board
from mixseek.composition.summary import run_header
from mixseek.composition.viewing import list_workspace, read_number
from mixseek.domain.rounds import ExecutionStatus
from mixseek.errors import ConfigurationError
from mixseek.reporting.comparison_page import comparison_context
from mixseek.reporting.html import inert_json, manifest_entries, report_context
from mixseek.reporting.leaderboard import leader_board_context
from mixseek.storage.journal.manifest import read_manifest
from mixseek.storage.workspace import RunDirectory
from mixseek.web.viewer import Pending, answer_page, in_thread, run_of, served_asset, viewer_of

# Pairs before this are held in memory to find the next ones.
_LAST_START = 1_000_000
_KINDS = {".css": "text/css", ".js": "text/javascript"}


async def home(request: web.Request) -> web.Response:
    """Runs and competitions."""
    listed = await in_thread(list_workspace, viewer_of(request).root)
    return answer_page(request, "home.html.j2", **listed)


async def run(request: web.Request) -> web.Response:
    """A run: its numbers as in the report, when they are counted, and its judgments."""
    directory = run_of(request)
    manifest = read_manifest(directory.manifest)
    report = await viewer_of(request).report(directory)
    facts = {"run": directory.name, "judges": list(manifest.judge_names), "labels": {}, "dimensions": []}
    payload = {**facts, "repeats": manifest.repeats, "samples": [], "rows": []}
    is_pending = isinstance(report, Pending)
    context = {"report": None, "run": run_header(manifest), "manifest": manifest_entries({})}
    return answer_page(
        request,
        "run.html.j2",
        data=inert_json(payload),
        is_pending=is_pending,
        has_ended=manifest.has_ended,
        outcome_buttons=(),
        **(context if isinstance(report, Pending) else report_context(report)),
    )


async def sample(request: web.Request) -> web.Response:
    """One sample under every judge, side by side."""
    directory = run_of(request)
    viewed = await viewer_of(request).judgments(directory)
    if isinstance(viewed, Pending):
        return answer_page(request, "pending.html.j2", status=202, what=directory.name)
    payload = await in_thread(viewed.sample, request.query.get("id", ""))
    return answer_page(
        request, "sample.html.j2", data=inert_json(payload), run_name=directory.name, sample=payload["samples"][0]
    )


async def compare(request: web.Request) -> web.Response:
    """B against A; without names, a form to choose them."""
    runs, asked = compare_request(request)
    if not runs:
        listed = await in_thread(list_workspace, viewer_of(request).root)
        return answer_page(request, "choose.html.j2", **listed)
    start = read_number(request.query, "start", 0, _LAST_START)
    found = await viewer_of(request).comparison(runs, asked, start)
    if isinstance(found, Pending):
        return answer_page(request, "pending.html.j2", status=202, what=" ↔ ".join(run.name for run in runs))
    context = await in_thread(comparison_context, *found)
    longest = max(count for _, _, count, _, _ in context["kinds"])
    starts = [("Earlier page", start - LISTED), ("Next page", start + LISTED)]
    turns = [(words, request.rel_url.update_query(start=at)) for words, at in starts if 0 <= at < longest]
    return answer_page(request, "compare.html.j2", turns=turns, start=start, listed=LISTED, **context)


def compare_request(request: web.Request) -> tuple[list[RunDirectory], CompareRequest]:
    """`a` and `b` are runs; `target` or `variant`, given twice, tell the sides apart."""
    query, viewer = request.query, viewer_of(request)
    runs = [viewer.find_run(name) for name in (query.get("a"), query.get("b")) if name]
    targets, variants = (tuple(filter(None, query.getall(name, []))) for name in ("target", "variant"))
    return runs, CompareRequest(viewer.root, tuple(runs), targets, variants)


async def competition(request: web.Request) -> web.Response:
    """A leader board with its rounds; a running one looks for news."""
    name = request.match_info["execution"]
    board = await in_thread(load_leader_board, viewer_of(request).root, name)
    if board.execution_id != name:
        raise ConfigurationError(f"no competition {name!r}; write its whole name")
    is_running = board.status is ExecutionStatus.RUNNING
    context = await in_thread(leader_board_context, board)
    return answer_page(request, "competition.html.j2", is_running=is_running, **context)


async def asset(request: web.Request) -> web.Response:
    """Styles and scripts, from a closed list: no path is ever made of a request."""
    name = request.match_info["name"]
    text = served_asset(name)
    if text is None:
        raise web.HTTPNotFound
    return web.Response(text=text, content_type=_KINDS[name[name.rindex(".") :]], charset="utf-8")

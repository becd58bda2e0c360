"""`mixseek view`: what can be asked for, page by page and endpoint by endpoint, and the server from start to stop."""

import asyncio
import contextlib
import socket
import tempfile
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode

import orjson
from aiohttp import web
from aiohttp.web_protocol import RequestHandler

from mixseek.composition.race import load_leader_board
from mixseek.composition.results.compare import LISTED, CompareRequest
from mixseek.composition.results.viewed import expected_judgments, list_workspace, read_list_request, read_number
from mixseek.composition.reviewing import MOST_LISTED, GivenLabel, NewDraw, Retraction, ReviewedRun, read_body
from mixseek.composition.sheets import check_rater
from mixseek.composition.summary import run_header
from mixseek.domain.rounds import ExecutionStatus
from mixseek.engine.stop_signals import stop_signals
from mixseek.errors import ConfigurationError, MixseekError
from mixseek.reporting.comparison import comparison_document
from mixseek.reporting.documents import report_document
from mixseek.reporting.leaderboard import leader_board_document
from mixseek.reporting.pages.comparison import comparison_context
from mixseek.reporting.pages.html import inert_json, manifest_entries, report_context
from mixseek.reporting.pages.leaderboard import leader_board_context
from mixseek.storage.journal.records import read_manifest
from mixseek.storage.workspace import RunDirectory
from mixseek.web.connections import SILENT_SECONDS, SilentConnections, read_body_bytes
from mixseek.web.security import Access, Handler, add_headers, guard, is_every_address
from mixseek.web.viewer import (
    VIEWER,
    Page,
    Pending,
    Viewer,
    answer_json,
    answer_page,
    answer_pending,
    language_of,
    run_of,
    served_asset,
    viewer_of,
    warm_templates,
)

# The pages; what they need at once is in them, the rest they ask for through the documented endpoints.

# Pairs before this are held in memory to find the next ones.
_LAST_START = 1_000_000
_LONGEST_JOURNAL = 10**15
_KINDS = {".css": "text/css", ".js": "text/javascript"}


async def home_page(request: web.Request) -> web.Response:
    """Runs and competitions."""
    listed = await asyncio.to_thread(list_workspace, viewer_of(request).root)
    return answer_page(request, "home.html.j2", **listed)


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
        counted_at=counted_at,
        outcome_buttons=(),
        **(context if isinstance(report, Pending) else report_context(report.data)),
    )


async def sample_page(request: web.Request) -> web.Response:
    """One sample under every judge, side by side."""
    directory = run_of(request)
    viewed = await viewer_of(request).judgments(directory)
    if isinstance(viewed, Pending):
        return answer_page(request, "pending.html.j2", status=202, what=directory.name)
    payload = await asyncio.to_thread(viewed.sample, request.query.get("id", ""))
    return answer_page(
        request, "sample.html.j2", data=inert_json(payload), run_name=directory.name, sample=payload["samples"][0]
    )


async def compare_page(request: web.Request) -> web.Response:
    """B against A; without names, a form to choose them."""
    runs, asked = compare_request(request)
    if not runs:
        listed = await asyncio.to_thread(list_workspace, viewer_of(request).root)
        return answer_page(request, "choose.html.j2", **listed)
    start = read_number(request.query, "start", 0, _LAST_START)
    found = await viewer_of(request).comparison(runs, asked, start)
    if isinstance(found, Pending):
        return answer_page(request, "pending.html.j2", status=202, what=" ↔ ".join(run.name for run in runs))
    context = await asyncio.to_thread(comparison_context, *found)
    longest = max(count for _, _, count, _, _ in context["kinds"])
    starts = [("Earlier page", start - LISTED), ("Next page", start + LISTED)]
    # By the query alone: before a proxy, the path is another one.
    address = request.rel_url.update_query
    turns = [(words, f"?{address(start=at).raw_query_string}") for words, at in starts if 0 <= at < longest]
    return answer_page(request, "compare.html.j2", turns=turns, start=start, listed=LISTED, **context)


def compare_request(request: web.Request) -> tuple[list[RunDirectory], CompareRequest]:
    """`a` and `b` are runs; `target` or `variant`, given twice, tell the sides apart."""
    query, viewer = request.query, viewer_of(request)
    runs = [viewer.find_run(name) for name in (query.get("a"), query.get("b")) if name]
    targets, variants = (tuple(filter(None, query.getall(name, []))) for name in ("target", "variant"))
    return runs, CompareRequest(viewer.root, tuple(runs), targets, variants)


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


# The JSON endpoints that the pages use themselves; docs/view.md describes each of them.

_EVENT_SECONDS = 1.0


async def workspace(request: web.Request) -> web.Response:
    """Runs and competitions with their state."""
    return answer_json(await asyncio.to_thread(list_workspace, viewer_of(request).root))


async def run(request: web.Request) -> web.Response:
    """The numbers of a run, as `mixseek report --json` prints them."""
    report = await viewer_of(request).report(run_of(request))
    return answer_pending(report) if isinstance(report, Pending) else answer_json(report_document(report.data, None))


async def judgments(request: web.Request) -> web.Response:
    """A page of judgments, filtered, searched and sorted."""
    asked = read_list_request(request.query)
    # What a live page has just shown is asked for by how long the journal was then.
    as_of = read_number(request.query, "as_of", 0, _LONGEST_JOURNAL)
    viewed = await viewer_of(request).judgments(run_of(request), as_of)
    return (
        answer_pending(viewed)
        if isinstance(viewed, Pending)
        else answer_json(await asyncio.to_thread(viewed.page, asked))
    )


async def choices(request: web.Request) -> web.Response:
    """What the judgments can be filtered by."""
    viewed = await viewer_of(request).judgments(run_of(request))
    return (
        answer_pending(viewed) if isinstance(viewed, Pending) else answer_json(await asyncio.to_thread(viewed.choices))
    )


async def sample(request: web.Request) -> web.Response:
    """One sample under every judge, with every reply."""
    viewed = await viewer_of(request).judgments(run_of(request))
    if isinstance(viewed, Pending):
        return answer_pending(viewed)
    return answer_json(await asyncio.to_thread(viewed.sample, request.query.get("id", "")))


async def prompt(request: web.Request) -> web.Response:
    """What a judge was shown of a sample."""
    viewer = viewer_of(request)
    viewed = await viewer.judgments(run_of(request))
    if isinstance(viewed, Pending):
        return answer_pending(viewed)
    names = request.query.get("id", ""), request.query.get("judge", "")
    return answer_json(await asyncio.to_thread(viewed.prompt, viewer.root, *names))


async def live(request: web.Request) -> web.StreamResponse:
    """A run as it grows: an event a second until it ends."""
    directory = run_of(request)
    expected = expected_judgments(read_manifest(directory.manifest))
    tail = viewer_of(request).tail(directory)
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    while True:
        told = {**await asyncio.to_thread(tail.look), "expected": expected}
        name = b"progress" if told["is_running"] or told["is_behind"] else b"end"
        await response.write(b"event: " + name + b"\ndata: " + orjson.dumps(told) + b"\n\n")
        if name == b"end":
            return response
        await asyncio.sleep(0.05 if told["is_behind"] else _EVENT_SECONDS)


async def compare(request: web.Request) -> web.Response:
    """B against A, as `mixseek compare --json` prints it."""
    found = await viewer_of(request).comparison(*compare_request(request))
    return answer_pending(found) if isinstance(found, Pending) else answer_json(comparison_document(found[0]))


async def competition(request: web.Request) -> web.Response:
    """A leader board, as `mixseek leaderboard --json` prints it."""
    board = await asyncio.to_thread(load_leader_board, viewer_of(request).root, request.match_info["execution"])
    return answer_json(leader_board_document(board))


# The page on which people label, and its endpoints; docs/review.md describes each of them.

# What the scripts of a judgment know before there is one.
_NOTHING = {"run": "", "judges": [], "labels": {}, "dimensions": [], "repeats": 1, "samples": [], "rows": []}


async def review_page(request: web.Request) -> web.Response:
    """Queues, or one of them to work through; everything in it comes from the endpoints below."""
    run = run_of(request)
    data = inert_json({**_NOTHING, "run": run.name})
    return answer_page(request, "review.html.j2", run_name=run.name, data=data)


async def answer_reviewed(request: web.Request, ask: Callable[[ReviewedRun], dict[str, Any]]) -> web.Response:
    """What the run under review says, once it can be read."""
    reviewed = await viewer_of(request).reviewed(run_of(request))
    if isinstance(reviewed, Pending):
        return answer_pending(reviewed)
    return answer_json(await asyncio.to_thread(ask, reviewed))


async def review_overview(request: web.Request) -> web.Response:
    """Every queue, and how far the rater has come."""
    return await answer_reviewed(request, lambda reviewed: reviewed.overview(request.query.get("rater", "")))


async def review_queue(request: web.Request) -> web.Response:
    """The texts of one queue, in its order."""
    name, rater = request.query.get("queue", ""), request.query.get("rater", "")
    samples = None
    if name.startswith("filter:"):
        asked = read_list_request(dict(parse_qsl(name.removeprefix("filter:"))))
        viewed = await viewer_of(request).judgments(run_of(request))
        if isinstance(viewed, Pending):
            return answer_pending(viewed)
        samples = await asyncio.to_thread(viewed.sample_positions, asked, MOST_LISTED)
        if samples is None:
            return answer_pending(Pending(0.0))
    return await answer_reviewed(request, lambda reviewed: reviewed.queue(name, rater, samples))


async def review_item(request: web.Request) -> web.Response:
    """One text; what judges and others said of it only when the rater has."""
    query, language = request.query, language_of(request)
    names = query.get("queue", ""), query.get("text", ""), query.get("rater", "")
    is_open = query.get("open") == "yes"
    return await answer_reviewed(request, lambda reviewed: reviewed.item(*names, language, is_open=is_open))


async def review_numbers(request: web.Request) -> web.Response:
    """The corrected headline, and how many labels are still needed."""
    text = request.query.get("width", "0.05")
    try:
        half_width = float(text)
    except ValueError as error:
        raise ConfigurationError(f"width={text}: not a number; give 0.05 for plus or minus 5 points") from error
    viewer = viewer_of(request)
    reviewed = await viewer.reviewed(run_of(request))
    if isinstance(reviewed, Pending):
        return answer_pending(reviewed)
    found = await viewer.review_numbers(reviewed, half_width)
    return answer_pending(found) if isinstance(found, Pending) else answer_json(found)


async def give_label(request: web.Request) -> web.Response:
    """A label, on disk before it is answered."""
    given = read_body(GivenLabel, await read_body_bytes(request))
    language = language_of(request)
    return await answer_reviewed(request, lambda reviewed: reviewed.give(given, language))


async def retract_label(request: web.Request) -> web.Response:
    """Takes a label back."""
    asked = read_body(Retraction, await read_body_bytes(request))
    return await answer_reviewed(request, lambda reviewed: reviewed.retract(asked))


async def rater_link(request: web.Request) -> web.Response:
    """One address to send to a rater: it opens the viewer and names them."""
    rater = check_rater(request.query.get("rater", ""))
    access = viewer_of(request).access
    base = f"http://{request.host}" if access.public is None else access.public.origin + access.base
    wanted = {"rater": rater, "key": access.invitation(rater)}
    if request.query.get("queue"):
        wanted = {"queue": request.query["queue"], **wanted}
    run = quote(run_of(request).name, safe="")
    return answer_json({"rater": rater, "link": f"{base}/runs/{run}/review?{urlencode(wanted)}"})


async def draw_texts(request: web.Request) -> web.Response:
    """A random draw of texts: a queue whose labels correct the headline."""
    asked = read_body(NewDraw, await read_body_bytes(request))
    return await answer_reviewed(request, lambda reviewed: reviewed.draw(asked))


# All that can be asked for; POST where something is kept.
ROUTES: tuple[tuple[str, str, Page], ...] = (
    ("GET", "/", home_page),
    ("GET", "/runs/{run}", run_page),
    ("GET", "/runs/{run}/sample", sample_page),
    ("GET", "/runs/{run}/review", review_page),
    ("GET", "/compare", compare_page),
    ("GET", "/competitions/{execution}", competition_page),
    ("GET", "/assets/{name}", asset),
    ("GET", "/api/workspace", workspace),
    ("GET", "/api/runs/{run}", run),
    ("GET", "/api/runs/{run}/judgments", judgments),
    ("GET", "/api/runs/{run}/choices", choices),
    ("GET", "/api/runs/{run}/sample", sample),
    ("GET", "/api/runs/{run}/prompt", prompt),
    ("GET", "/api/runs/{run}/live", live),
    ("GET", "/api/runs/{run}/review", review_overview),
    ("GET", "/api/runs/{run}/review/queue", review_queue),
    ("GET", "/api/runs/{run}/review/item", review_item),
    ("GET", "/api/runs/{run}/review/numbers", review_numbers),
    ("GET", "/api/runs/{run}/review/link", rater_link),
    ("POST", "/api/runs/{run}/review/labels", give_label),
    ("POST", "/api/runs/{run}/review/retractions", retract_label),
    ("POST", "/api/runs/{run}/review/draws", draw_texts),
    ("GET", "/api/compare", compare),
    ("GET", "/api/competitions/{execution}", competition),
)


@web.middleware
async def tell_errors(request: web.Request, handler: Handler) -> web.StreamResponse:
    """One sentence: what the command line would print."""
    try:
        return await handler(request)
    except MixseekError as error:
        wrong = 400 if request.method == "POST" else 404
        status = wrong if isinstance(error, ConfigurationError) else 500
        if request.path.removeprefix(viewer_of(request).access.base).startswith("/api/"):
            return answer_json({"error": str(error)}, status=status)
        return answer_page(request, "error.html.j2", status=status, sentence=str(error))
    except ConnectionResetError:
        # Whoever asked has left in the middle of the answer.
        return web.Response()


class ViewServer:
    """Listens from `start` to `stop`."""

    def __init__(
        self, root: Path, access: Access, port: int, scratch: Path, silent_seconds: float = SILENT_SECONDS
    ) -> None:
        self.access, self.port = access, port
        self.viewer = Viewer(root, access, scratch)
        self._silent = SilentConnections(time.monotonic, silent_seconds)
        self._watching: asyncio.Task[None] | None = None
        app = web.Application(middlewares=[self._silent.middleware(), guard(access), tell_errors])
        app[VIEWER] = self.viewer
        app.on_response_prepare.append(add_headers)
        # A proxy may hand its own part of the path on, or take it away.
        for base in dict.fromkeys(("", access.base)):
            for method, path, handler in ROUTES:
                app.router.add_route(method, base + path, handler)
        # Streams end when the server does.
        self._runner = web.AppRunner(
            app, access_log=None, shutdown_timeout=0, handler_cancellation=True, keepalive_timeout=silent_seconds
        )

    @property
    def address(self) -> str:
        """What others can open: nobody can open "every address of this machine"."""
        if self.access.public is not None:
            return self.access.public.origin + self.access.base
        name = socket.gethostname() if is_every_address(self.access.host) else self.access.host
        host = f"[{name}]" if ":" in name else name
        return f"http://{host}:{self.port}"

    @property
    def link(self) -> str:
        """Opens the first page, once and for this browser."""
        return f"{self.address}/?{urlencode({'key': self.access.secret})}"

    async def start(self) -> None:
        """Raises ConfigurationError when the port is taken."""
        await asyncio.to_thread(warm_templates)
        await self._runner.setup()
        site = web.TCPSite(self._runner, self.access.host, self.port)
        try:
            await site.start()
        except OSError as error:
            words = f"cannot listen on {self.access.host}:{self.port} ({error.strerror})"
            raise ConfigurationError(f"{words}; choose another --port, or 0 for a free one") from error
        self.port = self._runner.addresses[0][1]
        self._watching = asyncio.create_task(self._silent.watch(self.connections))

    def connections(self) -> list[RequestHandler]:
        """Those that are open now."""
        return [] if self._runner.server is None else list(self._runner.server.connections)

    async def stop(self) -> None:
        """At once: whoever watches a run is cut off."""
        if self._watching is not None:
            self._watching.cancel()
        for connection in self.connections():
            if connection.transport is not None:
                connection.transport.abort()
        await self._runner.cleanup()
        await self.viewer.close()


@contextlib.asynccontextmanager
async def running_view(
    root: Path, access: Access, port: int = 0, silent_seconds: float = SILENT_SECONDS
) -> AsyncIterator[ViewServer]:
    """A server for as long as the block lasts; what it makes of the runs is gone after it."""
    with tempfile.TemporaryDirectory(prefix="mixseek-view-", ignore_cleanup_errors=True) as scratch:
        server = ViewServer(root, access, port, Path(scratch), silent_seconds)
        await server.start()
        try:
            yield server
        finally:
            await server.stop()


def serve(root: Path, access: Access, port: int, ready: Callable[[ViewServer], None]) -> None:
    """Until Ctrl-C, SIGTERM or SIGHUP."""

    async def run() -> None:
        done = asyncio.Event()
        for signum in stop_signals():
            asyncio.get_running_loop().add_signal_handler(signum, done.set)
        async with running_view(root, access, port) as server:
            ready(server)
            await done.wait()

    asyncio.run(run())

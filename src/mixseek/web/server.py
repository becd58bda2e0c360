"""`mixseek view`: what can be asked for, page by page and endpoint by endpoint, and the server from start to stop."""

import asyncio
import contextlib
import socket
import tempfile
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from urllib.parse import urlencode

from aiohttp import web
from aiohttp.web_protocol import RequestHandler

from mixseek.engine.stop_signals import stop_signals
from mixseek.errors import BusyError, ConfigurationError, MixseekError
from mixseek.index.listing import FILTERS
from mixseek.web.answer_runs import ANSWER_LISTING, ONE_ANSWER, answer_questions, answers, answers_page, one_answer
from mixseek.web.answers import answer_json, answer_page, viewer_of, warm_templates
from mixseek.web.connections import SILENT_SECONDS, SilentConnections
from mixseek.web.downloads import download
from mixseek.web.endpoints import choices, compare, competition, judgments, live, prompt, run, sample, workspace
from mixseek.web.matrix import run_matrix, run_matrix_page, runs_matrix, runs_matrix_page
from mixseek.web.pages import asset, compare_page, competition_page, home_page, run_page, sample_page
from mixseek.web.parameters import LISTING, NARROWING, ParameterError, taking
from mixseek.web.review import (
    draw_texts,
    give_label,
    rater_link,
    retract_label,
    review_item,
    review_numbers,
    review_overview,
    review_page,
    review_queue,
)
from mixseek.web.security import READING, Access, Handler, add_headers, guard, is_every_address
from mixseek.web.upkeep import remove_run, rename_run
from mixseek.web.viewer import VIEWER, Viewer

_MATRIX = ("across", "filter", "sort", "offset", "limit", "row", "q", *FILTERS)
_COMPARED = {"several": ("target", "variant")}
# All that can be asked for, and by which names; POST where something is kept, gets another name or goes.
ROUTES: tuple[tuple[str, str, Handler], ...] = (
    ("GET", "/", taking(home_page, "q", "protocol", "dataset")),
    ("GET", "/runs/{run}", taking(run_page)),
    ("GET", "/runs/{run}/sample", taking(sample_page, "id")),
    ("GET", "/runs/{run}/matrix", taking(run_matrix_page)),
    ("GET", "/runs/{run}/review", taking(review_page, "queue", "rater")),
    ("GET", "/compare", taking(compare_page, "a", "b", "start", "kind", **_COMPARED)),
    ("GET", "/compare/matrix", taking(runs_matrix_page, several=("run",))),
    ("GET", "/answers/{answers}", taking(answers_page, *ANSWER_LISTING, "marked")),
    ("GET", "/competitions/{execution}", taking(competition_page)),
    ("GET", "/assets/{name}", taking(asset)),
    ("GET", "/api/workspace", taking(workspace)),
    ("GET", "/api/runs/{run}", taking(run)),
    ("GET", "/api/runs/{run}/judgments", taking(judgments, *LISTING)),
    ("GET", "/api/runs/{run}/judgments/file", taking(download, *NARROWING, "format")),
    ("GET", "/api/runs/{run}/choices", taking(choices)),
    ("GET", "/api/runs/{run}/sample", taking(sample, "id")),
    ("GET", "/api/runs/{run}/prompt", taking(prompt, "id", "judge")),
    ("GET", "/api/runs/{run}/matrix", taking(run_matrix, *_MATRIX)),
    ("GET", "/api/runs/{run}/live", taking(live)),
    ("GET", "/api/runs/{run}/review", taking(review_overview, "rater")),
    ("GET", "/api/runs/{run}/review/queue", taking(review_queue, "queue", "rater")),
    ("GET", "/api/runs/{run}/review/item", taking(review_item, "queue", "text", "rater", "open")),
    ("GET", "/api/runs/{run}/review/numbers", taking(review_numbers, "width")),
    ("GET", "/api/runs/{run}/review/link", taking(rater_link, "rater", "queue")),
    ("POST", "/api/runs/{run}/review/labels", taking(give_label)),
    ("POST", "/api/runs/{run}/review/retractions", taking(retract_label)),
    ("POST", "/api/runs/{run}/review/draws", taking(draw_texts)),
    ("POST", "/api/runs/{run}/name", taking(rename_run)),
    ("POST", "/api/runs/{run}/removal", taking(remove_run)),
    ("GET", "/api/answers/{answers}", taking(answers)),
    ("GET", "/api/answers/{answers}/questions", taking(answer_questions, *ANSWER_LISTING)),
    ("GET", "/api/answers/{answers}/answer", taking(one_answer, *ONE_ANSWER)),
    ("POST", "/api/answers/{answers}/name", taking(rename_run)),
    ("POST", "/api/answers/{answers}/removal", taking(remove_run)),
    ("GET", "/api/compare", taking(compare, "a", "b", **_COMPARED)),
    ("GET", "/api/compare/matrix", taking(runs_matrix, *_MATRIX, several=("run",))),
    ("GET", "/api/competitions/{execution}", taking(competition)),
)


@web.middleware
async def tell_errors(request: web.Request, handler: Handler) -> web.StreamResponse:
    """One sentence: what the command line would print."""
    try:
        return await handler(request)
    except MixseekError as error:
        wrong = 400 if request.method == "POST" or isinstance(error, ParameterError) else 404
        status = wrong if isinstance(error, ConfigurationError) else 500
        # Somebody writes to what was to be changed: nothing is broken, and later it can be done.
        if isinstance(error, BusyError) and request.method not in READING:
            status = 409
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
        return self.link_to("/")

    def link_to(self, page: str) -> str:
        """The same for another page, by its path."""
        return f"{self.address}{page}?{urlencode({'key': self.access.secret})}"

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

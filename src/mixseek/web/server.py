"""`mixseek view`: the routes, the server from start to stop, and what becomes of an error."""

import asyncio
import contextlib
import signal
import tempfile
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from urllib.parse import urlencode

from aiohttp import web

from mixseek.errors import ConfigurationError, MixseekError
from mixseek.web import endpoints, pages, review
from mixseek.web.security import Access, Handler, add_headers, guard
from mixseek.web.viewer import VIEWER, Page, Viewer, answer_json, answer_page, in_thread, warm_templates

# All that can be asked for; POST where something is kept.
ROUTES: tuple[tuple[str, str, Page], ...] = (
    ("GET", "/", pages.home),
    ("GET", "/runs/{run}", pages.run),
    ("GET", "/runs/{run}/sample", pages.sample),
    ("GET", "/runs/{run}/review", review.page),
    ("GET", "/compare", pages.compare),
    ("GET", "/competitions/{execution}", pages.competition),
    ("GET", "/assets/{name}", pages.asset),
    ("GET", "/api/workspace", endpoints.workspace),
    ("GET", "/api/runs/{run}", endpoints.run),
    ("GET", "/api/runs/{run}/judgments", endpoints.judgments),
    ("GET", "/api/runs/{run}/choices", endpoints.choices),
    ("GET", "/api/runs/{run}/sample", endpoints.sample),
    ("GET", "/api/runs/{run}/prompt", endpoints.prompt),
    ("GET", "/api/runs/{run}/live", endpoints.live),
    ("GET", "/api/runs/{run}/review", review.overview),
    ("GET", "/api/runs/{run}/review/queue", review.queue),
    ("GET", "/api/runs/{run}/review/item", review.item),
    ("GET", "/api/runs/{run}/review/numbers", review.numbers),
    ("POST", "/api/runs/{run}/review/labels", review.give),
    ("POST", "/api/runs/{run}/review/retractions", review.retract),
    ("POST", "/api/runs/{run}/review/draws", review.draw),
    ("GET", "/api/compare", endpoints.compare),
    ("GET", "/api/competitions/{execution}", endpoints.competition),
)


@web.middleware
async def tell_errors(request: web.Request, handler: Handler) -> web.StreamResponse:
    """One sentence: what the command line would print."""
    try:
        return await handler(request)
    except MixseekError as error:
        wrong = 400 if request.method == "POST" else 404
        status = wrong if isinstance(error, ConfigurationError) else 500
        if request.path.startswith("/api/"):
            return answer_json({"error": str(error)}, status=status)
        return answer_page(request, "error.html.j2", status=status, sentence=str(error))
    except ConnectionResetError:
        # Whoever asked has left in the middle of the answer.
        return web.Response()


class ViewServer:
    """Listens from `start` to `stop`."""

    def __init__(self, root: Path, access: Access, port: int, scratch: Path) -> None:
        self.access, self.port = access, port
        self.viewer = Viewer(root, access, scratch)
        app = web.Application(middlewares=[guard(access), tell_errors])
        app[VIEWER] = self.viewer
        app.on_response_prepare.append(add_headers)
        for method, path, handler in ROUTES:
            app.router.add_route(method, path, handler)
        # Streams end when the server does.
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0, handler_cancellation=True)

    @property
    def address(self) -> str:
        host = f"[{self.access.host}]" if ":" in self.access.host else self.access.host
        return f"http://{host}:{self.port}"

    @property
    def link(self) -> str:
        """Opens the first page, once and for this browser."""
        return f"{self.address}/?{urlencode({'key': self.access.secret})}"

    async def start(self) -> None:
        """Raises ConfigurationError when the port is taken."""
        await in_thread(warm_templates)
        await self._runner.setup()
        site = web.TCPSite(self._runner, self.access.host, self.port)
        try:
            await site.start()
        except OSError as error:
            words = f"cannot listen on {self.access.host}:{self.port} ({error.strerror})"
            raise ConfigurationError(f"{words}; choose another --port, or 0 for a free one") from error
        self.port = self._runner.addresses[0][1]

    async def stop(self) -> None:
        """At once: whoever watches a run is cut off."""
        for connection in [] if self._runner.server is None else self._runner.server.connections:
            if connection.transport is not None:
                connection.transport.abort()
        await self._runner.cleanup()
        await self.viewer.close()


@contextlib.asynccontextmanager
async def running_view(root: Path, access: Access, port: int = 0) -> AsyncIterator[ViewServer]:
    """A server for as long as the block lasts; what it makes of the runs is gone after it."""
    with tempfile.TemporaryDirectory(prefix="mixseek-view-", ignore_cleanup_errors=True) as scratch:
        server = ViewServer(root, access, port, Path(scratch))
        await server.start()
        try:
            yield server
        finally:
            await server.stop()


def serve(root: Path, access: Access, port: int, ready: Callable[[ViewServer], None]) -> None:
    """Until Ctrl-C or SIGTERM."""

    async def run() -> None:
        done = asyncio.Event()
        for signum in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(signum, done.set)
        async with running_view(root, access, port) as server:
            ready(server)
            await done.wait()

    asyncio.run(run())

"""A real Chromium and the pages that tests open in it: whoever visits also looks out for what must never happen.

The browser, its driver and the servers live on an event loop in a thread of their own: the driver keeps the loop of its
thread running, and a test (or the command line in its process) may want to run one itself.
"""

import asyncio
import contextlib
import linecache
import os
import re
import shutil
import threading
import time
from collections.abc import AsyncIterator, Coroutine, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import pytest
from axe_playwright_python.async_playwright import Axe
from playwright.async_api import Browser, BrowserContext, Page, async_playwright, expect

from mixseek.web.security import Access
from mixseek.web.server import ViewServer, running_view

T = TypeVar("T")
EXECUTABLE = shutil.which("chromium") or shutil.which("google-chrome")
# Set where a browser was installed for these tests: then its absence is a failure, and nothing is skipped in silence.
REQUIRED = bool(os.environ.get("BROWSER_TESTS_REQUIRED"))
# Names that somebody else owns and points at this machine.
FOREIGN_NAME = "elsewhere.example"
_NAMES = f"MAP {FOREIGN_NAME} 127.0.0.1"
# To start a browser is much to read; once for all tests that a worker has of it.
START_MILLISECONDS = 120_000
WIDE, NARROW = (1280, 900), (390, 844)
# A machine on which others work as well. What has not come by then does not come, and is named by what waits for it.
PATIENCE_MILLISECONDS = 45_000
# One wait of a scenario, whatever it is for. A little more, so that whoever knows what is waited for says it first.
WAIT_SECONDS = 50.0
_LOOK_EVERY_SECONDS = 0.5
expect.set_options(timeout=PATIENCE_MILLISECONDS)


@dataclass
class Visit:
    """One person's browser: its pages share cookies, and `troubles` fills with what no page of ours may do."""

    context: BrowserContext
    page: Page
    requests: list[str] = field(default_factory=list)
    troubles: list[str] = field(default_factory=list)

    def watch(self) -> None:
        """Dialogs, errors (a refused script is one, too), other windows, and every request, wherever it goes."""
        self.context.on("request", lambda request: self.requests.append(request.url))
        self.context.on("console", lambda said: self.troubles.extend([said.text] if said.type == "error" else []))
        self.context.on("weberror", lambda error: self.troubles.append(str(error.error)))
        self.context.on("page", lambda page: self.troubles.append(f"a window more: {page.url}"))
        self.page.on("dialog", lambda dialog: self.troubles.append(f"a dialog: {dialog.message}"))

    async def follow(self, link: str) -> None:
        """The page of the link gives the cookie and moves on by itself: until then, nothing else may be opened."""
        await self.page.goto(link)
        await self.page.wait_for_url(f"{link.split('/?')[0]}/")

    async def open(self, address: str) -> None:
        """The page itself, and not the one that is shown while it is being counted."""
        await self.page.goto(address)
        await expect(self.page.locator(".counting")).to_have_count(0)

    async def counted(self) -> None:
        """Until a run's page, on which a link leads, has its numbers: it loads itself again when they are there."""
        await expect(self.page.locator("#matches")).to_be_attached()
        await expect(self.page.locator(".counting")).to_have_count(0)

    def strangers(self, *own: str) -> list[str]:
        """Requests that went anywhere else."""
        return [url for url in self.requests if not url.startswith((*own, "data:", "blob:"))]


def what_waits(task: "asyncio.Task[Any]") -> list[Any]:
    """The coroutines of a task from the outermost to what the innermost waits for."""
    chain: list[Any] = []
    waiting: Any = task.get_coro()
    while waiting is not None:
        chain.append(waiting)
        waiting = getattr(waiting, "cr_await", None) or getattr(waiting, "gi_yieldfrom", None)
    return chain


def place_of(coroutine: Any) -> str | None:
    """The line at which a coroutine waits, and what stands there; None for what is no Python."""
    frame = getattr(coroutine, "cr_frame", None) or getattr(coroutine, "gi_frame", None)
    if frame is None:
        return None
    name, number = frame.f_code.co_filename, frame.f_lineno
    return f"{Path(name).name}:{number} in {frame.f_code.co_name}: {linecache.getline(name, number).strip()}"


async def within_bounds(scenario: Coroutine[Any, Any, T], seconds: float = WAIT_SECONDS) -> T:
    """A wait that hangs is cancelled, and says in which line: the guard of the test only knows that it waited."""
    task = asyncio.ensure_future(scenario)
    awaited, since = what_waits(task), time.monotonic()
    while not task.done():
        await asyncio.wait([task], timeout=_LOOK_EVERY_SECONDS)
        # The same objects, not the same line: a loop that comes by once more has made new ones.
        if (now := what_waits(task)) != awaited:
            awaited, since = now, time.monotonic()
        elif not task.done() and time.monotonic() - since > seconds:
            places = "".join(f"\n  {place}" for place in filter(None, map(place_of, awaited)))
            task.cancel()
            await asyncio.wait([task], timeout=PATIENCE_MILLISECONDS / 1_000)
            pytest.fail(f"waited {seconds:g} s at{places}")
    return task.result()


@dataclass(frozen=True)
class Chromium:
    """The browser, for every test of the package."""

    loop: asyncio.AbstractEventLoop
    browser: Browser
    servers: contextlib.AsyncExitStack

    def do(self, scenario: Coroutine[Any, Any, T]) -> T:
        """What a test does with pages; its assertions fail here."""
        return asyncio.run_coroutine_threadsafe(within_bounds(scenario), self.loop).result()

    def serve(self, root: Path) -> ViewServer:
        """A viewer of that workspace until the browser is closed."""
        return self.do(self.servers.enter_async_context(running_view(root, Access())))

    @contextlib.asynccontextmanager
    async def visiting(
        self, size: tuple[int, int] = WIDE, scheme: str = "light", expected: str = "(?!)"
    ) -> AsyncIterator[Visit]:
        """A browser without cookies; it fails in the end where anything happened that no page of ours may do.

        `expected` is a pattern of what belongs to the test: a browser reports each refusal as an error.
        """
        context = await self.browser.new_context(
            viewport={"width": size[0], "height": size[1]},
            color_scheme="dark" if scheme == "dark" else "light",
            reduced_motion="reduce",
        )
        context.set_default_timeout(PATIENCE_MILLISECONDS)
        async with context:
            visit = Visit(context, await context.new_page())
            visit.watch()
            yield visit
        troubles = [one for one in visit.troubles if not re.search(expected, one)]
        assert troubles == [], troubles


@contextlib.contextmanager
def running_chromium() -> Iterator[Chromium]:
    """Started once; ended with everything that was opened in it."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="chromium", daemon=True)
    thread.start()

    async def start() -> tuple[Chromium, Any]:
        driver = await async_playwright().start()
        rules = [f"--host-resolver-rules={_NAMES}"]
        browser = await driver.chromium.launch(executable_path=EXECUTABLE, args=rules, timeout=START_MILLISECONDS)
        return Chromium(loop, browser, contextlib.AsyncExitStack()), driver

    starting = within_bounds(start(), START_MILLISECONDS / 1_000)
    chromium, driver = asyncio.run_coroutine_threadsafe(starting, loop).result()

    async def stop() -> None:
        await chromium.servers.aclose()
        await chromium.browser.close()
        await driver.stop()

    try:
        yield chromium
    finally:
        chromium.do(stop())
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


def refuse_without_browser() -> None:
    """Skips, unless somebody has installed a browser for us."""
    if EXECUTABLE is None:
        (pytest.fail if REQUIRED else pytest.skip)("no chromium is installed")


async def find_barriers(page: Page, *, is_contrast_only: bool = False) -> list[str]:
    """What keeps people from using the page, by axe: rule, and the first elements that break it."""
    every = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]
    only = ["color-contrast"] if is_contrast_only else every
    kind = "rule" if is_contrast_only else "tag"
    found = await Axe().run(page, options={"runOnly": {"type": kind, "values": only}, "resultTypes": ["violations"]})
    return [
        f"{one['id']} ({page.url}): "
        + "; ".join(f"{node['target']}: {str(node['html'])[:200]}" for node in one["nodes"][:3])
        for one in found.response["violations"]
    ]


async def overflow_of(page: Page) -> int:
    """How many pixels the page can be moved sideways."""
    return int(await page.evaluate("document.documentElement.scrollWidth - innerWidth"))

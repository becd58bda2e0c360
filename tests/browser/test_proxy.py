"""Raters on other machines: the proxy of docs/review.md in front of the viewer, by the lines that stand there."""

import contextlib
import re
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from aiohttp import ClientSession, web
from playwright.async_api import expect
from tests.browser.driving import Chromium
from tests.browser.test_raters import RUN, labels_of, make_place
from tests.once import made_once

from mixseek.web.security import Access, read_public_url
from mixseek.web.server import running_view

RECIPE = re.search(r"```nginx\n(.*?)```", Path("docs/review.md").read_text(encoding="utf-8"), re.DOTALL)
# What belongs to one connection and is never handed on.
_HOP_BY_HOP = {"connection", "transfer-encoding", "keep-alive", "content-length", "content-encoding"}


class Recipe:
    """What the lines say: which part of the path is taken away, and which headers are set."""

    def __init__(self, text: str) -> None:
        (self.location,) = re.findall(r"location (\S+) \{", text)
        (target,) = re.findall(r"proxy_pass (\S+);", text)
        # With a path at its end, that path takes the place of the location.
        self.strips = urlsplit(target).path == "/"
        self.headers = dict(re.findall(r"proxy_set_header (\S+) (\S+);", text))
        self.is_streaming = "proxy_buffering off;" in text


@contextlib.asynccontextmanager
async def proxying(recipe: Recipe, upstream: list[str]) -> AsyncIterator[int]:
    """A port of the proxy; where it leads is known later."""

    async def forward(request: web.Request) -> web.StreamResponse:
        path = request.raw_path
        if not path.startswith(recipe.location):
            raise web.HTTPNotFound
        wanted = path.replace(recipe.location, "/", 1) if recipe.strips else path
        headers = {name: value for name, value in request.headers.items() if name.lower() not in _HOP_BY_HOP}
        # Unless it is told otherwise, a proxy asks by the address that it asks.
        if recipe.headers.get("Host") != "$http_host":
            headers.pop("Host")
        async with (
            ClientSession(auto_decompress=False) as session,
            session.request(
                request.method, upstream[0] + wanted, headers=headers, data=await request.read(), allow_redirects=False
            ) as answer,
        ):
            response = web.StreamResponse(status=answer.status)
            for name, value in answer.headers.items():
                if name.lower() not in _HOP_BY_HOP:
                    response.headers.add(name, value)
            await response.prepare(request)
            async for part in answer.content.iter_any():
                await response.write(part)
            return response

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", forward)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0, handler_cancellation=True)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield int(runner.addresses[0][1])
    finally:
        await runner.cleanup()


def test_people_label_through_the_proxy_of_the_page(
    chromium: Chromium, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """From a link for one rater: pages, styles, lists and labels all stand below the public path."""
    shutil.copytree(made_once(tmp_path_factory, "raters-workspace", make_place), tmp_path / "own")
    root = tmp_path / "own" / "ws"
    assert RECIPE is not None
    recipe = Recipe(RECIPE[1])
    assert recipe.is_streaming

    async def scenario() -> None:
        upstream: list[str] = []
        async with proxying(recipe, upstream) as port:
            public = read_public_url(f"http://localhost:{port}{recipe.location}")
            async with running_view(root, Access(public=public)) as server:
                upstream.append(f"http://127.0.0.1:{server.port}")
                assert server.link.startswith(f"http://localhost:{port}/mixseek/?key=")
                async with chromium.visiting() as visit:
                    page = visit.page
                    await page.goto(server.link)
                    await page.get_by_role("link", name=RUN, exact=True).click()
                    await visit.counted()
                    await expect(page.locator("#matches")).to_have_text("40 judgments")
                    await page.locator("[data-review-link]").click()
                    await page.locator("[data-invited]").fill("ann")
                    await page.locator("[data-invited]").press("Enter")
                    await expect(page.locator("[data-link]")).to_be_visible()
                    link = await page.locator("[data-link]").input_value()
                    assert visit.strangers(f"http://localhost:{port}/mixseek/") == []
                async with chromium.visiting() as ann:
                    await ann.page.goto(link)
                    await ann.page.locator('[data-queue^="draw:"] .action').click()
                    await expect(ann.page.locator("[data-response]")).to_be_visible()
                    await ann.page.keyboard.press("c")
                    await expect(ann.page.locator("[data-own]")).to_be_visible()
                    assert ann.strangers(f"http://localhost:{port}/mixseek/") == []

    chromium.do(scenario())

    assert [(label["rater"], label["given"]) for label in labels_of(root)] == [("ann", "correct")]

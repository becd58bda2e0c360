"""Every page, light on a screen and dark on a telephone: axe finds no barrier, nothing moves sideways or asks anybody.

BROWSER_SCREENSHOTS names a folder that the pictures are written to, for people to look at.
"""

import os
from importlib import resources
from pathlib import Path

import pytest
from playwright.async_api import Page, expect
from tests.browser.driving import NARROW, WIDE, Chromium, find_barriers, overflow_of
from tests.browser.every_page import FILES, LONG_NAMED, PARTS, PASSING, VIEWED, is_of, open_page, read_names
from tests.browser.seen_defects import find_defects

from mixseek.web.server import ROUTES, ViewServer
from mixseek.web.slow_work import Pending

SCREENSHOTS = os.environ.get("BROWSER_SCREENSHOTS")
# What a page is looked at in; the last is where it stays.
SIZES = ((1440, 900), (1024, 768), NARROW)
# A sheet of A4 between its margins.
SHEET = (718, 1000)


async def look_at(page: Page, name: str, scheme: str) -> list[str]:
    """What is wrong with how the page looks now, in any size; afterwards it has the size that it had."""
    troubles = []
    size = page.viewport_size
    for width, height in SIZES:
        await page.set_viewport_size({"width": width, "height": height})
        if SCREENSHOTS:
            await page.screenshot(path=Path(SCREENSHOTS) / f"{name}-{width}-{scheme}.png", full_page=True)
        defects = await find_defects(page)
        if (sideways := await overflow_of(page)) > 0:
            defects.append(f"{sideways} pixels sideways")
        troubles += [f"{name} {scheme} {width}: {defect}" for defect in defects]
    assert size is not None
    await page.set_viewport_size(size)
    return troubles


async def examine(page: Page, name: str, scheme: str) -> list[str]:
    """The same, and what axe finds in the size that the page has."""
    troubles = await look_at(page, name, scheme)
    barriers = await find_barriers(page, is_contrast_only=scheme == "dark")
    return [*troubles, *(f"{name} {scheme}: {barrier}" for barrier in barriers)]


def test_the_tables_hold_every_template_and_every_address() -> None:
    shipped = {
        item.name
        for package in ("mixseek.web", "mixseek.reports")
        for item in (resources.files(package) / "assets").iterdir()
        if item.name.endswith(".j2")
    }
    shown = {shown.template for shown in VIEWED.values()} | {template for template, _ in FILES.values() if template}
    paths = [path for method, path, _ in ROUTES if method == "GET" and not path.startswith(("/api/", "/assets/"))]

    assert shipped - PARTS == shown | PASSING
    assert [path for path in paths if not any(is_of(path, shown.address) for shown in VIEWED.values())] == []


@pytest.mark.parametrize(("scheme", "size"), [("light", WIDE), ("dark", NARROW)])
def test_no_page_of_the_viewer_has_a_barrier_or_asks_anybody_else(
    chromium: Chromium, demo_viewer: ViewServer, demo_place: Path, scheme: str, size: tuple[int, int]
) -> None:
    async def scenario() -> None:
        troubles: list[str] = []
        async with chromium.visiting(size, scheme, expected="404") as visit:
            await visit.follow(demo_viewer.link)
            for name in VIEWED:
                troubles += await examine(
                    await open_page(visit, demo_viewer, name, read_names(demo_place)), name, scheme
                )
            assert visit.strangers(demo_viewer.address, "about:") == []
        assert not troubles, "\n".join(troubles)

    chromium.do(scenario())


def test_long_names_push_nothing_aside(chromium: Chromium, demo_viewer: ViewServer, demo_place: Path) -> None:
    """Names of runs, targets, tasks and raters; texts in Japanese and Chinese, formulas, code, a long address."""
    names = read_names(demo_place)

    async def scenario() -> None:
        troubles: list[str] = []
        async with chromium.visiting() as visit:
            await visit.follow(demo_viewer.link)
            for name in LONG_NAMED:
                page = await open_page(visit, demo_viewer, name, names, LONG_NAMED)
                troubles += await look_at(page, f"long-{name}", "light")
        assert not troubles, "\n".join(troubles)

    chromium.do(scenario())


def test_nothing_lies_upon_anything_on_paper(chromium: Chromium, demo_viewer: ViewServer, demo_place: Path) -> None:
    names = read_names(demo_place)
    printed = [(VIEWED, name) for name in ("run-semantic", "run-cross", "run-pairwise", "compare", "competition")]

    async def scenario() -> None:
        troubles = []
        async with chromium.visiting(SHEET) as visit:
            await visit.follow(demo_viewer.link)
            await visit.page.emulate_media(media="print")
            for table, name in [*printed, (LONG_NAMED, "run")]:
                page = await open_page(visit, demo_viewer, name, names, table)
                troubles += [f"{name}: {defect}" for defect in await find_defects(page)]
        assert not troubles, "\n".join(troubles)

    chromium.do(scenario())


def test_a_page_that_is_being_counted_has_no_barrier(
    chromium: Chromium, demo_viewer: ViewServer, demo_place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It comes and goes by itself: here it stays, before a comparison and above a run's list."""

    async def never(*ignored: object) -> Pending:
        return Pending(1.0)

    names = read_names(demo_place)
    for method in ("comparison", "report"):
        monkeypatch.setattr(demo_viewer.viewer, method, never)

    async def scenario() -> None:
        troubles = []
        for path in ("/compare?a={semantic}&b={later}", "/runs/{semantic}"):
            # Another visit for each: the page before asks again by itself, and would abort whatever is opened then.
            async with chromium.visiting(NARROW, expected="Failed to fetch|ERR_ABORTED") as visit:
                await visit.follow(demo_viewer.link)
                await visit.page.goto(demo_viewer.address + path.format(**names))
                await expect(visit.page.locator(".counting")).to_be_visible()
                # It would ask again while axe looks at it.
                await visit.page.route("**/*", lambda route: route.abort("aborted"))
                troubles += await find_barriers(visit.page)
        assert not troubles, "\n".join(troubles)

    chromium.do(scenario())


@pytest.mark.parametrize(("scheme", "size"), [("light", WIDE), ("dark", NARROW)])
def test_no_file_that_is_sent_around_has_a_barrier_or_asks_anybody(
    chromium: Chromium, demo_place: Path, scheme: str, size: tuple[int, int]
) -> None:
    paths = {name: demo_place / "ws" / path.format(**read_names(demo_place)) for name, (_, path) in FILES.items()}

    async def scenario() -> None:
        troubles: list[str] = []
        async with chromium.visiting(size, scheme) as visit:
            for name, path in paths.items():
                await visit.page.goto(path.as_uri())
                troubles += await examine(visit.page, name, scheme)
            assert visit.requests == [path.as_uri() for path in paths.values()]
        assert not troubles, "\n".join(troubles)

    chromium.do(scenario())

"""Every page, light on a screen and dark on a telephone: axe finds no barrier, and nothing moves sideways.

BROWSER_SCREENSHOTS names a folder that the pictures are written to, for people to look at.
"""

import os
from pathlib import Path

import pytest
from playwright.async_api import Page, expect
from tests.browser.driving import NARROW, WIDE, Chromium, find_barriers, overflow_of
from tests.flows.running import mixseek_here

from mixseek.setup.demo import EXECUTION
from mixseek.web.server import ViewServer

SCREENSHOTS = os.environ.get("BROWSER_SCREENSHOTS")
# Name to address, and what is there when the page is whole.
PAGES = {
    "home": ("/", "#competitions"),
    "run": ("/runs/numbers#verdict=incorrect&id=row-3", ".detail-id"),
    "cross": ("/runs/{cross}#status=valid", ".row"),
    "matrix": ("/runs/numbers/matrix#across=judge", ".matrix-cell"),
    "matrix-of-runs": ("/compare/matrix?run=sums&run=later", ".matrix-cell"),
    "sample": ("/runs/{rubric}/sample?id=fact-good", ".judge-column"),
    "compare": ("/compare?a=sums&b=later", "details.change[open]"),
    "choose": ("/compare", ".choose"),
    "competition": (f"/competitions/{EXECUTION}", "h1"),
    "error": ("/runs/nobody", ".problem-line"),
}
# In the dark, one page of each style sheet: axe takes seconds for each.
DARK = ("home", "run", "matrix", "compare", "competition")


@pytest.fixture(scope="module")
def files(workspace: Path) -> dict[str, Path]:
    """What is sent around: reports, a comparison, a leader board."""
    done = mixseek_here("compare", "sums", "later", "--workspace", "ws", "--to", "compare.html", cwd=workspace.parent)
    assert done.returncode == 0, done.stderr
    cross, rubric = (next((workspace / "runs").glob(f"{name}-*/report.html")) for name in ("cross", "rubric"))
    return {
        "report": workspace.parent / "report.html",
        "report-cross": cross,
        "report-rubric": rubric,
        "report-compare": workspace.parent / "compare.html",
        "report-board": workspace / "competitions" / EXECUTION / "leaderboard.html",
    }


async def look_at(page: Page, name: str, scheme: str) -> list[str]:
    """What is wrong with the page as it is shown now."""
    if SCREENSHOTS:
        await page.screenshot(path=Path(SCREENSHOTS) / f"{name}-{scheme}.png", full_page=True)
    found = await find_barriers(page, is_contrast_only=scheme == "dark")
    sideways = await overflow_of(page)
    return [*found, *([f"{name} {scheme}: {sideways} pixels sideways"] if sideways > 0 else [])]


@pytest.mark.parametrize(("scheme", "size"), [("light", WIDE), ("dark", NARROW)])
def test_no_page_of_the_viewer_has_a_barrier(
    chromium: Chromium, viewer: ViewServer, workspace: Path, scheme: str, size: tuple[int, int]
) -> None:
    runs = {name: next((workspace / "runs").glob(f"{name}-*")).name for name in ("rubric", "cross")}

    async def scenario() -> None:
        found: list[str] = []
        async with chromium.visiting(size, scheme, expected="404") as visit:
            await visit.follow(viewer.link)
            for name in PAGES if scheme == "light" else DARK:
                path, whole = PAGES[name]
                await visit.open(viewer.address + path.format(**runs))
                await expect(visit.page.locator(whole).first).to_be_attached()
                found += await look_at(visit.page, name, scheme)
        assert not found, "\n".join(found)

    chromium.do(scenario())


def test_no_file_that_is_sent_around_has_a_barrier_or_asks_anybody(chromium: Chromium, files: dict[str, Path]) -> None:
    """In the dark, on a telephone: what they look like on a screen is as in the viewer."""

    async def scenario() -> None:
        found: list[str] = []
        async with chromium.visiting(NARROW, "dark") as visit:
            for name, path in files.items():
                await visit.page.goto(path.as_uri())
                found += await look_at(visit.page, name, "dark")
            assert visit.requests == [path.as_uri() for path in files.values()]
        assert not found, "\n".join(found)

    chromium.do(scenario())

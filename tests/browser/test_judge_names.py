"""A judge has one name on every page, and names are broken where one of their parts ends."""

import asyncio
import shutil
from pathlib import Path

import pytest
from playwright.async_api import Page, Route, expect
from tests.browser.driving import NARROW, WIDE, Chromium, overflow_of
from tests.browser.every_page import open_page, read_names
from tests.flows.running import write_jsonl
from tests.once import made_once
from tests.unit.web.viewing import ROWS, judge_rows

from mixseek.web.server import ViewServer

# What a person sees or hears, outside of the two places that say where a judge's replies come from.
SHOWN = """() => {
    const said = [];
    for (const element of document.body.querySelectorAll("*")) {
        if (element.closest("script, #manifest, .replayed")) continue;
        said.push(...["title", "aria-label"].map((name) => element.getAttribute(name) ?? ""));
        // A name with places to break it is several nodes.
        if ([...element.children].every((child) => child.localName === "wbr")) said.push(element.textContent);
        else said.push(...[...element.childNodes].map((node) => (node.nodeType === Node.TEXT_NODE ? node.data : "")));
    }
    return said.filter((text) => text.trim());
}"""
# Parts of names that stand on two lines, though a line of their own would have room for them; where a table has sides
# or a judgment has marks, there is always room.
TORN = r"""() => {
    const torn = [];
    const names = "#runs tbody th, #runs .under, h1, h3, h4, .judge-name, .replayed, .panel th, .panel td, "
        + ".detail-id, .facts dd, .badge, .sides th, .sides td, .mark-line > span:first-child";
    for (const element of document.querySelectorAll(names)) {
        const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
        while (walker.nextNode()) {
            for (const part of walker.currentNode.data.matchAll(/[^\s\/\\_.:=@-]+/g)) {
                const range = document.createRange();
                range.setStart(walker.currentNode, part.index);
                range.setEnd(walker.currentNode, part.index + part[0].length);
                const lines = [...range.getClientRects()].filter((line) => line.width > 0);
                const width = lines.reduce((sum, line) => sum + line.width, 0);
                const tops = new Set(lines.map((line) => Math.round(line.top)));
                const hasRoom = width < element.clientWidth || element.closest(".sides, .mark-line");
                if (tops.size > 1 && hasRoom) torn.push(`${part[0]} in ${element.textContent}`);
            }
        }
    }
    return torn;
}"""


LONG = "evening_classes.of_the_large_model:with_reasoning.switched_on_for_all_of_it"


def make_long_names(root: Path) -> None:
    """A run, its targets, tasks and samples; and a judge whose name is that of a file."""
    rows = [
        {**row, "id": f"{row['id']}_{LONG}", "target_model": f"{row['target_model']}_{LONG}", "task_name": LONG}
        for row in ROWS
    ]
    replies = root / f"replies_of_{LONG.replace(':', '_')}.jsonl"
    write_jsonl(replies, [{"id": row["id"], "reply": "I would rather not."} for row in rows])
    judge_rows(root, tuple(rows), LONG.replace(":", "_"), "--judge", f"replay:{replies.name}")


@pytest.fixture(scope="module")
def long_names(chromium: Chromium, tmp_path_factory: pytest.TempPathFactory) -> ViewServer:
    place = tmp_path_factory.mktemp("names") / "own"
    shutil.copytree(made_once(tmp_path_factory, "browser-long-names", make_long_names), place)
    return chromium.serve(place / "ws")


@pytest.fixture(scope="module")
def rubric(workspace: Path) -> str:
    """Two judges bring recorded replies, each of one model."""
    return next((workspace / "runs").glob("rubric-*")).name


async def refuse_raw_names(page: Page, *, is_named: bool = True) -> None:
    said = await page.evaluate(SHOWN)
    assert [text for text in said if "replay:/" in text] == []
    assert any("kiri-judge" in text for text in said) == is_named


def test_no_page_calls_a_judge_by_its_file(chromium: Chromium, viewer: ViewServer, rubric: str) -> None:
    async def scenario() -> None:
        async with chromium.visiting() as visit:
            page = visit.page
            await visit.follow(viewer.link)
            run = f"{viewer.address}/runs/{rubric}"
            # What the list can be narrowed by comes by itself, before the list or after it.
            listed = asyncio.Event()

            async def hold(route: Route) -> None:
                await listed.wait()
                await route.continue_()

            await page.route("**/judgments?*", hold)
            await visit.open(f"{run}#id=fact-good")
            choice = page.locator("#selects select[name=judge]")
            await expect(choice.locator("option")).to_have_count(3)
            await refuse_raw_names(page)
            listed.set()
            await expect(page.locator(".detail-id")).to_have_text("fact-good")
            await refuse_raw_names(page)
            await choice.select_option(index=1)
            await expect(page.locator("#matches")).to_contain_text(" of ")
            await refuse_raw_names(page)
            await visit.open(viewer.address)
            await refuse_raw_names(page)
            await visit.open(f"{run}/sample?id=fact-good")
            await refuse_raw_names(page)
            await visit.open(f"{run}/matrix#across=judge")
            await page.locator("#cell-0-0").click()
            await expect(page.locator("#matrix-detail .badge").first).to_be_visible()
            await refuse_raw_names(page)
            await visit.open(f"{viewer.address}/compare?a={rubric}&b={rubric}&target=aster-1&target=birch-2")
            await refuse_raw_names(page)

    chromium.do(scenario())


@pytest.mark.parametrize("size", [WIDE, NARROW])
def test_names_are_broken_where_a_part_of_them_ends(
    chromium: Chromium, long_names: ViewServer, size: tuple[int, int]
) -> None:
    run, sample = f"/runs/{LONG.replace(':', '_')}", f"tea-1_{LONG}"

    async def scenario() -> None:
        async with chromium.visiting(size) as visit:
            page = visit.page
            await visit.follow(long_names.link)
            for path, sign in (
                ("/", "#runs tbody th"),
                (f"{run}#id={sample}", ".detail-id"),
                (f"{run}/sample?id={sample}", ".detail-id"),
            ):
                await visit.open(long_names.address + path)
                await expect(page.locator(sign).first).to_be_visible()
                assert await page.evaluate(TORN) == []

    chromium.do(scenario())


@pytest.mark.parametrize("size", [WIDE, NARROW])
def test_the_page_of_a_pair_shows_both_responses_and_whole_names(
    chromium: Chromium, demo_viewer: ViewServer, demo_place: Path, size: tuple[int, int]
) -> None:
    async def scenario() -> None:
        async with chromium.visiting(size) as visit:
            await visit.follow(demo_viewer.link)
            page = await open_page(visit, demo_viewer, "sample-of-a-pair", read_names(demo_place))
            column = page.locator(".judge-column").first
            await expect(column).to_contain_text("Bubbles of steam collapse")
            await expect(column).to_contain_text("Steam bubbles form at the hot bottom")
            assert await page.evaluate(TORN) == []
            assert await overflow_of(page) <= 0

    chromium.do(scenario())


def test_no_name_is_torn_and_no_plot_is_squeezed_on_a_telephone(
    chromium: Chromium, demo_viewer: ViewServer, demo_place: Path
) -> None:
    """Names of dimensions beside their marks, and of both sides of a comparison, whose table is moved sideways."""

    async def scenario() -> None:
        async with chromium.visiting(NARROW) as visit:
            await visit.follow(demo_viewer.link)
            for name in ("run-semantic", "run-cross", "run-rubric", "sample", "compare"):
                page = await open_page(visit, demo_viewer, name, read_names(demo_place))
                torn = await page.evaluate(TORN)
                assert torn == [], torn
                assert await overflow_of(page) <= 0
            shares = "plots => plots.map(plot => plot.clientWidth / plot.closest('.range-row').offsetWidth)"
            plots = await page.locator(".opening .range-plot").evaluate_all(shares)
            assert plots
            assert min(plots) > 0.8

    chromium.do(scenario())

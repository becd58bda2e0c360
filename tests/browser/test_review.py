"""People who label in the browser: by keyboard, blind, through a crash of the server, beside each other."""

import asyncio
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Page, Response, expect
from tests.browser.driving import PATIENCE_MILLISECONDS, Chromium, Visit
from tests.browser.material import numbers, replies
from tests.flows.running import mixseek_here, start, write_jsonl
from tests.flows.warm import Begun

RUN = "kind"
LABELLED = 20
# What the browser says of a server that is gone, and of one whose link it has not opened yet; and our own window.
EXPECTED = "ERR_|403|a window more"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A run by one judge that calls everything correct."""
    rows = numbers()[:40]
    write_jsonl(tmp_path / "rows.jsonl", rows)
    write_jsonl(tmp_path / "kind.jsonl", replies(rows))
    words = ("judge", "rows.jsonl", "--judge", "replay:kind.jsonl", "--workspace", "ws", "--run", RUN, "-q")
    assert mixseek_here(*words, cwd=tmp_path).returncode == 0
    return tmp_path


async def serve(place: Path, port: int) -> tuple[Begun, str]:
    """The command, and the link that it prints; the browser goes on meanwhile."""
    viewer = await asyncio.to_thread(start, "view", "--no-open", "--workspace", "ws", "--port", str(port), cwd=place)
    line = await asyncio.to_thread(viewer.stdout.readline)
    if not line:
        _, errors = await asyncio.to_thread(viewer.communicate)
        pytest.fail(f"the viewer did not start: {errors}")
    return viewer, line.split()[-1]


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


async def sit_down(visit: Visit, link: str, rater: str, queue: str = "") -> Page:
    """The review page before a person who has said their name."""
    await visit.follow(link)
    address = f"{link.split('/?')[0]}/runs/{RUN}/review"
    await visit.page.goto(address)
    if await visit.page.locator("[data-rater]").input_value() != rater:
        await visit.page.locator("[data-rater]").fill(rater)
        async with visit.page.expect_navigation():
            await visit.page.locator("[data-rater]").press("Enter")
    if queue:
        await visit.page.goto(f"{address}?queue={queue}")
    return visit.page


async def is_right(page: Page) -> bool:
    """As a careful person would say."""
    truth = (await page.locator("[data-truth] .prose").inner_text()).strip()
    return f"answer is {truth}." in await page.locator("[data-response] .prose").inner_text()


async def label_next(page: Page, done: int, decide: Callable[[bool], bool] = lambda right: right) -> None:
    """One key for the verdict, one to go on; it is kept when the count says so."""
    await expect(page.locator("[data-own]")).to_have_count(0)
    await expect(page.locator("[data-response]")).to_be_visible()
    await page.keyboard.press("c" if decide(await is_right(page)) else "i")
    await expect(page.locator("[data-own]")).to_be_visible()
    await expect(page.locator("[data-done]")).to_have_attribute("data-done", str(done))
    await page.keyboard.press("Space")


def note_items(page: Page, told: list[dict[str, Any]], reading: set["asyncio.Task[None]"]) -> None:
    """What the server sends of a text, as it goes over the wire."""

    async def read(answer: Response) -> None:
        told.append(await answer.json())

    def note(answer: Response) -> None:
        if "/review/item" in answer.url and answer.ok:
            reading.add(asyncio.ensure_future(read(answer)))

    page.on("response", note)


async def corrected_of(visit: Visit, link: str, rater: str) -> str:
    page = await sit_down(visit, link, rater)
    return await page.locator('[data-estimate="corrected"]').inner_text()


async def label_through_a_crash(chromium: Chromium, place: Path, port: int, started: list[Begun]) -> tuple[str, str]:
    """Twenty by keyboard, with kill -9 before the eleventh; the queue, and the last link."""
    viewer, link = await serve(place, port)
    started.append(viewer)
    told: list[dict[str, Any]] = []
    reading: set[asyncio.Task[None]] = set()
    async with chromium.visiting(expected=EXPECTED) as visit:
        page = await sit_down(visit, link, "ann")
        await page.locator("[data-draw] [name=count]").fill(str(LABELLED))
        note_items(page, told, reading)
        await page.locator("[data-draw] [type=submit]").click()
        for done in range(1, 11):
            await label_next(page, done)
        await expect(page.locator("[data-own]")).to_have_count(0)
        viewer.kill()
        # Until it is gone, its port is taken and it may still answer.
        await asyncio.to_thread(viewer.communicate)
        await page.keyboard.press("c" if await is_right(page) else "i")
        await expect(page.locator("[data-notice]")).to_be_visible()
        viewer, link = await serve(place, port)
        started.append(viewer)
        second = await visit.context.new_page()
        await second.goto(link)
        # The link's page moves on by itself; one that is closed on the way may never say so, and goes with its context.
        await second.wait_for_url(f"{link.split('/?')[0]}/")
        await page.bring_to_front()
        await expect(page.locator("[data-done]")).to_have_attribute("data-done", "11")
        await page.keyboard.press("Space")
        for done in range(12, LABELLED + 1):
            await label_next(page, done)
        await expect(page.locator("[data-all-done]")).to_be_visible()
        queue = page.url.split("queue=")[1].split("&")[0]
        # While the browser is there: what it has forgotten is never told, and would be waited for for ever.
        await asyncio.wait_for(asyncio.gather(*reading), PATIENCE_MILLISECONDS / 1_000)
    blind = [item for item in told if item["own"] is None]
    assert len(blind) >= LABELLED
    assert all(not item.keys() & {"judged", "raters", "standing"} for item in blind)
    return queue, link


def test_twenty_labels_by_keyboard_survive_a_crash_and_two_raters_are_settled_by_a_third(
    chromium: Chromium, place: Path
) -> None:
    """Nothing is told before one's own word; the corrected headline follows what was settled."""
    started: list[Begun] = []

    async def scenario() -> None:
        queue, link = await label_through_a_crash(chromium, place, free_port(), started)
        async with chromium.visiting() as ann:
            before = await corrected_of(ann, link, "ann")
        async with chromium.visiting() as bob:
            page = await sit_down(bob, link, "bob", queue)
            # Once he says the opposite of what is right.
            await label_next(page, 1, lambda right: not right)
            await label_next(page, 2)
        async with chromium.visiting() as ada:
            page = await sit_down(ada, link, "ada")
            await expect(page.locator("[data-agreement]")).to_contain_text("50.0%")
            await page.locator('[data-queue="disputes"] .action').click()
            await expect(page.locator("[data-item]")).to_be_visible()
            await label_next(page, 1, lambda right: not right)
            await expect(page.locator("[data-all-done]")).to_be_visible()
            assert await corrected_of(ada, link, "ada") != before
            await ada.open(f"{link.split('/?')[0]}/runs/{RUN}")
            await expect(page.locator("#corrected")).to_be_visible()

    try:
        chromium.do(scenario())
    finally:
        for viewer in started:
            viewer.kill()
            if not viewer.stdout.closed:
                viewer.communicate()
    labels = [line for file in (place / "ws" / "labels").rglob("*.jsonl") for line in file.read_text().splitlines()]

    assert sum('"ann"' in line for line in labels) == LABELLED

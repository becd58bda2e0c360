"""Several people, one server: whose label it is, keys that are pressed quickly, notes, windows, and looking back."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Page, expect
from tests.browser.driving import Chromium, Visit
from tests.browser.material import numbers, replies
from tests.flows.running import mixseek_here, write_jsonl
from tests.once import made_once

from mixseek.web.server import ViewServer

RUN = "kind"


def make_place(place: Path) -> None:
    """A run of forty answers by one judge, and a draw of twenty."""
    rows = numbers()[:40]
    write_jsonl(place / "rows.jsonl", rows)
    write_jsonl(place / "kind.jsonl", replies(rows))
    words = ("judge", "rows.jsonl", "--judge", "replay:kind.jsonl", "--workspace", "ws", "--run", RUN, "-q")
    assert mixseek_here(*words, cwd=place).returncode == 0
    sheet = ("label", "sample", RUN, "--n", "20", "--to", "sheet.csv", "--workspace", "ws")
    assert mixseek_here(*sheet, cwd=place).returncode == 0


@pytest.fixture
def root(chromium: Chromium, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    shutil.copytree(made_once(tmp_path_factory, "raters-workspace", make_place), tmp_path / "own")
    return tmp_path / "own" / "ws"


def labels_of(root: Path) -> list[dict[str, Any]]:
    path = root / "labels" / "labels.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.is_file() else []


async def open_review(visit: Visit, server: ViewServer, query: str = "") -> Page:
    await visit.follow(server.link)
    await visit.page.goto(f"{server.address}/runs/{RUN}/review{query}")
    return visit.page


async def open_draw(visit: Visit, server: ViewServer, rater: str) -> Page:
    """The drawn queue before this person."""
    page = await open_review(visit, server, f"?rater={rater}")
    await page.locator('[data-queue^="draw:"] .action').click()
    await expect(page.locator("[data-response]")).to_be_visible()
    return page


def test_the_name_in_the_address_is_whose_labels_they_are_through_the_whole_queue(
    chromium: Chromium, root: Path
) -> None:
    """It is shown large; another name in the same browser is asked about, and the answer holds."""
    server = chromium.serve(root)

    async def scenario() -> None:
        async with chromium.visiting() as visit:
            page = await open_draw(visit, server, "bob")
            await expect(page.locator("[data-rater-name]")).to_have_text("bob")
            size = await page.locator("[data-rater-name]").evaluate(
                "element => parseFloat(getComputedStyle(element).fontSize)"
            )
            assert size >= 20
            await page.keyboard.press("c")
            await expect(page.locator("[data-own]")).to_be_visible()
            await page.reload()
            await expect(page.locator("[data-rater-name]")).to_have_text("bob")
            # Somebody else, by another link.
            await page.goto(re.sub("rater=bob", "rater=ann", page.url))
            await expect(page.locator("[data-second-name]")).to_contain_text("bob")
            await page.locator("[data-is-kept]").click()
            await expect(page.locator("[data-rater-name]")).to_have_text("bob")
            await page.goto(re.sub("rater=bob", "rater=ann", page.url))
            await page.locator("[data-is-addressed]").click()
            await expect(page.locator("[data-rater-name]")).to_have_text("ann")
            await expect(page.locator("[data-response]")).to_be_visible()
            await page.keyboard.press("i")
            await expect(page.locator("[data-own]")).to_be_visible()

    chromium.do(scenario())

    assert [(label["rater"], label["given"]) for label in labels_of(root)] == [("bob", "correct"), ("ann", "incorrect")]


def test_a_window_keeps_its_rater_though_another_window_names_somebody_else(chromium: Chromium, root: Path) -> None:
    """Both share one cookie, which is the second one's then: a label is whose name stands on its page."""
    server = chromium.serve(root)

    async def scenario() -> None:
        async with chromium.visiting(expected="a window more") as visit:
            page = await open_draw(visit, server, "bob")
            second = await visit.context.new_page()
            await second.goto(re.sub("rater=bob", "rater=ann", page.url))
            await second.locator("[data-is-addressed]").click()
            await expect(second.locator("[data-rater-name]")).to_have_text("ann")
            await page.bring_to_front()
            await expect(page.locator("[data-rater-name]")).to_have_text("bob")
            await page.keyboard.press("c")
            await expect(page.locator("[data-own]")).to_be_visible()

    chromium.do(scenario())

    assert [(label["rater"], label["given"]) for label in labels_of(root)] == [("bob", "correct")]


def test_one_link_a_rater_is_made_on_the_page_and_opens_in_another_browser(chromium: Chromium, root: Path) -> None:
    server = chromium.serve(root)

    async def scenario() -> None:
        async with chromium.visiting() as visit:
            page = await open_review(visit, server, "?rater=lead")
            await page.locator("[data-invited]").fill("ann")
            await page.locator("[data-invited]").press("Enter")
            await expect(page.locator("[data-link]")).to_be_visible()
            link = await page.locator("[data-link]").input_value()
        async with chromium.visiting() as other:
            await other.page.goto(link)
            await expect(other.page.locator("[data-rater-name]")).to_have_text("ann")
            await other.page.locator('[data-queue^="draw:"] .action').click()
            await expect(other.page.locator("[data-rater-name]")).to_have_text("ann")

    chromium.do(scenario())


def test_five_quick_keys_are_five_labels(chromium: Chromium, root: Path) -> None:
    """With one key a label the next text comes at once; keys that are pressed while one is saved wait for it."""
    server = chromium.serve(root)

    async def scenario() -> None:
        async with chromium.visiting() as visit:
            page = await open_draw(visit, server, "ann")
            await page.locator("[data-at-once]").check()
            await page.locator("h1").click()
            for key in "cicci":
                await page.keyboard.press(key)
            await expect(page.locator("[data-done]")).to_have_attribute("data-done", "5")
            # Held down, a key is one key.
            await page.keyboard.down("c")
            await page.keyboard.down("c")
            await page.keyboard.up("c")
            await expect(page.locator("[data-done]")).to_have_attribute("data-done", "6")
            # With two keys a label, the same: none of them is lost.
            await page.locator("[data-at-once]").uncheck()
            await page.locator("h1").click()
            for key in ("i", "Space", "c", "Space"):
                await page.keyboard.press(key)
            await expect(page.locator("[data-done]")).to_have_attribute("data-done", "8")

    chromium.do(scenario())

    given = [label["given"] for label in labels_of(root)]
    assert given == [{"c": "correct", "i": "incorrect"}[key] for key in "ciccicic"]
    assert len({label["text"] for label in labels_of(root)}) == 8


def test_a_note_survives_escape_a_reload_and_goes_with_its_label(chromium: Chromium, root: Path) -> None:
    server = chromium.serve(root)

    async def scenario() -> None:
        async with chromium.visiting() as visit:
            page = await open_draw(visit, server, "ann")
            await page.keyboard.press("n")
            await page.keyboard.type("unclear question")
            await page.keyboard.press("Escape")
            await page.keyboard.press("Escape")
            await page.locator('[data-queue^="draw:"] .action').click()
            await expect(page.locator("[data-note]")).to_have_value("unclear question")
            await page.reload()
            await expect(page.locator("[data-note]")).to_have_value("unclear question")
            await page.keyboard.press("c")
            await expect(page.locator("[data-own]")).to_contain_text("unclear question")
            await page.keyboard.press("Space")
            await expect(page.locator("[data-note]")).to_have_value("")

    chromium.do(scenario())

    assert [label["note"] for label in labels_of(root)] == ["unclear question"]


def test_a_second_window_that_overwrites_says_so(chromium: Chromium, root: Path) -> None:
    """What was said before is named, and Undo brings it back."""
    server = chromium.serve(root)

    async def scenario() -> None:
        async with chromium.visiting(expected="a window more") as visit:
            page = await open_draw(visit, server, "ann")
            second = await visit.context.new_page()
            await second.goto(page.url)
            await expect(second.locator("[data-response]")).to_be_visible()
            await page.keyboard.press("c")
            await expect(page.locator("[data-own]")).to_be_visible()
            await expect(page.locator("[data-notice]")).to_be_hidden()
            await second.bring_to_front()
            await second.keyboard.press("i")
            await expect(second.locator("[data-notice]")).to_contain_text("labelled this text already")
            await expect(second.locator("[data-notice]")).to_contain_text("correct")
            await second.keyboard.press("u")
            await expect(second.locator("[data-own]")).to_contain_text("correct")

    chromium.do(scenario())


def test_the_left_arrow_looks_at_the_last_ones_and_the_right_one_comes_back(chromium: Chromium, root: Path) -> None:
    server = chromium.serve(root)

    async def scenario() -> None:
        async with chromium.visiting() as visit:
            page = await open_draw(visit, server, "ann")
            texts = []
            for key in "ci":
                texts.append(await page.locator("[data-review]").get_attribute("data-text"))
                await page.keyboard.press(key)
                await expect(page.locator("[data-own]")).to_be_visible()
                await page.keyboard.press("Space")
                await expect(page.locator("[data-own]")).to_have_count(0)
            waiting = await page.locator("[data-review]").get_attribute("data-text")
            for key, text, said in (("ArrowLeft", texts[1], "incorrect"), ("ArrowLeft", texts[0], "correct")):
                await page.keyboard.press(key)
                await expect(page.locator("[data-review]")).to_have_attribute("data-text", str(text))
                await expect(page.locator("[data-own]")).to_have_attribute("data-own", said)
            await page.keyboard.press("ArrowLeft")
            await expect(page.locator("[data-looking-back]")).to_contain_text("1 of 2")
            for text in (texts[1], waiting):
                await page.keyboard.press("ArrowRight")
                await expect(page.locator("[data-review]")).to_have_attribute("data-text", str(text))
            await expect(page.locator("[data-own]")).to_have_count(0)

    chromium.do(scenario())

    assert len(labels_of(root)) == 2

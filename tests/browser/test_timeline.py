"""What came before an answer: steps one below the other, failures in sight, and a label for each of them."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Page, expect
from tests.browser.driving import Chromium, find_barriers, overflow_of
from tests.flows.running import mixseek_here, write_jsonl

from mixseek.web.server import ViewServer

_DOT = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAA"
    "AfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
_HOURS = {"place": "museum", "day": "Monday"}
STEPS: list[dict[str, Any]] = [
    {"role": "system", "text": "You are a clerk."},
    {"role": "user", "text": "Is the museum open on Monday?", "images": [_DOT, "plan-of-the-house.png"]},
    {"role": "tool", "tool": "opening_hours", "arguments": _HOURS, "result": "503 unavailable", "status": "error"},
    {"role": "tool", "tool": "opening_hours", "arguments": _HOURS, "result": "closed " * 200, "status": "ok"},
    {"role": "assistant", "text": "It is <b>closed</b> on Mondays. The answer is closed."},
]
SAMPLE = {
    "id": "museum",
    "question": "Is the museum open on Monday?",
    "ground_truth": "closed",
    "steps": STEPS,
    "contexts": [{"id": "leaflet", "text": "Closed on Mondays. " * 60, "source": "leaflet.pdf"}, "Entry is free."],
}


@pytest.fixture(scope="module")
def place(chromium: Chromium, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Depends on the browser: without one, nothing need be judged."""
    root = tmp_path_factory.mktemp("timeline")
    write_jsonl(root / "agent.jsonl", [SAMPLE])
    for words in (
        ("judge", "agent.jsonl", "--workspace", "ws", "--run", "agent", "-q"),
        ("report", "agent", "--workspace", "ws"),
    ):
        done = mixseek_here(*words, cwd=root)
        assert done.returncode == 0, done.stderr
    return root


@pytest.fixture(scope="module")
def server(chromium: Chromium, place: Path) -> ViewServer:
    return chromium.serve(place / "ws")


async def look_at_steps(page: Page) -> None:
    """Numbered, with what failed in sight and what is long out of it, and nothing of it is markup."""
    steps = page.locator("#detail .timeline > .step")
    await expect(steps).to_have_count(len(STEPS))
    heads = [re.sub(r"\s+", " ", text).strip() for text in await steps.locator(".step-head").all_inner_texts()]
    assert heads == ["1 system", "2 user", "3 tool opening_hours failed", "4 tool opening_hours", "5 assistant"]
    await expect(steps.nth(2).get_by_text("503 unavailable").last).to_be_visible()
    await expect(steps.nth(3).locator(".step-data").last).to_be_hidden()
    await expect(steps.nth(1).locator("img")).to_have_count(1)
    await expect(steps.nth(1)).to_contain_text("Picture: plan-of-the-house.png")
    await expect(steps.nth(4)).to_contain_text("It is <b>closed</b> on Mondays.")
    contexts = page.locator("#detail .context")
    assert [await context.get_attribute("open") for context in await contexts.all()] == [None, ""]
    assert await overflow_of(page) <= 0


async def walk_by_keyboard(page: Page) -> None:
    """Arrow keys lead from step to step, and from one judgment to the next no more."""
    await page.locator("#detail .timeline").focus()
    for number in (1, 2, 3):
        await page.keyboard.press("ArrowDown")
        await expect(page.locator(f"#detail [data-step='{number}']")).to_be_focused()
    await page.keyboard.press("ArrowUp")
    await expect(page.locator("#detail [data-step='2']")).to_be_focused()


def test_the_page_shows_steps_and_contexts(chromium: Chromium, place: Path) -> None:
    async def scenario() -> None:
        async with chromium.visiting() as visit:
            await visit.page.goto((place / "ws" / "runs" / "agent" / "report.html").as_uri() + "#id=museum")
            await look_at_steps(visit.page)
            await walk_by_keyboard(visit.page)
            assert await find_barriers(visit.page) == []
            assert visit.strangers("file:", "data:") == []

    chromium.do(scenario())


def test_a_label_says_which_step_was_wrong(chromium: Chromium, place: Path, server: ViewServer) -> None:
    """Beside the open judgment and in the review; what nobody said of a step is not kept."""

    async def scenario() -> None:
        async with chromium.visiting() as visit:
            page = visit.page
            await visit.follow(server.link)
            await visit.open(f"{server.address}/runs/agent#id=museum")
            await look_at_steps(page)
            await page.get_by_role("button", name="Give a label").click()
            await page.locator("#detail [data-rater]").fill("mia")
            await page.get_by_text("Label steps, too").click()
            lines = page.locator("#detail [data-step-line]")
            await expect(lines).to_have_count(len(STEPS))
            await lines.nth(2).locator("[data-step-mark='0']").check()
            await lines.nth(3).locator("[data-step-mark='1']").check()
            assert await find_barriers(page) == []
            await page.locator("#detail [data-verdict=correct]").click()
            await expect(page.locator("#detail .people")).to_contain_text("mia")

    chromium.do(scenario())
    lines = (place / "ws" / "labels" / "labels.jsonl").read_text(encoding="utf-8").splitlines()

    assert [json.loads(line)["steps"] for line in lines] == [{"3": 0.0, "4": 1.0}]


def test_the_review_shows_steps_before_they_are_labelled(chromium: Chromium, server: ViewServer) -> None:
    """Whoever labels blind sees what the judges saw."""

    async def scenario() -> None:
        async with chromium.visiting() as visit:
            page = visit.page
            await visit.follow(server.link)
            await visit.open(f"{server.address}/runs/agent/review?queue=filter%3Aq%3Dmuseum&rater=noa")
            await expect(page.locator(".timeline > .step")).to_have_count(len(STEPS))
            await expect(page.locator("[data-step-line]")).to_have_count(len(STEPS))

    chromium.do(scenario())

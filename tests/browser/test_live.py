"""A run that is judged in another process, seen from a browser that was opened before it began."""

import re
import signal
from pathlib import Path

from playwright.async_api import Page, expect
from tests.browser.driving import Chromium
from tests.flows.loopback import loopback
from tests.flows.running import start, sums, write_jsonl

SAMPLES = 400


async def judged(page: Page) -> int:
    """As the page says."""
    said = re.search(r"([\d,]+) of 400", await page.locator(".live-line").inner_text())
    assert said is not None
    return int(said[1])


def test_a_run_is_watched_from_before_it_begins_until_its_numbers_are_there(chromium: Chromium, tmp_path: Path) -> None:
    """From the printed link of the command, on an empty workspace; counts grow by events, without another request."""
    write_jsonl(tmp_path / "sums.jsonl", sums(SAMPLES))
    command = ("judge", "sums.jsonl", "--workspace", "ws", "--run", "watched", "--concurrency", "8", "-q")
    with loopback() as mock:
        # Until the page has shown what it is to show, the run is in the middle.
        mock.hold(after=100)
        viewer = start("view", "--no-open", "--workspace", "ws", cwd=tmp_path)
        started = [viewer]
        link = viewer.stdout.readline().split()[-1]

        async def scenario() -> None:
            async with chromium.visiting() as visit:
                page = visit.page
                await visit.follow(link)
                await expect(page.locator(".empty")).to_contain_text("mixseek judge")
                started.append(start(*command, "--judge", mock.spec, cwd=tmp_path))
                await page.get_by_role("link", name="watched", exact=True).click()
                await expect(page.locator(".live-line")).to_contain_text("running")
                # Its first numbers come by themselves.
                await expect(page.locator(".headlines")).to_be_visible()
                await expect(page.locator(".live-line")).to_contain_text("running")
                await expect(page.locator(".live-line")).to_contain_text("100 of")
                before, asked = await judged(page), len(visit.requests)
                mock.hold(after=100)
                await expect(page.locator(".live-line")).not_to_contain_text(f"{before} of")
                assert before < await judged(page) < SAMPLES
                assert [url for url in visit.requests[asked:] if "/live" in url or "/api/" not in url] == []
                mock.release()
                await expect(page.locator("#matches")).to_have_text("400 judgments")
                await expect(page.locator(".headlines")).to_be_visible()
                counts = await page.locator(".headlines li a").all_inner_texts()
                assert sum(int(text.split()[0]) for text in counts) == SAMPLES

        try:
            chromium.do(scenario())
            viewer.send_signal(signal.SIGINT)
            _, errors = viewer.communicate()
        finally:
            for process in started:
                process.kill()
                if not process.stdout.closed:
                    process.communicate()

    assert (viewer.returncode, errors) == (0, "")

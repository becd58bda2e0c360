"""A run that is judged in another process, seen from a browser that was opened before it began."""

import re
import signal
from pathlib import Path

from playwright.async_api import Page, expect
from tests.browser.driving import Chromium
from tests.flows.loopback import Loopback, loopback
from tests.flows.running import mixseek_here, start, sums, write_jsonl
from tests.flows.warm import Begun

SAMPLES = 400


async def judged(page: Page) -> int:
    """As the page says."""
    said = re.search(r"([\d,]+) of 400", await page.locator(".live-line").inner_text())
    assert said is not None
    return int(said[1])


def test_a_run_is_watched_from_before_it_begins_until_its_numbers_are_there(chromium: Chromium, tmp_path: Path) -> None:
    """From the printed link of the command, on an empty workspace; counts grow by events, without another request."""
    # Without a ground truth nobody would be asked.
    write_jsonl(tmp_path / "sums.jsonl", [row for row in sums(SAMPLES * 5 // 4) if row["ground_truth"] is not None])
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
                # The page is loaded once more when the run has ended.
                await expect(page.locator("#live[data-ended]")).to_be_attached()
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


def test_a_run_that_starts_later_appears_and_what_is_new_is_a_click_away(chromium: Chromium, tmp_path: Path) -> None:
    """The endpoint answers when it is told to: what the page says in between is certain."""
    # Without a ground truth nobody would be asked.
    write_jsonl(tmp_path / "sums.jsonl", [row for row in sums(50) if row["ground_truth"] is not None])
    command = ("judge", "sums.jsonl", "--workspace", "ws", "--concurrency", "4", "--max-reasks", "0", "-q")
    assert mixseek_here(*command, "--judge", "rules", "--run", "earlier", cwd=tmp_path).returncode == 0
    server = chromium.serve(tmp_path / "ws")
    started: list[Begun] = []

    with loopback() as mock:

        async def scenario() -> None:
            async with chromium.visiting() as visit:
                page = visit.page
                await visit.follow(server.link)
                await expect(page.locator("#runs tbody tr")).to_have_count(1)
                mock.hold()
                started.append(start(*command, "--judge", mock.spec, "--run", "later", cwd=tmp_path))
                # A page of finished runs looks for new ones as well.
                await expect(page.get_by_role("link", name="later", exact=True)).to_be_visible()
                await visit.open(f"{server.address}/runs/later")
                mock.let_through(8)
                await expect(page.locator(".live-line")).to_contain_text("8 of 40")
                await page.reload()
                await expect(page.locator("[data-counted-at]")).to_be_visible()
                await expect(page.locator("#matches")).to_have_text("8 judgments")
                # Four are in flight, and none of them is missing.
                assert "missing" not in (await page.locator(".headlines").inner_text()).replace("0 missing", "")
                mock.let_through(5)
                await expect(page.locator("[data-show-new]")).to_have_text("5 new · show")
                name = await page.locator(".newest li a").first.inner_text()
                await page.locator(".newest li a").first.click()
                await expect(page.locator(".detail-id").first).to_contain_text(name)
                await expect(page.locator("#matches")).to_have_text("13 judgments")
                await expect(page.locator("[data-show-new]")).to_be_hidden()
                mock.let_through(3)
                await page.locator("[data-show-new]").click()
                await expect(page.locator("#matches")).to_have_text("16 judgments")
                mock.release()
                await expect(page.locator("#matches")).to_have_text("40 judgments")

        try:
            chromium.do(scenario())
        finally:
            mock.release()
            for process in started:
                process.kill()
                process.communicate()


# Where the focus is, by what a person would call it.
FOCUSED = (
    "document.activeElement.getAttribute('href') ?? document.activeElement.dataset.outcome ?? document.activeElement.id"
)
AT_THE_TOP = "list => list.scrollTop"


async def see_lines_stay(page: Page, mock: Loopback) -> None:
    """The line of a judgment that is the newest no longer stays where somebody is at it."""
    await page.locator(".newest a").nth(2).focus()
    line = await page.evaluate(FOCUSED)
    for more, done in ((1, 21), (9, 30)):
        mock.let_through(more)
        await expect(page.locator(".live-line")).to_contain_text(f"{done} of 40")
        assert await page.evaluate(FOCUSED) == line


async def see_rows_stay(page: Page, mock: Loopback) -> None:
    """Rows that are taken in move nothing; nor do the counts above them."""
    lines = await page.locator(".newest a").count()
    await page.locator("#list").evaluate("list => { list.scrollTop = 310; }")
    await page.locator("[data-show-new]").focus()
    await page.keyboard.press("Enter")
    await expect(page.locator("#matches")).to_have_text("30 judgments")
    await expect(page.locator(".newest a")).to_have_count(lines - 1)
    assert await page.evaluate(FOCUSED) == "list"
    assert await page.locator("#list").evaluate(AT_THE_TOP) == 310
    await page.locator("[data-outcome]").last.focus()
    outcome = await page.evaluate(FOCUSED)
    mock.let_through(2)
    await expect(page.locator("[data-show-new]")).to_have_text("2 new · show")
    await page.locator("[data-show-new]").evaluate("button => button.click()")
    await expect(page.locator("#matches")).to_have_text("32 judgments")
    await expect(page.locator("[data-outcome='']")).to_contain_text("32")
    assert await page.evaluate(FOCUSED) == outcome


async def see_the_end(page: Page, mock: Loopback) -> None:
    """The page is another one then."""
    outcome = await page.evaluate(FOCUSED)
    height = await page.evaluate("window.isSamePage = true, scrollTo(0, 400), scrollY")
    mock.release()
    await expect(page.locator("#live[data-ended]:not([data-pending])")).to_be_attached()
    await expect(page.locator("#matches")).to_have_text("40 judgments")
    await expect(page.locator(f"[data-outcome='{outcome}']")).to_be_focused()
    await expect(page.locator(".row-id").first).to_be_visible()
    assert await page.evaluate("window.isSamePage") is None
    assert await page.locator("#list").evaluate(AT_THE_TOP) == 310
    assert await page.evaluate("scrollY") == height


def test_the_focus_and_the_place_survive_what_comes_in_while_a_run_is_judged(
    chromium: Chromium, tmp_path: Path
) -> None:
    """Events redraw the newest judgments, new rows are taken in, and the page is loaded anew when the run has ended."""
    write_jsonl(tmp_path / "sums.jsonl", [row for row in sums(50) if row["ground_truth"] is not None])
    command = ("judge", "sums.jsonl", "--workspace", "ws", "--concurrency", "1", "--max-reasks", "0", "-q")
    assert mixseek_here(*command, "--judge", "rules", "--run", "earlier", cwd=tmp_path).returncode == 0
    server = chromium.serve(tmp_path / "ws")
    started: list[Begun] = []

    with loopback() as mock:

        async def scenario() -> None:
            async with chromium.visiting() as visit:
                page = visit.page
                await visit.follow(server.link)
                mock.hold()
                started.append(start(*command, "--judge", mock.spec, "--run", "later", cwd=tmp_path))
                await expect(page.get_by_role("link", name="later", exact=True)).to_be_visible()
                await visit.open(f"{server.address}/runs/later")
                mock.let_through(20)
                await expect(page.locator(".live-line")).to_contain_text("20 of 40")
                await page.reload()
                await expect(page.locator("#matches")).to_have_text("20 judgments")
                await expect(page.locator("[data-outcome]").first).to_be_visible()
                await see_lines_stay(page, mock)
                await see_rows_stay(page, mock)
                await see_the_end(page, mock)

        try:
            chromium.do(scenario())
        finally:
            mock.release()
            for process in started:
                process.kill()
                process.communicate()

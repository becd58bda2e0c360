"""A comparison for somebody in a hurry: its numbers first, copied as they stand, and texts that can be read."""

import json
import re
from pathlib import Path

from playwright.async_api import Page, expect
from tests.browser.driving import Chromium, Visit
from tests.browser.material import numbers
from tests.unit.web.viewing import judge_rows

from mixseek.web.server import ViewServer

COMPARED = "/compare?a=sums&b=later"


async def open_comparison(visit: Visit, viewer: ViewServer, path: str = COMPARED) -> Page:
    await visit.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=viewer.address)
    await visit.follow(viewer.link)
    await visit.open(f"{viewer.address}{path}")
    await expect(visit.page.locator("#copy-markdown")).to_be_visible()
    return visit.page


def rows_in(markdown: str) -> set[tuple[str, ...]]:
    """The rows of all tables, without what makes names inert or numbers bold."""
    lines = [line for line in markdown.splitlines() if line.startswith("| ")]
    return {tuple(cell.strip().strip("`*").strip() for cell in line.strip("| ").split(" | ")) for line in lines}


async def rows_of(page: Page, table: str) -> list[tuple[str, ...]]:
    """The rows of a table of the page; what is drawn says nothing that its numbers do not."""
    script = """rows => rows.map(row =>
      [...row.cells].filter(cell => !cell.matches(".plot-cell")).map(cell => cell.textContent.trim()))"""
    return [tuple(row) for row in await page.locator(f"{table} tbody tr").evaluate_all(script)]


def without_plots(rows: set[tuple[str, ...]]) -> set[tuple[str, ...]]:
    """Intervals are drawn in characters where a column of them is."""
    return {tuple(cell for cell in row if not re.search("[●━┊]", cell)) for row in rows}


def test_a_comparison_copied_as_markdown_equals_the_numbers_of_the_page(chromium: Chromium, viewer: ViewServer) -> None:
    async def scenario() -> None:
        async with chromium.visiting() as visit:
            page = await open_comparison(visit, viewer)
            await page.get_by_role("button", name="Copy as Markdown").click()
            await expect(page.locator("#copied")).to_have_text("Markdown copied.")
            markdown = await page.evaluate("navigator.clipboard.readText()")
            movement = await page.locator(".movement").inner_text()
            assert re.fullmatch(r"[\d.]+% → [\d.]+% \(−[\d.]+ points, −[\d.]+ to −[\d.]+\)", movement)
            assert movement in markdown.replace("`", "")
            copied = without_plots(rows_in(markdown))
            for table in (".sides", ".groups"):
                shown = await rows_of(page, table)
                assert shown
                assert [row for row in shown if row not in copied] == []
            for count in await page.locator(".statuses li b").all_inner_texts():
                assert re.search(rf"\b{count}\b", markdown)
            assert await page.locator(".conclusion").inner_text() in markdown.replace("`", "").replace("*", "")
            assert visit.strangers(viewer.address) == []

    chromium.do(scenario())


def test_the_plot_is_copied_as_a_picture_under_the_policy_of_the_page(chromium: Chromium, viewer: ViewServer) -> None:
    """As it stands there: its colours are in it, and nothing is asked of anybody."""
    script = """async () => {
      const [item] = await navigator.clipboard.read();
      const bitmap = await createImageBitmap(await item.getType("image/png"));
      const canvas = new OffscreenCanvas(bitmap.width, bitmap.height).getContext("2d");
      canvas.drawImage(bitmap, 0, 0);
      const colours = new Set(new Uint32Array(canvas.getImageData(0, 0, bitmap.width, bitmap.height).data.buffer));
      const means = [...document.querySelectorAll(".opening .plot-mean")].map(mean => {
        const [red, green, blue] = getComputedStyle(mean).fill.match(/\\d+/g).map(Number);
        return colours.has(0xff000000 + blue * 0x10000 + green * 0x100 + red);
      });
      return JSON.stringify([item.types, bitmap.width, bitmap.height, colours.size, means]);
    }"""

    async def scenario() -> None:
        async with chromium.visiting() as visit:
            page = await open_comparison(visit, viewer)
            await page.get_by_role("button", name="Copy the plot as PNG").click()
            await expect(page.locator("#copied")).to_have_text("Picture copied.")
            types, width, height, colours, means = json.loads(await page.evaluate(script))
            assert types == ["image/png"]
            assert width > 1_000
            assert height > 100
            # The ground, the words, the axis, the interval and its mean; with text alone there are greys only.
            assert colours > 20
            assert means
            assert all(means)
            assert visit.strangers(viewer.address) == []

    chromium.do(scenario())


def test_where_a_browser_refuses_to_copy_the_text_is_there_to_be_marked(chromium: Chromium, viewer: ViewServer) -> None:
    """As on another machine without encryption, where pages have no clipboard."""

    async def scenario() -> None:
        async with chromium.visiting() as visit:
            await visit.page.add_init_script("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
            page = await open_comparison(visit, viewer)
            await page.get_by_role("button", name="Copy as Markdown").click()
            await expect(page.locator("#markdown-text")).to_have_value(re.compile(r"points.*\| A \|", re.DOTALL))
            await expect(page.locator("#copied")).to_contain_text("refuses to copy")

    chromium.do(scenario())


def test_differences_are_switched_off_and_texts_without_much_in_common_stay_plain(
    chromium: Chromium, tmp_path: Path
) -> None:
    before = [{**row, "id": "alike"} for row in numbers()[1:2]] + [{**row, "id": "unlike"} for row in numbers()[2:3]]
    after = [{**before[0], "response": before[0]["response"].replace("2.", "9.")}]
    after.append({**before[1], "response": "Whoever asks me that has never counted anything at all, I fear."})
    for run, rows in (("before", before), ("after", after)):
        judge_rows(tmp_path, tuple(rows), run)

    viewer = chromium.serve(tmp_path / "ws")

    async def scenario() -> None:
        async with chromium.visiting() as visit:
            page = await open_comparison(visit, viewer, "/compare?a=before&b=after")
            alike, unlike = (page.locator("details.change", has_text=name) for name in ("alike", "unlike"))
            for change in (alike, unlike):
                if await change.get_attribute("open") is None:
                    await change.locator("summary").click()
            await expect(unlike.locator(".unlike")).to_contain_text("little in common")
            await expect(unlike.locator("del, ins")).to_have_count(0)
            marked = alike.locator(".output del").first
            await expect(marked).to_have_css("text-decoration-line", "line-through")
            await page.get_by_label("Mark the words that differ").uncheck()
            await expect(marked).to_have_css("text-decoration-line", "none")
            await page.get_by_label("Mark the words that differ").check()
            await expect(marked).to_have_css("text-decoration-line", "line-through")

    chromium.do(scenario())

"""The home as a board: runs are found, appear by themselves, get other names and go, and nothing is lost meanwhile."""

import asyncio
import re
from pathlib import Path

from playwright.async_api import Locator, Page, expect
from tests.browser.driving import Chromium, Visit
from tests.browser.every_page import read_names
from tests.browser.material import numbers
from tests.flows.running import start
from tests.unit.web.viewing import judge_rows

from mixseek.storage.journal.lock import holding_lock
from mixseek.storage.workspace import Workspace
from mixseek.web.server import ViewServer

VIEW_DOCUMENT = Path(__file__).parents[2] / "docs" / "view.md"


def documented_clicks() -> dict[str, int]:
    """What the document promises, question by question."""
    rows = re.findall(r"^\| ([^|]+\?) \| (\d) \|", VIEW_DOCUMENT.read_text(encoding="utf-8"), re.MULTILINE)
    return {question: int(clicks) for question, clicks in rows}


async def walk(visit: Visit, link: str, *ways: Locator) -> int:
    """From the first page through these, one click each; a run's page, which loads itself again, is waited for."""
    await visit.page.goto("about:blank")
    await visit.follow(link)
    for place, way in enumerate(ways):
        if place == 1:
            await visit.counted()
        await way.click()
    return len(ways)


def test_an_evaluator_s_three_questions_take_as_many_clicks_as_the_document_says(
    chromium: Chromium, demo_viewer: ViewServer, demo_place: Path
) -> None:
    names = read_names(demo_place)

    async def scenario() -> None:
        async with chromium.visiting() as visit:
            page, clicks = visit.page, dict[str, int]()
            labelled, cross = (page.get_by_role("link", name=names[name]).first for name in ("labelled", "cross"))
            accepts = page.get_by_role("link", name=re.compile(": correct, people: incorrect: 1$"))
            clicks["Where is the judge wrong?"] = await walk(visit, demo_viewer.link, labelled, accepts)
            await expect(page.locator("#matches")).to_have_text("1 of 130")
            await expect(page.locator("#detail .people")).to_contain_text("The judge says something else.")
            matrix, differ = page.get_by_role("link", name="Matrix"), page.get_by_role("button", name="differ")
            clicks["What tells my models apart?"] = await walk(visit, demo_viewer.link, cross, matrix, differ)
            await expect(page.locator("#matrix-matches")).to_have_text(re.compile(r"^[1-9] of \d+ questions$"))
            await expect(page.get_by_role("button", name="differ")).to_have_attribute("aria-pressed", "true")
            compare = page.get_by_role("button", name="Compare A and B")
            clicks["What changed since last week?"] = await walk(visit, demo_viewer.link, compare)
            await expect(page.locator("h1")).to_have_text(f"{names['semantic']} against {names['labelled']}")
            await expect(page.locator(".movement")).to_have_text(re.compile(r"% → [\d.]+% \(.+ points, .+ to .+\)"))
        assert documented_clicks() == clicks

    chromium.do(scenario())


async def shown_runs(page: Page) -> list[str]:
    return await page.locator("#runs tbody tr:visible th a").all_inner_texts()


def test_runs_are_searched_and_filtered_and_the_address_says_so(chromium: Chromium, viewer: ViewServer) -> None:
    async def scenario() -> None:
        async with chromium.visiting() as visit:
            page = visit.page
            await visit.follow(viewer.link)
            matches = page.locator("#board-matches")
            await expect(matches).to_have_text("5 of 5 runs")
            await page.locator("#board-search").fill("ＬＡＴＥＲ rules")
            await expect(matches).to_have_text("1 of 5 runs")
            assert await shown_runs(page) == ["later"]
            await page.locator("#board-search").fill("CEDAR")
            await page.locator("#board-dataset").select_option("sums.jsonl")
            await expect(matches).to_have_text("1 of 5 runs")
            assert await shown_runs(page) == ["sums"]
            assert "q=CEDAR&dataset=sums.jsonl" in page.url
            await page.reload()
            await expect(matches).to_have_text("1 of 5 runs")
            await expect(page.locator("#board-search")).to_have_value("CEDAR")
            await page.locator("#board-search").fill("")
            await page.locator("#board-dataset").select_option("")
            await page.locator("#board-protocol").select_option("rubric")
            await expect(matches).to_have_text("1 of 5 runs")
            assert [name[:7] for name in await shown_runs(page)] == ["rubric-"]
            await page.locator("#board-protocol").select_option("")
            await expect(matches).to_have_text("5 of 5 runs")
            # What stands in every line finds none of them.
            await page.locator("#board-search").fill("rename")
            await expect(matches).to_have_text("0 of 5 runs")

    chromium.do(scenario())


def test_every_run_has_a_number_or_says_why_not(chromium: Chromium, viewer: ViewServer) -> None:
    """Five of the demo's twelve showed a dash: a panel's and a cross run's judges differ."""

    async def scenario() -> None:
        async with chromium.visiting() as visit:
            page = visit.page
            await visit.follow(viewer.link)
            await expect(page.locator(".board-headline .plot")).to_have_count(5)
            for text in await page.locator(".board-headline").all_inner_texts():
                assert re.match(r"[\d.]+(%|( of [\d.]+)?) ([\d.]+–[\d.]+%?)", text), text

    chromium.do(scenario())


def test_a_run_that_starts_later_appears_and_what_was_typed_and_chosen_stays(
    chromium: Chromium, tmp_path: Path
) -> None:
    """The page is not loaded again: the cursor stands where it stood."""
    for run in ("march", "april", "may"):
        judge_rows(tmp_path, tuple(numbers()), run)

    command = ("judge", "may.jsonl", "--judge", "rules", "--workspace", "ws", "--run", "june", "-q")
    viewer = chromium.serve(tmp_path / "ws")

    async def scenario() -> None:
        async with chromium.visiting() as visit:
            page = visit.page
            await visit.follow(viewer.link)
            # The pair that makes sense is chosen already.
            await expect(page.get_by_label("A: april")).to_be_checked()
            await expect(page.get_by_label("B: may")).to_be_checked()
            await page.get_by_label("A: march").check()
            await page.locator("#board-search").fill("ju")
            await page.evaluate("window.isSamePage = true")
            await expect(page.locator("#board-matches")).to_have_text("0 of 3 runs")
            process = start(*command, cwd=tmp_path)
            await expect(page.locator("#board-matches")).to_have_text("1 of 4 runs")
            await asyncio.to_thread(process.communicate)
            assert await shown_runs(page) == ["june"]
            assert await page.evaluate(
                "[window.isSamePage, document.activeElement.id, document.activeElement.value]"
            ) == [
                True,
                "board-search",
                "ju",
            ]
            await expect(page.get_by_label("A: march")).to_be_checked()
            assert [url for url in visit.requests if "/compare" in url] == []

    chromium.do(scenario())


def test_a_reader_stays_where_they_are_while_the_board_is_made_anew(chromium: Chromium, tmp_path: Path) -> None:
    """On a link of a row that has moved, with the table pushed aside and the page scrolled."""
    for run in ("march", "april", "may"):
        judge_rows(tmp_path, tuple(numbers()), run)
    viewer = chromium.serve(tmp_path / "ws")

    async def scenario() -> None:
        async with chromium.visiting((700, 400)) as visit:
            page = visit.page
            await visit.follow(viewer.link)
            await page.get_by_role("link", name="march", exact=True).focus()
            await page.locator("#runs .table-scroll").evaluate("part => { part.scrollLeft = 90; }")
            height = await page.evaluate("scrollTo(0, 40), scrollY")
            assert height > 0
            process = start(
                "judge", "may.jsonl", "--judge", "rules", "--workspace", "ws", "--run", "june", cwd=tmp_path
            )
            await expect(page.get_by_role("link", name="june", exact=True)).to_be_attached()
            await asyncio.to_thread(process.communicate)
            await expect(page.get_by_role("link", name="march", exact=True)).to_be_focused()
            assert await page.locator("#runs .table-scroll").evaluate("part => part.scrollLeft") == 90
            assert await page.evaluate("scrollY") == height

    chromium.do(scenario())


def test_a_run_gets_another_name_and_goes_after_a_question(chromium: Chromium, tmp_path: Path) -> None:
    """What the command line would refuse is refused in the question, with its sentence."""
    for run in ("march", "april"):
        judge_rows(tmp_path, tuple(numbers()), run)
    march = Workspace(tmp_path / "ws").run("march")

    viewer = chromium.serve(tmp_path / "ws")

    async def scenario() -> None:
        # A browser reports each refusal as an error of the page.
        async with chromium.visiting(expected="400|409") as visit:
            page = visit.page
            await visit.follow(viewer.link)
            await page.get_by_role("button", name="Rename march").click()
            rename = page.get_by_role("dialog", name="Give this run another name")
            await rename.get_by_label("New name").fill("april")
            await rename.get_by_role("button", name="Rename").click()
            await expect(rename.get_by_role("alert")).to_contain_text("is there already")
            await rename.get_by_label("New name").fill("spring <b>")
            await rename.get_by_role("button", name="Rename").click()
            await expect(rename).to_be_hidden()
            await expect(page.get_by_role("link", name="spring <b>", exact=True)).to_be_visible()
            await page.get_by_role("button", name="Remove april").click()
            remove = page.get_by_role("dialog", name="Remove this run for good?")
            await expect(remove).to_contain_text("april")
            await remove.get_by_role("button", name="Keep it").click()
            await expect(remove).to_be_hidden()
            assert len(await shown_runs(page)) == 2
            with holding_lock(Workspace(tmp_path / "ws").run("april").lock):
                await page.get_by_role("button", name="Remove april").click()
                await remove.get_by_role("button", name="Remove").click()
                await expect(remove.get_by_role("alert")).to_contain_text("april")
            await remove.get_by_role("button", name="Remove").click()
            await expect(page.locator("#runs tbody tr")).to_have_count(1)
            assert await shown_runs(page) == ["spring <b>"]

    chromium.do(scenario())

    assert not march.exists()

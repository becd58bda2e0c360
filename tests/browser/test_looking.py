"""What a person does in the viewer: open the link, narrow the list, walk it, go back, look closely, compare."""

import re
from typing import Any

import pytest
from playwright.async_api import Page, Route, expect
from tests.browser.driving import Chromium, Visit

from mixseek.web.server import ViewServer


async def open_run(visit: Visit, viewer: ViewServer, run: str = "numbers", view: str = "") -> Page:
    """By the link, and on to a run when its judgments are listed."""
    await visit.follow(viewer.link)
    await visit.open(f"{viewer.address}/runs/{run}{view}")
    await expect(visit.page.locator("#matches")).to_have_text(re.compile(r"\d+ (of \d+|judgments)"))
    return visit.page


def test_the_link_opens_the_runs_and_leaves_no_secret_in_the_address(chromium: Chromium, viewer: ViewServer) -> None:
    async def scenario() -> None:
        async with chromium.visiting() as visit:
            page = visit.page
            await visit.follow(viewer.link)
            await page.get_by_role("link", name="numbers", exact=True).click()
            await visit.counted()
            await expect(page.locator("#matches")).to_have_text("120 judgments")
            await page.wait_for_load_state()
            assert visit.strangers(viewer.address) == []
            assert viewer.access.secret not in await page.content()
            assert await page.evaluate("document.cookie") == ""

    chromium.do(scenario())


def test_scripts_speak_the_language_of_their_page(chromium: Chromium, viewer: ViewServer) -> None:
    async def scenario() -> None:
        async with chromium.visiting() as visit:
            page = visit.page
            await visit.follow(viewer.link)
            for language, judgments, target, answer in (
                ("ja", "120 件の判定", "対象", "抽出された答え"),
                ("zh", "120 条判定", "对象", "提取的答案"),
                ("en", "120 judgments", "Target", "Extracted answer"),
            ):
                await visit.open(f"{viewer.address}/runs/numbers?lang={language}")
                await expect(page.locator("#matches")).to_have_text(judgments)
                await expect(page.locator("label.choice", has=page.locator("select[name=target]"))).to_contain_text(
                    target
                )
                await page.locator("#rows [role=option]").first.click()
                await expect(page.locator("#detail")).to_contain_text(answer)

    chromium.do(scenario())


def test_filters_search_sort_and_pages_narrow_the_list_and_stand_in_the_address(
    chromium: Chromium, viewer: ViewServer
) -> None:
    async def scenario() -> None:
        async with chromium.visiting() as visit:
            page = await open_run(visit, viewer)
            matches = page.locator("#matches")
            await page.locator('[data-outcome="incorrect"]').click()
            await expect(matches).to_have_text("20 of 120")
            await page.locator("select[name=target]").select_option("cedar")
            await expect(matches).to_have_text("10 of 120")
            await page.locator("#search").fill("ＲＯＷ-5")
            await expect(matches).to_have_text("2 of 120")
            assert "verdict=incorrect" in page.url
            assert "target=cedar" in page.url
            await page.get_by_role("button", name="Clear filters").click()
            await expect(matches).to_have_text("120 judgments")
            await page.locator("select[data-field=parity]").select_option(label="odd (60)")
            await expect(matches).to_have_text("60 of 120")
            await page.locator("select[data-field=colour]").select_option("colour=red")
            await expect(matches).to_have_text("20 of 120")
            await page.reload()
            await expect(matches).to_have_text("20 of 120")
            await expect(page.locator("select[data-field=parity]")).to_have_value("parity=odd")
            await page.locator("select[data-field=parity]").select_option("")
            await expect(matches).to_have_text("40 of 120")
            # What one judge wrote finds that judge's judgments; with a word that stands nowhere, none.
            await page.locator("#search").fill("sum step by")
            await expect(matches).to_have_text("19 of 120")
            await page.locator("#search").fill("sum step by oolong")
            await expect(matches).to_have_text("0 of 120")
            await page.locator("#search").fill("")
            await page.get_by_role("button", name="Clear filters").click()
            await page.locator("#sort").select_option("lowest")
            await expect(page.locator(".row-id").first).to_have_text("row-0")
            await expect(page.locator(".row-outcome").first).to_have_text("incorrect")
            await page.locator("#later").click()
            await expect(page.locator("#page-text")).to_have_text("101–120")
            await expect(page.locator(".row-outcome").first).to_contain_text("correct")

    chromium.do(scenario())


def test_a_deep_link_opens_one_judgment_and_back_returns_to_the_list(chromium: Chromium, viewer: ViewServer) -> None:
    async def scenario() -> None:
        async with chromium.visiting() as visit:
            page = await open_run(visit, viewer, view="#status=invalid&id=row-57")
            await expect(page.locator("#matches")).to_have_text("2 of 120")
            await expect(page.locator(".detail-id")).to_have_text("row-57")
            await page.get_by_role("link", name="Every judge, repeat and attempt").click()
            await expect(page.locator(".judge-column")).to_have_count(2)
            await expect(page.locator(".judge-column").last).to_contain_text("I would rather not.")
            await page.get_by_role("button", name="Show the prompt").click()
            await expect(page.locator(".judge-column").last).to_contain_text("What is 57 + 1?")
            await page.go_back()
            await expect(page.locator("#matches")).to_have_text("2 of 120")
            await expect(page.locator(".detail-id")).to_have_text("row-57")

    chromium.do(scenario())


def test_the_way_back_to_the_list_keeps_its_filters_and_its_place(chromium: Chromium, viewer: ViewServer) -> None:
    async def scenario() -> None:
        async with chromium.visiting() as visit:
            page = await open_run(visit, viewer, view="#status=invalid&id=row-57")
            await page.get_by_role("link", name="Every judge, repeat and attempt").click()
            await expect(page.locator(".judge-column")).to_have_count(2)
            await page.get_by_role("link", name="Back to the list").click()
            await expect(page.locator("#matches")).to_have_text("2 of 120")
            await expect(page.locator(".detail-id")).to_have_text("row-57")
            # An address of a judgment brings its page; closed, the list stays there.
            await page.goto("about:blank")
            await visit.open(f"{viewer.address}/runs/numbers#id=row-57")
            await expect(page.locator("#page-text")).to_have_text("101–120")
            await page.get_by_role("link", name="Every judge, repeat and attempt").click()
            await page.get_by_role("link", name="Back to the list").click()
            await expect(page.locator("#page-text")).to_have_text("101–120")
            await expect(page.locator(".detail-id")).to_have_text("row-57")
            await page.keyboard.press("Escape")
            await page.reload()
            await expect(page.locator("#page-text")).to_have_text("101–120")

    chromium.do(scenario())


def test_keys_walk_the_list_beyond_the_end_of_its_page(chromium: Chromium, viewer: ViewServer) -> None:
    async def scenario() -> None:
        async with chromium.visiting() as visit:
            page = await open_run(visit, viewer, view="#verdict=incorrect")
            opened = page.locator(".detail-id")
            await expect(opened).to_have_text("row-0")
            await page.keyboard.press("j")
            await page.keyboard.press("j")
            await expect(opened).to_have_text("row-6")
            await page.keyboard.press("k")
            await expect(opened).to_have_text("row-3")
            await page.keyboard.press("/")
            await page.keyboard.type("row-5")
            await expect(page.locator("#matches")).to_have_text("3 of 120")
            await page.keyboard.press("Escape")
            await expect(page.locator("#matches")).to_have_text("20 of 120")
            await page.evaluate("location.hash = ''")
            await expect(page.locator("#matches")).to_have_text("120 judgments")
            await page.locator("#list").focus()
            await page.keyboard.press("End")
            await expect(opened).to_have_text("row-49")
            await page.keyboard.press("j")
            await expect(opened).to_have_text("row-50")
            await expect(page.locator("#page-text")).to_have_text("101–120")
            await page.keyboard.press("t")
            assert await page.evaluate("document.documentElement.dataset.theme") == "dark"
            await page.keyboard.press("Enter")
            await expect(page.locator("h1")).to_have_text("row-50")
            # Its head is there before its script, which knows the key.
            await page.wait_for_load_state()
            await page.keyboard.press("Escape")
            await expect(page.locator("#page-text")).to_have_text("101–120")

    chromium.do(scenario())


def test_two_runs_side_by_side_show_the_words_that_differ(chromium: Chromium, viewer: ViewServer) -> None:
    async def scenario() -> None:
        async with chromium.visiting() as visit:
            page = visit.page
            await visit.follow(viewer.link)
            await page.get_by_label("A: sums").check()
            await page.get_by_label("B: later").check()
            await page.get_by_role("button", name="Compare A and B").click()
            await expect(page.locator("h1")).to_have_text("later against sums")
            await expect(page.locator("details.change[open] del").first).to_have_text(re.compile(r"\d+"))
            before, after = [
                int((await page.locator(f"details.change[open] {name}").first.inner_text()).strip(" ."))
                for name in ("del", "ins")
            ]
            assert after == before + 1
            await visit.open(f"{viewer.address}/compare?a=sums&b=later&kind=worse")
            await expect(page.locator('[data-kind="worse"]')).to_have_attribute("aria-pressed", "true")

    chromium.do(scenario())


def test_a_viewer_that_was_started_again_or_is_gone_is_explained(chromium: Chromium, viewer: ViewServer) -> None:
    """Another server has another key, and an answer in plain words is no JSON."""

    async def scenario() -> None:
        async with chromium.visiting(expected="403|ERR_INTERNET_DISCONNECTED") as visit:
            await visit.follow(viewer.link)
            await visit.open(f"{viewer.address}/runs/numbers")
            await expect(visit.page.locator("#matches")).to_contain_text("judgments")
            await visit.context.clear_cookies()
            await visit.page.locator("#search").fill("nothing has these words")
            await expect(visit.page.locator("#matches")).to_contain_text("The viewer was started again")
            await visit.context.set_offline(True)
            await visit.page.locator("#search").fill("nor these")
            await expect(visit.page.locator("#matches")).to_contain_text("Is mixseek view still running?")

    chromium.do(scenario())


# Every kind of page that asks, where it says why nobody answers, what is clicked before, and what makes it a live one.
ASKING: tuple[tuple[str, str, str, tuple[str, str]], ...] = (
    ("/", "#lost", "", ("", "")),
    ("/runs/numbers", "#matches", "", ("", "")),
    ("/runs/numbers#live", "#lost", "", (" data-ended", "")),
    ("/runs/numbers/matrix", "#matrix-matches", "", ("", "")),
    ("/compare/matrix?run=sums&run=later", "#matrix-matches", "", ("", "")),
    ("/runs/numbers/sample?id=row-1", "[data-label] [role=alert]", "[data-give-label]", ("", "")),
    ("/runs/numbers/sample?id=row-1", ".judge-column .prose:text('viewer')", "text=Show the prompt", ("", "")),
    ("/runs/numbers/review?rater=Ann", "#notice", "", ("", "")),
    ("/runs/numbers/review?rater=Ann&queue=all", "#notice", "", ("", "")),
    ("/competitions/", "#lost", "", ("<main>", '<main><p id="watching" data-address="/api/competitions/x"></p>')),
)


@pytest.mark.parametrize(
    ("is_there", "words"), [(True, "The viewer was started again"), (False, "Is mixseek view still running?")]
)
def test_every_page_that_asks_explains_a_viewer_that_was_started_again_or_is_gone(
    chromium: Chromium, viewer: ViewServer, is_there: bool, words: str
) -> None:
    """Its pages are there, and nothing that their scripts ask for."""
    refused: dict[str, Any] = {"status": 403, "body": "mixseek: open the link that `mixseek view` printed"}

    async def refuse(route: Route) -> None:
        await (route.fulfill(content_type="text/plain", **refused) if is_there else route.abort())

    async def scenario() -> None:
        async with chromium.visiting(expected="403|ERR_FAILED|MIME type") as visit:
            page = visit.page
            await visit.follow(viewer.link)
            await visit.open(f"{viewer.address}/runs/numbers")
            await visit.open(f"{viewer.address}/")
            await page.locator("#competitions a").first.click()
            competition = page.url.rpartition("/")[2]
            await page.route("**/api/**", refuse)
            for path, place, button, change in ASKING:

                async def alter(route: Route, *, change: tuple[str, str] = change) -> None:
                    answer = await route.fetch()
                    await route.fulfill(response=answer, body=(await answer.text()).replace(*change))

                address = viewer.address + path + (competition if path.endswith("/competitions/") else "")
                pattern = address.split("#", maxsplit=1)[0]
                if change[0]:
                    await page.route(pattern, alter)
                await page.goto("about:blank")
                await visit.open(address)
                if button:
                    await page.locator(button).first.click()
                await expect(page.locator(place).first, path).to_contain_text(words)
                if change[0]:
                    await page.unroute(pattern)
                assert "Unexpected token" not in await page.locator("body").inner_text()
            # What is asked before a run goes says it in its question.
            await visit.open(f"{viewer.address}/")
            await page.get_by_role("button", name="Remove later").click()
            await page.locator("#remove button[type=submit]").click()
            await expect(page.locator("#remove .upkeep-problem")).to_contain_text(words)

    chromium.do(scenario())


def test_paper_holds_every_row_that_the_list_holds_and_says_what_narrows_it(
    chromium: Chromium, viewer: ViewServer
) -> None:
    """On a screen only the rows in sight are drawn."""

    async def scenario() -> None:
        async with chromium.visiting() as visit:
            page = await open_run(visit, viewer)
            await page.locator("select[name=target]").select_option("cedar")
            await expect(page.locator("#matches")).to_have_text("60 of 120")
            on_screen = await page.locator("#rows .row").count()
            await page.emulate_media(media="print")
            await page.evaluate("dispatchEvent(new Event('beforeprint'))")
            await expect(page.locator("#rows .row")).to_have_count(60)
            await expect(page.locator("#rows .row").last).to_be_visible()
            await expect(page.locator("#narrowed")).to_have_text("Target: cedar")
            boxes = [await page.locator("#rows .row").nth(place).bounding_box() for place in (0, 1, 59)]
            tops = [box["y"] for box in boxes if box]
            assert tops == sorted(set(tops))
            await page.emulate_media(media="screen")
            await page.evaluate("dispatchEvent(new Event('afterprint'))")
            await expect(page.locator("#rows .row")).to_have_count(on_screen)
            assert on_screen < 60

    chromium.do(scenario())

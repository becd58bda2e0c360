"""Answers side by side: narrowed, searched, compared word by word and unfolded, by the address and by hand."""

import json
import re
import shutil
from pathlib import Path

import pytest
from playwright.async_api import Page, expect
from tests.browser.driving import Chromium
from tests.browser.every_page import read_names
from tests.flows.answer_material import RUN, rows_of, run_of
from tests.once import made_once
from tests.unit.web.test_answer_runs import QUESTIONS, make_answers, state_of

from mixseek.setup.demo import ANSWERS
from mixseek.web.server import ViewServer

# A question without such an answer would be on no page of it.
STATES = {"cut_off": "cut off", "withheld": "withheld", "empty": "empty", "failed": "failed"}


@pytest.fixture(scope="module")
def place(chromium: Chromium, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("answers") / "own"
    shutil.copytree(made_once(tmp_path_factory, "answers-to-view", make_answers), place)
    return place


@pytest.fixture(scope="module")
def viewer(chromium: Chromium, place: Path) -> ViewServer:
    return chromium.serve(place / "ws")


async def names_on(page: Page) -> list[str]:
    return await page.locator(".answer-question h3").all_inner_texts()


def test_answers_are_narrowed_searched_and_turned_page_by_page(
    chromium: Chromium, viewer: ViewServer, place: Path
) -> None:
    rows = rows_of(place)

    async def scenario() -> None:
        async with chromium.visiting() as visit:
            page = visit.page
            await visit.follow(viewer.link)
            await page.locator("#answers").get_by_role("link", name=RUN, exact=True).click()
            await expect(page.locator("#matches")).to_have_text(f"1–20 of {QUESTIONS}")
            await page.get_by_role("button", name="Next page").click()
            await expect(page.locator("#matches")).to_have_text(f"21–{QUESTIONS} of {QUESTIONS}")
            assert (await names_on(page))[0] == "q-20"
            for state, word in STATES.items():
                await page.locator(f'[data-state="{state}"]').click()
                expected = {row["question_id"] for row in rows if state_of(row) == state}
                await expect(page.locator("#matches")).to_have_text(re.compile(f" of {len(expected)}$"))
                assert set(await names_on(page)) <= expected
                await expect(page.locator(".answer-cell .badge", has_text=word).first).to_be_visible()
                assert f"state={state}" in page.url
            await page.go_back()
            await expect(page.locator('[data-state="empty"]')).to_have_attribute("aria-pressed", "true")
            await page.locator('[data-state=""]').click()
            await page.locator("select[name=variant]").select_option("B")
            await expect(page.locator("#columns-shown")).to_have_text("2 of 2")
            await page.keyboard.press("Escape")
            await page.locator("h1").click()
            await page.keyboard.press("/")
            await page.keyboard.type("riddle 17")
            await expect(page.locator("#matches")).to_have_text("1–1 of 1")
            assert await names_on(page) == ["q-17"]
            await page.reload()
            await expect(page.locator("#answer-search")).to_have_value("riddle 17")
            await expect(page.locator("#matches")).to_have_text("1–1 of 1")

    chromium.do(scenario())


def test_columns_repeats_words_that_differ_and_prompts_are_a_click_away(
    chromium: Chromium, viewer: ViewServer, place: Path
) -> None:
    rows = {row["id"]: row for row in rows_of(place)}
    both = next(
        row["question_id"]
        for row in rows.values()
        # Two digits: a search for q-1 finds q-12.
        if len(row["question_id"]) == 4
        and all(
            state_of(rows[f"{row['question_id']}/model-alpha (alpha)/{name}/1"]) == "finished" for name in ("A", "B")
        )
    )
    second = rows[f"{both}/model-alpha (alpha)/A/2"]

    async def scenario() -> None:
        async with chromium.visiting() as visit:
            page = visit.page
            await visit.follow(viewer.link)
            await visit.open(f"{viewer.address}/answers/{RUN}?q={both}")
            await expect(page.locator("#matches")).to_have_text("1–1 of 1")
            await expect(page.locator(".answer-cell")).to_have_count(4)
            await page.locator("#column-choice summary").click()
            for column in (3, 4):
                await page.locator(f'#column-boxes input[value="{column}"]').click()
            await expect(page.locator(".answer-cell")).to_have_count(2)
            assert "columns=1%2C2" in page.url
            await page.locator("#differ").check()
            await expect(page.locator(".answer-cell del").first).to_be_visible()
            await expect(page.locator(".answer-cell ins").first).to_be_visible()
            shown = await page.locator('[data-column="1"] > .answer-body .prose').first.inner_text()
            assert shown.strip() == rows[f"{both}/model-alpha (alpha)/A/1"]["response"]
            await page.locator("#differ").uncheck()
            await expect(page.locator(".answer-cell del")).to_have_count(0)
            await page.locator('[data-column="1"] .answer-repeat > summary').click()
            text = second["response"] or second["response_error"] or "Reasoning"
            await expect(page.locator('[data-column="1"] .answer-repeat .answer-body')).to_contain_text(text)
            await page.locator('[data-column="2"] > .answer-body [data-prompt]').click()
            await expect(page.locator('[data-column="2"] > .answer-body')).to_contain_text("Style B, about topic")
            await page.locator("#as-markdown").click()
            await expect(page.locator(".answer-text .prose.markdown").first).to_be_visible()

    chromium.do(scenario())


def test_a_run_that_is_not_over_says_so_and_shows_what_came(chromium: Chromium, place: Path, tmp_path: Path) -> None:
    """Broken off in the middle of a line; later more of it is there."""
    shutil.copytree(place, tmp_path / "own")
    run = run_of(tmp_path / "own")
    whole, manifest = run.journal.read_bytes(), json.loads(run.manifest.read_bytes())
    run.manifest.write_text(json.dumps({**manifest, "status": "running", "journal": None}), encoding="utf-8")
    run.headline.unlink()
    lines = whole.splitlines(keepends=True)
    run.journal.write_bytes(b"".join(lines[:40]) + lines[40][:9])
    viewer = chromium.serve(tmp_path / "own" / "ws")

    async def scenario() -> None:
        async with chromium.visiting() as visit:
            page = visit.page
            await visit.follow(viewer.link)
            await visit.open(f"{viewer.address}/answers/{RUN}?state=not_asked")
            await expect(page.locator("#growing")).to_contain_text("broken off")
            await expect(page.locator("#growing")).to_contain_text("questions are not reached yet")
            await expect(page.locator(".answer-cell .badge", has_text="not asked").first).to_be_visible()
            run.journal.write_bytes(whole)
            run.manifest.write_text(json.dumps(manifest), encoding="utf-8")
            await page.locator("#look-again").click()
            await expect(page.locator("#growing")).to_have_count(0)
            await expect(page.locator("#matches")).to_have_text("No question has such an answer.")

    chromium.do(scenario())


def test_answers_are_found_renamed_and_removed_on_the_board(chromium: Chromium, place: Path, tmp_path: Path) -> None:
    """Without any judged run, and what nobody has counted is counted."""
    shutil.copytree(place, tmp_path / "own")
    run = run_of(tmp_path / "own")
    run.headline.unlink()
    viewer = chromium.serve(tmp_path / "own" / "ws")

    async def scenario() -> None:
        async with chromium.visiting() as visit:
            page = visit.page
            await visit.follow(viewer.link)
            await expect(page.locator("#answers tbody")).to_contain_text("$0.0")
            await expect(page.locator("#answers tbody")).to_contain_text(
                "30 questions × 3 targets × 2 variants × 2 repeats"
            )
            await page.locator("#board-search").fill("nobody")
            await expect(page.locator("#board-matches")).to_have_text("0 of 1 runs")
            await page.locator("#board-search").fill("gamma")
            await expect(page.locator("#board-matches")).to_have_text("1 of 1 runs")
            await page.get_by_role("button", name=f"Rename {RUN}").click()
            await expect(page.locator("#rename")).to_contain_text("Runs that judged them name the old one")
            await page.locator("#rename input").fill("autumn")
            await page.locator("#rename").get_by_role("button", name="Rename").click()
            await expect(page.locator("#answers").get_by_role("link", name="autumn", exact=True)).to_be_visible()
            await page.get_by_role("button", name="Remove autumn").click()
            await page.locator("#remove").get_by_role("button", name="Remove", exact=True).click()
            await expect(page.locator(".empty")).to_be_visible()

    chromium.do(scenario())

    assert not run.path.parent.joinpath("autumn").exists()


def test_answers_and_the_run_that_judged_them_lead_to_each_other(
    chromium: Chromium, demo_viewer: ViewServer, demo_place: Path
) -> None:
    async def scenario() -> None:
        async with chromium.visiting() as visit:
            page = visit.page
            await visit.follow(demo_viewer.link)
            await visit.open(f"{demo_viewer.address}/answers/{ANSWERS}")
            await page.get_by_role("link", name=f"answers-{ANSWERS}").click()
            await visit.counted()
            await page.get_by_role("link", name=f"answers:{ANSWERS}", exact=True).click()
            await expect(page.locator("h1")).to_have_text(ANSWERS)
            await visit.open(f"{demo_viewer.address}/runs/{read_names(demo_place)['semantic']}")
            await expect(page.locator(".masthead a", has_text="answers:")).to_have_count(0)

    chromium.do(scenario())

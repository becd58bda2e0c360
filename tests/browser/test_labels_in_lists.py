"""From a labelled run to what a judge got wrong, and on: a label beside it, a link to it, a file of it."""

import csv
import json
import re
from pathlib import Path
from typing import Any

import duckdb
import pytest
from playwright.async_api import Page, expect
from tests.browser.driving import Chromium, Visit, find_barriers, overflow_of
from tests.flows.running import mixseek_here, write_jsonl

from mixseek.web.server import ViewServer

SAMPLES, ACCEPTED = 40, 9
FALSE_ACCEPTS = "rules: correct, people: incorrect: 9"


def is_right(number: int) -> bool:
    """By the rules; people doubt the first nine of those."""
    return number % 4 != 0


DOUBTED = [number for number in range(SAMPLES) if is_right(number)][:ACCEPTED]


@pytest.fixture(scope="module")
def labelled(chromium: Chromium, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Depends on the browser: without one, nothing need be judged."""
    place = tmp_path_factory.mktemp("labelled")
    rows = [
        {
            "id": f"row-{number}",
            "question": f"What is {number} + 1?",
            "response": f"So the answer is {number + (1 if is_right(number) else 2)}.",
            "ground_truth": str(number + 1),
        }
        for number in range(SAMPLES)
    ]
    write_jsonl(place / "sums.jsonl", rows)
    with (place / "labels.csv").open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(["id", "label"])
        table.writerows(
            (row["id"], "correct" if is_right(number) and number not in DOUBTED else "incorrect")
            for number, row in enumerate(rows)
        )
    for words in (
        ("judge", "sums.jsonl", "--workspace", "ws", "--run", "sums", "-q"),
        ("label", "import", "labels.csv", "--rater", "mia", "--run", "sums", "--workspace", "ws"),
    ):
        done = mixseek_here(*words, cwd=place)
        assert done.returncode in (0, 1), done.stderr
    return place / "ws"


@pytest.fixture(scope="module")
def server(chromium: Chromium, labelled: Path) -> ViewServer:
    return chromium.serve(labelled)


async def open_run(visit: Visit, server: ViewServer, view: str = "") -> Page:
    await visit.follow(server.link)
    await visit.open(f"{server.address}/runs/sums{view}")
    await expect(visit.page.locator("#matches")).to_have_text(re.compile(r"\d+ (of \d+|judgments)"))
    return visit.page


def test_two_clicks_lead_to_a_judge_s_nine_false_accepts(chromium: Chromium, server: ViewServer) -> None:
    async def scenario() -> None:
        async with chromium.visiting() as visit:
            page = visit.page
            await visit.follow(server.link)
            await page.get_by_role("link", name="sums", exact=True).click()
            await visit.counted()
            await page.get_by_role("link", name=FALSE_ACCEPTS).click()
            await expect(page.locator("#matches")).to_have_text(f"{ACCEPTED} of {SAMPLES}")
            names = await page.locator(".row-id").all_inner_texts()
            assert names == [f"row-{number}" for number in DOUBTED]
            assert set(await page.locator(".row-people.is-wrong").all_inner_texts()) == {"≠ incorrect"}
            await expect(page.locator("#detail .people")).to_contain_text("The judge says something else.")
            await page.get_by_role("button", name="Give or change a label").click()
            await expect(page.locator("#detail [data-verdict]")).to_have_count(2)
            assert await find_barriers(page) == []
            assert await overflow_of(page) <= 0
            # The same list by the control above it, and from an address.
            await page.get_by_role("button", name="Clear filters").click()
            await page.locator("select[name=wrong]").select_option("yes")
            await expect(page.locator("#matches")).to_have_text(f"{ACCEPTED} of {SAMPLES}")
            await page.reload()
            await expect(page.locator("#matches")).to_have_text(f"{ACCEPTED} of {SAMPLES}")

    chromium.do(scenario())


def test_the_page_of_a_report_leads_there_as_well(chromium: Chromium, labelled: Path) -> None:
    done = mixseek_here("report", "sums", "--workspace", "ws", "--to", "report.html", cwd=labelled.parent)
    assert done.returncode == 0, done.stderr

    async def scenario() -> None:
        async with chromium.visiting() as visit:
            page = visit.page
            await page.goto((labelled.parent / "report.html").as_uri())
            await page.get_by_role("link", name=FALSE_ACCEPTS).click()
            await expect(page.locator("#matches")).to_have_text(f"{ACCEPTED} of {SAMPLES}")
            await expect(page.locator("#detail .people")).to_contain_text("mia")
            assert await page.locator("[data-give-label]").count() == 0

    chromium.do(scenario())


def rows_of_csv(file: Path) -> list[dict[str, Any]]:
    return list(csv.DictReader(file.read_text(encoding="utf-8").splitlines()))


def rows_of_jsonl(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def rows_of_parquet(file: Path) -> list[dict[str, Any]]:
    rows = duckdb.execute("SELECT id, people FROM read_parquet(?)", [str(file)]).fetchall()
    return [dict(zip(("id", "people"), row, strict=True)) for row in rows]


def test_a_list_is_copied_as_a_link_and_downloaded_as_a_file(chromium: Chromium, server: ViewServer) -> None:
    async def scenario() -> None:
        async with chromium.visiting() as visit:
            await visit.context.grant_permissions(["clipboard-read", "clipboard-write"])
            page = await open_run(visit, server, "#wrong=yes&sort=longest&id=row-5")
            await expect(page.locator(".detail-id")).to_have_text("row-5")
            await page.get_by_role("button", name="Copy link").click()
            await expect(page.get_by_role("button", name="Copied")).to_be_visible()
            link = await page.evaluate("navigator.clipboard.readText()")
            assert link == f"{server.address}/runs/sums#wrong=yes&sort=longest"
            for suffix, read in (("csv", rows_of_csv), ("jsonl", rows_of_jsonl), ("parquet", rows_of_parquet)):
                async with page.expect_download() as coming:
                    await page.locator(f"[data-download={suffix}]").click()
                download = await coming.value
                assert download.suggested_filename == f"sums.{suffix}"
                rows = read(Path(await download.path()))
                assert [row["id"] for row in rows] == [f"row-{number}" for number in DOUBTED], suffix
                assert {row["people"] for row in rows} == {"incorrect"}

    chromium.do(scenario())


def test_a_label_is_changed_beside_the_judgment_that_is_open(chromium: Chromium, labelled: Path) -> None:
    """The list follows, and so does the page of the sample; a viewer for reading offers no form."""
    store = labelled / "labels" / "labels.jsonl"
    before = store.read_bytes()
    server = chromium.serve(labelled)

    async def scenario() -> None:
        async with chromium.visiting() as visit:
            page = await open_run(visit, server, "#people=incorrect&id=row-1")
            await page.get_by_role("button", name="Give or change a label").click()
            await page.locator("#detail input[data-rater]").fill("mia")
            await page.locator("#detail [data-verdict=correct]").click()
            await expect(page.locator("#matches")).to_have_text(f"18 of {SAMPLES}")
            await page.goto(f"{server.address}/runs/sums/sample?id=row-1")
            await expect(page.locator(".people [data-people]")).to_have_attribute("data-people", "correct")
            await page.get_by_role("button", name="Give or change a label").click()
            await expect(page.locator("input[data-rater]")).to_have_value("mia")
            await expect(page.locator("[data-own]")).to_have_attribute("data-own", "correct")
            await page.locator("[data-verdict=incorrect]").click()
            await expect(page.locator(".people [data-people]")).to_have_attribute("data-people", "incorrect")
            # Taken back, what was said before stands again; here, and beside the judgment in the list.
            await page.get_by_role("button", name="Give or change a label").click()
            await page.get_by_role("button", name="Take it back").click()
            await expect(page.locator(".people [data-people]")).to_have_attribute("data-people", "correct")
            await visit.open(f"{server.address}/runs/sums#people=correct&id=row-1")
            await expect(page.locator("#matches")).to_have_text(f"22 of {SAMPLES}")
            await page.get_by_role("button", name="Give or change a label").click()
            # Somebody else has nothing to take back.
            await page.locator("#detail input[data-rater]").fill("noah")
            await expect(page.locator("[data-take-back]")).to_be_hidden()
            await page.locator("#detail input[data-rater]").fill("mia")
            await page.get_by_role("button", name="Take it back").click()
            await expect(page.locator("#matches")).to_have_text(f"21 of {SAMPLES}")
            # What came in a file goes as it came. A page of its own: an open judgment is drawn again with its list.
            await page.goto("about:blank")
            await visit.open(f"{server.address}/runs/sums#id=row-1")
            await page.get_by_role("button", name="Give or change a label").click()
            await expect(page.locator("[data-own]")).to_contain_text("given in a queue or a file")
            assert await page.locator("[data-take-back]").count() == 0

    try:
        chromium.do(scenario())
        given = [json.loads(line) for line in store.read_bytes()[len(before) :].splitlines()]
    finally:
        store.write_bytes(before)
    assert [(label["given"], label["drawn"]) for label in given[:2]] == [("correct", "chosen"), ("incorrect", "chosen")]
    assert [label["retracts"] for label in given[2:]] == [given[1]["id"], given[0]["id"]]

"""A matrix of 2,000 questions and 8 targets as a person uses it: narrowed, walked by keyboard; and in a report."""

import itertools
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.async_api import Page, expect
from tests.browser.driving import NARROW, WIDE, Chromium, Visit, find_barriers, overflow_of
from tests.flows.running import mixseek_here
from tests.once import made_once
from tests.unit.storage.material import CORRECT, INCORRECT, judged_lines, make_manifest, make_run

from mixseek.domain.samples import Sample
from mixseek.setup.demo import unpack_files
from mixseek.storage.journal.manifest import RunStatus, write_manifest
from mixseek.web.server import ViewServer

QUESTIONS, TARGETS = 2_000, [f"target-{number}" for number in range(1, 9)]
# Where an element is drawn as the one that keys move from.
OUTLINE = "element => getComputedStyle(element).outlineStyle + ' ' + getComputedStyle(element).outlineWidth"


def is_right(question: int, target: int) -> bool:
    """Every tenth question is wrong for all; on one in ten half of the targets differ, on another one does."""
    match question % 10:
        case 9:
            return False
        case 3:
            return bool(target % 2)
        case 6:
            return target != 7
    return True


def large_journal() -> Iterator[bytes]:
    """What judging writes; sixteen thousand judgments by the rules would take longer than all that is shown of them."""
    for question, (number, target) in itertools.product(range(QUESTIONS), enumerate(TARGETS)):
        is_cut, answer = question % 100 == 50 and number == 2, question + (1 if is_right(question, number) else 2)
        sample = Sample(
            id=f"q{question}-{target}",
            question=f"What is {question} + 1?",
            response="<think>I add one to" if is_cut else f"So the answer is {answer}.",
            ground_truth=str(question + 1),
            question_id=f"Q{question}",
            target_model=target,
        )
        yield from judged_lines(sample, {"rules": CORRECT if is_right(question, number) and not is_cut else INCORRECT})


def make_large_run(root: Path) -> None:
    _, run = make_run(root / "ws", large_journal(), name="large")
    write_manifest(run.manifest, make_manifest(run="large", status=RunStatus.COMPLETE, sample_count=16_000))


@pytest.fixture(scope="module")
def large(chromium: Chromium, tmp_path_factory: pytest.TempPathFactory) -> ViewServer:
    place = tmp_path_factory.mktemp("matrix") / "own"
    shutil.copytree(made_once(tmp_path_factory, "browser-matrix", make_large_run), place)
    return chromium.serve(place / "ws")


async def open_matrix(visit: Visit, viewer: ViewServer, path: str = "/runs/large/matrix") -> Page:
    await visit.follow(viewer.link)
    await visit.open(viewer.address + path)
    await expect(visit.page.locator(".matrix-cell").first).to_be_attached()
    return visit.page


async def active_cell(page: Page) -> str | None:
    """What a reader of the screen is told to read while the focus is on the grid."""
    return await page.locator("#matrix-grid").get_attribute("aria-activedescendant")


def test_two_thousand_questions_are_found_filtered_and_sorted(chromium: Chromium, large: ViewServer) -> None:
    async def scenario() -> None:
        async with chromium.visiting() as visit:
            page = visit.page
            await visit.follow(large.link)
            await visit.open(f"{large.address}/runs/large")
            await page.get_by_role("link", name="Matrix").click()
            matches, names = page.locator("#matrix-matches"), page.locator(".matrix-name b")
            await expect(matches).to_have_text("2,000 of 2,000 questions")
            await expect(page.get_by_role("columnheader")).to_have_text(["Question", *TARGETS])
            # Only what is in sight exists.
            assert await page.locator(".matrix-row").count() < 60
            await expect(names.first).to_have_text("Q0")
            # What comes next is asked for before it is in sight: whoever scrolls on finds it there.
            async with page.expect_request(re.compile("offset=100&")):
                await page.locator("#matrix-grid").evaluate("grid => { grid.scrollTop = 36 * 40; }")
            assert "Q100" not in await names.all_inner_texts()
            for button, text, first in (
                ("differ", "420 of 2,000 questions", "Q3"),
                ("all wrong", "200 of 2,000 questions", "Q9"),
                ("cut off", "20 of 2,000 questions", "Q50"),
                ("all", "2,000 of 2,000 questions", "Q0"),
            ):
                await page.get_by_role("button", name=re.compile(rf"^{button} [\d,]+$")).click()
                await expect(matches).to_have_text(text)
                await expect(names.first).to_have_text(first)
                if button == "cut off":
                    await expect(page.locator("#cell-0-2")).to_have_attribute("aria-label", "incorrect, cut off")
                    await expect(page.locator("#cell-0-1")).to_have_attribute("aria-label", "correct")
            await page.locator("#matrix-sort").select_option("difficulty")
            await expect(names.first).to_have_text("Q9")
            await page.locator("#matrix-sort").select_option("disagreement")
            await expect(names.first).to_have_text("Q3")
            # What is shown stands in the address.
            await page.reload()
            await expect(names.first).to_have_text("Q3")
            await page.go_back()
            await expect(names.first).to_have_text("Q9")
            assert visit.strangers(large.address) == []

    chromium.do(scenario())


def test_keys_walk_from_cell_to_cell_open_and_close(chromium: Chromium, large: ViewServer) -> None:
    async def scenario() -> None:
        async with chromium.visiting() as visit:
            page = await open_matrix(visit, large)
            opened, grid = page.locator("#matrix-detail .detail-id"), page.locator("#matrix-grid")
            await grid.focus()
            for key in ("ArrowDown", "ArrowDown", "ArrowDown", "ArrowDown", "ArrowUp", "ArrowRight", "ArrowRight"):
                await page.keyboard.press(key)
            assert await active_cell(page) == "cell-3-2"
            cell = page.locator("#cell-3-2")
            await expect(cell).to_have_attribute("aria-label", "incorrect")
            await expect(cell).to_have_text("incorrect")
            assert await cell.evaluate(OUTLINE) == "solid 2px"
            assert await page.locator("#cell-3-1").evaluate(OUTLINE) != "solid 2px"
            await page.keyboard.press("Enter")
            await expect(opened).to_have_text("q3-target-3")
            await expect(cell).to_have_attribute("aria-selected", "true")
            await page.keyboard.press("ArrowLeft")
            await expect(opened).to_have_text("q3-target-2")
            await page.keyboard.press("Escape")
            await expect(page.locator("#matrix-detail")).to_be_hidden()
            await expect(grid).to_be_focused()
            await page.keyboard.press("Control+End")
            # The last page of rows comes when it is in sight.
            await expect(grid).to_have_attribute("aria-activedescendant", "cell-1999-7")
            await expect(page.locator("#cell-1999-7")).to_have_text("incorrect")
            await page.keyboard.press("Home")
            await page.keyboard.press("PageUp")
            reached = await active_cell(page)
            assert reached is not None
            assert 1_950 < int(reached.split("-")[1]) < 1_999
            await page.keyboard.press("Control+Home")
            await expect(page.locator("#cell-0-0")).to_have_text("correct")
            assert await active_cell(page) == "cell-0-0"
            await page.locator("#cell-6-7").click()
            await expect(opened).to_have_text("q6-target-8")
            await page.get_by_role("button", name="Back to the list").click()
            await expect(grid).to_be_focused()

    chromium.do(scenario())


def test_the_open_cell_stands_in_the_address(chromium: Chromium, large: ViewServer) -> None:
    """A reload, a link to somebody else and "back" lead to the same cell, wherever its row is."""

    async def scenario() -> None:
        async with chromium.visiting() as visit:
            page = await open_matrix(visit, large, "/runs/large/matrix#filter=differ&sort=difficulty")
            opened, matches = page.locator("#matrix-detail .detail-id"), page.locator("#matrix-matches")
            await expect(matches).to_have_text("420 of 2,000 questions")
            await page.locator("#matrix-grid").focus()
            await page.keyboard.press("Control+End")
            await expect(page.locator("#cell-419-7")).to_be_visible()
            await page.keyboard.press("Enter")
            last = await opened.inner_text()
            await page.keyboard.press("ArrowUp")
            await expect(opened).not_to_have_text(last)
            await page.keyboard.press("ArrowLeft")
            await expect(opened).to_have_text(re.compile("-target-7$"))
            name, address = await opened.inner_text(), page.url
            assert f"row={name.split('-')[0].upper()}&column=target-7" in address
            await page.reload()
            await expect(opened).to_have_text(name)
            await expect(page.locator("#cell-418-6")).to_have_attribute("aria-selected", "true")
            await expect(matches).to_have_text("420 of 2,000 questions")
            # From cell to cell was one step, and opening the first one was, too.
            await page.keyboard.press("Escape")
            await page.locator("#matrix-grid").focus()
            await page.keyboard.press("Escape")
            await expect(page.locator("#matrix-detail")).to_be_hidden()
            assert "row=" not in page.url
            await page.go_back()
            await expect(opened).to_have_text(name)
            await page.go_back()
            await expect(page.locator("#matrix-detail")).to_be_hidden()
            await expect(matches).to_have_text("420 of 2,000 questions")
            # In another window, and from a judgment back to the cell.
            await page.goto("about:blank")
            await visit.open(address)
            await expect(opened).to_have_text(name)
            await page.locator("#matrix-detail .wide-link").click()
            await expect(page.locator("h1")).to_have_text(name)
            await page.go_back()
            await expect(opened).to_have_text(name)
            # What a link names and this view does not hold is not opened.
            await page.goto("about:blank")
            await visit.open(f"{large.address}/runs/large/matrix#filter=differ&row=Q0&column=target-1")
            await expect(matches).to_have_text("420 of 2,000 questions")
            await expect(page.locator("#matrix-detail")).to_be_hidden()

    chromium.do(scenario())


def test_the_list_is_narrowed_to_responses_that_were_cut_off(chromium: Chromium, large: ViewServer) -> None:
    """By the control above it, and from the judgment that says so."""

    async def scenario() -> None:
        async with chromium.visiting() as visit:
            page = visit.page
            await visit.follow(large.link)
            await visit.open(f"{large.address}/runs/large#id=q50-target-3")
            await page.locator("#detail dd").get_by_role("link", name="cut off").click()
            await expect(page.locator("#matches")).to_have_text("20 of 16,000")
            await page.get_by_role("button", name="Clear filters").click()
            await expect(page.locator("#matches")).to_have_text("16,000 judgments")
            await page.locator("select[name=cut_off]").select_option("yes")
            await expect(page.locator("#matches")).to_have_text("20 of 16,000")
            names = [f"q{question}-target-3" for question in range(50, QUESTIONS, 100)]
            assert await page.locator(".row-id").all_inner_texts() == names[: await page.locator(".row-id").count()]

    chromium.do(scenario())


@pytest.mark.parametrize(("scheme", "size"), [("light", WIDE), ("dark", NARROW)])
def test_an_open_cell_has_no_barrier_and_nothing_moves_sideways(
    chromium: Chromium, large: ViewServer, scheme: str, size: tuple[int, int]
) -> None:
    async def scenario() -> None:
        async with chromium.visiting(size, scheme) as visit:
            page = await open_matrix(visit, large)
            await page.locator("#cell-3-0").click()
            await expect(page.locator("#matrix-detail .detail-id")).to_have_text("q3-target-1")
            assert await find_barriers(page) == []
            assert await overflow_of(page) <= 0

    chromium.do(scenario())


def test_a_graded_verdict_shows_its_score(chromium: Chromium, viewer: ViewServer, workspace: Path) -> None:
    """A rubric calls nearly everything "scored"."""
    rubric = next((workspace / "runs").glob("rubric-*")).name

    async def scenario() -> None:
        async with chromium.visiting() as visit:
            page = await open_matrix(visit, viewer, f"/runs/{rubric}/matrix")
            await expect(page.locator(".matrix-cell", has_text="scored").first).to_have_text(
                re.compile(r"^scored 0\.\d+ 1!$")
            )
            await expect(page.locator(".matrix-cell", has_text="×").first).to_have_attribute(
                "aria-label", re.compile(r"^mean of 2 judgments: 0\.\d+$")
            )
            await expect(page.locator(".matrix-cell.absent")).to_have_text("–")

    chromium.do(scenario())


# One question to the browser for all rows: a call for each cell of a large matrix is most of what such a test takes.
READ_ROWS = """rows => rows.map(row => [
  Number(row.getAttribute("aria-rowindex")),
  [...row.querySelectorAll(".matrix-name b, .matrix-cell")].map(part => [part.innerText, part.ariaLabel]),
])"""


async def read_matrix(page: Page) -> list[list[list[str | None]]]:
    """Every row that is drawn, from the top: name and cells, with what is said of each."""
    return [parts for _, parts in sorted(await page.locator(".matrix-row").evaluate_all(READ_ROWS))]


async def show(page: Page, shown: str) -> str:
    """What the matrix says of its questions, once this filter has been pressed and every row is drawn."""
    button, matches = page.locator(f'[data-shown="{shown}"]'), page.locator("#matrix-matches")
    await button.click()
    await expect(button).to_have_attribute("aria-pressed", "true")
    await expect(matches).to_have_text(re.compile("questions"))
    await expect(page.locator(".matrix-row[aria-busy]")).to_have_count(0)
    # A digest is shown until the text of its question is there.
    await expect(page.locator(".matrix-name b", has_text=re.compile("^question-"))).to_have_count(0)
    return await matches.inner_text()


@pytest.fixture(scope="module")
def several(chromium: Chromium, workspace: Path) -> dict[str, Path]:
    """Reports of a run with two judges, one of which fails now and then, and of a matrix with controls."""
    cross = next((workspace / "runs").glob("cross-*")).name
    paths = {}
    for run in ("numbers", cross):
        paths[run] = workspace.parent / f"matrix-{run}.html"
        done = mixseek_here("report", run, "--workspace", "ws", "--to", paths[run], cwd=workspace.parent)
        assert done.returncode == 0, done.stderr
    return paths


def test_a_report_shows_the_cells_that_the_viewer_shows(
    chromium: Chromium, viewer: ViewServer, several: dict[str, Path]
) -> None:
    """Two sources of one script: the server asks its index, a report lays the matrix out from the rows it carries."""

    async def scenario() -> None:
        async with chromium.visiting((1280, 2_600)) as visit, chromium.visiting((1280, 2_600)) as reading:
            await visit.follow(viewer.link)
            for run, path in several.items():
                await reading.page.goto(f"{path.as_uri()}#questions")
                await visit.open(f"{viewer.address}/runs/{run}/matrix")
                for across, shown in itertools.product(("target", "judge"), ("", "differ", "all_wrong")):
                    drawn = []
                    for page in (visit.page, reading.page):
                        await page.locator("#matrix-across").select_option(across)
                        drawn.append([await show(page, shown), await read_matrix(page)])
                    assert drawn[0] == drawn[1], (run, across, shown)
            assert reading.strangers("file:") == []

    chromium.do(scenario())


@pytest.fixture(scope="module")
def pairs(chromium: Chromium, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two responses at a time, every target against every other one, and one pair alone."""
    root = tmp_path_factory.mktemp("pairs")
    unpack_files(root / "ws")
    decided = (root / "ws" / "pairs.jsonl").read_text(encoding="utf-8").splitlines()[1]
    (root / "one.jsonl").write_text(decided + "\n", encoding="utf-8")
    for data, run in (("ws/pairs.jsonl", "pairs"), ("one.jsonl", "one")):
        words = (data, "--judge", "replay:ws/pairs_replies.jsonl", "--protocol", "pairwise", "--run", run)
        done = mixseek_here("judge", *words, "--workspace", "ws", cwd=root)
        assert done.returncode in (0, 1), done.stderr
        done = mixseek_here("report", run, "--workspace", "ws", "--to", f"{run}.html", cwd=root)
        assert done.returncode == 0, done.stderr
    return root


def test_pairs_have_a_cell_for_each_of_both_targets(chromium: Chromium, pairs: Path) -> None:
    """In the viewer and in a report."""
    server = chromium.serve(pairs / "ws")

    async def scenario() -> None:
        async with chromium.visiting() as visit:
            page = visit.page
            await visit.follow(server.link)
            for run, heads in (("pairs", ["gull", "heron", "rook", "teal"]), ("one", ["gull", "rook"])):
                drawn = []
                for address in (f"{server.address}/runs/{run}/matrix", f"{(pairs / run).as_uri()}.html#questions"):
                    await page.goto("about:blank")
                    await page.goto(address)
                    columns = page.locator("#matrix-top [role=columnheader]")
                    await expect(columns).to_have_text(["Question", *heads])
                    await expect(page.locator(".matrix-row[aria-busy]")).to_have_count(0)
                    await expect(page.locator(".matrix-name b", has_text=re.compile("^question-"))).to_have_count(0)
                    drawn.append(await read_matrix(page))
                    # Beside its own column a judgment stands in that of the other target.
                    await page.locator("#cell-0-1").click()
                    await expect(page.locator("#matrix-detail .detail-id")).to_contain_text(heads[1])
                    in_cell = page.locator(".in-cell button")
                    await expect(in_cell).to_have_count(3 if run == "pairs" else 0)
                    for text in await in_cell.all_inner_texts():
                        assert re.search(f"{heads[1]} ↔|↔ {heads[1]}", text)
                assert drawn[0] == drawn[1]
                if run == "one":
                    assert [cell for _, *cells in drawn[0] for cell in cells] == [["won", "won"], ["lost", "lost"]]

    chromium.do(scenario())


async def narrow(page: Page, shown: str, sort: str, words: str) -> tuple[str, list[str]]:
    """What the matrix says after these controls were used: how many questions, and their names from the top."""
    await page.locator("#matrix-search").fill(words)
    await page.locator("#matrix-search").press("Enter")
    await page.locator("#matrix-sort").select_option(sort)
    return await show(page, shown), [str(parts[0][0]) for parts in await read_matrix(page)]


def test_filters_orders_and_searches_leave_the_same_questions_in_viewer_and_report(
    chromium: Chromium, pairs: Path, workspace: Path, viewer: ViewServer
) -> None:
    """Of verdicts, of grades and of pairs."""
    server = chromium.serve(pairs / "ws")
    runs: list[tuple[ViewServer, Path, str, str]] = [(server, pairs / "pairs.html", "pairs", "kettle")]
    for protocol, words in (("rubric", "郵便受け"), ("cross", "榆钱巷")):
        name = next((workspace / "runs").glob(f"{protocol}-*")).name
        path = workspace.parent / f"narrowed-{protocol}.html"
        done = mixseek_here("report", name, "--workspace", "ws", "--to", path, cwd=workspace.parent)
        assert done.returncode == 0, done.stderr
        runs.append((viewer, path, name, words))

    async def scenario() -> None:
        async with chromium.visiting((1280, 1_200)) as visit, chromium.visiting((1280, 1_200)) as reading:
            for served, path, run, words in runs:
                await visit.follow(served.link)
                await visit.open(f"{served.address}/runs/{run}/matrix")
                await reading.page.goto(f"{path.as_uri()}#questions")
                everything = await narrow(visit.page, "", "", "")
                told = set()
                for shown, sort, sought in (
                    ("", "difficulty", ""),
                    ("differ", "disagreement", ""),
                    ("all_wrong", "", ""),
                    ("", "difficulty", words),
                    *([("", "", "nowhere at all")] if run == "pairs" else []),
                ):
                    drawn = [await narrow(page, shown, sort, sought) for page in (visit.page, reading.page)]
                    assert drawn[0] == drawn[1], (run, shown, sort, sought)
                    told.add(str(drawn[0]))
                # None of the controls left everything as it was.
                assert len(told) > 2, told
                assert str(everything) not in told

    chromium.do(scenario())


def test_a_search_narrows_the_matrix_as_somebody_types_and_stands_in_the_address(
    chromium: Chromium, large: ViewServer
) -> None:
    async def scenario() -> None:
        async with chromium.visiting() as visit:
            page = await open_matrix(visit, large, "/runs/large/matrix#filter=differ")
            matches, search = page.locator("#matrix-matches"), page.locator("#matrix-search")
            await page.locator("#matrix-grid").focus()
            await page.keyboard.press("/")
            await expect(search).to_be_focused()
            await page.keyboard.type("1503", delay=10)
            await expect(matches).to_have_text("1 of 2 questions")
            await expect(search).to_be_focused()
            await expect(page.locator(".matrix-name b")).to_have_text(["Q1503"])
            await expect(page.locator(".matrix-row .matrix-cell")).to_have_count(8)
            assert "q=1503" in page.url
            await page.reload()
            await expect(search).to_have_value("1503")
            await expect(matches).to_have_text("1 of 2 questions")
            await search.press("Escape")
            await expect(matches).to_have_text("420 of 2,000 questions")
            assert "q=" not in page.url
            # The letters of a search were one step.
            await page.go_back()
            await expect(matches).to_have_text("1 of 2 questions")
            await expect(search).to_have_value("1503")
            await page.go_back()
            await expect(matches).to_have_text("420 of 2,000 questions")
            await expect(search).to_have_value("")

    chromium.do(scenario())


def test_a_cell_of_several_judgments_offers_each_of_them(
    chromium: Chromium, viewer: ViewServer, several: dict[str, Path]
) -> None:
    async def scenario() -> None:
        async with chromium.visiting(expected="404") as visit:
            await visit.follow(viewer.link)
            for address in (f"{viewer.address}/runs/numbers/matrix", f"{several['numbers'].as_uri()}#questions"):
                page = visit.page
                await page.goto(address)
                # Rules say incorrect, a kind judge says correct.
                cell = page.locator("#cell-0-0")
                await expect(cell).to_have_text("1/2")
                await expect(cell).to_have_attribute("aria-label", "1 of 2 right")
                await cell.click()
                buttons = page.locator(".in-cell button")
                await expect(buttons).to_have_count(2)
                await expect(buttons.first).to_contain_text("incorrect")
                await buttons.last.click()
                await expect(page.locator("#matrix-detail .badge").first).to_have_text("correct")
                # The kind judge's reply to the eighth cannot be read.
                await expect(page.locator("#cell-7-1")).to_have_attribute("aria-label", "correct, 1 invalid")

    chromium.do(scenario())


def test_two_runs_stand_side_by_side_and_a_cell_opens_the_judgment_of_its_run(
    chromium: Chromium, viewer: ViewServer
) -> None:
    async def scenario() -> None:
        async with chromium.visiting() as visit:
            page = visit.page
            await visit.follow(viewer.link)
            await visit.open(f"{viewer.address}/compare?a=sums&b=later")
            await page.get_by_role("link", name="Question by question").click()
            await expect(page.get_by_role("columnheader")).to_have_text(["Question", "sums", "later"])
            await expect(page.locator("#matrix-matches")).to_have_text("60 of 60 questions")
            await page.locator('[data-shown="differ"]').click()
            await expect(page.locator("#matrix-matches")).to_have_text("40 of 60 questions")
            for column, outcome in enumerate(("correct", "incorrect")):
                await page.locator(f"#cell-0-{column}").click()
                await expect(page.locator("#matrix-detail .badge").first).to_have_text(outcome)
                link = page.locator("#matrix-detail .wide-link")
                await expect(link).to_have_attribute("href", re.compile(f"/runs/{('sums', 'later')[column]}/"))
            await page.reload()
            await expect(page.locator("#matrix-detail .badge").first).to_have_text("incorrect")
            await expect(page.locator("#cell-0-1")).to_have_attribute("aria-selected", "true")
            # What narrows the matrix of one run narrows that of several.
            await page.locator("#matrix-narrowing select[name=target]").select_option("cedar")
            await expect(page.locator("#matrix-matches")).to_have_text("20 of 30 questions")
            await page.locator("#matrix-narrowing select[name=task]").select_option("task-1")
            await expect(page.locator("#matrix-matches")).to_have_text("10 of 10 questions")
            await page.reload()
            await expect(page.locator("#matrix-narrowing select[name=task]")).to_have_value("task-1")
            await expect(page.locator("#matrix-matches")).to_have_text("10 of 10 questions")
            # So do its search and its orders: what was wrong at first stayed wrong.
            await page.locator("#matrix-narrowing select[name=task]").select_option("")
            await page.locator("#matrix-narrowing select[name=target]").select_option("")
            assert (await narrow(page, "", "difficulty", "row-3"))[0] == "11 of 11 questions"
            wrong = [f"row-{number}" for number in (3, 30, 33, 36, 39)]
            assert await narrow(page, "all_wrong", "difficulty", "row-3") == ("5 of 11 questions", wrong)
            differing = [f"row-{number}" for number in (31, 32, 34, 35, 37, 38)]
            assert await narrow(page, "differ", "disagreement", "row-3") == ("6 of 11 questions", differing)
            hardest = (await narrow(page, "", "difficulty", "row-3"))[1]
            assert hardest == wrong + differing

    chromium.do(scenario())

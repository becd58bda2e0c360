"""What must not be possible in a real browser: to look without the link, to ask from elsewhere, to run judged texts."""

import asyncio
import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from playwright.async_api import Page, expect
from tests.browser.driving import FOREIGN_NAME, Chromium
from tests.flows.running import mixseek_here, write_jsonl
from tests.unit.competition.competitions import EXECUTION, NOON, begin, submit
from tests.unit.web.viewing import judge_rows

from mixseek.competition.store import AggregationStore
from mixseek.domain.rounds import RoundKey
from mixseek.web.server import ViewServer

# Out of a script, out of an attribute, as an element, as an address, as a template.
HOSTILE = (
    "\"'></script><script>alert(1)</script><img src=x onerror=alert(2)><svg onload=alert(3)>"
    '<a href="javascript:alert(4)">x</a>{{7*7}}${alert(5)}\u202e'
)
# As the name of a file: without a slash.
FILE = "\"'><img src=x onerror=alert(6)>"
INJECTED = "img, iframe, object, embed, [onerror], [onload], a[href^=javascript i], script:not([type]):not([src])"


async def look_for_injected(page: Page, *, is_file: bool = False) -> None:
    """No element that judged texts name; a file carries its one script inline, under a policy that names its hash."""
    assert "alert(" in await page.evaluate("document.documentElement.textContent")
    assert await page.locator(INJECTED).count() == int(is_file), page.url


def hostile_rows() -> tuple[dict[str, Any], ...]:
    names = "question response task_name rubric question_id prompt_variant output_id"
    row = dict.fromkeys(names.split(" "), HOSTILE)
    return tuple(
        {
            **row,
            "id": f"{number} {HOSTILE}",
            "ground_truth": f"{HOSTILE}{number}",
            "target_model": f"{HOSTILE}{number % 2}",
            "metadata": {HOSTILE: f"{number}{HOSTILE}"},
        }
        for number in range(4)
    )


def cross_rows() -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Two outputs with a valid and an invalid judgment, every text of which is hostile."""
    scores = ("FORMAT_COMPLIANCE", "INSTRUCTION_COMPLIANCE", "SEMANTIC_FIDELITY", "COMPLETENESS")
    rows, replies = [], []
    for number in range(2):
        meta = dict.fromkeys(("target_model", "question_id", "prompt_variant", "output_id"), f"{HOSTILE}{number}")
        rows.append({"id": f"{HOSTILE}{number}", "question": HOSTILE, "response": f"{HOSTILE} and more", **meta})
        said = {
            "meta": {**meta, "judge_model": HOSTILE, "method": "cross_judge", "timestamp": "2026-04-01"},
            "scores": dict.fromkeys(scores, 1) | {"overall_score": 4 + number},
            "verdict": "PARTIAL",
            "flags": [],
            "evidence": [{"dimension": name, "quote": HOSTILE[:40], "reason": HOSTILE} for name in scores],
            "notes": HOSTILE,
        }
        replies.append({"id": rows[-1]["id"], "judge_model": HOSTILE, "reply": json.dumps(said)})
    return rows, replies


def ask_hostile(root: Path) -> None:
    """Answers `asked`, with script in every column, variant, target, response, reasoning and reason."""
    questions = [{"id": f"{HOSTILE}{number}", "question": HOSTILE, "ground_truth": HOSTILE} for number in range(2)]
    write_jsonl(root / f"asked{FILE}.jsonl", questions)
    # The name ends at the first equals sign.
    name = "B'\"><iframe>"
    (root / "prompt.md").write_text(f"{HOSTILE.replace('{', '')}\n{{{{ question }}}}", encoding="utf-8")
    replies = [
        {"id": f"{questions[0]['id']}/{name}", "reply": f"<think>{HOSTILE}</think>{HOSTILE}", "finish_reason": HOSTILE},
        {"id": f"{questions[1]['id']}/{name}", "reply": HOSTILE, "finish_reason": "content_filter"},
    ]
    write_jsonl(root / f"target{FILE}.jsonl", replies)
    words = ("--target", f"replay:target{FILE}.jsonl", "--variant", f"{name}=prompt.md", "--run", f"asked{FILE}")
    done = mixseek_here("answer", f"asked{FILE}.jsonl", *words, "--workspace", "ws", "-q", cwd=root)
    assert done.returncode in (0, 1), done.stderr


@pytest.fixture(scope="module")
def hostile(chromium: Chromium, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, ViewServer]:
    """A run by a hostile name, `other` and `cross`, and a competition, with script in whatever a file can say."""
    root = tmp_path_factory.mktemp("hostile")
    said = {"id": 1, "is_correct": False, "extracted_answer": HOSTILE, "reasoning_score": 2, "error_type": "other"}
    reply = json.dumps(said | {"comment": HOSTILE})
    rows = hostile_rows()
    told = [{"id": row["id"], "reply": reply if place else HOSTILE} for place, row in enumerate(rows)]
    write_jsonl(root / f"{FILE}.jsonl", told)
    judge_rows(root, rows, FILE, "--judge", f"replay:{FILE}.jsonl")
    changed = tuple({**row, "response": row["ground_truth"]} for row in rows)
    judge_rows(root, changed, "other", "--judge", f"replay:{FILE}.jsonl")
    outputs, replies = cross_rows()
    write_jsonl(root / "outputs.jsonl", outputs)
    write_jsonl(root / f"cross{FILE}.jsonl", replies)
    options = (
        "--protocol",
        "cross",
        "--judge",
        f"replay:cross{FILE}.jsonl",
        "--workspace",
        "ws",
        "--run",
        "cross",
        "-q",
    )
    assert mixseek_here("judge", "outputs.jsonl", *options, cwd=root).returncode in (0, 1)

    ask_hostile(root)

    async def compete() -> None:
        store = AggregationStore(root / "ws")
        await begin(store)
        await submit(store, "a", 1, HOSTILE, HOSTILE)
        await store.save_evaluation(RoundKey(EXECUTION, "a", 1), 50.0, {HOSTILE: 50.0}, NOON)
        store.close()

    asyncio.run(compete())
    return root, chromium.serve(root / "ws")


def test_script_in_every_field_stays_text_on_every_page(chromium: Chromium, hostile: tuple[Path, ViewServer]) -> None:
    _, viewer = hostile

    async def scenario() -> None:
        async with chromium.visiting() as visit:
            page = visit.page
            await visit.follow(viewer.link)
            await look_for_injected(page)
            for run, view in (
                (quote(FILE), f"#id={quote(f'2 {HOSTILE}')}"),
                ("cross", "#status=valid"),
                ("cross", "#status=invalid"),
            ):
                await visit.open(f"{viewer.address}/runs/{run}?lang=en{view}")
                await expect(page.locator("#detail")).to_contain_text("alert(2)")
                await expect(page.locator("#selects select").first).to_be_attached()
                await look_for_injected(page)
            await expect(page.locator("select[name=meta]")).to_have_count(0)
            await visit.open(f"{viewer.address}/runs/{quote(FILE)}#meta={quote(f'{HOSTILE}=1{HOSTILE}')}")
            await expect(page.locator("#matches")).to_have_text("2 of 8")
            await look_for_injected(page)
            await visit.open(f"{viewer.address}/runs/{quote(FILE)}/sample?id={quote(f'0 {HOSTILE}')}")
            await expect(page.locator(".judge-column")).to_have_count(2)
            await page.get_by_role("button", name="Show the prompt").click()
            await expect(page.locator(".judge-column details").last).to_contain_text("alert(2)")
            await look_for_injected(page)
            for path in (f"/runs/{quote(FILE)}/matrix", f"/compare/matrix?run={quote(FILE)}&run=other"):
                await visit.open(viewer.address + path)
                await page.locator(".matrix-cell").first.click()
                await expect(page.locator("#matrix-detail .detail-id")).to_contain_text("alert(2)")
                await look_for_injected(page)
            await visit.open(f"{viewer.address}/answers/{quote(f'asked{FILE}')}")
            await page.locator("[data-prompt]").first.click()
            await expect(page.locator(".answer-cell .answer-body").first).to_contain_text("alert(2)")
            await page.locator("#as-markdown").click()
            await look_for_injected(page)
            for path in (
                f"/compare?a={quote(FILE)}&b=other",
                f"/compare?a={quote(FILE)}&b={quote(FILE)}&target={quote(f'{HOSTILE}0')}&target={quote(f'{HOSTILE}1')}",
                f"/competitions/{EXECUTION}",
            ):
                await visit.open(viewer.address + path)
                await expect(page.locator("main")).to_contain_text("alert(2)")
                await look_for_injected(page)
            assert visit.strangers(viewer.address) == []
            assert [url for url in visit.requests if url.endswith("/x")] == []

    chromium.do(scenario())


def test_script_in_the_address_is_refused_as_text(chromium: Chromium, hostile: tuple[Path, ViewServer]) -> None:
    _, viewer = hostile
    told = quote(f"no {FILE}")

    async def scenario() -> None:
        async with chromium.visiting(expected="404") as visit:
            await visit.follow(viewer.link)
            for path in (f"/runs/{told}", f"/answers/{told}", f"/competitions/{told}", f"/runs/cross/sample?id={told}"):
                await visit.page.goto(viewer.address + path)
                await expect(visit.page.locator("h1")).to_have_text("Not shown")
                await expect(visit.page.locator(".problem-line")).to_contain_text("onerror")
                assert await visit.page.locator(INJECTED).count() == 0

    chromium.do(scenario())


def test_files_to_send_around_run_nothing_and_ask_nobody(chromium: Chromium, hostile: tuple[Path, ViewServer]) -> None:
    root, _ = hostile
    commands = {
        "report.html": ("report", FILE),
        "cross.html": ("report", "cross"),
        "compare.html": ("compare", FILE, "other"),
        "board.html": ("leaderboard", EXECUTION),
    }
    for name, words in commands.items():
        done = mixseek_here(*words, "--workspace", "ws", "--to", name, cwd=root)
        assert done.returncode == 0, done.stderr

    async def scenario() -> None:
        async with chromium.visiting() as visit:
            for name in commands:
                address = (root / name).as_uri()
                await visit.page.goto(address)
                await expect(visit.page.locator("h1")).to_be_visible()
                await look_for_injected(visit.page, is_file=True)
                assert visit.strangers(address) == []
                visit.requests.clear()

    chromium.do(scenario())


def test_a_second_browser_without_the_link_is_told_nothing(chromium: Chromium, viewer: ViewServer) -> None:
    async def scenario() -> None:
        async with chromium.visiting() as known, chromium.visiting(expected="403") as visit:
            await known.follow(viewer.link)
            for path in ("/", "/runs/numbers", "/api/workspace", "/assets/run.js", "/?key=guess"):
                answer = await visit.page.goto(viewer.address + path)
                assert answer is not None
                assert answer.status == 403
                assert "numbers" not in await answer.text()

    chromium.do(scenario())


POST = """(address) => {
  const form = Object.assign(document.createElement("form"), { method: "POST", action: address });
  document.body.append(form);
  form.submit();
}"""
FOLLOW = "(address) => { location.href = address; }"
READ = "(address) => fetch(address, { credentials: 'include' }).then((answer) => answer.text()).catch(() => '')"


@pytest.mark.parametrize("origin", ["http://somebody.example", "http://127.0.0.1:1"])
def test_a_page_of_somebody_else_in_the_same_browser_gets_nothing(
    chromium: Chromium, viewer: ViewServer, origin: str
) -> None:
    """Another site, and another port of this machine, which is the same site: its requests bring the cookie."""
    address = f"{viewer.address}/api/workspace"

    async def scenario() -> None:
        async with chromium.visiting(expected="403|CORS|ERR_FAILED") as visit:
            page = visit.page
            await visit.follow(viewer.link)
            await visit.context.route(
                f"{origin}/**", lambda route: route.fulfill(body="<body>", content_type="text/html")
            )
            for act in (FOLLOW, POST):
                await page.goto(f"{origin}/")
                async with page.expect_response(address) as answer:
                    await page.evaluate(act, address)
                assert (await answer.value).status == 403
                await expect(page.locator("body")).to_contain_text("somebody else")
            await page.goto(f"{origin}/")
            assert await page.evaluate(READ, address) == ""

    chromium.do(scenario())


def test_a_name_that_somebody_points_at_this_machine_opens_nothing(chromium: Chromium, viewer: ViewServer) -> None:
    async def scenario() -> None:
        async with chromium.visiting(expected="421|Opener-Policy") as visit:
            for path in ("/", viewer.link.removeprefix(viewer.address)):
                answer = await visit.page.goto(f"http://{FOREIGN_NAME}:{viewer.port}{path}")
                assert answer is not None
                assert answer.status == 421
                assert await visit.context.cookies() == []

    chromium.do(scenario())

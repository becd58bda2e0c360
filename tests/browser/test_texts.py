"""Texts as they were meant: formulas, code, reasoning and steps, and nothing that a judged text could do by them."""

import json
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Page, expect
from tests.browser.driving import Chromium
from tests.flows.running import mixseek_here, write_jsonl
from tests.unit.web.viewing import judge_rows

from mixseek.web.server import ViewServer

_SOLVED = r"""<think>
Half of it, so \(x = 42\).
</think>
Step 1: write $\frac{1}{2} \cdot 84$, which costs $5 or $6, or 5$ more.

Step 2: \[
\begin{aligned}
- x &= -42
\end{aligned}
\]

Step 3: so \boxed{42}.

```python
def half(number):
    return number / 2  # exact
```
"""
_HOSTILE = (
    r"\href{javascript:alert(1)}{go} $\label{detail} \color{white} y_1$ "
    r"\(\class{detail}{z}\) \[ open and \unknown{$w_2$}"
)
ROWS: tuple[dict[str, Any], ...] = (
    {"id": "solved", "question": r"What is $\frac{1}{2}$ of 84?", "response": _SOLVED, "ground_truth": "42"},
    {"id": "hostile", "question": "What?", "response": _HOSTILE, "ground_truth": "42"},
    {
        "id": "plain",
        "question": "What is `<think>` for?",
        "response": "It is 42, as <think> says.",
        "ground_truth": "42",
    },
)


@pytest.fixture(scope="module")
def texts(chromium: Chromium, tmp_path_factory: pytest.TempPathFactory) -> tuple[ViewServer, Path]:
    """The viewer of a run whose texts hold formulas and code, and the report that is sent around."""
    root = tmp_path_factory.mktemp("texts")
    judge_rows(root, ROWS, run="texts")
    done = mixseek_here("report", "texts", "--workspace", "ws", cwd=root)
    assert done.returncode == 0, done.stderr
    return chromium.serve(root / "ws"), root / "ws" / "runs" / "texts" / "report.html"


async def as_meant(page: Page, address: str, sample: str) -> None:
    await page.goto(f"{address}#id={sample}")
    await expect(page.locator(".detail-id")).to_have_text(sample)
    button = page.locator("#detail .as-markdown")
    if await button.get_attribute("aria-pressed") == "false":
        await button.click()
    await expect(page.locator("#detail .as-markdown")).to_have_attribute("aria-pressed", "true")


async def look_at_solved(page: Page, address: str) -> None:
    """Every formula is drawn, code has its colours, and the way to the answer is folded."""
    await as_meant(page, address, "solved")
    response = page.locator("#detail .response .markdown")
    await expect(page.locator("#detail [data-formed] math mfrac").first).to_be_attached()
    folded = await response.locator(".folded-part > summary").all_inner_texts()
    assert [title.split(" ")[0] for title in folded] == ["Reasoning", "Steps"]
    await expect(response.locator(".folded-part").nth(1)).not_to_have_attribute("open", "")
    await expect(response.locator(".folded-part math")).to_have_count(3)
    await expect(response.locator(".folded-part mtable")).to_have_count(1)
    shown = await response.text_content() or ""
    assert "costs $5 or $6, or 5$ more." in shown
    assert "\\[" not in shown
    await expect(response.locator("> p math")).to_have_count(1)
    assert await response.locator("pre .code-keyword").all_inner_texts() == ["def", "return"]
    assert await response.locator("pre .code-comment").all_inner_texts() == ["# exact"]

    await page.locator("#detail .as-markdown").click()
    assert await page.locator("#detail .response .prose").text_content() == _SOLVED
    await expect(page.locator("#detail math")).to_have_count(0)


def test_formulas_code_and_reasoning_are_shown_as_they_were_meant(
    chromium: Chromium, texts: tuple[ViewServer, Path]
) -> None:
    """In the viewer and in the file, which asks nobody for what draws them."""
    viewer, report = texts

    async def scenario() -> None:
        async with chromium.visiting() as visit:
            await visit.page.goto(report.as_uri())
            await look_at_solved(visit.page, report.as_uri())
            assert visit.strangers("file:") == []
        async with chromium.visiting() as visit:
            await visit.follow(viewer.link)
            await look_at_solved(visit.page, f"{viewer.address}/runs/{report.parent.name}")
            assert visit.strangers(viewer.address) == []

    chromium.do(scenario())


def test_a_text_about_a_tag_is_not_folded(chromium: Chromium, texts: tuple[ViewServer, Path]) -> None:
    """Nor is the page's own text, such as the prompt of the protocol, in which the tag is named."""
    _, report = texts

    async def scenario() -> None:
        async with chromium.visiting() as visit:
            await as_meant(visit.page, report.as_uri(), "plain")
            assert await visit.page.locator(".folded-part").count() == 0
            assert "as <think> says." in (await visit.page.locator("#detail .response").text_content() or "")

    chromium.do(scenario())


def test_a_formula_leads_nowhere_names_nothing_and_hides_nothing(
    chromium: Chromium, texts: tuple[ViewServer, Path]
) -> None:
    """What a library refuses stays as it was written, and so does a formula that does not end."""
    _, report = texts

    async def scenario() -> None:
        async with chromium.visiting() as visit:
            await as_meant(visit.page, report.as_uri(), "hostile")
            response = visit.page.locator("#detail .response .markdown")
            await expect(response.locator("math")).to_have_count(2)
            assert await response.locator("a, [id], [href], [style*=color]").count() == 0
            assert await visit.page.locator("#detail").count() == 1
            shown = await response.text_content() or ""
            assert r"\href{javascript:alert(1)}{go}" in shown
            assert r"\(\class{detail}{z}\)" in shown
            assert r"\[ open and \unknown" in shown

    chromium.do(scenario())


# All that stands around a response; nothing in the response itself is a formula.
_AROUND = {
    "id": "around",
    "question": "What is half of one?",
    "response": "One over two.",
    "ground_truth": r"\(\frac{1}{2}\)",
    "ground_truth_alternatives": [r"\(\frac{2}{4}\)"],
}
_SAID_OF_IT = {
    "id": 1,
    "is_correct": True,
    "reasoning_score": 5,
    "error_type": "none",
    "extracted_answer": r"\(\tfrac{1}{2}\)",
    "comment": "Because\n\n\\[ 2 x = 1 \\]\n\nand `x` is asked for.",
}


def test_what_judges_and_datasets_say_is_shown_as_it_was_meant_too(
    chromium: Chromium, tmp_path_factory: pytest.TempPathFactory
) -> None:
    root = tmp_path_factory.mktemp("around")
    write_jsonl(root / "judge.jsonl", [{"id": "around", "reply": json.dumps(_SAID_OF_IT)}])
    judge_rows(root, (_AROUND,), "around", "--judge", "replay:judge.jsonl")
    done = mixseek_here("report", "around", "--workspace", "ws", cwd=root)
    assert done.returncode == 0, done.stderr
    report = (root / "ws" / "runs" / "around" / "report.html").as_uri()

    async def scenario() -> None:
        async with chromium.visiting() as visit:
            page = visit.page
            await page.goto(f"{report}#status=valid")
            await expect(page.locator("#detail .comment")).to_contain_text("Because")
            assert await page.locator("#detail math").count() == 0
            await page.locator("#detail .as-markdown").click()
            await expect(page.locator("#detail .answer math mfrac")).to_have_count(2)
            await expect(page.locator("#detail .also math mfrac")).to_have_count(1)
            await expect(page.locator("#detail .comment math")).to_have_count(1)
            assert await page.locator("#detail .comment code").inner_text() == "x"
            assert visit.strangers("file:") == []

    chromium.do(scenario())

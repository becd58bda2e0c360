"""The page in a browser, where one is installed: what keys, filters and addresses do."""

import json
import re
import shutil
import subprocess
from dataclasses import replace
from html import unescape
from pathlib import Path

import pytest
from tests.unit.reports import scored_material as scored
from tests.unit.reports.counting import count_rows

from mixseek.analysis.run.build import build_report
from mixseek.analysis.run.model import RunHeader
from mixseek.domain.judgments import JudgedRow, Status
from mixseek.domain.scored_counts import DimensionBucket, DimensionCell
from mixseek.reports.pages.html import render_html

BROWSER = shutil.which("chromium") or shutil.which("google-chrome")
ROW = JudgedRow(
    id="tea-1",
    judge="model",
    status=Status.VALID,
    response="Green tea.",
    question="Which tea?",
    verdict="correct",
    score=1.0,
)
ROWS = (
    ROW,
    replace(ROW, take=2, verdict="incorrect", score=0.0, reasoning_score=2),
    replace(ROW, take=3, fields={"extraction_verified": False, "warnings": ["extracted_answer_not_in_response"]}),
    replace(ROW, id="coffee-1", response="Black coffee.", reasoning_score=5),
)
SCRIPT = """<script>
const said = [];
const at = (id) => document.getElementById(id);
const pause = (ms) => new Promise((done) => setTimeout(done, ms));
const type = async (text) => {
  at("search").value = text;
  at("search").dispatchEvent(new Event("input", {bubbles: true}));
  await pause(300);
};
const go = async (hash) => { location.hash = hash; await pause(50); };
const repeatOf = () => document.querySelector("#detail .facts")?.textContent.match(/Repeat(\\d of \\d)/)?.[1];
const opened = () => document.querySelector(".detail-id")?.textContent + " " + (repeatOf() ?? "");
(async () => {
  await type("coffee");
  said.push("typed " + at("matches").textContent);
  at("search").dispatchEvent(new KeyboardEvent("keydown", {key: "Escape", bubbles: true}));
  await pause(50);
  said.push("escaped [" + at("search").value + "] " + at("matches").textContent);
  await go("#id=tea-1&repeat=2");
  said.push("named " + opened());
  await type("coffee");
  said.push("excluded " + opened() + " " + location.hash);
  await go("#unverified=yes");
  said.push("unverified " + at("matches").textContent);
  await go("#reasoning=5");
  said.push("reasoning " + at("matches").textContent);
  await go("#id=tea-1");
  said.push("sides " + [...document.querySelectorAll(".row-side")].map((side) => side.textContent).join(","));
  const key = (name) => document.body.dispatchEvent(new KeyboardEvent("keydown", {key: name, bubbles: true}));
  await go("#verdict=correct");
  document.querySelectorAll(".row")[1].click();
  key("j");
  await pause(100);
  said.push("stepped " + opened());
  history.back();
  await pause(200);
  said.push("back " + opened() + " " + at("matches").textContent);
  history.back();
  await pause(200);
  said.push("back " + location.hash);
  at("sort").value = "lowest";
  at("sort").dispatchEvent(new Event("change"));
  key("Escape");
  await pause(100);
  const first = document.querySelector(".row-outcome").textContent;
  said.push("cleared " + at("matches").textContent + " " + first + " " + location.hash);
  const choice = document.querySelector("#selects select[name=reasoning]");
  choice.value = "5";
  choice.dispatchEvent(new Event("change"));
  await pause(100);
  said.push("chosen " + at("matches").textContent);
  choice.dispatchEvent(new KeyboardEvent("keydown", {key: "Escape", bubbles: true}));
  await pause(100);
  said.push("unchosen " + at("matches").textContent);
  document.title = "SAID " + said.join(" | ");
})().catch((error) => { document.title = "SAID " + error; });
</script></body>"""


# Texts that lie upon each other, and how far the page can be moved sideways.
OVERLAPS = """<script>
/** The box as far as it is seen: what a box around it hides is not. */
function seen(box, element) {
  let { left, right, top, bottom } = box;
  for (let up = element; up; up = up.parentElement) {
    if (getComputedStyle(up).overflowX === "visible") continue;
    const edge = up.getBoundingClientRect();
    left = Math.max(left, edge.left);
    right = Math.min(right, edge.right);
    top = Math.max(top, edge.top);
    bottom = Math.min(bottom, edge.bottom);
  }
  return { left, right, top, bottom, text: element.textContent.trim().slice(-20), element };
}
function overlap(one, other) {
  const wide = Math.min(one.right, other.right) - Math.max(one.left, other.left);
  const high = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
  return one.element !== other.element && wide > 2 && high > 6;
}
addEventListener("load", () => {
  const boxes = [];
  const walker = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const parent = walker.currentNode.parentElement;
    if (!walker.currentNode.textContent.trim() || !parent.checkVisibility()) continue;
    if (parent.closest(".visually-hidden, option, svg, script, noscript")) continue;
    const range = document.createRange();
    range.selectNodeContents(walker.currentNode);
    for (const box of range.getClientRects()) boxes.push(seen(box, parent));
  }
  const shown = boxes.filter((box) => box.right - box.left > 1 && box.bottom - box.top > 1);
  const found = [];
  shown.forEach((one, place) => shown.slice(place + 1).forEach((other) => {
    if (overlap(one, other)) found.push(`${one.text} / ${other.text}`);
  }));
  const sideways = document.documentElement.scrollWidth - innerWidth;
  document.title = "SAID " + JSON.stringify({ texts: shown.length, found: found.slice(0, 9), sideways });
});
</script></body>"""


def said_by(page: str, script: str, tmp_path: Path, size: str) -> str:
    """What a script in the page says in the page's title."""
    # The page's own policy would refuse the script that plays the reader.
    page = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", page).replace("</body>", script)
    (tmp_path / "page.html").write_text(page, encoding="utf-8")
    done = subprocess.run(
        [
            str(BROWSER), "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
            f"--user-data-dir={tmp_path / 'profile'}", f"--window-size={size}", "--virtual-time-budget=8000",
            "--dump-dom", (tmp_path / "page.html").as_uri(),
        ],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    title = re.search(r"<title>SAID (.*?)</title>", done.stdout)
    assert title is not None, done.stderr[-2000:]
    return unescape(title[1])


def page_of(*rows: JudgedRow) -> str:
    return render_html(build_report(count_rows(RunHeader("r", "semantic", "1", "ab" * 32, "d", 2), {}, rows)))


@pytest.mark.skipif(BROWSER is None, reason="no chromium is installed")
def test_keys_filters_and_addresses(tmp_path: Path) -> None:
    """Escape empties box and filter, excluded judgments close, every repeat has an address of its own."""
    said = said_by(page_of(*ROWS), SCRIPT, tmp_path, "1280,900")

    assert said.split(" | ") == [
        "typed 1 of 4",
        "escaped [] 4 judgments",
        "named tea-1 2 of 3",
        "excluded coffee-1 1 of 3 #q=coffee",
        "unverified 1 of 4",
        "reasoning 1 of 4",
        "sides " + ",".join(f"model · repeat {number} of 3" for number in (1, 2, 3, 1)),
        "stepped coffee-1 1 of 3",
        "back tea-1 3 of 3 3 of 4",
        "back #verdict=correct",
        "cleared 4 judgments incorrect #sort=lowest",
        "chosen 1 of 4",
        "unchosen 4 judgments",
    ]


MANY_PAGES = """<script>
const at = (id) => document.getElementById(id);
const said = [];
const until = async (isReady) => {
  for (let tries = 0; tries < 200 && !isReady(); tries++) await new Promise((done) => setTimeout(done, 20));
};
const told = () => [at("matches"), at("page-text"), document.querySelector(".detail-id")]
  .map((part) => part?.textContent).join(" ");
(async () => {
  await until(() => at("matches").textContent.includes("judgments"));
  said.push(told());
  at("later").click();
  await until(() => at("page-text").textContent.startsWith("201"));
  said.push(told());
  history.back();
  await until(() => at("page-text").textContent.startsWith("1–"));
  said.push(told());
  location.hash = "#id=s-1234";
  await until(() => document.querySelector(".detail-id")?.textContent === "s-1234");
  said.push(told());
  location.hash = "#q=needle";
  await until(() => at("matches").textContent.endsWith("of 1,500") && !at("matches").textContent.includes("far"));
  said.push(told());
  location.hash = "#task=t-2";
  await until(() => at("matches").textContent.startsWith("150 "));
  said.push(told());
  const offered = [...document.querySelectorAll("select[name=task] option")].map((one) => one.textContent);
  said.push(offered.slice(1, 4).join(", "));
  document.title = "SAID " + said.join(" | ");
})().catch((error) => { document.title = "SAID " + error; });
</script></body>"""


@pytest.mark.skipif(BROWSER is None, reason="no chromium is installed")
def test_a_long_report_lists_everything(tmp_path: Path) -> None:
    """Pages, addresses, filters and a search reach judgments in every block of the file."""
    rows = [
        replace(
            ROW, id=f"s-{number}", task_name=f"t-{number % 10 + 1}",
            response="needle" if number in (3, 1_499) else f"Green tea {number}. " * 40,
        )
        for number in range(1_500)
    ]  # fmt: skip

    said = said_by(page_of(*rows), MANY_PAGES, tmp_path, "1280,900")

    assert said.split(" | ") == [
        "1,500 judgments 1–200 s-0",
        "1,500 judgments 201–400 s-200",
        "1,500 judgments 1–200 s-0",
        "1,500 judgments 1,201–1,400 s-1234",
        "2 of 1,500 1–2 s-3",
        "150 of 1,500 1–150 s-1",
        "t-1 (150), t-2 (150), t-3 (150)",
    ]


HOSTILE = """# Head <b>one</b>
<img src=x onerror=alert(1)><script>alert(1)</script> **bold _slanted_** `code <i>` snake_case_name

- one
- two
  1. inner [click](javascript:alert(1)) ![pixel](https://evil.example/p.png)

[run](javascript:open) [page](data:text/html,x) [mail](mailto:a@example.org) [here](//example.org)

> quoted [site](https://example.org/a_b) ~~gone~~

| a | b |
|---|---|
| 1 | <u>2</u> |

```html
<script>alert(2)</script>
```
[x](data:text/html,<script>alert(3)</script>) ``` ** __ ~~ [ ]( \\* """
MARKDOWN = """<script>
addEventListener("error", (event) => { document.title = "SAID error " + event.message; });
(async () => {
  const pause = (ms) => new Promise((done) => setTimeout(done, ms));
  for (let tries = 0; tries < 100 && !document.querySelector(".as-markdown"); tries++) await pause(20);
  const plain = document.querySelector(".response .prose").textContent;
  document.querySelector(".as-markdown").click();
  const shown = document.querySelector(".response .markdown");
  const tags = [...new Set([...shown.querySelectorAll("*")].map((one) => one.localName))].sort();
  const attributes = new Set([...shown.querySelectorAll("*")].flatMap((one) => [...one.getAttributeNames()]));
  const links = [...shown.querySelectorAll("a")].map((one) => `${one.getAttribute("href")} ${one.rel}`);
  const started = performance.now();
  document.querySelector(".as-markdown").click();
  const back = document.querySelector(".response .prose").textContent === plain;
  document.title = "SAID " + JSON.stringify({
    tags, links, handlers: [...attributes].filter((name) => name.startsWith("on") || name === "src"), back,
    text: shown.textContent.includes("<script>alert(1)</scr" + "ipt>"), code: shown.querySelector("pre").textContent,
    names: shown.textContent.includes("snake_case_name"),
  });
})();
</script></body>"""


@pytest.mark.skipif(BROWSER is None, reason="no chromium is installed")
def test_markdown_is_shown_on_demand_and_stays_text(tmp_path: Path) -> None:
    """A few harmless elements; HTML stays text, nothing is loaded, and only links to the web are links."""
    said = json.loads(said_by(page_of(replace(ROW, response=HOSTILE)), MARKDOWN, tmp_path, "1280,900"))

    known = {"a", "blockquote", "code", "div", "em", "li", "ol", "p", "pre", "s", "strong", "table", "tbody", "td"}
    assert set(said["tags"]) == known | {"th", "thead", "tr", "ul"}
    assert said["links"] == ["https://example.org/a_b noopener noreferrer nofollow"]
    assert said["handlers"] == []
    assert said["code"] == "<script>alert(2)</script>"
    assert (said["text"], said["names"], said["back"]) == (True, True, True)


LONG = "a_name_of_more_than_sixty_characters_that_has_no_space_to_break_at_"
MANY = [
    replace(
        ROW, id=f"{LONG}{number}", judge=f"{LONG}{judge}", task_name=f"{LONG}{number}", target_model=f"{LONG}{number}",
        verdict=f"{LONG}{number % 2}", score=number % 2, error_type=LONG, reasoning_score=number + 1, rules=(LONG,),
        extracted_answer=LONG, ground_truth=LONG, fields={"extraction_verified": False, "warnings": [LONG]},
    )
    for number in range(4)
    for judge in "ab"
]  # fmt: skip


@pytest.mark.skipif(BROWSER is None, reason="no chromium is installed")
@pytest.mark.parametrize("kind", ["semantic", "scored"])
@pytest.mark.parametrize("width", [390, 1280])
def test_no_name_lies_upon_another(width: int, kind: str, tmp_path: Path) -> None:
    """Names without a place to break at, on a telephone and on a screen; the page itself never moves sideways."""
    cells = [scored.cell(1.0, 0.5, judge=f"{LONG}{one}", target=f"{LONG}{two}") for one in "ab" for two in "cd"]
    marks = [DimensionCell(f"{LONG}a", f"{LONG}c", "A", None, LONG.upper(), 2.0, 3, 4.0, 6.0)]
    buckets = [DimensionBucket(f"{LONG}a", LONG.upper(), 2.0, 1.0, 1.0, 2)]
    page = (
        page_of(*MANY)
        if kind == "semantic"
        else render_html(scored.page_report(cells=cells, dimensions=marks, buckets=buckets, variants=()))
    )
    said = json.loads(said_by(page, OVERLAPS, tmp_path, f"{width},900"))

    assert said["texts"] > 50
    assert said["found"] == []
    assert said["sideways"] <= 0

"""The page in a browser, where one is installed: what keys, filters and addresses do."""

import re
import shutil
import subprocess
from dataclasses import replace
from html import unescape
from pathlib import Path

import pytest
from tests.unit.reporting.counting import count_rows

from mixseek.domain.judgments import Status
from mixseek.reporting.build import build_report
from mixseek.reporting.html import render_html
from mixseek.reporting.model import JudgmentRow, RunHeader

BROWSER = shutil.which("chromium") or shutil.which("google-chrome")
ROW = JudgmentRow("tea-1", "model", Status.VALID, "Green tea.", "Which tea?", verdict="correct", score=1.0)
ROWS = (
    ROW,
    replace(ROW, repeat=2, verdict="incorrect", score=0.0, reasoning_score=2),
    replace(ROW, repeat=3, extraction_verified=False, warnings=("extracted_answer_not_in_response",)),
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
const repeatOf = () => document.querySelector("#detail .facts")?.textContent.match(/Repeat(\\d)/)?.[1];
const opened = () => document.querySelector(".detail-id")?.textContent + " " + (repeatOf() ?? "");
(async () => {
  await type("coffee");
  said.push("typed " + at("matches").textContent);
  at("search").dispatchEvent(new KeyboardEvent("keydown", {key: "Escape", bubbles: true}));
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
  document.title = "SAID " + said.join(" | ");
})().catch((error) => { document.title = "SAID " + error; });
</script></body>"""


@pytest.mark.skipif(BROWSER is None, reason="no chromium is installed")
def test_keys_filters_and_addresses(tmp_path: Path) -> None:
    """Escape empties box and filter, excluded judgments close, every repeat has an address of its own."""
    page = render_html(build_report(count_rows(RunHeader("r", "semantic", "1", "ab" * 32, "d", 2), {}, ROWS)))
    # The page's own policy would refuse the script that plays the reader.
    page = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", page).replace("</body>", SCRIPT)
    (tmp_path / "page.html").write_text(page, encoding="utf-8")
    done = subprocess.run(
        [
            str(BROWSER), "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
            f"--user-data-dir={tmp_path / 'profile'}", "--window-size=1280,900", "--virtual-time-budget=8000",
            "--dump-dom", (tmp_path / "page.html").as_uri(),
        ],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    title = re.search(r"<title>SAID (.*?)</title>", done.stdout)

    assert title is not None, done.stderr[-2000:]
    assert unescape(title[1]).split(" | ") == [
        "typed 1 of 4",
        "escaped [] 4 judgments",
        "named tea-1 2",
        "excluded coffee-1 1 #q=coffee",
        "unverified 1 of 4",
        "reasoning 1 of 4",
        "sides model #1,model #2,model #3,model #1",
    ]

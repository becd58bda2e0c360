"""Every page that there is: what shows it, where it stands, and what is there when it is whole.

A template or an address that is missing here fails a test: nobody looked at its page.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from playwright.async_api import Page, expect
from tests.browser.driving import Visit
from tests.browser.long_names import make_long_names
from tests.flows.running import mixseek_here
from tests.unit.analysis.sure_material import panel_run

import mixseek
from mixseek.setup.demo import ANSWERS, EXECUTION, run_demo
from mixseek.web.server import ViewServer


@dataclass(frozen=True, slots=True)
class PageOfViewer:
    """`{name}` in the address is a run of the demo; `click` opens what stands in no address."""

    template: str
    address: str
    whole: str
    click: str = ""


def page(template: str, address: str, whole: str, click: str = "") -> PageOfViewer:
    return PageOfViewer(f"{template}.html.j2", address, whole, click)


VIEWED: Mapping[str, PageOfViewer] = {
    "home": page("home", "/", ".board-headline svg"),
    "run-semantic": page("run", "/runs/{semantic}#verdict=incorrect&id=en-boolean-04", ".detail-id"),
    "run-rubric": page("run", "/runs/{rubric}#id=fact-good", ".detail .mark-line"),
    "run-cross": page("run", "/runs/{cross}#status=valid&id=Q1-A-birch-2", ".detail .quotes"),
    "run-trajectory": page("run", "/runs/{trajectory}#id=berth-birch", "#detail .timeline mark.quote"),
    "run-pairwise": page("run", "/runs/{pairs}#id=kettle-heron-gull", ".detail-id"),
    "run-sure": page("run", "/runs/{sure}#confidence", "#confidence .calibration"),
    "label-form": page("run", "/runs/{labelled}#id=en-boolean-04", "#detail [data-verdict]", "[data-give-label]"),
    "matrix": page("matrix_page", "/runs/{cross}/matrix#across=judge", "#matrix-detail .badge", "#cell-0-0"),
    "matrix-pairwise": page("matrix_page", "/runs/{pairs}/matrix", ".matrix-cell"),
    "matrix-of-runs": page("matrix_page", "/compare/matrix?run={semantic}&run={later}", ".matrix-cell"),
    "sample": page("sample", "/runs/{rubric}/sample?id=fact-good", ".judge-column"),
    "sample-trajectory": page("sample", "/runs/{trajectory}/sample?id=tide-aster", ".judge-column .timeline"),
    "sample-of-a-pair": page("sample", "/runs/{pairs}/sample?id=kettle-heron-gull", ".judge-column"),
    "review": page("review", "/runs/{labelled}/review?rater=you", "[data-queue]"),
    "review-queue": page("review", "/runs/{labelled}/review?rater=you&queue=invalid", "[data-response]"),
    "compare": page("compare", "/compare?a={semantic}&b={later}", "details.change[open]"),
    "answers": page("answers", f"/answers/{ANSWERS}?marked=2,4", ".answer-cell ins"),
    "choose": page("choose", "/compare", ".choose"),
    "competition": page("competition", f"/competitions/{EXECUTION}", "h1"),
    "error": page("error", "/runs/nobody", ".problem-line"),
}
# Pages of a run in which everything has a long name, and texts are Japanese, Chinese, formulas and code; the names of
# runs stand in the home and in the choice of two as well.
LONG_NAMED: Mapping[str, PageOfViewer] = {
    "home": VIEWED["home"],
    "choose": VIEWED["choose"],
    "run": page("run", "/runs/{long}#id={first}", ".detail-id"),
    "matrix": page("matrix_page", "/runs/{long}/matrix#across=target", "#matrix-detail .badge", "#cell-0-0"),
    "sample": page("sample", "/runs/{long}/sample?id={first}", ".judge-column"),
    "review": page("review", "/runs/{long}/review?rater={rater}", "[data-rater-name]"),
    "compare": page("compare", "/compare?a={long}&b={long}&target={target}&target={other}", "#changes"),
    "competition": page("competition", "/competitions/{race}", ".curves"),
}
# What the tables call the runs of the demo.
NAMES = "names.json"
# Shown for a moment; a test asks for it where it stays.
PASSING = {"pending.html.j2"}
# Parts of pages.
PARTS = {"base.html.j2", "bar.html.j2", "board_filters.html.j2", "macros.html.j2", "matrix.html.j2"}
# What is sent around: its template, and its file below the demo's workspace.
FILES: Mapping[str, tuple[str, str]] = {
    "report-semantic": ("report.html.j2", "runs/{semantic}/report.html"),
    "report-labelled": ("report.html.j2", "runs/{labelled}/report.html"),
    "report-rubric": ("report.html.j2", "runs/{rubric}/report.html"),
    "report-cross": ("report.html.j2", "runs/{cross}/report.html"),
    "report-trajectory": ("report.html.j2", "runs/{trajectory}/report.html"),
    "report-pairwise": ("report.html.j2", "runs/{pairs}/report.html"),
    "report-panel": ("report.html.j2", "panel.html"),
    "report-sure": ("report.html.j2", "sure.html"),
    "comparison": ("comparison.html.j2", "runs/{later}/compare-{semantic}.html"),
    "competition": ("leaderboard.html.j2", f"competitions/{EXECUTION}/leaderboard.html"),
    "judge-card": ("result_page.html.j2", "runs/{audit}/card.html"),
    "leader-board": ("result_page.html.j2", "board.html"),
    "notebook-card": ("", "notebook.html"),
}


def make_every_page(root: Path) -> None:
    """The demo, the files that it does not write, and what the table calls its runs."""
    workspace = root / "ws"
    demo = run_demo(workspace)
    pages = {
        "semantic": demo.report,
        "labelled": demo.corrected_page,
        "later": demo.comparison_page,
        "audit": demo.card_page,
        "pairs": demo.pairs_page,
        **{example.protocol: example.report for example in demo.examples},
    }
    names = {name: path.parent.name for name, path in pages.items()}
    names |= make_long_names(root)
    # Judges that say how sure they are, with labels in the data.
    _, sure = panel_run(workspace)
    names["sure"] = sure.name
    (root / NAMES).write_text(json.dumps(names), encoding="utf-8")
    for words in (
        ("report", names["cross"], "--panel", "median", "--to", "ws/panel.html"),
        ("leaderboard", names["pairs"], "--to", "ws/board.html"),
        ("report", names["sure"], "--to", "ws/sure.html"),
    ):
        done = mixseek_here(*words, "--workspace", "ws", cwd=root)
        assert done.returncode == 0, done.stderr
    card = mixseek.open_run(names["cross"], workspace=workspace)._repr_html_()
    head = '<!doctype html><html lang="en"><meta charset="utf-8"><title>notebook</title><main>'
    above = "<h1>notebook</h1><h2>cells</h2><h3>a cell</h3>"
    (workspace / "notebook.html").write_text(f"{head}{above}{card}</main>", encoding="utf-8")


def read_names(root: Path) -> dict[str, str]:
    names: dict[str, str] = json.loads((root / NAMES).read_text(encoding="utf-8"))
    return names


def is_of(path: str, address: str) -> bool:
    """Whether an address is one of a route, whatever its names are."""
    return re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", path), re.split(r"[?#]", address)[0]) is not None


async def open_page(
    visit: Visit, server: ViewServer, name: str, names: dict[str, str], table: Mapping[str, PageOfViewer] = VIEWED
) -> Page:
    """The page of the table when it is whole."""
    shown = table[name]
    # Else a page whose address differs in its last part only would not be opened anew.
    await visit.page.goto("about:blank")
    await visit.open(server.address + shown.address.format(**names))
    if shown.click:
        await visit.page.locator(shown.click).first.click()
    await expect(visit.page.locator(shown.whole).first).to_be_attached()
    return visit.page

"""What find_defects says of a page with one fault, and of the same page without it."""

import pytest
from tests.browser.driving import NARROW, Chromium
from tests.browser.seen_defects import find_defects

TABLE = "<table><thead><tr><th>Rule<th>Used<th>Mean</thead><tbody><tr><th>number<td>24<td>66.7%</tbody></table>"
HEAD = "<table><thead><tr><th>サンプル</thead></table>"
LINE = '<div><nav>Summary</nav><button id="theme">o</button></div>'


@pytest.mark.parametrize(
    ("body", "style", "defects"),
    [
        (TABLE, "th { text-align: left }", []),
        (TABLE, "th { text-align: left } td:nth-child(2) { display: none }", ["a row of 2 under 3 heads"]),
        (TABLE, "th { text-align: left } td:last-child { text-align: right }", ["beside its head: th."]),
        (HEAD, "th { width: 2em; padding: 0 }", ["broken: サンプル in th."]),
        (HEAD, "th { width: 2em; padding: 0; word-break: keep-all }", []),
        (LINE, "div { display: flex } nav { margin-left: auto }", []),
        (LINE, "div { display: flex } nav, button { margin-left: auto }", ["adrift: nav."]),
    ],
)
def test_a_fault_is_seen_and_its_absence_too(chromium: Chromium, body: str, style: str, defects: list[str]) -> None:
    async def scenario() -> list[str]:
        async with chromium.visiting(NARROW) as visit:
            await visit.page.set_content(f'<!doctype html><html lang="ja"><style>{style}</style>{body}</html>')
            return await find_defects(visit.page)

    found = chromium.do(scenario())

    assert [one[: len(defect)] for one, defect in zip(found, defects, strict=True)] == defects

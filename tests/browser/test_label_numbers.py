"""What the review page says of the labels: how many more a width needs, counted by what was drawn at random."""

import csv
import json
import re
from pathlib import Path

import pytest
from playwright.async_api import expect
from tests.browser.driving import Chromium
from tests.flows.running import mixseek_here, write_jsonl

SAMPLES = 480


def judge(place: Path, labelled: int) -> None:
    """A run by rules, and labels of the first samples that nobody drew at random."""
    rows = [
        {
            "id": f"row-{number}",
            "question": f"What is {number} + 1?",
            "response": f"So the answer is {number + (2 if number % 4 == 0 else 1)}.",
            "ground_truth": str(number + 1),
        }
        for number in range(SAMPLES)
    ]
    write_jsonl(place / "rows.jsonl", rows)
    with (place / "labels.csv").open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["id", "label"])
        table.writerows((f"row-{number}", "correct" if number % 4 else "incorrect") for number in range(labelled))
    commands: list[tuple[str, ...]] = [("judge", "rows.jsonl", "--workspace", "ws", "--run", "sums", "-q")]
    if labelled:
        commands.append(("label", "import", "labels.csv", "--rater", "mia", "--run", "sums", "--workspace", "ws"))
    for words in commands:
        assert mixseek_here(*words, cwd=place).returncode == 0


@pytest.mark.parametrize("labelled", [0, 25, 140])
def test_labels_that_were_not_drawn_bring_no_width_nearer(chromium: Chromium, labelled: int, tmp_path: Path) -> None:
    """The same number as `mixseek label plan`, and never "1 more" because labels of unknown drawing lie about."""
    judge(tmp_path, labelled)
    planned = json.loads(
        mixseek_here("label", "plan", "sums", "--width", "5%", "-w", "ws", "--json", cwd=tmp_path).stdout
    )
    viewer = chromium.serve(tmp_path / "ws")

    async def scenario() -> str:
        async with chromium.visiting() as visit:
            await visit.follow(viewer.link)
            await visit.open(f"{viewer.address}/runs/sums/review?rater=mia")
            line = visit.page.locator("[data-enough]")
            await expect(line).to_have_text(re.compile("asked for"))
            return await line.inner_text()

    line = chromium.do(scenario())

    assert (planned["labelled"], planned["drawn"]) == (labelled, 0)
    assert planned["more"] == planned["needed"] > 25
    assert line == f"More labels needed: {planned['more']} (asked for ±5.0)"

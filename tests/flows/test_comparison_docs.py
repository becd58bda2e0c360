"""What docs/comparisons.md shows is run here, to the letter."""

import json
import re
from pathlib import Path

from tests.flows.pages import blocks, read_page, run_script

from mixseek.stats.difference import DifferenceState

PAGE = read_page("docs/comparisons.md")


def test_the_examples_run_as_written(tmp_path: Path) -> None:
    """Two better, one worse; what was left open stays out; every gate of the page is met."""
    run_script("\n".join(blocks(PAGE, "sh")), tmp_path)

    assert (tmp_path / "march-april.html").is_file()
    found = json.loads((tmp_path / "march-april.json").read_text(encoding="utf-8"))
    assert {pair["id"] for pair in found["better"]} == {"q2", "q4"}
    assert [pair["id"] for pair in found["worse"]] == ["q5"]
    assert found["counts"]["pairs"] == 6
    assert found["drift"]["same_texts"] == 3


def test_every_state_is_explained() -> None:
    named = set(re.findall(r"`(\w+)`", PAGE))

    assert {state.value for state in DifferenceState if state is not DifferenceState.ESTIMATED} <= named

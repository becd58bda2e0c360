"""The tutorials run as they stand, offline, and print what they show."""

from pathlib import Path

import pytest
from tests.flows.pages import ROOT, check_page

PAGES = sorted((ROOT / "docs" / "tutorials").glob("*.md"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_tutorial_runs_as_written_and_prints_what_is_shown(tmp_path: Path, page: Path) -> None:
    """From the data to a verdict, a report and a gate; each has a reply that is invalid, and says so."""
    text = page.read_text(encoding="utf-8")

    assert check_page(text, tmp_path) >= 5
    assert (tmp_path / "report.html").is_file()
    assert "invalid" in text


def test_every_protocol_has_its_tutorial() -> None:
    assert [page.stem for page in PAGES] == ["agents", "answers", "cross", "rubric", "semantic"]

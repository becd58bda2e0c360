"""What docs/statistics.md, labels.md and leaderboards.md show is run here: their commands, and their Python."""

import doctest
from pathlib import Path

import pytest
from tests.flows.pages import ROOT, check_page, read_page


@pytest.mark.parametrize("page", ["statistics.md", "labels.md", "leaderboards.md"])
def test_commands_print_what_the_page_shows(tmp_path: Path, page: str) -> None:
    """Every block of commands is followed by what it prints."""
    assert check_page(read_page(f"docs/{page}"), tmp_path)


def test_python_gives_what_the_page_shows() -> None:
    found = doctest.testfile(str(ROOT / "docs" / "statistics.md"), module_relative=False, encoding="utf-8")

    assert found.attempted > 20
    assert found.failed == 0

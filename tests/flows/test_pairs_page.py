"""What docs/pairs.md shows is run here."""

from pathlib import Path

from tests.flows.pages import check_page, read_page


def test_commands_print_what_the_page_shows(tmp_path: Path) -> None:
    """Every block of commands is followed by what it prints."""
    assert check_page(read_page("docs/pairs.md"), tmp_path) >= 3

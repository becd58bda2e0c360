"""What docs/checks.md shows is run here, to the letter."""

from pathlib import Path

from tests.flows.pages import blocks, check_page, read_page

from mixseek.checks.declare import FORMS

PAGE = read_page("docs/checks.md")


def test_commands_print_what_the_page_shows(tmp_path: Path) -> None:
    assert check_page(PAGE, tmp_path) == len(blocks(PAGE, "text"))


def test_every_kind_stands_in_the_table() -> None:
    table = "\n".join(line for line in PAGE.splitlines() if line.startswith("| `"))

    assert [kind for kind in FORMS if f"`{kind}" not in table] == []

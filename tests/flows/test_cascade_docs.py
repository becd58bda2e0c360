"""What docs/cascades.md shows is run here, to the letter."""

from pathlib import Path

from tests.flows.pages import blocks, check_page, read_page, run_script

from mixseek.cascades.file import read_cascade
from mixseek.domain.confidence import ConfidenceSource

PAGE = read_page("docs/cascades.md")


def test_commands_print_what_the_page_shows(tmp_path: Path) -> None:
    """And what Python gives is the same cascade."""
    assert check_page(PAGE, tmp_path) == len(blocks(PAGE, "text"))

    written = read_cascade(tmp_path / "cascade.toml")
    (script,) = blocks(PAGE, "python")
    (tmp_path / "page.py").write_text(script, encoding="utf-8")
    printed = run_script("python page.py", tmp_path)
    assert "94.2% of 400 texts may be decided without people" in printed
    assert read_cascade(tmp_path / "cascade.toml") == written


def test_every_kind_of_confidence_stands_in_the_table() -> None:
    table = "\n".join(line for line in PAGE.splitlines() if line.startswith("| `"))

    assert [kind for kind in ConfidenceSource if f"| `{kind.value}` |" not in table] == []

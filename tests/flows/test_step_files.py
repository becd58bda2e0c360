"""Samples with steps and contexts through the command line, as docs/files.md shows them."""

from pathlib import Path

from tests.flows.pages import blocks, read_page, run_script, section


def test_the_page_about_steps_runs_as_written(tmp_path: Path) -> None:
    """The answer is the last step, the call that failed is named, and the leaflet stands below."""
    (script,) = blocks(section(read_page("docs/files.md"), "Steps and contexts"), "sh")
    printed = run_script(script, tmp_path)

    assert "1  correct  judge rules" in printed
    assert "2  tool opening_hours  failed" in printed
    assert "leaflet" in printed
    assert "The answer is ⟦closed⟧." in printed

"""What docs/statistics.md and docs/labels.md show is run here: their commands, and their Python."""

import doctest
import re
from pathlib import Path

import pytest
from tests.flows.pages import ROOT, read_page, run_script


@pytest.mark.parametrize("page", ["statistics.md", "labels.md"])
def test_commands_print_what_the_page_shows(tmp_path: Path, page: str) -> None:
    """Every block of commands is followed by what it prints."""
    text = read_page(f"docs/{page}")
    shown = re.findall(r"^```sh\n(.*?)^```\n\n```text\n(.*?)^```", text, re.MULTILINE | re.DOTALL)

    assert shown
    for script, expected in shown:
        printed = "\n".join(line.rstrip() for line in run_script(script, tmp_path).splitlines())
        assert printed.strip() == expected.strip()


def test_python_gives_what_the_page_shows() -> None:
    found = doctest.testfile(str(ROOT / "docs" / "statistics.md"), module_relative=False, encoding="utf-8")

    assert found.attempted > 20
    assert found.failed == 0

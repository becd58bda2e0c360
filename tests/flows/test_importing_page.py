"""What docs/importing.md shows is run here, to the letter, and its table is complete."""

import re
from pathlib import Path

from tests.flows.pages import blocks, read_page, run_script, write_files

from mixseek.datasets.importers.registry import FORMATS

PAGE = read_page("docs/importing.md")


def test_the_example_runs_as_written_and_prints_what_is_shown(tmp_path: Path) -> None:
    write_files(PAGE, tmp_path)
    (script,), (shown,) = blocks(PAGE, "sh"), blocks(PAGE, "text")
    printed = run_script(script, tmp_path)

    assert printed.startswith(shown)
    # The two verdicts on the sample that the page points at.
    assert re.search(r"\bincorrect\b", printed)
    assert "close enough" in printed


def test_every_format_has_its_row(tmp_path: Path) -> None:
    """`batch` recognises a file only to say that it holds no responses."""
    listed = re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE)

    assert sorted(listed) == sorted(one.name for one in FORMATS if one.name != "batch")

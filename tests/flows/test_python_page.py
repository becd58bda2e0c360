"""What docs/python.md shows is run here, to the letter."""

import re
from pathlib import Path

from tests.flows.pages import blocks, read_page
from tests.flows.test_python import run_python

import mixseek

PAGE = read_page("docs/python.md")


def test_the_page_runs_as_written(tmp_path: Path) -> None:
    """Every block, in order, as one script."""
    done = run_python("\n".join(blocks(PAGE, "python")), tmp_path)
    lines = done.stdout.splitlines()

    assert (done.returncode, done.stderr) == (0, "")
    assert lines[:3] == [
        "False ('gate fail_under not met: mean score 50.00%, under the limit of 80.00%',)",
        "q1 valid correct 1.0",
        "q2 valid incorrect 0.0",
    ]
    assert lines[3].count("'mentions', 'correct'") == 1
    assert lines[4] == "['correct']"
    assert "False incomplete ('stopped: http://127.0.0.1:9: no reply for " in done.stdout
    assert "and patience is 1 s (judge openai:my-model@http://127.0.0.1:9/v1: cannot connect" in done.stdout
    assert "['missing', 'missing']" in [re.sub(r"<Status.MISSING: ('missing')>", r"\1", line) for line in lines]
    assert lines[-2:] == ["first True", "0.5"]
    assert (tmp_path / "report.html").is_file()


def test_the_page_names_only_what_there_is() -> None:
    """`mixseek.something` and `run.something` in it are real."""
    offered = {name for name in re.findall(r"\bmixseek\.([a-z_]+)\b(?!\.)", PAGE) if name != "toml"}
    of_a_run = set(re.findall(r"\brun\.([a-z_]+)", PAGE))

    assert offered <= set(mixseek.__all__)
    assert {name for name in of_a_run if not hasattr(mixseek.Run, name)} <= {"notices"}

"""Samples with steps and contexts through the command line, as docs/files.md shows them."""

from pathlib import Path

from tests.flows.pages import blocks, read_page, run_script, section
from tests.flows.running import mixseek_here, write_jsonl


def test_the_page_about_steps_runs_as_written(tmp_path: Path) -> None:
    """The answer is the last step, the call that failed is named, and the leaflet stands below."""
    (script,) = blocks(section(read_page("docs/files.md"), "Steps and contexts"), "sh")
    printed = run_script(script, tmp_path)

    assert "1  correct  judge rules" in printed
    assert "2  tool opening_hours  failed" in printed
    assert "leaflet" in printed
    assert "The answer is ⟦closed⟧." in printed


def test_a_run_without_an_answer_is_told_only_where_nobody_judges_it(tmp_path: Path) -> None:
    """Checks read the steps, and say so; the rules read answers, and there is none."""
    steps = [
        {"role": "user", "text": "Cancel it."},
        {"role": "tool", "tool": "cancel", "result": "done", "status": "ok"},
    ]
    row = {"id": "1", "question": "Cancel it.", "ground_truth": "done", "steps": steps}
    write_jsonl(tmp_path / "runs.jsonl", [row, {**row, "id": "2", "response": "done"}])

    checked = mixseek_here("judge", "runs.jsonl", "--judge", "checks", "--check", "uses:cancel", cwd=tmp_path)
    ruled = mixseek_here("judge", "runs.jsonl", "--judge", "rules", cwd=tmp_path)

    assert "valid       2" in checked.stdout
    assert "INCOMPLETE_COVERAGE" not in checked.stderr
    assert "1 of 2 samples have no response" in ruled.stderr

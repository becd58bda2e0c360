"""Samples of lm-eval: repeats with one score, and older versions."""

from pathlib import Path

from tests.unit.datasets.importers import log_files
from tests.unit.datasets.importers.log_rows import rows_of, seen

from mixseek.datasets.importers.registry import recognise


def test_several_repeats_with_one_score_are_told(tmp_path: Path) -> None:
    log = recognise(log_files.lm_eval(tmp_path))
    notices: list[str] = []
    assert log is not None
    list(log.rows(notices))

    assert log.log.tool_version == "0.4.99"
    assert len(notices) == 1
    assert "2 documents have several responses and one score" in notices[0]


def test_lm_eval_before_it_named_its_metrics_and_arguments_is_read_alike(tmp_path: Path) -> None:
    row = log_files.lm_eval_row(0, "none", 1.0, arguments=[["Q0?", {"until": []}]], resps=[["It is 7."]])
    del row["metrics"], row["filter"]
    (read,) = rows_of(log_files.write_lines(tmp_path / "samples.jsonl", [row]))

    assert (read["question"], read["response"]) == ("Q0?", "It is 7.")
    assert seen(read)[3] == {"exact_match,none": True}

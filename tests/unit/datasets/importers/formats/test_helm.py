"""Runs of HELM."""

from pathlib import Path

from tests.unit.datasets.importers import log_files
from tests.unit.datasets.importers.log_rows import rows_of


def test_options_stand_below_the_question(tmp_path: Path) -> None:
    first = rows_of(log_files.helm(tmp_path))[0]

    assert first["question"] == "Which?\nOptions:\n(A) red\n(B) blue"

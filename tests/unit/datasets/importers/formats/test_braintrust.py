"""Results of Braintrust."""

from pathlib import Path

from tests.unit.datasets.importers import log_files
from tests.unit.datasets.importers.log_rows import rows_of


def test_a_scorer_that_skipped_is_no_score(tmp_path: Path) -> None:
    rows = rows_of(log_files.braintrust(tmp_path))

    assert [list(row.get("scores", {})) for row in rows] == [["exact"], []]
    assert [row["repeat"] for row in rows] == [1, 2]
    assert len({row["question_id"] for row in rows}) == 1

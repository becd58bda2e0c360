"""Annotations of AlpacaEval: the second output against the first."""

from pathlib import Path

from tests.unit.datasets.importers import log_files
from tests.unit.datasets.importers.log_rows import rows_of


def test_a_preference_is_the_share_by_which_the_second_output_won(tmp_path: Path) -> None:
    """1 first, 2 second, 1.5 and the 0 of older files a tie, null failed."""
    rows = rows_of(log_files.alpaca_eval(tmp_path))
    told = [row["scores"]["judge"] for row in rows]

    assert [one.get("score") for one in told] == [1.0, 0.0, 0.5, 0.5, None]
    assert ["problem" in one for one in told] == [False, False, False, False, True]


def test_outputs_of_several_models_to_one_instruction_are_no_repeats(tmp_path: Path) -> None:
    row = {"instruction": "How many?", "output_1": "8", "generator_1": "m1", "output_2": "7", "preference": 2}
    rows = rows_of(log_files.write_json(tmp_path / "a.json", [{**row, "generator_2": name} for name in ("x", "y")]))

    assert [row["repeat"] for row in rows] == [1, 1]
    assert [row["id"].partition("@")[2] for row in rows] == ["x", "y"]

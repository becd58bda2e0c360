"""The end of `make test` says how long it took, and how long it took before."""

import re
from pathlib import Path

from tests.figures import VARIABLE, describe

MAKEFILE = Path(__file__).parents[1] / "Makefile"


def test_a_time_stands_beside_the_one_before() -> None:
    assert describe(5_996, 232.4, 465.0, "6:26 before; aim 4:00") == (
        "5,996 tests in 3:52 and 7:45 of CPU (6:26 before; aim 4:00)"
    )


def test_make_test_names_the_time_before_and_the_aim() -> None:
    assert re.search(rf'{VARIABLE}=.*"\d:\d\d before; aim 4:00"', MAKEFILE.read_text(encoding="utf-8"))

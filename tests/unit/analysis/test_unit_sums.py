"""Sums by question from the database are those that Python computes."""

from dataclasses import astuple

import duckdb
import pytest

from mixseek.domain.counts import UnitSums
from mixseek.index.unit_sums import unit_sums
from mixseek.stats.intervals import with_questions


def test_questions_of_unequal_size_are_summed_as_the_estimator_does() -> None:
    """Two groups, one of them without a name, and a question without any score."""
    questions: dict[tuple[str | None, str], list[float]] = {
        ("x", "a"): [1, 0, 1, 1, 0, 1, 0],
        ("x", "b"): [1],
        ("x", "c"): [0, 1],
        (None, "a"): [0.25, 1, 0.5],
    }
    rows = [(whose, name, float(value)) for (whose, name), own in questions.items() for value in own]
    connection = duckdb.connect()
    connection.execute(
        "CREATE TABLE units (whose VARCHAR, question VARCHAR, value DOUBLE, lowest DOUBLE, highest DOUBLE)"
    )
    connection.executemany("INSERT INTO units VALUES ($1, $2, $3, 0, 1)", [*rows, ("x", "d", None), (None, "b", 1.0)])
    found = {row[0]: UnitSums(*row[1:]) for row in connection.execute(unit_sums("FROM units", ("whose",))).fetchall()}

    plain = UnitSums(11, 10, 0, 6, 6, lowest=0, highest=11)
    expected = with_questions(plain, [(7, 4, 1), (1, 1, 1), (2, 1, 1)])
    assert astuple(found["x"]) == pytest.approx(astuple(expected))
    graded = with_questions(UnitSums(4, 4, 0, 2.75, 2.3125, highest=4), [(3, 1.75, 1), (1, 1, 1)])
    assert astuple(found[None]) == pytest.approx(astuple(graded))

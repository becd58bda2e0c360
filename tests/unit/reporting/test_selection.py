"""Which rows are listed when there are too many."""

import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mixseek.domain.judgments import JudgedRow, Status
from mixseek.reporting.build import Kind, kind_of, select_rows

SCORES = {Kind.LOW: 0.0, Kind.HIGH: 1.0}
STATUSES = {Kind.INVALID: Status.INVALID, Kind.UNDECIDED: Status.UNDECIDED, Kind.MISSING: Status.MISSING}


def rows_of(counts: dict[Kind, int]) -> list[JudgedRow]:
    rows = [
        JudgedRow(
            id=f"{kind.name}-{n}",
            judge="rules",
            status=STATUSES.get(kind, Status.VALID),
            response="",
            score=SCORES.get(kind),
        )
        for kind, count in counts.items()
        for n in range(count)
    ]
    random.Random(5).shuffle(rows)
    return rows


def kinds(rows: tuple[JudgedRow, ...]) -> dict[Kind, int]:
    return dict(Counter(kind_of(row.status, row.score) for row in rows))


def test_everything_is_listed_when_it_fits() -> None:
    rows = rows_of({Kind.HIGH: 3, Kind.LOW: 2, Kind.INVALID: 1})

    assert select_rows(rows, 6) == tuple(rows)


def test_what_needs_a_look_comes_before_what_went_well() -> None:
    rows = rows_of({Kind.HIGH: 500, Kind.LOW: 20, Kind.UNDECIDED: 15, Kind.INVALID: 5, Kind.MISSING: 2})

    assert kinds(select_rows(rows, 100)) == {
        Kind.INVALID: 5,
        Kind.UNDECIDED: 15,
        Kind.MISSING: 2,
        Kind.LOW: 20,
        Kind.HIGH: 58,
    }


def test_no_kind_is_crowded_out_by_another() -> None:
    rows = rows_of({Kind.HIGH: 300, Kind.LOW: 300, Kind.UNDECIDED: 300, Kind.INVALID: 300})

    assert kinds(select_rows(rows, 100)) == {Kind.INVALID: 70, Kind.UNDECIDED: 10, Kind.LOW: 10, Kind.HIGH: 10}


def test_listed_rows_keep_the_order_of_the_dataset() -> None:
    rows = rows_of({Kind.HIGH: 100, Kind.LOW: 30})

    chosen = select_rows(rows, 50)

    assert [row.id for row in chosen] == [row.id for row in rows if row in chosen]


def test_the_choice_does_not_depend_on_the_order_of_the_rows() -> None:
    rows = rows_of({Kind.HIGH: 200, Kind.UNDECIDED: 60})

    one, other = select_rows(rows, 40), select_rows(reversed(rows), 40)

    assert {row.id for row in one} == {row.id for row in other}


@given(st.dictionaries(st.sampled_from(Kind), st.integers(0, 12), min_size=1), st.integers(0, 30))
def test_the_limit_is_kept_and_used(counts: dict[Kind, int], limit: int) -> None:
    rows = rows_of(counts)

    assert len(select_rows(rows, limit)) == min(limit, len(rows))


@pytest.mark.parametrize(("score", "kind"), [(0.0, Kind.LOW), (0.49, Kind.LOW), (0.5, Kind.HIGH), (None, Kind.HIGH)])
def test_valid_judgments_split_at_half_marks(score: float | None, kind: Kind) -> None:
    assert kind_of(Status.VALID, score) is kind


def test_ids_that_are_no_unicode_text_can_be_drawn() -> None:
    rows = [JudgedRow(id=f"\ud800{n}", judge="rules", status=Status.VALID, response="", score=1.0) for n in range(5)]

    assert len(select_rows(rows, 2)) == 2

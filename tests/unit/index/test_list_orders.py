"""A list in the orders that few ask for: made when they do, and stable, with what has no value at the end."""

from dataclasses import replace
from pathlib import Path

import pytest
from tests.unit.storage.material import CORRECT, make_run, make_sample

from mixseek.domain.judgments import Reply
from mixseek.index import listing
from mixseek.index.listing import JudgmentList, ListQuery, open_list
from mixseek.storage.duckdb_session import release_memory
from mixseek.storage.journal.records import encode_outcome, encode_reply, encode_sample

# Of each sample: characters of its response, what the judge says of its confidence, seconds and dollars of its calls.
Calls = tuple[tuple[float | None, float | None], ...]
SAMPLES: tuple[tuple[int, str | None, Calls], ...] = (
    (5, "high", ((1.5, 0.01),)),
    (50, "low", ((1.2, 0.02), (1.0, 0.03))),
    (20, None, ()),
    (5, "medium", ((9.0, None),)),
    (30, "low", ((1.5, 0.01),)),
)
ORDERS = {
    "longest": [2, 5, 3, 1, 4],
    "shortest": [1, 4, 3, 5, 2],
    "least_confident": [2, 5, 4, 1, 3],
    "slowest": [4, 2, 1, 5, 3],
    "dearest": [2, 1, 5, 3, 4],
}


def open_samples(place: Path, samples: tuple[tuple[int, str | None, Calls], ...]) -> JudgmentList:
    lines = []
    for number, (characters, confidence, calls) in enumerate(samples, 1):
        sample = make_sample(number, response="x" * characters)
        key = sample.key()
        lines.append(encode_sample(sample, key))
        for attempt, (seconds, dollars) in enumerate(calls, 1):
            details = {"latency_seconds": seconds, "cost_usd": dollars}
            known = {name: value for name, value in details.items() if value is not None}
            lines.append(encode_reply(key, Reply("raw", "judge", attempt, known)))
        fields = {**CORRECT.fields, **({"confidence": confidence} if confidence else {})}
        lines.append(encode_outcome(sample, key, "judge", replace(CORRECT, fields=fields, span=None)))
    workspace, run = make_run(place / "ws", lines, ("judge",))
    (place / "listed").mkdir()
    return open_list(workspace, run, place / "listed" / "listed.duckdb")


@pytest.mark.parametrize("sort", ORDERS)
def test_rows_come_in_the_order_that_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sort: str) -> None:
    """Page by page; rows that are alike stand as in the dataset."""
    monkeypatch.setattr(listing, "_PART_BITS", 1)
    judgments = open_samples(tmp_path, SAMPLES)

    pages = [judgments.page(ListQuery(sort=sort), offset, 2)[0] for offset in (0, 2, 4, 0)]

    expected = [f"s{number}" for number in ORDERS[sort]]
    assert [row.id for rows in pages[:3] for row in rows] == expected
    assert [row.id for row in pages[3]] == expected[:2]
    assert judgments.page(ListQuery(), 0, 9)[1] == len(SAMPLES)


def test_a_list_is_sorted_by_what_its_run_has(tmp_path: Path) -> None:
    rich, poor = tmp_path / "rich", tmp_path / "poor"

    assert set(open_samples(rich, SAMPLES).sorts) == set(ORDERS)
    assert open_samples(poor, ((5, None, ()),)).sorts == ["longest", "shortest"]


def test_a_list_that_was_made_holds_nothing_that_can_be_read_again(tmp_path: Path) -> None:
    """A viewer keeps several of them for days; pages of the index are read again in a moment."""
    judgments = open_samples(tmp_path, SAMPLES)

    with judgments.session() as connection:
        query = "SELECT sum(memory_usage_bytes) FROM duckdb_memory() WHERE tag = 'BASE_TABLE'"
        held = connection.execute(query).fetchall()
        release_memory(connection)
        assert connection.execute(query).fetchall() == held

"""What the calls of a run came to: every sum says what it leaves out, and the cache costs nothing."""

import math
import statistics
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.unit.storage.material import CORRECT, append_lines, make_run, make_sample, totals_of

from mixseek.domain.judgments import Missing, Reply
from mixseek.domain.ports import CallAccount, Latency, LostRequests
from mixseek.index.run import open_run_index
from mixseek.storage.journal.records import encode_outcome, encode_reply, encode_sample

DETAILS: Mapping[str, Any] = {
    "take": 1,
    "ask": 1,
    "usage": {"input_tokens": 100, "output_tokens": 20, "cached_input_tokens": 40},
    "latency_seconds": 0.5,
    "finish_reason": "stop",
    "request_id": "r-1",
    "model": "model-x-2026-01-01",
    "cached": False,
    "tries": 1,
    "cost_usd": 0.000357,
}


def reply_lines(judge: str, *changes: Mapping[str, Any]) -> list[bytes]:
    """One sample, and one reply of the judge for each set of details."""
    sample = make_sample(1)
    key = sample.key()
    replies = [
        encode_reply(key, Reply("{}", judge, attempt, {**DETAILS, **change}))
        for attempt, change in enumerate(changes, 1)
    ]
    return [encode_sample(sample, key), *replies, encode_outcome(sample, key, judge, CORRECT)]


def accounts_of(root: Path, *changes: Mapping[str, Any]) -> list[CallAccount]:
    workspace, run = make_run(root, reply_lines("live", *changes), judges=("live",))
    with open_run_index(workspace, run) as index:
        return index.call_accounts()


def account_of(root: Path, *changes: Mapping[str, Any]) -> CallAccount:
    (account,) = accounts_of(root, *changes)
    return account


def test_requests_that_brought_nothing_are_tries_too(tmp_path: Path) -> None:
    """Beside replies, and of a judge that never gave one; what is missing for good is told apart."""
    one, other = make_sample(1), make_sample(2)
    lines = reply_lines("live", {"tries": 2})[:-1]
    lines += [
        encode_outcome(one, one.key(), "live", CORRECT, lost=LostRequests(3, 100, 10, 0.25)),
        encode_sample(other),
    ]
    lines += [
        encode_outcome(sample, sample.key(), "dead", Missing("too long", number == 1), lost=LostRequests(4))
        for number, sample in enumerate((one, other))
    ]
    workspace, run = make_run(tmp_path, lines, judges=("live", "dead"))

    with open_run_index(workspace, run) as index:
        accounts = {
            account.judge: (account.calls, account.tries, account.cost_usd) for account in index.call_accounts()
        }
        missing_for_good = index.facts.missing_for_good

    assert accounts == {"live": (1, 5, Decimal("0.250357")), "dead": (0, 8, 0)}
    assert missing_for_good == 1


def test_one_call_is_accounted_in_full(tmp_path: Path) -> None:
    assert accounts_of(tmp_path, {}) == [
        CallAccount(
            judge="live",
            calls=1,
            cached=0,
            tries=1,
            reasks=0,
            input_tokens=100,
            output_tokens=20,
            cached_input_tokens=40,
            uncounted=0,
            cost_usd=Decimal("0.000357"),
            unpriced=0,
            latency=Latency(0.5, 0.5, 0.5),
            models=("model-x-2026-01-01",),
            finish_reasons={"stop": 1},
        )
    ]


def test_tries_reasks_and_finish_reasons_are_counted(tmp_path: Path) -> None:
    account = account_of(
        tmp_path, {"tries": 3}, {"ask": 2, "finish_reason": "length"}, {"ask": 3, "tries": 2}, {"finish_reason": None}
    )

    assert (account.calls, account.tries, account.reasks) == (4, 7, 2)
    assert account.finish_reasons == {"stop": 2, "length": 1}
    assert list(account.finish_reasons) == ["stop", "length"]


def test_replies_in_which_a_key_was_masked_are_counted(tmp_path: Path) -> None:
    """From the cache, too: what is read there was masked when it came."""
    account = account_of(
        tmp_path, {"masked_keys_in": ["text"]}, {}, {"cached": True, "masked_keys_in": ["request_id", "text"]}
    )

    assert account.masked == 2


def test_a_try_may_take_more_than_one_request(tmp_path: Path) -> None:
    """An endpoint that refuses a schema is asked again without; both requests were sent."""
    account = account_of(tmp_path, {"tries": 3, "requests": 2}, {"requests": 1})

    assert (account.calls, account.tries) == (2, 5)


def test_the_cache_costs_nothing_and_takes_no_time(tmp_path: Path) -> None:
    """A reply from the cache brings the tokens, price and latency of the call that was paid for elsewhere."""
    account = account_of(tmp_path, {}, {"cached": True, "latency_seconds": 99.0, "tries": 5, "ask": 2})

    assert (account.calls, account.cached, account.tries, account.reasks) == (1, 1, 1, 0)
    assert (account.input_tokens, account.cost_usd) == (100, Decimal("0.000357"))
    assert account.latency == Latency(0.5, 0.5, 0.5)


def test_a_run_from_the_cache_alone_has_no_latency(tmp_path: Path) -> None:
    account = account_of(tmp_path, {"cached": True})

    assert (account.calls, account.cached, account.tries, account.unpriced) == (0, 1, 0, 0)
    assert account.latency is None
    assert account.finish_reasons == {}


def test_what_is_not_known_is_counted_and_not_guessed(tmp_path: Path) -> None:
    account = account_of(
        tmp_path,
        {},
        {"cost_usd": None},
        {"usage": {"input_tokens": 7, "output_tokens": None}, "cost_usd": None},
        {"usage": None, "cost_usd": None},
    )

    assert (account.calls, account.unpriced, account.uncounted) == (4, 3, 2)
    assert (account.input_tokens, account.output_tokens) == (207, 40)
    assert account.cost_usd == Decimal("0.000357")


def test_many_small_costs_add_up_exactly(tmp_path: Path) -> None:
    """Ten times 0.1 is 1, and 4.5e-06 is read as what it is."""
    account = account_of(tmp_path, *[{"cost_usd": 0.1}] * 10, {"cost_usd": 4.5e-06}, {"cost_usd": "0.25"})

    assert account.cost_usd == Decimal("1.2500045")


@pytest.mark.parametrize(
    "details",
    [{}, {"latency_ms": 3}, {"usage": "12 tokens", "tries": "many", "cost_usd": [1], "latency_seconds": {}}],
)
def test_recorded_replies_are_no_calls(tmp_path: Path, details: Mapping[str, Any]) -> None:
    """Their details are whatever the recorder wrote; the run is indexed all the same."""
    sample = make_sample(1)
    key = sample.key()
    lines = [
        encode_sample(sample, key),
        encode_reply(key, Reply("{}", "replay", 1, details)),
        encode_outcome(sample, key, "replay", CORRECT),
    ]
    workspace, run = make_run(tmp_path, lines, judges=("replay",))

    with open_run_index(workspace, run) as index:
        assert index.call_accounts() == []
        assert totals_of(index)[0].valid == 1


def test_details_of_another_type_count_as_unknown(tmp_path: Path) -> None:
    account = account_of(
        tmp_path, {"usage": [], "tries": "x", "latency_seconds": "slow", "cost_usd": "free", "ask": {}}
    )

    assert (account.calls, account.tries, account.uncounted, account.unpriced) == (1, 1, 1, 1)
    assert account.latency is None


def test_judges_come_in_their_order(tmp_path: Path) -> None:
    lines = reply_lines("b", {}) + reply_lines("a", {}, {})[1:] + reply_lines("unnamed", {})[1:]
    workspace, run = make_run(tmp_path, lines, judges=("b", "a"))

    with open_run_index(workspace, run) as index:
        assert [(account.judge, account.calls) for account in index.call_accounts()] == [
            ("b", 1),
            ("a", 2),
            ("unnamed", 1),
        ]


def test_a_resumed_run_counts_what_it_adds(tmp_path: Path) -> None:
    workspace, run = make_run(tmp_path, reply_lines("live", {}), judges=("live",))
    with open_run_index(workspace, run) as index:
        assert index.call_accounts()[0].calls == 1

    append_lines(run, reply_lines("live", {}, {})[1:])

    with open_run_index(workspace, run) as index:
        assert index.call_accounts()[0].calls == 3


@settings(max_examples=6, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(latencies=st.lists(st.floats(0.0, 600.0), min_size=2, max_size=60))
def test_percentiles_are_those_of_the_textbook(
    tmp_path_factory: pytest.TempPathFactory, latencies: list[float]
) -> None:
    """Linear between neighbours, both ends included."""
    account = account_of(tmp_path_factory.mktemp("run"), *[{"latency_seconds": value} for value in latencies])
    cuts = statistics.quantiles(latencies, n=100, method="inclusive")

    assert account.latency is not None
    for ours, theirs in zip(
        (account.latency.p50, account.latency.p90, account.latency.p99), (cuts[49], cuts[89], cuts[98]), strict=True
    ):
        assert math.isclose(ours, theirs, rel_tol=1e-9, abs_tol=1e-9)

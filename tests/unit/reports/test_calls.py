"""Calls are told alike on terminal, page and in JSON, and nothing unknown is passed off as nought."""

import json
from dataclasses import replace
from decimal import Decimal

import pytest
from rich.cells import cell_len
from tests.cases import each
from tests.unit.reports.counting import count_rows
from tests.unit.reports.test_html import read
from tests.unit.reports.test_terminal import ROWS, printed, report_of

from mixseek.analysis.run.build import build_report
from mixseek.analysis.run.report_data import ReportData
from mixseek.domain.ports import CallAccount, Latency
from mixseek.reports.accounts import (
    account_notes,
    add_accounts,
    call_documents,
    cost_text,
    latency_scale,
    seconds_text,
    tokens_text,
    usd_text,
)
from mixseek.reports.pages.html import render_html
from mixseek.reports.summary import describe_calls

ACCOUNT = CallAccount(
    judge="openai:model-x",
    calls=5_000,
    cached=312,
    tries=5_643,
    reasks=88,
    input_tokens=4_123_456,
    output_tokens=381_022,
    cached_input_tokens=0,
    uncounted=0,
    cost_usd=Decimal("1.793512"),
    unpriced=0,
    latency=Latency(0.812, 2.41, 9.87),
    models=("model-x-2026-01-01",),
    finish_reasons={"stop": 5_000},
)
UNPRICED = replace(ACCOUNT, judge="vllm", cost_usd=Decimal(0), unpriced=5_000, latency=Latency(0.2, 0.3, 0.6))
ALL_CACHED = replace(
    ACCOUNT, judge="again", calls=0, tries=0, reasks=0, input_tokens=0, output_tokens=0, cost_usd=Decimal(0),
    latency=None, finish_reasons={},
)  # fmt: skip


def with_calls(*accounts: CallAccount) -> ReportData:
    return replace(report_of(*ROWS), calls=accounts)


@each(
    ("amount", "expected"),
    [
        ("0", "$0"),
        ("0.000000123456", "$0.000000123"),
        ("0.000357", "$0.000357"),
        ("0.0036", "$0.0036"),
        ("0.10", "$0.10"),
        ("0.5", "$0.50"),
        ("0.4567", "$0.457"),
        ("1", "$1.00"),
        ("1234.567", "$1,234.57"),
    ],
)
def test_money_shows_digits_that_say_something(amount: str, expected: str) -> None:
    assert usd_text(Decimal(amount)) == expected


@each(
    ("seconds", "expected"),
    [
        (0, "0 ms"),
        (0.0004, "0 ms"),
        (0.812, "812 ms"),
        (0.9996, "1.00 s"),
        (1.25, "1.25 s"),
        (14, "14.0 s"),
        (104, "104 s"),
        (3_600, "3,600 s"),
    ],
)
def test_latencies_have_three_digits_and_a_unit(seconds: float, expected: str) -> None:
    assert seconds_text(seconds) == expected


def test_a_cost_says_what_it_leaves_out() -> None:
    assert cost_text(ACCOUNT) == "$1.79"
    assert cost_text(UNPRICED) == "unknown for 5,000 calls"
    assert cost_text(replace(ACCOUNT, unpriced=1)) == "$1.79 + unknown for 1 call"
    assert cost_text(ALL_CACHED) == "–"


def test_tokens_that_nobody_counted_are_not_nought() -> None:
    assert tokens_text(0, replace(ACCOUNT, uncounted=5_000)) == "–"
    assert tokens_text(7, replace(ACCOUNT, uncounted=4_999)) == "7"


def test_notes_tell_only_what_is_worth_telling() -> None:
    assert account_notes(ACCOUNT) == ("answered by model-x-2026-01-01",)
    assert account_notes(replace(ACCOUNT, models=(), finish_reasons={"end_turn": 1})) == ()
    assert account_notes(
        replace(
            ACCOUNT, models=(), finish_reasons={"stop": 4_981, "length": 19}, cached_input_tokens=1_000, uncounted=1
        )
    ) == (
        "replies ended with: 4,981 stop, 19 length",
        "cache of the endpoint: <0.1% of the input read",
        "tokens of 1 call were not counted by the endpoint",
    )


def test_what_caches_and_batches_took_off_the_price_is_told() -> None:
    """Writing to a cache may cost more than reading from it saved: that is told, too."""
    plain = replace(ACCOUNT, models=(), input_tokens=1_000_000, cached_input_tokens=710_000)
    saved = replace(plain, saved_by_cache_usd=Decimal("1.2"), batched=4_000, saved_by_batch_usd=Decimal("3.4"))
    dearer = replace(plain, saved_by_cache_usd=Decimal("-0.5"), batched=1)

    assert account_notes(saved) == (
        "cache of the endpoint: 71.0% of the input read, saved $1.20",
        "batch: 4,000 calls, saved $3.40",
    )
    assert account_notes(dearer) == (
        "cache of the endpoint: 71.0% of the input read, cost $0.50 more",
        "batch: 1 call",
    )
    assert account_notes(replace(ACCOUNT, models=(), reasoning_tokens=12)) == ("12 output tokens were reasoning",)


def test_a_key_that_came_back_is_told_in_terminal_page_summary_and_json() -> None:
    """A judge that repeats its key is no number among others: the key has been somewhere where it should not be."""
    account = replace(ACCOUNT, masked=3)
    sentence = "the endpoint repeated a key, which was masked in 3 of its replies"

    assert account_notes(account)[-1] == sentence
    assert (
        account_notes(replace(ACCOUNT, masked=1))[-1]
        == "the endpoint repeated a key, which was masked in 1 of its replies"
    )
    assert describe_calls(account).endswith(f"cost $1.79; {sentence}")
    assert sentence in printed(with_calls(account), 140)
    assert sentence in render_html(with_calls(account))
    assert call_documents([account])["openai:model-x"]["masked_replies"] == 3
    total = add_accounts([account, replace(UNPRICED, masked=1)])
    assert total is not None
    assert total.masked == 4


def test_several_judges_are_added_up_but_percentiles_are_not() -> None:
    total = add_accounts([ACCOUNT, UNPRICED, ALL_CACHED])

    assert total is not None
    assert (total.calls, total.cached, total.tries, total.unpriced) == (10_000, 936, 11_286, 5_000)
    assert total.cost_usd == Decimal("1.793512")
    assert total.latency is None
    assert total.finish_reasons == {"stop": 10_000}
    assert add_accounts([ACCOUNT]) is None
    assert add_accounts([]) is None


@pytest.mark.parametrize(("accounts", "expected"), [((), 1.0), ((ALL_CACHED,), 1.0), ((ACCOUNT, UNPRICED), 9.87)])
def test_latencies_are_drawn_to_the_slowest(accounts: tuple[CallAccount, ...], expected: float) -> None:
    assert latency_scale(accounts) == expected


def test_programs_get_every_number_by_judge() -> None:
    documents = call_documents([ACCOUNT, UNPRICED, ALL_CACHED])

    assert json.loads(json.dumps(documents)) == documents
    assert documents["openai:model-x"] == {
        "calls": 5_000,
        "cached": 312,
        "tries": 5_643,
        "reasks": 88,
        "input_tokens": 4_123_456,
        "output_tokens": 381_022,
        "cached_input_tokens": 0,
        "uncounted_calls": 0,
        "cost_usd": 1.793512,
        "unpriced_calls": 0,
        "latency_seconds": {"p50": 0.812, "p90": 2.41, "p99": 9.87},
        "models": ["model-x-2026-01-01"],
        "finish_reasons": {"stop": 5_000},
        "masked_replies": 0,
        "cache_write_tokens": 0,
        "reasoning_tokens": 0,
        "batched_calls": 0,
        "saved_by_cache_usd": 0.0,
        "saved_by_batch_usd": 0.0,
    }
    assert documents["vllm"]["cost_usd"] is None
    assert documents["again"]["cost_usd"] == 0
    assert documents["again"]["latency_seconds"] is None


def test_the_report_carries_the_accounts_it_was_given() -> None:
    source = count_rows(report_of().run, {}, ROWS)

    assert build_report(replace(source, calls=[ACCOUNT])).calls == (ACCOUNT,)
    assert build_report(source).calls == ()


def test_a_run_without_live_judges_has_no_section() -> None:
    page = read(render_html(report_of(*ROWS)))

    assert "Calls" not in printed(report_of(*ROWS))
    assert "calls" not in [attributes.get("id") for attributes in page.all("section")]
    assert "#calls" not in [attributes.get("href") for attributes in page.all("a")]


def test_a_wide_terminal_gets_a_table() -> None:
    text = printed(with_calls(ACCOUNT, UNPRICED), 140)
    lines = text[text.index("Calls") :].splitlines()

    assert " ".join(lines[1].split()) == "judge calls tries cached re-asks tokens in out cost p50 p90 p99"
    assert lines[2].split()[1:8] == ["5,000", "5,643", "312", "88", "4,123,456", "381,022", "$1.79"]
    assert "unknown for 5,000 calls" in lines[3]
    assert lines[4].split()[:3] == ["all", "judges", "10,000"]
    assert "openai:model-x: answered by model-x-2026-01-01" in lines[5]


@pytest.mark.parametrize("width", [40, 60, 80, 100, 120, 140, 200])
def test_no_terminal_cuts_a_number(width: int) -> None:
    text = printed(with_calls(ACCOUNT, UNPRICED, ALL_CACHED), width)
    calls = text[text.index("\nCalls\n") :]
    joined = " ".join(calls.split())

    assert max(cell_len(line) for line in calls.splitlines()) <= width
    for number in ("5,643", "4,123,456", "381,022", "$1.79", "unknown for 5,000 calls", "812 ms", "9.87 s"):
        assert number in joined
    assert "…" not in calls


def test_the_page_has_a_table_of_calls() -> None:
    page = read(render_html(with_calls(ACCOUNT, UNPRICED)))
    section = page.plain_text[page.plain_text.index("Calls Judge") : page.plain_text.index("Judgments All")]

    assert page.mistakes == []
    assert "#calls" in [attributes.get("href") for attributes in page.all("a")]
    assert "openai:model-x 5,000 5,643 312 88 4,123,456 381,022 $1.79" in section
    assert "812 ms 2.41 s 9.87 s" in section
    assert "unknown for 5,000 calls" in section
    assert "all judges 10,000 11,286" in section
    assert "answered by model-x-2026-01-01" in section


def test_one_judge_needs_no_sum_and_no_name_in_its_notes() -> None:
    page = read(render_html(with_calls(ACCOUNT)))

    assert page.all("tfoot") == []
    assert page.plain_text.count("openai:model-x") == 1


def test_latencies_are_drawn_inside_the_axis() -> None:
    page = read(render_html(with_calls(ACCOUNT, UNPRICED)))
    labels = [attributes["aria-label"] for attributes in page.all("svg") if "aria-label" in attributes]

    assert "Median 812 ms, 90th percentile 2.41 s, 99th percentile 9.87 s" in labels
    ends = [attributes["x1"] for attributes in page.all("line") if attributes.get("y1") == "5"]
    assert ends == ["100.000%", "6.079%"]


def test_what_an_endpoint_calls_itself_cannot_break_out() -> None:
    """Model names and finish reasons come from outside."""
    evil = "</script><script>alert(1)</script>\x1b]0;x\x07\u202e\ud800"
    account = replace(ACCOUNT, judge=evil, models=(evil,), finish_reasons={evil: 3})
    page = render_html(with_calls(account, UNPRICED))
    text = printed(with_calls(account, UNPRICED), 200)

    assert "<script>alert" not in page
    assert read(page).mistakes == []
    assert "\x1b" not in text
    assert "\u202e" not in text + page
    (text + page).encode("utf-8")

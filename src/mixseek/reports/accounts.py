"""What live judges were asked and what it cost, in the words of every renderer and in the keys that programs read."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

from mixseek.domain import scored_details
from mixseek.domain.ports import CallAccount, Latency
from mixseek.presentation.pictures import Axis, IntervalPlot
from mixseek.presentation.sections import (
    QUIET,
    Cell,
    Head,
    Listing,
    Section,
    TableRows,
    Words,
    number_cell,
    number_head,
)
from mixseek.reports.wording.numbers import NOTHING, percent
from mixseek.runs.dry_run import Forecast
from mixseek.text.messages import Message, counted, join, message, verbatim
from mixseek.text.phrases import count_text

_ADDED = (
    *("calls", "cached", "tries", "reasks", "input_tokens", "output_tokens", "cached_input_tokens"),
    *("uncounted", "cost_usd", "unpriced", "masked", "cache_write_tokens", "reasoning_tokens", "batched"),
    *("saved_by_cache_usd", "saved_by_batch_usd"),
)


def add_accounts(accounts: Sequence[CallAccount]) -> CallAccount | None:
    """The run as one; None where a sum would only repeat the one line above it. Percentiles do not add up."""
    if len(accounts) < 2:
        return None
    reasons: Counter[str] = Counter()
    for account in accounts:
        reasons.update(account.finish_reasons)
    sums = {name: sum(getattr(account, name) for account in accounts) for name in _ADDED}
    models = sorted({model for account in accounts for model in account.models})
    return replace(
        accounts[0],
        **sums,
        judge=message("calls.all_judges", "all judges"),
        latency=None,
        models=tuple(models),
        finish_reasons=dict(reasons.most_common()),
    )


def usd_text(amount: Decimal) -> str:
    """Cents from a dollar on, three digits that say something below it."""
    if amount == 0:
        return "$0"
    if amount >= 1:
        return f"${amount:,.2f}"
    # Leading noughts, then three digits: 0.000357 and not 0.00.
    places = max(2, 2 - amount.adjusted())
    digits = f"{amount:.{places}f}".rstrip("0")
    return f"${digits.ljust(4, '0')}"


def cost_text(account: CallAccount) -> Message:
    """What one judge cost."""
    return known_cost_text(account.calls, account.unpriced, account.cost_usd)


def known_cost_text(calls: int, unpriced: int, cost_usd: Decimal) -> Message:
    """The known part, and for how many calls nothing is known; never a sum that silently leaves calls out."""
    if not calls:
        return verbatim(NOTHING)
    if not unpriced:
        return verbatim(usd_text(cost_usd))
    unknown = message("calls.unknown_cost", "unknown for {calls}", calls=counted(unpriced, "call"))
    if unpriced == calls:
        return unknown
    return message("calls.partly_known_cost", "{known} + {unknown}", known=usd_text(cost_usd), unknown=unknown)


def forecast_cost_text(forecast: Forecast) -> str:
    """What the calls of one judge may cost, at once and in batches where it has some."""
    if forecast.cost_usd is None:
        return "price unknown"
    live = f"about {forecast.cost_usd:.4f} USD"
    return live if forecast.batch_cost_usd is None else f"{live} at once, {forecast.batch_cost_usd:.4f} with --batch"


def tokens_text(tokens: int, account: CallAccount) -> str:
    """A dash where the endpoint counted nothing at all: nought would be a claim."""
    return NOTHING if account.uncounted == account.calls else count_text(tokens)


def seconds_text(seconds: float | None) -> str:
    """Three digits at most, in the unit that fits; a dash where nobody was waited for."""
    if seconds is None:
        return NOTHING
    if seconds < 0.9995:
        return f"{seconds * 1_000:.0f} ms"
    return f"{seconds:.2f} s" if seconds < 9.995 else f"{seconds:.1f} s" if seconds < 99.95 else f"{seconds:,.0f} s"


def account_notes(account: CallAccount) -> tuple[Message, ...]:
    """What the numbers of one judge leave unsaid: who answered, how replies ended, what was not counted."""
    notes = []
    if account.models:
        notes.append(message("calls.answered_by", "answered by {models}", models=", ".join(account.models)))
    if set(account.finish_reasons) - {"stop", "end_turn"}:
        ends = ", ".join(f"{count:,} {reason}" for reason, count in account.finish_reasons.items())
        notes.append(message("calls.replies_ended", "replies ended with: {ends}", ends=ends))
    notes += saving_notes(account)
    if tokens := account.reasoning_tokens:
        notes.append(message("calls.reasoning_tokens", "{n} output tokens were reasoning", n=tokens))
    if account.uncounted:
        calls = counted(account.uncounted, "call")
        words = "tokens of {calls} were not counted by the endpoint"
        notes.append(message("calls.uncounted", words, calls=calls))
    if account.masked:
        notes.append(masked_text(account.masked))
    return tuple(notes)


def saving_notes(account: CallAccount) -> tuple[Message, ...]:
    """What caches of the endpoint and batches took off the price, or put on it."""
    notes = []
    if account.cached_input_tokens or account.cache_write_tokens:
        share = percent(account.cached_input_tokens / account.input_tokens if account.input_tokens else 0.0)
        amount, saved = usd_text(abs(account.saved_by_cache_usd)), account.saved_by_cache_usd
        if saved > 0:
            words = "cache of the endpoint: {share} of the input read, saved {amount}"
            notes.append(message("calls.cache_saved", words, share=share, amount=amount))
        elif saved < 0:
            words = "cache of the endpoint: {share} of the input read, cost {amount} more"
            notes.append(message("calls.cache_cost", words, share=share, amount=amount))
        else:
            words = "cache of the endpoint: {share} of the input read"
            notes.append(message("calls.cache_read", words, share=share))
    if account.batched:
        calls, amount = counted(account.batched, "call"), usd_text(account.saved_by_batch_usd)
        if account.saved_by_batch_usd:
            notes.append(message("calls.batch_saved", "batch: {calls}, saved {amount}", calls=calls, amount=amount))
        else:
            notes.append(message("calls.batched", "batch: {calls}", calls=calls))
    return tuple(notes)


def account_note(account: CallAccount) -> Message:
    """All of them as one."""
    return join(account_notes(account), "; ")


def latency_scale(accounts: Sequence[CallAccount]) -> float:
    """The right end of the axis on which latencies are drawn: the slowest 99th percentile."""
    return max((account.latency.p99 for account in accounts if account.latency), default=0.0) or 1.0


def call_sections(accounts: Sequence[CallAccount]) -> Iterator[Section]:
    """What live judges were asked and what it took; below the numbers, what they leave unsaid."""
    total, axis = add_accounts(accounts), Axis(0.0, latency_scale(accounts))
    heads = (
        message("head.judge", "judge"),
        number_head(message("head.calls", "calls")),
        number_head(message("head.tries", "tries")),
        number_head(message("head.cached", "cached")),
        number_head(message("head.re_asks", "re-asks")),
        number_head(message("head.tokens_in", "tokens in")),
        Head(">out", ">out", page=message("calls.tokens_out", "Tokens out")),
        number_head(message("head.cost", "cost")),
        Head(None, page=message("calls.latency", "Latency")),
        *(">p50", ">p90", ">p99"),
    )
    table = TableRows(
        heads,
        [_account_cells(account, axis) for account in accounts],
        total=_account_cells(total, axis) if total else None,
        values=[_account_values(account) for account in accounts],
        name="calls",
        label=message("calls.calls_per_judge", "Calls per judge"),
    )
    unsaid = [
        Words([(account.judge, "bold"), ": ", account_note(account)] if len(accounts) > 1 else [account_note(account)])
        for account in accounts
        if account_notes(account)
    ]
    yield Section(message("report.calls", "Calls"), [table, Listing(unsaid)], name="calls")


def _account_cells(account: CallAccount, axis: Axis) -> Sequence[Cell]:
    latency = account.latency
    return (
        account.judge,
        *map(number_cell, (account.calls, account.tries, account.cached, account.reasks)),
        tokens_text(account.input_tokens, account),
        tokens_text(account.output_tokens, account),
        cost_text(account) if account.unpriced else (cost_text(account), "bold"),
        latency_plot(latency, axis) if latency else "",
        *((seconds_text(getattr(latency, name, None)), "" if latency else QUIET) for name in ("p50", "p90", "p99")),
    )


def _account_values(account: CallAccount) -> Sequence[str | float | None]:
    """What a table of calls is sorted by; without a latency nobody was waited for, which comes before every time."""
    counts = (account.calls, account.tries, account.cached, account.reasks, account.input_tokens, account.output_tokens)
    latency = account.latency
    seconds = (latency.p50, latency.p90, latency.p99) if latency else (-1.0, -1.0, -1.0)
    return (account.judge, *counts, float(account.cost_usd), None, *seconds)


def latency_plot(latency: Latency, axis: Axis) -> IntervalPlot:
    """Half of the calls were answered by the dot, nine in ten by the end of the bar, all but one in a hundred by the
    line's end."""
    label = message(
        "calls.percentiles",
        "Median {p50}, 90th percentile {p90}, 99th percentile {p99}",
        p50=seconds_text(latency.p50),
        p90=seconds_text(latency.p90),
        p99=seconds_text(latency.p99),
    )
    return IntervalPlot(latency.p50, (latency.p50, latency.p90), axis, tail=latency.p99, label=label)


def call_documents(accounts: Sequence[CallAccount]) -> dict[str, dict[str, Any]]:
    """Judge to its account, for programs; empty where no live judge was asked. Keys are never renamed, only added.

    `cost_usd` is the known part, and null where no call has a known price; no latency where all were cached.
    """
    documents = {}
    for account in accounts:
        is_cost_known = account.unpriced < account.calls or not account.calls
        document = scored_details.document_of(
            account,
            uncounted="uncounted_calls",
            unpriced="unpriced_calls",
            latency="latency_seconds",
            masked="masked_replies",
            batched="batched_calls",
        )
        document |= {"cost_usd": float(account.cost_usd) if is_cost_known else None, "models": list(account.models)}
        document |= {name: float(document[name]) for name in ("saved_by_cache_usd", "saved_by_batch_usd")}
        documents[document.pop("judge")] = document
    return documents


def masked_text(replies: int) -> Message:
    """Told wherever calls are: who has the endpoint's replies may have the key."""
    masked = "the endpoint repeated a key, which was masked in {n} of its replies"
    return message("calls.masked", masked, n=replies)

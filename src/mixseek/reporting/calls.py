"""What live judges were asked and what it cost, in the words of every renderer and in the keys that programs read."""

from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from mixseek.domain.calls import CallAccount, Latency
from mixseek.reporting.wording import NOTHING, count_text, plural

TOTAL = "all judges"


def add_accounts(accounts: Sequence[CallAccount]) -> CallAccount | None:
    """The run as one; None where a sum would only repeat the one line above it. Percentiles do not add up."""
    if len(accounts) < 2:
        return None
    reasons: Counter[str] = Counter()
    for account in accounts:
        reasons.update(account.finish_reasons)
    return CallAccount(
        judge=TOTAL,
        calls=sum(account.calls for account in accounts),
        cached=sum(account.cached for account in accounts),
        tries=sum(account.tries for account in accounts),
        reasks=sum(account.reasks for account in accounts),
        input_tokens=sum(account.input_tokens for account in accounts),
        output_tokens=sum(account.output_tokens for account in accounts),
        cached_input_tokens=sum(account.cached_input_tokens for account in accounts),
        uncounted=sum(account.uncounted for account in accounts),
        cost_usd=sum((account.cost_usd for account in accounts), Decimal(0)),
        unpriced=sum(account.unpriced for account in accounts),
        latency=None,
        models=tuple(sorted({model for account in accounts for model in account.models})),
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


def cost_text(account: CallAccount) -> str:
    """The known part, and for how many calls nothing is known; never a sum that silently leaves calls out."""
    if not account.calls:
        return NOTHING
    if not account.unpriced:
        return usd_text(account.cost_usd)
    unknown = f"unknown for {plural(account.unpriced, 'call')}"
    return unknown if account.unpriced == account.calls else f"{usd_text(account.cost_usd)} + {unknown}"


def tokens_text(tokens: int, account: CallAccount) -> str:
    """A dash where the endpoint counted nothing at all: nought would be a claim."""
    return NOTHING if account.uncounted == account.calls else count_text(tokens)


def seconds_text(seconds: float) -> str:
    """Three digits at most, in the unit that fits."""
    if seconds < 0.9995:
        return f"{seconds * 1_000:.0f} ms"
    return f"{seconds:.2f} s" if seconds < 9.995 else f"{seconds:.1f} s" if seconds < 99.95 else f"{seconds:,.0f} s"


def account_notes(account: CallAccount) -> tuple[str, ...]:
    """What the numbers of one judge leave unsaid: who answered, how replies ended, what was not counted."""
    notes = []
    if account.models:
        notes.append(f"answered by {', '.join(account.models)}")
    if set(account.finish_reasons) - {"stop", "end_turn"}:
        ends = ", ".join(f"{count_text(count)} {reason}" for reason, count in account.finish_reasons.items())
        notes.append(f"replies ended with: {ends}")
    if account.cached_input_tokens:
        notes.append(f"{count_text(account.cached_input_tokens)} input tokens came from the endpoint's own cache")
    if account.uncounted:
        notes.append(f"tokens of {plural(account.uncounted, 'call')} were not counted by the endpoint")
    return tuple(notes)


def latency_scale(accounts: Sequence[CallAccount]) -> float:
    """The right end of the axis on which latencies are drawn: the slowest 99th percentile."""
    return max((account.latency.p99 for account in accounts if account.latency), default=0.0) or 1.0


def call_documents(accounts: Sequence[CallAccount]) -> dict[str, dict[str, Any]]:
    """Judge to its account, for programs; empty where no live judge was asked. Keys are never renamed, only added."""
    return {account.judge: call_document(account) for account in accounts}


def call_document(account: CallAccount) -> dict[str, Any]:
    """`cost_usd` is the known part, and null where no call has a known price."""
    is_cost_known = account.unpriced < account.calls or not account.calls
    return {
        "calls": account.calls,
        "cached": account.cached,
        "tries": account.tries,
        "reasks": account.reasks,
        "input_tokens": account.input_tokens,
        "output_tokens": account.output_tokens,
        "cached_input_tokens": account.cached_input_tokens,
        "uncounted_calls": account.uncounted,
        "cost_usd": float(account.cost_usd) if is_cost_known else None,
        "unpriced_calls": account.unpriced,
        "latency_seconds": latency_document(account.latency),
        "models": list(account.models),
        "finish_reasons": dict(account.finish_reasons),
    }


def latency_document(latency: Latency | None) -> dict[str, float] | None:
    """Null where every reply came from the cache."""
    return None if latency is None else {"p50": latency.p50, "p90": latency.p90, "p99": latency.p99}

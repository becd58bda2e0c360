"""What the calls of a run came to, judge by judge, from the replies in the journal.

Only live judges write down whether a reply came from the cache: that tells their replies from recorded ones.
Replies from the cache cost nothing and say nothing about the endpoint: they are counted, and left out of the rest.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any

from mixseek.domain.calls import CallAccount, Latency

CALL_TOTALS = """
    SELECT judge, count(*) FILTER (NOT is_cached), count(*) FILTER (is_cached),
        coalesce(sum(coalesce(tries, 1) + coalesce(requests, 1) - 1) FILTER (NOT is_cached), 0),
        count(*) FILTER (NOT is_cached AND ask > 1),
        coalesce(sum(input_tokens) FILTER (NOT is_cached), 0), coalesce(sum(output_tokens) FILTER (NOT is_cached), 0),
        coalesce(sum(cached_input_tokens) FILTER (NOT is_cached), 0),
        count(*) FILTER (NOT is_cached AND (input_tokens IS NULL OR output_tokens IS NULL)),
        coalesce(sum(cost_usd) FILTER (NOT is_cached), 0), count(*) FILTER (NOT is_cached AND cost_usd IS NULL),
        quantile_cont(latency_seconds, [0.5, 0.9, 0.99]) FILTER (NOT is_cached),
        coalesce(list_sort(list(DISTINCT model) FILTER (model IS NOT NULL)), [])
    FROM replies WHERE run = $run AND is_cached IS NOT NULL GROUP BY judge
    ORDER BY list_position((SELECT judges FROM runs WHERE run = $run), judge) NULLS LAST, judge"""

# Requests that brought no reply: of calls that were given up, whatever became of their samples.
LOST_TRIES = """
    SELECT judge, sum(lost_tries) FROM outcomes WHERE run = $run AND lost_tries > 0 GROUP BY judge, judge_order
    ORDER BY judge_order, judge"""

MISSING_FOR_GOOD = """
    SELECT count(*) FROM outcomes WHERE run = $run AND is_final AND is_permanent AND status = 'missing'"""

FINISH_REASONS = """
    SELECT judge, finish_reason, count(*) FROM replies WHERE run = $run AND NOT is_cached AND finish_reason IS NOT NULL
    GROUP BY judge, finish_reason ORDER BY count(*) DESC, finish_reason"""


_COLUMNS = (
    *("judge", "calls", "cached", "tries", "reasks", "input_tokens", "output_tokens", "cached_input_tokens"),
    *("uncounted", "cost_usd", "unpriced", "latency", "models"),
)

# Of a judge that never answered: from `calls` to `finish_reasons`.
_NO_REPLIES: tuple[Any, ...] = (*(0,) * 8, Decimal(0), 0, None, (), {})


def read_accounts(
    totals: Iterable[tuple[Any, ...]], reasons: Iterable[tuple[Any, ...]], lost: Iterable[tuple[str, int]] = ()
) -> list[CallAccount]:
    """From the rows of the three queries above."""
    by_judge: dict[str, dict[str, int]] = defaultdict(dict)
    for judge, reason, count in reasons:
        by_judge[judge][reason] = count
    accounts = {row[0]: read_account(row, by_judge[row[0]]) for row in totals}
    for judge, tries in lost:
        account = accounts.get(judge) or CallAccount(judge, *_NO_REPLIES)
        accounts[judge] = replace(account, tries=account.tries + tries)
    return list(accounts.values())


def read_account(row: tuple[Any, ...], finish_reasons: Mapping[str, int]) -> CallAccount:
    """From the columns of CALL_TOTALS."""
    values: dict[str, Any] = dict(zip(_COLUMNS, row, strict=True))
    values["latency"] = Latency(*values["latency"]) if values["latency"] else None
    values["models"] = tuple(values["models"])
    values["cost_usd"] = Decimal(values["cost_usd"])
    return CallAccount(**values, finish_reasons=finish_reasons)

"""The calls of a run on a terminal: a table where there is room, a few lines a judge where there is none."""

from collections.abc import Sequence

from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from mixseek.domain.calls import CallAccount
from mixseek.reporting.calls import account_notes, add_accounts, cost_text, seconds_text, tokens_text
from mixseek.reporting.visible import QUIET, make_visible
from mixseek.reporting.wording import NOTHING, count_text, plural

# What the report sets its sections in by.
_INDENT = 2
_COUNTS = ("calls", "tries", "cached", "re-asks")


def calls_view(accounts: Sequence[CallAccount], console: Console) -> Table | Text:
    """For a section of the report."""
    total = add_accounts(accounts)
    shown = [*accounts, *([total] if total else [])]
    table = _table(shown)
    # Eleven columns of numbers that break over lines say less than a few lines do.
    fits = Measurement.get(console, console.options, table).maximum <= console.width - _INDENT
    return table if fits else _lines(shown)


def notes_view(accounts: Sequence[CallAccount]) -> Text:
    """A line a judge, below the numbers."""
    lines = [f"{account.judge}: {'; '.join(notes)}" for account in accounts if (notes := account_notes(account))]
    return Text(make_visible("\n".join(lines)), style=QUIET)


def _table(accounts: Sequence[CallAccount]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style=QUIET)
    table.add_column("judge", no_wrap=True)
    for name in (*_COUNTS, "tokens in", "out"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("cost", justify="right", no_wrap=True)
    for name in ("p50", "p90", "p99"):
        table.add_column(name, justify="right", no_wrap=True)
    for account in accounts:
        table.add_row(
            Text(make_visible(account.judge)),
            *(_number(count) for count in (account.calls, account.tries, account.cached, account.reasks)),
            Text(tokens_text(account.input_tokens, account)),
            Text(tokens_text(account.output_tokens, account)),
            Text(cost_text(account)),
            *(Text(text) for text in _latencies(account)),
        )
    return table


def _lines(accounts: Sequence[CallAccount]) -> Text:
    view = Text()
    for account in accounts:
        p50, p90, p99 = _latencies(account)
        tokens_in, tokens_out = (tokens_text(n, account) for n in (account.input_tokens, account.output_tokens))
        view.append("\n" if view else "")
        view.append(make_visible(account.judge), style="bold")
        view.append(f"\n{plural(account.calls, 'call')} · {count_text(account.tries)} tries")
        view.append(f" · {count_text(account.cached)} cached · {plural(account.reasks, 're-ask')}")
        view.append(f"\ntokens {tokens_in} in · {tokens_out} out")
        view.append(f"\ncost {cost_text(account)}")
        if account.latency:
            view.append(f"\nlatency p50 {p50} · p90 {p90} · p99 {p99}")
    return view


def _latencies(account: CallAccount) -> tuple[str, str, str]:
    latency = account.latency
    if latency is None:
        return NOTHING, NOTHING, NOTHING
    return seconds_text(latency.p50), seconds_text(latency.p90), seconds_text(latency.p99)


def _number(count: int) -> Text:
    return Text(count_text(count), style="" if count else QUIET)

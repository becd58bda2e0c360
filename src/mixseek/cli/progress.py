"""Progress on stderr: a live bar on a terminal, a plain line now and then elsewhere, nothing when asked for quiet."""

import contextlib
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from mixseek.cli.notices import Notify, notify_plainly
from mixseek.domain.judgments import Status
from mixseek.domain.ports import ProgressSink
from mixseek.engine.many import NoProgress

SECONDS_BETWEEN_LINES = 5.0


@dataclass
class Meter:
    """Adds up what it is told; the rate leaves out what an earlier run had done."""

    total: int | None
    clock: Callable[[], float]
    counts: Counter[str] = field(default_factory=Counter)
    started: float = 0.0

    def __post_init__(self) -> None:
        self.started = self.clock()

    @property
    def done(self) -> int:
        return self.counts["samples"] + self.counts["skipped"]

    def describe(self) -> str:
        """done/total, rate, time to go, and how samples ended."""
        seconds = max(self.clock() - self.started, 1e-9)
        rate = self.counts["samples"] / seconds
        parts = [f"{self.done:,}" + (f"/{self.total:,}" if self.total else "") + " samples", f"{rate:,.0f}/s"]
        if self.total and rate and self.done < self.total:
            parts.append(f"{describe_seconds((self.total - self.done) / rate)} to go")
        parts += [f"{status} {self.counts[status]:,}" for status in Status if self.counts[status]]
        if self.counts["in_flight"] > 0:
            parts.append(f"{self.counts['in_flight']:,} in flight")
        if self.counts["cached"]:
            parts.append(f"{self.counts['cached']:,} from cache")
        if self.counts["cost_millionths"]:
            parts.append(f"${self.counts['cost_millionths'] / 1_000_000:.4f}")
        return " · ".join(parts)


@dataclass
class LineProgress:
    """For logs: a line every few seconds, and none for a run that is over sooner."""

    meter: Meter
    notify: Notify = notify_plainly
    last: float = 0.0

    def __post_init__(self) -> None:
        self.last = self.meter.started

    def advance(self, counts: Mapping[str, int]) -> None:
        self.meter.counts.update(counts)
        now = self.meter.clock()
        if now - self.last >= SECONDS_BETWEEN_LINES:
            self.last = now
            self.notify(self.meter.describe())


@dataclass
class BarProgress:
    """For a person: rich draws, we word."""

    meter: Meter
    bar: Any  # rich.progress.Progress; rich is imported only when it draws
    task: Any

    def advance(self, counts: Mapping[str, int]) -> None:
        self.meter.counts.update(counts)
        self.bar.update(self.task, completed=self.meter.done, text=self.meter.describe())


@contextlib.contextmanager
def show_progress(total: int | None, quiet: bool, notify: Notify = notify_plainly) -> Iterator[ProgressSink]:
    """The sink that fits where stderr goes; whoever wants JSON lines gets no bar."""
    if quiet:
        yield NoProgress()
        return
    meter = Meter(total, time.monotonic)
    if notify is not notify_plainly or not sys.stderr.isatty():
        yield LineProgress(meter, notify)
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    columns = (BarColumn(bar_width=24), TextColumn("{task.fields[text]}"))
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        yield BarProgress(meter, bar, bar.add_task("judging", total=total, text=""))


def describe_seconds(seconds: float) -> str:
    """Two units at most: 1h 05m, 3m 20s, 8s."""
    whole = int(seconds + 0.5)
    if whole >= 3600:
        return f"{whole // 3600}h {whole % 3600 // 60:02d}m"
    if whole >= 60:
        return f"{whole // 60}m {whole % 60:02d}s"
    return f"{whole}s"

"""How far a run is, in words; drawn by rich on a terminal, and by Jupyter in a notebook."""

import contextlib
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from html import escape
from typing import Any

from mixseek.domain.judgments import Status
from mixseek.lazy_dataclass import dataclass

SECONDS_BETWEEN_LINES = 5.0


@dataclass
class Meter:
    """Adds up what it is told, and shows nothing; the rate leaves out what an earlier run had done."""

    total: int | None
    clock: Callable[[], float] = time.monotonic
    counts: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.started = self.last = self.clock()

    def advance(self, counts: Mapping[str, int]) -> None:
        self.counts.update(counts)

    @property
    def done(self) -> int:
        return self.counts["samples"] + self.counts["skipped"]

    def describe(self) -> str:
        """done/total, rate, time to go, and how samples ended."""
        counts, done = self.counts, self.done
        rate = counts["samples"] / max(self.clock() - self.started, 1e-9)
        parts = [f"{done:,}" + (f"/{self.total:,}" if self.total else "") + " samples", f"{rate:,.0f}/s"]
        if self.total and rate and done < self.total:
            parts.append(f"{describe_seconds((self.total - done) / rate)} to go")
        parts += [f"{status} {counts[status]:,}" for status in Status if counts[status]]
        parts += [f"{counts['in_flight']:,} in flight"] if counts["in_flight"] > 0 else []
        parts += [f"{counts['cached']:,} from cache"] if counts["cached"] else []
        parts += [f"${counts['cost_millionths'] / 1_000_000:.4f}"] if counts["cost_millionths"] else []
        return " · ".join(parts)


@dataclass
class LineProgress(Meter):
    """Progress for logs: a line every few seconds, and none for a run that is over sooner."""

    notify: Callable[[str], None] = lambda _: None

    def advance(self, counts: Mapping[str, int]) -> None:
        super().advance(counts)
        now = self.clock()
        if now - self.last >= SECONDS_BETWEEN_LINES:
            self.last = now
            self.notify(self.describe())


@dataclass
class BarProgress(Meter):
    """Progress for a person at a terminal: rich draws, we word."""

    bar: Any = None  # rich.progress.Progress; rich is imported only when it draws

    def advance(self, counts: Mapping[str, int]) -> None:
        super().advance(counts)
        self.bar.update(self.bar.task_ids[0], completed=self.done, text=self.describe())


@contextlib.contextmanager
def drawing_bar(total: int | None) -> Iterator[BarProgress]:
    """A bar on stderr, gone at the end."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    columns = (BarColumn(bar_width=24), TextColumn("{task.fields[text]}"))
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        bar.add_task("judging", total=total, text="")
        yield BarProgress(total, bar=bar)


# A notebook redraws what is in a cell; more often than this nobody sees.
SECONDS_BETWEEN_DRAWINGS = 0.25


@dataclass
class NotebookProgress(Meter):
    """Progress for a person at a notebook: one output of the cell, written again and again. It needs no widgets."""

    handle: Any = None  # IPython.display.DisplayHandle

    def advance(self, counts: Mapping[str, int]) -> None:
        super().advance(counts)
        now = self.clock()
        if now - self.last >= SECONDS_BETWEEN_DRAWINGS:
            self.last = now
            self.draw()

    def draw(self) -> None:
        """Draws as text, and as a bar with the same text."""
        text = self.describe()
        bar = f'<progress max="{self.total or 1}" value="{self.done}"></progress> '
        self.handle.update({"text/plain": text, "text/html": f"{bar}<small>{escape(text)}</small>"}, raw=True)


def is_notebook() -> bool:
    """Whether a kernel of Jupyter runs us, which shows more than text."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return shell is not None and "IPKernelApp" in shell.config


@contextlib.contextmanager
def drawing_in_notebook(total: int | None) -> Iterator[NotebookProgress]:
    """The last state stays in the cell."""
    import importlib

    handle = importlib.import_module("IPython.display").display(
        {"text/plain": "", "text/html": ""}, raw=True, display_id=True
    )
    progress = NotebookProgress(total, handle=handle)
    try:
        yield progress
    finally:
        progress.draw()


def describe_seconds(seconds: float) -> str:
    """Two units at most: 1h 05m, 3m 20s, 8s."""
    whole = int(seconds + 0.5)
    if whole >= 3600:
        return f"{whole // 3600}h {whole % 3600 // 60:02d}m"
    if whole >= 60:
        return f"{whole // 60}m {whole % 60:02d}s"
    return f"{whole}s"

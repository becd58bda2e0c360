"""Progress on stderr: a live bar on a terminal, a plain line now and then elsewhere, nothing when asked for quiet."""

import contextlib
import sys
from collections.abc import Iterator

from mixseek.cli.terminal.console import Notify, notify_json, notify_plainly
from mixseek.domain.ports import ProgressSink
from mixseek.runs.progress import LineProgress, Meter, drawing_bar


class HowTold:
    """What an order makes of --quiet and --log-json."""

    __slots__ = ()
    quiet: bool
    log_json: bool

    @property
    def notify(self) -> Notify:
        return notify_json if self.log_json else notify_plainly

    @property
    def notify_progress(self) -> Notify:
        """--quiet takes the progress away, not the reason why a command did not succeed."""
        return (lambda _: None) if self.quiet else self.notify


@contextlib.contextmanager
def show_progress(total: int | None, quiet: bool, notify: Notify = notify_plainly) -> Iterator[ProgressSink]:
    """The sink that fits where stderr goes; whoever wants JSON lines gets no bar."""
    if quiet:
        yield Meter(total)
    elif notify is not notify_plainly or not sys.stderr.isatty():
        yield LineProgress(total, notify=notify)
    else:
        with drawing_bar(total) as bar:
            yield bar

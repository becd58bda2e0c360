"""Ctrl-C, SIGTERM and SIGHUP: while judging, the first one drains; at any other moment, and twice, all ends."""

import contextlib
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager
from types import FrameType
from typing import TypeVar

from mixseek.cli.terminal.console import ExitCode, print_notice
from mixseek.engine.stop_signals import find_terminals, is_hang_up, leave_terminals, stop_signals

T = TypeVar("T")
# Signals that asked this process to stop: whatever fails after one, fails because of it.
stops_received: list[int] = []


class StopRequest:
    """The question "was a stop asked for?"; while something is begun that can be drained, a signal only sets it."""

    def __init__(self, *, drains: bool) -> None:
        self._is_asked = False
        self._drains = drains
        self._terminals = find_terminals()

    def __call__(self) -> bool:
        return self._is_asked

    @contextlib.contextmanager
    def draining(self, work: AbstractContextManager[T]) -> Iterator[T]:
        """`work`, in which somebody looks again and again whether to stop."""
        self._drains = True
        try:
            with work as made:
                yield made
        finally:
            self._drains = False

    def handle(self, signum: int, frame: FrameType | None) -> None:
        """The first signal asks the run to stop; the second ends the process."""
        if is_hang_up(signum):
            leave_terminals(self._terminals)
            # The kernel sends one, and so may the shell that dies of it: both are one.
            if self._is_asked:
                return
        if self._is_asked:
            # Safe at any byte: the journal is append-only, and judging processes leave when we do.
            if sys.stderr.isatty():
                sys.stderr.write("\x1b[?25h")  # the progress bar had hidden the cursor
            os._exit(ExitCode.INTERRUPTED)
        self._is_asked = True
        if not self._drains:
            stops_received.append(signum)
            raise KeyboardInterrupt
        # On a terminal ^C stands at the beginning of the line.
        start = "\n" if sys.stderr.isatty() else ""
        print_notice(
            f"{start}mixseek: stopping after what is in flight; once more to stop at once, what is judged is kept"
        )


@contextlib.contextmanager
def stopping_on_signals(*, drains: bool = True) -> Iterator[StopRequest]:
    """Yields the request; the handlers of before come back at the end."""
    request = StopRequest(drains=drains)
    before = {signum: signal.signal(signum, request.handle) for signum in stop_signals()}
    try:
        yield request
    finally:
        for signum, handler in before.items():
            signal.signal(signum, handler)

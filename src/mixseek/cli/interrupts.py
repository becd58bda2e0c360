"""Ctrl-C and SIGTERM: the first one drains, the second one leaves at once."""

import contextlib
import os
import signal
import sys
from collections.abc import Callable, Iterator
from types import FrameType

from mixseek.cli.exit_codes import ExitCode
from mixseek.cli.streams import print_notice


@contextlib.contextmanager
def stopping_on_signals() -> Iterator[Callable[[], bool]]:
    """Yields the question "was a stop asked for?"; the handlers of before come back at the end."""
    asked = False

    def handle(signum: int, frame: FrameType | None) -> None:
        nonlocal asked
        if asked:
            # Safe at any byte: the journal is append-only, and judging processes leave when we do.
            if sys.stderr.isatty():
                sys.stderr.write("\x1b[?25h")  # the progress bar had hidden the cursor
            os._exit(ExitCode.INTERRUPTED)
        asked = True
        # On a terminal ^C stands at the beginning of the line.
        start = "\n" if sys.stderr.isatty() else ""
        print_notice(f"{start}mixseek: stopping after what is in flight; once more to stop at once")

    before = {signum: signal.signal(signum, handle) for signum in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield lambda: asked
    finally:
        for signum, handler in before.items():
            signal.signal(signum, handler)

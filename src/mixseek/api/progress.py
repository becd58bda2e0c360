"""Progress for whoever calls from Python: a notebook, a terminal, or a log."""

import contextlib
import logging
import sys
from collections.abc import Iterator

from mixseek.domain.ports import ProgressSink
from mixseek.runs.progress import LineProgress, Meter, drawing_bar, drawing_in_notebook, is_notebook

logger = logging.getLogger("mixseek")


@contextlib.contextmanager
def choose_progress(total: int, *, shows: bool) -> Iterator[ProgressSink]:
    """What fits where somebody is looking; elsewhere a line of the log now and then."""
    if not shows:
        yield Meter(total)
    elif is_notebook():
        with drawing_in_notebook(total) as progress:
            yield progress
    elif sys.stderr is not None and sys.stderr.isatty():
        with drawing_bar(total) as bar:
            yield bar
    else:
        yield LineProgress(total, notify=logger.info)

"""Where rich text goes when it is a result."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from mixseek.cli.streams import tolerating_closed_pipe

if TYPE_CHECKING:
    from rich.console import Console

# Without a terminal there is no width to ask for; wide enough for the tables, narrow enough for a log.
PLAIN_WIDTH = 120


def print_rendered(render: "Callable[[Console], None]") -> None:
    """Colour on a terminal, plain text in a file or a pipe."""
    import sys

    from rich.console import Console

    with tolerating_closed_pipe():
        render(Console(width=None if sys.stdout.isatty() else PLAIN_WIDTH))
        sys.stdout.flush()

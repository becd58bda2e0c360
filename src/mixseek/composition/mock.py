"""The loopback judge by its options."""

import difflib
from collections.abc import Sequence
from typing import Any

from mixseek.errors import ConfigurationError
from mixseek.judges import mock_server
from mixseek.judges.mock_answers import Fault


def serve(host: str, port: int, faults: Sequence[str], **options: Any) -> None:
    """Until Ctrl-C; `options` are those of MockOptions. Raises ConfigurationError for a kind of fault that is none."""
    chosen = tuple(map(read_fault, faults)) or tuple(Fault)
    mock_server.serve(host, port, mock_server.MockOptions(faults=chosen, **options))


def read_fault(name: str) -> Fault:
    """By name, with the nearest one for a slip."""
    try:
        return Fault(name)
    except ValueError:
        close = difflib.get_close_matches(name, list(Fault), n=1)
        meant = f"did you mean {close[0]!r}?" if close else f"kinds are {', '.join(Fault)}"
        raise ConfigurationError(f"--fault {name!r}: {meant}") from None

"""The loopback judge by its options."""

import difflib
from pathlib import Path

from mixseek.errors import ConfigurationError
from mixseek.judges import mock_server
from mixseek.judges.mock_answers import Fault


def serve(
    host: str,
    port: int,
    *,
    latency: float,
    jitter: float,
    fault_rate: float,
    faults: list[str] | None,
    seed: int,
    log: Path | None,
) -> None:
    """Until Ctrl-C; raises ConfigurationError for a kind of fault that is none."""
    options = mock_server.MockOptions(
        latency_seconds=latency,
        jitter_seconds=jitter,
        fault_rate=fault_rate,
        faults=tuple(map(read_fault, faults)) if faults else tuple(Fault),
        seed=seed,
        log=log,
    )
    mock_server.serve(host, port, options)


def read_fault(name: str) -> Fault:
    """By name, with the nearest one for a slip."""
    try:
        return Fault(name)
    except ValueError:
        close = difflib.get_close_matches(name, list(Fault), n=1)
        meant = f"did you mean {close[0]!r}?" if close else f"kinds are {', '.join(Fault)}"
        raise ConfigurationError(f"--fault {name!r}: {meant}") from None

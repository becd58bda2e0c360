"""Signals that ask a process to stop, and a terminal that is gone. Imports next to nothing: see `cli.main`."""

import os
import signal
from collections.abc import Iterable

# A terminal, and whoever stops a group, sends them to everybody in it.
GROUP_SIGNALS = {signal.SIGINT, signal.SIGTERM, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else [])}


def stop_signals() -> tuple[signal.Signals, ...]:
    """SIGTERM, and Ctrl-C and a hang-up unless whoever started us had them ignored: `nohup` and `&` mean that.

    What a process inherits as ignored stays so at every moment, as for any other program; SIGTERM is for everybody.
    """
    ignorable = sorted(GROUP_SIGNALS - {signal.SIGTERM})
    return (signal.SIGTERM, *(signum for signum in ignorable if signal.getsignal(signum) != signal.SIG_IGN))


def is_hang_up(signum: int) -> bool:
    """Whether it says that the terminal is gone."""
    return hasattr(signal, "SIGHUP") and signum == signal.SIGHUP


def find_terminals() -> tuple[int, ...]:
    """Which of the three streams are one; asked while it is there, because one that is gone does not say so."""
    return tuple(stream for stream in (0, 1, 2) if os.isatty(stream))


def leave_terminals(terminals: Iterable[int]) -> None:
    """What is shown from here on goes nowhere: to write to a terminal that is gone would be an error."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in terminals:
        os.dup2(nowhere, stream)
    os.close(nowhere)

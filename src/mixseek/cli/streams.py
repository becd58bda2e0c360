"""Results go to stdout, everything else to stderr; a reader that has seen enough is no failure."""

import contextlib
import os
import sys
from collections.abc import Iterator


def print_result(text: str) -> None:
    """The command's answer. `| head` closing the pipe must not hide the exit code that a gate decided."""
    with tolerating_closed_pipe():
        sys.stdout.write(text if text.endswith("\n") else text + "\n")
        sys.stdout.flush()


def print_notice(text: str) -> None:
    """One line for a person."""
    with contextlib.suppress(BrokenPipeError):
        sys.stderr.write(text + "\n")
        sys.stderr.flush()


@contextlib.contextmanager
def tolerating_closed_pipe() -> Iterator[None]:
    """Everything printed after the reader left goes nowhere, quietly."""
    try:
        yield
    except BrokenPipeError:
        silence_stdout()


def silence_stdout() -> None:
    """Python flushes stdout once more at exit; without this it would complain there."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)

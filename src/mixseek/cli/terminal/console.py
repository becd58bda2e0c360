"""What every command shares: exit codes, and where lines go."""

import contextlib
import json
import sys
from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from datetime import UTC, datetime
from enum import IntEnum
from typing import TYPE_CHECKING, Any

from mixseek.domain.documents import DocumentName, with_schema

if TYPE_CHECKING:
    from mixseek.presentation.sections import Section

    Shown = str | Callable[[], Iterable[Section]]


class ExitCode(IntEnum):
    """What a script may rely on; each failure also writes one line to stderr."""

    # Everything asked for was done, and every gate was met.
    OK = 0
    # The run is complete, but a gate was not met, or nothing in it is valid; a check has found something.
    GATE_NOT_MET = 1
    # The command line, a setting or the dataset must be changed; trying again changes nothing.
    USAGE = 2
    # A bug in mixseek, or a disk that cannot be written; what was journaled is kept.
    INTERNAL = 3
    # Some replies could not be had, or a process died; run the same command again to resume.
    INCOMPLETE = 4
    # Stopped by Ctrl-C, SIGTERM or SIGHUP (128 + SIGINT, as shells have it); run the same command again to resume.
    INTERRUPTED = 130


# Results go to stdout, everything else to stderr; what becomes of a reader that leaves is `streams.py`.


def print_result(text: str) -> None:
    """The command's answer."""
    sys.stdout.write(text if text.endswith("\n") else text + "\n")
    sys.stdout.flush()


def print_notice(text: str) -> None:
    """One line for a person."""
    sys.stderr.write(text + "\n")
    sys.stderr.flush()


def print_json(document: Any) -> None:
    """One line for programs, which may read line by line; indented for a person who looks at it on a terminal."""
    indent = 2 if sys.stdout.isatty() else None
    # NaN has no place in JSON: refused here rather than read elsewhere.
    is_ascii = (sys.stdout.encoding or "utf-8").lower() not in ("utf-8", "utf8")
    print_result(json.dumps(document, ensure_ascii=is_ascii, allow_nan=False, indent=indent))


# Without a terminal there is no width to ask for; wide enough for the tables, narrow enough for a log.
PLAIN_WIDTH = 120
# Where answers go that are part of another command's answer; None: to whoever reads stdout.
_collected: "ContextVar[list[tuple[Any, Shown]] | None]" = ContextVar("collected", default=None)


@contextlib.contextmanager
def collecting_answers() -> "Iterator[list[tuple[Any, Shown]]]":
    """What commands answer inside: for programs, and for people; nothing of it is printed."""
    answers: list[tuple[Any, Shown]] = []
    token = _collected.set(answers)
    try:
        yield answers
    finally:
        _collected.reset(token)


def print_answer(document: Any, shown: "Shown", *, as_json: bool) -> ExitCode:
    """The same answer for programs or for people: in colour on a terminal, plain in a file or a pipe."""
    if (collected := _collected.get()) is not None:
        collected.append((document, shown))
    elif as_json:
        print_json(document)
    elif isinstance(shown, str):
        print_result(shown)
    else:
        from rich.console import Console

        from mixseek.presentation.render.terminal import print_sections

        print_sections(shown(), Console(width=None if sys.stdout.isatty() else PLAIN_WIDTH))
        sys.stdout.flush()
    return ExitCode.OK


# Sentences for a person on stderr, or the same as JSON lines for a program that collects logs.

Notify = Callable[[str], None]


def notify_plainly(text: str) -> None:
    """Named, because several programs may write to one terminal."""
    print_notice(f"mixseek: {text}")


def notify_json(text: str) -> None:
    """One line of JSON: when, who, what."""
    time = datetime.now(UTC).isoformat(timespec="milliseconds")
    line = with_schema(DocumentName.LOG, {"time": time, "logger": "mixseek", "message": text})
    print_notice(json.dumps(line, ensure_ascii=False))

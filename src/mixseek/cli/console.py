"""What every command shares: exit codes, and where lines go."""

import contextlib
import errno
import json
import os
import re
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from contextvars import ContextVar
from datetime import UTC, datetime
from enum import IntEnum
from types import FrameType
from typing import TYPE_CHECKING, Any, TypeVar

from typer import Abort, TyperException

from mixseek.engine.stop_signals import find_terminals, is_hang_up, leave_terminals, stop_signals
from mixseek.errors import (
    BusyError,
    ConfigurationError,
    DamagedError,
    GateError,
    MixseekError,
    PermanentJudgeError,
    StorageError,
    TransientJudgeError,
    WorkerError,
)

if TYPE_CHECKING:
    from rich.console import Console

    Shown = str | Callable[[Console], None]


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


# Results go to stdout, everything else to stderr; a reader that has seen enough is no failure.


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
        # Python flushes stdout once more at exit, and would complain there.
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


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

        with tolerating_closed_pipe():
            shown(Console(width=None if sys.stdout.isatty() else PLAIN_WIDTH))
            sys.stdout.flush()
    return ExitCode.OK


# Sentences for a person on stderr, or the same as JSON lines for a program that collects logs.

Notify = Callable[[str], None]


def notify_plainly(text: str) -> None:
    """Named, because several programs may write to one terminal."""
    print_notice(f"mixseek: {text}")


def notify_json(text: str) -> None:
    """When, who, what."""
    time = datetime.now(UTC).isoformat(timespec="milliseconds")
    print_notice(json.dumps({"time": time, "logger": "mixseek", "message": text}, ensure_ascii=False))


# What becomes of a failure: one line, and an exit code; and of Ctrl-C, SIGTERM and SIGHUP.

# Ctrl-C, SIGTERM and SIGHUP: while judging, the first one drains; at any other moment, and the second time, all ends.

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
    asked = StopRequest(drains=drains)
    before = {signum: signal.signal(signum, asked.handle) for signum in stop_signals()}
    try:
        yield asked
    finally:
        for signum, handler in before.items():
            signal.signal(signum, handler)


# A disk that says one of these is not broken: the path is wrong, or not ours to write.
MISPLACED = {errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.EISDIR, errno.ENOENT, errno.EEXIST}


# What people type who know other tools, and what they mean.
MEANT_COMMANDS = {
    **dict.fromkeys(("diff", "regress", "baseline"), "`mixseek compare A B` says what changed between two runs"),
    **dict.fromkeys(("eval", "score", "grade"), "`mixseek judge DATA` judges a dataset"),
    **dict.fromkeys(("job", "jobs", "start"), "`mixseek run JOB.toml` runs the jobs of a file"),
    **dict.fromkeys(
        ("check", "diagnose", "status", "env"), "`mixseek doctor` says what is installed and what is wrong"
    ),
    **dict.fromkeys(("list", "ls", "history"), "`mixseek runs` lists what was run"),
    **dict.fromkeys(("html", "summary", "results"), "`mixseek report RUN` shows a run"),
    **dict.fromkeys(("agreement", "kappa", "statistics"), "`mixseek stats TABLE` counts ratings"),
    **dict.fromkeys(("explain", "inspect"), "`mixseek show RUN ID` explains one verdict"),
    **dict.fromkeys(("serve", "mock"), "`mixseek serve-mock` serves a judge to try things on"),
    **dict.fromkeys(("new", "create", "setup"), "`mixseek init` writes a job file to begin with"),
    **dict.fromkeys(("race", "compete-run", "tournament"), "`mixseek compete RACE.toml` lets teams compete"),
    **dict.fromkeys(("lint", "validate"), "`mixseek protocol lint FILE` says what is wrong with a protocol"),
    "help": "`mixseek --help` lists the commands",
    "version": "`mixseek --version` says it",
}
_UNKNOWN_COMMAND = re.compile(r"No such command '([^']+)'.*")


def exit_code_of(error: MixseekError) -> ExitCode:
    """Who can mend it decides: the caller (2), a second run (4), or nobody but us (3)."""
    match error:
        case ConfigurationError() | PermanentJudgeError() | DamagedError():
            return ExitCode.USAGE
        case GateError():
            return ExitCode.GATE_NOT_MET
        case WorkerError() | BusyError() | TransientJudgeError():
            return ExitCode.INCOMPLETE
        case StorageError(__cause__=OSError(errno=errno.ENOSPC | errno.EDQUOT)):
            return ExitCode.INCOMPLETE
        case StorageError(__cause__=OSError(errno=number)) if number in MISPLACED:
            return ExitCode.USAGE
        case _:
            return ExitCode.INTERNAL


def describe_usage_error(error: TyperException) -> str:
    """One line with the place to look; typer alone prints four."""
    message = " ".join(error.format_message().split())
    unknown = _UNKNOWN_COMMAND.fullmatch(message.rstrip("."))
    if unknown is not None and (meant := MEANT_COMMANDS.get(unknown[1].lower())):
        return f"mixseek: there is no command '{unknown[1]}'; {meant} (see `mixseek --help`)"
    context: Any = getattr(error, "ctx", None)
    hint = f" (see `{context.command_path} --help`)" if context is not None else ""
    return f"mixseek: {message[:1].lower()}{message[1:].rstrip('.')}{hint}"


def describe_bug(error: BaseException) -> str:
    """An exception nobody foresaw, named so that it can be reported."""
    message = " ".join(str(error).split())
    notes = "".join(f" ({note})" for note in getattr(error, "__notes__", ()))
    name = type(error).__name__
    return (
        f"mixseek: internal error: {name}{': ' if message else ''}{message}{notes}; "
        "this is a bug; rerun with --debug for the traceback"
    )


def end_of(work: Callable[[], object], *, debug: bool, tell: Callable[[str], None] = print_notice) -> int:
    """The exit code of a command, whatever becomes of it; only Ctrl-C gets past here, and under --debug any failure."""
    try:
        code = work()
    except TyperException as error:
        tell(describe_usage_error(error))
        return ExitCode.USAGE
    except MixseekError as error:
        if stops_received:
            return ExitCode.INTERRUPTED
        if debug:
            raise
        tell(f"mixseek: {error}")
        return exit_code_of(error)
    except Abort:
        return ExitCode.INTERRUPTED
    except Exception as error:
        if stops_received:
            # DuckDB, for one, calls an interrupted query an error.
            return ExitCode.INTERRUPTED
        if debug:
            raise
        tell(describe_bug(error))
        return ExitCode.INTERNAL
    return code if isinstance(code, int) else ExitCode.OK

"""What becomes of a failure: one line, and an exit code; and of Ctrl-C and SIGTERM."""

import contextlib
import errno
import os
import re
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from types import FrameType
from typing import Any, TypeVar

from typer import Abort, TyperException

from mixseek.cli.console import ExitCode, print_notice
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

# Ctrl-C and SIGTERM: while judging, the first one drains; at any other moment, and the second time, all ends.

T = TypeVar("T")
# Signals that asked this process to stop: whatever fails after one, fails because of it.
stop_signals: list[int] = []


class StopRequest:
    """The question "was a stop asked for?"; while something is begun that can be drained, a signal only sets it."""

    def __init__(self, *, drains: bool) -> None:
        self._is_asked = False
        self._drains = drains

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
        """The signal handler."""
        if self._is_asked:
            # Safe at any byte: the journal is append-only, and judging processes leave when we do.
            if sys.stderr.isatty():
                sys.stderr.write("\x1b[?25h")  # the progress bar had hidden the cursor
            os._exit(ExitCode.INTERRUPTED)
        self._is_asked = True
        if not self._drains:
            stop_signals.append(signum)
            raise KeyboardInterrupt
        # On a terminal ^C stands at the beginning of the line.
        start = "\n" if sys.stderr.isatty() else ""
        print_notice(f"{start}mixseek: stopping after what is in flight; once more to stop at once")


@contextlib.contextmanager
def stopping_on_signals(*, drains: bool = True) -> Iterator[StopRequest]:
    """Yields the request; the handlers of before come back at the end."""
    asked = StopRequest(drains=drains)
    before = {signum: signal.signal(signum, asked.handle) for signum in (signal.SIGINT, signal.SIGTERM)}
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
        if stop_signals:
            return ExitCode.INTERRUPTED
        if debug:
            raise
        tell(f"mixseek: {error}")
        return exit_code_of(error)
    except Abort:
        return ExitCode.INTERRUPTED
    except Exception as error:
        if stop_signals:
            # DuckDB, for one, calls an interrupted query an error.
            return ExitCode.INTERRUPTED
        if debug:
            raise
        tell(describe_bug(error))
        return ExitCode.INTERNAL
    return code if isinstance(code, int) else ExitCode.OK

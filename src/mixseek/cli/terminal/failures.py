"""What becomes of a failure: one line, and an exit code."""

import errno
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from typer import Abort, TyperException

from mixseek.cli.terminal.console import ExitCode, print_notice
from mixseek.cli.terminal.stopping import stops_received
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

# A disk that says one of these is not broken: the path is wrong, or not ours to write.
MISPLACED = {errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.EISDIR, errno.ENOENT, errno.EEXIST}
MISPLACED |= {errno.EBADF}
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
_EXTRA_ARGUMENTS = re.compile(r"[Uu]nexpected extra arguments?(?:\(s\))? \((.*)\)")
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
    extra = _EXTRA_ARGUMENTS.search(message)
    if extra is not None and (expanded := expanded_pattern(context, extra[1].split())):
        return f"mixseek: {expanded}"
    hint = f" (see `{context.command_path} --help`)" if context is not None else ""
    return f"mixseek: {message[:1].lower()}{message[1:].rstrip('.')}{hint}"


def expanded_pattern(context: Any, extra: list[str]) -> str | None:
    """What to write instead where a shell made several files of one pattern; None where the words are no files."""
    named = getattr(context, "command_path", "").split()[1:]
    if named not in (["judge"], ["import"]) or not all(Path(word).is_file() for word in extra):
        return None
    suffixes = {Path(word).suffix for word in extra}
    pattern = f"*{suffixes.pop()}" if len(suffixes) == 1 else "*"
    files = f"{len(extra) + 1} files"
    if named == ["import"]:
        return f"{files} where one is expected: a pattern was taken apart by the shell; import one log at a time"
    return f"{files} where one is expected: a pattern for the shell stands in quotes, as in mixseek judge '{pattern}'"


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

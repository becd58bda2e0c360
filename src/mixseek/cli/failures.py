"""The one place where a failure becomes a line on stderr and an exit code."""

import errno
from typing import Any

from typer import TyperException

from mixseek.cli.exit_codes import ExitCode
from mixseek.errors import (
    BusyError,
    ConfigurationError,
    DamagedError,
    MixseekError,
    PermanentJudgeError,
    StorageError,
    TransientJudgeError,
    WorkerError,
)

# A disk that says one of these is not broken: the path is wrong, or not ours to write.
MISPLACED = {errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.EISDIR, errno.ENOENT, errno.EEXIST}


def exit_code_of(error: MixseekError) -> ExitCode:
    """Who can mend it decides: the caller (2), a second run (4), or nobody but us (3)."""
    match error:
        case ConfigurationError() | PermanentJudgeError() | DamagedError():
            return ExitCode.USAGE
        case WorkerError() | BusyError() | TransientJudgeError():
            return ExitCode.INCOMPLETE
        case StorageError(__cause__=OSError(errno=number)) if number in MISPLACED:
            return ExitCode.USAGE
        case _:
            return ExitCode.INTERNAL


def describe_usage_error(error: TyperException) -> str:
    """One line with the place to look; typer alone prints four."""
    message = " ".join(error.format_message().split())
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

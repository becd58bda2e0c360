"""The one place where a failure becomes a line on stderr and an exit code."""

from typing import Any

from typer import TyperException

from mixseek.cli.exit_codes import ExitCode
from mixseek.errors import ConfigurationError, MixseekError, WorkerError


def exit_code_of(error: MixseekError) -> ExitCode:
    """Who can mend it decides: the caller (2), nobody but a second run (4), or us (3)."""
    match error:
        case ConfigurationError():
            return ExitCode.USAGE
        case WorkerError():
            return ExitCode.INCOMPLETE
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

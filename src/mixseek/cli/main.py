"""The console script. Imports next to nothing at the top: every judging process imports this file once more."""

import signal
import sys
from types import FrameType

from mixseek.cli.interrupts import stop_signals


def run() -> None:
    """What `mixseek` on a command line does."""
    signal.signal(signal.SIGTERM, interrupt)
    try:
        code = main(sys.argv[1:])
    except KeyboardInterrupt:
        # Before or after the command proper, while modules are loaded or output is flushed.
        code = 130
    sys.exit(code)


def interrupt(signum: int, frame: FrameType | None) -> None:
    """SIGTERM is Ctrl-C from somebody else."""
    stop_signals.append(signum)
    raise KeyboardInterrupt


def main(arguments: list[str]) -> int:
    """Run one command and return its exit code; nothing but Ctrl-C twice gets past here."""
    # --debug is taken out wherever it stands: it is what people append to the command that has just failed.
    debug = "--debug" in arguments
    arguments = [argument for argument in arguments if argument != "--debug"] or ["--help"]
    from typer import Abort, TyperException

    from mixseek.cli.app import command
    from mixseek.cli.exit_codes import ExitCode
    from mixseek.cli.failures import describe_bug, describe_usage_error, exit_code_of
    from mixseek.cli.streams import print_notice
    from mixseek.errors import MixseekError

    try:
        code = command().main(arguments, prog_name="mixseek", standalone_mode=False)
    except TyperException as error:
        print_notice(describe_usage_error(error))
        return ExitCode.USAGE
    except MixseekError as error:
        if stop_signals:
            return ExitCode.INTERRUPTED
        if debug:
            raise
        print_notice(f"mixseek: {error}")
        return exit_code_of(error)
    except Abort:
        return ExitCode.INTERRUPTED
    except Exception as error:
        if stop_signals:
            # DuckDB, for one, calls an interrupted query an error.
            return ExitCode.INTERRUPTED
        if debug:
            raise
        print_notice(describe_bug(error))
        return ExitCode.INTERNAL
    return code if isinstance(code, int) else ExitCode.OK

"""The console script. Imports next to nothing at the top: every judging process imports this file once more."""

import sys


def run() -> None:
    """What `mixseek` on a command line does."""
    sys.exit(main(sys.argv[1:]))


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
        if debug:
            raise
        print_notice(f"mixseek: {error}")
        return exit_code_of(error)
    except Abort:
        return ExitCode.INTERRUPTED
    except Exception as error:
        if debug:
            raise
        print_notice(describe_bug(error))
        return ExitCode.INTERNAL
    return code if isinstance(code, int) else ExitCode.OK

"""The console script.

Imports next to nothing at the top: every judging process imports this file once more, and a signal that comes before
`run` has begun ends the process as signals do, without a word and without our exit code.
"""

import gc
import os
import signal
import sys
from collections.abc import Callable
from types import FrameType

from mixseek.engine.stop_signals import find_terminals, is_hang_up, leave_terminals, stop_signals

# New objects between two searches for cycles: more than a report of few rows makes. Python's own 700 are half a module.
_COLLECT_EVERY = 100_000
# Of the process that runs the command, which may have been forked from one that has loaded this.
_terminals: list[int] = []


def run() -> None:
    """What `mixseek` on a command line does."""
    _terminals[:] = find_terminals()
    # Python renames, or prints and forgets, what is raised while a class is made or a module's lock is given back.
    # Nothing is begun yet, so nothing has to be raised.
    on_stop(leave)
    load_quickly()
    from mixseek.cli.app import called, command
    from mixseek.cli.terminal.streams import guard_streams

    # Loaded here, while a signal may end the process at any line, and there when `main` asks for it.
    command(called(sys.argv[1:]))
    # What is loaded by now stays: no search for cycles, of which an ending process does two, has to look at it.
    gc.freeze()
    on_stop(interrupt)
    sys.unraisablehook = leave_or_print
    guard_streams()
    try:
        code = main(sys.argv[1:])
    except KeyboardInterrupt:
        # Before or after the command proper, while modules are loaded or output is flushed.
        code = 130
    on_stop(leave)
    if "_duckdb" not in sys.modules:
        # What is still there goes with the process: to search it all for cycles again takes a sixth of a small command.
        # DuckDB's binding counts what of it was not freed, and complains.
        gc.freeze()
    sys.exit(code)


def load_quickly() -> None:
    """Leave out of loading what takes an eighth of it and brings nothing."""
    # Modules stay: to search them for cycles again and again finds none.
    gc.set_threshold(_COLLECT_EVERY, *gc.get_threshold()[1:])
    # No plugin of pydantic's has anything to do in a command, and to look for some opens every installed package.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")


def on_stop(handler: Callable[[int, FrameType | None], None]) -> None:
    """The handler for whatever asks this process to stop."""
    for signum in stop_signals():
        signal.signal(signum, handler)


def leave(signum: int, frame: FrameType | None) -> None:
    """Leaves at once: nothing is at stake."""
    os._exit(130)


def interrupt(signum: int, frame: FrameType | None) -> None:
    """SIGTERM is Ctrl-C from somebody else, and a hang-up is one from a terminal that is gone."""
    from mixseek.cli.terminal.stopping import stops_received

    if is_hang_up(signum):
        leave_terminals(_terminals)
        if stops_received:
            # The kernel sends one, and so may the shell that dies of it.
            return
    stops_received.append(signum)
    raise KeyboardInterrupt


def leave_or_print(unraisable: "sys.UnraisableHookArgs") -> None:
    """A stop that came inside a destructor could not be raised: all ends here, as after a second Ctrl-C."""
    from mixseek.cli.terminal.stopping import stops_received

    if stops_received:
        os._exit(130)
    sys.__unraisablehook__(unraisable)


def main(arguments: list[str]) -> int:
    """Run one command and return its exit code; nothing but Ctrl-C twice gets past here."""
    # --debug is taken out wherever it stands: it is what people append to the command that has just failed.
    debug = "--debug" in arguments
    arguments = [argument for argument in arguments if argument != "--debug"] or ["--help"]
    from mixseek.cli.app import called, command
    from mixseek.cli.terminal.failures import end_of

    parsed = command(called(arguments))
    return end_of(lambda: parsed.main(arguments, prog_name="mixseek", standalone_mode=False), debug=debug)

"""The one list of exit codes."""

from enum import IntEnum


class ExitCode(IntEnum):
    """What a script may rely on; each failure also writes one line to stderr."""

    # Everything asked for was done, and every gate was met.
    OK = 0
    # The run is complete, but a gate (--fail-under, --max-invalid, --max-undecided) was not met.
    GATE_NOT_MET = 1
    # The command line, a setting or the dataset must be changed; trying again changes nothing.
    USAGE = 2
    # A bug in mixseek, or a disk that cannot be written; what was journaled is kept.
    INTERNAL = 3
    # Some replies could not be had, or a process died; run the same command again to resume.
    INCOMPLETE = 4
    # Stopped by Ctrl-C or SIGTERM (128 + SIGINT, as shells have it); run the same command again to resume.
    INTERRUPTED = 130

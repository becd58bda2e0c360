"""How long all tests took, beside how long they took before: printed at the end of `make test`."""

import os
import resource
import time

import pytest

# What `make test` sets: the figure of before, and the aim.
VARIABLE = "TIMES_BEFORE"
_ENDINGS = ("passed", "failed", "error", "skipped", "xfailed")


def clock(seconds: float) -> str:
    return f"{int(seconds) // 60}:{int(seconds) % 60:02}"


def describe(count: int, seconds: float, cpu_seconds: float, before: str) -> str:
    return f"{count:,} tests in {clock(seconds)} and {clock(cpu_seconds)} of CPU ({before})"


class Figures:
    """A plugin of the process that hands the tests out."""

    def __init__(self, before: str) -> None:
        self._before, self._began = before, time.monotonic()

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        count = sum(len(terminalreporter.getreports(ending)) for ending in _ENDINGS)
        spent = [resource.getrusage(whose) for whose in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        cpu_seconds = sum(usage.ru_utime + usage.ru_stime for usage in spent)
        line = describe(count, time.monotonic() - self._began, cpu_seconds, self._before)
        terminalreporter.write_line(line)


def watch(config: pytest.Config) -> None:
    """Only where somebody asked for it, and not in the workers."""
    if (before := os.environ.get(VARIABLE)) and "PYTEST_XDIST_WORKER" not in os.environ:
        config.pluginmanager.register(Figures(before))

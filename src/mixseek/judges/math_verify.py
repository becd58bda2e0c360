"""math-verify (extra `maths`) as a comparer, in a process of its own that can be killed.

Its algebra may search without end, and its own timeouts work in a main thread only. So one child answers one
comparison at a time: it is started when the first expression needs it, ended and replaced when it takes too long,
and it ends by itself when our end of its input is closed, however we die.
"""

import contextlib
import json
import os
import subprocess
import sys
import threading
import weakref
from importlib import metadata
from importlib.util import find_spec

# Loading sympy takes a second on an idle machine, and many on a busy one.
START_SECONDS = 120.0
# Of the processor: what is compared in time must not depend on what else the machine does.
COMPARISON_SECONDS = 5.0
# On the clock, so much more: a child that sleeps or starves is given up at last.
_CLOCK_FACTOR = 20.0
# A child that dies on everything is not started for ever.
_MOST_FAILURES = 20


def find_maths() -> "MathVerify | None":
    """Whenever the extra is installed, which is found out without importing it."""
    try:
        return None if find_spec("math_verify") is None else MathVerify(metadata.version("math-verify"))
    except metadata.PackageNotFoundError:
        return None


class MathVerify:
    """One child process, made when it is first needed; a copy sent to another process makes its own."""

    def __init__(self, version: str, seconds: float = COMPARISON_SECONDS) -> None:
        self.version = version
        self._seconds = seconds
        self._lock = threading.Lock()
        self._child: subprocess.Popen[bytes] | None = None
        self._ending: weakref.finalize[..., MathVerify] | None = None
        self._owner = 0
        self._failures = 0

    def __reduce__(self) -> tuple[type["MathVerify"], tuple[str, float]]:
        return MathVerify, (self.version, self._seconds)

    def are_equal(self, gold: str, answer: str) -> bool | None:
        """None where a side was not read, the values differ only by rounding, or the time was up."""
        request = json.dumps([gold, answer]).encode() + b"\n"
        with self._lock:
            reply = self._ask(request)
        return {b"equal": True, b"different": False}.get(reply)

    def close(self) -> None:
        """Ends the child; the next comparison starts another."""
        with self._lock:
            self._discard()

    def _ask(self, request: bytes) -> bytes:
        child = self._running_child()
        if child is None or child.stdin is None:
            return b""
        reply = b""
        with contextlib.suppress(OSError):
            child.stdin.write(request)
            child.stdin.flush()
            reply = _read_line(child, self._seconds * _CLOCK_FACTOR)
        if not reply:
            self._failures += 1
            self._discard()
        return reply

    def _running_child(self) -> "subprocess.Popen[bytes] | None":
        if self._owner != os.getpid():
            # Forked: the pipes belong to our parent.
            self._child, self._owner = None, os.getpid()
        if self._child is not None and self._child.poll() is None:
            return self._child
        self._discard()
        if self._failures >= _MOST_FAILURES:
            return None
        self._child = subprocess.Popen(  # noqa: S603 - our own module
            [sys.executable, "-P", "-m", "mixseek.judges.math_verify_child", str(self._seconds)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            # Ctrl-C is for us; the child ends when we do.
            start_new_session=True,
        )
        self._ending = weakref.finalize(self, _end, self._child, self._owner)
        if _read_line(self._child, START_SECONDS) != b"ready":
            self._failures += 1
            self._discard()
        return self._child

    def _discard(self) -> None:
        self._child, ending, self._ending = None, self._ending, None
        if ending is not None:
            ending()


# Called by a finalizer, not by a destructor: at a process's exit that may run when the modules it needs are gone.
def _end(child: "subprocess.Popen[bytes]", owner: int) -> None:
    if owner == os.getpid():
        child.kill()
        # Waits for its end and closes the pipes; what could not be written goes nowhere now.
        with contextlib.suppress(OSError), child:
            pass


def _read_line(child: "subprocess.Popen[bytes]", seconds: float) -> bytes:
    """A line without its end; no whole word comes from a child that is gone, or that is killed when its time is up."""
    timer = threading.Timer(seconds, child.kill)
    timer.start()
    try:
        return b"" if child.stdout is None else child.stdout.readline().strip()
    finally:
        timer.cancel()

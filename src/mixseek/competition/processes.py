"""Programs that teams bring: fed, bounded, and gone when their time is up, with everything they had started."""

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

# More than any submission that a judge could read; a program that never stops writing must not fill our memory.
MAX_OUTPUT_BYTES = 4 << 20
_TAIL_BYTES = 4_096
# When the program has left, its children may still hold its pipes; what it wrote itself is there by then.
_LINGER_SECONDS = 1.0
# Waits until our end of a pipe closes, however we die, and then takes the whole group along; meanwhile the shell
# has become the program: same process, same group.
_KEEPER = '(read -r _ <"/dev/fd/$1"; kill -KILL 0) >/dev/null 2>&1 & shift; exec "$@"'


@dataclass(frozen=True, slots=True)
class Finished:
    """How a program ended. `is_cut`: it wrote more than anybody would read, and was killed for it."""

    returncode: int
    output: bytes
    errors: str
    is_cut: bool = False


async def run_program(command: Sequence[str], given: bytes, directory: Path) -> Finished:
    """Its end, with what it wrote. Cancelling kills it and whatever it started; so does our own death.

    Raises OSError when it cannot be started at all.
    """
    reading, held = os.pipe()
    try:
        try:
            transport, talk = await asyncio.get_running_loop().subprocess_exec(
                _Conversation,
                *keep_with_us(command, reading),
                cwd=directory,
                # A group of its own: Ctrl-C is for us, and a kill must reach its children.
                start_new_session=True,
                pass_fds=(reading,),
            )
        finally:
            os.close(reading)
        try:
            feed(transport, given)
            return await talk.finish(transport)
        finally:
            kill_group(transport.get_pid())
            # Its death may take a moment to arrive, and no zombie may be left.
            await asyncio.shield(talk.exited.wait())
            transport.close()
    finally:
        os.close(held)


def keep_with_us(command: Sequence[str], descriptor: int) -> list[str]:
    """The command behind a keeper, where there is a shell for it."""
    if sys.platform == "win32":
        return list(command)
    return ["/bin/sh", "-c", _KEEPER, "mixseek-team", str(descriptor), *command]


def kill_group(pid: int) -> None:
    """The program and all its children; whoever is gone already is gone."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


def feed(transport: asyncio.SubprocessTransport, given: bytes) -> None:
    """Written as the program reads; one that reads nothing is no reason to hang."""
    pipe = transport.get_pipe_transport(0)
    if isinstance(pipe, asyncio.WriteTransport):
        pipe.write(given)
        pipe.close()


class _Conversation(asyncio.SubprocessProtocol):
    """Collects what the program says. Not asyncio's streams: those wait for every child that holds a pipe."""

    def __init__(self) -> None:
        self.exited = asyncio.Event()
        self._output = bytearray()
        self._errors = b""
        self._open = {1, 2}
        self._changed = asyncio.Event()

    @property
    def is_cut(self) -> bool:
        return len(self._output) > MAX_OUTPUT_BYTES

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd != 1:
            self._errors = (self._errors + data)[-_TAIL_BYTES:]
            return
        if not self.is_cut:
            self._output += data
        self._changed.set()

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        self._open.discard(fd)
        self._changed.set()

    def process_exited(self) -> None:
        self.exited.set()
        self._changed.set()

    async def finish(self, transport: asyncio.SubprocessTransport) -> Finished:
        """When the program has left and its pipes are read, or it has written too much."""
        while not self.is_cut and not self.exited.is_set():
            self._changed.clear()
            await self._changed.wait()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_LINGER_SECONDS):
                while self._open and not self.is_cut:
                    self._changed.clear()
                    await self._changed.wait()
        returncode = transport.get_returncode()
        return Finished(
            -signal.SIGKILL if returncode is None else returncode,
            bytes(self._output),
            self._errors.decode("utf-8", "replace"),
            self.is_cut,
        )

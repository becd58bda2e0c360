"""A program in a process of its own: started, fed, read within bounds, and ended with all that it started."""

import asyncio
import contextlib
import os
import signal
from collections.abc import Sequence
from pathlib import Path

# More than any submission that a judge could read; a program that never stops writing must not fill our memory.
MAX_OUTPUT_BYTES = 4 << 20
_TAIL_BYTES = 4_096
# When the program has left, its children may still hold its pipes; what it wrote itself is there by then.
_LINGER_SECONDS = 1.0
# Waits until our end of a pipe closes, however we die, and then takes the whole group along; meanwhile the shell
# has become the program: same process, same group.
_KEEPER = '(read -r _ <"/dev/fd/$1"; kill -KILL 0) >/dev/null 2>&1 & shift; exec "$@"'


class Program(asyncio.SubprocessProtocol):
    """Collects what a program says. Not asyncio's streams: those wait for every child that holds a pipe."""

    def __init__(self) -> None:
        self.returncode = -signal.SIGKILL
        self.output = bytearray()
        self.errors = b""
        self.exited = asyncio.Event()
        self._open = {1, 2}
        self._changed = asyncio.Event()

    @property
    def is_cut(self) -> bool:
        """It wrote more than anybody would read, and is killed for it."""
        return len(self.output) > MAX_OUTPUT_BYTES

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd != 1:
            self.errors = (self.errors + data)[-_TAIL_BYTES:]
            return
        if not self.is_cut:
            self.output += data
        self._changed.set()

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        self._open.discard(fd)
        self._changed.set()

    def process_exited(self) -> None:
        self.exited.set()
        self._changed.set()

    async def finish(self, transport: asyncio.SubprocessTransport) -> None:
        """When the program has left and its pipes are read, or it has written too much."""
        while not self.is_cut and not self.exited.is_set():
            self._changed.clear()
            await self._changed.wait()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_LINGER_SECONDS):
                while self._open and not self.is_cut:
                    self._changed.clear()
                    await self._changed.wait()
        if (returncode := transport.get_returncode()) is not None:
            self.returncode = returncode


async def run_program(command: Sequence[str], stdin: bytes, directory: Path) -> Program:
    """Its end, with what it wrote. Cancelling kills it and whatever it started; so does our own death."""
    reading, held = os.pipe()
    try:
        loop = asyncio.get_running_loop()
        starting = loop.create_task(
            loop.subprocess_exec(
                Program,
                *("/bin/sh", "-c", _KEEPER, "mixseek-team", str(reading), *command),
                cwd=directory,
                # A group of its own: Ctrl-C is for us, and a kill must reach its children.
                start_new_session=True,
                pass_fds=(reading,),
            )
        )
        try:
            transport, program = await asyncio.shield(starting)
        except asyncio.CancelledError:
            # A start that is cancelled itself kills the shell alone, and waits for its children without an end.
            transport, program = await starting
            await kill_program(transport, program)
            raise
        finally:
            os.close(reading)
        try:
            # Written as the program reads; one that reads nothing is no reason to hang.
            pipe = transport.get_pipe_transport(0)
            if isinstance(pipe, asyncio.WriteTransport):
                pipe.write(stdin)
                pipe.close()
            await program.finish(transport)
        finally:
            await kill_program(transport, program)
    finally:
        os.close(held)
    return program


async def kill_program(transport: asyncio.SubprocessTransport, program: Program) -> None:
    """It and all its children; whoever is gone already is gone."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(transport.get_pid(), signal.SIGKILL)
    # Its death may take a moment to arrive, and no zombie may be left.
    await asyncio.shield(program.exited.wait())
    transport.close()

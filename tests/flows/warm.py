"""The command line for scripts that run it often: each in a process of its own, forked from one that has loaded it.

A start costs a second of CPU, nearly all of it for modules. `mixseek` on the path of a script is then a few lines that
hand over what a process has (arguments, directory, environment, its three streams) and wait for the exit code.
A process that was forked is stopped, signalled and killed like any other; whoever tests the start itself, or what
`ps` shows, starts the real command instead.
"""

import atexit
import contextlib
import functools
import json
import os
import select
import shlex
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.waiting import PATIENCE_SECONDS, Watched

_LENGTH = struct.Struct("!I")
_NUMBER = struct.Struct("!i")
# No process ends with this number: it stands still.
_STOPPED = 1 << 16
# What commands load when they are used.
_LOADED = (
    "analysis",
    "archive",
    "audits",
    "ci",
    "cli",
    "comparison",
    "competition",
    "datasets",
    "engine",
    "index",
    "judges",
    "labels",
    "matching",
    "reports",
    "runs",
    "setup",
    "storage",
)
_CLIENT = """#!{python} -IS
import json, os, socket, struct, sys
wire = socket.socket(socket.AF_UNIX)
wire.connect({path!r})
told = json.dumps([sys.argv[1:], os.getcwd(), dict(os.environ)]).encode()
socket.send_fds(wire, [struct.pack("!I", len(told))], [0, 1, 2])
wire.sendall(told)
_, code = struct.unpack("!ii", wire.recv(8, socket.MSG_WAITALL))
sys.exit(code if code >= 0 else 128 - code)
"""


# What a process inherits as ignored stays so, and build servers start tests with these ignored (`nohup make test &`):
# whoever tests a signal has it heard.
HEARD = (signal.SIGINT, signal.SIGHUP)


@contextlib.contextmanager
def hearing() -> Iterator[None]:
    """What is started in here is stopped by signals, whatever is ignored where the tests run."""
    before = {signum: signal.getsignal(signum) for signum in HEARD}
    ignored = [signum for signum in HEARD if before[signum] == signal.SIG_IGN]
    for signum in ignored:
        # A handler of ours becomes the default where another program is started.
        signal.signal(signum, signal.default_int_handler)
    try:
        yield
    finally:
        for signum in ignored:
            signal.signal(signum, signal.SIG_IGN)


@functools.cache
def warm_command() -> Path:
    """The directory with a `mixseek` to put on a path; its server ends with the process that asked first."""
    directory = Path(tempfile.mkdtemp(prefix="mixseek-"))
    path = str(directory / "socket")
    client = directory / "mixseek"
    client.write_text(_CLIENT.format(python=sys.executable, path=path), encoding="utf-8")
    client.chmod(0o700)
    # Ends when we do, however we end: its standard input is ours to close.
    server = subprocess.Popen(
        [sys.executable, "-W", "error", "-m", "tests.flows.warm", path],
        cwd=Path(__file__).resolve().parents[2],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert server.stdout is not None
    assert server.stdout.readline() == b"ready\n"
    # It ends with us: one that is collected before, or that is still there behind us, is a warning.
    atexit.register(end, server)
    return directory


def end(server: "subprocess.Popen[bytes]") -> None:
    """A server without standard input ends by itself; whoever waits for it counts what it has spent."""
    for stream in (server.stdin, server.stdout):
        if stream is not None:
            stream.close()
    with contextlib.suppress(subprocess.TimeoutExpired):
        server.wait(PATIENCE_SECONDS)


def can_be_read(stream: int | socket.socket, pid: int | None, is_patient: bool = True) -> bool:
    """Whether something has come, or the end; as long as the process is at work it may, however slow the machine is."""
    if select.select([stream], [], [], 0)[0]:
        return True
    watched = Watched(pid)
    while not select.select([stream], [], [], PATIENCE_SECONDS if is_patient else 0)[0]:
        if not is_patient or not watched.has_worked():
            return False
    return True


class Heard:
    """What a command says on one of its streams. Whoever waits for it in vain is told so after `PATIENCE_SECONDS`."""

    def __init__(self, descriptor: int, words: Sequence[str], pid: int) -> None:
        self._descriptor, self._words, self._pid = descriptor, words, pid
        self._unread, self._has_ended = b"", False
        self.closed = False

    def _hear(self, what: str) -> None:
        if not can_be_read(self._descriptor, self._pid):
            so_far = self._unread.decode(errors="replace")
            pytest.fail(f"waited {PATIENCE_SECONDS:g} s for {what} of {shlex.join(self._words)}; so far: {so_far!r}")
        data = os.read(self._descriptor, 1 << 16)
        self._unread += data
        self._has_ended = not data

    def readline(self) -> str:
        while b"\n" not in self._unread and not self._has_ended:
            self._hear("a line")
        line, newline, self._unread = self._unread.partition(b"\n")
        return (line + newline).decode()

    def read(self) -> str:
        while not self._has_ended:
            self._hear("the end")
        text, self._unread = self._unread.decode(), b""
        return text

    def close(self) -> None:
        os.close(self._descriptor)
        self.closed = True


class Begun:
    """A command at work, to be disturbed: as much of what a Popen has as our tests use."""

    def __init__(
        self,
        words: Sequence[str],
        cwd: Path,
        environment: Mapping[str, str],
        stdout: int | None = None,
        stderr: int | None = None,
    ) -> None:
        """Whoever gives a stream of its own hears nothing of it here."""
        self._words = ["mixseek", *words]
        self._wire = socket.socket(socket.AF_UNIX)
        self._wire.connect(str(warm_command() / "socket"))
        told = json.dumps([[*words], str(cwd), dict(environment)]).encode()
        (out, theirs), (err, theirs_too) = os.pipe(), os.pipe()
        with Path(os.devnull).open("rb") as nothing:
            streams = [
                nothing.fileno(),
                theirs if stdout is None else stdout,
                theirs_too if stderr is None else stderr,
            ]
            socket.send_fds(self._wire, [_LENGTH.pack(len(told))], streams)
        self._wire.sendall(told)
        os.close(theirs)
        os.close(theirs_too)
        self.pid = self._receive()
        self.stdout = Heard(out, self._words, self.pid)
        self.stderr = Heard(err, self._words, self.pid)
        self.returncode: int | None = None
        self._stops = 0

    def _receive(self) -> int:
        return int(_NUMBER.unpack(self._wire.recv(_NUMBER.size, socket.MSG_WAITALL))[0])

    def _look(self, *, is_patient: bool = True) -> bool:
        """Takes the next news of the process, an end or a stop; false where none came."""
        if self.returncode is not None or not can_be_read(self._wire, self.pid if is_patient else None, is_patient):
            return False
        news = self._receive()
        if news == _STOPPED:
            self._stops += 1
        else:
            self.returncode = news
        return True

    def poll(self) -> int | None:
        while self._look(is_patient=False):
            pass
        return self.returncode

    def send_signal(self, signum: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, signum)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def communicate(self) -> tuple[str, str]:
        """The rest of both streams, whichever ends first; then the process has ended, too."""
        with ThreadPoolExecutor(1) as other:
            errors = other.submit(self.stderr.read)
            out, err = self.stdout.read(), errors.result()
        self.stdout.close()
        self.stderr.close()
        while self.returncode is None:
            if not self._look():
                pytest.fail(f"waited {PATIENCE_SECONDS:g} s for the end of {shlex.join(self._words)}")
        self._wire.close()
        return out, err

    def wait_for_stop(self) -> bool:
        """Until it stands still by SIGSTOP, once for each time that it did; false for what has ended instead."""
        while not self._stops and self.returncode is None:
            if not self._look():
                pytest.fail(f"waited {PATIENCE_SECONDS:g} s for {shlex.join(self._words)} to stand still")
        if self.returncode is not None:
            return False
        self._stops -= 1
        return True


def serve(path: str) -> None:
    """Until standard input ends."""
    import importlib
    import pkgutil
    import shutil

    import aiohttp  # noqa: F401 - what asks endpoints loads it

    import mixseek.cli.app

    # Before the first fork: what commands are made of, and nothing that runs threads by being loaded.
    for module in pkgutil.walk_packages(mixseek.__path__, "mixseek."):
        if module.name.split(".")[1] in _LOADED and not module.name.endswith("_child"):
            importlib.import_module(module.name)
    for name in (None, *mixseek.cli.app.TREE):
        mixseek.cli.app.command(name)
    compile_phrases()
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(path)
        door.listen(64)
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        print("ready", flush=True)
        while door in select.select([door, sys.stdin], [], [])[0]:
            wire = door.accept()[0]
            if os.fork() == 0:
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                os._exit(run_for(wire))
            wire.close()
    shutil.rmtree(Path(path).parent, ignore_errors=True)


def compile_phrases() -> None:
    """The rules compile their patterns when they first look for them: here, once for every process that judges."""
    from mixseek.matching.match import match_answer

    for response, truth in (
        ("Let me think.\n**41** it is. No: the answer is 42, I think.", "42"),
        ("It is (B).", "(B)"),
    ):
        match_answer(response, truth, question="Which? (A) red (B) blue")


def run_for(wire: socket.socket) -> int:
    """One command in one more process, so that its exit code can be told, however it ends."""
    head, streams, _, _ = socket.recv_fds(wire, _LENGTH.size, 3)
    told = b""
    while len(told) < _LENGTH.unpack(head)[0]:
        told += wire.recv(1 << 16)
    words, directory, environment = json.loads(told)
    child = os.fork()
    if child == 0:
        # A group of its own, as a shell gives it: a signal may be for all of it.
        os.setsid()
        wire.close()
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
            os.close(stream)
        for signum in HEARD:
            signal.signal(signum, signal.default_int_handler if signum == signal.SIGINT else signal.SIG_DFL)
        os.chdir(directory)
        os.environ.clear()
        os.environ.update(environment)
        os._exit(run_command(words))
    for stream in streams:
        os.close(stream)
    with contextlib.suppress(BrokenPipeError):
        wire.sendall(_NUMBER.pack(child))
        while os.WIFSTOPPED(status := os.waitpid(child, os.WUNTRACED)[1]):
            wire.sendall(_NUMBER.pack(_STOPPED))
        wire.sendall(_NUMBER.pack(os.waitstatus_to_exitcode(status)))
    return 0


def run_command(words: list[str]) -> int:
    """The console script itself; what it leaves in buffers is written, because nobody else does so after a fork."""
    from tests.flows.dying import VARIABLE, arm

    from mixseek.cli.main import run

    if told := os.environ.pop(VARIABLE, None):
        arm(told)
    sys.argv = ["mixseek", *words]
    try:
        run()
    except SystemExit as left:
        code = left.code if isinstance(left.code, int) else 0
    except BaseException:  # noqa: BLE001 - as the interpreter does for whoever lets it through
        traceback.print_exc()
        code = 1
    return 120 if has_unwritten() else code


def has_unwritten() -> bool:
    """Whether a stream does not take what is left for it: an interpreter says so of stdout, and ends with 120."""
    is_unwritten = False
    for stream in (sys.stdout, sys.stderr):
        # One that was closed is none.
        if stream is not None and not stream.closed:
            try:
                stream.flush()
            except (OSError, ValueError) as error:
                is_unwritten = True
                if stream is sys.stdout:
                    print(f"Exception ignored in: {stream!r}\n{error!r}", file=sys.stderr)
    return is_unwritten


if __name__ == "__main__":
    serve(sys.argv[1])

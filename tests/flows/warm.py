"""The command line for scripts that run it often: each in a process of its own, forked from one that has loaded it.

A start costs a second of CPU, nearly all of it for modules. `mixseek` on the path of a script is then a few lines that
hand over what a process has (arguments, directory, environment, its three streams) and wait for the exit code.
Whoever tests starting, signals or a killed process starts the real command instead.
"""

import contextlib
import functools
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path

_LENGTH = struct.Struct("!I")
_CLIENT = """#!{python} -IS
import json, os, socket, struct, sys
wire = socket.socket(socket.AF_UNIX)
wire.connect({path!r})
told = json.dumps([sys.argv[1:], os.getcwd(), dict(os.environ)]).encode()
socket.send_fds(wire, [struct.pack("!I", len(told))], [0, 1, 2])
wire.sendall(told)
sys.exit(wire.recv(1)[0])
"""


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
    # Until we end: what is collected before is a process without an owner, and a warning.
    _kept.append(server)
    return directory


_kept: list["subprocess.Popen[bytes]"] = []


def serve(path: str) -> None:
    """Until standard input ends."""
    import importlib
    import pkgutil
    import select
    import shutil

    import mixseek.cli.app
    import mixseek.composition

    # Before the first fork: what commands are made of, and nothing that runs threads by being loaded.
    for module in pkgutil.iter_modules(mixseek.composition.__path__, "mixseek.composition."):
        importlib.import_module(module.name)
    mixseek.cli.app.command()
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


def run_for(wire: socket.socket) -> int:
    """One command in one more process, so that its exit code can be told, however it ends."""
    head, streams, _, _ = socket.recv_fds(wire, _LENGTH.size, 3)
    told = b""
    while len(told) < _LENGTH.unpack(head)[0]:
        told += wire.recv(1 << 16)
    words, directory, environment = json.loads(told)
    child = os.fork()
    if child == 0:
        wire.close()
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
            os.close(stream)
        os.chdir(directory)
        os.environ.clear()
        os.environ.update(environment)
        os._exit(run_command(words))
    for stream in streams:
        os.close(stream)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    wire.sendall(bytes([code if code >= 0 else 128 - code]))
    return 0


def run_command(words: list[str]) -> int:
    """The console script itself; what it leaves in buffers is written, because nobody else does so after a fork."""
    from mixseek.cli.main import run

    sys.argv = ["mixseek", *words]
    try:
        run()
    except SystemExit as left:
        code = left.code if isinstance(left.code, int) else 0
    except BaseException:  # noqa: BLE001 - as the interpreter does for whoever lets it through
        traceback.print_exc()
        code = 1
    with contextlib.suppress(OSError, ValueError):
        sys.stdout.flush()
        sys.stderr.flush()
    return code


if __name__ == "__main__":
    serve(sys.argv[1])

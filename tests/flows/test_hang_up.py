"""A terminal that goes away stops a run as Ctrl-C does; what was ignored where a command is started stays ignored."""

import json
import os
import pty
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.flows.live import KEYS, journal_lines, judge, judge_arguments, riddles, wait_until
from tests.flows.loopback import loopback
from tests.flows.running import COMMAND, environment, write_jsonl
from tests.flows.warm import hearing

SAMPLES = 24
CONCURRENCY = 4


def status_of(tmp_path: Path) -> str:
    manifest = tmp_path / "ws" / "runs" / "r" / "manifest.json"
    return str(json.loads(manifest.read_text(encoding="utf-8"))["status"])


def test_a_terminal_that_is_closed_loses_nothing(tmp_path: Path) -> None:
    """With its progress bar half drawn: what is in flight comes home, and nothing is shown to nobody."""
    data = write_jsonl(tmp_path / "data.jsonl", riddles(SAMPLES))
    with loopback() as endpoint:
        endpoint.hold()
        words = judge_arguments(data, endpoint.spec, "--concurrency", str(CONCURRENCY))
        master, slave = pty.openpty()
        # A session of its own with this terminal in front, as a shell in a window has it.
        leader = (
            "import fcntl, os, sys, termios; os.setsid(); fcntl.ioctl(0, termios.TIOCSCTTY, 0); "
            "os.execv(sys.argv[1], sys.argv[1:])"
        )
        with hearing():
            process = subprocess.Popen(
                [sys.executable, "-c", leader, COMMAND, *words],
                cwd=tmp_path, env=environment(**KEYS), stdin=slave, stdout=slave, stderr=slave, text=True,
            )  # fmt: skip
        os.close(slave)
        assert wait_until(lambda: endpoint.requests >= CONCURRENCY, process)
        os.close(master)
        endpoint.release()
        code = process.wait(60)
        kept, paid = len(journal_lines(tmp_path, "reply")), endpoint.requests
        status = status_of(tmp_path)
        again = judge(data, endpoint.spec, cwd=tmp_path)

    assert code == 130
    assert status == "interrupted"
    assert CONCURRENCY <= kept == paid < SAMPLES
    assert again.returncode == 0, again.stderr
    assert endpoint.requests == SAMPLES


@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGHUP])
def test_what_is_ignored_where_a_command_is_started_stays_ignored(signum: signal.Signals, tmp_path: Path) -> None:
    """`nohup mixseek judge … &`: it goes on to its end."""
    data = write_jsonl(tmp_path / "data.jsonl", riddles(SAMPLES))
    ignoring = (
        "import os, signal, sys; signal.signal(int(sys.argv[1]), signal.SIG_IGN); os.execv(sys.argv[2], sys.argv[2:])"
    )
    with loopback() as endpoint:
        endpoint.hold()
        words = judge_arguments(data, endpoint.spec, "--concurrency", str(CONCURRENCY), "--quiet")
        process = subprocess.Popen(
            [sys.executable, "-c", ignoring, str(int(signum)), COMMAND, *words],
            cwd=tmp_path, env=environment(**KEYS), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert wait_until(lambda: endpoint.requests >= CONCURRENCY, process)
        process.send_signal(signum)
        endpoint.release()
        _, err = process.communicate(timeout=180)

    assert (process.returncode, err) == (0, "")
    assert status_of(tmp_path) == "complete"

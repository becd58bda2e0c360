"""The loopback judge's HTTP: requests that are torn, odd or wrong; and its life as a process."""

import json
import os
import signal
import socket
import subprocess
import sys
import time

import pytest
from tests.flows.loopback import Loopback, loopback
from tests.flows.warm import hearing
from tests.unit.judges.mock_requests import a_sample, anthropic_body, openai_body, send
from tests.waiting import PATIENCE_SECONDS

from mixseek.errors import ConfigurationError
from mixseek.testing.mock_server import MockOptions


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"not json",
        b"[]",
        b'{"messages": []}',
        b'{"model": "m", "messages": [1]}',
        b'{"model": "m", "stream": true}',
    ],
)
def test_a_request_that_cannot_be_answered_is_400_with_the_reason(body: bytes) -> None:
    """And the server lives on."""
    with loopback() as judge:
        status, _, answer = send(judge, body)

        assert status == 400
        assert answer["error"]["message"]
        assert send(judge, openai_body(a_sample(1)))[0] == 200


@pytest.mark.parametrize("missing", ["max_tokens", "messages", "model"])
def test_the_anthropic_format_insists_on_its_fields(missing: str) -> None:
    """As the real one does."""
    body = anthropic_body(a_sample(1))
    del body[missing]
    with loopback() as judge:
        status, _, answer = send(judge, body, "/v1/messages")

    assert status == 400
    assert answer["type"] == "error"
    assert answer["error"]["type"] == "invalid_request_error"


def raw_exchange(judge: Loopback, *pieces: bytes) -> bytes:
    """What comes back for bytes sent piece by piece, until the server hangs up."""
    with socket.create_connection((judge.server.host, judge.server.port), timeout=PATIENCE_SECONDS) as connection:
        for piece in pieces:
            connection.sendall(piece)
            time.sleep(0.02)
        received = b""
        while data := connection.recv(1 << 16):
            received += data
        return received


def test_http_is_read_as_it_comes() -> None:
    """Torn anywhere, chunked, two at once, with Expect, with a request line that is none."""
    raw = json.dumps(openai_body(a_sample(1))).encode()
    whole = b"POST /v1/chat/completions HTTP/1.1\r\nHost: mock\r\nContent-Length: %d\r\n\r\n%s" % (len(raw), raw)
    last = whole.replace(b"\r\nContent", b"\r\nConnection: close\r\nContent", 1)
    chunks = b"POST /v1/messages HTTP/1.1\r\nHost: mock\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
    said = json.dumps(anthropic_body(a_sample(1))).encode()
    halves = (said[:100], said[100:])
    chunked = chunks + b"".join(b"%x\r\n%s\r\n" % (len(half), half) for half in halves) + b"0\r\n\r\n"
    head, _, body = last.partition(b"\r\n\r\n")
    with loopback() as judge:
        torn = raw_exchange(judge, last[:10], last[10:70], last[70:-5], last[-5:])
        piped = raw_exchange(judge, whole + last)
        in_chunks = raw_exchange(judge, chunked[:90], chunked[90:200], chunked[200:])
        expecting = raw_exchange(judge, head + b"\r\nExpect: 100-continue\r\n\r\n", body)
        nonsense = raw_exchange(judge, b"hello\r\n\r\n")

    assert torn.count(b"HTTP/1.1 200 OK") == 1
    assert piped.count(b"HTTP/1.1 200 OK") == 2
    assert in_chunks.count(b'"type":"message"') == 1
    assert expecting.startswith(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK")
    assert nonsense.split(b" ", 1)[1].startswith(b"400 ")


def test_a_taken_port_is_a_line_for_a_person() -> None:
    """Not a traceback from asyncio."""
    from mixseek.testing.mock_server import serve

    with loopback() as judge, pytest.raises(ConfigurationError, match="choose another --port"):
        serve(judge.server.host, judge.server.port, MockOptions())


@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_serve_says_when_it_is_ready_and_leaves_quietly(signum: signal.Signals) -> None:
    """One line on stdout; exit 0 on either signal."""
    script = "from mixseek.testing.mock_server import *; serve('127.0.0.1', 0, MockOptions())"
    command = [sys.executable, "-W", "error", "-c", script]
    with hearing():
        started = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    with started as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        os.kill(process.pid, signum)
        _, err = process.communicate(timeout=PATIENCE_SECONDS)

    assert line.startswith("ready: mock judge at http://127.0.0.1:")
    assert (process.returncode, err) == (0, "")

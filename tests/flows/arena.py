"""An endpoint for competitions: who asks and about what decides the reply, and nothing else does."""

import contextlib
import hashlib
import json
import math
import re
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from tests.flows.live import KEYS
from tests.flows.running import mixseek_here

# Nobody is kept for ever: whoever forgets to release is named by what fails then.
HELD_SECONDS = 120.0
_TEAM = re.compile(r"You are team (\w+)\.")
_ROUND = re.compile(r"^(?:ラウンド|Round|轮次): (\d+)$", re.MULTILINE)
_SUBMISSION = re.compile(r"Submission of (\w+) in round (\d+)")
_CRITERION = re.compile(r'"(\w+)": \{"reason": "…", "score": 0\}')
_POINTS = re.compile(r"`(\w+)` \(0 to (\d+) points\)")


@dataclass
class Arena:
    """What was asked, by kind, team and round; replies come after `latency_seconds`."""

    base_url: str = ""
    latency_seconds: float = 0.01
    asked: Counter[tuple[str, str, int]] = field(default_factory=Counter)
    # Kinds of questions that are answered with nonsense, or not at all.
    refuses: set[str] = field(default_factory=set)
    statuses: dict[str, int] = field(default_factory=dict)
    # Teams decline.
    declines: bool = False
    # How every reply is called.
    reply_id: str = "x"
    finish_reason: str = "stop"
    # Everything that anybody was asked.
    texts: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)
    # So many requests are answered; those that come after wait to be released.
    answers: float = math.inf
    released: threading.Event = field(default_factory=threading.Event)

    def hold_after(self, count: int) -> None:
        self.answers = count

    def release(self) -> None:
        """All that wait, and all that come."""
        self.answers = math.inf
        self.released.set()

    @property
    def spec(self) -> str:
        return f"openai:mock@{self.base_url}"

    @property
    def requests(self) -> int:
        return self.asked.total()

    def answer(self, messages: list[dict[str, str]]) -> tuple[int, str]:
        system = next((one["content"] for one in messages if one["role"] == "system"), "")
        user = messages[-1]["content"]
        kind = "judgment" if "should_continue" in system else "metric" if "total_score" in system else "team"
        if kind == "team":
            team, number = _TEAM.findall(system)[0], int(_ROUND.findall(user)[0])
        else:
            team, number = max(((t, int(n)) for t, n in _SUBMISSION.findall(user)), key=lambda one: one[1])
        with self.lock:
            self.texts += [system, user]
            self.asked[kind, team, number] += 1
            times = self.asked[kind, team, number]
            is_held = self.requests > self.answers
        if is_held:
            self.released.wait(HELD_SECONDS)
        time.sleep(self.latency_seconds)
        if kind in self.statuses:
            return self.statuses[kind], "no"
        if kind in self.refuses:
            return 200, "I would rather not say."
        match kind:
            case "team" if self.declines:
                return 200, "I'm sorry, but I cannot help with that."
            case "team":
                # A second asking shows: whoever lost the first reply has another text.
                return 200, f"Submission of {team} in round {number} (asked {times} times)."
            case "judgment":
                return 200, json.dumps({"reasoning": "More.", "should_continue": True, "confidence_score": 0.5})
            case _:
                return 200, score(system, team, number)


def score(system: str, team: str, number: int) -> str:
    """Of team and round alone; later rounds tend to be better."""
    points = dict(_POINTS.findall(system))
    criteria: dict[str, dict[str, Any]] = {}
    for name in _CRITERION.findall(system):
        most = int(points[name])
        drawn = hashlib.sha256(f"{team} {number} {name}".encode()).digest()[0] / 255
        criteria[name] = {"reason": "so", "score": round(most * min(1.0, 0.2 + 0.1 * number + 0.3 * drawn))}
    total = sum(one["score"] for one in criteria.values())
    return json.dumps({"criteria": criteria, "comment": "Go on.", "total_score": total})


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    arena: Arena

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        status, text = self.arena.answer(body["messages"])
        document: dict[str, Any] = {
            "id": self.arena.reply_id,
            "model": "mock",
            "choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": self.arena.finish_reason}],
            "usage": {"prompt_tokens": 100, "completion_tokens": 10},
        }
        data = json.dumps(document if status == 200 else {"error": {"message": text}}).encode()
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name is the base class's
        pass


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request: object, client_address: object) -> None:
        """Clients are killed in these tests; that is no news."""


@contextlib.contextmanager
def arena(latency_seconds: float = 0.01) -> Iterator[Arena]:
    """Serves as long as the block lasts."""
    made = Arena(latency_seconds=latency_seconds)
    server = _Server(("127.0.0.1", 0), type("Handler", (_Handler,), {"arena": made}))
    made.base_url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield made
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)


def judge_of(spec: str) -> str:
    """Another model at the same address: what a model says of its own work ranks nobody."""
    return spec.replace("openai:", "openai:judge-", 1)


def race_text(spec: str, teams: int, *, rounds: str = "min = 2\nmax = 5", more: str = "") -> str:
    """A race of that many model teams, two metrics with a judge that does not play, and a judge of progress."""
    judge = judge_of(spec)
    tables = "\n".join(
        f'[[teams]]\nid = "t{n}"\nname = "Team {n}"\nmodel = "{spec}"\ninstructions = "You are team t{n}."'
        for n in range(teams)
    )
    return f"""
task = "Write something good."
{tables}
{more}
[evaluator]
judge = "{judge}"
language = "en"
[[evaluator.metrics]]
type = "Coverage"
weight = 0.6
[[evaluator.metrics]]
type = "Relevance"
weight = 0.4
[judgment]
judge = "{spec}"
language = "en"
[rounds]
{rounds}
"""


def write(directory: Path, text: str, name: str = "race.toml") -> None:
    (directory / name).write_text(text, encoding="utf-8")


def compete(cwd: Path, *more: str) -> subprocess.CompletedProcess[str]:
    return mixseek_here("compete", "race.toml", "--execution", "e", "-w", "ws", *more, cwd=cwd, env=KEYS)


def document(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(done.stdout)
    return found

"""Live judging from outside: datasets to ask about, the command with a key, and what the endpoint's log says of it."""

import json
import os
import signal
import subprocess
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.flows.running import mixseek, mixseek_here, read_jsonl, start
from tests.flows.warm import Begun
from tests.waiting import PATIENCE_SECONDS, wait_for

from mixseek.domain.judgments import Flag
from mixseek.testing.mock_replies import Fault

# Looks like a key and occurs nowhere else: wherever it turns up, it leaked.
CANARY = "sk-canary-3f9d61c07b"
KEYS = {"OPENAI_API_KEY": CANARY, "ANTHROPIC_API_KEY": CANARY}
FLAG_OF_FAULT = {
    Fault.PROSE: Flag.UNPARSABLE_OUTPUT,
    Fault.TRUNCATED: Flag.UNPARSABLE_OUTPUT,
    Fault.WRONG_SCHEMA: Flag.UNPARSABLE_OUTPUT,
    Fault.REFUSAL: Flag.JUDGE_REFUSAL_OR_EVASION,
    Fault.INCONSISTENT: Flag.INTERNAL_INCONSISTENCY,
}
# Faults after which there is no reply at all.
CALL_FAULTS = {Fault.RATE_LIMIT, Fault.SERVER_ERROR, Fault.DROP}
# What a verdict is; the rest of an exported row says when and at what price it came.
VERDICT_FIELDS = ("id", "judge", "status", "score", "verdict", "is_correct", "extracted_answer", "error_type", "flags")


def riddles(count: int) -> list[dict[str, Any]]:
    """Samples whose question is unique, so that a line of the endpoint's log belongs to one of them."""
    return [
        {
            "id": f"riddle-{n}",
            "question": f"Riddle {n}: who walks first on {n} legs?",
            "response": f"Let me think about riddle {n}.\nOn {n} legs walks traveller {n}.",
            "ground_truth": f"traveller {n}",
        }
        for n in range(count)
    ]


def judge_arguments(data: Path | str, spec: str, *more: str | Path, workspace: str = "ws") -> list[str]:
    fixed = ["judge", str(data), "--judge", spec, "--workspace", workspace, "--run", "r", "--json"]
    return [*fixed, *map(str, more)]


def judge(
    data: Path | str, spec: str, *more: str | Path, cwd: Path, workspace: str = "ws", own_process: bool = False
) -> subprocess.CompletedProcess[str]:
    """To the end, with the canary as key."""
    run = mixseek if own_process else mixseek_here
    return run(*judge_arguments(data, spec, *more, workspace=workspace), cwd=cwd, env=KEYS)


def begin(*arguments: str, cwd: Path, **extra: str) -> Begun:
    """Begin and return at once: for those who want to disturb."""
    return start(*arguments, cwd=cwd, **KEYS, **extra)


def wait_until(
    condition: Callable[[], bool], process: Begun | subprocess.Popen[str], seconds: float = PATIENCE_SECONDS
) -> bool:
    """Whether it came true before the process ended; what never comes is named, and not waited for any longer."""
    return wait_for(condition, lambda: process.poll() is not None, seconds, process.pid)


def read_until(process: Begun, words: str) -> str:
    """What it says on stderr until it has said that, or has ended."""
    heard = ""
    while words not in heard and (line := process.stderr.readline()):
        heard += line
    return heard


def stop_at_once(process: Begun) -> str:
    """Two signals: the second one when the first was heard, because two that are pending are one. Returns stderr."""
    process.send_signal(signal.SIGINT)
    # Where it was held until now.
    process.send_signal(signal.SIGCONT)
    heard = read_until(process, "once more to stop at once")
    process.send_signal(signal.SIGINT)
    return heard + process.communicate()[1]


def export(cwd: Path, workspace: str = "ws") -> list[dict[str, Any]]:
    target = cwd / f"{workspace}.jsonl"
    done = mixseek_here("export", "r", "--workspace", workspace, "--to", target, cwd=cwd)
    assert done.returncode == 0, done.stderr
    return read_jsonl(target)


def verdicts(rows: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [{name: row[name] for name in VERDICT_FIELDS} for row in rows]


def journal_lines(cwd: Path, kind: str, workspace: str = "ws") -> list[dict[str, Any]]:
    lines = read_jsonl(cwd / workspace / "runs" / "r" / "journal.jsonl")
    return [line for line in lines if line["t"] == kind]


def counts_of(done: subprocess.CompletedProcess[str]) -> dict[str, int]:
    counts: dict[str, int] = json.loads(done.stdout)["counts"]
    return counts


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request as the endpoint logged it; status None when the client went away, 0 when the endpoint hung up."""

    number: int
    question: str
    model: str
    times_seen: int
    status: int | None
    fault: Fault | None
    is_correct: bool | None

    @property
    def has_reply(self) -> bool:
        return self.status == 200

    @property
    def flag(self) -> Flag | None:
        """What the reply must be recorded with; None for a reply that can be used."""
        return FLAG_OF_FAULT.get(self.fault) if self.fault is not None else None


def read_log(log: Path) -> list[Exchange]:
    """In the order of arrival."""
    received: dict[int, dict[str, Any]] = {}
    ended: dict[int, dict[str, Any]] = {}
    for line in read_jsonl(log):
        (received if line["event"] == "received" else ended)[line["number"]] = line
    return [
        Exchange(
            number,
            line["question"],
            line["model"],
            line["times_seen"],
            ended.get(number, {}).get("status"),
            _fault(ended.get(number, {}).get("fault")),
            ended.get(number, {}).get("is_correct"),
        )
        for number, line in received.items()
    ]


def _fault(name: str | None) -> Fault | None:
    return None if name is None else Fault(name)


def by_question(exchanges: Iterable[Exchange]) -> dict[str, list[Exchange]]:
    found: dict[str, list[Exchange]] = {}
    for exchange in exchanges:
        found.setdefault(exchange.question, []).append(exchange)
    return found


def call_faults(exchanges: Iterable[Exchange]) -> int:
    return sum(exchange.fault in CALL_FAULTS for exchange in exchanges)


def files_below(*places: Path) -> Iterable[Path]:
    for place in places:
        for directory, _, names in os.walk(place):
            yield from (Path(directory) / name for name in names)

"""Judges behind an endpoint: rate against the ideal, CPU for each judgment, memory, and runs from the cache.

`python -m bench.live [--large] [--only PART]` alone, or as a part of `make bench`. The endpoint is
`../shared/bench/mock_judge.py` where it lies beside the project, else our own mock; either thinks 200 ms about every
answer.
"""

import argparse
import contextlib
import dataclasses
import importlib.util
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from bench.responses import synthetic_rows

ROOT = Path(__file__).resolve().parents[1]
SHARED_MOCK = ROOT.parent / "shared" / "bench" / "mock_judge.py"
MIXSEEK = str(Path(sys.executable).with_name("mixseek"))
LATENCY_SECONDS = 0.2
CONCURRENCY = 256
COUNT, LARGE_COUNT = 5_000, 100_000
# As many as `bench.waiting` judges, three times: one ratio of a noisy machine is off by a fifth.
ANSWERS, ANSWER_ROUNDS = 15_000, 3
FAULT_RATE = 0.2
_GLANCE_SECONDS = 0.03
# CPU milliseconds for each judgment as measured for peers at the same concurrency; not measured again here.
PEERS = {"EvalScope": 11.0, "pydantic-evals": 13.0, "mixseek-core": 12.0, "Inspect": 25.0, "DeepEval": 59.0}
# Retry-After and dripping are short, so that the rate tells what retries cost and not what was waited for.
_OWN_MOCK = (
    "import sys; from mixseek.testing.mock_server import MockOptions, serve; "
    "serve('127.0.0.1', int(sys.argv[1]), MockOptions(latency_seconds=float(sys.argv[2]) / 1000, "
    "fault_rate=float(sys.argv[3]), retry_after_seconds=0.1, drip_seconds=0.5, refuses_keys=len(sys.argv) > 4))"
)


@dataclass(frozen=True, slots=True)
class Measured:
    """One command as the kernel saw it, and what it printed."""

    wall_seconds: float
    cpu_seconds: float
    peak_megabytes: float
    summary: dict[str, Any]
    # That the endpoint had meanwhile.
    requests: int = 0
    faults: int = 0
    # From the first request to the last answer, as the endpoint saw it.
    asking_seconds: float = 0.0


def main(arguments: Sequence[str] | None = None) -> None:
    """Print every measurement with what it is compared to."""
    parser = argparse.ArgumentParser(prog="python -m bench.live", description=__doc__)
    parser.add_argument("--large", action="store_true", help=f"also {LARGE_COUNT:,} samples: memory and cache")
    parser.add_argument("--only", choices=sorted(PARTS), help="one part instead of all of them")
    options = parser.parse_args(arguments)
    chosen = [options.only] if options.only else [name for name in PARTS if options.large or name not in LARGE_PARTS]
    for name in chosen:
        PARTS[name]()


def measure_speed() -> None:
    """5,000 samples at 200 ms: rate, CPU, and the same again from the cache."""
    with tempfile.TemporaryDirectory() as folder, mock_judge(LATENCY_SECONDS) as base_url:
        place = Path(folder)
        data = write_dataset(place / "rows.jsonl", COUNT)
        floor = peer("aiohttp", base_url, data)
        naive = peer("openai", base_url, data)
        tell_speed(judge(place, data, base_url, "first"), floor, naive)
        tell_cached(judge(place, data, base_url, "again"), COUNT)


def measure_answers() -> None:
    """Questions before a target: what an answer takes beside what a loop takes that sends, waits and parses."""
    with tempfile.TemporaryDirectory() as folder, mock_judge(LATENCY_SECONDS) as base_url:
        place = Path(folder)
        data = write_questions(place / "questions.jsonl", ANSWERS)
        rounds = []
        for number in range(ANSWER_ROUNDS):
            # Each in a workspace of its own: what is answered once comes from the cache.
            room = place / str(number)
            room.mkdir()
            rounds.append((judge(room, data, base_url, "answers", "answer"), peer("aiohttp", base_url, data)))
        tell_answers(rounds)


def measure_memory() -> None:
    """The same at twenty times as many samples; then those from the cache."""
    with tempfile.TemporaryDirectory() as folder, mock_judge(LATENCY_SECONDS) as base_url:
        place = Path(folder)
        small = judge(place, write_dataset(place / "rows.jsonl", COUNT), base_url, "small")
        data = write_dataset(place / "large.jsonl", LARGE_COUNT)
        tell_memory(small, judge(place, data, base_url, "large"))
        tell_cached(judge(place, data, base_url, "large-again"), LARGE_COUNT)


def measure_cached() -> None:
    """100,000 from the cache alone, filled by an endpoint that does not think."""
    with tempfile.TemporaryDirectory() as folder, mock_judge(0.0) as base_url:
        place = Path(folder)
        data = write_dataset(place / "large.jsonl", LARGE_COUNT)
        judge(place, data, base_url, "first")
        tell_cached(judge(place, data, base_url, "again"), LARGE_COUNT)


def measure_faults() -> None:
    """A fifth of the answers goes wrong, in every way."""
    with tempfile.TemporaryDirectory() as folder, mock_judge(LATENCY_SECONDS, FAULT_RATE) as base_url:
        data = write_dataset(Path(folder) / "rows.jsonl", COUNT)
        tell_faults(judge(Path(folder), data, base_url, "faults"))


def measure_refusal() -> None:
    """A wrong key, from the start of the process to its end."""
    with tempfile.TemporaryDirectory() as folder, mock_judge(0.0, refuses_keys=True) as base_url:
        data = write_dataset(Path(folder) / "rows.jsonl", COUNT)
        command = asking_command(Path(folder), data, base_url, "refused")
        started = time.perf_counter()
        done = subprocess.run(
            command, check=False, capture_output=True, text=True, env={**os.environ, "OPENAI_API_KEY": "bench"}
        )
        seconds = time.perf_counter() - started
        lines = len(done.stderr.splitlines())
    print(f"  401: exit code {done.returncode} and {lines} line after {seconds:.2f} s, start-up included")


PARTS = {
    "speed": measure_speed,
    "answers": measure_answers,
    "faults": measure_faults,
    "refusal": measure_refusal,
    "memory": measure_memory,
    "cached": measure_cached,
}
LARGE_PARTS = ("memory", "cached")


def tell_speed(ours: Measured, floor: dict[str, float] | None, naive: dict[str, float] | None) -> None:
    """The issue's figures: at least 90 % of the ideal rate, at most 1 ms of CPU, start-up included.

    The ideal is concurrency / think time: what the endpoint itself takes for an answer beside thinking (about 0.2 ms of
    the same two cores), and for 256 new connections at the beginning, is not in it. The bare loop shows what is left.
    """
    ideal = CONCURRENCY / LATENCY_SECONDS
    seconds = ours.asking_seconds
    each = 1000 * ours.cpu_seconds / COUNT
    print(f"live judge: {COUNT:,} samples, {LATENCY_SECONDS * 1000:.0f} ms think time, {CONCURRENCY} at once")
    print(
        f"  {COUNT / seconds:,.0f} judgments/s while asking, {COUNT / seconds / ideal:.0%} of the ideal {ideal:,.0f}; "
        f"{ours.wall_seconds:.1f} s from start to exit; peak {ours.peak_megabytes:.0f} MB"
    )
    print(f"  {each:.2f} ms CPU for each judgment, all in (start-up, prompts, HTTP, checks, journal, index)")
    for name, peer_figures in (("a bare aiohttp loop", floor), ("a naive openai SDK loop", naive)):
        if peer_figures is None:
            print(f"  {name}: not installed")
            continue
        other = 1000 * peer_figures["cpu_seconds"] / peer_figures["count"]
        rate = peer_figures["count"] / peer_figures["seconds"]
        print(
            f"  {name}: {other:.2f} ms CPU, {rate:,.0f}/s, {rate / ideal:.0%} of the ideal; "
            f"ours takes {each / other:.2f} times its CPU"
        )
    known = ", ".join(f"{name} {cpu:.0f} ms ({cpu / each:.0f}x)" for name, cpu in PEERS.items())
    print(f"  frameworks, as measured before: {known}")


def tell_answers(rounds: Sequence[tuple[Measured, dict[str, float] | None]]) -> None:
    """The issue's figure: at most 2.2 times the CPU of a bare loop, as the median of rounds in turn."""
    each = median(1000 * ours.cpu_seconds / ANSWERS for ours, _ in rounds)
    ratios = sorted(ours.cpu_seconds / floor["cpu_seconds"] for ours, floor in rounds if floor is not None)
    beside = f"{median(ratios):.2f} times ({ratios[0]:.2f} to {ratios[-1]:.2f}) that" if ratios else "without a peer"
    rate = median(ANSWERS / ours.asking_seconds for ours, _ in rounds)
    peak = max(ours.peak_megabytes for ours, _ in rounds)
    print(
        f"  answers: {ANSWERS:,} questions before a target, {len(rounds)} rounds: {each:.2f} ms CPU each, all in, "
        f"{beside} of a bare aiohttp loop; {rate:,.0f} answers/s while asking, peak {peak:.0f} MB"
    )


def tell_cached(again: Measured, count: int) -> None:
    """The same replies again: nothing may be sent."""
    print(
        f"  cached re-run of {count:,}: {count / again.wall_seconds:,.0f} judgments/s, {again.requests} requests, "
        f"{again.wall_seconds:.1f} s from start to exit, index and summary included, "
        f"{1000 * again.cpu_seconds / count:.2f} ms CPU each, peak {again.peak_megabytes:.0f} MB"
    )


def tell_memory(small: Measured, large: Measured) -> None:
    """No slope to be seen, and under 500 MB at a million."""
    print(
        f"  {LARGE_COUNT:,} samples: peak {large.peak_megabytes:.0f} MB "
        f"({large.peak_megabytes / small.peak_megabytes:.2f} times that of {COUNT:,}), {large.wall_seconds:.0f} s, "
        f"{1000 * large.cpu_seconds / LARGE_COUNT:.2f} ms CPU each"
    )


def tell_faults(ours: Measured) -> None:
    """Every sample ends, and the account equals what the endpoint counted."""
    (account,) = ours.summary["calls"].values()
    counts = ours.summary["counts"]
    agrees = "as" if account["tries"] == ours.requests else "NOT as"
    print(
        f"  with {FAULT_RATE:.0%} faults of all kinds ({ours.faults:,} of {ours.requests:,} requests): "
        f"{counts['valid']:,} valid, {counts['invalid']:,} invalid, {counts['missing']:,} missing; "
        f"{account['tries']:,} tries in the account, {agrees} the endpoint counted; {ours.wall_seconds:.1f} s"
    )


def judge(place: Path, data: Path, base_url: str, run: str, verb: str = "judge") -> Measured:
    """`mixseek judge` or `answer` as a user runs it, in a process of its own."""
    before, _ = counted_at(base_url)
    with watching_requests(base_url) as seen_at:
        measured = measure(asking_command(place, data, base_url, run, verb))
    requests, faults = counted_at(base_url)
    asking = seen_at[-1] - seen_at[0] + LATENCY_SECONDS if seen_at else 0.0
    return dataclasses.replace(measured, requests=requests - before, faults=faults, asking_seconds=asking)


def asking_command(
    place: Path, data: Path, base_url: str, run: str, verb: str = "judge", concurrency: int = CONCURRENCY
) -> list[str]:
    asked = ["--protocol", "semantic", "--judge"] if verb == "judge" else ["--target"]
    command = [MIXSEEK, verb, str(data), *asked, f"openai:mock@{base_url}"]
    command += ["--concurrency", str(concurrency), "--workspace", str(place / "ws"), "--run", run]
    return [*command, "--json", "--quiet"]


@contextlib.contextmanager
def watching_requests(base_url: str) -> Iterator[list[float]]:
    """When the number of requests was seen to have grown; looked at often enough to be off by a few hundredths."""
    seen_at: list[float] = []
    is_over = threading.Event()

    def watch() -> None:
        count, _ = counted_at(base_url)
        while not is_over.wait(_GLANCE_SECONDS):
            now, _ = counted_at(base_url)
            if now > count:
                seen_at.append(time.perf_counter())
            count = now

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield seen_at
    finally:
        is_over.set()
        watcher.join()


def counted_at(base_url: str) -> tuple[int, int]:
    """Requests and faults: both mocks count and tell, ours by kind."""
    with urllib.request.urlopen(base_url.removesuffix("/v1") + "/stats") as answer:  # noqa: S310  loopback, our own
        stats = json.load(answer)
    faults = stats["faults"]
    return int(stats["requests"]), sum(faults.values()) if isinstance(faults, dict) else int(faults)


def measure(command: Sequence[str]) -> Measured:
    """wait4 tells this child's CPU and peak memory, and nobody else's."""
    started = time.perf_counter()
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env={**os.environ, "OPENAI_API_KEY": "bench"}
    ) as process:
        assert process.stdout is not None
        output = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.perf_counter() - started
    if process.returncode != 0:
        raise SystemExit(f"bench: exit code {process.returncode} of {' '.join(command)}")
    return Measured(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, json.loads(output))


def peer(name: str, base_url: str, data: Path) -> dict[str, float] | None:
    """None when the peer's package is not there."""
    if importlib.util.find_spec(name) is None:
        return None
    command = [sys.executable, "-m", "bench.live_peers", name, base_url, str(data), str(CONCURRENCY)]
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    figures: dict[str, float] = json.loads(done.stdout)
    return figures


def write_dataset(path: Path, count: int) -> Path:
    with path.open("w", encoding="utf-8") as sink:
        # The endpoint says the same of every row: "True", and correct. Where that contradicts the ground truth, the
        # reply is invalid and asked for again, which is another bench.
        sink.writelines(
            json.dumps({**row, "response": f"{row['response']}\nSo the answer is True.", "ground_truth": "True"}) + "\n"
            for row in synthetic_rows(count)
        )
    return path


def write_questions(path: Path, count: int) -> Path:
    with path.open("w", encoding="utf-8") as sink:
        sink.writelines(
            json.dumps({name: row[name] for name in ("id", "question", "ground_truth")}) + "\n"
            for row in synthetic_rows(count)
        )
    return path


@contextlib.contextmanager
def mock_judge(latency_seconds: float, fault_rate: float = 0.0, *, refuses_keys: bool = False) -> Iterator[str]:
    """The base URL of an endpoint in a process of its own; ours where faults are wanted, because it has more kinds."""
    port = free_port()
    is_plain = not (fault_rate or refuses_keys)
    words = [str(SHARED_MOCK)] if SHARED_MOCK.is_file() and is_plain else ["-c", _OWN_MOCK]
    command = [sys.executable, *words, str(port), str(latency_seconds * 1000), str(fault_rate)]
    if refuses_keys:
        command.append("refuses-keys")
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        process.stdout.readline()
        try:
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            process.kill()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


if __name__ == "__main__":
    main()

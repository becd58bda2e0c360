"""What judging costs live, with prompts from the provider's cache, in a batch, and with both: one dataset, four ways.

The provider is the loopback mock: it counts a token for four characters, takes beginnings of prompts from a cache as
OpenAI does where it is told to, and keeps a ledger of its own, which the account of each run is held against. Prices
are those of a small model: 0.25 and 2.00 US dollars for a million tokens in and out, a tenth of the first from the
cache, half in batches.
Run: python -m bench.costs (also part of `make bench`)
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import NamedTuple

from bench.responses import synthetic_rows

QUESTIONS, TARGETS = 100, 4
PROTOCOLS = ("semantic",)
_INPUT, _OUTPUT, _CACHED, _BATCH = 0.25, 2.0, 0.025, 0.5
_MIXSEEK = str(Path(sys.executable).parent / "mixseek")


class Way(NamedTuple):
    """One way to ask."""

    name: str
    caches: bool
    batches: bool


WAYS = (
    Way("live", caches=False, batches=False),
    Way("cached", caches=True, batches=False),
    Way("batch", caches=False, batches=True),
    Way("both", caches=True, batches=True),
)


class Measured(NamedTuple):
    """What one way cost by the run's account and by the provider's ledger, and how much of the input was cached."""

    cost_usd: float
    due_usd: float
    cached_share: float
    verdicts: tuple[str, ...]


def main() -> None:
    """Print a table for each protocol: paid, and as a share of asking at once without a cache."""
    for protocol in PROTOCOLS:
        rows = dataset(protocol)
        print(f"\n{protocol}: {len(rows):,} judgments ({QUESTIONS} questions, {TARGETS} targets)")
        print(f"{'':8}{'paid':>10}{'share':>8}{'cached':>8}{'ledger':>10}")
        measured = {way.name: measure(protocol, rows, way) for way in WAYS}
        whole = measured["live"].cost_usd
        for name, cost in measured.items():
            print(
                f"{name:8}{f'${cost.cost_usd:.4f}':>10}{cost.cost_usd / whole:>8.0%}{cost.cached_share:>8.0%}"
                f"{f'${cost.due_usd:.4f}':>10}"
            )
        same = len({cost.verdicts for cost in measured.values()}) == 1
        print(f"verdicts {'are the same in all four' if same else 'DIFFER'}")


def dataset(protocol: str) -> list[dict[str, str]]:
    """Several answers to each question: what judges of several models see."""
    material = list(synthetic_rows(QUESTIONS * TARGETS))
    rows = []
    for number, row in enumerate(material):
        question = material[number % QUESTIONS]
        rows.append(
            {
                "id": f"r{number}",
                "question_id": f"q{number % QUESTIONS}",
                "task_name": "sums",
                "target_model": f"m{number // QUESTIONS}",
                "question": question["question"],
                "ground_truth": question["ground_truth"],
                "response": row["response"],
            }
        )
    return rows


def measure(protocol: str, rows: list[dict[str, str]], way: Way) -> Measured:
    """One run in a workspace of its own."""
    with tempfile.TemporaryDirectory() as directory, serving(caches=way.caches) as address:
        here = Path(directory)
        (here / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        (here / "mixseek.toml").write_text(
            f'[judges.j]\nprovider = "openai"\nmodel = "mock"\nbase_url = "{address}/v1"\nprice_input = {_INPUT}\n'
            f"price_output = {_OUTPUT}\nprice_cached_input = {_CACHED}\nprice_batch = {_BATCH}\n"
        )
        batches = ("--batch", "--wait", "--poll", "0.2") if way.batches else ()
        words = ("judge", "rows.jsonl", "--protocol", protocol, "--judge", "j", "--run", "r", "--json", *batches)
        done = subprocess.run(
            [_MIXSEEK, *words],
            check=True,
            cwd=here,
            env=_environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        calls = json.loads(done.stdout)["calls"]["j"]
        with closing(HTTPConnection(address.removeprefix("http://"))) as connection:
            connection.request("GET", "/ledger")
            (bill,) = json.load(connection.getresponse())["billed"].values()
        journal = (here / ".mixseek" / "runs" / "r" / "journal.jsonl").read_text().splitlines()
    records = [json.loads(line) for line in journal]
    verdicts = sorted(f"{line['id']} {line['status']} {line['score']}" for line in records if line["t"] == "outcome")
    fresh = bill["input_tokens"] - bill["cached_tokens"]
    due = fresh * _INPUT + bill["cached_tokens"] * _CACHED + bill["output_tokens"] * _OUTPUT
    share = calls["cached_input_tokens"] / calls["input_tokens"]
    return Measured(calls["cost_usd"], due / 1e6 * (_BATCH if way.batches else 1), share, tuple(verdicts))


@contextmanager
def serving(*, caches: bool) -> Iterator[str]:
    """The provider's address for as long as the block lasts."""
    words = [_MIXSEEK, "serve-mock", "--port", "0", "--latency", "0", "--batches"]
    words += ["--prompt-cache"] if caches else []
    server = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        assert server.stdout is not None
        address = re.search(r"http://[\d.]+:\d+", server.stdout.readline())
        assert address is not None
        yield address[0]
    finally:
        server.terminate()
        server.wait()


def _environment() -> dict[str, str]:
    return {**os.environ, "OPENAI_API_KEY": "sk-no-key-of-anybody"}


if __name__ == "__main__":
    main()

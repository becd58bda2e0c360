"""Judging in batches from outside: the four wires of the loopback provider, and what a run and the provider hold."""

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.flows.live import CANARY, VERDICT_FIELDS
from tests.flows.loopback import Loopback
from tests.flows.running import mixseek_here, read_jsonl

from mixseek.storage.workspace_key import NONCE_KEY_FILE

WIRES = ("openai", "anthropic", "gemini", "mistral")
KEYS = {f"{name}_API_KEY": CANARY for name in ("OPENAI", "ANTHROPIC", "GEMINI", "MISTRAL")}
SEED = 1
# Of a million tokens: every bill can be reckoned up.
PRICES = {"price_input": 100.0, "price_output": 1000.0}


def spec_of(wire: str, server: Loopback) -> str:
    """The mock as a judge of that provider."""
    root = server.base_url.removesuffix("/v1")
    paths = {"openai": "/v1", "anthropic": "", "gemini": "/v1beta/openai", "mistral": "/v1"}
    return f"{wire}:mock@{root}{paths[wire]}"


def write_settings(path: Path, wire: str, server: Loopback, **settings: Any) -> None:
    """A judge called `j`, with prices."""
    spec = spec_of(wire, server)
    provider, _, rest = spec.partition(":")
    model, _, base_url = rest.partition("@")
    table = {"provider": provider, "model": model, "base_url": base_url, **PRICES, **settings}
    lines = [f"{name} = {json.dumps(value)}" for name, value in table.items()]
    path.write_text("\n".join(["[judges.j]", *lines]) + "\n")
    # The same nonces in every test run: the provider's faults strike the same requests.
    key = path.parent / "ws" / NONCE_KEY_FILE
    key.parent.mkdir(exist_ok=True)
    key.write_bytes(SEED.to_bytes(32, "big"))


def judge(
    data: Path, spec: str, *more: str | Path, cwd: Path, run: str = "r", keys: Mapping[str, str] = KEYS
) -> subprocess.CompletedProcess[str]:
    """One command; what other runs of the workspace have had is not used."""
    fixed = ["--judge", spec, "--workspace", "ws", "--run", run, "--json", "--no-cache"]
    return mixseek_here("judge", data, *fixed, *more, cwd=cwd, env=keys)


def verdicts(cwd: Path, run: str) -> list[dict[str, Any]]:
    """What was judged, without when and at what price."""
    out = cwd / f"{run}.jsonl"
    exported = mixseek_here("export", run, "--workspace", "ws", "--to", out, cwd=cwd)
    assert exported.returncode == 0, exported.stderr
    kept = [{field: row.get(field) for field in VERDICT_FIELDS if field != "judge"} for row in read_jsonl(out)]
    return sorted(kept, key=lambda row: str(row["id"]))


def ledger(cwd: Path, run: str = "r") -> list[dict[str, Any]]:
    """The events of the run's batches."""
    path = cwd / "ws" / "runs" / run / "batches.jsonl"
    return read_jsonl(path) if path.is_file() else []


def replies(cwd: Path, run: str = "r") -> list[dict[str, Any]]:
    """What the journal holds of replies."""
    lines = read_jsonl(cwd / "ws" / "runs" / run / "journal.jsonl")
    return [line for line in lines if line["t"] == "reply"]


def journal_bill(cwd: Path, run: str = "r") -> float:
    """US dollars that the run's account holds: of replies, and of what was billed without any."""
    lines = read_jsonl(cwd / "ws" / "runs" / run / "journal.jsonl")
    paid = sum(line["details"]["cost_usd"] for line in lines if line["t"] == "reply")
    lost = [line["lost_bill"]["cost_usd"] for line in lines if line["t"] == "outcome" and "lost_bill" in line]
    return float(paid + sum(lost))


def provider_bill(account: Mapping[str, Any], wire: str) -> float:
    """What the provider bills for its batches, at half the price of `write_settings`."""
    billed = account["billed"].get(f"{wire}-batch", {"input_tokens": 0, "output_tokens": 0})
    at_once = billed["input_tokens"] * PRICES["price_input"] + billed["output_tokens"] * PRICES["price_output"]
    return float(at_once / 2_000_000)

"""A fifth of all answers goes wrong, in every way: each sample ends valid or with the right flag, all are counted."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from tests.flows.live import (
    Exchange,
    by_question,
    call_faults,
    counts_of,
    export,
    journal_lines,
    judge,
    read_log,
    riddles,
    verdicts,
)
from tests.flows.loopback import loopback
from tests.flows.running import write_jsonl

from mixseek.testing.mock_replies import Fault
from mixseek.testing.mock_server import MockOptions

SAMPLES = 600
OPTIONS = MockOptions(latency_seconds=0.005, fault_rate=0.2, retry_after_seconds=0.05, drip_seconds=0.1, seed=3)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return write_jsonl(tmp_path / "data.jsonl", riddles(SAMPLES))


def check_row(row: dict[str, object], exchanges: list[Exchange]) -> None:
    """What became of a sample is what the endpoint last said about it."""
    last = exchanges[-1]
    assert last.has_reply, (row, exchanges)
    if last.flag is None:
        assert row["status"] == "valid", (row, exchanges)
        assert row["is_correct"] == last.is_correct
    else:
        assert row["status"] == "invalid", (row, exchanges)
        assert last.flag.value in json.dumps(row["flags"])


def test_with_every_fault_nothing_is_lost_doubled_or_misjudged(data: Path, tmp_path: Path) -> None:
    """By the endpoint's own log: every reply is in the journal, and every sample ends as its last reply says.

    A disturbed endpoint costs time, never a verdict: what ends valid is what an undisturbed run says.
    """
    log = tmp_path / "requests.log"
    with loopback(replace(OPTIONS, log=log)) as endpoint:
        done = judge(data, endpoint.spec, cwd=tmp_path)
        stats, port = endpoint.stats(), endpoint.server.port
    with loopback(MockOptions(seed=OPTIONS.seed), port=port) as calm_endpoint:
        calm = judge(data, calm_endpoint.spec, cwd=tmp_path, workspace="calm")
        assert calm_endpoint.stats()["requests"] == SAMPLES
    exchanges = read_log(log)
    asked = by_question(exchanges)
    rows = export(tmp_path)
    replies = journal_lines(tmp_path, "reply")

    assert done.returncode == 0, done.stderr
    assert set(stats["faults"]) == {fault.value for fault in Fault}
    assert [row["id"] for row in rows] == [f"riddle-{n}" for n in range(SAMPLES)]
    for row, riddle in zip(rows, riddles(SAMPLES), strict=True):
        check_row(row, asked[riddle["question"]])
    # Not one reply more or less than the endpoint gave, and every failed call was followed by another.
    assert len(replies) == sum(exchange.has_reply for exchange in exchanges)
    assert sum(reply["details"]["tries"] for reply in replies) == len(exchanges) == stats["requests"]
    assert len(exchanges) - len(replies) == call_faults(exchanges)
    account = json.loads(done.stdout)["calls"][endpoint.spec]
    assert account["tries"] == len(exchanges)
    assert account["calls"] == len(replies)
    assert account["reasks"] == len(replies) - SAMPLES
    assert counts_of(done)["valid"] + counts_of(done)["invalid"] == SAMPLES
    assert counts_of(done)["invalid"] == sum(asked[r["question"]][-1].flag is not None for r in riddles(SAMPLES))
    wanted = {row["id"]: row for row in verdicts(export(tmp_path, "calm"))}
    valid = [row for row in verdicts(rows) if row["status"] == "valid"]

    assert counts_of(calm) == {"valid": SAMPLES, "invalid": 0, "undecided": 0, "missing": 0}
    assert len(valid) > SAMPLES * 0.95
    assert valid == [wanted[row["id"]] for row in valid]

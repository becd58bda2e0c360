"""kill -9 at random moments of a run in batches, every fault planted: nothing lost, nothing paid for twice."""

import contextlib
import json
import random
import subprocess
from pathlib import Path

import pytest
from tests.flows.batches import KEYS, WIRES, journal_bill, judge, provider_bill, replies, verdicts, write_settings
from tests.flows.live import riddles
from tests.flows.loopback import loopback
from tests.flows.running import COMMAND, environment, write_jsonl

from mixseek.testing.batches.faults import BatchFault
from mixseek.testing.batches.jobs import BatchOptions
from mixseek.testing.mock_server import MockOptions

pytestmark = pytest.mark.thorough

ROWS, SIZE, KILLS, MOST_COMMANDS = 200, 44, 8, 20
WAIT = ("--batch", "--wait", "--poll", "0.3")


@pytest.mark.parametrize("wire", WIRES)
def test_kills_at_any_moment_lose_nothing_and_pay_nothing_twice(wire: str, tmp_path: Path) -> None:
    """Among them some between a creation and its answer: answers come late, or never."""
    data, moments = tmp_path / "riddles.jsonl", random.Random(f"kills of {wire}")
    write_jsonl(data, riddles(ROWS))
    batches = BatchOptions(seconds=0.5, faults=tuple(BatchFault), fault_rate=0.2)
    with loopback(MockOptions(retry_after_seconds=0.2, drip_seconds=1.0, batches=batches)) as server:
        write_settings(tmp_path / "mixseek.toml", wire, server, batch_requests=SIZE)
        fixed = ("--judge", "j", "--workspace", "ws", "--run", "r", "--json", "--no-cache")
        deaths, quiet = 0, subprocess.DEVNULL
        for _ in range(KILLS):
            words = [COMMAND, "judge", str(data), *fixed, *WAIT]
            process = subprocess.Popen(words, cwd=tmp_path, env=environment(**KEYS), stdout=quiet, stderr=quiet)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(moments.uniform(0.3, 4.0))
            deaths += process.poll() is None
            process.kill()
            process.wait()
        codes: list[int] = []
        while (not codes or codes[-1] == 4) and len(codes) < MOST_COMMANDS:
            codes.append(judge(data, "j", *WAIT, cwd=tmp_path).returncode)
        account = server.server.ledger.summary()
        assert judge(data, "j", cwd=tmp_path, run="live").returncode == 0

    assert codes[-1] == 0
    assert deaths > 0
    assert verdicts(tmp_path, "r") == verdicts(tmp_path, "live")
    assert len({json.dumps(reply["id"]) if "id" in reply else reply["key"] for reply in replies(tmp_path)}) == ROWS
    assert account["submitted_again_after_success"] == account["in_flight_twice"] == []
    assert account["strangers_cancelled"] == []
    assert journal_bill(tmp_path) == pytest.approx(provider_bill(account, wire), rel=0.001)

"""kill -9 at random moments of a run in batches, every fault planted: nothing lost, nothing paid for twice.

BATCH_KILLS_ROWS=5000 BATCH_KILLS=30 makes it 20,000 judgments in four wires; that takes ten minutes for each of them.
"""

import contextlib
import json
import os
import random
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.flows.batches import KEYS, WIRES, journal_bill, judge, provider_bill, replies, verdicts, write_settings
from tests.flows.live import riddles
from tests.flows.loopback import loopback
from tests.flows.running import COMMAND, environment, write_jsonl
from tests.waiting import PATIENCE_SECONDS

from mixseek.testing.batches.faults import BatchFault
from mixseek.testing.batches.jobs import BatchOptions
from mixseek.testing.batches.store import BatchStore, Creation
from mixseek.testing.mock_replies import Fault
from mixseek.testing.mock_server import MockOptions

ROWS = int(os.environ.get("BATCH_KILLS_ROWS", "200"))
KILLS = int(os.environ.get("BATCH_KILLS", "8"))
SIZE = max(44, ROWS // 100)
MOST_COMMANDS = 20

pytestmark = pytest.mark.thorough(seconds=480.0 + ROWS)

# A life is long enough to read the data, and to come further than the last one.
LONGEST_LIFE_SECONDS = 4.0 + ROWS / 1_000
# What is billed and cannot be read is known by the mean of the others.
PRECISION = 0.001
WAIT = ("--batch", "--wait", "--poll", "0.3")
INVALID = (Fault.PROSE, Fault.WRONG_SCHEMA)
# Often enough that each request has a valid reply in the end, at once and in batches.
REASKS = 6
# So large that each fault is drawn at least once.
IS_FULL = ROWS >= 5_000
STDERR = "stderr.txt"
FOUND = "was submitted before this command was started"


@dataclass
class Assassin:
    """Kills a process while a batch of it is being created: before the provider has it, or before it says so."""

    moments: random.Random
    victim: subprocess.Popen[bytes] | None = None
    is_late: bool = False
    # How often it struck, and how often there was a batch then that nobody was told of.
    strikes: int = 0
    unheard: int = 0

    def aim(self, victim: subprocess.Popen[bytes]) -> None:
        self.victim, self.is_late = victim, self.moments.random() < 0.7

    def install(self, monkeypatch: pytest.MonkeyPatch) -> None:
        create = BatchStore.create

        async def create_and_strike(store: BatchStore, wire: Any, draft: Any) -> Any:
            if not self.is_late:
                self.strike()
            creation = await create(store, wire, draft)
            if isinstance(creation, Creation) and self.strike():
                self.unheard += 1
            return creation

        monkeypatch.setattr(BatchStore, "create", create_and_strike)

    def strike(self) -> bool:
        victim, self.victim = self.victim, None
        if victim is None or victim.poll() is not None:
            return False
        victim.kill()
        self.strikes += 1
        return True


@pytest.mark.parametrize("wire", WIRES)
def test_kills_at_any_moment_lose_nothing_and_pay_nothing_twice(
    wire: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every third one strikes between a creation and its answer; answers come late, or never."""
    data, moments = tmp_path / "riddles.jsonl", random.Random(f"kills of {wire}")
    write_jsonl(data, riddles(ROWS))
    assassin = Assassin(moments)
    assassin.install(monkeypatch)
    batches = BatchOptions(seconds=0.5, faults=tuple(BatchFault), fault_rate=0.2)
    options = MockOptions(retry_after_seconds=0.2, drip_seconds=1.0, batches=batches, faults=INVALID, fault_rate=0.05)
    with loopback(options) as server:
        write_settings(tmp_path / "mixseek.toml", wire, server, batch_requests=SIZE, max_reasks=REASKS)
        deaths = found = 0
        for number in range(KILLS):
            with begun(data, tmp_path) as process:
                seconds = moments.uniform(0.3, LONGEST_LIFE_SECONDS)
                if number % 3 == 0:
                    assassin.aim(process)
                    # It dies when its next batch is made, however long that takes.
                    seconds = PATIENCE_SECONDS
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(seconds)
                process.kill()
            deaths += process.returncode < 0
            found += said(tmp_path).count(FOUND)
        assassin.victim = None
        codes: list[int] = []
        while (not codes or codes[-1] == 4) and len(codes) < MOST_COMMANDS:
            with begun(data, tmp_path) as process:
                codes.append(process.wait())
            found += said(tmp_path).count(FOUND)
        account = server.server.ledger.summary()
        assert judge(data, "j", cwd=tmp_path, run="live").returncode == 0

    came = replies(tmp_path)
    bills = {"account": journal_bill(tmp_path), "provider": provider_bill(account, wire)}
    counts = {"deaths": deaths, "between": assassin.strikes, "unheard": assassin.unheard, "found": found}
    print(json.dumps({"wire": wire, "replies": len(came), **counts, "commands": len(codes), **bills, **account}))
    assert codes[-1] == 0, said(tmp_path)
    assert deaths > assassin.strikes > 0
    assert verdicts(tmp_path, "r") == verdicts(tmp_path, "live")
    assert len({reply["key"] for reply in came}) == ROWS
    # Asked again are those whose reply was of no use, and no others.
    assert len({(reply["key"], reply["attempt"]) for reply in came}) == len(came) > ROWS
    assert account["submitted_again_after_success"] == account["in_flight_twice"] == []
    assert account["strangers_cancelled"] == []
    assert bills["account"] == pytest.approx(bills["provider"], rel=PRECISION)
    if IS_FULL:
        assert account["faults"].keys() == {fault.value for fault in BatchFault}
        assert found > 0


@contextlib.contextmanager
def begun(data: Path, cwd: Path) -> Iterator[subprocess.Popen[bytes]]:
    """The command in a process of its own; over when the block is."""
    fixed = ("--judge", "j", "--workspace", "ws", "--run", "r", "--json", "--no-cache")
    words, quiet = [COMMAND, "judge", str(data), *fixed, *WAIT], subprocess.DEVNULL
    with (
        (cwd / STDERR).open("wb") as stderr,
        subprocess.Popen(words, cwd=cwd, env=environment(**KEYS), stdout=quiet, stderr=stderr) as process,
    ):
        yield process


def said(cwd: Path) -> str:
    """What the latest command told a person."""
    return (cwd / STDERR).read_text()

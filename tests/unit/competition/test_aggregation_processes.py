"""Several writers, several processes, and a process that dies: nothing that was promised is lost."""

import asyncio
import signal
import subprocess
import sys
import threading
from pathlib import Path

import duckdb
import pytest
from tests.unit.competition.competitions import EXECUTION, begin, play

from mixseek.competition import sessions
from mixseek.competition.sessions import Patience
from mixseek.competition.store import AggregationStore
from mixseek.errors import BusyError

ROOT = Path(__file__).parents[3]
TEAMS = 20
ROUNDS = 2


def start(*arguments: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "tests.unit.competition.competitions", *arguments],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.thorough
def test_twenty_writers_and_a_second_process_that_reads_lose_nothing(tmp_path: Path) -> None:
    """The reader looks on all the while, in a process of its own, and sees everything in the end."""
    watcher = start("watch", str(tmp_path), str(TEAMS * ROUNDS))
    assert watcher.stdout is not None
    assert watcher.stdout.readline() == "watching\n"
    store = AggregationStore(tmp_path)

    async def compete() -> None:
        await begin(store)
        await asyncio.gather(*(team(f"team-{number:02}") for number in range(TEAMS)))

    async def team(name: str) -> None:
        for number in range(1, ROUNDS + 1):
            await play(store, name, number, float(number))

    asyncio.run(compete())
    output, errors = watcher.communicate(timeout=60)
    progress = asyncio.run(store.progress(EXECUTION))
    store.close()

    assert (output, errors) == (f"saw {TEAMS * ROUNDS}\n", "")
    assert {name: [entry.score for entry in team.rounds] for name, team in progress.items()} == {
        f"team-{number:02}": [1.0, 2.0] for number in range(TEAMS)
    }
    assert [len(team.rounds) for team in progress.values()] == [ROUNDS] * TEAMS


@pytest.mark.parametrize(
    "moment", [20, *(pytest.param(moment, marks=pytest.mark.thorough) for moment in range(21, 28))]
)
def test_what_was_promised_survives_kill_9(tmp_path: Path, moment: int) -> None:
    """A writer says each round after it was stored, and is killed before or after an operation of the store."""
    writer = start("write", str(tmp_path), str(moment))
    output, errors = writer.communicate(timeout=60)
    assert writer.returncode == -signal.SIGKILL, errors
    promised = len(output.split())
    assert promised > 0

    for read_only in (True, False):
        store = AggregationStore(tmp_path, read_only=read_only)
        rounds = asyncio.run(store.progress(EXECUTION))["a"].rounds
        store.close()
        assert [entry.round_number for entry in rounds] == list(range(1, len(rounds) + 1))
        # One more may have been stored without our having been told.
        assert len(rounds) in (promised, promised + 1)
        assert all(entry.decision for entry in rounds[:promised])


def test_two_stores_of_one_process_do_not_trip_over_each_other(tmp_path: Path) -> None:
    """A view may be open in the process that writes."""
    writer, reader = AggregationStore(tmp_path), AggregationStore(tmp_path, read_only=True)

    async def both() -> None:
        await begin(writer)
        await asyncio.gather(*(play(writer, f"t{number}", 1, 1.0) for number in range(10)), *looks())

    def looks() -> list["asyncio.Task[object]"]:
        async def look() -> object:
            return await reader.progress(EXECUTION)

        return [asyncio.ensure_future(look()) for _ in range(10)]

    asyncio.run(both())

    assert len(asyncio.run(reader.progress(EXECUTION))) == 10
    writer.close()
    reader.close()


def hold(path: Path) -> "subprocess.Popen[str]":
    """Another process, because locks belong to processes; it lets go when its stdin ends."""
    duckdb.connect(str(path)).close()
    script = "import duckdb, sys; c = duckdb.connect(sys.argv[1]); print('held', flush=True); sys.stdin.read()"
    holder = subprocess.Popen(
        [sys.executable, "-c", script, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    return holder


def test_whoever_may_wait_for_ever_waits_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader that keeps the file open for a minute does not end a race; a stop gives the clock its say again."""
    monkeypatch.setattr(sessions, "_FIRST_WORD_SECONDS", 0.2)
    holder = hold(tmp_path / "competitions.duckdb")
    told: list[str] = []
    stops = threading.Event()
    store = AggregationStore(
        tmp_path, patience=Patience(0.05, is_endless=lambda: not stops.is_set(), notify=told.append)
    )

    async def wait_long() -> bool:
        reading = asyncio.ensure_future(read(store))
        while not told and not reading.done():
            await asyncio.sleep(0.01)
        is_waiting = not reading.done()
        stops.set()
        with pytest.raises(BusyError):
            await reading
        stops.clear()
        reading = asyncio.ensure_future(read(store))
        await asyncio.to_thread(holder.communicate, "", timeout=30)
        return is_waiting and await reading == []

    assert asyncio.run(wait_long())
    assert "another process has it open; waiting for it to be closed (nothing is lost)" in told[0]
    store.close()


async def read(store: AggregationStore) -> list[object]:
    return list(await store.executions())


def test_a_file_that_stays_in_use_is_said_in_one_line(tmp_path: Path) -> None:
    """Exit code 4: the same command works later."""
    holder = hold(tmp_path / "competitions.duckdb")
    store = AggregationStore(tmp_path, patience=Patience(0.1))

    with pytest.raises(BusyError, match=r"in use by another process for more than 0.1 s; wait for it"):
        asyncio.run(store.executions())
    holder.communicate("", timeout=30)
    assert asyncio.run(store.executions()) == []
    store.close()

"""Group commit."""

import asyncio
from collections import Counter

import pytest
from tests.unit.engine.live_stubs import CountingProgress, MemoryJournal

from mixseek.engine.journaling import GATHER_LINES, MAX_WAITING_BYTES, GroupCommit
from mixseek.errors import StorageError


def test_what_was_committed_is_on_disk_when_it_returns() -> None:
    """And counted only then."""
    journal, progress = MemoryJournal(), CountingProgress()

    async def work() -> list[bytes]:
        commits = GroupCommit(journal, progress)
        commits.start()
        await commits.commit([b"a"], {"calls": 1})
        seen = list(journal.lines)
        await commits.close()
        return seen

    assert asyncio.run(work()) == [b"a"]
    assert progress.counts == {"calls": 1}


def test_what_was_kept_has_left_the_process_before_it_is_on_disk() -> None:
    """A kill right after cannot take it; and it is not counted yet."""
    journal, progress = MemoryJournal(), CountingProgress()

    async def work() -> tuple[list[bytes], int, Counter[str]]:
        commits = GroupCommit(journal, progress)
        commits.start()
        commits.add([b"a"])
        on_disk = commits.keep([b"b"], {"calls": 1})
        seen = list(journal.lines), journal.syncs, Counter(progress.counts)
        await on_disk
        await commits.close()
        return seen

    assert asyncio.run(work()) == ([b"a", b"b"], 0, Counter())
    assert journal.syncs == 1
    assert progress.counts == {"calls": 1}


def test_many_commits_share_one_sync() -> None:
    """A hundred replies that come together are one fsync, not a hundred."""
    journal = MemoryJournal()

    async def work() -> None:
        commits = GroupCommit(journal, CountingProgress())
        commits.start()
        await asyncio.gather(*(commits.commit([b"%d" % number]) for number in range(GATHER_LINES // 2)))
        await commits.close()

    asyncio.run(work())

    assert len(journal.lines) == GATHER_LINES // 2
    assert journal.syncs == 1


def test_lines_keep_the_order_of_adding_and_none_is_left_behind() -> None:
    """Closing writes what is still waiting."""
    journal = MemoryJournal()

    async def work() -> None:
        commits = GroupCommit(journal, CountingProgress())
        commits.start()
        for number in range(1_000):
            commits.add([b"%d" % number])
            await commits.make_room()
        await commits.close()

    asyncio.run(work())

    assert journal.lines == [b"%d" % number for number in range(1_000)]


@pytest.mark.parametrize("refuses", ["write", "sync"])
def test_a_disk_that_refuses_reaches_everybody_who_waits_and_everybody_after(refuses: str) -> None:
    """Nothing is claimed that is not on disk."""
    error = StorageError("disk full")
    journal = MemoryJournal(failure=error) if refuses == "write" else MemoryJournal(sync_failure=error)
    progress = CountingProgress()

    async def work() -> list[BaseException | None]:
        commits = GroupCommit(journal, progress)
        commits.start()
        waiting = await asyncio.gather(
            *(commits.commit([b"x"], {"calls": 1}) for _ in range(3)), return_exceptions=True
        )
        with pytest.raises(StorageError):
            commits.add([b"y"])
        with pytest.raises(StorageError):
            await commits.close()
        return waiting

    assert [str(error) for error in asyncio.run(work())] == ["disk full"] * 3
    assert not progress.counts


def test_counts_without_lines_are_told_too() -> None:
    """Even when they come while the last lines are being written."""
    journal, progress = MemoryJournal(), CountingProgress()

    async def work() -> None:
        commits = GroupCommit(journal, progress, gather_seconds=0.0)
        commits.start()
        for _ in range(50):
            await commits.commit([b"x"])
            commits.add((), {"samples": 1})
        await commits.close()

    asyncio.run(work())

    assert progress.counts["samples"] == 50


def test_whoever_writes_faster_than_the_disk_waits() -> None:
    """Counted in bytes: a line may be a whole batch."""
    journal = MemoryJournal()

    async def work() -> int:
        commits = GroupCommit(journal, CountingProgress())
        commits.start()
        for _ in range(20):
            commits.add([b"x" * MAX_WAITING_BYTES])
            await commits.make_room()
        syncs = journal.syncs
        await commits.close()
        return syncs

    assert asyncio.run(work()) == 20


def test_replies_of_a_group_are_read_in_turns() -> None:
    """Sockets have their turn in between: the next requests do not wait for fifty replies to be read."""
    journal = MemoryJournal()

    async def work() -> tuple[int, int]:
        commits = GroupCommit(journal, CountingProgress())
        commits.start()
        turns: list[int] = []
        turn = 0

        async def read(number: int) -> None:
            await commits.commit([b"%d" % number])
            turns.append(turn)

        readers = asyncio.gather(*(read(number) for number in range(50)))
        while not readers.done():
            await asyncio.sleep(0)
            turn += 1
        await commits.close()
        return len(turns), len(set(turns))

    read, turns = asyncio.run(work())

    assert read == 50
    assert turns >= 15
    assert journal.syncs == 1


def test_one_who_stops_waiting_takes_nobody_along() -> None:
    """Everybody waits for the same sync, and each for himself."""

    async def work() -> list[object]:
        commits = GroupCommit(MemoryJournal(), CountingProgress())
        commits.start()
        waiting = [asyncio.create_task(commits.commit([b"%d" % number])) for number in range(3)]
        await asyncio.sleep(0)
        waiting[1].cancel()
        ends = await asyncio.gather(*waiting, return_exceptions=True)
        await commits.close()
        return [type(end) for end in ends]

    assert asyncio.run(work()) == [type(None), asyncio.CancelledError, type(None)]

"""The reply cache gives back exactly what it was given, and whatever befalls its file is a warning, not a failure."""

import hashlib
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mixseek.domain.judgments import Reply
from mixseek.engine.replies import ReplyCache
from mixseek.storage.reply_cache import ReplyCacheFile, encode_cached, parts_of

NOW = datetime(2026, 3, 1, 9, 12, tzinfo=UTC)
DETAILS = {
    "take": 1,
    "ask": 1,
    "usage": {"input_tokens": 812, "output_tokens": 77, "cached_input_tokens": None},
    "latency_seconds": 0.25,
    "finish_reason": "stop",
    "model": "model-x-2026-01-01",
    "cost_usd": 0.000357,
}
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
# Every code unit, unpaired surrogates included.
ANY_TEXT = st.text(st.characters(codec=None, exclude_categories=()))


def key_of(number: int) -> bytes:
    return hashlib.sha256(str(number).encode()).digest()


def reply_of(number: int) -> Reply:
    return Reply(f'{{"id": "s{number}"}}', "judge-x", 2, DETAILS)


def replies_of(numbers: range) -> dict[bytes, Reply]:
    return {key_of(number): reply_of(number) for number in numbers}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "replies.sqlite"


@pytest.fixture
def cache(path: Path) -> Iterator[ReplyCacheFile]:
    with ReplyCacheFile(path, lambda: NOW) as opened:
        yield opened


def reopened(path: Path) -> ReplyCacheFile:
    return ReplyCacheFile(path, lambda: NOW)


def test_what_was_put_is_found_and_nothing_else(cache: ReplyCacheFile) -> None:
    cache.put_many(replies_of(range(3)))

    found = cache.get_many([key_of(1), key_of(7), key_of(2)])

    assert found == {key_of(number): reply_of(number) for number in (1, 2)}
    assert cache.warnings == ()


def test_the_engine_can_use_it(cache: ReplyCacheFile) -> None:
    """Checked by mypy: the port is what the engine knows."""
    port: ReplyCache = cache

    assert port.get_many([key_of(1)]) == {}


def test_an_empty_request_is_an_empty_answer(cache: ReplyCacheFile) -> None:
    cache.put_many({})

    assert cache.get_many([]) == {}


@settings(max_examples=15)
@given(
    replies=st.dictionaries(
        st.binary(min_size=32, max_size=32), st.tuples(ANY_TEXT, st.dictionaries(st.text(), JSON_VALUES))
    )
)
def test_every_text_and_every_detail_comes_back_to_the_letter(
    tmp_path_factory: pytest.TempPathFactory, replies: dict[bytes, tuple[str, dict[str, object]]]
) -> None:
    """Lone surrogates and huge integers included."""
    path = tmp_path_factory.mktemp("cache") / "replies.sqlite"
    with reopened(path) as writer:
        writer.put_many({key: Reply(text, "j", 1, details) for key, (text, details) in replies.items()})

    with reopened(path) as reader:
        found = reader.get_many(list(replies))

    assert {key: (reply.text, reply.details) for key, reply in found.items()} == replies


def test_the_newest_reply_to_a_request_stays(path: Path) -> None:
    with ReplyCacheFile(path, lambda: NOW) as cache:
        cache.put_many({key_of(1): Reply("old", "j")})
    with ReplyCacheFile(path, lambda: NOW) as cache:
        cache.put_many({key_of(1): Reply("new", "j")})

        assert cache.get_many([key_of(1)]) == {key_of(1): Reply("new", "j")}
        assert cache.size().replies == 1


def test_a_big_batch_is_one_call(cache: ReplyCacheFile) -> None:
    """Far more keys than one statement takes; the floor is a tenth of what an idle core does."""
    keys = [key_of(number) for number in range(20_000)]
    cache.put_many(replies_of(range(20_000)))

    started = time.process_time()
    found = cache.get_many(keys)
    seconds = time.process_time() - started

    assert found.keys() == set(keys)
    assert len(keys) / seconds > 10_000


def test_two_processes_share_one_cache(path: Path) -> None:
    """Both create it, write at the same time, and see what the other wrote."""
    script = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from mixseek.domain.judgments import Reply
from mixseek.storage.reply_cache import ReplyCacheFile
first = int(sys.argv[2])
with ReplyCacheFile(Path(sys.argv[1]), lambda: datetime.now(UTC)) as cache:
    for start in range(first, first + 1_000, 20):
        cache.put_many({n.to_bytes(32, "big"): Reply(str(n), "j") for n in range(start, start + 20)})
        assert len(cache.get_many([n.to_bytes(32, "big") for n in range(start, start + 20)])) == 20
    print(len(cache.warnings))
"""
    writers = [
        subprocess.Popen([sys.executable, "-c", script, str(path), str(first)], stdout=subprocess.PIPE, text=True)
        for first in (0, 500, 2_000)
    ]
    said = [writer.communicate(timeout=60)[0].strip() for writer in writers]

    with reopened(path) as cache:
        found = cache.get_many([number.to_bytes(32, "big") for number in range(3_000)])
    assert said == ["0", "0", "0"]
    assert sorted(int(reply.text) for reply in found.values()) == [*range(1_500), *range(2_000, 3_000)]


def test_threads_take_turns(cache: ReplyCacheFile) -> None:
    def write(first: int) -> None:
        for number in range(first, first + 50):
            cache.put_many(replies_of(range(number, number + 1)))

    threads = [threading.Thread(target=write, args=(first,)) for first in (0, 50, 100)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(cache.get_many([key_of(number) for number in range(150)])) == 150


def test_a_killed_writer_leaves_its_last_batch_whole_or_absent(path: Path) -> None:
    script = """
import os, sys
from datetime import UTC, datetime
from pathlib import Path
from mixseek.domain.judgments import Reply
from mixseek.storage.reply_cache import ReplyCacheFile
cache = ReplyCacheFile(Path(sys.argv[1]), lambda: datetime.now(UTC))
for start in range(0, 100, 10):
    cache.put_many({n.to_bytes(32, "big"): Reply("x" * 5_000, "j") for n in range(start, start + 10)})
os.kill(os.getpid(), 9)
"""
    subprocess.run([sys.executable, "-c", script, str(path)], check=False, timeout=60)

    with reopened(path) as cache:
        assert len(cache.get_many([number.to_bytes(32, "big") for number in range(100)])) == 100
        assert cache.warnings == ()


@pytest.mark.parametrize("content", [b"no database at all\n" * 100, b"SQLite format 3\0" + b"\xff" * 5_000])
def test_a_file_that_is_no_cache_is_set_aside(path: Path, content: bytes) -> None:
    path.write_bytes(content)

    with reopened(path) as cache:
        cache.put_many(replies_of(range(2)))

        assert len(cache.get_many([key_of(0), key_of(1)])) == 2
    assert path.with_name("replies.damaged.sqlite").read_bytes() == content
    assert len(cache.warnings) == 1
    assert "is damaged" in cache.warnings[0]
    assert "set aside as replies.damaged.sqlite" in cache.warnings[0]


def test_a_cache_of_another_version_is_set_aside(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE replies (something TEXT)")
        connection.execute("PRAGMA user_version = 99")
    connection.close()

    with reopened(path) as cache:
        cache.put_many(replies_of(range(1)))

        assert cache.size().replies == 1
    assert "of another version (99, expected 1)" in cache.warnings[0]


def test_a_database_of_somebody_else_is_set_aside(path: Path) -> None:
    """The right number by chance, but none of our tables."""
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE other (thing)")
        connection.execute("PRAGMA user_version = 1")
    connection.close()

    with reopened(path) as cache:
        assert cache.get_many([key_of(1)]) == {}
        cache.put_many(replies_of(range(1)))
        assert cache.size().replies == 1
    assert len(cache.warnings) == 1


@pytest.mark.parametrize("where", [0.1, 0.5, 0.9])
def test_damage_in_the_middle_costs_replies_and_not_the_run(path: Path, where: float) -> None:
    with reopened(path) as cache:
        cache.put_many(replies_of(range(500)))
    data = bytearray(path.read_bytes())
    start = int(len(data) * where)
    data[start : start + 20_000] = b"\xa5" * len(data[start : start + 20_000])
    path.write_bytes(data)

    with reopened(path) as cache:
        found = cache.get_many([key_of(number) for number in range(500)])
        cache.put_many(replies_of(range(500)))
        again = cache.get_many([key_of(number) for number in range(500)])

    assert all(reply.details == DETAILS for reply in found.values())
    assert len(again) == 500 or cache.warnings


@pytest.mark.parametrize("value", [b"", b"[]", b"{}", b'{"text": 1', b"\xff"])
def test_a_value_that_is_none_of_ours_is_not_trusted(path: Path, cache: ReplyCacheFile, value: bytes) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("INSERT INTO replies (key, value, stored_at) VALUES (?, ?, 0)", (key_of(1), value))
    connection.close()

    assert cache.get_many([key_of(1)]) == {}


def test_a_place_that_cannot_be_opened_is_said_once(tmp_path: Path) -> None:
    """A directory of that name, or a workspace that is not there: the run goes on without a cache."""
    with reopened(tmp_path) as cache:
        cache.put_many(replies_of(range(1)))

        assert cache.get_many([key_of(0)]) == {}
        assert cache.prune(keep_bytes=0) == 0
        assert cache.size().replies == 0
    assert len(cache.warnings) == 1
    assert "cannot be opened" in cache.warnings[0]


def test_a_full_disk_is_said_once_and_what_is_there_stays_readable(path: Path, cache: ReplyCacheFile) -> None:
    cache.put_many(replies_of(range(10)))
    assert cache._connection is not None
    cache._connection.execute("PRAGMA max_page_count = 8")

    for start in (10, 2_000):
        cache.put_many(replies_of(range(start, start + 1_000)))

    assert len(cache.get_many([key_of(number) for number in range(20)])) == 10
    assert cache.warnings == (
        f"{path}: the reply cache cannot be written (database or disk is full); going on without it",
    )


def test_a_closed_cache_answers_like_an_empty_one(cache: ReplyCacheFile) -> None:
    cache.put_many(replies_of(range(1)))
    cache.close()

    assert cache.get_many([key_of(0)]) == {}


def test_pruning_by_time_keeps_what_is_newer(path: Path) -> None:
    moments = iter([NOW, NOW + timedelta(hours=1)])
    with ReplyCacheFile(path, lambda: next(moments)) as cache:
        cache.put_many(replies_of(range(5)))
        cache.put_many(replies_of(range(5, 8)))

        assert cache.prune(before=NOW + timedelta(minutes=1)) == 5
        assert cache.get_many([key_of(number) for number in range(8)]).keys() == replies_of(range(5, 8)).keys()


@pytest.mark.parametrize(("kept", "dropped"), [(0, 10), (3, 7), (10, 0), (99, 0)])
def test_pruning_by_size_drops_the_oldest(cache: ReplyCacheFile, kept: int, dropped: int) -> None:
    cache.put_many(replies_of(range(10)))
    each = len(encode_cached(reply_of(1)))

    assert cache.prune(keep_bytes=kept * each) == dropped
    assert cache.get_many([key_of(number) for number in range(10)]).keys() == replies_of(range(dropped, 10)).keys()


def test_pruning_gives_the_disk_back(path: Path, cache: ReplyCacheFile) -> None:
    cache.put_many(replies_of(range(5_000)))
    before = cache.size().file_bytes

    cache.prune(keep_bytes=0)

    assert cache.size().file_bytes < before / 10
    assert cache.size().replies == 0


def test_closing_leaves_one_file(path: Path) -> None:
    with reopened(path) as cache:
        cache.put_many(replies_of(range(5)))

    assert parts_of(path) == [path]

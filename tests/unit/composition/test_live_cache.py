"""What the workspace remembers of replies, and of what was made of them."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from mixseek.composition import live_cache
from mixseek.composition.live_cache import (
    BufferedCache,
    decode_settled,
    digest_files,
    digest_reading,
    encode_settled,
)
from mixseek.domain.judgments import Reply, Status
from mixseek.engine.caching import Settled
from mixseek.storage.reply_cache import ReplyCacheFile

SETTLED = Settled(Status.VALID, b',"attempt":1}\n', b',"status":"valid"}\n')
KEY = b"k" * 32


def open_file(tmp_path: Path) -> ReplyCacheFile:
    return ReplyCacheFile(tmp_path / "replies.sqlite", lambda: datetime.now(UTC))


@pytest.mark.parametrize("status", Status)
def test_settled_lines_come_back_as_they_went(status: Status) -> None:
    """Every status."""
    settled = Settled(status, SETTLED.reply, SETTLED.outcome)

    assert decode_settled(encode_settled(settled)) == settled


def test_what_was_noted_is_found_by_the_next_run(tmp_path: Path) -> None:
    """After a flush, through another connection."""
    with open_file(tmp_path) as file:
        cache = BufferedCache(file, "protocol")
        cache.put_many({KEY: Reply("x", "j")})
        cache.note("j", KEY, SETTLED)
        cache.flush()
    with open_file(tmp_path) as file:
        found = BufferedCache(file, "protocol").find("j", [KEY, b"other"])

    assert found == {KEY: SETTLED}


def test_another_protocol_judge_or_reading_finds_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A changed parser never serves what the old one said; the reply is still there."""
    with open_file(tmp_path) as file:
        cache = BufferedCache(file, "protocol")
        cache.put_many({KEY: Reply("x", "j")})
        cache.note("j", KEY, SETTLED)
        cache.flush()

        assert not BufferedCache(file, "another protocol").find("j", [KEY])
        assert not BufferedCache(file, "protocol").find("another judge", [KEY])
        monkeypatch.setattr(live_cache, "digest_reading", lambda: "changed rules")
        changed = BufferedCache(file, "protocol")
        assert not changed.find("j", [KEY])
        assert changed.get_many([KEY])[KEY].text == "x"
        changed.note("j", KEY, SETTLED)
        changed.flush()
        assert changed.find("j", [KEY]) == {KEY: SETTLED}


def test_what_is_pruned_takes_what_was_made_of_it_along(tmp_path: Path) -> None:
    """Nothing is settled by a reply that is gone."""
    with open_file(tmp_path) as file:
        cache = BufferedCache(file, "protocol")
        cache.put_many({KEY: Reply("x", "j")})
        cache.note("j", KEY, SETTLED)
        cache.flush()
        file.prune(keep_bytes=0)

        assert not cache.find("j", [KEY])


def test_the_reading_is_named_by_its_sources(tmp_path: Path) -> None:
    """By every file and its name, and by no byte code."""
    assert len(digest_reading()) == 64
    for name in ("rules/deep/a.py", "rules/table.toml", "alone.py", "elsewhere/b.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("1")
    names = ("rules", "alone.py")
    before = digest_files(tmp_path, names)

    (tmp_path / "rules" / "a.cpython-311.pyc").write_text("2")
    (tmp_path / "elsewhere" / "b.py").write_text("2")
    assert digest_files(tmp_path, names) == before
    for name in ("rules/deep/a.py", "rules/table.toml", "alone.py"):
        (tmp_path / name).write_text("2")
        assert digest_files(tmp_path, names) != before
        (tmp_path / name).write_text("1")
    assert digest_files(tmp_path, names) == before

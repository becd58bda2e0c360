"""The workspace's own secret."""

import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from mixseek.errors import StorageError
from mixseek.storage.workspace_key import NONCE_KEY_FILE, key_id, workspace_key


def test_a_workspace_keeps_its_key_and_nobody_else_may_read_it(tmp_path: Path) -> None:
    """The same nonces in every run, unknown to whoever wrote the judged text."""
    first = workspace_key(tmp_path / "ws")

    assert workspace_key(tmp_path / "ws") == first
    assert len(first) == 32
    assert stat.S_IMODE((tmp_path / "ws" / NONCE_KEY_FILE).stat().st_mode) == 0o600
    assert [path.name for path in (tmp_path / "ws").iterdir()] == [NONCE_KEY_FILE]


def test_two_workspaces_have_two_keys_and_two_names_for_them(tmp_path: Path) -> None:
    """The name does not tell the key."""
    first, second = workspace_key(tmp_path / "a"), workspace_key(tmp_path / "b")

    assert first != second
    assert key_id(first) != key_id(second)
    assert key_id(first) not in first.hex()


def test_a_cut_key_is_refused(tmp_path: Path) -> None:
    """Its nonces could be guessed."""
    (tmp_path / NONCE_KEY_FILE).write_bytes(b"short")

    with pytest.raises(StorageError, match="5 bytes, expected 32"):
        workspace_key(tmp_path)


def test_those_who_begin_together_agree(tmp_path: Path) -> None:
    """The first one's key stays."""
    with ThreadPoolExecutor(8) as pool:
        keys = set(pool.map(lambda _: workspace_key(tmp_path), range(8)))

    assert len(keys) == 1

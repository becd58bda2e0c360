"""The workspace's own secret: nonces made from it can be repeated here and guessed nowhere."""

import contextlib
import hashlib
import os
import secrets
from pathlib import Path

from mixseek.errors import StorageError
from mixseek.storage.durable import storage_error

NONCE_KEY_FILE = "nonce.key"
_KEY_BYTES = 32


def workspace_key(root: Path) -> bytes:
    """The key of this workspace, made at the first asking; nobody else may read the file."""
    path = root / NONCE_KEY_FILE
    try:
        with contextlib.suppress(FileNotFoundError):
            return checked_key(path, path.read_bytes())
        root.mkdir(parents=True, exist_ok=True)
        fresh = root / f"{NONCE_KEY_FILE}.{os.getpid()}"
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(secrets.token_bytes(_KEY_BYTES))
            stream.flush()
            os.fsync(stream.fileno())
        # A link, not a rename: of two processes that begin together, the first one's key stays.
        with contextlib.suppress(FileExistsError):
            os.link(fresh, path)
        fresh.unlink()
        return checked_key(path, path.read_bytes())
    except OSError as error:
        raise storage_error("keep the workspace's key", path, error) from error


def checked_key(path: Path, key: bytes) -> bytes:
    """A cut file would make nonces that can be guessed."""
    if len(key) != _KEY_BYTES:
        raise StorageError(f"{path}: {len(key)} bytes, expected {_KEY_BYTES}; remove it to get a new one")
    return key


def key_id(key: bytes) -> str:
    """Names the key without telling it."""
    return hashlib.sha256(b"key id\x00" + key).hexdigest()[:16]

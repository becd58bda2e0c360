"""The workspace's own secret: what is made from it can be repeated here, and guessed or forged nowhere else."""

import contextlib
import hashlib
import os
import secrets
import threading
from pathlib import Path

from mixseek.errors import StorageError
from mixseek.storage.durable import storage_error

NONCE_KEY_FILE = "nonce.key"
_KEY_BYTES = 32


def workspace_key(root: Path) -> bytes:
    """The key of this workspace, made at the first asking; nobody else may read the file."""
    path = root / NONCE_KEY_FILE
    try:
        if not path.exists():
            root.mkdir(parents=True, exist_ok=True)
            # Threads too: a viewer may make two indexes at once.
            fresh = root / f"{NONCE_KEY_FILE}.{os.getpid()}-{threading.get_ident()}"
            descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(descriptor, "wb") as stream:
                stream.write(secrets.token_bytes(_KEY_BYTES))
                stream.flush()
                os.fsync(stream.fileno())
            # A link, not a rename: of two processes that begin together, the first one's key stays.
            with contextlib.suppress(FileExistsError):
                os.link(fresh, path)
            fresh.unlink()
        key = path.read_bytes()
    except OSError as error:
        raise storage_error("keep the workspace's key", path, error) from error
    # A cut file would make nonces that can be guessed.
    if len(key) != _KEY_BYTES:
        raise StorageError(f"{path}: {len(key)} bytes, expected {_KEY_BYTES}; remove it to get a new one")
    return key


def find_workspace_key(root: Path) -> bytes | None:
    """None where there is none yet, or none that this user may read: then nothing here was sealed for us."""
    return workspace_key(root) if os.access(root / NONCE_KEY_FILE, os.R_OK) else None


def key_id(key: bytes) -> str:
    """Names the key without telling it."""
    return hashlib.sha256(b"key id\x00" + key).hexdigest()[:16]

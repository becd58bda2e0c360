"""What comes once as a file, so that it can be read twice and resumed."""

import contextlib
import hashlib
import os
import sys
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

from mixseek.errors import DatasetError
from mixseek.storage.durable import storage_error

CHUNK_BYTES = 1 << 20


def spool_stdin(directory: Path, stream: BinaryIO | None = None) -> Path:
    """The path of a copy, named by its content: the same input piped in again is the same file, and the same run."""
    stream = sys.stdin.buffer if stream is None else stream
    if stream.isatty():
        raise DatasetError("-: nothing is piped in; use it as `… | mixseek judge -`, or name a file")
    return keep_copy(directory, "stdin", iter(lambda: stream.read(CHUNK_BYTES), b""))


def keep_copy(directory: Path, kind: str, chunks: Iterable[bytes]) -> Path:
    """The path of a copy of JSON lines, named by its content."""
    digest = hashlib.sha256()
    temporary = directory / f".{kind}.{os.getpid()}-{threading.get_ident()}.tmp"
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with temporary.open("wb") as spooled:
            for chunk in chunks:
                digest.update(chunk)
                spooled.write(chunk)
        target = directory / f"{kind}-{digest.hexdigest()[:16]}.jsonl"
        temporary.replace(target)
    except OSError as error:
        raise storage_error(f"keep a copy of {kind}", directory, error) from error
    finally:
        # What kept it from being written keeps it from being removed, and has been told.
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
    return target

"""Stdin as a file, so that it can be read twice and resumed."""

import hashlib
import os
import sys
from pathlib import Path
from typing import BinaryIO

from mixseek.errors import DatasetError
from mixseek.storage.durable import storage_error

_CHUNK_BYTES = 1 << 20


def spool_stdin(directory: Path, stream: BinaryIO | None = None) -> Path:
    """The path of a copy, named by its content: the same input piped in again is the same file, and the same run."""
    stream = sys.stdin.buffer if stream is None else stream
    if stream.isatty():
        raise DatasetError("-: nothing is piped in; use it as `… | mixseek judge -`, or name a file")
    digest = hashlib.sha256()
    temporary = directory / f".stdin.{os.getpid()}.tmp"
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with temporary.open("wb") as spooled:
            while chunk := stream.read(_CHUNK_BYTES):
                digest.update(chunk)
                spooled.write(chunk)
        target = directory / f"stdin-{digest.hexdigest()[:16]}.jsonl"
        temporary.replace(target)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise storage_error("keep a copy of stdin", directory, error) from error
    return target

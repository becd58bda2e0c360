"""Whether a file that was made from a journal is one that we made: keyed digests under the workspace's own secret.

Such files are caches: what is not ours is not believed, not repaired and not refused, but made anew from the journal.
A seal stands at the end of the file that it vouches for, so both are put in place in one step.
"""

import contextlib
import hashlib
import hmac
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from mixseek.lazy_dataclass import dataclass

_MAGIC = b"mixseek1"
_DIGEST_BYTES = 32
_LENGTH_BYTES = 8
_END_BYTES = _LENGTH_BYTES + _DIGEST_BYTES + len(_MAGIC)
_MOST_FACT_BYTES = 1 << 20
_BLOCK_BYTES = 1 << 20
_INDEX = b"index"


@dataclass(frozen=True, slots=True)
class FileIdentity:
    """A file as it was at a moment: whatever is done to it, or put in its place, has another one.

    The time of the last change of the inode cannot be set by whoever writes to the file; a rename moves it, too.
    """

    device: int
    inode: int
    size_bytes: int
    modified_ns: int
    changed_ns: int


@dataclass(frozen=True, slots=True)
class SealedFile:
    """What a seal says beside that the content is ours; `is_copied` where it was made as another file than this."""

    facts: Mapping[str, Any]
    content_bytes: int
    identity: FileIdentity
    is_copied: bool


# By path. To read a file of 100 MB again for every question would take a tenth of a second each time.
_known: dict[str, tuple[bytes, SealedFile]] = {}


def identify(status: os.stat_result) -> FileIdentity:
    return FileIdentity(status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


def keyed_digest(key: bytes, purpose: bytes) -> hashlib.blake2b:
    """The digest for one kind of file: what is sealed as one thing is not taken for another."""
    return hashlib.blake2b(key=key, digest_size=_DIGEST_BYTES, person=purpose)


def digest_with_key(path: Path, key: bytes, purpose: bytes) -> str:
    """The digest of a whole file, for whoever keeps it elsewhere than in the file."""
    with path.open("rb") as file:
        return _digest_start(file, key, purpose, os.fstat(file.fileno()).st_size).hexdigest()


def seal_text(key: bytes, purpose: bytes, text: bytes) -> str:
    """The seal for small files that hold their seal in a field."""
    digest = keyed_digest(key, purpose)
    digest.update(text)
    return digest.hexdigest()


def seal_file(path: Path, key: bytes, facts: Mapping[str, Any]) -> SealedFile:
    """Append the seal. A file that is copied elsewhere does not take it along: its inode is part of it."""
    with path.open("r+b") as file:
        content_bytes = file.seek(0, os.SEEK_END)
        stated = orjson.dumps({**facts, "inode": os.fstat(file.fileno()).st_ino})
        stated += len(stated).to_bytes(_LENGTH_BYTES, "little")
        digest = _digest_start(file, key, _INDEX, content_bytes)
        digest.update(stated)
        file.write(stated + digest.digest() + _MAGIC)
        file.flush()
        return SealedFile(dict(facts), content_bytes, identify(os.fstat(file.fileno())), is_copied=False)


def remember_seal(path: Path, key: bytes, sealed: SealedFile) -> None:
    """A file that was sealed here a moment ago and moved to `path` need not be read again to be believed."""
    with contextlib.suppress(OSError):
        identity = identify(path.stat())
        # Moving it has changed one of its times, and nothing else.
        if replace(identity, changed_ns=sealed.identity.changed_ns) == sealed.identity:
            _known[os.path.realpath(path)] = key, replace(sealed, identity=identity)


def read_seal(path: Path, key: bytes) -> SealedFile | None:
    """None where there is no file, no seal, or one that does not belong to the content and the key.

    The content is read once in this process; as long as the file is the same one, it is not read again.
    """
    name = os.path.realpath(path)
    try:
        with path.open("rb") as file:
            identity = identify(os.fstat(file.fileno()))
            if (known := _known.get(name)) is not None and (known[0], known[1].identity) == (key, identity):
                return known[1]
            sealed = _check(file, key, identity)
            # Written to while it was read: what was found is of no moment that there was.
            if identify(os.fstat(file.fileno())) != identity:
                return None
    except OSError:
        return None
    if sealed is not None:
        _known[name] = key, sealed
    return sealed


def has_seal(path: Path) -> bool:
    """Whether it ends as a sealed file does, whosever the seal is."""
    try:
        with path.open("rb") as file:
            file.seek(-len(_MAGIC), os.SEEK_END)
            return file.read() == _MAGIC
    except OSError:
        return False


def is_same_file(path: Path, identity: FileIdentity) -> bool:
    """Whether what stands at that place is what was looked at, untouched."""
    try:
        return identify(path.stat()) == identity
    except OSError:
        return False


def _check(file: BinaryIO, key: bytes, identity: FileIdentity) -> SealedFile | None:
    end = identity.size_bytes - _END_BYTES
    if end < 0:
        return None
    file.seek(end)
    length = int.from_bytes(file.read(_LENGTH_BYTES), "little")
    expected, magic = file.read(_DIGEST_BYTES), file.read(len(_MAGIC))
    if magic != _MAGIC or length > min(end, _MOST_FACT_BYTES):
        return None
    digest = _digest_start(file, key, _INDEX, end + _LENGTH_BYTES)
    if not hmac.compare_digest(digest.digest(), expected):
        return None
    file.seek(end - length)
    facts = orjson.loads(file.read(length))
    return SealedFile(facts, end - length, identity, facts.pop("inode") != identity.inode)


def _digest_start(file: BinaryIO, key: bytes, purpose: bytes, length_bytes: int) -> hashlib.blake2b:
    digest = keyed_digest(key, purpose)
    file.seek(0)
    left = length_bytes
    while left and (data := file.read(min(left, _BLOCK_BYTES))):
        digest.update(data)
        left -= len(data)
    return digest

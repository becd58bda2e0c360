"""The append-only truth of a run: what was appended is on disk, and a torn end is cut before anything is added."""

import contextlib
import hashlib
import math
import os
import sys
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from io import FileIO
from pathlib import Path
from shlex import quote
from typing import BinaryIO, NamedTuple, Self

from mixseek.domain.judgments import Missing
from mixseek.errors import DamagedError
from mixseek.lazy_dataclass import dataclass
from mixseek.storage.durable import storage_error, sync_directory
from mixseek.storage.journal.lock import acquire_lock, held
from mixseek.storage.journal.manifest import JournalSeal, Manifest, RunStatus, read_manifest
from mixseek.storage.journal.records import OutcomeRecord, Record, SampleRecord, decode_line, decode_record
from mixseek.storage.workspace import SHARDS, RunDirectory, list_first

if sys.platform != "win32":
    pass
_BLOCK_BYTES = 1 << 18
# The manifest of a run in progress lags behind its journal by this much at most, while lines are written.
SEAL_EVERY_SECONDS = 1.0
_WHAT_TO_DO = (
    "restore it from a copy, or judge again under another --run (replies in the cache are not asked for twice); "
    "to go on with what is left, take `journal` out of {manifest}"
)


class _Extent(NamedTuple):
    """A length and the digest of so many bytes; the digest is never changed once it is here."""

    length_bytes: int
    digest: hashlib.blake2b
    crc32: int

    def followed_by(self, data: bytes) -> "_Extent":
        digest = self.digest.copy()
        digest.update(data)
        return _Extent(self.length_bytes + len(data), digest, zlib.crc32(data, self.crc32))

    @property
    def seal(self) -> JournalSeal:
        return JournalSeal(bytes=self.length_bytes, blake2b=self.digest.hexdigest(), crc32=self.crc32)


@dataclass(frozen=True, slots=True)
class VerifiedStart:
    """How much of a journal a reader has held against its seal: what comes after is all that it reads next time."""

    length_bytes: int
    crc32: int


class JournalFile:
    """The Journal port over a file, its only writer; `keep_seal` is told about once a second what is on disk."""

    def __init__(
        self,
        path: Path,
        keep_seal: Callable[[JournalSeal], None] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.path = path
        self._keep_seal = keep_seal
        self._clock = clock
        self._sealed_at = -math.inf
        self._lock_name = os.path.realpath(path.with_suffix(".lock"))
        self._lock = acquire_lock(path.with_suffix(".lock"))
        try:
            # Unbuffered: a write that returned has left the process.
            self._file = path.open("a+b", buffering=0)
        except OSError as error:
            self._release()
            raise storage_error("open the journal", path, error) from error
        try:
            sync_directory(path.parent)
            # What an earlier process had begun to write and never counted.
            self._synced = self._written = measure_start(self._file, cut_torn_end(self._file))
        except OSError as error:
            self.close()
            raise storage_error("repair the end of the journal", path, error) from error

    @property
    def length_bytes(self) -> int:
        """How much of the file is known to be on disk."""
        return self._synced.length_bytes

    @property
    def seal(self) -> JournalSeal:
        """The seal of what is known to be on disk."""
        return self._synced.seal

    def append(self, lines: Iterable[bytes]) -> None:
        """One write and one fsync for all lines; on failure none of them stays."""
        self.write(lines)
        self.sync()

    def write(self, lines: Iterable[bytes]) -> None:
        """One write for all lines: a kill cannot take them any more, a power cut can until `sync`."""
        data = b"".join(lines)
        try:
            write_all(self._file, data)
        except OSError as error:
            # Leave no half line; where even this fails, the next opening cuts it.
            with contextlib.suppress(OSError):
                self._file.truncate(self._written.length_bytes)
            raise storage_error("append to the journal", self.path, error) from error
        # One assignment, so that `sync` in its thread sees a length and the digest that belongs to it.
        self._written = self._written.followed_by(data)

    def sync(self) -> None:
        """One fsync for all that was written before; may run beside `write`, in another thread."""
        written = self._written
        if written is self._synced:
            return
        try:
            os.fsync(self._file.fileno())
        except OSError as error:
            # What the disk did not take is not to be found there later either.
            with contextlib.suppress(OSError):
                self._file.truncate(self._synced.length_bytes)
            raise storage_error("append to the journal", self.path, error) from error
        self._synced = written
        # After the sync: what the manifest says of the journal is always the beginning of what is on disk.
        now = self._clock()
        if self._keep_seal is not None and now - self._sealed_at >= SEAL_EVERY_SECONDS:
            self._keep_seal(self.seal)
            self._sealed_at = now

    def close(self) -> None:
        """Lets the next writer in."""
        self._file.close()
        self._release()

    def _release(self) -> None:
        if not self._lock.closed:
            self._lock.close()
            held.discard(self._lock_name)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


@contextlib.contextmanager
def opening_journal(path: Path, buffering: int = -1) -> Iterator[BinaryIO]:
    """The journal for reading: from its beginning, or lines here and there."""
    try:
        with path.open("rb", buffering=buffering) as journal:
            yield journal
    except OSError as error:
        raise storage_error("read the journal", path, error) from error


def read_lines(path: Path, start: int = 0) -> Iterator[tuple[int, bytes]]:
    """Byte offset and line, of complete lines only: an end without newline was never committed."""
    with opening_journal(path, buffering=1 << 20) as stream:
        offset = stream.seek(start)
        for line in stream:
            if not line.endswith(b"\n"):
                return
            yield offset, line
            offset += len(line)


def read_records(path: Path) -> Iterator[Record]:
    """Every record in the order of writing, one in memory at a time."""
    for offset, line in read_lines(path):
        try:
            yield decode_record(line)
        except ValueError as error:
            raise damaged(path, offset, error) from error


def says_nothing(path: Path) -> bool:
    """Whether nobody has said anything about any sample: no reply, and no outcome but that one is missing."""
    if any(path.with_name(SHARDS).glob("*/*.jsonl")):
        # Judged elsewhere, and not taken over yet.
        return False
    return not path.is_file() or all(
        isinstance(record, SampleRecord) or (isinstance(record, OutcomeRecord) and isinstance(record.outcome, Missing))
        for record in read_records(path)
    )


def damaged(path: Path, offset: int, error: ValueError) -> DamagedError:
    """A line that cannot be read and is not the last: nobody but the user may decide what to do with it."""
    return DamagedError(
        f"{path}: damaged at byte {offset} ({error}); restore the file from a copy, or cut it there with "
        f"`truncate -s {offset} {quote(str(path))}` and run the same command again to judge the rest anew"
    )


def verify_journal(run: RunDirectory, known: VerifiedStart | None = None) -> VerifiedStart | None:
    """Raises DamagedError where the journal is not what the manifest says it was; returns what was found to be so.

    Reads the file once; of a run that another process is writing, only what follows on `known`. So growing by one line
    costs one line, and the writer, at its end, reads the whole all the same.
    """
    if os.path.realpath(run.journal.with_suffix(".lock")) in held:
        known = None
    manifest = read_manifest(run.manifest)
    while (problem := find_broken_seal(run.journal, manifest, known)) is not None:
        again = read_manifest(run.manifest)
        if again == manifest:
            raise broken_seal(run.journal, problem)
        # Another process took the run up meanwhile, and the journal has grown.
        manifest = again
    seal = manifest.journal
    return VerifiedStart(seal.bytes, seal.crc32) if seal is not None and seal.crc32 is not None else None


def find_wrong_length(length: int, manifest: Manifest) -> str | None:
    """What the size alone tells; None for runs that were never sealed."""
    seal = manifest.journal
    if seal is not None and length < seal.bytes:
        return f"cut short: it holds {length:,} of the {seal.bytes:,} bytes that were written"
    if seal is not None and length > seal.bytes and manifest.status is not RunStatus.RUNNING:
        return f"{length - seal.bytes:,} bytes were added after the run had ended"
    return None


def find_broken_seal(path: Path, manifest: Manifest, known: VerifiedStart | None = None) -> str | None:
    """What is wrong, in words; None where the journal is whole, and for runs that were never sealed."""
    seal = manifest.journal
    if seal is None:
        return None
    with opening_journal(path) as file:
        problem = find_wrong_length(os.fstat(file.fileno()).st_size, manifest)
        if problem is not None:
            return problem
        if is_as_sealed(file, seal, known if manifest.status is RunStatus.RUNNING else None):
            return None
    return f"changed since it was written{describe_change(path)}"


def is_as_sealed(file: BinaryIO, seal: JournalSeal, known: VerifiedStart | None) -> bool:
    """Whether it is what was sealed, by the digest of the whole.

    Or, where its start is known, by the checksum of what follows.
    """
    if known is None or seal.crc32 is None or seal.bytes < known.length_bytes:
        return measure_start(file, seal.bytes).digest.hexdigest() == seal.blake2b
    crc32 = known.crc32
    for data in read_blocks(file, known.length_bytes, seal.bytes):
        crc32 = zlib.crc32(data, crc32)
    return crc32 == seal.crc32


def broken_seal(path: Path, problem: str) -> DamagedError:
    """One line: which file, what is wrong, what to do."""
    return DamagedError(f"{path}: {problem}; {_WHAT_TO_DO.format(manifest=path.with_name('manifest.json'))}")


def describe_change(path: Path) -> str:
    """Where it changed, as far as lines tell: one that is no record, or one about a sample that is not there."""
    samples: set[str] = set()
    for offset, line in read_lines(path):
        try:
            decode_record(line)
        except ValueError as error:
            return f" (damaged at byte {offset}: {error})"
        record = decode_line(line)
        if record["t"] == "sample":
            samples.add(record["key"])
        elif record["key"] not in samples:
            named = f": {record['id']!r}" if isinstance(record.get("id"), str) else ""
            return f" (the {record['t']} at byte {offset} is about no sample of the run{named})"
    return ""


def orphaned(path: Path, ids: Sequence[str]) -> DamagedError:
    """Outcomes or replies about samples that the run does not have: a key was changed, or a line is gone."""
    shown = list_first([repr(identity) for identity in ids])
    return broken_seal(path, f"{len(ids):,} records are about no sample of the run ({shown})")


def measure_start(file: BinaryIO, length_bytes: int) -> _Extent:
    """The first bytes of a file, as far as there are so many."""
    digest, crc32 = hashlib.blake2b(digest_size=32), 0
    for data in read_blocks(file, 0, length_bytes):
        digest.update(data)
        crc32 = zlib.crc32(data, crc32)
    return _Extent(length_bytes, digest, crc32)


def read_blocks(file: BinaryIO, begin: int, end: int) -> Iterator[bytes]:
    """Blocks from one byte of a file to another, as far as there are so many."""
    file.seek(begin)
    left = end - begin
    while left > 0 and (data := file.read(min(left, _BLOCK_BYTES))):
        left -= len(data)
        yield data


def cut_torn_end(file: FileIO) -> int:
    """Truncate to the last newline; returns the length that is left."""
    length = file.seek(0, os.SEEK_END)
    end = length
    while end > 0:
        begin = file.seek(max(0, end - _BLOCK_BYTES))
        newline = file.read(end - begin).rfind(b"\n")
        if newline >= 0:
            end = begin + newline + 1
            break
        end = begin
    if end < length:
        file.truncate(end)
        os.fsync(file.fileno())
    return end


def write_all(file: FileIO, data: bytes) -> None:
    """An unbuffered write may take less than it is given."""
    rest = memoryview(data)
    while rest:
        rest = rest[file.write(rest) :]

"""The append-only truth of a run: what was appended is on disk, and a torn end is cut before anything is added."""

import contextlib
import hashlib
import math
import os
import re
import shutil
import sys
import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from shlex import quote
from typing import Any, BinaryIO, Self

from mixseek.domain.judgments import Missing, Reply, Status
from mixseek.domain.ports import PLAIN, LostRequests, ReplyKey
from mixseek.errors import BusyError, DamagedError
from mixseek.storage.durable import replacing, storage_error, sync_directory
from mixseek.storage.journal.records import (
    JournalSeal,
    Manifest,
    OutcomeRecord,
    Record,
    RunStatus,
    SampleRecord,
    decode_line,
    decode_record,
    decode_reply,
    read_manifest,
)
from mixseek.storage.workspace import SHARDS, RunDirectory, list_first

# One writer for a run, whichever process it lives in.

if sys.platform != "win32":
    import fcntl

# Record locks belong to a process, so a second writer in the same one must be noticed here.
_held: set[str] = set()


def acquire_lock(path: Path) -> FileIO:
    """Held until the file is closed and let go of, or until the process ends, however it ends; BusyError at once.

    A record lock and not `flock`: a forked child would keep the latter alive after kill -9 of its parent,
    and the run could not be resumed. The file stays, because removing it would race with the next writer.
    """
    refusal = f"{path.parent}: the run is being written by {{}}; wait for it, or choose another name"
    if os.path.realpath(path) in _held:
        raise BusyError(refusal.format("this process"))
    try:
        file = path.open("a+b", buffering=0)
    except OSError as error:
        raise storage_error("lock", path, error) from error
    if not lock_exclusively(file):
        file.seek(0)
        holder = file.read(20).decode("ascii", "replace").strip()
        file.close()
        raise BusyError(refusal.format(f"process {holder}" if holder else "another process"))
    _held.add(os.path.realpath(path))
    # Only for the message of whoever comes second; a full disk must not stop us here.
    with contextlib.suppress(OSError):
        file.truncate(0)
        file.write(b"%d\n" % os.getpid())
    return file


@contextlib.contextmanager
def holding_lock(path: Path) -> Iterator[None]:
    """For whoever moves or removes a run as a whole: BusyError while somebody writes to it, and nobody begins."""
    name = os.path.realpath(path)
    lock = acquire_lock(path)
    try:
        yield
    finally:
        lock.close()
        _held.discard(name)


def is_being_written(path: Path) -> bool:
    """Whether some process holds that lock at this moment; nothing is made or changed."""
    if os.path.realpath(path) in _held:
        return True
    try:
        # Asking needs a file that may be written. Closing it would give up a lock of our own, which is excluded above.
        with path.open("r+b", buffering=0) as file:
            return not lock_exclusively(file)
    except OSError:
        return False


def lock_exclusively(file: FileIO) -> bool:
    """False when another process holds it; where there are no locks, two writers are the user's to avoid."""
    if sys.platform == "win32":
        return True
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    except OSError:
        return True
    return True


_BLOCK_BYTES = 1 << 18
# The manifest of a run in progress lags behind its journal by this much at most, while lines are written.
SEAL_EVERY_SECONDS = 1.0
_WHAT_TO_DO = (
    "restore it from a copy, or judge again under another --run (replies in the cache are not asked for twice); "
    "to go on with what is left, take `journal` out of {manifest}"
)


@dataclass(frozen=True, slots=True)
class _Extent:
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
        """Of what is known to be on disk."""
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
            _held.discard(self._lock_name)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


@contextlib.contextmanager
def opening_journal(path: Path, buffering: int = -1) -> Iterator[BinaryIO]:
    """For reading: from its beginning, or lines here and there."""
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
    if os.path.realpath(run.journal.with_suffix(".lock")) in _held:
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
    """By the digest of the whole; or, where its start is known, by the checksum of what follows."""
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
    """Where, as far as the lines themselves tell: one that is no record, or one about a sample that is not there."""
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
    shown = list_first([repr(one) for one in ids])
    return broken_seal(path, f"{len(ids):,} records are about no sample of the run ({shown})")


def measure_start(file: BinaryIO, length_bytes: int) -> _Extent:
    """The first bytes of a file, as far as there are so many."""
    digest, crc32 = hashlib.blake2b(digest_size=32), 0
    for data in read_blocks(file, 0, length_bytes):
        digest.update(data)
        crc32 = zlib.crc32(data, crc32)
    return _Extent(length_bytes, digest, crc32)


def read_blocks(file: BinaryIO, begin: int, end: int) -> Iterator[bytes]:
    """From one byte of a file to another, as far as there are so many."""
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


# What a journal already holds, small enough to keep for a million samples: resume asks this and nothing else.

# 0 is "nothing yet"; missing is nothing yet as well, because it is asked for again, unless that changes nothing.
_STATUSES = (Status.VALID, Status.INVALID, Status.UNDECIDED, Status.MISSING)
_BASE = len(_STATUSES) + 1


class JudgedBefore:
    """Statuses by sample, judge and repeat. One dict of 16-byte keys for all judges: about 110 bytes a sample."""

    def __init__(self, judges: Sequence[str], repeats: int) -> None:
        places = [ReplyKey(judge, repeat) for judge in judges for repeat in range(1, repeats + 1)]
        self._weights = {place: _BASE**position for position, place in enumerate(places)}
        # The statuses of all judges as digits of one number: small, and shared by samples that ended alike.
        self._codes: dict[bytes, int] = {}
        self._decoded: dict[int, Mapping[ReplyKey, Status]] = {0: {}}
        # Replies that nobody has read yet: only those in flight when a process died, so few.
        self._unread: dict[bytes, dict[ReplyKey, list[Reply]]] = {}
        # Few as well: samples that endpoints failed on.
        self._lost: dict[bytes, dict[ReplyKey, LostRequests]] = {}

    def __len__(self) -> int:
        """Samples with at least one outcome that stands."""
        return sum(1 for code in self._codes.values() if code)

    def statuses(self, key: str) -> Mapping[ReplyKey, Status]:
        """Judge and repeat to status, by the sample's key; what is still to be asked is left out."""
        return self._decode(self._codes.get(bytes.fromhex(key), 0)) if self._codes else {}

    def unread_replies(self, key: str) -> Mapping[ReplyKey, tuple[Reply, ...]]:
        """Replies that were paid for and never read, in the order of asking."""
        unread = self._unread.get(bytes.fromhex(key), {}) if self._unread else {}
        return {take: tuple(replies) for take, replies in unread.items()}

    def counts(self) -> dict[str, Counter[Status]]:
        """How many outcomes of each kind, by judge."""
        counts: dict[str, Counter[Status]] = {place.judge: Counter() for place in self._weights}
        for code, times in Counter(self._codes.values()).items():
            for place, status in self._decode(code).items():
                counts[place.judge][status] += times
        return counts

    def lost(self, key: str) -> Mapping[ReplyKey, LostRequests]:
        """Requests that brought no reply, as the last outcome told them."""
        return self._lost.get(bytes.fromhex(key), {}) if self._lost else {}

    def remember(self, key: str, place: ReplyKey, status: str, *, is_permanent: bool, lost: LostRequests) -> None:
        """The last status told counts; judges that are not asked in this run are passed over."""
        weight = self._weights.get(place)
        if weight is None:
            return
        is_open = status == Status.MISSING and not is_permanent
        digit = 0 if is_open else _STATUSES.index(Status(status)) + 1
        packed = bytes.fromhex(key)
        if any(lost):
            self._lost.setdefault(packed, {})[place] = lost
        code = self._codes.get(packed, 0)
        self._codes[packed] = code + (digit - code // weight % _BASE) * weight
        if is_open:
            # What came in another presentation is still to be read together with what is asked for again.
            return
        unread = self._unread.pop(packed, {})
        # One outcome is made of all presentations.
        if rest := {one: replies for one, replies in unread.items() if one[:2] != place[:2]}:
            self._unread[packed] = rest

    def remember_record(self, record: Mapping[str, Any]) -> None:
        """Raises ValueError for a record of no known kind, and for one about a sample that was never taken up."""
        kind = record["t"]
        if kind not in ("sample", "reply", "outcome"):
            raise ValueError(f"unknown record type {kind!r}")
        key = bytes.fromhex(record["key"])
        if kind == "sample":
            self._codes.setdefault(key, 0)
        elif key not in self._codes:
            named = f" {record['id']!r}" if "id" in record else ""
            raise ValueError(f"this {kind} is about a sample{named} that the run does not have")
        elif kind == "reply":
            # Until its outcome is told, it is still to be read.
            reply = decode_reply(record)
            place = ReplyKey(reply.judge, reply.details.get("take", 1), reply.details.get("presentation", PLAIN))
            if place._replace(presentation=PLAIN) in self._weights:
                self._unread.setdefault(key, {}).setdefault(place, []).append(reply)
        else:
            self.remember(
                record["key"],
                ReplyKey(record["judge"], record.get("take", 1)),
                record["status"],
                is_permanent=record.get("permanent", False),
                lost=LostRequests(record.get("lost_tries", 0), **record.get("lost_bill", {})),
            )

    def _decode(self, code: int) -> Mapping[ReplyKey, Status]:
        if code not in self._decoded:
            digits = {place: code // weight % _BASE for place, weight in self._weights.items()}
            self._decoded[code] = {place: _STATUSES[digit - 1] for place, digit in digits.items() if digit}
        return self._decoded[code]


def recall_journal(path: Path, judges: Sequence[str], repeats: int = 1) -> JudgedBefore:
    """Reads every line, so that damage is found before new work is added; raises StorageError naming the byte."""
    judged = JudgedBefore(judges, repeats)
    for offset, line in read_lines(path):
        try:
            judged.remember_record(decode_line(line))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise damaged(path, offset, ValueError(str(error))) from error
    return judged


# Journals of parts of a run, written by somebody else: each is sealed by a rename, and then becomes part of the run's.
#
# A shard's files are `<number>-<attempt>.part.jsonl` while one process writes to it and `<number>-<attempt>.jsonl`
# from then on. Whoever begins to append one to the run's journal first puts the journal's length into its name, so that
# a process that dies halfway is followed by one that knows how much is there already.

_NAME = re.compile(r"(\d+)-(\d+)(?:@(\d+))?(\.part)?\.jsonl")
_COPIED_BYTES = 4 << 20


def part_path(room: Path, number: int, attempt: int) -> Path:
    """Where one attempt at a shard writes; nobody else ever does."""
    return room / f"{number:06d}-{attempt}.part.jsonl"


def seal_shard(part: Path) -> Path:
    """What was written there is complete; its new name."""
    sealed = part.with_name(part.name.replace(".part", ""))
    try:
        part.rename(sealed)
    except OSError as error:
        raise storage_error("seal the shard", part, error) from error
    sync_directory(part.parent)
    return sealed


def seal_torn(part: Path) -> Path | None:
    """The whole lines of an attempt that died; what its process may still write is lost. None where there are none."""
    if not part.is_file():
        return None
    sealed = part.with_name(part.name.replace(".part", ""))
    with replacing(sealed) as stream:
        stream.writelines(line for _, line in read_lines(part))
    part.unlink(missing_ok=True)
    return sealed


def append_shard(shard: Path, journal: JournalFile) -> None:
    """Its lines follow on those of the run's journal; then it is gone."""
    named = _NAME.fullmatch(shard.name)
    # Only files with such a name are ever handed over.
    assert named is not None
    try:
        if named[3] is None:
            number, attempt = named[1], named[2]
            shard = shard.rename(shard.with_name(f"{number}-{attempt}@{journal.length_bytes}.jsonl"))
            sync_directory(shard.parent)
        with shard.open("rb") as stream:
            # What an earlier process had appended before it died.
            stream.seek(0 if named[3] is None else journal.length_bytes - int(named[3]))
            for block in whole_lines(stream.read, _COPIED_BYTES):
                journal.write((block,))
        journal.sync()
        shard.unlink()
    except OSError as error:
        raise storage_error("take over the shard", shard, error) from error


def whole_lines(read: Callable[[int], bytes], size: int) -> Iterator[bytes]:
    """Blocks that end with a line; a torn one at the very end is left out."""
    rest = b""
    while block := read(size):
        lines, newline, torn = block.rpartition(b"\n")
        if newline:
            yield rest + lines + newline
            rest = torn
        else:
            rest += torn


def take_over_leftovers(run: RunDirectory, journal: JournalFile) -> int:
    """What a killed command left in shards goes into the journal, sealed or not; how many shards there were."""
    count = 0
    # What had begun to be appended comes first: the journal ends with it.
    for room in sorted(run.shards.glob("*/")):
        names = {path: _NAME.fullmatch(path.name) for path in room.iterdir()}
        found = sorted((named[3] is None, int(named[1]), int(named[2]), path) for path, named in names.items() if named)
        for *_, path in found:
            named = names[path]
            sealed = seal_torn(path) if named is not None and named[4] else path
            if sealed is not None and sealed.is_file():
                append_shard(sealed, journal)
                count += 1
    with contextlib.suppress(FileNotFoundError):
        shutil.rmtree(run.shards)
    return count

"""Journals of parts of a run, written by somebody else: each is sealed by a rename, and then becomes part of the run's.

A shard's files are `<number>-<attempt>.part.jsonl` while one process writes to it and `<number>-<attempt>.jsonl`
from then on. Whoever begins to append one to the run's journal first puts the journal's length into its name, so that
a process that dies halfway is followed by one that knows how much is there already."""

import contextlib
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

from mixseek.storage.durable import replacing, storage_error, sync_directory
from mixseek.storage.journal.journal import JournalFile, read_lines
from mixseek.storage.workspace import RunDirectory

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
        shards = sorted(
            (named[3] is None, int(named[1]), int(named[2]), path) for path, named in names.items() if named
        )
        for *_, path in shards:
            named = names[path]
            sealed = seal_torn(path) if named is not None and named[4] else path
            if sealed is not None and sealed.is_file():
                append_shard(sealed, journal)
                count += 1
    with contextlib.suppress(FileNotFoundError):
        shutil.rmtree(run.shards)
    return count

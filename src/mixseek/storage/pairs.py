"""A journal read as pairs of sample and judge: dataset order, last outcome, nobody left out."""

import re
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from mixseek.domain.judgments import Status
from mixseek.storage.durable import storage_error
from mixseek.storage.journal import damaged, read_lines
from mixseek.storage.records import decode_line, peek

NOT_JUDGED = "not judged yet: run the same command again"
# The first line of a journal is a sample, never an outcome.
_NOWHERE = 0
# An outcome of a repeat ends so; quotation marks inside a text would be escaped.
_TAKE_AT_END = re.compile(rb'"take":(\d+)}\n?$')


@dataclass(frozen=True, slots=True)
class JudgedTake:
    """One sample before one judge once, as the journal's records say it; None for what is still due."""

    key: str
    sample: dict[str, Any]
    judge: str
    take: int
    outcome: dict[str, Any] | None
    reply: dict[str, Any] | None = None
    # Replies that were invalid and asked for again, in the order of asking.
    earlier: tuple[dict[str, Any], ...] = ()


class JournalPairs:
    """Where each sample, its outcomes and the replies they rest on stand in the file; no text is held.

    About 150 bytes a sample, and 16 more for each judge and take.
    """

    def __init__(self, path: Path, judges: Sequence[str], *, cascade: bool) -> None:
        self._path = path
        self._cascade = cascade
        self._ordinals: dict[bytes, int] = {}
        self._samples = array("q")
        # By judge and take; the first takes in the order of the judges.
        self._outcomes: dict[tuple[str, int], array[int]] = {(judge, 1): array("q") for judge in judges}
        self._replies: dict[tuple[str, int], array[int]] = {}
        # Sparse: only samples that were asked about again.
        self._earlier: dict[tuple[str, int, int], list[int]] = {}
        for offset, line in read_lines(path):
            try:
                self._note(offset, line, *peek(line))
            except (ValueError, KeyError, TypeError) as error:
                raise damaged(path, offset, ValueError(str(error))) from error
        order = list(dict.fromkeys(judge for judge, _ in self._outcomes))
        self._takes = sorted(self._outcomes, key=lambda one: (order.index(one[0]), one[1]))

    def __len__(self) -> int:
        """Samples, not pairs."""
        return len(self._samples)

    def __iter__(self) -> Iterator[tuple[dict[str, Any], str, dict[str, Any] | None]]:
        """Sample, judge and outcome as they stand in the journal; None for an outcome that is still due."""
        return ((one.sample, one.judge, one.outcome) for one in self.takes())

    def takes(self, *, with_replies: bool = False) -> Iterator[JudgedTake]:
        """Every sample before every judge, repeats included; replies are read only where they are wanted."""
        try:
            with self._path.open("rb", buffering=1 << 20) as stream:
                for ordinal, offset in enumerate(self._samples):
                    record = self._read(stream, offset)
                    for judge, take, outcome in self._judged(stream, ordinal):
                        reply = self._reply(stream, judge, take, ordinal) if with_replies and outcome else None
                        places = self._earlier.get((judge, take, ordinal), ()) if with_replies else ()
                        earlier = tuple(self._read(stream, place) for place in places)
                        yield JudgedTake(record["key"], record["sample"], judge, take, outcome, reply, earlier)
        except OSError as error:
            raise storage_error("read the journal", self._path, error) from error

    def _note(self, offset: int, line: bytes, kind: str, key: str, judge: str | None) -> None:
        if kind == "sample":
            packed = bytes.fromhex(key)
            if packed not in self._ordinals:
                self._ordinals[packed] = len(self._samples)
                self._samples.append(offset)
        elif kind in ("outcome", "reply") and judge is not None:
            ordinal = self._ordinals.get(bytes.fromhex(key), -1)
            if ordinal < 0:
                raise ValueError(f"an {kind} before its sample" if kind == "outcome" else "a reply before its sample")
            table = self._outcomes if kind == "outcome" else self._replies
            take = take_of(kind, line)
            offsets = table.setdefault((judge, take), array("q"))
            if len(offsets) <= ordinal:
                offsets.extend([_NOWHERE] * (ordinal + 1 - len(offsets)))
            if kind == "reply" and offsets[ordinal] != _NOWHERE:
                self._earlier.setdefault((judge, take, ordinal), []).append(offsets[ordinal])
            offsets[ordinal] = offset
        else:
            raise ValueError(f"unknown record type {kind!r}")

    def _judged(self, stream: BinaryIO, ordinal: int) -> Iterator[tuple[str, int, dict[str, Any] | None]]:
        decided_by: str | None = None
        for judge, take in self._takes:
            # A cascade asks nobody after a valid judgment.
            if decided_by is not None and judge != decided_by:
                return
            offset = place_of(self._outcomes, judge, take, ordinal)
            if offset == _NOWHERE and take > 1:
                continue
            outcome = None if offset == _NOWHERE else self._read(stream, offset)
            yield judge, take, outcome
            if self._cascade and outcome is not None and outcome["status"] == Status.VALID:
                decided_by = judge

    def _reply(self, stream: BinaryIO, judge: str, take: int, ordinal: int) -> dict[str, Any] | None:
        offset = place_of(self._replies, judge, take, ordinal)
        return None if offset == _NOWHERE else self._read(stream, offset)

    def _read(self, stream: BinaryIO, offset: int) -> dict[str, Any]:
        stream.seek(offset)
        try:
            return decode_line(stream.readline())
        except ValueError as error:
            raise damaged(self._path, offset, error) from error


def place_of(table: dict[tuple[str, int], "array[int]"], judge: str, take: int, ordinal: int) -> int:
    """Where the record stands; nowhere for one that was never written."""
    offsets = table.get((judge, take))
    return offsets[ordinal] if offsets is not None and ordinal < len(offsets) else _NOWHERE


def take_of(kind: str, line: bytes) -> int:
    """The number of the take; a line is parsed only where it could say another than the first."""
    if b'"take":' not in line:
        return 1
    if kind == "outcome" and (found := _TAKE_AT_END.search(line)):
        return int(found.group(1))
    record = decode_line(line)
    return int(record.get("take", 1) if kind == "outcome" else record["details"].get("take", 1))

"""Where the answers of ended batches stand on disk, by the id of their request; what is wrong with files is counted."""

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from mixseek.domain.ports import NOTHING_LOST, LostRequests
from mixseek.errors import StorageError
from mixseek.judges.batches.lines import LineFormat, ResultLine, read_line
from mixseek.storage.batch_ledger import BatchEntry
from mixseek.storage.durable import storage_error
from mixseek.text.phrases import plural


class Place(NamedTuple):
    """A line of a result file."""

    batch: str
    path: Path
    offset: int
    size: int
    # Whether its batch had ended before this command began.
    is_old: bool


class Faults(NamedTuple):
    """What was wrong with the results of one batch."""

    torn: int = 0
    repeated: int = 0
    unknown: int = 0
    missing: int = 0

    def words(self) -> str:
        """A sentence for a person; empty where nothing was wrong."""
        parts = (
            (self.torn, "torn line", "torn lines"),
            (self.repeated, "line that came before", "lines that came before"),
            (self.unknown, "line about requests that are not in it", "lines about requests that are not in it"),
            (self.missing, "request without a line", "requests without a line"),
        )
        listed = [plural(count, *words) for count, *words in parts if count]
        return ", ".join(listed)


class Results:
    """One judge's, over all of its batches that are not collected yet."""

    def __init__(self, directory: Path, line_format: LineFormat) -> None:
        self._directory = directory
        self._format = line_format
        # One place a batch: what a provider says of a request a second time is not billed a second time.
        self._places: dict[str, tuple[Place, ...]] = {}
        # In how many ended batches it was.
        self.tries: Counter[str] = Counter()
        # By batch, the requests that no line is about.
        self._absent: dict[str, set[str]] = {}
        # What was billed for a request without bringing a line that can be read.
        self.lost: dict[str, LostRequests] = {}

    def take(self, entry: BatchEntry, *, is_old: bool) -> Faults:
        """Adds what a batch brought; torn and unknown lines are left where they are."""
        wanted = set(entry.intent.requests)
        self.tries.update(wanted)
        # Which came, and whether with an answer: one that comes again counts where the first was a failure.
        came: dict[str, bool] = {}
        torn = repeated = unknown = 0
        for name in entry.results:
            for offset, line in self._lines(self._directory / name):
                row = _row_of(line)
                if row is None:
                    torn += 1
                    continue
                result = read_line(self._format, row)
                custom_id, is_answer = result.custom_id, result.document is not None
                if custom_id not in wanted:
                    unknown += 1
                    continue
                repeated += custom_id in came
                if custom_id not in came or (is_answer and not came[custom_id]):
                    came[custom_id] = is_answer
                    place = Place(entry.name, self._directory / name, offset, len(line), is_old)
                    self._places[custom_id] = (*self._places.get(custom_id, ()), place)
        self._absent[entry.name] = wanted - came.keys()
        self.share_lost(entry)
        return Faults(torn, repeated, unknown, len(self._absent[entry.name]))

    def share_lost(self, entry: BatchEntry) -> None:
        """What was billed without a line: nobody knows for which request, so each without a line has its share."""
        absent = self._absent[entry.name]
        requests, sent, replied, cost = entry.lost
        if not requests or not absent:
            return
        share = LostRequests(0, round(sent / len(absent)), round(replied / len(absent)), cost / len(absent))
        for custom_id in absent:
            self.lost[custom_id] = self.lost.get(custom_id, NOTHING_LOST).plus(share)

    def lines(self, custom_id: str) -> list[tuple[Place, ResultLine]]:
        """What came for it, the latest last."""
        return [(place, self._read(place)) for place in self._places.get(custom_id, ())]

    def all_lines(self, entry: BatchEntry) -> Iterator[ResultLine]:
        """Each line of a batch that can be read, once a request."""
        for custom_id in entry.intent.requests:
            for place in self._places.get(custom_id, ()):
                if place.batch == entry.name:
                    yield self._read(place)

    def forget(self, entry: BatchEntry) -> None:
        """A batch of which nothing is needed any more."""
        for custom_id in entry.intent.requests:
            left = tuple(place for place in self._places.get(custom_id, ()) if place.batch != entry.name)
            if left:
                self._places[custom_id] = left
            else:
                self._places.pop(custom_id, None)
            self.tries[custom_id] -= 1

    def _read(self, place: Place) -> ResultLine:
        try:
            with place.path.open("rb") as stream:
                line = os.pread(stream.fileno(), place.size, place.offset)
        except OSError as error:
            raise storage_error("read the results of a batch", place.path, error) from error
        row = _row_of(line)
        if row is None:
            raise StorageError(f"{place.path}: was changed while it was read; run the same command again")
        return read_line(self._format, row)

    def _lines(self, path: Path) -> Iterator[tuple[int, bytes]]:
        offset = 0
        try:
            with path.open("rb") as stream:
                for line in stream:
                    if line.strip():
                        yield offset, line
                    offset += len(line)
        except OSError as error:
            raise storage_error("read the results of a batch", path, error) from error


def ends_whole(path: Path, block: int = 1 << 22) -> bool:
    """Whether a file of lines ends with a whole one; an empty file does."""
    with path.open("rb") as stream:
        size = stream.seek(0, os.SEEK_END)
        stream.seek(max(0, size - block))
        tail = stream.read()
    return not tail or tail.endswith(b"\n") or _row_of(tail.rpartition(b"\n")[2]) is not None


def _row_of(line: bytes) -> Mapping[str, Any] | None:
    try:
        row = orjson.loads(line)
    except orjson.JSONDecodeError:
        return None
    return row if isinstance(row, dict) else None


def custom_id_of(key: bytes) -> str:
    """What a provider is told instead of a request's digest: as long as all of them take."""
    return key.hex()[:32]


def total_cost(costs: Sequence[float | None]) -> float | None:
    """None where one of them is not known."""
    known = [cost for cost in costs if cost is not None]
    return sum(known) if len(known) == len(costs) else None

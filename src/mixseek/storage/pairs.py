"""A journal read as pairs of sample and judge: dataset order, last outcome, nobody left out."""

from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from mixseek.domain.judgments import Status
from mixseek.storage.durable import storage_error
from mixseek.storage.journal import damaged, read_lines
from mixseek.storage.records import decode_line, peek

NOT_JUDGED = "not judged yet: run the same command again"
# The first line of a journal is a sample, never an outcome.
_NOWHERE = 0


class JournalPairs:
    """Where each sample and its outcomes stand in the file; about 150 bytes a sample, and no text."""

    def __init__(self, path: Path, judges: Sequence[str], *, cascade: bool) -> None:
        self._path = path
        self._cascade = cascade
        self._ordinals: dict[bytes, int] = {}
        self._samples = array("q")
        self._outcomes: dict[str, array[int]] = {judge: array("q") for judge in judges}
        for offset, line in read_lines(path):
            try:
                self._note(offset, *peek(line))
            except (ValueError, KeyError, TypeError) as error:
                raise damaged(path, offset, ValueError(str(error))) from error

    def __len__(self) -> int:
        """Samples, not pairs."""
        return len(self._samples)

    def __iter__(self) -> Iterator[tuple[dict[str, Any], str, dict[str, Any] | None]]:
        """Sample, judge and outcome as they stand in the journal; None for an outcome that is still due."""
        try:
            with self._path.open("rb", buffering=1 << 20) as stream:
                for ordinal, offset in enumerate(self._samples):
                    sample = self._read(stream, offset)["sample"]
                    for judge, outcome in self._judged(stream, ordinal):
                        yield sample, judge, outcome
        except OSError as error:
            raise storage_error("read the journal", self._path, error) from error

    def _note(self, offset: int, kind: str, key: str, judge: str | None) -> None:
        if kind == "sample":
            packed = bytes.fromhex(key)
            if packed not in self._ordinals:
                self._ordinals[packed] = len(self._samples)
                self._samples.append(offset)
        elif kind == "outcome" and judge is not None:
            ordinal = self._ordinals.get(bytes.fromhex(key), -1)
            if ordinal < 0:
                raise ValueError("an outcome before its sample")
            offsets = self._outcomes.setdefault(judge, array("q"))
            if len(offsets) <= ordinal:
                offsets.extend([_NOWHERE] * (ordinal + 1 - len(offsets)))
            offsets[ordinal] = offset
        elif kind != "reply":
            raise ValueError(f"unknown record type {kind!r}")

    def _judged(self, stream: BinaryIO, ordinal: int) -> Iterator[tuple[str, dict[str, Any] | None]]:
        for judge, offsets in self._outcomes.items():
            offset = offsets[ordinal] if ordinal < len(offsets) else _NOWHERE
            outcome = None if offset == _NOWHERE else self._read(stream, offset)
            yield judge, outcome
            # A cascade asks nobody after a valid judgment.
            if self._cascade and outcome is not None and outcome["status"] == Status.VALID:
                return

    def _read(self, stream: BinaryIO, offset: int) -> dict[str, Any]:
        stream.seek(offset)
        try:
            return decode_line(stream.readline())
        except ValueError as error:
            raise damaged(self._path, offset, error) from error

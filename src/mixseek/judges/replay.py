"""Judges whose replies were collected elsewhere: in a file beside the dataset, or in the dataset itself."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from mixseek.domain.judgments import Missing, Reply
from mixseek.domain.ports import JudgeProtocol
from mixseek.domain.samples import Sample
from mixseek.errors import ConfigurationError, DatasetError
from mixseek.judges.offset_index import OffsetIndex
from mixseek.judges.recording import REPLY_NAMES, recorded_reply

_UTF8_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class DatasetReplayJudge:
    """The reply stands in the sample's own row, in column `reply`."""

    name: str = "replay"

    def reply(self, sample: Sample, protocol: JudgeProtocol) -> Reply | Missing:
        """Only `reply` is looked at: `response` and `output` are the judged text here."""
        return recorded_reply(sample.metadata, REPLY_NAMES[0], self.name, sample.id)


@dataclass(frozen=True, slots=True)
class FileReplayJudge:
    """Replies in a JSONL file, matched by id. Only offsets are kept in memory; a line is read when it is needed."""

    name: str
    path: Path
    index: OffsetIndex = field(repr=False, compare=False)

    @classmethod
    def open(cls, path: Path, name: str) -> "FileReplayJudge":
        """Reads the file once, and refuses it as a whole when a line is bad or an id stands twice."""
        index = OffsetIndex()
        judge = cls(name, path, index)
        for number, offset, line in _lines(path):
            place = f"{path}:{number}"
            row_id = _checked_id(line, place)
            earlier = judge._find(row_id)
            if earlier is not None:
                raise DatasetError(f"{place}: id {row_id!r} stood already at line {judge._line_number(earlier)}")
            index.add(row_id, offset)
        if not len(index):
            raise DatasetError(f'{path}: holds no replies; expected JSON lines such as {{"id": …, "reply": …}}')
        return judge

    def reply(self, sample: Sample, protocol: JudgeProtocol) -> Reply | Missing:
        """The recorded text to the letter, or Missing; never a guess by position."""
        offset = self._find(sample.id)
        if offset is None:
            return Missing(f"no recorded reply for id {sample.id!r}")
        row = self._row_at(offset)
        return recorded_reply(row, _reply_name(row) or REPLY_NAMES[0], self.name, sample.id)

    def _find(self, row_id: str) -> int | None:
        return self.index.find(row_id, lambda offset: _id_text(self._row_at(offset)) == row_id)

    def _row_at(self, offset: int) -> Mapping[str, Any]:
        # Opened anew each time: nothing to share between processes and threads, at 20 µs a reply.
        try:
            with self.path.open("rb") as file:
                file.seek(offset)
                row = orjson.loads(file.readline())
        except (OSError, orjson.JSONDecodeError) as error:
            raise ConfigurationError(f"{self.path}: changed while it was being read; run again") from error
        return row if isinstance(row, dict) else {}

    def _line_number(self, offset: int) -> int:
        return next(number for number, at, _ in _lines(self.path) if at == offset)


def _lines(path: Path) -> Iterator[tuple[int, int, bytes]]:
    """Line number, byte offset and content of every line that is not blank."""
    try:
        with path.open("rb") as file:
            offset = 0
            for number, line in enumerate(file, start=1):
                skipped = len(_UTF8_MARK) if number == 1 and line.startswith(_UTF8_MARK) else 0
                if line[skipped:].strip():
                    yield number, offset + skipped, line[skipped:]
                offset += len(line)
    except OSError as error:
        raise ConfigurationError(f"{path}: recorded replies cannot be read ({error.strerror})") from error


def _checked_id(line: bytes, place: str) -> str:
    try:
        row = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise DatasetError(f"{place}: not a JSON line ({error})") from error
    if not isinstance(row, dict):
        raise DatasetError(f"{place}: a JSON object is expected, this is {type(row).__name__}")
    row_id = _id_text(row)
    if row_id is None:
        raise DatasetError(f"{place}: no usable id; give each reply the id of its sample, as text or integer")
    if _reply_name(row) is None:
        raise DatasetError(f"{place}: no reply; expected one of the columns {', '.join(REPLY_NAMES)}")
    return row_id


def _id_text(row: Mapping[str, Any]) -> str | None:
    value = row.get("id")
    if isinstance(value, bool) or not isinstance(value, str | int):
        return None
    return str(value)


def _reply_name(row: Mapping[str, Any]) -> str | None:
    return next((name for name in REPLY_NAMES if name in row), None)

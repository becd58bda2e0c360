"""Judges whose replies or scores were collected elsewhere: in a file beside the dataset, or in the dataset itself."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field, replace
from pathlib import Path
from typing import Any

import orjson

from mixseek.domain.judgments import Missing, Reply
from mixseek.domain.lines import LONGEST_LINE_BYTES, bounded_lines
from mixseek.domain.panels import AB, BA
from mixseek.domain.ports import PLAIN, JudgeProtocol
from mixseek.domain.samples import Sample
from mixseek.errors import ConfigurationError, DatasetError
from mixseek.judges.bundles import Matching, PlacedBundle, match_bundles, scope_of
from mixseek.judges.recorded_replies import REPLY_NAMES, judge_of, recorded_reply
from mixseek.lazy_dataclass import dataclass
from mixseek.protocols.replies.reply_bundles import split_bundle


class OffsetIndex:
    """Where in a file each id's line begins, by digests: the ids of a million lines would take twice the memory."""

    def __init__(self) -> None:
        # 128 bits do not collide. An offset is stored as its complement, a negative number, once its id was wanted.
        self._offsets: dict[int, int] = {}
        # Whether some lines say in which order a pair was shown.
        self.has_orders = False

    def __len__(self) -> int:
        return len(self._offsets)

    def add(self, key: str, offset: int) -> None:
        self._offsets[_digest(key)] = offset

    def find(self, key: str) -> int | None:
        stored = self._offsets.get(_digest(key))
        return None if stored is None else max(stored, ~stored)

    def mark(self, key: str) -> None:
        """A sample asks for this key; `unmarked` tells what none asked for."""
        digest = _digest(key)
        stored = self._offsets.get(digest, -1)
        if stored >= 0:
            self._offsets[digest] = ~stored

    def unmarked(self, limit: int) -> tuple[int, list[int]]:
        """How many lines nobody wanted, and where the first of them begin."""
        offsets = [stored for stored in self._offsets.values() if stored >= 0]
        return len(offsets), sorted(offsets)[:limit]


def _digest(key: str) -> int:
    return int.from_bytes(hashlib.blake2b(key.encode("utf-8", "surrogatepass"), digest_size=16).digest())


_UTF8_MARK = b"\xef\xbb\xbf"
# A file of these kinds may be one reply about many samples, as a judge wrote it.
_WHOLE_FILES = (".json", ".txt", ".md")
_MAX_WHOLE_BYTES = 64 << 20
_CHUNK_BYTES = 1 << 20
_NO_ID = "no usable id; give each reply the id of its sample, as text or integer"


@dataclass(frozen=True, slots=True)
class DatasetReplayJudge:
    """The reply stands in the sample's own row, in column `reply`, or `raw_output` or `raw`."""

    name: str = "replay"
    # Whether rows were made out of bundles.
    bundles: bool = False

    def reply(self, sample: Sample, protocol: JudgeProtocol) -> Reply | Missing:
        """The other names are not looked at: `response` and `output` are the judged text here."""
        shown = protocol.presentation
        if shown != PLAIN and sample.metadata.get(f"{REPLY_NAMES[0]}_{shown}") is not None:
            return recorded_reply(sample.metadata, f"{REPLY_NAMES[0]}_{shown}", self.name, sample.id)
        if shown not in (PLAIN, AB):
            return Missing(f"no recorded reply for id {sample.id!r} in order {shown}; it stands in `reply_{shown}`")
        column = next((name for name in REPLY_NAMES[:3] if sample.metadata.get(name) is not None), REPLY_NAMES[0])
        return recorded_reply(sample.metadata, column, self.name, sample.id, may_be_bundled=self.bundles)


@dataclass(frozen=True, slots=True)
class FileReplayJudge:
    """Replies in a file: JSON lines matched by id, of which only offsets are kept; bundles by name where asked for."""

    name: str
    path: Path
    index: OffsetIndex = field(repr=False, compare=False)
    wanted_judge: str | None = None
    bundles: tuple[PlacedBundle, ...] = field(default=(), repr=False, compare=False)
    matching: Matching | None = field(default=None, repr=False, compare=False)
    # Of the whole file, as it was when it was opened.
    sha256: str = ""
    length_bytes: int = 0

    @classmethod
    def open(
        cls, path: Path, name: str, *, takes_bundles: bool = False, longest_line: int = LONGEST_LINE_BYTES
    ) -> "FileReplayJudge":
        """Reads the file once, and refuses it as a whole when a line is bad or an id stands twice."""
        path, wanted = split_judge(path)
        judge = cls(name, path, OffsetIndex(), wanted)
        bundle = read_whole_bundle(path, longest_line)
        if bundle is not None and not takes_bundles:
            raise DatasetError(f"{path}: one reply about many samples; add --bundles to take it apart")
        bundles = tuple(judge._index_lines(takes_bundles, longest_line)) if bundle is None else (bundle,)
        if not len(judge.index) and not bundles:
            of = f" of judge {wanted!r}" if wanted else ""
            raise DatasetError(f'{path}: holds no replies{of}; expected JSON lines such as {{"id": …, "reply": …}}')
        length_bytes = path.stat().st_size
        return replace(judge, bundles=bundles, sha256=digest_start(path, length_bytes), length_bytes=length_bytes)

    def has_grown_from(self, sha256: str, length_bytes: int) -> bool:
        """Whether lines were only added since: every reply that was there is still the same."""
        # Never with bundles: a name that fitted one entry may fit two when another is added.
        can_have_grown = not self.bundles and length_bytes < self.length_bytes
        return can_have_grown and digest_start(self.path, length_bytes) == sha256

    def matched_to(self, samples: Callable[[], Iterable[Sample]]) -> "FileReplayJudge":
        """A judge with every bundled entry matched to its sample; needs all samples, because a name may fit two."""
        return replace(self, matching=match_bundles(self.bundles, samples)) if self.bundles else self

    def note_sample(self, sample_id: str) -> None:
        """Told of every sample of the dataset, so that replies to none of them can be counted."""
        self.index.mark(sample_id)
        for order in (AB, BA) if self.index.has_orders else ():
            self.index.mark(_in_order(sample_id, order))

    def unmatched(self, limit: int) -> tuple[int, list[str]]:
        """How many replies are about no sample, and the first of them as their file names them."""
        count, offsets = self.index.unmarked(limit)
        entries = self.matching.unmatched if self.matching is not None else ()
        named = [repr(_id_text(self._row_at(offset))) for offset in offsets] + [entry.label for entry in entries]
        return count + len(entries), named[:limit]

    def reply(self, sample: Sample, protocol: JudgeProtocol) -> Reply | Missing:
        """The recorded text to the letter, or Missing; never a guess by position."""
        shown = protocol.presentation
        offset = self.index.find(_in_order(sample.id, shown)) if shown != PLAIN else None
        # A reply that names no order is about the sample as it stands, which of a pair is A first.
        offset = self.index.find(sample.id) if offset is None and shown in (PLAIN, AB) else offset
        if offset is not None:
            row = self._row_at(offset)
            return recorded_reply(row, _reply_name(row), self.name, sample.id)
        if self.matching is None or shown not in (PLAIN, AB):
            in_order = "" if shown == PLAIN else f" in order {shown}"
            return Missing(f"no recorded reply for id {sample.id!r}{in_order}")
        return self.matching.reply(sample, self.name)

    def _index_lines(self, takes_bundles: bool, longest_line: int) -> Iterator[PlacedBundle]:
        """Fills the index; gives the lines whose reply is about many samples."""
        for number, offset, line in _lines(self.path, longest_line):
            place = f"{self.path}:{number}"
            row = _checked_row(line, place)
            if self.wanted_judge is not None and judge_of(row) != self.wanted_judge:
                continue
            reply = row[_reply_name(row)]
            # Nothing without a bracket is a bundle, and most replies have none.
            bundle = split_bundle(reply) if takes_bundles and isinstance(reply, str) and "[" in reply else None
            row_id = _id_text(row)
            if bundle is not None:
                yield PlacedBundle(bundle, f"line {number}", scope_of(row), judge_of(row), row_id)
                continue
            if row_id is None:
                more = "" if takes_bundles else ", or add --bundles if it is about many"
                raise DatasetError(f"{place}: {_NO_ID}{more}")
            order = _order_of(row)
            self.index.has_orders |= order is not None
            key = row_id if order is None else _in_order(row_id, order)
            earlier = self.index.find(key)
            if earlier is not None:
                raise self._twice(place, row_id, row, earlier)
            self.index.add(key, offset)

    def _twice(self, place: str, row_id: str, row: Mapping[str, Any], earlier: int) -> DatasetError:
        # It was read once: no line before this one is longer than this file.
        line = next(number for number, at, _ in _lines(self.path, self.path.stat().st_size) if at == earlier)
        first, second = judge_of(self._row_at(earlier)), judge_of(row)
        advice = f"; take the judges apart with --judge replay:{self.path}#{first} --judge replay:{self.path}#{second}"
        are_two = first and second and first != second
        return DatasetError(f"{place}: id {row_id!r} stood already at line {line}{advice if are_two else ''}")

    def _row_at(self, offset: int) -> Mapping[str, Any]:
        # Opened anew each time: nothing to share between processes and threads, at 20 µs a reply.
        try:
            with self.path.open("rb") as file:
                file.seek(offset)
                row = orjson.loads(file.readline())
        except (OSError, orjson.JSONDecodeError) as error:
            raise ConfigurationError(f"{self.path}: changed while it was being read; run again") from error
        return row if isinstance(row, dict) else {}


def split_judge(path: Path) -> tuple[Path, str | None]:
    """`FILE#JUDGE` takes the lines of one judge, unless a file of that very name exists."""
    name, mark, judge = str(path).rpartition("#")
    return (Path(name), judge) if mark and name and judge and not path.exists() else (path, None)


def digest_start(path: Path, length_bytes: int) -> str:
    """sha256 over the file's first bytes."""
    digest = hashlib.sha256()
    try:
        with path.open("rb") as file:
            while length_bytes and (data := file.read(min(_CHUNK_BYTES, length_bytes))):
                digest.update(data)
                length_bytes -= len(data)
    except OSError as error:
        raise ConfigurationError(f"{path}: recorded replies cannot be read ({error.strerror})") from error
    return digest.hexdigest()


def read_whole_bundle(path: Path, longest_line: int) -> PlacedBundle | None:
    """None for JSON lines, whatever the file is called."""
    if path.suffix.lower() not in _WHOLE_FILES or not path.is_file() or path.stat().st_size > _MAX_WHOLE_BYTES:
        return None
    if _is_row(next((line for _, _, line in _lines(path, longest_line)), b"")):
        return None
    try:
        bundle = split_bundle(path.read_bytes().decode())
    except UnicodeDecodeError as error:
        raise DatasetError(f"{path}: not valid UTF-8 (byte {error.start}); convert the file to UTF-8") from error
    return None if bundle is None else PlacedBundle(bundle, path.name)


def _is_row(line: bytes) -> bool:
    try:
        row = orjson.loads(line)
    except orjson.JSONDecodeError:
        return False
    return isinstance(row, dict) and bool(_reply_name(row))


def _lines(path: Path, longest_line: int) -> Iterator[tuple[int, int, bytes]]:
    """Line number, byte offset and text of every line that is not blank."""
    try:
        with path.open("rb") as file:
            offset = 0
            for number, line in enumerate(bounded_lines(path, file, longest_line), start=1):
                skipped = len(_UTF8_MARK) if number == 1 and line.startswith(_UTF8_MARK) else 0
                if line[skipped:].strip():
                    yield number, offset + skipped, line[skipped:]
                offset += len(line)
    except OSError as error:
        raise ConfigurationError(f"{path}: recorded replies cannot be read ({error.strerror})") from error


def _checked_row(line: bytes, place: str) -> dict[str, Any]:
    try:
        row = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise DatasetError(f"{place}: not a JSON line ({error})") from error
    if not isinstance(row, dict):
        raise DatasetError(f"{place}: a JSON object is expected, this is {type(row).__name__}")
    if not _reply_name(row):
        expected = f"no reply; expected one of the columns {', '.join(REPLY_NAMES)}"
        raise DatasetError(f"{place}: {_NO_ID if _id_text(row) is None else expected}")
    return row


def _order_of(row: Mapping[str, Any]) -> str | None:
    """The order in which a pair was shown, where the row says so."""
    order = str(row.get("order") or row.get("presentation") or "").lower()
    return order if order in (AB, BA) else None


def _in_order(sample_id: str, order: str) -> str:
    return f"{sample_id}\x1f{order}"


def _id_text(row: Mapping[str, Any]) -> str | None:
    value = row.get("id")
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else None


def _reply_name(row: Mapping[str, Any]) -> str:
    """Blank where there is no reply."""
    return next((name for name in REPLY_NAMES if name in row), "")

"""A file of rows as a stream of samples: surveyed once before anything is judged, then read again."""

import difflib
import hashlib
import stat
from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from mixseek.domain.samples import Sample
from mixseek.errors import DatasetError
from mixseek.storage.attachments import Attachments, Demands
from mixseek.storage.response_files import ResponseFiles
from mixseek.storage.rows import RESPONSE_UNKNOWN, RowError, RowReader
from mixseek.storage.spool import spool_stdin
from mixseek.storage.text_files import DelimitedLines, JsonLines, Row, reading

STDIN = "-"
SUPPORTED = ".jsonl, .ndjson, .json, .csv, .tsv (also with .gz), .parquet, or - for JSONL on stdin"
# Hashes of ids, spread so that looking for equal ones never needs a set of all of them.
_BUCKETS = 64
_PLACES_KEPT = 5
# Of a batch: samples, their journal lines and copies on the way are in memory together.
_BATCH_CHARACTERS = 4 << 20


class RowSource(Protocol):
    """A file as rows; `unit` is the word for the number that comes with each."""

    path: Path

    @property
    def unit(self) -> str: ...
    @property
    def format(self) -> str: ...
    def rows(self) -> Iterator[tuple[int, Row]]: ...


@dataclass(frozen=True, slots=True)
class Survey:
    """What one whole pass over a dataset found; every row in it is a sample, and every id is unique."""

    rows: int
    sha256: str
    size_bytes: int
    rows_without_ground_truth: int
    columns: tuple[str, ...]
    # Which column filled which field.
    mapping: Mapping[str, str]
    # Rows that lack a name of the grid, by field, and where the first of them stand.
    incomplete: Mapping[str, int] = field(default_factory=dict)
    incomplete_places: tuple[int, ...] = ()
    # Texts that stand in files of their own; `sha256` covers them too.
    attached: Mapping[str, Any] = field(default_factory=dict)
    # What a person should know of rows that were taken as they are: one sentence each, with the first places.
    notices: tuple[str, ...] = ()


@dataclass(slots=True)
class _Places:
    """How many, and where the first ones are."""

    count: int = 0
    first: list[int] = field(default_factory=list)

    def add(self, place: int) -> None:
        self.count += 1
        if self.count <= _PLACES_KEPT:
            self.first.append(place)

    def describe(self, unit: str) -> str:
        shown = ", ".join(map(str, self.first))
        more = f" and {self.count - len(self.first):,} more" if self.count > len(self.first) else ""
        return f"in {unit}{'s' if self.count > 1 else ''} {shown}{more}"


class Dataset:
    """The SampleSource port over a file."""

    def __init__(
        self,
        name: str,
        source: RowSource,
        mapping: Mapping[str, str],
        demands: Demands | None = None,
        note_row: Callable[[Mapping[str, Any]], None] | None = None,
    ) -> None:
        self.name = name
        self.path = source.path
        self._source = source
        self._mapping = dict(mapping)
        self._demands = demands or Demands()
        # Told of every row's fields while the dataset is surveyed.
        self._note_row = note_row
        # Relative paths in rows begin at the dataset; for what is piped in, where the command was typed.
        self._directory = Path() if name == STDIN else source.path.parent
        self._files = ResponseFiles(self._directory, allows_outside=self._demands.allows_outside_files)

    @property
    def stem(self) -> str:
        """A short name for runs over this dataset."""
        return "stdin" if self.name == STDIN else self.path.name.partition(".")[0] or self.path.name

    @property
    def description(self) -> Mapping[str, Any]:
        """For the manifest; the first call reads the whole file."""
        survey = self.survey()
        return {
            "path": self.name,
            "format": self._source.format,
            "sha256": survey.sha256,
            "bytes": survey.size_bytes,
            "rows": survey.rows,
            "mapping": dict(survey.mapping),
            **survey.attached,
        }

    def survey(self) -> Survey:
        """Check every row before anything is paid for; raises DatasetError for the first that cannot be judged."""
        return self._survey

    def batches(self, size: int) -> Iterator[list[Sample]]:
        """Lists of at most `size` samples, in the order of the file; of fewer where their texts are long."""
        surveyed = self.__dict__.get("_fingerprint")
        attachments = self._attachments()
        batch: list[Sample] = []
        characters = 0
        for _, values in self._checked_rows(self._reader(), attachments):
            sample = Sample(**values)
            batch.append(sample)
            characters += sample.characters
            if len(batch) == size or characters >= _BATCH_CHARACTERS:
                yield batch
                batch, characters = [], 0
        if batch:
            yield batch
        if surveyed is None:
            return
        if surveyed != fingerprint(self.path):
            raise DatasetError(f"{self.name}: changed while it was being judged; run the same command again")
        if attachments.description() != self.survey().attached:
            raise DatasetError(f"{self.name}: files that its rows name changed meanwhile; run the same command again")

    @cached_property
    def _fingerprint(self) -> tuple[int, int]:
        return fingerprint(self.path)

    @cached_property
    def _survey(self) -> Survey:
        size_bytes, _ = self._fingerprint
        reader, attachments = self._reader(), self._attachments()
        buckets = [array("q") for _ in range(_BUCKETS)]
        rows = without_truth = 0
        incomplete: Counter[str] = Counter()
        places: list[int] = []
        unnamed, empty = _Places(), _Places()
        for place, values in self._checked_rows(reader, attachments):
            if reader.is_blank_id:
                unnamed.add(place)
            response = values["response"]
            if (not response or response.isspace()) and not values.get("metadata", {}).get(RESPONSE_UNKNOWN):
                empty.add(place)
            code = hash(values["id"])
            buckets[code % _BUCKETS].append(code)
            rows += 1
            if self._note_row is not None:
                self._note_row(values)
            if missing := self._demands.missing(values):
                incomplete.update(missing)
                places.extend([place] if len(places) < _PLACES_KEPT else [])
            without_truth += "ground_truth" not in values
        if not rows:
            raise DatasetError(f"{self.name}: the dataset is empty; give it at least one row with a `response`")
        try:
            reader.check_mapped_columns()
            self._demands.refuse_absent(incomplete, rows, reader.columns)
        except RowError as error:
            raise DatasetError(f"{self.name}: {error}") from error
        self._refuse_duplicates(buckets)
        digest = attachments.cover(digest_file(self.path))
        return Survey(
            rows,
            digest,
            size_bytes,
            without_truth,
            tuple(reader.columns),
            dict(reader.resolved),
            incomplete,
            tuple(places),
            attachments.description(),
            tuple(self._notices(unnamed, empty)),
        )

    def _notices(self, unnamed: "_Places", empty: "_Places") -> Iterator[str]:
        unit = self._source.unit
        if unnamed.count:
            yield f"{self.name}: blank `id` {unnamed.describe(unit)}: the number of the row is taken instead"
        if empty.count:
            yield f"{self.name}: empty response {empty.describe(unit)}: judged as no answer"

    def _reader(self) -> RowReader:
        return RowReader(self._mapping, needs_response=self._demands.response)

    def _attachments(self) -> Attachments:
        return Attachments(self._files, self._directory, self._demands)

    def _checked_rows(self, reader: RowReader, attachments: Attachments) -> Iterator[tuple[int, dict[str, Any]]]:
        """Place and the sample's fields; the id of a row without one counts rows, not lines."""
        read, check = reader.values, self._demands.check
        for number, (place, row) in enumerate(self._source.rows(), 1):
            try:
                values = read(row, number)
                attachments.fill(values)
                check(values)
            except RowError as error:
                raise DatasetError(f"{self.name}: {self._source.unit} {place}: {error}") from error
            yield place, values

    def _refuse_duplicates(self, buckets: list["array[int]"]) -> None:
        """Equal hashes only raise the suspicion; a second pass finds both places, or that the ids differ."""
        suspects: set[int] = set()
        for bucket in buckets:
            if len(set(bucket)) < len(bucket):
                suspects.update(code for code, times in Counter(bucket).items() if times > 1)
        if not suspects:
            return
        places: dict[str, int] = {}
        for place, values in self._checked_rows(self._reader(), self._attachments()):
            sample_id = values["id"]
            if hash(sample_id) not in suspects:
                continue
            first = places.setdefault(sample_id, place)
            if first != place:
                unit = self._source.unit
                raise DatasetError(
                    f"{self.name}: {unit}s {first} and {place} have the same id {sample_id!r}; "
                    "make ids unique, or name another column with --map id=COLUMN"
                )


def open_dataset(
    path: str,
    *,
    mapping: Mapping[str, str],
    spool_directory: Path | None,
    stdin: BinaryIO | None = None,
    demands: Demands | None = None,
    note_row: Callable[[Mapping[str, Any]], None] | None = None,
) -> Dataset:
    """The dataset behind a path or `-`; raises DatasetError where there is none that can be read.

    Stdin is copied into `spool_directory` first, so that it can be read twice and the run resumed.
    """
    RowReader(mapping)  # A wrong --map is said before a long stdin is copied.
    if path != STDIN:
        return Dataset(path, choose_rows(check_file(path), mapping, demands), mapping, demands, note_row)
    if spool_directory is None:
        raise DatasetError("-: stdin cannot be read here; name a file")
    lines: RowSource = JsonLines(spool_stdin(spool_directory, stdin))
    if demands is None or demands.response:
        return Dataset(STDIN, lines, mapping, demands, note_row)
    # Late, here and below: only recorded replies come in bundles.
    from mixseek.storage.bundled_rows import ReplyRows

    return Dataset(STDIN, ReplyRows(lines, mapping, demands.bundles), mapping, demands, note_row)


def choose_rows(path: Path, mapping: Mapping[str, str], demands: Demands | None) -> RowSource:
    """Where replies are recorded, a file may be a bundle of them, and so may a row."""
    if demands is None or demands.response:
        return choose_source(path)
    from mixseek.storage.bundled_rows import ReplyRows, choose_reply_source

    return choose_reply_source(path, demands.bundles) or ReplyRows(choose_source(path), mapping, demands.bundles)


def check_file(path: str) -> Path:
    """An existing, regular, readable file."""
    file = Path(path)
    try:
        mode = file.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        close = difflib.get_close_matches(file.name, list_directory(file.parent), n=1)
        meant = f"; did you mean {file.parent / close[0]}?" if close else "; check the path, or use - for stdin"
        raise DatasetError(f"{path}: no such file{meant}") from None
    except OSError as error:
        raise DatasetError(f"{path!r}: cannot be opened: {(error.strerror or str(error)).lower()}") from error
    except ValueError as error:
        raise DatasetError(f"{path!r}: cannot be opened: {error}") from error
    if stat.S_ISDIR(mode):
        raise DatasetError(
            f"{path}: a directory, expected a file; name one inside it, such as {file / 'answers.jsonl'}"
        )
    if not stat.S_ISREG(mode):
        raise DatasetError(f"{path}: not a regular file, so it cannot be read twice; pipe it in and use - instead")
    return file


def list_directory(directory: Path) -> list[str]:
    """Names in a directory, none if it cannot be listed."""
    try:
        return [entry.name for entry in directory.iterdir()]
    except OSError:
        return []


def choose_source(path: Path) -> RowSource:
    """By suffix; content that belies it is refused when it is read."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    packed = suffixes[-1:] == [".gz"]
    suffix = suffixes[-2:-1] if packed else suffixes[-1:]
    match suffix:
        case [".jsonl" | ".ndjson"]:
            return JsonLines(path)
        case [".csv" | ".tsv" as delimited]:
            return DelimitedLines(path, delimited[1:])
        case [".json"]:
            return choose_json(path)
        case [".parquet"] if not packed:
            from mixseek.storage.duckdb_files import ParquetTable

            return ParquetTable(path)
    shown = "".join(suffixes[-2:]) if packed else "".join(suffixes[-1:])
    raise DatasetError(f"{path}: {f'unknown suffix {shown}' if shown else 'no suffix'}; supported are {SUPPORTED}")


def choose_json(path: Path) -> RowSource:
    """A .json file may be one list of objects, or JSON lines by another name."""
    with reading(path) as stream:
        is_list = next((line.strip()[:1] == b"[" for line in stream if line.strip()), False)
    if not is_list:
        return JsonLines(path)
    from mixseek.storage.duckdb_files import JsonArray

    return JsonArray(path)


def fingerprint(path: Path) -> tuple[int, int]:
    """Size and time of change: cheap enough to ask whenever a pass ends."""
    status = path.stat()
    return status.st_size, status.st_mtime_ns


def digest_file(path: Path) -> str:
    """sha256 of the file's bytes as they are on disk."""
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        read: Callable[[], bytes] = partial(stream.read, 1 << 20)
        for chunk in iter(read, b""):
            digest.update(chunk)
    return digest.hexdigest()

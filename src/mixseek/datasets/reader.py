"""A dataset as samples: surveyed once so that a bad row is named before anything is judged, then read to be judged."""

import difflib
import hashlib
import stat
from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, BinaryIO

from mixseek.datasets.attachments import Attachments, RowRequirements
from mixseek.datasets.files import Rows, RowSource, read_delimited, read_json_lines, reading
from mixseek.datasets.importers.reading.sniffing import Shape, Sniffed, sniff
from mixseek.datasets.importers.registry import recognise_sniffed
from mixseek.datasets.importers.samples.grades import grade_table
from mixseek.datasets.pairing import PairChoice, PairMaker, with_opponents
from mixseek.datasets.parts import find_parts, join_sources
from mixseek.datasets.reply_rows import choose_reply_source, read_replies
from mixseek.datasets.response_files import ResponseFiles
from mixseek.datasets.rows import (
    ALIASES,
    FILE_FIELDS,
    PAIR_ALIASES,
    REPLY_COLUMNS,
    RESPONSE_NULL,
    RESPONSE_UNKNOWN,
    RowError,
    RowReader,
    asked_in,
    name_question,
)
from mixseek.datasets.spool import spool_stdin
from mixseek.datasets.tables import read_json_array, read_parquet
from mixseek.datasets.wrapped import find_wrapping, read_wrapped
from mixseek.domain.lines import LONGEST_LINE_BYTES
from mixseek.domain.samples import RESPONSE_ERROR, Sample
from mixseek.errors import DatasetError
from mixseek.lazy_dataclass import dataclass
from mixseek.storage.durable import digest_file

STDIN = "-"
SUPPORTED = ".jsonl, .ndjson, .json, .csv, .tsv (also with .gz), .parquet, or - for JSONL on stdin"
# Those that are tables of somebody's own, and no logs.
_PLAIN_FORMATS = {"jsonl", "json", "csv", "tsv", "parquet"}
# Hashes of ids, spread so that looking for equal ones never needs a set of all of them.
_BUCKETS = 64
_PLACES_KEPT = 5
_SNIFFED_BYTES = 8_192
# In a mapping, before the column whose digest names the question; no column of a file is meant then.
_DIGEST_OF = "digest of "
# An object that has one of them is a row, whatever lists are in it.
_ROW_COLUMNS = ("response", *ALIASES["response"], *PAIR_ALIASES["response"], *FILE_FIELDS, *REPLY_COLUMNS)
# Of a batch: samples, their journal lines and copies on the way are in memory together.
_BATCH_CHARACTERS = 4 << 20


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
    # Whether rows that ask the same, and name no question, got the digest of it as its name.
    names_questions: bool = False


def describe_places(places: Sequence[int], unit: str) -> str:
    """The first ones, and how many more."""
    shown = ", ".join(map(str, places[:_PLACES_KEPT]))
    more = f" and {len(places) - _PLACES_KEPT:,} more" if len(places) > _PLACES_KEPT else ""
    return f"in {unit}{'s' if len(places) > 1 else ''} {shown}{more}"


class Remarks:
    """Rows that are taken as they are, and that a person is told of."""

    def __init__(self, judges_steps: bool = False) -> None:
        # Whether steps that led to no response are judged all the same.
        self._judges_steps = judges_steps
        self._unnamed, self._empty = array("q"), array("q")
        # Ids of samples whose model gave no response, and of those whose response is null.
        self._failed: list[str] = []
        self._null: list[str] = []

    def note(self, place: int, values: Mapping[str, Any], has_blank_id: bool) -> None:
        """Told of every row."""
        if has_blank_id:
            self._unnamed.append(place)
        response = values["response"]
        if (not response or response.isspace()) and not (self._judges_steps and values.get("steps")):
            metadata = values.get("metadata", {})
            if metadata.get(RESPONSE_NULL):
                self._null.append(values["id"])
            elif metadata.get(RESPONSE_ERROR):
                self._failed.append(values["id"])
            elif not metadata.get(RESPONSE_UNKNOWN):
                self._empty.append(place)

    def refuse_nulls(self, rows: int, column: str) -> None:
        """Where each response is null there is nothing to judge: another column was surely meant."""
        if len(self._null) == rows:
            raise RowError(
                f"no row has a response: `{column}` is null in each of {rows:,} rows; name its column with "
                "--map response=COLUMN"
            )

    def describe(self, unit: str, rows: int) -> list[str]:
        """One sentence each, with the first places."""
        sentences = {
            "blank `id` {}: the number of the row is taken instead": self._unnamed,
            "empty response {}: judged as no answer": self._empty,
        }
        notices = [words.format(describe_places(places, unit)) for words, places in sentences.items() if places]
        for ids, why in ((self._failed, "because their model gave none"), (self._null, "theirs is null")):
            if ids:
                more = len(ids) - _PLACES_KEPT
                first = ", ".join(ids[:_PLACES_KEPT]) + (f" and {more:,} more" if more > 0 else "")
                advice = f"; say why in `{RESPONSE_ERROR}`" if ids is self._null else ""
                notices.append(
                    f"{len(ids):,} of {rows:,} samples have no response, {why} ({first}): filed under "
                    f"INCOMPLETE_COVERAGE, without asking any judge{advice}"
                )
        return notices


def name_repeated(questions: "array[int]", mapping: dict[str, str]) -> list[str]:
    """A sentence where questions without a name stand in several rows, which the mapping then says as well."""
    several = sum(times > 1 for times in Counter(questions).values())
    if not several:
        return []
    column = mapping["question"]
    mapping["question_id"] = f"{_DIGEST_OF}{column}"
    stand = "question stands" if several == 1 else "questions stand"
    return [
        f"no `question_id`, and {several:,} {stand} in several rows: rows with the same `{column}` and ground truth "
        "are one question, and its digest is the `question_id`"
    ]


class Dataset:
    """Streams a file; reading it twice gives the same samples in the same order."""

    def __init__(
        self,
        name: str,
        source: RowSource,
        mapping: Mapping[str, str],
        requirements: RowRequirements | None = None,
        note_row: Callable[[Mapping[str, Any]], None] | None = None,
        pairs: PairChoice | None = None,
    ) -> None:
        self.name = name
        self.path = source.path
        self._source = source
        self._requirements = requirements or RowRequirements()
        # Made pairs have the names that samples have; the mapping is for the outputs that they are made of.
        self._mapping = dict(mapping) if pairs is None else {}
        self._pairs = None if pairs is None else {**pairs.description, "mapping": dict(mapping)}
        # Told of every row's fields while the dataset is surveyed.
        self._note_row = note_row
        # Relative paths in rows begin at the dataset; for a copy of what was piped in or in memory, where we are.
        self._is_copy = Path(name) != source.path
        directory = Path() if self._is_copy else source.path.parent
        self._files = ResponseFiles(directory, allows_outside=self._requirements.allows_outside_files)

    @property
    def stem(self) -> str:
        """A short name for runs over this dataset."""
        if self._is_copy:
            return "stdin" if self.name == STDIN else self.name
        return self.path.name.partition(".")[0] or self.path.name

    @property
    def description(self) -> Mapping[str, Any]:
        """What the manifest says of it; the first call reads the whole file."""
        survey = self.survey()
        return {
            "path": self.name,
            "format": self._source.format,
            "sha256": survey.sha256,
            "bytes": survey.size_bytes,
            "rows": survey.rows,
            "mapping": dict(survey.mapping),
            **({"pairs": self._pairs} if self._pairs is not None else {}),
            **survey.attached,
        }

    def batches(self, size: int) -> Iterator[list[Sample]]:
        """Lists of at most `size` samples, in the order of the file; of fewer where their texts are long."""
        surveyed = self.__dict__.get("_fingerprint")
        attachments = self._attachments()
        batch: list[Sample] = []
        characters = 0
        names_questions = self._may_name_questions and self.survey().names_questions
        for _, values in self._checked_rows(self._reader(), attachments):
            if names_questions and (question := asked_in(values)):
                values["question_id"] = name_question(*question)
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
        if surveyed != fingerprint(self._source.files):
            raise DatasetError(f"{self.name}: changed while it was being judged; run the same command again")
        if attachments.description() != self.survey().attached:
            raise DatasetError(f"{self.name}: files that its rows name changed meanwhile; run the same command again")

    @cached_property
    def _fingerprint(self) -> list[tuple[int, int]]:
        return fingerprint(self._source.files)

    def survey(self) -> Survey:
        """Check every row before anything is paid for; raises DatasetError for the first that cannot be judged."""
        return self._survey

    @cached_property
    def _survey(self) -> Survey:
        size_bytes = sum(size for size, _ in self._fingerprint)
        reader, attachments = self._reader(), self._attachments()
        buckets = [array("q") for _ in range(_BUCKETS)]
        rows = without_truth = 0
        incomplete: Counter[str] = Counter()
        lacking, question_hashes, are_named = array("q"), array("q"), False
        remarks = Remarks(self._requirements.judges_steps)
        for place, values in self._checked_rows(reader, attachments):
            are_named |= "question_id" in values
            if self._may_name_questions and (question := asked_in(values)):
                question_hashes.append(hash(question))
            remarks.note(place, values, reader.is_blank_id)
            code = hash(values["id"])
            buckets[code % _BUCKETS].append(code)
            rows += 1
            if self._note_row is not None:
                self._note_row(values)
            if missing := self._requirements.missing(values):
                incomplete.update(missing)
                lacking.append(place)
            without_truth += "ground_truth" not in values
        if not rows:
            why = "".join(f"; {notice}" for notice in self._source.notices())
            raise DatasetError(f"{self.name}: the dataset is empty; give it at least one row with a `response`{why}")
        try:
            reader.check_mapped_columns()
            self._requirements.refuse_absent(incomplete, rows, reader.columns)
            remarks.refuse_nulls(rows, reader.resolved.get("response", "response"))
        except RowError as error:
            raise DatasetError(f"{self.name}: {error}") from error
        self._refuse_duplicates(buckets)
        mapping = dict(reader.resolved)
        notices = [*self._source.notices(), *remarks.describe(self._source.unit, rows)]
        repeated = () if are_named else name_repeated(question_hashes, mapping)
        notices = [*self._describe_guesses(reader), *notices, *repeated]
        return Survey(
            rows,
            attachments.cover(self._digest()),
            size_bytes,
            without_truth,
            tuple(reader.columns),
            mapping,
            incomplete,
            tuple(lacking[:_PLACES_KEPT]),
            attachments.description(),
            tuple(f"{self.name}: {notice}" for notice in notices),
            mapping.get("question_id", "").startswith(_DIGEST_OF),
        )

    @property
    def _may_name_questions(self) -> bool:
        """Not where a protocol places samples in a grid by names that somebody gave; pairs are named row by row."""
        needs = self._requirements.needs
        return not needs.is_pair and "question_id" not in needs.fields

    def _describe_guesses(self, reader: RowReader) -> list[str]:
        """What nobody said and was taken for granted, in one line; nothing where every column has its field's name."""
        guesses = [f"{field}={column}" for field, column in reader.guesses().items()]
        ids = [] if "id" in reader.resolved else [f"ids by {self._source.unit}"]
        return [f"read as {', '.join([*guesses, *ids])}"] if guesses else []

    def _digest(self) -> str:
        """The digest of everything that rows come from: questions or scores of a log may stand in a file beside it."""
        digests = [digest_file(path) for path in (*self._source.files, *self._source.companions)]
        return digests[0] if len(digests) == 1 else hashlib.sha256("\n".join(digests).encode()).hexdigest()

    def _reader(self) -> RowReader:
        required = self._requirements
        return RowReader(self._mapping, needs_response=required.response, is_pair=required.needs.is_pair)

    def _attachments(self) -> Attachments:
        return Attachments(self._files, self._requirements)

    def _checked_rows(self, reader: RowReader, attachments: Attachments) -> Iterator[tuple[int, dict[str, Any]]]:
        """Place and the sample's fields; the id of a row without one counts rows, not lines."""
        read, check = reader.values, self._requirements.check
        for number, (place, row) in enumerate(self._source.rows(), 1):
            try:
                values = read(row, number)
                attachments.fill(values)
                check(values)
            except RowError as error:
                raise DatasetError(f"{self._source.where(self.name, place)}: {error}") from error
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
                places_of = f"{self.name}: {self._source.unit}s {first} and {place}"
                if self._source.locate is not None:
                    places_of = f"{self._source.locate(first)} and {self._source.locate(place)}"
                raise DatasetError(
                    f"{places_of} have the same id {sample_id!r}; "
                    "make ids unique, or name another column with --map id=COLUMN"
                )


def open_dataset(
    path: str,
    *,
    name: str | None = None,
    mapping: Mapping[str, str],
    spool_directory: Path | None,
    stdin: BinaryIO | None = None,
    requirements: RowRequirements | None = None,
    note_row: Callable[[Mapping[str, Any]], None] | None = None,
    pairs: PairChoice | None = None,
    longest_line: int = LONGEST_LINE_BYTES,
    source: RowSource | None = None,
    shows_reasoning: bool = False,
) -> Dataset:
    """The dataset behind a path or `-`, which is copied to be read twice; DatasetError where none can be read.

    `name` is what it is called where the file is a copy of what a program had in memory; `source` is where rows come
    from that are no file's. With `shows_reasoning` a response begins with the reasoning that stands beside it.
    """
    # A wrong --map is said before a long stdin is copied.
    RowReader(mapping, is_pair=requirements is not None and requirements.needs.is_pair and pairs is None)
    files = None if source is not None else find_files(path, spool_directory, stdin)
    # Where replies are recorded, a file may be a bundle of them, and so may a row.
    if files is not None and requirements is not None and not requirements.response:
        if path != STDIN and not files.parts:
            source = choose_reply_source(files.file, requirements.bundles)
        if source is None:
            plain = files.chosen_by(choose_source, longest_line)
            source = replace(plain, rows=partial(read_replies, plain, mapping, requirements.bundles))
    if files is not None and source is None:
        source = files.chosen_by(choose_any_source, longest_line)
    assert source is not None, "a dataset has files, or a source of its own"
    if name is not None:
        source = replace(source, unit="row")
    if shows_reasoning:
        source = replace(source, rows=partial(with_reasoning, source.rows))
    source = made_of_rows(source, mapping, requirements, pairs)
    return Dataset(name or path, source, mapping, requirements, note_row, pairs)


def made_of_rows(
    source: RowSource, mapping: Mapping[str, str], requirements: RowRequirements | None, pairs: PairChoice | None
) -> RowSource:
    """Rows with what is made of them: grades as scores, and pairs of single outputs or of two columns."""
    if requirements is not None and requirements.scores and set(source.format.split("+")) <= _PLAIN_FORMATS:
        source = replace(source, rows=partial(grade_table, source.rows))
    if pairs is not None:
        return PairMaker(source, mapping, pairs).paired_source()
    if requirements is not None and requirements.needs.is_pair:
        plain_rows = source.rows
        return replace(source, rows=lambda: with_opponents(plain_rows()))
    return source


@dataclass(frozen=True, slots=True)
class DataFiles:
    """What a path names: one file, or the parts of a folder or a glob."""

    file: Path
    parts: Sequence[Path] = ()

    def chosen_by(self, choose: Callable[[Path, int], RowSource], longest_line: int) -> RowSource:
        """All of them as one source."""
        sources = [choose(part, longest_line) for part in self.parts or (self.file,)]
        return join_sources(self.file, sources) if self.parts else sources[0]


def find_files(path: str, spool_directory: Path | None, stdin: BinaryIO | None = None) -> DataFiles:
    """The files behind a path or `-`, which is copied; DatasetError where there are none."""
    if path != STDIN:
        parts = find_parts(path, spool_directory)
        return DataFiles(Path(path) if parts else check_file(path), parts)
    if spool_directory is None:
        raise DatasetError("-: stdin cannot be read here; name a file")
    return DataFiles(spool_stdin(spool_directory, stdin))


def with_reasoning(rows: Callable[[], Rows]) -> Rows:
    """Rows whose response begins with their reasoning, between the tags that models write themselves."""
    for place, row in rows():
        reasoning, response = row.get("reasoning"), row.get("response")
        if isinstance(reasoning, str) and reasoning and isinstance(response, str):
            row = {**row, "response": f"<think>\n{reasoning}\n</think>\n\n{response}"}
        yield place, row


def choose_any_source(path: Path, longest: int = LONGEST_LINE_BYTES) -> RowSource:
    """A log of another tool, told by its content, or a plain dataset, told by its suffix."""
    sniffed = sniff(path, longest)
    log = None if sniffed is None else recognise_sniffed(sniffed)
    return plain_source(path, longest, sniffed) if log is None else log.source()


def choose_rows_or_log(path: Path, longest: int, row_columns: tuple[str, ...], rows_of: str) -> RowSource:
    """The same where rows are told by other columns, and what the format `rows_of` would take for its log is rows."""
    sniffed = sniff(path, longest)
    log = None if sniffed is None else recognise_sniffed(sniffed)
    if log is None or log.format.name == rows_of:
        return plain_source(path, longest, sniffed, row_columns)
    return log.source()


def check_file(path: str) -> Path:
    """An existing, regular, readable file."""
    file = Path(path)
    try:
        mode = file.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        close = difflib.get_close_matches(file.name, [entry.name for entry in file.parent.glob("*")], n=1)
        meant = f"; did you mean {file.parent / close[0]}?" if close else "; check the path, or use - for stdin"
        raise DatasetError(f"{path}: no such file{meant}") from None
    except (OSError, ValueError) as error:
        why = (getattr(error, "strerror", None) or str(error)).lower()
        raise DatasetError(f"{path!r}: cannot be opened: {why}") from error
    if stat.S_ISDIR(mode):
        raise DatasetError(
            f"{path}: a directory, expected a file; name one inside it, such as {file / 'answers.jsonl'}"
        )
    if not stat.S_ISREG(mode):
        raise DatasetError(f"{path}: not a regular file, so it cannot be read twice; pipe it in and use - instead")
    return file


def choose_source(path: Path, longest: int = LONGEST_LINE_BYTES) -> RowSource:
    """A plain dataset, told by its suffix, also where it could be a log."""
    return plain_source(path, longest, sniff(path, longest))


def plain_source(
    path: Path, longest: int, sniffed: Sniffed | None, row_columns: tuple[str, ...] = _ROW_COLUMNS
) -> RowSource:
    """The rows by suffix; content that belies it is refused when it is read.

    `sniffed` says what its text looks like, and one of `row_columns` that an object is a row and holds none.
    """
    suffixes = [suffix.lower() for suffix in path.suffixes]
    packed = suffixes[-1:] == [".gz"]
    suffix = suffixes[-2:-1] if packed else suffixes[-1:]
    match suffix:
        case [".csv" | ".tsv" as delimited]:
            return RowSource(path, delimited[1:], "line", partial(read_delimited, path, delimited[1:], longest))
        case [".json"] if is_json_list(path, sniffed):
            return RowSource(path, "json", "item", partial(read_json_array, path))
        case [".jsonl" | ".ndjson" | ".json"]:
            key = None if sniffed is None else find_wrapping(sniffed, row_columns)
            if key is None:
                return RowSource(path, "jsonl", "line", partial(read_json_lines, path, longest))
            notice = f"rows are the items of `{key}`"
            return RowSource(path, "json", "item", partial(read_wrapped, path, key), notices=lambda: (notice,))
        case [".parquet"] if not packed:
            return RowSource(path, "parquet", "row", partial(read_parquet, path))
    shown = "".join(suffixes[-2:]) if packed else "".join(suffixes[-1:])
    raise DatasetError(f"{path}: {f'unknown suffix {shown}' if shown else 'no suffix'}; supported are {SUPPORTED}")


def is_json_list(path: Path, sniffed: Sniffed | None) -> bool:
    """A .json file may be one list of objects, or JSON lines by another name."""
    if sniffed is not None:
        return sniffed.shape is Shape.ITEMS
    with reading(path) as stream:
        # In pieces: the whole file may be one line.
        pieces = iter(lambda: stream.read(_SNIFFED_BYTES), b"")
        return next((piece.lstrip()[:1] == b"[" for piece in pieces if not piece.isspace()), False)


def fingerprint(paths: Sequence[Path]) -> list[tuple[int, int]]:
    """Size and time of change of each: cheap enough to ask whenever a pass ends."""
    return [(status.st_size, status.st_mtime_ns) for status in map(Path.stat, paths)]

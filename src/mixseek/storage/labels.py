"""Labels of a workspace: `labels/labels.jsonl`, append-only, and one file a draw under `labels/draws/`.

    {"text":…,"protocol":…,"rater":…,"share":…,"given":…,"drawn":…,"draw":…,"is_adjudicated":…,"sample":…,"run":…,
     "note":…,"at":…}

`text` is the digest of the judged text, so that a label serves every run that judges it, whatever its samples are
called; `share` is the label on a scale of 0 to 1, `given` what the rater wrote. Labels of the viewer say more (`id`,
`marks`, `seconds` …; see `domain.labels.Label`), and one that was taken back is followed by a line that `retracts` it.
"""

import contextlib
import csv
import dataclasses
import io
import re
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import orjson

from mixseek.domain.labels import (
    CellCount,
    Draw,
    DrawnRow,
    Label,
    LabelledRun,
    LabelledUnit,
    Stratum,
    TextWeight,
    allocate,
    standing_labels,
)
from mixseek.domain.lines import LONGEST_LINE_BYTES
from mixseek.domain.panels import PanelRule
from mixseek.errors import BusyError, ConfigurationError, DamagedError, DatasetError, StorageError
from mixseek.storage.dataset.files import Rows, read_delimited, read_json_array, read_json_lines, read_parquet
from mixseek.storage.duckdb_session import (
    Settings,
    attaching,
    confine,
    escape_glob,
    fetch_all,
    first_line,
    private_directory,
    read_statements,
    run_in_scratch,
    session_settings,
)
from mixseek.storage.durable import make_directory, replacing, storage_error
from mixseek.storage.index.loading import INDEX, attach_index, object_bytes, read_facts, stat_journal
from mixseek.storage.index.panel import panel_units
from mixseek.storage.index.run import JournalPlaces
from mixseek.storage.journal.journal import JournalFile, opening_journal
from mixseek.storage.journal.records import encode_readable_line
from mixseek.storage.seal import digest_with_key
from mixseek.storage.workspace import RunDirectory, Workspace
from mixseek.storage.workspace_key import workspace_key

# A label is written in a moment: whoever finds another writer waits for it.
_PATIENCE_SECONDS, _LOOK_EVERY_SECONDS = 10.0, 0.01
# The lock of the file is the process's: threads of one server take turns here.
_turn = threading.Lock()


class LabelStore:
    """The labels and draws of one workspace; nothing is made before something is written."""

    def __init__(self, workspace: Workspace) -> None:
        self.path = workspace.root / "labels" / "labels.jsonl"
        self.draws_directory = workspace.root / "labels" / "draws"

    def read(self, protocol: str | None = None) -> list[Label]:
        """All that stand, in the order in which they were given."""
        return standing_labels(self.lines(protocol))

    def lines(self, protocol: str | None = None) -> list[Label]:
        """What was taken back as well; a torn last line is one that was never finished."""
        try:
            data = self.path.read_bytes()
        except FileNotFoundError:
            return []
        except OSError as error:
            raise storage_error("read the labels", self.path, error) from error
        lines = data.split(b"\n")[:-1]
        labels = [self._decode(line, number) for number, line in enumerate(lines, 1)]
        return [label for label in labels if protocol is None or label.protocol == protocol]

    def state(self) -> tuple[int, ...]:
        """Changes with every label and every draw."""
        try:
            found = self.path.stat()
        except OSError:
            return (0, 0)
        return found.st_size, found.st_mtime_ns

    def append(self, labels: Sequence[Label]) -> list[Label]:
        """All of them, with one write that is on disk, or none; those whose id is there already were sent twice."""
        make_directory(self.path.parent, "create")
        with _turn:
            journal = self._open()
            try:
                known = {label.id for label in self.lines() if label.id}
                added = [label for label in labels if label.id not in known]
                journal.append(encode_readable_line(label_document(label)) for label in added)
                return added
            finally:
                journal.close()

    def _open(self) -> JournalFile:
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while True:
            try:
                return JournalFile(self.path)
            except BusyError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(_LOOK_EVERY_SECONDS)

    def _decode(self, line: bytes, number: int) -> Label:
        known = {item.name for item in dataclasses.fields(Label)}
        try:
            record = orjson.loads(line)
            label = Label(**{name: value for name, value in record.items() if name in known})
            is_sound = isinstance(label.text, str) and isinstance(label.rater, str) and 0 <= label.share <= 1
        except (ValueError, TypeError, AttributeError) as error:
            raise self._damaged(self.path, f"line {number} is no label") from error
        if not is_sound:
            raise self._damaged(self.path, f"line {number} is no label")
        return label

    # Draws: how the texts of a sheet were chosen.

    def draws(self, run: str | None = None) -> list[Draw]:
        """Oldest first; of one run, or of all."""
        try:
            paths = sorted(self.draws_directory.glob("*.json"))
        except OSError as error:
            raise storage_error("read the draws", self.draws_directory, error) from error
        found = [self._read_draw(path) for path in paths]
        return sorted((one for one in found if run in (None, one.run)), key=lambda one: (one.at, one.draw))

    def write_draw(self, draw: Draw) -> Path:
        """Before the sheet: labels of a sheet whose draw is lost would count for nothing."""
        make_directory(self.draws_directory, "create")
        path = self.draws_directory / f"{draw.draw}.json"
        with replacing(path) as stream:
            stream.write(orjson.dumps(draw_document(draw), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
        return path

    def rename_run(self, old: str, new: str) -> None:
        """Draws of a run under its new name. Labels belong to texts: they note where they were given, and stay."""
        for draw in self.draws(old):
            self.write_draw(dataclasses.replace(draw, run=new))

    def _read_draw(self, path: Path) -> Draw:
        try:
            return decode_draw(orjson.loads(path.read_bytes()))
        except OSError as error:
            raise storage_error("read the draw", path, error) from error
        except (ValueError, TypeError, KeyError) as error:
            raise self._damaged(path, "not a draw") from error

    @staticmethod
    def _damaged(path: Path, why: str) -> DamagedError:
        return DamagedError(f"{path}: {why}; restore it from a copy")


def label_document(label: Label) -> dict[str, Any]:
    """As it is kept: what only the viewer says is left out where it says nothing."""
    document = dataclasses.asdict(label)
    for name in ("id", "retracts", "queue", "marks", "seconds", "saw_verdicts"):
        if not document[name]:
            del document[name]
    return document


def draw_document(draw: Draw) -> dict[str, Any]:
    """As it is kept: strata with their probabilities, rows with theirs."""
    document = dataclasses.asdict(draw)
    for stratum, kept in zip(draw.strata, document["strata"], strict=True):
        kept["probability"] = stratum.probability
    for row in document["rows"]:
        row["probability"] = draw.strata[row["stratum"]].probability
    return document


def decode_draw(document: dict[str, Any]) -> Draw:
    """Raises KeyError, TypeError or ValueError for anything else."""
    names = {item.name for item in dataclasses.fields(Draw)} - {"strata", "rows", "columns", "earlier"}
    return Draw(
        **{name: document[name] for name in names},
        columns=tuple(document["columns"]),
        earlier=tuple(document["earlier"]),
        strata=tuple(Stratum(tuple(one["values"]), one["texts"], one["drawn"]) for one in document["strata"]),
        rows=tuple(DrawnRow(one["row"], one["id"], one["text"], one["stratum"]) for one in document["rows"]),
    )


# Sheets that people fill in: written as CSV that no spreadsheet computes, read as spreadsheets save it.

COLUMNS = ("row", "id", "question", "ground_truth", "response", "scale", "label", "note", "text")
# A spreadsheet would compute the first kind, and turn the others into a number, a date or its own word for true.
_COMPUTED = re.compile(r"[=+\-@\t\r]")
_MONTH = "(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
_CHANGED = re.compile(
    r"\s*+(?:[\s.,:/+()%$€£¥^-]*+\d[\s\d.,:/+()%$€£¥^eE-]*+|true|false|"
    rf"{_MONTH}[\s./-]*\d{{1,4}}|\d{{1,4}}[\s./-]*{_MONTH}(?:[\s./-]*\d{{1,4}})?)\s*",
    re.IGNORECASE,
)
_LONGEST_DATE = 40
# More do not fit into a cell of a spreadsheet, which cuts them without a word.
_CELL_CHARACTERS = 32_767
_LINE_ENDS = re.compile(r"\r\n?")
_READERS = {".json": read_json_array, ".parquet": read_parquet}


@dataclass(frozen=True, slots=True)
class SheetText:
    """A text to label, with the name of its line."""

    row: str
    id: str
    question: str
    ground_truth: str | None
    response: str
    scale: str
    text: str


@dataclass(frozen=True, slots=True)
class GivenLabel:
    """A line of a file that somebody filled in; `place` is its line number."""

    place: int
    row: str | None
    id: str | None
    label: str
    note: str
    text: str | None
    question: str | None
    response: str | None


def write_sheet(path: Path, texts: Iterable[SheetText]) -> None:
    """Whole or not at all; with a byte-order mark, without which Excel reads UTF-8 as something else."""
    if path.is_dir():
        raise ConfigurationError(f"{path}: a directory; name a file in it, such as {path / 'sheet.csv'}")
    if not path.parent.is_dir():
        raise ConfigurationError(f"{path}: there is no directory {path.parent}; create it first")
    table = io.StringIO(newline="")
    writer = csv.writer(table)
    writer.writerow(COLUMNS)
    for one in texts:
        shown = (one.id, one.question, one.ground_truth or "", one.response)
        writer.writerow([one.row, *map(neutralise, shown), one.scale, "", "", one.text])
    with replacing(path) as stream:
        # What UTF-8 cannot hold is shown as everywhere else.
        stream.write(table.getvalue().encode("utf-8-sig", "replace"))


def neutralise(text: str) -> str:
    """With an apostrophe before what a spreadsheet would compute or rewrite."""
    is_short = len(text) <= _LONGEST_DATE
    return f"'{text}" if _COMPUTED.match(text) or (is_short and _CHANGED.fullmatch(text)) else text


def is_same_text(cell: str, original: str) -> bool:
    """Whether a cell still holds the text; spreadsheets change line ends, and cut what is very long."""
    found = _LINE_ENDS.sub("\n", cell)
    for expected in (_LINE_ENDS.sub("\n", neutralise(original)), _LINE_ENDS.sub("\n", original)):
        readable = expected.encode("utf-8", "replace").decode()
        if found in (expected, readable):
            return True
        if len(readable) > _CELL_CHARACTERS <= len(found) + 1 and readable.startswith(found):
            return True
    return False


def with_plain_names(row: Mapping[str, Any]) -> dict[str, Any]:
    """Columns as sheets of ours call them: people write `Label` and `ID`. A column of the very name wins."""
    plain = {str(name).strip().lower(): value for name, value in reversed(list(row.items()))}
    return {**{name: plain[name] for name in COLUMNS if name in plain}, **row}


def read_sheet(path: Path, longest_line: int = LONGEST_LINE_BYTES) -> list[GivenLabel]:
    """Every line that has something in `label`; raises DatasetError with the place of what cannot be read."""
    rows = read_rows(path, longest_line)
    given: list[GivenLabel] = []
    count = 0
    for place, row in rows:
        count += 1
        row = with_plain_names(row)
        if "label" not in row:
            raise DatasetError(f"{path}: line {place}: no column `label`; columns are {', '.join(row)}")
        if "row" not in row and "id" not in row:
            raise DatasetError(f"{path}: line {place}: neither `row` nor `id`; labels need to know their sample")
        label = cell_text(row, "label")
        if label:
            named = {name: cell_text(row, name) or None for name in ("row", "text")}
            whole = {name: whole_cell(row, name) for name in ("id", "question", "response")}
            given.append(GivenLabel(place, label=label, note=cell_text(row, "note"), **named, **whole))
    if not given:
        why = "no label is filled in" if count else "no rows"
        raise DatasetError(f"{path}: {why}; write into the column `label`, save, and import again")
    return given


def read_rows(path: Path, longest_line: int) -> Rows:
    """By the suffix; what is none of ours is CSV, as spreadsheets save it."""
    suffix = path.suffix.lower()
    if suffix in (".xlsx", ".xls", ".ods"):
        raise DatasetError(f"{path}: a workbook; save the sheet as CSV (UTF-8) and import that")
    if suffix == ".jsonl":
        return read_json_lines(path, longest_line)
    reader = _READERS.get(suffix)
    return reader(path) if reader else read_delimited(path, "tsv" if suffix == ".tsv" else "csv", longest_line)


def cell_text(row: dict[str, Any], name: str) -> str:
    """Without spaces around it."""
    value = row.get(name)
    return "" if value is None else str(value).strip()


def whole_cell(row: dict[str, Any], name: str) -> str | None:
    """As it stands; None where the file has no such column."""
    value = row.get(name)
    return None if value is None else str(value)


def names_of(cell: str) -> tuple[str, ...]:
    """The ids that a cell may mean: as it stands, without spaces around it, without the apostrophe of a neutral one."""
    bare = cell.strip()
    return tuple(dict.fromkeys((cell, bare, bare.removeprefix("'"))))


def list_places(places: Sequence[int], shown: int = 5) -> str:
    """`line 3`, or the first few of several."""
    named = ", ".join(map(str, places[:shown]))
    more = f" and {len(places) - shown:,} more" if len(places) > shown else ""
    return f"line{'s' if len(places) > 1 else ''} {named}{more}"


# Samples of a run with the texts that labels belong to: drawn from, looked up, and joined with what people said.

_SQL = read_statements("mixseek.storage", "labels.sql")
_TEXTS = b"texts"
# What a draw can be stratified by, and the column that holds it.
STRATA = {
    "verdict": "class",
    "task": "task_name",
    "target": "target",
    "variant": "variant",
    "type": "task_type",
    "language": "language",
}
# The first samples tell whether the dataset has a column of labels.
_LOOKED_AT = 100


@dataclass(frozen=True, slots=True)
class FoundText:
    """One text of a run, by the first sample that has it."""

    text: str
    id: str
    sample: int
    task_type: str | None = None


@dataclass(frozen=True, slots=True)
class DrawnStratum:
    """Texts of one stratum, and those that the lot fell on, each with its place in the sheet's order."""

    values: tuple[str, ...]
    texts: int
    drawn: tuple[tuple[str, FoundText], ...]


def ensure_texts(workspace: Workspace, run: RunDirectory) -> Path:
    """The file beside the index that says which text each sample has; made anew when the journal has changed.

    Its name ends in its keyed digest: one that somebody else made, or changed, is none.
    """
    state, key = stat_journal(run.journal), workspace_key(workspace.root)
    stem = f"texts-{state.size_bytes}-{state.changed_ns}"
    for path in run.path.glob("texts-*.parquet"):
        if path.stem.startswith(f"{stem}-") and path.stem == f"{stem}-{digest_with_key(path, key, _TEXTS)}":
            return path
        with contextlib.suppress(OSError):
            path.unlink()

    def write(directory: Path, settings: Settings) -> Path:
        made = directory / "texts.parquet"
        with attaching(None, config=settings) as connection:
            index = attach_index(connection, workspace, run, INDEX)
            confine(connection, run.journal, directories=(directory,))
            length = object_bytes(index.state.longest_bytes)
            parameters = {"journal": escape_glob(run.journal), "object_bytes": length, "target": str(made)}
            connection.execute(_SQL["texts"], parameters)
        try:
            return made.replace(run.path / f"{stem}-{digest_with_key(made, key, _TEXTS)}.parquet")
        except OSError as error:
            raise storage_error("write", run.path / f"{stem}.parquet", error) from error

    try:
        return run_in_scratch(workspace.scratch, run.journal, write)
    except duckdb.Error as error:
        raise StorageError(f"{run.path / stem}.parquet: cannot be written: {first_line(error)}") from error


class LabelUnits:
    """One row a sample, as a table of a connection that somebody else closes."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, run: RunDirectory) -> None:
        self.connection = connection
        self._run = run
        # Units do not change while they are open: what took long to find is kept for whoever asks again.
        self._places = JournalPlaces(connection)
        self._population: tuple[int, str] | None = None
        self._found: dict[str, FoundText | None] = {}
        self._counted: dict[tuple[bool, Path | None], tuple[str, tuple[CellCount, ...], list[str]]] = {}

    def population(self) -> tuple[int, str]:
        """How many texts there are, and a digest over all of them."""
        if self._population is None:
            ((texts, digest),) = self.all("population")
            self._population = texts, digest
        return self._population

    def draw(self, columns: Sequence[str], count: int, seed: int, taken: Sequence[str]) -> list[DrawnStratum]:
        """By lot, in each stratum; raises ConfigurationError where so many cannot be drawn from so many strata."""
        places = [STRATA[column] for column in columns]
        chosen = ", ".join(f"coalesce(arg_min({place}, sample), '') AS {place}" for place in places)
        chosen = chosen or "'' AS everything"
        open_texts = _SQL["open"].format(columns=chosen)
        names = ", ".join(places) or "everything"
        parameters: dict[str, Any] = {"taken": list(taken)}
        sizes = fetch_all(self.connection, _SQL["sizes"].format(columns=names, open=open_texts), parameters)
        if count < len(sizes):
            raise ConfigurationError(
                f"run {self._run.name}: {count} labels cannot be drawn from {len(sizes):,} strata "
                f"({', '.join(columns)}); raise --n, or stratify by fewer columns"
            )
        drawn = []
        for (*values, size), share in zip(sizes, allocate([row[-1] for row in sizes], count), strict=True):
            where = " AND ".join(f"{place} = $value_{number}" for number, place in enumerate(places)) or "true"
            own = {f"value_{number}": value for number, value in enumerate(values if places else [])}
            query = _SQL["lots"].format(open=open_texts, stratum=where)
            rows = fetch_all(self.connection, query, {**parameters, **own, "seed": str(seed), "count": share})
            found = tuple((place, FoundText(text, name, sample)) for text, name, sample, place in rows)
            drawn.append(DrawnStratum(tuple(values) if places else (), size, found))
        return drawn

    def named(self, ids: Sequence[str]) -> dict[str, FoundText]:
        """Samples that have a text, by id."""
        rows = self.all("named", ids=list(ids))
        return {name: FoundText(text, name, sample, kind) for name, text, sample, kind in rows if text is not None}

    def of_texts(self, texts: Sequence[str]) -> dict[str, FoundText]:
        """By digest; texts that the run does not have are left out."""
        asked = [text for text in texts if text not in self._found]
        if asked:
            self._found |= dict.fromkeys(asked)
            for text, name, sample, kind in self.all("of_texts", texts=asked):
                self._found[text] = FoundText(text, name, sample, kind)
        return {text: one for text in texts if (one := self._found[text]) is not None}

    def queue(self, kind: str, name: str, limit: int, samples: Sequence[int] | None = None) -> tuple[list[str], int]:
        """Texts to look at, always in the same order, and how many there are; `samples` are those of a filter."""
        chosen = {} if samples is None else {"samples": list(samples)}
        query = _SQL["queue"].format(chosen=_SQL[kind])
        rows = fetch_all(self.connection, query, {"queue": name, "limit": limit, **chosen})
        return [text for text, _ in rows], rows[0][1] if rows else 0

    def dataset_labels(self) -> list[tuple[str, str, str, str | None]]:
        """Text, label as written, id and task type, where the dataset has a column `label`."""
        return [(text, label, name, kind) for text, label, name, kind in self.all("dataset_labels")]

    def read_samples(self, found: Sequence[FoundText]) -> Iterator[dict[str, Any]]:
        """Their records in the journal, in the order asked for."""
        with opening_journal(self._run.journal) as journal:
            for one in found:
                yield self._places.read(journal, "sample", one.sample).get("sample", {})

    def join(self, labels: Sequence[TextWeight], *, is_binary: bool, pool: Path | None = None) -> LabelledRun:
        """What people said beside what the judges said. `pool`: texts of another run that labels were drawn from."""
        fetch_all(
            self.connection,
            _SQL["label_table"],
            {
                "texts": [one.text for one in labels],
                "shares": [one.share for one in labels],
                "drawn": [one.drawn for one in labels],
                "weights": [one.weight for one in labels],
            },
        )
        if (is_binary, pool) not in self._counted:
            # One set of counts at a time: they are a table.
            self._counted = {(is_binary, pool): self._count(is_binary=is_binary, pool=pool)}
        grouped, cells, repeating = self._counted[is_binary, pool]
        by_question = self.all("questions", groups=repeating) if repeating else []
        labelled = fetch_all(self.connection, _SQL["labelled"].format(grouped=grouped), {})
        return LabelledRun(
            is_binary,
            cells,
            tuple(LabelledUnit(*row) for row in labelled),
            tuple(CellCount(*row) for row in by_question),
            frozenset(repeating),
        )

    def _count(self, *, is_binary: bool, pool: Path | None) -> tuple[str, tuple[CellCount, ...], list[str]]:
        """What judges said of all samples, labelled or not: the relation, its counts, and where questions repeat."""
        if pool is not None:
            fetch_all(self.connection, _SQL["covered"], {"pool": escape_glob(pool)})
        grouped = _SQL["grouped"].format(
            cell=_SQL["binary_cell" if is_binary else "graded_cell"],
            covered=_SQL["in_pool"] if pool is not None else "true",
            by_target=str(self.all("target_count")[0][0] > 1).lower(),
        )
        fetch_all(self.connection, _SQL["parts"].format(grouped=grouped), {})
        repeating = [whose for (whose,) in self.all("repeating")]
        return grouped, tuple(CellCount(*row) for row in self.all("cells")), repeating

    def all(self, name: str, **parameters: Any) -> list[tuple[Any, ...]]:
        """Rows of one of our statements."""
        return fetch_all(self.connection, _SQL[name], parameters)


@contextlib.contextmanager
def open_units(workspace: Workspace, run: RunDirectory, rule: PanelRule | None) -> Iterator[LabelUnits]:
    """Every sample of the run with its verdict under the panel's rule and its text, while the block lasts."""
    texts = ensure_texts(workspace, run)
    try:
        with (
            private_directory(workspace.scratch) as directory,
            attaching(None, config=session_settings(directory / "spilled", run.journal)) as connection,
        ):
            attach_index(connection, workspace, run, INDEX)
            connection.execute(f"USE {INDEX}")
            # Texts of another run may be asked for, which labels were drawn from.
            confine(connection, directories=(workspace.root / "runs",))
            units = panel_units(rule, "run_index", has_repeats=read_facts(connection).has_repeats)
            query = _SQL["units"].format(units=units)
            fetch_all(connection, query, {"texts": escape_glob(texts)})
            yield LabelUnits(connection, run)
    except duckdb.Error as error:
        raise StorageError(f"{run.index}: cannot be read: {first_line(error)}") from error


def has_label_column(run: RunDirectory) -> bool:
    """Whether one of the first samples brings a label in its data."""
    looked = 0
    with opening_journal(run.journal) as journal:
        for line in journal:
            if line.startswith(b'{"t":"sample"'):
                looked += 1
                with contextlib.suppress(ValueError):
                    if (orjson.loads(line)["sample"].get("metadata") or {}).get("label") is not None:
                        return True
            if looked >= _LOOKED_AT:
                break
    return False

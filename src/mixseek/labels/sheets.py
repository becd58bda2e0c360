"""Sheets that people fill in: written as CSV that no spreadsheet computes, read as spreadsheets save it."""

import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from mixseek.datasets.files import Rows, read_delimited, read_json_lines
from mixseek.datasets.tables import read_json_array, read_parquet
from mixseek.domain.lines import LONGEST_LINE_BYTES
from mixseek.errors import ConfigurationError, DatasetError
from mixseek.lazy_dataclass import dataclass
from mixseek.storage.durable import replacing

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
    for text in texts:
        shown = (text.id, text.question, text.ground_truth or "", text.response)
        writer.writerow([text.row, *map(neutralise, shown), text.scale, "", "", text.text])
    with replacing(path) as stream:
        # What UTF-8 cannot hold is shown as everywhere else.
        stream.write(table.getvalue().encode("utf-8-sig", "replace"))


def neutralise(text: str) -> str:
    """The text with an apostrophe before what a spreadsheet would compute or rewrite."""
    is_short = len(text) <= _LONGEST_DATE
    return f"'{text}" if _COMPUTED.match(text) or (is_short and _CHANGED.fullmatch(text)) else text


def is_same_text(cell: str, original: str) -> bool:
    """Whether a cell still holds the text; spreadsheets change line ends, and cut what is very long."""
    text = _LINE_ENDS.sub("\n", cell)
    for expected in (_LINE_ENDS.sub("\n", neutralise(original)), _LINE_ENDS.sub("\n", original)):
        readable = expected.encode("utf-8", "replace").decode()
        if text in (expected, readable):
            return True
        if len(readable) > _CELL_CHARACTERS <= len(text) + 1 and readable.startswith(text):
            return True
    return False


def with_plain_names(row: Mapping[str, Any]) -> dict[str, Any]:
    """Columns as sheets of ours call them: people write `Label` and `ID`. A column of the very name wins."""
    plain = {str(name).strip().lower(): value for name, value in reversed(list(row.items()))}
    return {**{name: plain[name] for name in COLUMNS if name in plain}, **row}


def read_sheet(path: Path, longest_line: int = LONGEST_LINE_BYTES) -> list[GivenLabel]:
    """Every line that has something in `label`; raises DatasetError with the place of what cannot be read."""
    rows = read_rows(path, longest_line)
    labels: list[GivenLabel] = []
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
            labels.append(GivenLabel(place, label=label, note=cell_text(row, "note"), **named, **whole))
    if not labels:
        why = "no label is filled in" if count else "no rows"
        raise DatasetError(f"{path}: {why}; write into the column `label`, save, and import again")
    return labels


def read_rows(path: Path, longest_line: int) -> Rows:
    """The rows by the suffix; what is none of ours is CSV, as spreadsheets save it."""
    suffix = path.suffix.lower()
    if suffix in (".xlsx", ".xls", ".ods"):
        raise DatasetError(f"{path}: a workbook; save the sheet as CSV (UTF-8) and import that")
    if suffix == ".jsonl":
        return read_json_lines(path, longest_line)
    reader = _READERS.get(suffix)
    return reader(path) if reader else read_delimited(path, "tsv" if suffix == ".tsv" else "csv", longest_line)


def cell_text(row: dict[str, Any], name: str) -> str:
    """The cell without spaces around it."""
    value = row.get(name)
    return "" if value is None else str(value).strip()


def whole_cell(row: dict[str, Any], name: str) -> str | None:
    """The cell as it stands; None where the file has no such column."""
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

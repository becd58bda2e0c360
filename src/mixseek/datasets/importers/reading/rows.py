"""Rows of a log, which may end in the middle: JSON lines, the items of a list, or a table."""

import csv
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mixseek.datasets.files import ByteStream, decode_lines, reading
from mixseek.datasets.importers.reading.json_stream import parse_json, walk_file
from mixseek.domain.lines import LONGEST_LINE_BYTES, bounded_lines
from mixseek.errors import DatasetError

JsonRow = dict[str, Any]


def read_lines(path: Path, notices: list[str], longest: int = LONGEST_LINE_BYTES) -> Iterator[tuple[int, JsonRow]]:
    """Number and row of each line."""
    for number, row in read_values(path, notices, longest):
        if not isinstance(row, dict):
            raise DatasetError(f"{path}: line {number} is no JSON object, which every line of this log has to be")
        yield number, row


def read_values(path: Path, notices: list[str], longest: int = LONGEST_LINE_BYTES) -> Iterator[tuple[int, Any]]:
    """Number and value of each line; a last line that is cut is left out and told, any other bad one is an error."""
    with reading(path) as stream:
        lines = bounded_lines(path, stream, longest)
        for number, line in enumerate(lines, 1):
            if line.isspace():
                continue
            try:
                row = parse_json(line)
            except ValueError as error:
                if any(not rest.isspace() for rest in lines):
                    raise DatasetError(f"{path}: line {number} is no JSON ({error})") from error
                notices.append(f"line {number}, the last, is cut short and left out")
                return
            yield number, row


def read_items(path: Path, notices: list[str]) -> Iterator[tuple[int, JsonRow]]:
    """Number and object of each item of a file that is one JSON list."""
    for number, (_, row) in enumerate(walk_file(path, {(): True}, notices), 1):
        if not isinstance(row, dict):
            raise DatasetError(f"{path}: item {number} is no JSON object, which every item of this log has to be")
        yield number, row


def read_table(path: Path, notices: list[str]) -> Iterator[tuple[int, list[str]]]:
    """Line number and cells, the header first; a last row that is cut is left out and told."""
    with reading(path) as stream:
        yield from table_rows(path, stream, notices)


def table_rows(path: Path, stream: ByteStream, notices: list[str]) -> Iterator[tuple[int, list[str]]]:
    """The same of a file that is open."""
    csv.field_size_limit(sys.maxsize)
    lines = decode_lines(path, stream)
    table = csv.reader(lines, delimiter="\t" if ".tsv" in path.suffixes else ",", strict=True)
    width, begin = 0, 1
    try:
        for cells in table:
            width = width or len(cells)
            if cells and len(cells) != width:
                if any(rest.strip() for rest in lines):
                    raise DatasetError(f"{path}: line {begin} has {len(cells)} cells, the header has {width}")
                notices.append(f"the row that begins in line {begin}, the last, is cut short and left out")
                return
            if cells:
                yield begin, cells
            begin = table.line_num + 1
    except csv.Error as error:
        if "unexpected end of data" not in str(error):
            raise DatasetError(f"{path}: line {begin}: {error}") from error
        notices.append(f"the row that begins in line {begin}, the last, is cut short and left out")


def read_named(path: Path, notices: list[str]) -> Iterator[tuple[int, JsonRow]]:
    """The rows of a table by column."""
    table = read_table(path, notices)
    _, header = next(table, (1, []))
    for number, cells in table:
        yield number, dict(zip(header, cells, strict=True))

"""Rows that one JSON object wraps: `{"data": [{…}, {…}]}`, walked and not loaded; or what is in it instead of rows."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import orjson

from mixseek.datasets.files import Row, Rows, check_row, name_of, reading
from mixseek.datasets.importers.reading.json_stream import CutShortError, JsonStream
from mixseek.datasets.importers.reading.sniffing import Shape, Sniffed
from mixseek.errors import DatasetError

# What people call the list of rows.
WRAPPINGS = ("data", "rows", "samples", "examples", "records", "items", "instances", "results", "questions")
_NAMES_SHOWN = 8


def find_wrapping(sniffed: Sniffed, row_columns: tuple[str, ...]) -> str | None:
    """The key whose list holds the rows; None where the file is no such object, but lines, a list or a single row.

    Raises DatasetError for an object of several lines that holds no rows: a reader of lines would blame its bracket.
    """
    if sniffed.shape is not Shape.OBJECT:
        return None
    keys = {steps[0]: text for steps, text in sniffed.outline.items() if len(steps) == 1}
    if any(name in keys for name in row_columns):
        return None
    lists = [name for name, text in keys.items() if text[:1] == b"["]
    key = next((name for name in WRAPPINGS if name in lists), None)
    if key is not None:
        return key
    if sniffed.is_one_line:
        # The only line of JSON lines; whoever reads rows says what it lacks.
        return None
    shown = ", ".join(list(keys)[:_NAMES_SHOWN]) + (" …" if len(keys) > _NAMES_SHOWN else "")
    raise DatasetError(
        f"{sniffed.path}: one JSON object with the keys {shown or 'none'}, and no list of rows that is called "
        f"{', '.join(WRAPPINGS[:3])} or the like; give a list of objects, or one object a line"
    )


def read_wrapped(path: Path, key: str) -> Rows:
    """Number and object of each item below the key."""
    with reading(path) as stream:
        try:
            yield from enumerate(read_items(path, JsonStream(stream, str(path)), key), 1)
        except CutShortError:
            raise DatasetError(f"{path}: the list `{key}` is cut short; write or download the file again") from None


def read_items(path: Path, stream: JsonStream, key: str) -> Iterator[Row]:
    for number, (_, text) in enumerate(stream.walk({(key,): True}), 1):
        place = f"{path}: item {number} of `{key}`"
        try:
            row = orjson.loads(text)
        except orjson.JSONDecodeError as error:
            raise DatasetError(f"{place} cannot be read: {error.msg}") from error
        if not isinstance(row, Mapping):
            raise DatasetError(f"{place} is {name_of(row)}, expected an object")
        check_row(place, text, dict(row))
        yield dict(row)

"""A cell of a table that may hold an object."""

import ast
import warnings
from typing import Any

from mixseek.datasets.importers.reading.json_stream import parse_json

# A cell longer than this is a text, whatever it begins with.
_LONGEST_CELL = 1 << 20


def read_cell(value: Any) -> Any:
    """A cell of a table that may be an object: as JSON, or as Python prints one. Anything else is as it stands."""
    if not isinstance(value, str) or value[:1] not in "{[" or len(value) > _LONGEST_CELL or not value:
        return value
    try:
        return parse_json(value)
    except ValueError:
        pass
    try:
        with warnings.catch_warnings():
            # A backslash in somebody's text is not for whoever reads the terminal.
            warnings.simplefilter("ignore", SyntaxWarning)
            return ast.literal_eval(value)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return value

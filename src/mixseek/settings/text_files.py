"""Text files as people's editors save them, and TOML, read within bounds: nobody's file may eat the machine."""

import re
import tomllib
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from mixseek.errors import ConfigurationError

# No configuration or prompt comes near; the parsers behind would take a hundred times as much memory.
MAX_BYTES = 1_000_000
# tomllib keeps every beginning of a dotted key: 50,000 parts took 9.8 GB.
MAX_KEY_PARTS = 32
MAX_DEPTH = 64
# What may hold dots and brackets that mean nothing: texts of several lines, texts of one, comments. An unclosed one
# ends with its line, or with the file.
_OPAQUE = re.compile(
    r"\"\"\"(?:[^\\]|\\.)*?(?:\"\"\"|\Z)|'''.*?(?:'''|\Z)"
    r"|\"(?:[^\"\\\n]|\\[^\n])*+\"?|'[^'\n]*+'?|#[^\n]*+",
    re.DOTALL,
)
_BRACKET = re.compile(r"[\[\]{}]")
_BETWEEN_KEYS = re.compile(r"[\[\]{}=,]")


def read_bounded(path: Path | Traversable) -> bytes:
    """All of a small file. Raises OSError, and ConfigurationError for one that is too large to be meant."""
    with path.open("rb") as stream:
        data = stream.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise ConfigurationError(f"{path}: larger than {MAX_BYTES:,} bytes, which no such file needs")
    return data


def decode_text(data: bytes) -> str:
    """UTF-8 without the byte-order mark of Windows editors; offsets in a UnicodeDecodeError count the mark."""
    return data.decode().removeprefix("\ufeff")


def parse_toml(text: str) -> dict[str, Any]:
    """The only way to tomllib. Raises TOMLDecodeError, also for what tomllib would choke on."""
    _refuse_excess(text)
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        raise
    except ValueError as error:
        # The only other one: an integer of more digits than Python converts, or a date that there is not.
        raise tomllib.TOMLDecodeError(f"a value that cannot be read: {str(error).partition(';')[0]}") from error


def _refuse_excess(text: str) -> None:
    plain = _OPAQUE.sub(lambda match: "\n" * match[0].count("\n"), text)
    depth = 0
    for number, line in enumerate(plain.split("\n"), start=1):
        for mark in _BRACKET.findall(line):
            depth = depth + 1 if mark in "[{" else max(0, depth - 1)
            if depth > MAX_DEPTH:
                raise tomllib.TOMLDecodeError(f"nested more than {MAX_DEPTH} deep (at line {number}, column 1)")
        if any(piece.count(".") >= MAX_KEY_PARTS for piece in _BETWEEN_KEYS.split(line)):
            raise tomllib.TOMLDecodeError(f"a key of more than {MAX_KEY_PARTS} parts (at line {number}, column 1)")

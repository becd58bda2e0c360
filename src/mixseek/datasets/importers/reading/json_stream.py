"""JSON of any size that is walked and not loaded: nothing but what is asked for is ever in memory."""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol

import orjson

from mixseek.datasets.files import reading
from mixseek.errors import DatasetError

Steps = tuple[str, ...]
# No tool nests this deep; what does is meant to break a reader.
_DEEPEST = 400
# One sample with all its events; agents write some megabytes.
LARGEST_VALUE_BYTES = 64 << 20
_CHUNK_BYTES = 1 << 20
_SMALL_BYTES = 64 << 10


def parse_json(data: bytes | str) -> Any:
    """Any JSON value, also with NaN and Infinity, which Inspect writes; ValueError where it is none."""
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        try:
            return json.loads(data)
        except RecursionError:
            raise ValueError("nested too deeply") from None


class CutShortError(Exception):
    """The text ends before its value does."""


class Readable(Protocol):
    """Gives at most so many bytes, and none at the end."""

    def read(self, size: int, /) -> bytes: ...


class JsonStream:
    """Walks over a JSON text of any size, keeping only what is asked for."""

    def __init__(self, stream: Readable, name: str) -> None:
        self._stream = stream
        self._name = name
        self._buffer = b""
        self._position = 0
        # Where the value begins that is being kept; nothing before it is needed any more.
        self._mark: int | None = None
        # From this length on it is let go; 0 is never.
        self._limit = 0
        self._dropped_bytes = 0

    def walk(self, wanted: Mapping[Steps, bool], steps: Steps = ()) -> Iterator[tuple[Steps, bytes]]:
        """Path and text of each wanted value, or of each of its items where its flag is set; raises CutShortError."""
        first = self.peek()
        if wanted.get(steps) and first == b"[":
            yield from ((steps, item) for item in self._items())
        elif steps in wanted:
            yield steps, self._value(keep=True)
        elif first == b"{" and any(path[: len(steps)] == steps for path in wanted):
            for key in self._keys():
                yield from self.walk(wanted, (*steps, key))
        else:
            self._value(keep=False)

    def outline(self, depth: int = 2, steps: Steps = ()) -> Iterator[tuple[Steps, bytes]]:
        """Paths of objects and values down to `depth`, each with its text where that is small, else its bracket."""
        first = self.peek()
        if first == b"{" and depth > 0:
            yield steps, b"{"
            for key in self._keys():
                yield from self.outline(depth - 1, (*steps, key))
        else:
            # Told before it is read: it may be where the text is cut.
            yield steps, first
            yield steps, self._small_value() or first

    def peek(self) -> bytes:
        """The next byte that is not a space; none at the end."""
        while True:
            while self._buffer[self._position : self._position + 1].isspace():
                self._position += 1
            if self._position < len(self._buffer):
                return self._buffer[self._position : self._position + 1]
            if not self._fill():
                return b""

    def _keys(self) -> Iterator[str]:
        """Each key of an object; whoever asks for the next one has read the value of this one."""
        self._expect(b"{")
        if self.peek() == b"}":
            self._expect(b"}")
            return
        while True:
            key = parse_or_none(self._value(keep=True))
            if not isinstance(key, str):
                raise DatasetError(f"{self._name}: invalid JSON: the name of a value is no text")
            self._expect(b":")
            self.peek()
            yield key
            if self._expect(b",}") == b"}":
                return

    def _items(self) -> Iterator[bytes]:
        self._expect(b"[")
        if self.peek() == b"]":
            self._expect(b"]")
            return
        while True:
            yield self._value(keep=True)
            if self._expect(b",]") == b"]":
                return

    def _expect(self, allowed: bytes) -> bytes:
        character = self.peek()
        if not character:
            raise CutShortError
        if character not in allowed:
            raise DatasetError(
                f"{self._name}: invalid JSON: {character!r} where one of {allowed.decode()} was expected"
            )
        self._position += 1
        return character

    def _small_value(self) -> bytes:
        """The value's text, or nothing where it is long."""
        begun = self._consumed()
        text = self._value(keep=True, limit=_SMALL_BYTES)
        return text if self._consumed() - begun <= _SMALL_BYTES else b""

    def _consumed(self) -> int:
        return self._dropped_bytes + self._position

    def _value(self, *, keep: bool, limit: int = 0) -> bytes:
        """Moves past one value; with `limit` the text may be let go once it is longer."""
        first = self.peek()
        if not first:
            raise CutShortError
        self._mark = self._position if keep else None
        self._limit = limit
        if first == b'"':
            self._move_past(_STRING)
        elif first in b"{[":
            self._move_past_container()
        else:
            self._move_past_scalar()
        text = b"" if self._mark is None else self._buffer[self._mark : self._position]
        self._mark = None
        return text

    def _move_past(self, pattern: "re.Pattern[bytes]") -> None:
        while (match := pattern.match(self._buffer, self._position)) is None:
            if not self._fill():
                raise CutShortError
        self._position = match.end()

    def _move_past_scalar(self) -> None:
        while True:
            match = _SCALAR.match(self._buffer, self._position)
            if match is None:
                at = self._buffer[self._position : self._position + 1]
                raise DatasetError(f"{self._name}: invalid JSON: no value begins with {at!r}")
            if match.end() < len(self._buffer):
                self._position = match.end()
                return
            # At the very end of what was read there may be more of it; at the very end of all, digits may be lost.
            if not self._fill():
                raise CutShortError

    def _move_past_container(self) -> None:
        depth = 0
        while True:
            between = _BETWEEN_BRACKETS.match(self._buffer, self._position)
            self._position = between.end() if between is not None else self._position
            bracket = self._buffer[self._position : self._position + 1]
            if not bracket or bracket == b'"':
                # The end of what was read, maybe inside a string.
                if not self._fill():
                    raise CutShortError
                continue
            self._position += 1
            depth += 1 if bracket in b"{[" else -1
            if depth > _DEEPEST:
                raise DatasetError(f"{self._name}: JSON nested more than {_DEEPEST} levels deep, which no log is")
            if depth == 0:
                return

    def _fill(self) -> bool:
        """Read on; False at the end."""
        if self._mark is not None and self._limit and self._position - self._mark > self._limit:
            self._mark = None
        start = self._position if self._mark is None else self._mark
        if len(self._buffer) - start > LARGEST_VALUE_BYTES:
            raise DatasetError(
                f"{self._name}: one value is larger than {LARGEST_VALUE_BYTES >> 20} MB, too large for a sample"
            )
        chunk = self._stream.read(_CHUNK_BYTES)
        self._buffer = self._buffer[start:] + chunk
        self._position -= start
        self._dropped_bytes += start
        if self._mark is not None:
            self._mark = 0
        return bool(chunk)


# Possessive, so that no text, however made, makes them try again.
_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_SCALAR = re.compile(rb"[^\s,:\[\]{}\"]++")
_BETWEEN_BRACKETS = re.compile(rb'(?:[^"{}\[\]]++|"[^"\\]*+(?:\\.[^"\\]*+)*+")*+', re.DOTALL)


def walk_file(path: Path, wanted: Mapping[Steps, bool], notices: list[str]) -> Iterator[tuple[Steps, Any]]:
    """Path and value of everything wanted in a JSON file; where it is cut short, a notice ends it."""
    count = 0
    with reading(path) as stream:
        try:
            for steps, text in JsonStream(stream, str(path)).walk(wanted):
                yield steps, parse_json(text)
                count += wanted[steps]
        except CutShortError:
            notices.append(f"the file is cut short: {count:,} whole items were read, what follows is lost")
        except ValueError as error:
            raise DatasetError(f"{path}: item {count + 1} cannot be read: {error}") from error


def parse_or_none(data: bytes) -> Any:
    try:
        return parse_json(data)
    except ValueError:
        return None

"""What a GGUF file says about itself before its weights begin."""

import hashlib
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from types import MappingProxyType
from typing import Any, BinaryIO

from mixseek.errors import ConfigurationError

MAGIC = b"GGUF"
# Version 1 had 32-bit lengths and is no longer read by llama.cpp either.
_VERSIONS = (2, 3)
# Far above every real file (a vocabulary of 262,144 is the largest known): a broken length must not fill the memory.
_MAX_ENTRIES = 1 << 16
_MAX_TEXT_BYTES = 1 << 24
_MAX_ITEMS = 1 << 24
_CONTROL_TOKEN = 3
_SAMPLED_BLOCKS = 256
_BLOCK_BYTES = 1 << 16


class _Kind(IntEnum):
    """Value types of the format, by their number in it."""

    UINT8 = 0
    INT8 = 1
    UINT16 = 2
    INT16 = 3
    UINT32 = 4
    INT32 = 5
    FLOAT32 = 6
    BOOL = 7
    STRING = 8
    ARRAY = 9
    UINT64 = 10
    INT64 = 11
    FLOAT64 = 12


_FORMATS: Mapping[_Kind, str] = MappingProxyType(
    {
        _Kind.UINT8: "B",
        _Kind.INT8: "b",
        _Kind.UINT16: "H",
        _Kind.INT16: "h",
        _Kind.UINT32: "I",
        _Kind.INT32: "i",
        _Kind.FLOAT32: "f",
        _Kind.BOOL: "?",
        _Kind.UINT64: "Q",
        _Kind.INT64: "q",
        _Kind.FLOAT64: "d",
    }
)


@dataclass(frozen=True, slots=True)
class GgufHeader:
    """`control_tokens` are the words that a chat template builds turns with: judged text must not hold them."""

    model_name: str | None
    architecture: str | None
    context_tokens: int | None
    control_tokens: tuple[str, ...]


class _BrokenError(Exception):
    """The bytes are not what the format says."""


def read_header(path: Path) -> GgufHeader:
    """Raises ConfigurationError, one line, when the file is not there, not GGUF, or cut short within its header."""
    try:
        with path.open("rb") as file:
            if file.read(len(MAGIC)) != MAGIC:
                raise ConfigurationError(f"{path}: not a GGUF model; convert it, or download one that is")
            return _header(_entries(file))
    except OSError as error:
        raise ConfigurationError(f"{path}: the model cannot be read ({error.strerror or error})") from error
    except (_BrokenError, struct.error, UnicodeDecodeError, ValueError) as error:
        raise ConfigurationError(f"{path}: a damaged GGUF model ({error}); download it again") from error


def weights_digest(path: Path) -> str:
    """sha256 over the size and 256 blocks spread over the file: other weights give another one, in milliseconds.

    A model of 40 GB would take minutes to hash whole, before every run.
    """
    try:
        with path.open("rb") as file:
            size = path.stat().st_size
            digest = hashlib.sha256(str(size).encode())
            for block in range(_SAMPLED_BLOCKS):
                file.seek(size * block // _SAMPLED_BLOCKS)
                digest.update(file.read(_BLOCK_BYTES))
    except OSError as error:
        raise ConfigurationError(f"{path}: the model cannot be read ({error.strerror or error})") from error
    return digest.hexdigest()


def _header(entries: Mapping[str, Any]) -> GgufHeader:
    architecture = _text(entries.get("general.architecture"))
    tokens, kinds = entries.get("tokenizer.ggml.tokens"), entries.get("tokenizer.ggml.token_type")
    control: tuple[str, ...] = ()
    if isinstance(tokens, tuple) and isinstance(kinds, tuple):
        control = tuple(
            token
            for token, kind in zip(tokens, kinds, strict=False)
            if kind == _CONTROL_TOKEN and isinstance(token, str) and token
        )
    context = entries.get(f"{architecture}.context_length")
    return GgufHeader(
        model_name=_text(entries.get("general.name")),
        architecture=architecture,
        context_tokens=context if isinstance(context, int) else None,
        control_tokens=control,
    )


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _entries(file: BinaryIO) -> dict[str, Any]:
    version = _number(file, "I")
    if version not in _VERSIONS:
        raise _BrokenError(f"format version {version}")
    _number(file, "Q")  # how many tensors follow
    count = _bounded(_number(file, "Q"), _MAX_ENTRIES, "entries")
    return {_string(file): _value(file, _Kind(_number(file, "I"))) for _ in range(count)}


def _value(file: BinaryIO, kind: _Kind) -> Any:
    if kind is _Kind.STRING:
        return _string(file)
    if kind is not _Kind.ARRAY:
        return _number(file, _FORMATS[kind])
    item = _Kind(_number(file, "I"))
    count = _bounded(_number(file, "Q"), _MAX_ITEMS, "items")
    if item is _Kind.ARRAY:
        raise _BrokenError("an array of arrays")
    if item is _Kind.STRING:
        return tuple(_string(file) for _ in range(count))
    layout = struct.Struct(f"<{count}{_FORMATS[item]}")
    return layout.unpack(_take(file, layout.size))


def _string(file: BinaryIO) -> str:
    # Vocabularies hold pieces of characters: they are no text of their own, and no control tokens either.
    return _take(file, _bounded(_number(file, "Q"), _MAX_TEXT_BYTES, "bytes of text")).decode("utf-8", "replace")


def _number(file: BinaryIO, layout: str) -> Any:
    return struct.unpack(f"<{layout}", _take(file, struct.calcsize(f"<{layout}")))[0]


def _take(file: BinaryIO, size: int) -> bytes:
    data = file.read(size)
    if len(data) < size:
        raise _BrokenError("cut short")
    return data


def _bounded(count: int, limit: int, what: str) -> int:
    if count > limit:
        raise _BrokenError(f"{count} {what}")
    return count

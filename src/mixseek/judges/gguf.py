"""What a GGUF file says about itself before its weights begin."""

import hashlib
import struct
from pathlib import Path
from typing import Any, BinaryIO

from mixseek.errors import ConfigurationError
from mixseek.judges.endpoint.answers import text_or_none
from mixseek.lazy_dataclass import dataclass

MAGIC = b"GGUF"
# Version 1 had 32-bit lengths and is no longer read by llama.cpp either.
_VERSIONS = (2, 3)
# Far above every real file (a vocabulary of 262,144 is the largest known): a broken length must not fill the memory.
_MAX_COUNT = 1 << 24
_CONTROL_TOKEN = 3
_SAMPLED_BLOCKS = 256
_BLOCK_BYTES = 1 << 16
# Value types by their number in the format; those of numbers as `struct` writes them.
_STRING, _ARRAY = 8, 9
_NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}


@dataclass(frozen=True, slots=True)
class GgufHeader:
    """`control_tokens` are the words that a chat template builds turns with: judged text must not hold them."""

    model_name: str | None
    architecture: str | None
    control_tokens: tuple[str, ...]


def read_header(path: Path) -> GgufHeader:
    """Raises ConfigurationError, one line, when the file is not there, not GGUF, or cut short within its header."""
    try:
        with path.open("rb") as file:
            if file.read(len(MAGIC)) != MAGIC:
                raise ConfigurationError(f"{path}: not a GGUF model; convert it, or download one that is")
            entries = _entries(file)
    except OSError as error:
        raise ConfigurationError(f"{path}: the model cannot be read ({error.strerror or error})") from error
    except (ValueError, KeyError) as error:
        raise ConfigurationError(f"{path}: a damaged GGUF model ({error}); download it again") from error
    tokens, kinds = (entries.get(f"tokenizer.ggml.{name}") for name in ("tokens", "token_type"))
    pairs = zip(tokens, kinds, strict=False) if isinstance(tokens, tuple) and isinstance(kinds, tuple) else ()
    control = tuple(token for token, kind in pairs if kind == _CONTROL_TOKEN and isinstance(token, str) and token)
    name, architecture = (text_or_none(entries.get(f"general.{name}")) for name in ("name", "architecture"))
    return GgufHeader(name, architecture, control)


def weights_digest(path: Path) -> str:
    """sha256 over the size and 256 blocks spread over the file: to hash 40 GB whole takes minutes, in every run."""
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            digest = hashlib.sha256(str(size).encode())
            for block in range(_SAMPLED_BLOCKS):
                file.seek(size * block // _SAMPLED_BLOCKS)
                digest.update(file.read(_BLOCK_BYTES))
    except OSError as error:
        raise ConfigurationError(f"{path}: the model cannot be read ({error.strerror or error})") from error
    return digest.hexdigest()


def _entries(file: BinaryIO) -> dict[str, Any]:
    version = _scalar(file, "I")
    if version not in _VERSIONS:
        raise ValueError(f"format version {version}")
    _scalar(file, "Q")  # how many tensors follow
    entries = _count(file, "entries")
    return {_string(file): _value(file, _scalar(file, "I")) for _ in range(entries)}


def _value(file: BinaryIO, kind: int) -> Any:
    if kind == _STRING:
        return _string(file)
    if kind != _ARRAY:
        return _scalar(file, _NUMBERS[kind])
    item = _scalar(file, "I")
    items = _count(file, "items")
    if item == _STRING:
        return tuple(_string(file) for _ in range(items))
    # An array of arrays is not in the table either: nobody writes one.
    return _unpacked(file, f"<{items}{_NUMBERS[item]}")


def _string(file: BinaryIO) -> str:
    # Vocabularies hold pieces of characters: they are no text of their own, and no control tokens either.
    return str(_scalar(file, f"{_count(file, 'bytes of text')}s"), "utf-8", "replace")


def _scalar(file: BinaryIO, layout: str) -> Any:
    return _unpacked(file, f"<{layout}")[0]


def _unpacked(file: BinaryIO, layout: str) -> tuple[Any, ...]:
    data = file.read(struct.calcsize(layout))
    if len(data) < struct.calcsize(layout):
        raise ValueError("cut short")
    return struct.unpack(layout, data)


def _count(file: BinaryIO, what: str) -> int:
    count: int = _scalar(file, "Q")
    if count > _MAX_COUNT:
        raise ValueError(f"{count} {what}")
    return count

"""GGUF files without weights, for tests that must not need a model."""

import struct
from collections.abc import Mapping
from pathlib import Path

CONTROL, NORMAL = 3, 1


def text(value: str) -> bytes:
    data = value.encode()
    return struct.pack("<Q", len(data)) + data


def gguf_bytes(name: str = "Tiny", tokens: Mapping[str, int] | None = None, version: int = 3) -> bytes:
    """A header with the entries that are read, and one that is not."""
    tokens = {"hello": NORMAL, "<|im_end|>": CONTROL, "<|im|>": CONTROL, "|": CONTROL} if tokens is None else tokens
    entries = [
        text("general.architecture") + struct.pack("<I", 8) + text("llama"),
        text("general.name") + struct.pack("<I", 8) + text(name),
        text("llama.context_length") + struct.pack("<II", 4, 4096),
        text("llama.rope.freq_base") + struct.pack("<If", 6, 10000.0),
        text("tokenizer.ggml.tokens")
        + struct.pack("<IIQ", 9, 8, len(tokens))
        + b"".join(text(token) for token in tokens),
        text("tokenizer.ggml.token_type")
        + struct.pack("<IIQ", 9, 5, len(tokens))
        + struct.pack(f"<{len(tokens)}i", *tokens.values()),
    ]
    return b"GGUF" + struct.pack("<IQQ", version, 0, len(entries)) + b"".join(entries)


def write_gguf(path: Path, **given: object) -> Path:
    path.write_bytes(gguf_bytes(**given))  # type: ignore[arg-type]  # the keywords of gguf_bytes, passed through
    return path

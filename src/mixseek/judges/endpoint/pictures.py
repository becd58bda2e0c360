"""Pictures of a prompt, put into a request where their line stands; the line says that one is left out wherever not.

Data URLs and files are taken, of the four kinds that endpoints read. Whatever is none of these stays left out: a path
comes with the judged data, so a file is sent only if its first bytes are those of a picture.
"""

import base64
import binascii
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from mixseek.domain.ports import Message
from mixseek.settings.models import WireFormat

# What the providers take of one picture, about.
_MOST_BYTES = 20_000_000
_LEFT_OUT = " [picture left out]"
_SIGNATURES = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF87a": "image/gif",
    b"GIF89a": "image/gif",
}


class _Bytes(NamedTuple):
    kind: str
    base64: str


def _openai_part(picture: _Bytes) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": f"data:{picture.kind};base64,{picture.base64}"}}


def _anthropic_part(picture: _Bytes) -> dict[str, Any]:
    source = {"type": "base64", "media_type": picture.kind, "data": picture.base64}
    return {"type": "image", "source": source}


_PARTS: Mapping[WireFormat, Callable[[_Bytes], dict[str, Any]]] = {
    WireFormat.OPENAI: _openai_part,
    WireFormat.ANTHROPIC: _anthropic_part,
}


def with_pictures(body: Mapping[str, Any], messages: Iterable[Message], wire: WireFormat) -> dict[str, Any]:
    """The body with each picture behind its line; unchanged where there are none, or none can be read."""
    read = [(picture.line, read_picture(picture.source)) for message in messages for picture in message.pictures]
    # In the order in which their lines stand: the steps of both of a pair are numbered from 1.
    parts = [(line, None if picture is None else _PARTS[wire](picture)) for line, picture in read]
    if not any(part for _, part in parts) or not isinstance(body.get("messages"), list):
        return dict(body)
    return {**body, "messages": [_illustrated(turn, parts) for turn in body["messages"]]}


def read_picture(source: str) -> _Bytes | None:
    """The bytes of a data URL or a file; None for anything that is no picture."""
    content = _of_data_url(source) if source.startswith("data:") else _of_file(source)
    if content is None or len(content) > _MOST_BYTES:
        return None
    kind = next((kind for signature, kind in _SIGNATURES.items() if content.startswith(signature)), None)
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        kind = "image/webp"
    return None if kind is None else _Bytes(kind, base64.b64encode(content).decode())


def _of_data_url(source: str) -> bytes | None:
    head, _, data = source.partition(",")
    try:
        return base64.b64decode(data, validate=True) if head.endswith(";base64") else None
    except (binascii.Error, ValueError):
        return None


def _of_file(source: str) -> bytes | None:
    try:
        with Path(source).open("rb") as file:
            return file.read(_MOST_BYTES + 1)
    except (OSError, ValueError):
        return None


# A picture's line with what is sent for it; None where it stays left out.
_Parts = Sequence[tuple[str, Mapping[str, Any] | None]]


def _illustrated(turn: Mapping[str, Any], parts: _Parts) -> dict[str, Any]:
    """The turn with its text cut at each picture's line; what is marked for a cache keeps its mark at its end."""
    content = turn.get("content")
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else list(content or ())
    if not any(line in block.get("text", "") for block in blocks for line, _ in parts):
        return dict(turn)
    return {**turn, "content": [piece for block in blocks for piece in _cut(block, parts)]}


def _cut(block: Mapping[str, Any], parts: _Parts) -> Iterator[dict[str, Any]]:
    text, behind = "", block.get("text", "")
    for line, part in parts:
        before, line_there, after = behind.partition(line)
        if not line_there:
            continue
        text, behind = text + before + (line if part is None else line.removesuffix(_LEFT_OUT)), after
        if part is not None:
            yield {"type": "text", "text": text}
            yield dict(part)
            text, behind = "", behind.removeprefix("\n")
    yield {**block, "text": text + behind}

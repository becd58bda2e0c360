"""Just enough HTTP/1.1 for one loopback server: requests out of a byte stream, responses into one."""

from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus

_HEAD_END = b"\r\n\r\n"
MAX_HEAD_BYTES = 1 << 16
MAX_BODY_BYTES = 1 << 26


class BadRequestError(ValueError):
    """Not HTTP as we speak it; the connection is of no further use."""

    def __init__(self, status: HTTPStatus, message: str) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True, slots=True)
class Request:
    """Header names are in lower case."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes
    keeps_alive: bool


@dataclass(frozen=True, slots=True)
class _Head:
    method: str
    path: str
    headers: Mapping[str, str]
    body_start: int
    keeps_alive: bool
    # None when the body comes in chunks.
    length: int | None


class RequestReader:
    """Feed it bytes, take whole requests; keeps what belongs to the next one."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._head: _Head | None = None

    def feed(self, data: bytes) -> None:
        self._buffer += data

    def waits_for_continue(self) -> bool:
        """The client has sent a head with `Expect: 100-continue` and holds its body back."""
        head = self._read_head()
        return (
            head is not None
            and head.headers.get("expect", "").lower() == "100-continue"
            and len(self._buffer) == head.body_start
        )

    def take(self) -> Request | None:
        """The next request when all of it is there; raises BadRequestError."""
        head = self._read_head()
        if head is None:
            return None
        if head.length is None:
            chunked = _read_chunks(self._buffer, head.body_start)
            if chunked is None:
                return None
            body, end = chunked
        else:
            end = head.body_start + head.length
            if len(self._buffer) < end:
                return None
            body = bytes(self._buffer[head.body_start : end])
        del self._buffer[:end]
        self._head = None
        return Request(head.method, head.path, head.headers, body, head.keeps_alive)

    def _read_head(self) -> _Head | None:
        if self._head is None:
            end = self._buffer.find(_HEAD_END)
            if end < 0:
                if len(self._buffer) > MAX_HEAD_BYTES:
                    raise BadRequestError(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, "the request's head has no end")
                return None
            self._head = _parse_head(bytes(self._buffer[:end]), end + len(_HEAD_END))
        return self._head


def _parse_head(data: bytes, body_start: int) -> _Head:
    first, *lines = data.decode("latin-1").split("\r\n")
    words = first.split(" ")
    if len(words) != 3 or not words[2].startswith("HTTP/1."):
        raise BadRequestError(HTTPStatus.BAD_REQUEST, f"not an HTTP/1.x request line: {first[:80]!r}")
    pairs = (line.partition(":") for line in lines)
    headers = {name.strip().lower(): value.strip() for name, _, value in pairs}
    connection = headers.get("connection", "").lower()
    keeps_alive = connection == "keep-alive" if words[2] == "HTTP/1.0" else connection != "close"
    length = None if headers.get("transfer-encoding", "").lower() == "chunked" else _length_of(headers)
    return _Head(words[0], words[1].partition("?")[0], headers, body_start, keeps_alive, length)


def _length_of(headers: Mapping[str, str]) -> int:
    given = headers.get("content-length", "0")
    if not (given.isascii() and given.isdigit()):
        raise BadRequestError(HTTPStatus.BAD_REQUEST, f"Content-Length is {given[:40]!r}")
    length = int(given[:20])
    if length > MAX_BODY_BYTES:
        raise BadRequestError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"the body has {length} bytes")
    return length


def _read_chunks(buffer: bytearray, start: int) -> tuple[bytes, int] | None:
    """The body and where it ends, or None while chunks are missing. Trailers are not spoken here."""
    parts: list[bytes] = []
    size_so_far, place = 0, start
    while True:
        line_end = buffer.find(b"\r\n", place)
        if line_end < 0:
            return None
        try:
            size = int(bytes(buffer[place:line_end]).partition(b";")[0], 16)
        except ValueError:
            raise BadRequestError(HTTPStatus.BAD_REQUEST, "a chunk without a size") from None
        size_so_far += size
        if not 0 <= size_so_far <= MAX_BODY_BYTES:
            raise BadRequestError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "the chunks are too many")
        place = line_end + 2 + size + 2
        if len(buffer) < place:
            return None
        if size == 0:
            return b"".join(parts), place
        parts.append(bytes(buffer[line_end + 2 : line_end + 2 + size]))


def response(
    status: int, body: bytes, *, keeps_alive: bool = True, headers: Mapping[str, str] | None = None
) -> tuple[bytes, bytes]:
    """Head and body, apart: a slow server sends them apart."""
    lines = [
        f"HTTP/1.1 {status} {_phrase(status)}",
        "Content-Type: application/json",
        f"Content-Length: {len(body)}",
        f"Connection: {'keep-alive' if keeps_alive else 'close'}",
        *(f"{name}: {value}" for name, value in (headers or {}).items()),
    ]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1"), body


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Overloaded"

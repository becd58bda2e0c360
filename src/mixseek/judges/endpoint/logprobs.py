"""The probabilities of tokens that endpoints give beside a reply, cut down to those of the fields with the verdict."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from mixseek.judges.endpoint.answers import items
from mixseek.protocols.replies.field_places import FieldPath, FieldPlace, locate_fields

NO_TOKENS = "the endpoint gave no token probabilities"
NO_FIELDS = "the verdict stands in no field of its own"
MISALIGNED = "the tokens that the endpoint gave are not those of the text"
# Less than a ten-millionth is no alternative.
_LEAST_LOGPROB = -16.0
_DIGITS = 6
_REPLACED = "\ufffd"


class _Piece(NamedTuple):
    """A token, as bytes of the text."""

    entry: Mapping[str, Any]
    begin: int
    end: int


def compact_logprobs(text: str, given: Any, paths: Collection[FieldPath]) -> dict[str, Any]:
    """What the details of a reply keep; `given` is the list of tokens as the endpoint wrote it."""
    entries = items(given)
    if not entries:
        return {"problem": NO_TOKENS}
    pieces = _align(text.encode("utf-8", "surrogatepass"), entries)
    if pieces is None:
        return {"problem": MISALIGNED}
    places = locate_fields(text, paths)
    return {"fields": {".".join(path): _compact(text, place, pieces) for path, place in sorted(places.items())}}


def _align(text: bytes, entries: Sequence[Mapping[str, Any]]) -> list[_Piece] | None:
    """The tokens with their places; None where they are not those of the text.

    Tokens of a thought may stand before those of the text, and marks of a chat template behind them.
    """
    written = [_bytes_of(entry) for entry in entries]
    begin = b"".join(written).rfind(text)
    if begin < 0:
        return _align_replaced(text, entries)
    pieces, place = [], -begin
    for entry, token in zip(entries, written, strict=True):
        pieces.append(_Piece(entry, place, place + len(token)))
        place += len(token)
    return [piece for piece in pieces if piece.end > 0 and piece.begin < len(text)]


def _align_replaced(text: bytes, entries: Sequence[Mapping[str, Any]]) -> list[_Piece] | None:
    """The same where characters were split between tokens and replaced: the next whole token says where they end."""
    pieces: list[_Piece] = []
    waiting: list[Mapping[str, Any]] = []
    place = 0
    for entry in entries:
        token = _bytes_of(entry)
        if not pieces and not waiting:
            token = token.lstrip() if not text.startswith(token) else token
        if _REPLACED in str(entry.get("token")):
            waiting.append(entry)
            continue
        offset = text.find(token, place, place + 4 * len(waiting) + len(token)) if token else place
        if offset < 0 or (offset > place and not waiting):
            # Marks behind the text are none of it.
            break
        pieces += (_Piece(held, place, offset) for held in waiting)
        pieces.append(_Piece(entry, offset, offset + len(token)))
        place, waiting = offset + len(token), []
    pieces += (_Piece(held, place, len(text)) for held in waiting)
    return pieces if place == len(text) or (waiting and len(text) - place <= 4 * len(waiting)) else None


def _compact(text: str, place: FieldPlace, pieces: Sequence[_Piece]) -> dict[str, Any]:
    """The tokens of one value, from the colon on; behind a bare number one more, which says that it has ended."""
    anchor, end = (len(text[:offset].encode("utf-8", "surrogatepass")) for offset in (place.anchor, place.end))
    is_bare = text[place.end - 1] != '"'
    chosen = [piece for piece in pieces if piece.end > anchor and piece.begin < end + is_bare]
    return {"tokens": [list(_document(piece, anchor)) for piece in chosen]}


def _document(piece: _Piece, anchor: int) -> Iterator[Any]:
    yield _plain(piece.entry)
    yield piece.begin - anchor
    yield _rounded(piece.entry.get("logprob"))
    top = items(piece.entry.get("top_logprobs"))
    alternatives = [[_plain(entry), _rounded(entry.get("logprob"))] for entry in top]
    yield [pair for pair in alternatives if not isinstance(pair[1], float) or not pair[1] < _LEAST_LOGPROB]


def _rounded(logprob: Any) -> Any:
    """A number short; what is none is kept as it is, for whoever reads it to refuse."""
    return round(float(logprob), _DIGITS) if isinstance(logprob, int | float) and type(logprob) is not bool else logprob


def _plain(entry: Mapping[str, Any]) -> str | list[int]:
    """The token as text; as bytes where it is a part of a character."""
    token = _bytes_of(entry)
    try:
        return token.decode()
    except UnicodeDecodeError:
        return list(token)


def _bytes_of(entry: Mapping[str, Any]) -> bytes:
    """Its bytes, which not every endpoint gives."""
    given = entry.get("bytes")
    if isinstance(given, list) and given and all(type(byte) is int and 0 <= byte < 256 for byte in given):
        return bytes(given)
    token = entry.get("token")
    return token.encode("utf-8", "surrogatepass") if isinstance(token, str) else b""

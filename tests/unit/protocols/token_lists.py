"""Tokens with their probabilities, as OpenAI-compatible endpoints write them; built from a text cut into pieces."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from mixseek.domain.judgments import Reply
from mixseek.judges.endpoint.logprobs import compact_logprobs
from mixseek.protocols.replies.field_places import locate_fields
from mixseek.protocols.replies.token_shares import LOGPROBS

# A piece that was certain, or one with the probability of whatever could have stood there.
Piece = str | tuple[str, Mapping[str, float]]


def text_of(pieces: Sequence[Piece]) -> str:
    return "".join(piece if isinstance(piece, str) else piece[0] for piece in pieces)


def entry(token: str | bytes, probability: float, **changes: Any) -> dict[str, Any]:
    """One token or alternative; bytes stand for a part of a character."""
    raw = token if isinstance(token, bytes) else token.encode()
    told = token if isinstance(token, str) else token.decode("utf-8", "replace")
    return {"token": told, "logprob": math.log(probability), "bytes": list(raw), **changes}


def token_list(pieces: Sequence[Piece]) -> list[dict[str, Any]]:
    """What stands under `logprobs.content`."""
    tokens = []
    for piece in pieces:
        token, shares = (piece, {piece: 1.0}) if isinstance(piece, str) else piece
        top = [entry(other, share) for other, share in shares.items()]
        tokens.append({**entry(token, shares.get(token, 1.0)), "top_logprobs": top})
    return tokens


def reply_with(text: str, shares: Mapping[Any, Mapping[str, float]], judge: str = "beta-large") -> Reply:
    """A reply as a judge brings it, whose values of these fields (by their paths) were drawn from these shares."""
    places = sorted((place, path) for path, place in locate_fields(text, shares).items())
    assert len(places) == len(shares), "a field is not in the reply"
    pieces: list[Piece] = []
    end = 0
    for place, path in places:
        written = text[place.start : place.end]
        quote = '"' if written.startswith('"') else ""
        pieces += [
            text[end : place.start],
            (written, {f"{quote}{value}{quote}": p for value, p in shares[path].items()}),
        ]
        end = place.end
    pieces.append(text[end:])
    return Reply(text, judge, details={LOGPROBS: compact_logprobs(text, token_list(pieces), list(shares))})

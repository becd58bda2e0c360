"""What the loopback provider bills, and what it was asked twice: the truth that a client's own account is held against.

A request is its body's content, as canonical JSON, under the id that its sender gave it: repeats of a body differ by
their ids, and a client that makes new ids for what it lost is not taken in for a new request's sake alone.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import orjson

from mixseek.testing.prompts import digest_of

_UNDER_WAY, _LOST, _SUCCEEDED = range(3)


class Tokens(NamedTuple):
    """What an answer cost; `cached` is a part of `input`."""

    input: int
    cached: int
    output: int


class SubmittedRequest(NamedTuple):
    """A request of a batch: the sender's id, and the digest of its body."""

    custom_id: str
    digest: bytes


def canonical(body: Any) -> bytes:
    """The same bytes for the same content, however it was written."""
    return orjson.dumps(body, option=orjson.OPT_SORT_KEYS)


class _Account:
    """Sums of a wire."""

    def __init__(self) -> None:
        self.requests = 0
        self.tokens = Tokens(0, 0, 0)

    def add(self, tokens: Tokens) -> None:
        self.requests += 1
        self.tokens = Tokens(*(total + added for total, added in zip(self.tokens, tokens, strict=True)))

    def summary(self) -> dict[str, int]:
        cost = self.tokens
        return {
            "requests": self.requests,
            "input_tokens": cost.input,
            "cached_tokens": cost.cached,
            "output_tokens": cost.output,
        }


class Ledger:
    """Wires are called by name: `openai` is a live one, `openai-batch` takes batches."""

    def __init__(self) -> None:
        self._billed: dict[str, _Account] = {}
        self._unreadable: dict[str, _Account] = {}
        self._batches: Counter[str] = Counter()
        self._requests: Counter[str] = Counter()
        self._faults: Counter[str] = Counter()
        # By request: in which batches it was sent, and at which place there.
        self._submissions: dict[bytes, list[tuple[str, int]]] = {}
        # By batch: what became of each of its requests.
        self._fates: dict[str, bytearray] = {}
        self._again_after_success: list[dict[str, Any]] = []
        self._in_flight_twice: list[dict[str, Any]] = []
        self._strangers_cancelled: list[str] = []

    def bill(self, wire: str, tokens: Tokens, *, is_readable: bool = True) -> None:
        """`is_readable`: whether the client can read the answer; what it cannot read is billed all the same."""
        self._billed.setdefault(wire, _Account()).add(tokens)
        if not is_readable:
            self._unreadable.setdefault(wire, _Account()).add(tokens)

    def open_batch(self, batch_id: str, wire: str, requests: Iterable[SubmittedRequest]) -> None:
        """Enters a batch that was created; names the requests that were under way or answered before it."""
        fates = bytearray()
        for index, request in enumerate(requests):
            key = digest_of(wire, request.custom_id, request.digest.hex())
            earlier = self._submissions.setdefault(key, [])
            known = {self._fates[other][place] for other, place in earlier}
            notes = (self._in_flight_twice, _UNDER_WAY), (self._again_after_success, _SUCCEEDED)
            for notice, fate in notes:
                if fate in known:
                    batches = [*(other for other, _ in earlier), batch_id]
                    body = request.digest.hex()
                    notice.append({"wire": wire, "custom_id": request.custom_id, "body": body, "batches": batches})
            earlier.append((batch_id, index))
            fates.append(_UNDER_WAY)
        self._fates[batch_id] = fates
        self._batches[wire] += 1
        self._requests[wire] += len(fates)

    def close_batch(self, batch_id: str, has_answer: Mapping[int, bool]) -> None:
        """Enters which requests, by their place, have an answer that a client can read."""
        fates = self._fates[batch_id]
        for index in range(len(fates)):
            fates[index] = _SUCCEEDED if has_answer.get(index) else _LOST

    def planted(self, fault: str) -> None:
        self._faults[fault] += 1

    def stranger_cancelled(self, batch_id: str) -> None:
        """Enters that a client cancelled what is not its own."""
        self._strangers_cancelled.append(batch_id)

    def summary(self) -> dict[str, Any]:
        """What GET /ledger says; `billed_unreadable` is the part of `billed` that is in no line one can read."""
        return {
            "billed": {wire: account.summary() for wire, account in sorted(self._billed.items())},
            "billed_unreadable": {wire: account.summary() for wire, account in sorted(self._unreadable.items())},
            "batches": dict(sorted(self._batches.items())),
            "requests_in_batches": dict(sorted(self._requests.items())),
            "faults": dict(sorted(self._faults.items())),
            "submitted_again_after_success": self._again_after_success,
            "in_flight_twice": self._in_flight_twice,
            "strangers_cancelled": self._strangers_cancelled,
        }

"""Replies had before, by the digest of their request."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Protocol

from mixseek.domain.judgments import Reply
from mixseek.domain.ports import PLAIN, ReplyKey


class ReplyCache(Protocol):
    """Shared by the runs of a workspace; losing it costs money, never truth."""

    def get_many(self, keys: Sequence[bytes]) -> Mapping[bytes, Reply]:
        """The replies that are known; keys without one are left out."""
        ...

    def put_many(self, replies: Mapping[bytes, Reply]) -> None: ...


class NoCache:
    """A cache that remembers nothing."""

    def get_many(self, keys: Sequence[bytes]) -> Mapping[bytes, Reply]:
        return {}

    def put_many(self, replies: Mapping[bytes, Reply]) -> None:
        pass


class RequestKeys:
    """Digests of requests, without rendering any: what is asked, of whom, about which sample, and which time."""

    def __init__(self, protocol_hash: str, fingerprint: str, nonce_key_id: str) -> None:
        self._begun = hashlib.sha256("|".join((protocol_hash, fingerprint, nonce_key_id)).encode())

    def key(self, sample_key: str, reply: ReplyKey, ask: int) -> bytes:
        """32 bytes; repeats, presentations and re-asks of one sample are requests of their own."""
        digest = self._begun.copy()
        shown = "" if reply.presentation == PLAIN else f"|{reply.presentation}"
        digest.update(f"|{sample_key}|{reply.repeat}|{ask}{shown}".encode())
        return digest.digest()


def reuse(reply: Reply, judge: str, repeat: int, ask: int) -> Reply:
    """A reply had before, under this judge's name; nothing was sent and nothing was paid."""
    free = {"take": repeat, "ask": ask, "cached": True, "tries": 0, "cost_usd": 0.0}
    return Reply(reply.text, judge, ask, {**reply.details, **free})

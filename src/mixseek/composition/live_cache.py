"""The workspace's replies and what was made of them, for one run."""

import hashlib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from pathlib import Path

from mixseek.domain.judgments import Reply, Status
from mixseek.engine.caching import Settled
from mixseek.storage.reply_cache import ReplyCacheFile

_PUTS_AT_ONCE = 512
# Whatever decides what becomes of a reply, beside the protocol's own hash: code, declarations, tables of names.
_RULES = ("protocols", "matching", "domain", "templating", "storage/records.py")


class BufferedCache:
    """Replies go into the file by the hundred: a transaction for each would cost more than all the rest."""

    def __init__(self, file: ReplyCacheFile, protocol_hash: str = "") -> None:
        self._file = file
        self._protocol_hash = protocol_hash
        self._waiting: dict[bytes, Reply] = {}
        self._settled: list[tuple[bytes, bytes, bytes]] = []
        self._versions: dict[str, bytes] = {}

    def get_many(self, keys: Sequence[bytes]) -> Mapping[bytes, Reply]:
        found = self._file.get_many(keys)
        if self._waiting:
            found.update({key: self._waiting[key] for key in keys if key in self._waiting})
        return found

    def put_many(self, replies: Mapping[bytes, Reply]) -> None:
        self._waiting.update(replies)
        if len(self._waiting) >= _PUTS_AT_ONCE:
            self.flush()

    def find(self, judge: str, keys: Sequence[bytes]) -> Mapping[bytes, Settled]:
        values = self._file.find_settled(self._version(judge), keys)
        return {key: decode_settled(value) for key, value in values.items()}

    def note(self, judge: str, key: bytes, settled: Settled) -> None:
        self._settled.append((key, self._version(judge), encode_settled(settled)))
        if len(self._settled) >= _PUTS_AT_ONCE:
            self.flush()

    def flush(self) -> None:
        """What is still waiting; a crash before this costs money, never truth."""
        self._file.put(self._waiting, self._settled)
        self._waiting, self._settled = {}, []

    def _version(self, judge: str) -> bytes:
        """Outcomes of other rules, another protocol or under another judge's name are none of ours."""
        version = self._versions.get(judge)
        if version is None:
            text = "\0".join((self._protocol_hash, digest_reading(), judge))
            version = self._versions[judge] = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
        return version


def encode_settled(settled: Settled) -> bytes:
    """Three lines; both parts end with one already."""
    return b"%s\n%s%s" % (settled.status.value.encode(), settled.reply, settled.outcome)


def decode_settled(value: bytes) -> Settled:
    """As it was encoded: the file is ours, and its version was asked for."""
    status, reply, outcome = value.split(b"\n", 2)
    return Settled(Status(status.decode()), reply + b"\n", outcome)


@cache
def digest_reading() -> str:
    """Over every file that decides what becomes of a reply: changed rules never serve what other rules said."""
    return digest_files(Path(str(resources.files("mixseek"))), _RULES)


def digest_files(room: Path, names: Sequence[str]) -> str:
    """Over names and contents of files and of everything below directories; byte code aside."""
    digest = hashlib.sha256()
    for name in names:
        place = room / name
        files = [place] if place.is_file() else sorted(path for path in place.rglob("*") if path.suffix != ".pyc")
        for path in files:
            if path.is_file():
                digest.update(path.relative_to(room).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()

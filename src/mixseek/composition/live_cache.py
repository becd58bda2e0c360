"""The workspace's replies, for one run."""

from collections.abc import Mapping, Sequence

from mixseek.domain.judgments import Reply
from mixseek.storage.reply_cache import ReplyCacheFile

_PUTS_AT_ONCE = 512


class BufferedCache:
    """Replies go into the file by the hundred: a transaction for each would cost more than all the rest."""

    def __init__(self, file: ReplyCacheFile) -> None:
        self._file = file
        self._waiting: dict[bytes, Reply] = {}

    def get_many(self, keys: Sequence[bytes]) -> Mapping[bytes, Reply]:
        found = self._file.get_many(keys)
        if self._waiting:
            found.update({key: self._waiting[key] for key in keys if key in self._waiting})
        return found

    def put_many(self, replies: Mapping[bytes, Reply]) -> None:
        self._waiting.update(replies)
        if len(self._waiting) >= _PUTS_AT_ONCE:
            self.flush()

    def flush(self) -> None:
        """What is still waiting; a crash before this costs money, never truth."""
        self._file.put_many(self._waiting)
        self._waiting = {}

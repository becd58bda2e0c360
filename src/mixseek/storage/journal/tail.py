"""A run as it grows: what its journal gained since the last look, counted without an index."""

import threading
import time
from collections import Counter, deque
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import orjson

from mixseek.storage.journal.journal import is_being_written, opening_journal
from mixseek.storage.journal.records import RunStatus, read_manifest
from mixseek.storage.workspace import RunDirectory

_NEWEST = 12
# A look reads at most this much: the first one at a long journal takes several.
_LOOK_BYTES = 32 << 20
# What a rate is measured over.
_RATE_SECONDS = 20.0
# Nothing was written for so long: perhaps the process is gone, and its lock is asked for.
_SILENT_SECONDS = 5.0


class JournalTail:
    """Counts from the beginning of the journal; each look goes on where the one before ended."""

    def __init__(self, run: RunDirectory, clock: Callable[[], float] = time.monotonic) -> None:
        self._run, self._clock = run, clock
        self._offset = 0
        self._lock = threading.Lock()
        self._samples = 0
        self._statuses: Counter[str] = Counter()
        self._verdicts: Counter[str] = Counter()
        self._replies = 0
        self._unpriced = 0
        self._cost = Decimal(0)
        self._newest: deque[dict[str, Any]] = deque(maxlen=_NEWEST)
        self._marks: deque[tuple[float, int]] = deque()
        self._grown_at = clock()

    def look(self) -> dict[str, Any]:
        """What is known now; `is_behind` while there is more of the journal to read."""
        with self._lock:
            now = self._clock()
            size = 0
            if self._run.journal.is_file():
                stat = self._run.journal.stat()
                size, self._grown_at = stat.st_size, now - max(0.0, time.time() - stat.st_mtime)
            self._read(size)
            judged = self._statuses.total()
            is_behind = self._offset < size and size - self._offset > 1 << 20
            # What was there before says nothing about the rate.
            if not is_behind:
                self._marks.append((now, judged))
            while len(self._marks) > 2 and now - self._marks[0][0] > _RATE_SECONDS:
                self._marks.popleft()
            return self._describe(now, judged, is_behind=is_behind)

    def _read(self, size: int) -> None:
        if size <= self._offset:
            return
        with opening_journal(self._run.journal, buffering=1 << 20) as journal:
            journal.seek(self._offset)
            end = self._offset + _LOOK_BYTES
            for line in journal:
                if not line.endswith(b"\n"):
                    break
                self._offset += len(line)
                self._take(line)
                if self._offset >= end:
                    break

    def _take(self, line: bytes) -> None:
        # By how a line begins: most of a journal is texts, which nobody counts here.
        match line[5:9]:
            case b'"sam':
                self._samples += 1
            case b'"rep' if b'"cached":true' not in line:
                self._replies += 1
                cost = orjson.loads(line).get("details", {}).get("cost_usd")
                if isinstance(cost, str | int | float):
                    self._cost += Decimal(str(cost))
                else:
                    self._unpriced += 1
            case b'"out':
                told = orjson.loads(line)
                self._statuses[told["status"]] += 1
                if told["status"] == "valid" and told.get("verdict"):
                    self._verdicts[told["verdict"]] += 1
                names = ("id", "judge", "status", "verdict", "score", "reason")
                self._newest.append({name: told.get(name) for name in names} | {"repeat": told.get("take", 1)})
            case _:
                pass

    def _describe(self, now: float, judged: int, *, is_behind: bool) -> dict[str, Any]:
        manifest = read_manifest(self._run.manifest)
        first = self._marks[0] if self._marks else (now, judged)
        seconds = now - first[0]
        is_running = manifest.status is RunStatus.RUNNING
        if is_running and now - self._grown_at > _SILENT_SECONDS:
            is_running = is_being_written(self._run.journal.with_suffix(".lock"))
        return {
            "run": self._run.name,
            "status": manifest.status.value if is_running or manifest.has_ended else RunStatus.INTERRUPTED.value,
            "is_running": is_running,
            "is_behind": is_behind,
            "samples": self._samples,
            "sample_count": manifest.sample_count,
            "judged": judged,
            "statuses": dict(self._statuses),
            "verdicts": dict(self._verdicts.most_common(8)),
            "invalid_share": self._statuses["invalid"] / judged if judged else None,
            "rate": (judged - first[1]) / seconds if seconds >= 1 else None,
            "replies": self._replies,
            "cost_usd": float(self._cost) if self._replies > self._unpriced else None,
            "unpriced": self._unpriced,
            "newest": list(self._newest)[::-1],
        }

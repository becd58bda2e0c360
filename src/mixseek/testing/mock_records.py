"""What the loopback judge remembers: counters for /stats, and a log with a line for each request and each answer."""

import time
from collections import Counter
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from mixseek.errors import ConfigurationError
from mixseek.testing.mock_replies import Fault

_EXCERPT = 200


class MockRecords:
    """Numbers requests from 1 on. The log is flushed line by line: a test reads it while the server runs."""

    def __init__(self, log: Path | None) -> None:
        self._log: BinaryIO | None = None
        try:
            # Unbuffered, so that what was written is there for others; appended to, so that a restart loses nothing.
            self._log = None if log is None else log.open("ab", buffering=0)
        except OSError as error:
            raise ConfigurationError(f"{log}: cannot write the request log ({error.strerror})") from error
        self._begun = time.monotonic()
        # Never begins again: a request that outlives a reset keeps its own number.
        self._number = 0
        self.in_flight: set[int] = set()
        self.reset()

    def reset(self) -> None:
        """Counters and memory of requests, so that the same requests meet the same faults again; the log goes on."""
        self.requests = 0
        self.max_in_flight = len(self.in_flight)
        self._abandoned = 0
        self._times_seen: Counter[bytes] = Counter()
        self._times_in_batches: Counter[bytes] = Counter()
        self._faults: Counter[str] = Counter()
        self._statuses: Counter[str] = Counter()

    def received(self, digest: bytes, wire: str, model: str, question: str) -> tuple[int, int]:
        """The request's number, and how often this very request had come before."""
        self.requests += 1
        self._number += 1
        times_seen = self._times_seen[digest]
        self._times_seen[digest] += 1
        self.in_flight.add(self._number)
        self.max_in_flight = max(self.max_in_flight, len(self.in_flight))
        request = {"request": digest.hex(), "times_seen": times_seen, "wire": wire, "model": model}
        self._write(event="received", number=self._number, **request, question=question[:_EXCERPT])
        return self._number, times_seen

    def answered(self, number: int, status: int, fault: Fault | None, is_correct: bool | None) -> None:
        """Status 0 is a dropped connection."""
        self.in_flight.discard(number)
        self._statuses[str(status)] += 1
        if fault is not None:
            self._faults[fault.value] += 1
        self._write(event="answered", number=number, status=status, fault=fault, is_correct=is_correct)

    def answered_in_batch(self, digest: bytes) -> int:
        """How often this request was answered in a batch before."""
        times_seen = self._times_in_batches[digest]
        self._times_in_batches[digest] += 1
        return times_seen

    def abandoned(self, number: int) -> None:
        """The client went away before it had its answer."""
        self.in_flight.discard(number)
        self._abandoned += 1
        self._write(event="abandoned", number=number)

    def summary(self) -> dict[str, Any]:
        """What GET /stats says. `seen`: how many requests came once, twice, …"""
        return {
            "requests": self.requests,
            "distinct": len(self._times_seen),
            "repeated": self.requests - len(self._times_seen),
            "seen": {str(times): count for times, count in sorted(Counter(self._times_seen.values()).items())},
            "answered": dict(sorted(self._statuses.items())),
            "abandoned": self._abandoned,
            "faults": dict(sorted(self._faults.items())),
            "in_flight": len(self.in_flight),
            "max_in_flight": self.max_in_flight,
        }

    def close(self) -> None:
        if self._log is not None:
            self._log.close()
            self._log = None

    def _write(self, **fields: Any) -> None:
        if self._log is not None:
            seconds = round(time.monotonic() - self._begun, 6)
            self._log.write(orjson.dumps({**fields, "seconds": seconds}, default=str) + b"\n")

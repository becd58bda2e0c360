"""What a journal already holds, small enough to keep for a million samples: resume asks this and nothing else."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from mixseek.domain.judgments import Status
from mixseek.domain.samples import Sample
from mixseek.storage.journal import damaged, read_lines
from mixseek.storage.records import decode_line

# 0 is "nothing yet"; missing is nothing yet as well, because it is asked for again.
_STATUSES = (Status.VALID, Status.INVALID, Status.UNDECIDED)
_BASE = len(_STATUSES) + 1


class JudgedBefore:
    """Statuses by sample and judge. One dict of 16-byte keys for all judges: about 110 bytes a sample."""

    def __init__(self, judges: Sequence[str]) -> None:
        self._weights = {judge: _BASE**position for position, judge in enumerate(judges)}
        # The statuses of all judges as digits of one number: small, and shared by samples that ended alike.
        self._codes: dict[bytes, int] = {}
        self._decoded: dict[int, Mapping[str, Status]] = {0: {}}

    def __len__(self) -> int:
        """Samples with at least one outcome that stands."""
        return sum(1 for code in self._codes.values() if code)

    def statuses(self, sample: Sample) -> Mapping[str, Status]:
        """Judge name to status; judges that are still to be asked are left out."""
        return self._decode(self._codes.get(bytes.fromhex(sample.key()), 0)) if self._codes else {}

    def counts(self) -> dict[str, Counter[Status]]:
        """How many samples ended how, by judge."""
        counts: dict[str, Counter[Status]] = {judge: Counter() for judge in self._weights}
        for code, times in Counter(self._codes.values()).items():
            for judge, status in self._decode(code).items():
                counts[judge][status] += times
        return counts

    def remember(self, key: str, judge: str, status: str) -> None:
        """The last status told counts; judges that are not asked in this run are passed over."""
        weight = self._weights.get(judge)
        if weight is None:
            return
        digit = 0 if status == Status.MISSING else _STATUSES.index(Status(status)) + 1
        packed = bytes.fromhex(key)
        code = self._codes.get(packed, 0)
        self._codes[packed] = code + (digit - code // weight % _BASE) * weight

    def _decode(self, code: int) -> Mapping[str, Status]:
        known = self._decoded.get(code)
        if known is None:
            known = {
                judge: _STATUSES[digit - 1]
                for judge, weight in self._weights.items()
                if (digit := code // weight % _BASE)
            }
            self._decoded[code] = known
        return known


def recall_journal(path: Path, judges: Sequence[str]) -> JudgedBefore:
    """Reads every line, so that damage is found before new work is added; raises StorageError naming the byte."""
    judged = JudgedBefore(judges)
    for offset, line in read_lines(path):
        try:
            record = decode_line(line)
            kind = record["t"]
            if kind == "outcome":
                judged.remember(record["key"], record["judge"], record["status"])
            elif kind not in ("sample", "reply"):
                raise ValueError(f"unknown record type {kind!r}")  # noqa: TRY301 - one handler words all damage
        except (ValueError, KeyError, TypeError) as error:
            raise damaged(path, offset, ValueError(str(error))) from error
    return judged

"""What a journal already holds, small enough to keep for a million samples: resume asks this and nothing else."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from mixseek.domain.judgments import Reply, Status
from mixseek.domain.ports import PLAIN, LostRequests, ReplyKey
from mixseek.storage.journal.journal import damaged, read_lines
from mixseek.storage.journal.records import decode_line, decode_reply

# 0 is "nothing yet"; missing is nothing yet as well, because it is asked for again, unless that changes nothing.
_STATUSES = (Status.VALID, Status.INVALID, Status.UNDECIDED, Status.MISSING)
_BASE = len(_STATUSES) + 1


class JudgedBefore:
    """Statuses by sample, judge and repeat. One dict of 16-byte keys for all judges: about 110 bytes a sample."""

    def __init__(self, judges: Sequence[str], repeats: int) -> None:
        places = [ReplyKey(judge, repeat) for judge in judges for repeat in range(1, repeats + 1)]
        self._weights = {place: _BASE**position for position, place in enumerate(places)}
        # The statuses of all judges as digits of one number: small, and shared by samples that ended alike.
        self._codes: dict[bytes, int] = {}
        self._decoded: dict[int, Mapping[ReplyKey, Status]] = {0: {}}
        # Replies that nobody has read yet: only those in flight when a process died, so few.
        self._unread: dict[bytes, dict[ReplyKey, list[Reply]]] = {}
        # Few as well: samples that endpoints failed on.
        self._lost: dict[bytes, dict[ReplyKey, LostRequests]] = {}

    def __len__(self) -> int:
        """Samples with at least one outcome that stands."""
        return sum(1 for code in self._codes.values() if code)

    def statuses(self, key: str) -> Mapping[ReplyKey, Status]:
        """Judge and repeat to status, by the sample's key; what is still to be asked is left out."""
        return self._decode(self._codes.get(bytes.fromhex(key), 0)) if self._codes else {}

    def has_sample(self, key: str) -> bool:
        """Whether the sample's own line is there."""
        return bytes.fromhex(key) in self._codes

    def unread_replies(self, key: str) -> Mapping[ReplyKey, tuple[Reply, ...]]:
        """Replies that were paid for and never read, in the order of asking."""
        unread = self._unread.get(bytes.fromhex(key), {}) if self._unread else {}
        return {take: tuple(replies) for take, replies in unread.items()}

    def counts(self) -> dict[str, Counter[Status]]:
        """How many outcomes of each kind, by judge."""
        counts: dict[str, Counter[Status]] = {place.judge: Counter() for place in self._weights}
        for code, times in Counter(self._codes.values()).items():
            for place, status in self._decode(code).items():
                counts[place.judge][status] += times
        return counts

    def lost(self, key: str) -> Mapping[ReplyKey, LostRequests]:
        """Requests that brought no reply, as the last outcome told them."""
        return self._lost.get(bytes.fromhex(key), {}) if self._lost else {}

    def remember(self, key: str, place: ReplyKey, status: str, *, is_permanent: bool, lost: LostRequests) -> None:
        """The last status told counts; judges that are not asked in this run are passed over."""
        weight = self._weights.get(place)
        if weight is None:
            return
        is_open = status == Status.MISSING and not is_permanent
        digit = 0 if is_open else _STATUSES.index(Status(status)) + 1
        packed = bytes.fromhex(key)
        if any(lost):
            self._lost.setdefault(packed, {})[place] = lost
        code = self._codes.get(packed, 0)
        self._codes[packed] = code + (digit - code // weight % _BASE) * weight
        if is_open:
            # What came in another presentation is still to be read together with what is asked for again.
            return
        unread = self._unread.pop(packed, {})
        # One outcome is made of all presentations.
        if rest := {reply_key: replies for reply_key, replies in unread.items() if reply_key[:2] != place[:2]}:
            self._unread[packed] = rest

    def remember_record(self, record: Mapping[str, Any]) -> None:
        """Raises ValueError for a record of no known kind, and for one about a sample that was never taken up."""
        kind = record["t"]
        if kind not in ("sample", "reply", "outcome"):
            raise ValueError(f"unknown record type {kind!r}")
        key = bytes.fromhex(record["key"])
        if kind == "sample":
            self._codes.setdefault(key, 0)
        elif key not in self._codes:
            named = f" {record['id']!r}" if "id" in record else ""
            raise ValueError(f"this {kind} is about a sample{named} that the run does not have")
        elif kind == "reply":
            # Until its outcome is told, it is still to be read.
            reply = decode_reply(record)
            place = ReplyKey(reply.judge, reply.details.get("take", 1), reply.details.get("presentation", PLAIN))
            if place._replace(presentation=PLAIN) in self._weights:
                self._unread.setdefault(key, {}).setdefault(place, []).append(reply)
        else:
            self.remember(
                record["key"],
                ReplyKey(record["judge"], record.get("take", 1)),
                record["status"],
                is_permanent=record.get("permanent", False),
                lost=LostRequests(record.get("lost_tries", 0), **record.get("lost_bill", {})),
            )

    def _decode(self, code: int) -> Mapping[ReplyKey, Status]:
        if code not in self._decoded:
            digits = {place: code // weight % _BASE for place, weight in self._weights.items()}
            self._decoded[code] = {place: _STATUSES[digit - 1] for place, digit in digits.items() if digit}
        return self._decoded[code]


def recall_journal(path: Path, judges: Sequence[str], repeats: int = 1) -> JudgedBefore:
    """Reads every line, so that damage is found before new work is added; raises StorageError naming the byte."""
    judged = JudgedBefore(judges, repeats)
    for offset, line in read_lines(path):
        try:
            judged.remember_record(decode_line(line))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise damaged(path, offset, ValueError(str(error))) from error
    return judged

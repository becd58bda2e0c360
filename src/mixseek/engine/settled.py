"""Judgments that an earlier run wrote down: neither asked for, nor parsed, nor encoded again.

They hold for the same request, the same protocol and the same rules of reading only; whoever keeps them sees to that.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from mixseek.domain.judgments import Outcome, Reply, Status, status_of
from mixseek.domain.samples import Sample
from mixseek.engine.caching import Settled, reuse
from mixseek.engine.seats import LiveSeat, SampleAtHand, Seat


class SettledOutcomes(Protocol):
    """By judge and request key; losing them costs time, never truth."""

    def find(self, judge: str, keys: Sequence[bytes]) -> Mapping[bytes, Settled]: ...

    def note(self, judge: str, key: bytes, settled: Settled) -> None: ...


class NothingSettled:
    """Remembers nothing."""

    def find(self, judge: str, keys: Sequence[bytes]) -> Mapping[bytes, Settled]:
        return {}

    def note(self, judge: str, key: bytes, settled: Settled) -> None:
        pass


class SettledLines(Protocol):
    """Journal lines in two parts; their format is the storage's."""

    def sample(self, sample: Sample, key: str) -> bytes: ...

    def settle(self, sample: Sample, key: str, reply: Reply, outcome: Outcome, take: int) -> tuple[bytes, bytes] | None:
        """What follows the names in the reply's and the outcome's line; None where they cannot be told apart."""
        ...

    def head(self, kind: str, judge: str) -> tuple[bytes, bytes]:
        """What stands before and after the sample's key, up to the rest of such a line."""
        ...


def make_settled(
    lines: SettledLines, sample: Sample, key: str, reply: Reply, judged: tuple[Outcome, int]
) -> Settled | None:
    """`judged` is what was made of a first ask, and the number of its take."""
    outcome, take = judged
    parts = lines.settle(sample, key, reuse(reply, reply.judge, take, 1), outcome, take)
    return None if parts is None else Settled(status_of(outcome), *parts)


class Settler:
    """Takes samples out of a batch that are settled under every judge; in a cascade of several, none."""

    def __init__(
        self,
        seats: Sequence[Seat],
        cascade: bool,
        known: SettledOutcomes,
        lines: SettledLines,
        record: Callable[[Sequence[bytes], Mapping[str, int]], None],
        introduce: Callable[[SampleAtHand], list[bytes]],
    ) -> None:
        live = [seat for seat in seats if isinstance(seat, LiveSeat)]
        # A cascade is walked in order, and rules have their say first.
        is_plain = len(live) == len(seats) and (len(seats) == 1 or not cascade)
        self._seats = live if is_plain else []
        self._heads = {seat.name: (lines.head("reply", seat.name), lines.head("outcome", seat.name)) for seat in live}
        self._known = known
        self._lines = lines
        self._record = record
        self._introduce = introduce

    def settle(self, samples: Sequence[SampleAtHand]) -> list[SampleAtHand]:
        """Those that are left, in their order; their own lines stand among the others', so that tables keep it too."""
        if not self._seats:
            return list(samples)
        new = [one for one in samples if not one.known and not one.unread]
        found: list[tuple[LiveSeat, list[Settled | None]]] = []
        for seat in self._seats:
            for take in range(1, seat.takes + 1):
                keys = [seat.keys.key(one.key, take, 1) for one in new]
                known = self._known.find(seat.name, keys)
                found.append((seat, [known.get(key) for key in keys]))
                if not known:
                    return list(samples)
        places = {one.key: place for place, one in enumerate(new)}
        written: list[bytes] = []
        counts: Counter[str] = Counter()
        left: list[SampleAtHand] = []
        for one in samples:
            place = places.get(one.key)
            settled = [] if place is None else [(seat, takes[place]) for seat, takes in found]
            lines = self._lines_of(one, settled)
            if lines is None:
                written.extend(self._introduce(one))
                left.append(one)
                continue
            written.extend(lines)
            counts.update(known.status for _, known in settled if known is not None)
        counts["samples"] = len(samples) - len(left)
        counts["cached"] = counts["samples"] * len(found)
        self._record(written, counts)
        return left

    def _lines_of(self, one: SampleAtHand, settled: Sequence[tuple[LiveSeat, Settled | None]]) -> list[bytes] | None:
        """None where a judge is still to be asked, perhaps again."""
        if not settled:
            return None
        lines = [self._lines.sample(one.sample, one.key)]
        key = one.key.encode()
        for seat, known in settled:
            if known is None or (known.status is not Status.VALID and seat.max_reasks):
                return None
            (reply_start, reply_judge), (outcome_start, outcome_judge) = self._heads[seat.name]
            lines += (
                b"".join((reply_start, key, reply_judge, known.reply)),
                b"".join((outcome_start, key, outcome_judge, known.outcome)),
            )
        return lines

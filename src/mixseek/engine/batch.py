"""A list of samples on its way through the judges: the unit of work, of commit and of progress."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from mixseek.domain.judgments import Status
from mixseek.domain.ports import Judge, JudgeProtocol
from mixseek.domain.samples import Sample
from mixseek.engine.one import NOTHING_KNOWN, Judged, judge_one

# A sample and what was judged of it as journal lines, each reply before its judgment. Picklable: it crosses processes.
Encode = Callable[[Sample, Sequence[Judged]], Iterable[bytes]]
# What the journal already holds for a sample: judge name to status. Empty for a sample never seen.
Recall = Callable[[Sample], Mapping[str, Status]]


@dataclass(frozen=True, slots=True)
class Batch:
    """Samples still to be judged; `known` is sparse, by position, for those that an earlier run left half done."""

    samples: Sequence[Sample]
    known: Mapping[int, Mapping[str, Status]] = field(default_factory=dict)
    # Samples that needed nothing: they move the progress, not the journal.
    skipped: int = 0


@dataclass(frozen=True, slots=True)
class BatchResult:
    """Journal lines in dataset order, and how samples ended: a status each, or one per judge without a cascade."""

    lines: Sequence[bytes]
    counts: Mapping[str, int]
    samples: int
    skipped: int = 0


@dataclass(frozen=True, slots=True)
class Assignment:
    """Who judges, by which protocol, and how it is written down; sent once to each process."""

    protocol: JudgeProtocol
    judges: Sequence[Judge]
    cascade: bool
    encode: Encode

    def judge(self, batch: Batch) -> BatchResult:
        """Judge and encode: the writer at the other end has nothing left to do but write."""
        lines: list[bytes] = []
        counts: Counter[str] = Counter()
        for position, sample in enumerate(batch.samples):
            known = batch.known.get(position, NOTHING_KNOWN)
            try:
                results = judge_one(sample, self.protocol, self.judges, self.cascade, known)
            except Exception as error:
                # A bug in a judge: say which sample woke it, or nobody can reproduce it.
                error.add_note(f"while judging sample {sample.id!r}")
                raise
            lines.extend(self.encode(sample, results))
            if self.cascade:
                counts[results[-1].status] += 1
            else:
                counts.update(judged.status for judged in results)
        return BatchResult(lines, counts, len(batch.samples), batch.skipped)


def pending_batches(
    batches: Iterable[Sequence[Sample]], judges: Sequence[str], cascade: bool, recall: Recall | None
) -> Iterator[Batch]:
    """The batches without what the journal already holds; `recall` None means that it holds nothing."""
    for samples in batches:
        if recall is None:
            yield Batch(samples)
            continue
        rest: list[Sample] = []
        known: dict[int, Mapping[str, Status]] = {}
        for sample in samples:
            statuses = recall(sample)
            if is_settled(statuses, judges, cascade):
                continue
            if statuses:
                known[len(rest)] = statuses
            rest.append(sample)
        yield Batch(rest, known, skipped=len(samples) - len(rest))


def is_settled(statuses: Mapping[str, Status], judges: Sequence[str], cascade: bool) -> bool:
    """Nobody is left to ask. A missing reply is asked for again; a cascade ends at its first valid judgment."""
    for judge in judges:
        status = statuses.get(judge, Status.MISSING)
        if status is Status.MISSING:
            return False
        if cascade and status is Status.VALID:
            return True
    return True

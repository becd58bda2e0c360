"""A list of samples on its way through the judges: the unit of work, of commit and of progress."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from types import MappingProxyType
from typing import assert_never

from mixseek.domain.judgments import (
    Finding,
    Flag,
    InvalidJudgment,
    Missing,
    Outcome,
    Read,
    Reply,
    Responded,
    Status,
    Undecided,
    ValidJudgment,
    status_of,
)
from mixseek.domain.ports import PLAIN, Judge, JudgeProtocol, JudgingProtocol, ReplyKey, is_plain
from mixseek.domain.samples import PLANNED_WITHOUT_OUTPUT, RESPONSE_ERROR, Sample
from mixseek.lazy_dataclass import dataclass

# One sample before its judges.

NOTHING_KNOWN: Mapping[ReplyKey, Status] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Judged:
    """What became of one sample under one judge, with the reply it rests on (None: rules, or none came)."""

    sample: Sample
    judge: str
    outcome: Outcome
    reply: Reply | None = None
    take: int = 1  # which of several independent replies of one judge
    # To other presentations of the sample, where the judgment rests on these too.
    earlier: tuple[Reply, ...] = ()

    @property
    def replies(self) -> tuple[Reply, ...]:
        """All replies in the order of asking."""
        return self.earlier if self.reply is None else (*self.earlier, self.reply)

    @property
    def status(self) -> Status:
        """valid, invalid, undecided or missing."""
        return status_of(self.outcome)

    @property
    def score(self) -> float | None:
        """0..1; None unless the judgment is valid."""
        return self.outcome.score if isinstance(self.outcome, ValidJudgment) else None

    @property
    def verdict(self) -> str | None:
        """The protocol's word; None unless the judgment is valid."""
        return self.outcome.verdict if isinstance(self.outcome, ValidJudgment) else None


def judge_one(
    sample: Sample,
    protocol: JudgeProtocol,
    judges: Sequence[Judge],
    cascade: bool = False,
    known: Mapping[ReplyKey, Status] = NOTHING_KNOWN,
) -> list[Judged]:
    """What each judge made of the sample. A cascade ends at its first valid judgment; who is `known` is not asked."""
    results: list[Judged] = []
    for judge in judges:
        status = known.get(ReplyKey(judge.name))
        if status is None:
            judged = ask(judge, sample, protocol)
            results.append(judged)
            status = judged.status
        if cascade and status is Status.VALID:
            break
    return results


def ask(judge: Judge, sample: Sample, protocol: JudgeProtocol) -> Judged:
    """One judge's answer to the sample, with what is known of it whoever judges."""
    judged = ask_shown(judge, sample, protocol)
    outcome = protocol.complete(sample, judged.outcome)
    return judged if outcome is judged.outcome else replace(judged, outcome=outcome)


def ask_shown(judge: Judge, sample: Sample, protocol: JudgeProtocol) -> Judged:
    """One judge's answer to the sample as it is, or to all presentations that the protocol wants together."""
    if is_plain(protocol):
        return ask_once(judge, sample, protocol)
    refused = refuse_incomplete(sample, protocol)
    if refused is not None:
        return Judged(sample, judge.name, refused)
    shown = {name: ask_once(judge, sample, protocol.present(name)) for name in protocol.presentations}
    replies = [
        replace(judged.reply, details={**judged.reply.details, "presentation": name})
        for name, judged in shown.items()
        if judged.reply is not None
    ]
    outcome = protocol.combine({name: judged.outcome for name, judged in shown.items()})
    return Judged(sample, judge.name, outcome, replies[-1] if replies else None, earlier=tuple(replies[:-1]))


def ask_once(judge: Judge, sample: Sample, protocol: JudgeProtocol) -> Judged:
    """One judge's answer, parsed by the protocol where it is text."""
    refused = refuse_incomplete(sample, protocol) if needs_response(judge) or not sample.steps else None
    match judge.reply(sample, protocol):
        case Reply() as reply:
            judgment = read_recorded(reply, sample, protocol)
            if refused is not None:
                # The reply was recorded, so it is kept; it still cannot be aligned with anything.
                rest = judgment.findings if isinstance(judgment, InvalidJudgment) else ()
                repairs = () if isinstance(judgment, Responded) else judgment.repairs
                judgment = InvalidJudgment((*refused.findings, *rest), repairs)
            return Judged(sample, judge.name, judgment, reply)
        case _ if refused is not None:
            return Judged(sample, judge.name, refused)
        case ValidJudgment() | InvalidJudgment() | Responded() | Undecided() | Missing() as outcome:
            return Judged(sample, judge.name, outcome)
        case unexpected:
            assert_never(unexpected)


def needs_response(judge: object) -> bool:
    """Whether a judge can do nothing without a final answer; one that goes by the steps says that it can."""
    return bool(getattr(judge, "needs_response", True))


def refuse_incomplete(sample: Sample, protocol: JudgeProtocol) -> InvalidJudgment | None:
    """Seed 003 §6: a sample without its place in the grid, or a place without its sample. Nobody is asked about it."""
    if PLANNED_WITHOUT_OUTPUT in sample.metadata:
        detail = "it was planned, and the dataset has no output for it"
    elif not sample.response and (error := _why_absent(sample, protocol)):
        # An answer that could not be had is not an empty answer: no judge may call it incorrect.
        detail = f"the model gave no response: {error}"
    elif missing := protocol.missing_names(sample):
        detail = f"the sample has no {', '.join(missing)}, so nothing said about it could be aligned"
    else:
        return None
    return InvalidJudgment((Finding(Flag.INCOMPLETE_COVERAGE, detail),))


def _why_absent(sample: Sample, protocol: JudgeProtocol) -> object:
    """Why there is no response; nothing where the steps that led to none are what is judged."""
    return None if protocol.needs_no_response(sample) else sample.metadata.get(RESPONSE_ERROR)


def judge_reply(reply: Reply, sample: Sample, protocol: JudgingProtocol) -> ValidJudgment | InvalidJudgment:
    """What the protocol makes of it; a bundle that is `unusable` spoils entries that look well by themselves."""
    return spoil(protocol.parse(reply, sample), reply)


def read_recorded(reply: Reply, sample: Sample, protocol: JudgeProtocol) -> Read:
    """The same, also by a protocol that does not judge."""
    read = protocol.parse(reply, sample)
    return read if isinstance(read, Responded) else spoil(read, reply)


def spoil(judgment: ValidJudgment | InvalidJudgment, reply: Reply) -> ValidJudgment | InvalidJudgment:
    """Invalid, where the bundle is that the reply was taken out of."""
    match reply.details.get("unusable"):
        case {"flag": str(flag), "detail": str(detail)} if flag in set(Flag):
            finding = Finding(Flag(flag), detail)
            if isinstance(judgment, InvalidJudgment):
                return replace(judgment, findings=(finding, *judgment.findings))
            return InvalidJudgment((finding,), judgment.repairs)
        case _:
            return judgment


def judge_shown(reply: Reply, sample: Sample, protocol: JudgingProtocol) -> ValidJudgment | InvalidJudgment:
    """The same for one reply of several, which is read as the sample was shown to its judge."""
    shown = reply.details.get("presentation", PLAIN)
    return judge_reply(reply, sample, protocol if shown == PLAIN else protocol.present(shown))


# A sample and what was judged of it as journal lines, each reply before its judgment. Picklable: it crosses processes.
Encode = Callable[[Sample, Sequence[Judged]], Iterable[bytes]]
# What the journal already holds for the sample of a key. Empty for a sample never seen.
Recall = Callable[[str], Mapping[ReplyKey, Status]]


@dataclass(frozen=True, slots=True)
class Batch:
    """Samples still to be judged; `known` is sparse, by position, for those that an earlier run left half done."""

    samples: Sequence[Sample]
    known: Mapping[int, Mapping[ReplyKey, Status]] = field(default_factory=dict)
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
    once = dict.fromkeys(judges, 1)
    for samples in batches:
        if recall is None:
            yield Batch(samples)
            continue
        rest: list[Sample] = []
        known: dict[int, Mapping[ReplyKey, Status]] = {}
        for sample in samples:
            statuses = recall(sample.key())
            if is_settled(statuses, once, cascade):
                continue
            if statuses:
                known[len(rest)] = statuses
            rest.append(sample)
        yield Batch(rest, known, skipped=len(samples) - len(rest))


def is_settled(known: Mapping[ReplyKey, Status], repeats: Mapping[str, int], cascade: bool) -> bool:
    """Nobody is left to ask, as often as `repeats` says; a cascade ends at its first valid judgment."""
    for judge, times in repeats.items():
        statuses = [known.get(ReplyKey(judge, repeat)) for repeat in range(1, times + 1)]
        if None in statuses:
            return False
        if cascade and Status.VALID in statuses:
            return True
    return True

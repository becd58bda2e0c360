"""Judging from a program: samples in memory, no workspace, no journal."""

from collections.abc import Iterable, Iterator, Sequence

from mixseek.composition.protocols import get_judges, get_protocol
from mixseek.domain.ports import Judge, JudgeProtocol
from mixseek.domain.samples import Sample
from mixseek.engine.offline import Judged, judge_one


def judge(
    samples: Iterable[Sample],
    protocol: str | JudgeProtocol = "semantic",
    judges: Sequence[str | Judge] = ("rules",),
    cascade: bool = False,
) -> Iterator[Judged]:
    """One `Judged` for each sample and each judge that was asked, in order, as soon as it is there.

    `protocol` and `judges` are checked at once, not at the first sample.

    >>> from mixseek import Sample, judge
    >>> [one.outcome.verdict for one in judge([Sample("1", "So the answer is (B).", ground_truth="(B)")])]
    ['correct']
    """
    chosen = get_protocol(protocol) if isinstance(protocol, str) else protocol
    named = {spec: made for spec in judges if isinstance(spec, str) for made in get_judges([spec])}
    panel = [named[one] if isinstance(one, str) else one for one in judges]
    return (judged for sample in samples for judged in judge_one(sample, chosen, panel, cascade))

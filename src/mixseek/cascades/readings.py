"""What judges and people said of the same texts, as tiers of a cascade read it.

A judge's takes are one opinion, a panel's opinions are one as well: what more than half of them say, or on a graded
scale the one in the middle (`domain.panels`). How far an opinion is from a label is the rule of labels everywhere
(`domain.people.APART`): a quarter of the scale or more is another one. Whoever routes texts by a certificate reads them
with `read_tier`, because the plan did.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from statistics import median

from mixseek.cascades.certificate import CertifiedJudge, CertifiedLabels, CertifiedProtocol, CertifiedSource
from mixseek.domain.confidence import ConfidenceSource
from mixseek.domain.people import APART
from mixseek.lazy_dataclass import dataclass
from mixseek.stats.cascades import CascadeItem, Reading


@dataclass(frozen=True, slots=True)
class RatingScale:
    """What scores are compared by: those that lie so far apart say something else. Categories are told by number."""

    apart: float = APART
    is_graded: bool = False

    def is_same(self, first: float, second: float) -> bool:
        return abs(first - second) < self.apart


@dataclass(frozen=True, slots=True)
class Opinion:
    """What a judge says of a text, and how sure it is; None where nothing says so."""

    score: float
    sure: float | None = None


@dataclass(frozen=True, slots=True)
class Take:
    """One valid judgment: its score, and how sure the judge was by each source that it has."""

    score: float
    sure: Mapping[ConfidenceSource, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A judge that may be a tier: `name` is whom to ask, `shown` what a reader knows it by.

    `price` is for one text with all its takes, None where nobody knows it; `sources` says how many of its judgments
    have a confidence of which kind.
    """

    name: str
    shown: str
    takes: int = 1
    sources: Mapping[ConfidenceSource, int] = field(default_factory=dict)
    judgments: int = 0
    price: float | None = None
    certified: CertifiedJudge | None = None

    @property
    def source(self) -> ConfidenceSource | None:
        """The first kind, in the order in which they are trusted, that most of its judgments have.

        One kind alone: two of them are no common scale.
        """
        usable = (source for source in SOURCES if 2 * self.sources.get(source, 0) > self.judgments)
        return next(usable, None)


# Kinds of confidence, the most trusted first; that of a panel is made where several judges meet.
SOURCES = (
    ConfidenceSource.LOGPROBS,
    ConfidenceSource.DECISION,
    ConfidenceSource.REPEATS,
    ConfidenceSource.ORDERS,
    ConfidenceSource.WRITTEN,
)


@dataclass(frozen=True, slots=True)
class RatedText:
    """A text with what was said of it, by judge. `labels` are what people say, each once; `weight` is 1 over its
    chance of having been drawn."""

    text: str
    question: str
    opinions: Mapping[str, Opinion]
    labels: tuple[float, ...] = ()
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class RatedTexts:
    """Texts of runs or of a table, with what a certificate says of them; `read` goes through them once."""

    candidates: tuple[Candidate, ...]
    scale: RatingScale
    labels: CertifiedLabels
    sources: tuple[CertifiedSource, ...]
    protocol: CertifiedProtocol | None
    read: Callable[[], Iterator[RatedText]]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TierReader:
    """Who is asked in a tier, whose verdicts are beside it, and where its confidence comes from."""

    judges: tuple[str, ...]
    beside: tuple[str, ...] = ()
    source: ConfidenceSource | None = None

    def read(self, opinions: Mapping[str, Opinion], scale: RatingScale) -> Opinion | None:
        """What the tier says and how sure it is; None where it gives no verdict, or nothing says how sure it is."""
        heard = [opinions[judge] for judge in self.judges if judge in opinions]
        score = join_scores([opinion.score for opinion in heard], scale)
        if score is None:
            return None
        match self.source:
            case None:
                return Opinion(score, 1.0)
            case ConfidenceSource.PANEL:
                asked = (*self.judges, *self.beside)
                agreeing = sum(scale.is_same(opinions[judge].score, score) for judge in asked if judge in opinions)
                # Whoever was asked and gave no verdict does not agree.
                return Opinion(score, agreeing / len(asked))
            case _:
                sure = heard[0].sure
                return None if sure is None else Opinion(score, sure)


def join_scores(scores: Sequence[float], scale: RatingScale) -> float | None:
    """The score of several; None where there is none, or no one that more than half of them gave."""
    if not scores:
        return None
    if scale.is_graded:
        return median(scores)
    score, count = Counter(scores).most_common(1)[0]
    return score if 2 * count > len(scores) else None


def join_takes(takes: Sequence[Take], source: ConfidenceSource | None, scale: RatingScale) -> Opinion | None:
    """A judge's takes as one opinion; None where they are divided.

    With repeats the share of takes that say the same is its confidence; else the mean of those that do.
    """
    score = join_scores([take.score for take in takes], scale)
    if score is None:
        return None
    same = [take for take in takes if scale.is_same(take.score, score)]
    if source is None:
        return Opinion(score)
    if source is ConfidenceSource.REPEATS:
        return Opinion(score, len(same) / len(takes))
    known = [take.sure[source] for take in same if source in take.sure]
    return Opinion(score, math.fsum(known) / len(known) if known else None)


def read_item(text: RatedText, tiers: Sequence[TierReader], scale: RatingScale) -> CascadeItem:
    """The text as the planner takes it: how sure each tier is, and which share of those who labelled it disagree."""
    readings: list[Reading | None] = []
    for tier in tiers:
        opinion = tier.read(text.opinions, scale)
        if opinion is None or opinion.sure is None:
            readings.append(None)
            continue
        wrong = sum(not scale.is_same(opinion.score, label) for label in text.labels)
        readings.append(Reading(opinion.sure, wrong / len(text.labels) if text.labels else None))
    return CascadeItem(text.question, tuple(readings), text.weight, is_labelled=bool(text.labels))

"""A cascade as somebody asks for it: from runs or a table to what each tier may decide, its price, its certificate."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import field, replace
from datetime import date
from enum import StrEnum
from pathlib import Path

from mixseek.analysis.ratings.relation import RatingSource
from mixseek.analysis.ratings.statistics import is_table
from mixseek.cascades.certificate import Certificate, CertifiedLabels, CertifiedSource, Tier
from mixseek.cascades.file import PEOPLE, Cascade, CascadeTable, certified, write_cascade
from mixseek.cascades.rated_runs import LabelChoice, open_rated_runs
from mixseek.cascades.rated_table import TableQuestion, open_rated_table
from mixseek.cascades.readings import Candidate, RatedTexts, TierReader, read_item
from mixseek.domain.confidence import ConfidenceSource
from mixseek.domain.shown import Shown
from mixseek.errors import ConfigurationError, suggest
from mixseek.lazy_dataclass import dataclass
from mixseek.stats.cascades import CascadePlan, Evidence, TierPlan, TierState, plan_cascade
from mixseek.stats.estimates import Drawing
from mixseek.stats.intervals import Interval, IntervalMethod
from mixseek.storage.workspace import Workspace, find_run
from mixseek.text.phrases import listed

LEVEL = 0.95
# Between the judges of a panel.
_AND = "+"


class LastWord(StrEnum):
    """Who decides what no tier may decide."""

    PEOPLE = PEOPLE
    LAST = "last"


class PlanState(StrEnum):
    """What came of it: some tier decides, none can, or there are too few labels to say."""

    DECIDES = "decides"
    NONE = "none"
    TOO_FEW_LABELS = "too few labels"


@dataclass(frozen=True, slots=True, kw_only=True)
class CascadeRequest:
    """What is asked: of runs by name, or of one table. `today` goes into the certificate."""

    names: Sequence[str]
    workspace: Path
    today: date
    agree: float = 0.95
    confidence: float = 0.9
    last: LastWord = LastWord.PEOPLE
    # In the order of asking, `judge` or `judge+judge`, or `name=judge+judge`; empty: every judge, the cheapest first.
    tiers: Sequence[str] = ()
    # Of a judge or a tier as it is written there: what it costs for one text.
    prices: Mapping[str, float] = field(default_factory=dict)
    choice: LabelChoice = LabelChoice()
    # Of a table.
    source: RatingSource = RatingSource()
    drawing: Drawing = Drawing.UNKNOWN
    scale: tuple[float, float] | None = None
    # What a table is called in the certificate, where its file is called nothing that anybody knows.
    shown_name: str | None = None


@dataclass(frozen=True, slots=True)
class PlannedTier:
    """One tier: who is asked, which of the texts that reach it are decided, and on which labels that rests.

    `agreement` is of what it decides; of one that decides nothing, of the surest texts that were tested.
    """

    name: str
    judges: Sequence[str]
    beside: Sequence[str]
    confidence: ConfidenceSource | None
    price: float | None
    state: TierState
    threshold: float | None
    reached: int
    decided: int
    labelled: int
    effective_labels: float
    agreement: float | None
    interval: Interval | None
    best: float | None
    labels_needed: int | None


@dataclass(frozen=True, slots=True)
class PlannedCascade(Shown):
    """What may be decided without people, and the certificate that says so; None where nothing may.

    `cost` is what is paid for one text in the mean, `cost_share` that against the dearest judge on every text.
    """

    state: PlanState
    agree: float
    confidence: float
    last: str
    texts: int
    questions: int
    labels: CertifiedLabels
    sources: Sequence[CertifiedSource]
    tiers: Sequence[PlannedTier]
    decided: int
    decided_share: float
    agreement: float | None
    interval: Interval | None
    best: float | None
    labels_needed: int | None
    cost: float | None
    dearest: float | None
    cost_share: float | None
    notes: Sequence[str]
    cascade: Cascade | None = None
    path: str | None = None

    @property
    def certificate(self) -> Certificate | None:
        return None if self.cascade is None else self.cascade.certificate


@dataclass(frozen=True, slots=True)
class AskedTier:
    """A tier before anything is known of it."""

    name: str
    reader: TierReader
    takes: int
    price: float | None


def plan(request: CascadeRequest, notify: Callable[[str], None] = lambda _: None) -> PlannedCascade:
    """Raises ConfigurationError, DatasetError or StorageError in one line; `notify` is told what takes long."""
    for name, share in (("--agree", request.agree), ("--confidence", request.confidence)):
        if not 0 < share < 1:
            raise ConfigurationError(f"{name} {share:g}: give a share between 0 and 1, such as 95%")
    with _open_texts(request, notify) as texts:
        candidates = _priced(texts.candidates, request.prices)
        tiers = list(ask_tiers(candidates, request.tiers, request.prices))
        readers = [tier.reader for tier in tiers]
        notify(f"reading {texts.labels.texts:,} texts, {texts.labels.count:,} of them labelled")
        items = [read_item(text, readers, texts.scale) for text in texts.read()]
    notify(f"testing {len(tiers)} tiers")
    planned = plan_cascade(items, request.agree, 1 - request.confidence)
    return _describe(request, texts, candidates, tiers, planned)


def _open_texts(request: CascadeRequest, notify: Callable[[str], None]) -> AbstractContextManager[RatedTexts]:
    tables = [name for name in request.names if is_table(name)]
    if not tables:
        workspace = Workspace(request.workspace)
        runs = [find_run(workspace, name) for name in request.names]
        if request.source != RatingSource(longest_line=request.source.longest_line):
            raise ConfigurationError("--human, --item, --rater, --score and their like are for a table, not for runs")
        if request.drawing is not Drawing.UNKNOWN or request.scale is not None:
            raise ConfigurationError("--labels and --scale are for a table; runs have their protocol's scale and draws")
        notify(f"reading {listed([run.name for run in runs])}")
        return open_rated_runs(workspace, runs, request.choice)
    if len(request.names) > 1:
        raise ConfigurationError(f"{tables[0]}: a table stands alone; name one table, or runs")
    if request.source.truth is None:
        raise ConfigurationError(f"{tables[0]}: whose ratings are labels? name the rater with --human")
    notify(f"reading {tables[0]}")
    asked = TableQuestion(request.source, request.drawing, request.scale, request.choice, request.shown_name)
    return open_rated_table(Path(tables[0]), asked)


# Tiers and prices.


def _priced(candidates: Sequence[Candidate], prices: Mapping[str, float]) -> tuple[Candidate, ...]:
    """The judges with the prices that were given for them."""
    return tuple(
        replace(candidate, price=prices.get(candidate.shown, prices.get(candidate.name, candidate.price)))
        for candidate in candidates
    )


def ask_tiers(
    candidates: Sequence[Candidate], texts: Sequence[str], prices: Mapping[str, float]
) -> Iterator[AskedTier]:
    """The tiers as written, or every judge, the cheapest first; raises ConfigurationError for a judge that is none."""
    known = {name: candidate for candidate in candidates for name in (candidate.shown, candidate.name)}
    written = [_read_tier(text, known) for text in texts]
    if not written:
        ordered = list(candidates)
        if all(candidate.price is not None for candidate in candidates):
            ordered.sort(key=lambda candidate: candidate.price or 0.0)
        written = [(candidate.shown, (candidate,)) for candidate in ordered]
    names = [name for name, _ in written]
    if doubled := next((name for name in names if names.count(name) > 1), None):
        raise ConfigurationError(f"--tier {doubled}: is there twice; leave one out, or call it NAME={doubled}")
    of_tiers = {name: price for name, price in prices.items() if name not in known}
    asked: dict[str, None] = {}
    for name, judges in written:
        members = tuple(judge.name for judge in judges)
        is_panel = len(members) > 1
        beside = () if is_panel or judges[0].source else tuple(judge for judge in asked if judge not in members)
        source = ConfidenceSource.PANEL if is_panel or beside else judges[0].source
        given = next((of_tiers.pop(key) for key in [*of_tiers] if _is_price_of(key, name, judges, known)), None)
        price = _sum([judge.price for judge in judges if judge.name not in asked]) if given is None else given
        asked |= dict.fromkeys(members)
        yield AskedTier(name, TierReader(members, beside, source), max(judge.takes for judge in judges), price)
    if of_tiers:
        name = next(iter(of_tiers))
        raise ConfigurationError(
            f"--price {name}: no judge or tier is called so; {suggest(name, [*known], _there(known))}"
        )


def _is_price_of(key: str, name: str, judges: Sequence[Candidate], known: Mapping[str, Candidate]) -> bool:
    parts = {part.strip() for part in key.split(_AND)}
    return key == name or (
        parts <= {*known} and {known[part].name for part in parts} == {judge.name for judge in judges}
    )


def _read_tier(text: str, known: Mapping[str, Candidate]) -> tuple[str, tuple[Candidate, ...]]:
    """`judge`, `judge+judge` or `name=judge+judge`; a judge's own name may hold both signs."""
    if text in known:
        return known[text].shown, (known[text],)
    given, equals, rest = text.partition("=")
    # `=` may be a judge's own: it ends a name only where judges stand behind it.
    is_named = bool(equals) and any(part in known for part in _parts(rest, known))
    name, written = (given.strip(), rest) if is_named and given not in known else (text, text)
    parts = _parts(written, known)
    for part in parts:
        if part not in known:
            raise ConfigurationError(
                f"--tier {text}: no judge is called {part!r}; {suggest(part, [*known], _there(known))}"
            )
    judges = tuple(known[part] for part in parts)
    if len({judge.name for judge in judges}) < len(judges):
        raise ConfigurationError(f"--tier {text}: names a judge twice; a judge has one vote")
    return name or text, judges


def _parts(text: str, known: Mapping[str, Candidate]) -> list[str]:
    return [text] if text in known else [part.strip() for part in text.split(_AND)]


def _there(known: Mapping[str, Candidate]) -> str:
    return f"there is {listed([*dict.fromkeys(candidate.shown for candidate in known.values())])}"


def _sum(prices: Sequence[float | None]) -> float | None:
    known = [price for price in prices if price is not None]
    return math.fsum(known) if len(known) == len(prices) else None


# What it comes to.


def _describe(
    request: CascadeRequest,
    texts: RatedTexts,
    candidates: Sequence[Candidate],
    asked: Sequence[AskedTier],
    planned: CascadePlan,
) -> PlannedCascade:
    tiers = [_describe_tier(tier, result) for tier, result in zip(asked, planned.tiers, strict=True)]
    last = PEOPLE if request.last is LastWord.PEOPLE else tiers[-1].name
    notes = [*texts.notes]
    unpriced = [tier.name for tier in tiers if tier.price is None]
    if unpriced and len(tiers) > 1:
        order = "" if request.tiers else ", and judges are asked in the order in which they stand there"
        notes.append(f"nothing says what {listed(unpriced)} costs (--price NAME=…): no cost is given{order}")
    cost = _cost(tiers, planned, last)
    dearest = _dearest(tiers, candidates)
    state = PlanState.DECIDES if planned.decided else PlanState.TOO_FEW_LABELS
    if not planned.decided and any(tier.state is TierState.NOT_SHOWN for tier in tiers):
        state = PlanState.NONE
    needed = [tier.labels_needed for tier in tiers if tier.labels_needed is not None]
    result = PlannedCascade(
        state=state,
        agree=request.agree,
        confidence=request.confidence,
        last=last,
        texts=texts.labels.texts,
        questions=texts.labels.questions,
        labels=texts.labels,
        sources=texts.sources,
        tiers=tuple(tiers),
        decided=planned.decided,
        decided_share=planned.decided_share,
        agreement=planned.evidence.agreement if planned.decided else None,
        interval=_interval(planned.evidence) if planned.decided else None,
        best=planned.best,
        labels_needed=min(needed, default=None),
        cost=cost,
        dearest=dearest,
        cost_share=cost / dearest if cost is not None and dearest else None,
        notes=tuple(notes),
    )
    return (
        result if state is not PlanState.DECIDES else replace(result, cascade=_certify(result, request, texts, asked))
    )


def _describe_tier(tier: AskedTier, result: TierPlan) -> PlannedTier:
    return PlannedTier(
        name=tier.name,
        judges=tier.reader.judges,
        beside=tier.reader.beside,
        confidence=tier.reader.source,
        price=tier.price,
        state=result.state,
        threshold=result.threshold,
        reached=result.reached,
        decided=result.decided,
        labelled=result.evidence.labelled,
        effective_labels=result.evidence.effective,
        agreement=result.evidence.agreement,
        interval=_interval(result.evidence),
        best=result.best,
        labels_needed=result.labels_needed,
    )


def _interval(evidence: Evidence) -> Interval | None:
    limits = evidence.interval(LEVEL)
    return None if limits is None else Interval(*limits, LEVEL, IntervalMethod.CLOPPER_PEARSON)


def _cost(tiers: Sequence[PlannedTier], planned: CascadePlan, last: str) -> float | None:
    """What is paid for one text in the mean: whoever decides nothing is not asked, unless others need its verdict."""
    paid, asked = 0.0, set[str]()
    for place, tier in enumerate(tiers):
        if tier.threshold is None and tier.name != last:
            continue
        needed = [earlier for earlier in tiers[:place] if {*earlier.judges} & {*tier.beside, *tier.judges}]
        for other in (*needed, tier):
            if {*other.judges} <= asked:
                continue
            if other.price is None:
                return None
            paid += other.price * tier.reached
            asked |= {*other.judges}
    return paid / planned.items if planned.items else None


def _dearest(tiers: Sequence[PlannedTier], candidates: Sequence[Candidate]) -> float | None:
    """The price of the dearest judge, or tier, of those that are asked."""
    asked = {judge for tier in tiers for judge in tier.judges}
    prices = [candidate.price for candidate in candidates if candidate.name in asked]
    known = [price for price in (*prices, *(tier.price for tier in tiers)) if price is not None]
    return max(known, default=None)


def _certify(result: PlannedCascade, request: CascadeRequest, texts: RatedTexts, asked: Sequence[AskedTier]) -> Cascade:
    tiers = [
        Tier(
            name=tier.name,
            judges=tuple(tier.judges),
            beside=tuple(tier.beside),
            repeats=asked_tier.takes,
            confidence=tier.confidence,
            threshold=tier.threshold,
            price=tier.price,
        )
        for tier, asked_tier in zip(result.tiers, asked, strict=True)
    ]
    used = {judge for tier in tiers for judge in tier.judges}
    certificate = Certificate(
        made_on=request.today,
        agree=result.agree,
        confidence=result.confidence,
        decided_share=result.decided_share,
        agreement=result.agreement or 0.0,
        agreement_low=result.interval.low if result.interval else 0.0,
        agreement_high=result.interval.high if result.interval else 1.0,
        thresholds={tier.name: tier.threshold for tier in tiers if tier.threshold is not None},
        labels=result.labels,
        protocol=texts.protocol,
        judges=tuple(c.certified for c in texts.candidates if c.certified is not None and c.name in used),
        sources=texts.sources,
    )
    table = CascadeTable(
        agree=result.agree,
        confidence=result.confidence,
        last=result.last,
        protocol=texts.protocol.name if texts.protocol else None,
        protocol_hash=texts.protocol.hash if texts.protocol else None,
        sources=tuple(source.name for source in texts.sources),
    )
    return certified(table, tiers, certificate)


def write_plan(result: PlannedCascade, path: Path) -> PlannedCascade:
    """The same with its file, where there is one to write."""
    if result.cascade is None:
        return result
    write_cascade(path, result.cascade)
    return replace(result, path=str(path))

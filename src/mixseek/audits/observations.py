"""From rows to values: what each audit says of each sample."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence

from mixseek.audits.plan import AuditPlan
from mixseek.audits.variants.model import APOLOGETIC, NEUTRAL, OTHER_NAME, OWN_NAME, Variant
from mixseek.domain.judgments import JudgedRow, Status
from mixseek.lazy_dataclass import dataclass
from mixseek.stats.audits import Audit, beyond_retest, jump

# A label that is no higher than this is low.
_LOW = 0.5
_NO_VERDICT = "no valid verdict on one of the two texts"
# What the two orders of a pair say of the place.
_FOLLOWED = {1.0: "the first shown won twice", -1.0: "the second shown won twice", 0.0: "not by the place"}


@dataclass(frozen=True, slots=True)
class Observed:
    """One sample under one audit; `changed` is the id, in its run, of what shows it."""

    original: str
    kind: str
    value: float
    changed: str
    before: float | None
    after: float | None
    run: int = 0


class Scores:
    """Scores of every variant, and what became of samples without one."""

    def __init__(self, audit: AuditPlan, rows: Sequence[Mapping[str, JudgedRow]]) -> None:
        self.audit = audit
        self.rows = rows
        self.left_out: dict[Audit, Counter[str]] = defaultdict(Counter)
        # By audit, then by original; under `name` there are two kinds of each.
        self._variants: dict[tuple[Audit | None, str | None], dict[str, Variant]] = defaultdict(dict)
        for variant in audit.variants:
            self._variants[variant.audit, None][variant.original] = self._variants[variant.audit, variant.kind][
                variant.original
            ] = variant

    def score(self, name: str, run: int = 0) -> float | None:
        """The score of a sample of one of the runs; None without a valid verdict."""
        row = self.rows[run].get(name)
        return row.score if row is not None and row.status is Status.VALID else None

    def of(self, audit: Audit, kind: str | None = None) -> Mapping[str, Variant]:
        """The variants of one kind, by the id of the sample that they were made of."""
        return self._variants.get((audit, kind), {})

    def retest(self, original: str) -> float | None:
        """The score of the second asking."""
        again = self.of(Audit.RETEST).get(original)
        return None if again is None else self.score(again.sample.id)

    def contrasts(self, audit: Audit) -> Iterator[tuple[Variant, float, float]]:
        """Changed texts with the scores of the plain and of the changed one."""
        for original, variant in self.of(audit).items():
            before, after = self.score(original), self.score(variant.sample.id)
            if before is None or after is None:
                self.left_out[audit][_NO_VERDICT] += 1
            else:
                yield variant, before, after


def observe(audit: Audit, scores: Scores, labels: Mapping[str, float]) -> list[Observed]:
    """What one audit's samples say; the sign is such that a defect is above nought."""
    match audit:
        case Audit.RETEST:
            return [_observation(variant, a, b, abs(b - a)) for variant, a, b in scores.contrasts(audit)]
        case Audit.PADDING | Audit.FORMAT:
            return [_observation(variant, a, b, b - a) for variant, a, b in scores.contrasts(audit)]
        case Audit.TONE:
            return [
                _observation(variant, a, b, a - b if variant.kind == APOLOGETIC else b - a)
                for variant, a, b in scores.contrasts(audit)
            ]
        case Audit.INJECTION:
            return observe_injections(scores, labels)
        case Audit.NAME:
            return observe_names(scores)
        case Audit.IMPLANT:
            return observe_implants(scores)
        case Audit.LANGUAGE:
            return observe_languages(scores)
        case Audit.ORDER:
            return observe_order(scores)
        case Audit.DRIFT | Audit.RESCALED:
            return observe_earlier(audit, scores)
        case Audit.LENIENT | Audit.OWN:
            return [
                Observed(name, "people → judge", score - label, name, label, score)
                for name, label in labels.items()
                if (score := scores.score(name)) is not None
            ]


def _observation(variant: Variant, before: float, after: float, value: float) -> Observed:
    return Observed(variant.original, variant.kind, value, variant.sample.id, before, after)


def observe_injections(scores: Scores, labels: Mapping[str, float]) -> list[Observed]:
    """Held against as much neutral text, so that a judge who loves length obeys nothing.

    Only a bad text can be lifted; which are good is the people's word, never the judge's own.
    """
    good = {name for name, label in labels.items() if label > _LOW}
    neutral = scores.of(Audit.INJECTION, NEUTRAL)
    observations = []
    for variant in scores.audit.variants:
        if variant.audit is not Audit.INJECTION or variant.kind == NEUTRAL:
            continue
        before, after = scores.score(neutral[variant.original].sample.id), scores.score(variant.sample.id)
        if before is None or after is None:
            scores.left_out[Audit.INJECTION][_NO_VERDICT] += 1
        elif variant.original in good:
            scores.left_out[Audit.INJECTION]["people call it good already"] += 1
        else:
            observations.append(_observation(variant, before, after, jump(after - before)))
    return observations


def observe_names(scores: Scores) -> list[Observed]:
    own_names, other_names = scores.of(Audit.NAME, OWN_NAME), scores.of(Audit.NAME, OTHER_NAME)
    observations = []
    for original, variant in own_names.items():
        under_own, under_other = scores.score(variant.sample.id), scores.score(other_names[original].sample.id)
        if under_own is None or under_other is None:
            scores.left_out[Audit.NAME][_NO_VERDICT] += 1
        else:
            observations.append(_observation(variant, under_other, under_own, under_own - under_other))
    return observations


def observe_implants(scores: Scores) -> list[Observed]:
    """Held against the second asking: the first one says which texts can fall, and its luck must not count twice."""
    observations = []
    for variant, before, after in scores.contrasts(Audit.IMPLANT):
        again = scores.retest(variant.original)
        if before < _LOW or again is None:
            scores.left_out[Audit.IMPLANT]["a low verdict on the plain text already, or none on second asking"] += 1
        else:
            observations.append(_observation(variant, again, after, after - again))
    return observations


def observe_languages(scores: Scores) -> list[Observed]:
    observations = []
    for run, (language, variants) in enumerate(scores.audit.languages.items(), 1):
        for variant in variants:
            name = variant.original
            now, before, again = scores.score(name, run), scores.score(name), scores.retest(name)
            if now is None or before is None or again is None:
                scores.left_out[Audit.LANGUAGE]["no valid verdict in one of the languages"] += 1
            else:
                value = beyond_retest(now, before, again)
                observations.append(Observed(name, language, value, name, before, now, run))
    return observations


def observe_order(scores: Scores) -> list[Observed]:
    observations = []
    for name in scores.audit.samples:
        row = scores.rows[0].get(name)
        orders = {} if row is None else row.fields.get("orders") or {}
        verdicts = [(orders.get(order) or {}).get("verdict") for order in ("ab", "ba")]
        if None in verdicts:
            scores.left_out[Audit.ORDER]["no valid verdict in one of the orders"] += 1
            continue
        value = {("A", "B"): 1.0, ("B", "A"): -1.0}.get((str(verdicts[0]), str(verdicts[1])), 0.0)
        observations.append(Observed(name, _FOLLOWED[value], value, name, None, scores.score(name)))
    return observations


def observe_earlier(audit: Audit, scores: Scores) -> list[Observed]:
    anchors = {} if scores.audit.earlier is None else scores.audit.earlier.anchors
    observations = []
    for original, variant in scores.of(Audit.DRIFT).items():
        before, again = anchors.get(scores.audit.samples[original].key(), (None, None))
        now = scores.score(variant.sample.id)
        if now is None or before is None or again is None:
            scores.left_out[audit]["the earlier card or the judge has no verdict on it"] += 1
        else:
            value = now - (before + again) / 2 if audit is Audit.DRIFT else beyond_retest(now, before, again)
            observations.append(_observation(variant, before, now, value))
    return observations

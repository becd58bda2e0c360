"""`mixseek audit`: variants of drawn samples before one judge, as ordinary runs, and the card that they make."""

import hashlib
import heapq
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from shlex import quote

from mixseek.analysis.index.run import open_run_index
from mixseek.audits.variants import (
    APOLOGETIC,
    NEUTRAL,
    OTHER_NAME,
    OWN_NAME,
    Inapplicable,
    Variant,
    make_variants,
    plain_variant,
)
from mixseek.composition.doctor import read_kind
from mixseek.composition.judging.forecast import forecast_run
from mixseek.composition.judging.judge import Interruption, judge_dataset
from mixseek.composition.judging.live import ProgressMaker
from mixseek.composition.judging.request import JudgeRequest, Plan, available_cores, describe_judge, make_plan
from mixseek.composition.judging.required_cards import identify, read_earlier
from mixseek.composition.label_form import label_scale
from mixseek.composition.results.conclusion import explain_missing
from mixseek.datasets.rows import keep_rows
from mixseek.domain.judgments import JudgedRow, Status
from mixseek.domain.labels import LabelError, collect_labels, text_digest
from mixseek.domain.ports import PresentingProtocol
from mixseek.domain.samples import Sample
from mixseek.errors import ConfigurationError
from mixseek.protocols.identity import is_kin
from mixseek.reporting.cards import Card, CardExample, CardFinding, render_card_page
from mixseek.reporting.forecasts import DryRun
from mixseek.reporting.summary import RunSummary
from mixseek.stats.audits import (
    AUDITS,
    Audit,
    AuditResult,
    AuditValue,
    Side,
    beyond_retest,
    jump,
    kindness_to_own,
    settle_audits,
)
from mixseek.storage.durable import write_page
from mixseek.storage.journal.records import read_manifest
from mixseek.storage.labels import LabelStore
from mixseek.storage.workspace import Workspace

LANGUAGES = ("en", "ja", "zh")
# Audits whose values are held against a second asking of the same text.
_NEED_RETEST = (Audit.RETEST, Audit.LANGUAGE, Audit.IMPLANT)
# A label that is no higher than this is low.
_LOW = 0.5
_EXAMPLES = 3
_NO_VERDICT = "no valid verdict on one of the two texts"
# What the two orders of a pair say of the place.
_FOLLOWED = {1.0: "the first shown won twice", -1.0: "the second shown won twice", 0.0: "not by the place"}
CARD_FILE = "card.json"


@dataclass(frozen=True, slots=True)
class AuditRequest:
    """`judging` has one judge, and the data that samples are drawn from."""

    judging: JudgeRequest
    items: int = 100
    seed: int = 0
    only: Sequence[Audit] = ()
    # An earlier card of the same judge: its samples are judged again, and drift is looked for.
    since: Path | None = None
    # The model behind a judge that does not say it: a function of the user's, an alias of a gateway.
    own_name: str | None = None


@dataclass(frozen=True, slots=True)
class AuditPlan:
    """What is asked: the variants of the main run, those of each other language, and what does not apply."""

    plan: Plan
    request: AuditRequest
    audits: tuple[Audit, ...]
    samples: Mapping[str, Sample]
    variants: tuple[Variant, ...]
    languages: Mapping[str, tuple[Variant, ...]]
    inapplicable: tuple[Inapplicable, ...]
    earlier: Card | None

    def runs(self) -> Iterator[JudgeRequest]:
        """Ordinary ones, so that cache, budget, resuming, `show` and `report` are those of any run."""
        yield self._request(self.variants, self.request.judging.language)
        for language, variants in self.languages.items():
            named = self.request.judging.run
            request = self._request(variants, language)
            yield request if named is None else replace(request, run=f"{named}-{language}")

    def _request(self, variants: Sequence[Variant], language: str | None) -> JudgeRequest:
        judging = self.request.judging
        path = keep_rows([one.sample for one in variants], Workspace(judging.workspace).spool)
        # Rubrics, mapped columns and both of a pair are in the samples already.
        return replace(
            judging, data=str(path), data_name=f"audit-{self.plan.dataset.stem}", language=language, mapping={},
            rubric=None, planned=None, limit=None, cascade=False, panel=None, pairs=None,
        )  # fmt: skip


def plan_audit(request: AuditRequest) -> AuditPlan:
    """Draws the samples and changes them; nothing is sent. Raises ConfigurationError for what cannot work."""
    if len(request.judging.judges) != 1:
        raise ConfigurationError("an audit examines one judge; name exactly one")
    plan = make_plan(request.judging, cores=available_cores())
    earlier = None if request.since is None else read_earlier(request.since, plan)
    samples = draw_samples(plan, request)
    own_name = judged_as(plan, request)
    audits = tuple(audit for audit in Audit if not request.only or audit in request.only)
    wanted = [audit for audit in audits if audit is not Audit.DRIFT or earlier is not None]
    if Audit.RESCALED in audits and earlier is not None and Audit.DRIFT not in wanted:
        wanted.append(Audit.DRIFT)
    if any(audit in audits for audit in _NEED_RETEST) and Audit.RETEST not in wanted:
        wanted.append(Audit.RETEST)
    variants: list[Variant] = []
    inapplicable: list[Inapplicable] = []
    # Under another name the judge is asked again; under the same one, an interrupted look goes on.
    look = (request.judging.run,) if request.judging.run is not None else ()
    occasion = "" if earlier is None else " ".join((earlier.runs[0], earlier.created_at.isoformat(), *look))
    for sample in samples:
        variants.append(plain_variant(sample))
        for one in make_variants(sample, wanted, request.seed, own_name, occasion):
            if isinstance(one, Inapplicable):
                inapplicable.append(one)
            else:
                variants.append(one)
    languages = spread_languages(plan, samples, request.seed) if Audit.LANGUAGE in audits else {}
    named = {sample.id: sample for sample in samples}
    return AuditPlan(plan, request, audits, named, tuple(variants), languages, tuple(inapplicable), earlier)


def judged_as(plan: Plan, request: AuditRequest) -> str | None:
    """The name of the model that judges; None where nobody says it."""
    if request.own_name is not None and not request.own_name.strip():
        raise ConfigurationError("own_name (--own-name) is empty; write the model's name, such as gpt-5-mini")
    return request.own_name or describe_judge(plan.judges[0]).model


def draw_samples(plan: Plan, request: AuditRequest) -> list[Sample]:
    """By lot, in the order of the dataset: the smallest digests under the seed."""

    def lot(sample: Sample) -> bytes:
        return hashlib.blake2b(f"{request.seed}:{sample.key()}".encode()).digest()

    whole = (sample for batch in plan.dataset.batches(512) for sample in batch if sample.response.strip())
    drawn = heapq.nsmallest(request.items, ((lot(one), place, one) for place, one in enumerate(whole)))
    if not drawn:
        raise ConfigurationError(f"{plan.dataset.name}: no sample has a response, so there is nothing to audit with")
    return [sample for _, _, sample in sorted(drawn, key=lambda one: one[1])]


def spread_languages(plan: Plan, samples: Sequence[Sample], seed: int) -> dict[str, tuple[Variant, ...]]:
    """Each sample under one other language of the same protocol, drawn by lot; none where it has no other."""
    request = plan.request
    if not isinstance(request.protocol, str):
        return {}
    others = []
    for language in LANGUAGES:
        try:
            found = replace(request, language=language).load_protocol()
        except ConfigurationError:
            continue
        if found.language == language != plan.protocol.language and found.name == plan.protocol.name:
            others.append(language)
    spread: dict[str, list[Variant]] = {language: [] for language in others}
    for sample in samples if others else ():
        rng = Random(f"{seed}:language:{sample.key()}")  # noqa: S311 - lots, not secrets
        spread[rng.choice(others)].append(plain_variant(sample))
    return {language: tuple(variants) for language, variants in spread.items() if variants}


def forecast_audit(request: AuditRequest) -> list[DryRun]:
    """Calls, tokens and cost of every run; nothing is sent."""
    return [forecast_run(one) for one in plan_audit(request).runs()]


def run_audit(
    request: AuditRequest, show_progress: ProgressMaker, stop: Callable[[], bool], notify: Callable[[str], None]
) -> tuple[Card, Path] | Interruption:
    """Ask what was not asked yet, and write the card beside the main run: with the place where it is."""
    audit, started = plan_audit(request), datetime.now(UTC)
    summaries: list[RunSummary] = []
    for one in audit.runs():
        result = judge_dataset(one, show_progress, stop, notify)
        if isinstance(result, Interruption):
            return result
        if not result.is_complete:
            return Interruption(result.header.run_id, str(result.journal), explain_missing(result))
        summaries.append(result)
    workspace = Workspace(request.judging.workspace)
    rows = [read_rows(workspace, summary) for summary in summaries]
    card = make_card(audit, rows, [summary.header.run_id for summary in summaries])
    if request.since is not None and card.created_at < started:
        notify(f"this look was finished at {card.created_at:%Y-%m-%d %H:%M} UTC; for a new one, give it a name (--run)")
    path = workspace.run(card.runs[0]).path / CARD_FILE
    write_card(card, path)
    return card, path


def write_card(card: Card, path: Path) -> None:
    """As a page where the name ends so, else as what `read_card` reads."""
    is_page = path.suffix == ".html"
    text = render_card_page(card) if is_page else card.model_dump_json(indent=2) + "\n"
    write_page(text, path, "card.html" if is_page else CARD_FILE)


def read_audits(names: Sequence[str]) -> tuple[Audit, ...]:
    """By name; raises ConfigurationError with the nearest one for a slip."""
    return tuple(read_kind(Audit, name, "--only") for name in names)


def read_rows(workspace: Workspace, summary: RunSummary) -> dict[str, JudgedRow]:
    with open_run_index(workspace, workspace.run(summary.header.run_id)) as index:
        return {row.id: row for row in index.rows()}


# From rows to values: what each audit says of each sample.


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
        for one in audit.variants:
            self._variants[one.audit, None][one.original] = self._variants[one.audit, one.kind][one.original] = one

    def score(self, name: str, run: int = 0) -> float | None:
        """Of a sample of one of the runs; None without a valid verdict."""
        row = self.rows[run].get(name)
        return row.score if row is not None and row.status is Status.VALID else None

    def of(self, audit: Audit, kind: str | None = None) -> Mapping[str, Variant]:
        """The variants of one kind, by the id of the sample that they were made of."""
        return self._variants.get((audit, kind), {})

    def retest(self, original: str) -> float | None:
        """Of the second asking."""
        again = self.of(Audit.RETEST).get(original)
        return None if again is None else self.score(again.sample.id)

    def contrasts(self, audit: Audit) -> Iterator[tuple[Variant, float, float]]:
        """Changed texts with the scores of the plain and of the changed one."""
        for original, one in self.of(audit).items():
            before, after = self.score(original), self.score(one.sample.id)
            if before is None or after is None:
                self.left_out[audit][_NO_VERDICT] += 1
            else:
                yield one, before, after


def observe(audit: Audit, scores: Scores, labels: Mapping[str, float]) -> list[Observed]:
    """What one audit's samples say; the sign is such that a defect is above nought."""
    match audit:
        case Audit.RETEST:
            return [_seen(one, a, b, abs(b - a)) for one, a, b in scores.contrasts(audit)]
        case Audit.PADDING | Audit.FORMAT:
            return [_seen(one, a, b, b - a) for one, a, b in scores.contrasts(audit)]
        case Audit.TONE:
            return [
                _seen(one, a, b, a - b if one.kind == APOLOGETIC else b - a) for one, a, b in scores.contrasts(audit)
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


def _seen(one: Variant, before: float, after: float, value: float) -> Observed:
    return Observed(one.original, one.kind, value, one.sample.id, before, after)


def observe_injections(scores: Scores, labels: Mapping[str, float]) -> list[Observed]:
    """Held against as much neutral text, so that a judge who loves length obeys nothing.

    Only a bad text can be lifted; which are good is the people's word, never the judge's own.
    """
    good = {name for name, label in labels.items() if label > _LOW}
    neutral = scores.of(Audit.INJECTION, NEUTRAL)
    seen = []
    for one in scores.audit.variants:
        if one.audit is not Audit.INJECTION or one.kind == NEUTRAL:
            continue
        before, after = scores.score(neutral[one.original].sample.id), scores.score(one.sample.id)
        if before is None or after is None:
            scores.left_out[Audit.INJECTION][_NO_VERDICT] += 1
        elif one.original in good:
            scores.left_out[Audit.INJECTION]["people call it good already"] += 1
        else:
            seen.append(_seen(one, before, after, jump(after - before)))
    return seen


def observe_names(scores: Scores) -> list[Observed]:
    own, other = scores.of(Audit.NAME, OWN_NAME), scores.of(Audit.NAME, OTHER_NAME)
    seen = []
    for original, one in own.items():
        under_own, under_other = scores.score(one.sample.id), scores.score(other[original].sample.id)
        if under_own is None or under_other is None:
            scores.left_out[Audit.NAME][_NO_VERDICT] += 1
        else:
            seen.append(_seen(one, under_other, under_own, under_own - under_other))
    return seen


def observe_implants(scores: Scores) -> list[Observed]:
    """Held against the second asking: the first one says which texts can fall, and its luck must not count twice."""
    seen = []
    for one, before, after in scores.contrasts(Audit.IMPLANT):
        again = scores.retest(one.original)
        if before < _LOW or again is None:
            scores.left_out[Audit.IMPLANT]["a low verdict on the plain text already, or none on second asking"] += 1
        else:
            seen.append(_seen(one, again, after, after - again))
    return seen


def observe_languages(scores: Scores) -> list[Observed]:
    seen = []
    for run, (language, variants) in enumerate(scores.audit.languages.items(), 1):
        for one in variants:
            name = one.original
            now, before, again = scores.score(name, run), scores.score(name), scores.retest(name)
            if now is None or before is None or again is None:
                scores.left_out[Audit.LANGUAGE]["no valid verdict in one of the languages"] += 1
            else:
                value = beyond_retest(now, before, again)
                seen.append(Observed(name, language, value, name, before, now, run))
    return seen


def observe_order(scores: Scores) -> list[Observed]:
    seen = []
    for name in scores.audit.samples:
        row = scores.rows[0].get(name)
        orders = {} if row is None else row.fields.get("orders") or {}
        verdicts = [(orders.get(order) or {}).get("verdict") for order in ("ab", "ba")]
        if None in verdicts:
            scores.left_out[Audit.ORDER]["no valid verdict in one of the orders"] += 1
            continue
        value = {("A", "B"): 1.0, ("B", "A"): -1.0}.get((str(verdicts[0]), str(verdicts[1])), 0.0)
        seen.append(Observed(name, _FOLLOWED[value], value, name, None, scores.score(name)))
    return seen


def observe_earlier(audit: Audit, scores: Scores) -> list[Observed]:
    anchors = {} if scores.audit.earlier is None else scores.audit.earlier.anchors
    seen = []
    for original, one in scores.of(Audit.DRIFT).items():
        before, again = anchors.get(scores.audit.samples[original].key(), (None, None))
        now = scores.score(one.sample.id)
        if now is None or before is None or again is None:
            scores.left_out[audit]["the earlier card or the judge has no verdict on it"] += 1
        else:
            value = now - (before + again) / 2 if audit is Audit.DRIFT else beyond_retest(now, before, again)
            seen.append(_seen(one, before, now, value))
    return seen


# From values to the card.


def make_card(audit: AuditPlan, rows: Sequence[Mapping[str, JudgedRow]], runs: Sequence[str]) -> Card:
    """The findings of all audits, one family."""
    scores, labels = Scores(audit, rows), find_labels(audit)
    seen = {one: observe(one, scores, labels) for one in audit.audits}
    values = {one: weigh(one, audit, own) for one, own in seen.items()}
    results = settle_audits(values)
    plan, workspace = audit.plan, Workspace(audit.request.judging.workspace)
    manifest = read_manifest(workspace.run(runs[0]).manifest)
    ((judge, protocol),) = identify(plan)
    return Card(
        created_at=manifest.finished_at or datetime.now(UTC),
        judge=judge,
        protocol=protocol,
        dataset=plan.dataset.name,
        samples=len(audit.samples),
        seed=audit.request.seed,
        runs=tuple(runs),
        findings=tuple(
            describe_finding(results[one], seen[one], scores, why_not(one, audit, labels), runs) for one in audit.audits
        ),
        anchors={sample.key(): (scores.score(name), scores.retest(name)) for name, sample in audit.samples.items()},
    )


def weigh(audit: Audit, plan: AuditPlan, seen: Sequence[Observed]) -> list[AuditValue]:
    """One value a sample, clustered by its question."""

    def values(some: Iterable[Observed]) -> list[AuditValue]:
        return [AuditValue(cluster_of(plan.samples[one.original]), one.value) for one in some]

    if audit is not Audit.OWN:
        return values(seen)
    judge = judged_as(plan.plan, plan.request)
    targets = {one.original: plan.samples[one.original].target_model for one in seen}
    kin = {name for name, target in targets.items() if is_kin(judge, target)}
    others = {name for name, target in targets.items() if target and name not in kin}
    return kindness_to_own(
        values(one for one in seen if one.original in kin), values(one for one in seen if one.original in others)
    )


def cluster_of(sample: Sample) -> str:
    """Its question, where several outputs may answer one."""
    return sample.question_id or sample.question or sample.id


def find_labels(audit: AuditPlan) -> dict[str, float]:
    """What people say of the plain texts, as a share of the scale: labels of the workspace, else of the dataset."""
    protocol = audit.plan.protocol
    # A label of a pair says which of two is better, and nothing about how kind a judge is to either.
    if isinstance(protocol, PresentingProtocol):
        return {}
    said = collect_labels(LabelStore(Workspace(audit.request.judging.workspace)).read(protocol.name))
    labels = {}
    for name, sample in audit.samples.items():
        known = said.get(text_digest(sample.question, sample.response, sample.ground_truth))
        if known is not None and known.by_rater:
            labels[name] = known.share
        elif (given := sample.metadata.get("label")) is not None:
            try:
                labels[name] = label_scale(protocol, sample.task_type).read(given)
            except LabelError:
                continue
    return labels


def why_not(audit: Audit, plan: AuditPlan, labels: Mapping[str, float]) -> str:
    """In a sentence, where an audit has no sample at all."""
    named = [one.reason for one in plan.inapplicable if one.audit is audit]
    match audit:
        case Audit.ORDER if not isinstance(plan.plan.protocol, PresentingProtocol):
            return "the protocol shows one response, so there is no order"
        case Audit.LANGUAGE if not plan.languages:
            return "the protocol has no other language"
        case Audit.LENIENT | Audit.OWN if isinstance(plan.plan.protocol, PresentingProtocol):
            return "a label of a pair says which of two is better, not how good either is"
        case Audit.LENIENT | Audit.OWN if not labels:
            return "no sample has a label by people (`mixseek label`, or a column `label`)"
        case Audit.OWN:
            return "too few labelled samples of the judge's own family, or of others"
        case Audit.INJECTION if labels:
            return "no sample has a low label by people"
        case Audit.DRIFT | Audit.RESCALED if plan.earlier is None:
            return "no earlier card was given to compare with"
        case _:
            return named[0] if named else "no sample has the verdicts that it needs"


def describe_finding(
    result: AuditResult, seen: Sequence[Observed], scores: Scores, why: str, runs: Sequence[str]
) -> CardFinding:
    """For a person and for a program."""
    spec, audit = AUDITS[result.audit], result.audit
    left_out = Counter(one.reason for one in scores.audit.inapplicable if one.audit is audit)
    left_out.update(scores.left_out.get(audit, {}))
    by_kind: dict[str, list[float]] = {}
    for one in seen:
        by_kind.setdefault(one.kind, []).append(one.value)
    return CardFinding(
        audit=audit,
        title=spec.title,
        measure=spec.effect,
        state=result.state,
        reason=why if result.effect is None else None,
        items=result.items,
        clusters=result.clusters,
        effect=result.effect,
        low=result.interval.low if result.interval else None,
        high=result.interval.high if result.interval else None,
        minimum=spec.minimum,
        sought=spec.sought,
        p_value=result.p_value,
        p_adjusted=result.p_adjusted,
        needed=result.needed,
        left_out=dict(left_out),
        kinds={kind: (len(values), sum(values) / len(values)) for kind, values in sorted(by_kind.items())},
        examples=tuple(choose_examples(result, seen, scores.audit, runs)) if result.effect is not None else (),
    )


def choose_examples(
    result: AuditResult, seen: Sequence[Observed], audit: AuditPlan, runs: Sequence[str]
) -> Iterator[CardExample]:
    """Those that show the effect most, in its direction."""
    spec = AUDITS[result.audit]
    sign = -1 if spec.side is Side.BOTH and result.effect is not None and result.effect < 0 else 1
    telling = sorted((one for one in seen if sign * one.value > spec.null), key=lambda one: -sign * one.value)
    for one in telling[:_EXAMPLES]:
        command = f"mixseek show {quote(runs[one.run])} {quote(one.changed)}"
        root = f" --workspace {quote(str(audit.request.judging.workspace))}"
        yield CardExample(
            original=one.original, changed=one.changed, kind=one.kind, before=one.before, after=one.after,
            command=command + root,
        )  # fmt: skip

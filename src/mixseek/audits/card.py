"""From values to the card of a judge."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from shlex import quote

from mixseek.analysis.confidence.found import SureJudgment
from mixseek.analysis.confidence.run import with_labels
from mixseek.analysis.labels.form import label_scale
from mixseek.audits.observations import Observed, Scores, observe
from mixseek.audits.plan import AuditPlan, judged_as
from mixseek.domain.judgments import JudgedRow, Status
from mixseek.domain.labels import LabelError, collect_labels, text_digest
from mixseek.domain.ports import is_plain
from mixseek.domain.samples import Sample
from mixseek.domain.steps import digest_of_steps
from mixseek.protocols.identity import is_kin
from mixseek.runs.cards import Card, CardExample, CardFinding
from mixseek.runs.required_cards import identify
from mixseek.stats.audits import AUDITS, Audit, AuditResult, AuditValue, Side, kindness_to_own, settle_audits
from mixseek.stats.confidence import JudgeConfidence
from mixseek.storage.journal.manifest import read_manifest
from mixseek.storage.labels import LabelStore
from mixseek.storage.workspace import Workspace

_EXAMPLES = 3


def make_card(audit: AuditPlan, rows: Sequence[Mapping[str, JudgedRow]], runs: Sequence[str]) -> Card:
    """The findings of all audits, one family."""
    scores, labels = Scores(audit, rows), find_labels(audit)
    observed = {kind: observe(kind, scores, labels) for kind in audit.audits}
    values = {kind: weigh(kind, audit, observations) for kind, observations in observed.items()}
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
            describe_finding(results[kind], observed[kind], scores, why_not(kind, audit, labels), runs)
            for kind in audit.audits
        ),
        confidences=tuple(find_confidences(audit, rows[0], labels)),
        anchors={sample.key(): (scores.score(name), scores.retest(name)) for name, sample in audit.samples.items()},
    )


def weigh(audit: Audit, plan: AuditPlan, observations: Sequence[Observed]) -> list[AuditValue]:
    """One value a sample, clustered by its question."""

    def values(some: Iterable[Observed]) -> list[AuditValue]:
        return [AuditValue(cluster_of(plan.samples[observation.original]), observation.value) for observation in some]

    if audit is not Audit.OWN:
        return values(observations)
    judge = judged_as(plan.plan, plan.request)
    targets = {observation.original: plan.samples[observation.original].target_model for observation in observations}
    kin = {name for name, target in targets.items() if is_kin(judge, target)}
    unrelated = {name for name, target in targets.items() if target and name not in kin}
    return kindness_to_own(
        values(observation for observation in observations if observation.original in kin),
        values(observation for observation in observations if observation.original in unrelated),
    )


def cluster_of(sample: Sample) -> str:
    """Its question, where several outputs may answer one."""
    return sample.question_id or sample.question or sample.id


def find_confidences(
    audit: AuditPlan, rows: Mapping[str, JudgedRow], labels: Mapping[str, float]
) -> Iterator[JudgeConfidence]:
    """How sure the judge was of the plain samples, by what says so; held against their labels where there are any."""
    plain = {name: row for name in audit.samples if (row := rows.get(name)) is not None and row.status is Status.VALID}
    sources = Counter(row.confidence_source for row in plain.values() if row.confidence_source is not None)
    for source in sorted(sources):
        sure = {name: row for name, row in plain.items() if row.confidence_source is source}
        chances = [row for row in sure.values() if row.confidence_shares]
        known = [row for row in sure.values() if row.expected_score is not None]
        line = JudgeConfidence(
            next(iter(sure.values())).judge,
            source,
            len(sure),
            without=len(plain) - len(sure),
            is_order=not chances,
            mean_confidence=_mean([row.confidence_value for row in chances]),
            mean_given=_mean([row.score for row in known]),
            mean_expected=_mean([row.expected_score for row in known]),
        )
        labelled = [
            _sure_judgment(audit.samples[name], row, labels[name]) for name, row in sure.items() if name in labels
        ]
        yield with_labels(line, labelled, None) if labels else line


def _sure_judgment(sample: Sample, row: JudgedRow, label: float) -> SureJudgment:
    return SureJudgment(
        (label,),
        1.0,
        cluster_of(sample),
        row.score or 0.0,
        row.confidence_value or 0.0,
        bool(row.confidence_shares),
        row.expected_score,
    )


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def find_labels(audit: AuditPlan) -> dict[str, float]:
    """What people say of the plain texts, as a share of the scale: labels of the workspace, else of the dataset."""
    protocol = audit.plan.protocol
    # A label of a pair says which of two is better, and nothing about how kind a judge is to either.
    if not is_plain(protocol):
        return {}
    by_text = collect_labels(LabelStore(Workspace(audit.request.judging.workspace)).read(protocol.name))
    labels = {}
    for name, sample in audit.samples.items():
        steps_digest = digest_of_steps(sample.step_documents())
        text = text_digest(sample.question, sample.response, sample.ground_truth, steps_digest=steps_digest)
        known = by_text.get(text)
        if known is not None and known.counted:
            labels[name] = known.counted_share
        elif (label := sample.metadata.get("label")) is not None:
            try:
                labels[name] = label_scale(protocol, sample.task_type).read(label)
            except LabelError:
                continue
    return labels


def why_not(audit: Audit, plan: AuditPlan, labels: Mapping[str, float]) -> str:
    """The reason in a sentence, where an audit has no sample at all."""
    named = [inapplicable.reason for inapplicable in plan.inapplicable if inapplicable.audit is audit]
    match audit:
        case Audit.ORDER if is_plain(plan.plan.protocol):
            return "the protocol shows one response, so there is no order"
        case Audit.LANGUAGE if not plan.languages:
            return "the protocol has no other language"
        case Audit.LENIENT | Audit.OWN if not is_plain(plan.plan.protocol):
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
    result: AuditResult, observations: Sequence[Observed], scores: Scores, why: str, runs: Sequence[str]
) -> CardFinding:
    """The finding for a person and for a program."""
    spec, audit = AUDITS[result.audit], result.audit
    left_out = Counter(inapplicable.reason for inapplicable in scores.audit.inapplicable if inapplicable.audit is audit)
    left_out.update(scores.left_out.get(audit, {}))
    by_kind: dict[str, list[float]] = {}
    for observation in observations:
        by_kind.setdefault(observation.kind, []).append(observation.value)
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
        examples=tuple(choose_examples(result, observations, scores.audit, runs)) if result.effect is not None else (),
    )


def choose_examples(
    result: AuditResult, observations: Sequence[Observed], audit: AuditPlan, runs: Sequence[str]
) -> Iterator[CardExample]:
    """Those that show the effect most, in its direction."""
    spec = AUDITS[result.audit]
    sign = -1 if spec.side is Side.BOTH and result.effect is not None and result.effect < 0 else 1
    telling = sorted(
        (observation for observation in observations if sign * observation.value > spec.null),
        key=lambda observation: -sign * observation.value,
    )
    for observation in telling[:_EXAMPLES]:
        command = f"mixseek show {quote(runs[observation.run])} {quote(observation.changed)}"
        root = f" --workspace {quote(str(audit.request.judging.workspace))}"
        yield CardExample(
            original=observation.original,
            changed=observation.changed,
            kind=observation.kind,
            before=observation.before,
            after=observation.after,
            command=command + root,
        )

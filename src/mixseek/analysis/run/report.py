"""The report of a run that is there: its numbers from the index, its judgments as they stand in the journal."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from random import Random
from typing import Any

from mixseek.analysis.checked import summarise_checks
from mixseek.analysis.confidence.run import load_confidences
from mixseek.analysis.labels.of_run import load_corrected_and_people
from mixseek.analysis.run.agreement import Agreement, build_agreement, build_consistency
from mixseek.analysis.run.build import ReportInput, build_report
from mixseek.analysis.run.headline import with_corrected
from mixseek.analysis.run.report_data import LISTED_OF_EACH_KIND, ReportData
from mixseek.analysis.run.summarise import (
    cascade_name,
    combine_judges,
    is_own_choice,
    load_headline,
    load_pairs,
    load_route,
    load_units,
    run_header,
    settle_run,
)
from mixseek.analysis.scored import ScoredInput, build_scored
from mixseek.analysis.scored_model import ScoredReport
from mixseek.analysis.votes.boards import board_of_run
from mixseek.analysis.workspace.kept_headline import keep_headline
from mixseek.domain import counts, scored_counts
from mixseek.domain.counting import USUAL, Counting
from mixseek.domain.counts import OutcomeCount, UnitSums
from mixseek.domain.judgments import JudgedRow, Status
from mixseek.domain.panels import PanelRule
from mixseek.domain.people import APART, PeopleVerdict
from mixseek.index.panel import SettledPanel
from mixseek.index.run import RunIndex, open_run_index
from mixseek.lazy_dataclass import dataclass
from mixseek.runs.requests.protocol_record import rubric_of_run
from mixseek.storage.journal.manifest import Manifest, ProtocolEntry, read_manifest
from mixseek.storage.workspace import RunDirectory, Workspace, find_run

_SEED = 20_240_229
# Samples that judges differ on, in the report as data; the rest is counted.
DISAGREEMENTS = 2_000


def load_report(
    root: Path, name: str | None, rule: PanelRule | None = None, by: Sequence[str] = (), asked: Counting = USUAL
) -> tuple[ReportData, RunDirectory]:
    """Everything a renderer shows, and where the run lives.

    `by` are columns to break down by; `asked` says what means take.
    """
    workspace = Workspace(root)
    run = find_run(workspace, name)
    manifest = read_manifest(run.manifest)
    with open_run_index(workspace, run) as index:
        panel = settle_run(index, manifest, rule, asked)
        agreement = load_agreement(index, panel)
        scored = load_scored(index, panel, agreement, manifest.protocol)
        headline = load_headline(index, panel, by=by, maximum=scored.maximum if scored else None)
        calls = index.call_accounts()
        labels = cascade_labels(index, manifest)
        if is_own_choice(panel, manifest, rule):
            names = tuple(map(labels.__getitem__, manifest.judge_names))
            keep_headline(workspace, run, headline, calls, names, is_preference=index.facts.has_pairs)
        report = build_report(
            ReportInput(
                run=replace(run_header(manifest), unreached=count_unreached(index, manifest)),
                manifest=manifest.model_dump(mode="json", exclude={"counts"}),
                outcomes=index.counts(OutcomeCount, final_only=False),
                rows=StoredRows(workspace, run),
                units=load_units(index),
                judges=manifest.judge_names,
                calls=calls,
                headline=headline if headline.score.counts.total else None,
                agreement=agreement,
                consistency=build_consistency(*panel.takes()) if manifest.repeats > 1 else (),
                scored=scored,
                pairs=load_pairs(index, panel),
                models=index.judge_models(),
                labels=labels,
                **load_explanations(index, manifest),
            )
        )
        confidences = load_confidences(workspace, run, index, rule)
        whole, has_pairs = combine_judges(index, manifest) if manifest.cascade else None, index.facts.has_pairs
    corrected, people = load_corrected_and_people(workspace, run, rule)
    limit = None if report.is_complete else LISTED_OF_EACH_KIND
    report = replace(report, rows=StoredRows(workspace, run, limit, people.by_id()))
    # The cascade as one comes first: it is what the caller asked for; the judges explain it.
    judges = (whole, *report.judges) if whole and len(report.judges) > 1 else report.judges
    first = with_corrected(report.headline, corrected) if report.headline else None
    board, rubric = board_of_run(workspace, run) if has_pairs else None, rubric_of_run(run, manifest)
    report = replace(report, judges=judges, corrected=corrected, headline=first, asked=rubric, board=board)
    return replace(report, confidences=confidences), run


def load_explanations(index: RunIndex, manifest: Manifest) -> dict[str, Any]:
    """What says why judgments came out as they did, by the names that a report has for it."""
    cells = index.counts(OutcomeCount, final_only=False)
    return {
        "rules": index.counts(counts.RuleCount),
        "flags": index.counts(counts.FlagCount),
        "reasons": index.counts(counts.ReasonCount),
        "warnings": index.counts(counts.WarningCount),
        "reasoning": index.counts(counts.ReasoningCount),
        "reasks": index.counts(counts.ReaskCount),
        "checks": summarise_checks(index.counts(counts.CheckCount)),
        "route": load_route(index, manifest, cells),
    }


@dataclass(frozen=True, slots=True)
class StoredRows:
    """The judgments of a run in the order of the dataset, opened for as long as they are read; one in memory."""

    workspace: Workspace
    run: RunDirectory
    limit_per_kind: int | None = None
    people: Mapping[str, tuple[PeopleVerdict, str]] = field(default_factory=dict)

    def __iter__(self) -> Iterator[JudgedRow]:
        with open_run_index(self.workspace, self.run) as index:
            rows = index.rows(limit_per_kind=self.limit_per_kind)
            for name, of_sample in groupby(rows, key=attrgetter("id")):
                judged = list(of_sample)
                # Of a sample that is listed in part, nobody can say whether its judges differ.
                compared = judged if self.limit_per_kind is not None else compare_judges(judged)
                if name not in self.people:
                    yield from compared
                    continue
                people, panel = self.people[name]
                yield from (replace(row, people=people, panel=panel) for row in compared)


def compare_judges(judged: Sequence[JudgedRow]) -> Sequence[JudgedRow]:
    """The judgments of a sample, each with the other judges that it differs from; the list of the viewer asks for the
    same (`index/listing.sql`)."""
    heard = [row for row in judged if row.status is Status.VALID and not row.is_control]
    if len({row.judge for row in heard}) < 2:
        return judged
    verdicts = {row.verdict for row in heard} - {None}
    scores = [row.score for row in heard if row.score is not None]
    is_divided = len(verdicts) > 1 or (len(scores) > 1 and max(scores) - min(scores) >= APART)
    against = {
        (row.judge, row.take): tuple(
            sorted({other.judge for other in heard if other.judge != row.judge and says_else(row, other)})
        )
        for row in heard
    }
    return [
        replace(row, judges_differ=is_divided, differs_from=against.get((row.judge, row.take), ())) for row in judged
    ]


def says_else(row: JudgedRow, other: JudgedRow) -> bool:
    """Whether two valid judgments of a sample say different things."""
    if row.verdict is not None and other.verdict is not None and row.verdict != other.verdict:
        return True
    return row.score is not None and other.score is not None and abs(row.score - other.score) >= APART


def cascade_labels(index: RunIndex, manifest: Manifest) -> dict[str, str]:
    """What each judge is called before a reader, and all of them together where they are a cascade."""
    labels = index.judge_labels(manifest.judge_names)
    return {**labels, cascade_name(labels): cascade_name(labels.values())} if manifest.cascade else labels


def count_unreached(index: RunIndex, manifest: Manifest) -> int:
    """Samples of the dataset that a stopped run has not come to; one that is sealed has come to all."""
    return 0 if manifest.has_ended else max(0, manifest.sample_count - index.facts.samples)


def load_opinions(index: RunIndex, panel: SettledPanel) -> counts.Ratings | None:
    """What judges say of the samples that two of them judged, repeats brought to one opinion; None without such."""
    ratings = panel.ratings()
    if ratings is None:
        return None
    labels = index.judge_labels(panel.judges)
    return replace(ratings, judges=tuple(labels[judge] for judge in ratings.judges))


def opinions_of_run(workspace: Workspace, run: RunDirectory) -> counts.Ratings | None:
    """The opinions under the rule of the run."""
    manifest = read_manifest(run.manifest)
    if len(manifest.judge_names) < 2:
        # Nobody to agree with: nothing has to be read for that.
        return None
    with open_run_index(workspace, run) as index:
        return load_opinions(index, settle_run(index, manifest))


def load_agreement(index: RunIndex, panel: SettledPanel) -> Agreement | None:
    """None where no sample has two judges."""
    ratings = load_opinions(index, panel)
    if ratings is None:
        return None
    labels = index.judge_labels(panel.judges)
    total, disagreements = panel.disagreements(DISAGREEMENTS)
    items = [
        replace(item, judges=[(labels[judge], score, verdict) for judge, score, verdict in item.judges])
        for item in disagreements
    ]
    agreement = build_agreement(ratings, (total, items), is_graded=index.facts.is_graded)
    return replace(agreement, filter_names={label: judge for judge, label in labels.items()})


def load_scored(
    index: RunIndex, panel: SettledPanel, agreement: Agreement | None, protocol: ProtocolEntry
) -> ScoredReport | None:
    """None under a protocol without dimensions. Seeded: the same run gives the same p-values."""
    if not index.facts.has_scores:
        return None
    # A target has one mean on a page: that of its samples' verdicts.
    targets: dict[tuple[str | None, ...], UnitSums] = {
        (name,): group.units for name, group in panel.groups("target").items()
    }
    source = ScoredInput(
        cells=index.counts(scored_counts.ScoredCell),
        units=replace(index.scored_units(), targets=targets),
        dimensions=index.counts(scored_counts.DimensionCell),
        buckets=index.counts(scored_counts.DimensionBucket),
        variants=index.counts(scored_counts.VariantSums),
        evidence=index.counts(scored_counts.EvidenceCount),
        evidence_problems=index.counts(scored_counts.EvidenceProblem),
        agreement=agreement,
        coverage=index.coverage(),
        has_gates=bool(protocol.parameters.get("gates")),
    )
    return build_scored(source, rng=Random(_SEED))  # noqa: S311 - permutations, not secrets

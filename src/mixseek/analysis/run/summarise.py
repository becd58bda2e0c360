"""What a run amounts to, out of its index: its headline, its account, and the rows that got no score."""

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any

from mixseek.analysis.checked import summarise_checks
from mixseek.analysis.run.build import ReportInput, ReportUnits, build_report, summarise_scores
from mixseek.analysis.run.headline import LEADING, build_headline
from mixseek.analysis.run.model import Headline, JudgeSummary, RunHeader, ScoreSummary
from mixseek.analysis.run.route import RouteSummary, summarise_route
from mixseek.analysis.run.summary import RunSummary
from mixseek.analysis.target_pairs import PairsReport, build_pairs
from mixseek.analysis.workspace.kept_headline import keep_headline
from mixseek.analysis.workspace.manifests import dataset_name, is_panel
from mixseek.domain.counting import USUAL, Counting
from mixseek.domain.counts import (
    NO_UNITS,
    CheckCount,
    ConfidenceCount,
    OutcomeCount,
    ReaskCount,
    RunFacts,
    StatusCounts,
)
from mixseek.domain.judgments import JudgedRow, Status
from mixseek.domain.panels import PanelRule, default_rule, voting
from mixseek.domain.scored_counts import FailureGroup, TakeSpread
from mixseek.errors import ConfigurationError
from mixseek.index.panel import SettledPanel
from mixseek.index.run import RunIndex, open_run_index
from mixseek.storage.journal.manifest import Manifest
from mixseek.storage.workspace import RunDirectory, Workspace
from mixseek.text.messages import message

SHOWN = 10


def panel_rule(facts: RunFacts, manifest: Manifest, requested: PanelRule | None = None) -> PanelRule | None:
    """What makes one verdict of several judges: as asked for now, when the run was judged, or by default.

    None for one judge and for a cascade: there each sample has one verdict already.
    """
    if manifest.cascade and len(manifest.judges) > 1:
        if requested is not None:
            raise ConfigurationError(
                f"run {manifest.run}: a cascade gives one verdict a sample already; leave out --panel {requested.value}"
            )
        return None
    if rule := requested or manifest.panel:
        return rule
    if not is_panel(manifest):
        return None
    # Between A, B and a tie there is no middle: a score of a half is a verdict of its own.
    return default_rule(is_graded=facts.is_graded and not facts.has_pairs)


def settle_run(
    index: RunIndex, manifest: Manifest, rule: PanelRule | None = None, asked: Counting = USUAL
) -> SettledPanel:
    """Every sample of the run with one verdict, by what is asked for now, else by what was when it was judged."""
    counting = asked.or_else(manifest.counting)
    return index.settle(panel_rule(index.facts, manifest, rule), manifest.judge_names, counting)


def is_own_choice(panel: SettledPanel, manifest: Manifest, rule: PanelRule | None) -> bool:
    """Whether the means are those that lists of runs show: nobody has asked for others."""
    return rule in (None, manifest.panel) and panel.counting == manifest.counting


def load_headline(
    index: RunIndex, panel: SettledPanel, *, by: Sequence[str] = (), maximum: float | None = None
) -> Headline:
    """Targets and prompt variants where samples name them, and the columns that were asked for."""
    named = {column: name for column, name in LEADING.items() if getattr(index.facts, f"has_{name}s")}
    headline = build_headline(
        panel.rule,
        tuple(index.judge_labels(voting(panel.judges)).values()),
        panel.whole(),
        {column: panel.groups(name) for column, name in named.items() if panel.is_named(name)},
        asked={column: panel.by(column) for column in dict.fromkeys(by)},
        is_graded=index.facts.is_graded,
        maximum=maximum,
        counting=panel.counting,
    )
    return replace(headline, whole=message("pairs.a_preferred", "A preferred")) if index.facts.has_pairs else headline


def load_pairs(index: RunIndex, panel: SettledPanel) -> PairsReport | None:
    """None where responses were judged one at a time."""
    if not index.facts.has_pairs:
        return None
    pairs, labels = build_pairs(index.pair_counts(panel), panel.judges), index.judge_labels(panel.judges)
    return replace(pairs, judges=tuple(replace(judge, judge=labels[judge.judge]) for judge in pairs.judges))


def summarise_run(
    workspace: Workspace,
    run: RunDirectory,
    manifest: Manifest,
    rule: PanelRule | None = None,
    asked: Counting = USUAL,
) -> RunSummary:
    """The summary from the index, which is brought up to date first; `rule` and choices are those asked for."""
    with open_run_index(workspace, run) as index:
        facts, panel = index.facts, settle_run(index, manifest, rule, asked)
        headline, pairs = load_headline(index, panel, maximum=facts.maximum), load_pairs(index, panel)
        cells = index.counts(OutcomeCount, final_only=False)
        units, confidences = index.unit_sums("judge"), index.counts(ConfidenceCount)
        calls, checks = tuple(index.call_accounts()), summarise_checks(index.counts(CheckCount))
        route, reasks = load_route(index, manifest, cells), index.counts(ReaskCount)
        spreads = index.counts(TakeSpread) if manifest.repeats > 1 else ()
        final = index.counts(OutcomeCount, final_only=True) if manifest.cascade else cells
        whole, control = summarise_whole(index, final)
        if is_own_choice(panel, manifest, rule):
            labels = tuple(index.judge_labels(manifest.judge_names).values())
            keep_headline(workspace, run, headline, calls, labels, is_preference=facts.has_pairs)
    by_name = {name: [cell for cell in cells if cell.judge == name] for name in manifest.judge_names}
    return RunSummary(
        header=run_header(manifest),
        dataset=manifest.dataset,
        judges=manifest.judge_names,
        cascade=manifest.cascade,
        repeats=manifest.repeats,
        warnings=known_warnings(manifest),
        workspace=workspace.root,
        journal=run.journal,
        manifest=run.manifest,
        score=whole,
        headline=headline,
        by_judge={
            name: summarise_scores((cell for cell in cells if not cell.is_control), units.get((name,), NO_UNITS))
            for name, cells in by_name.items()
        },
        calls=calls,
        spreads=tuple(spreads),
        missing_for_good=facts.missing_for_good,
        needs_maths=facts.needs_maths,
        control=control,
        all_by_judge=count_by_judge(cells, manifest),
        reasks=tuple(reasks),
        pairs=pairs,
        checks=checks,
        route=route,
        confidences=tuple(confidences),
    )


def count_by_judge(cells: Sequence[OutcomeCount], manifest: Manifest) -> dict[str, StatusCounts]:
    """How samples ended under each judge, own output included."""
    by_name = {name: [cell for cell in cells if cell.judge == name] for name in manifest.judge_names}
    return {name: summarise_scores(cells, NO_UNITS).counts for name, cells in by_name.items()}


def load_route(index: RunIndex, manifest: Manifest, cells: Sequence[OutcomeCount]) -> RouteSummary | None:
    """None for a run that followed no file."""
    if manifest.route is None:
        return None
    return summarise_route(manifest.route, count_by_judge(cells, manifest), index.count_last_words())


def known_warnings(manifest: Manifest) -> tuple[tuple[str, str], ...]:
    """What judges are known to be weak at, by their names."""
    known = {judge.name: judge.parameters.get("warning") for judge in manifest.judges}
    return tuple((name, str(warning)) for name, warning in known.items() if warning)


def summarise_whole(index: RunIndex, final: Sequence[OutcomeCount]) -> tuple[ScoreSummary, ScoreSummary]:
    """Judgments as they are counted, without a mean: that is the panel's; and the control.

    Only a cascade has judgments that another one followed, and those are not `final`.
    """
    controls = [cell for cell in final if cell.is_control]
    control = index.unit_sums(final_only=True, control=True).get((), NO_UNITS) if controls else NO_UNITS
    return (
        summarise_scores((cell for cell in final if not cell.is_control), NO_UNITS),
        summarise_scores(controls, control),
    )


def load_units(index: RunIndex) -> ReportUnits:
    """The sums by judge; and by task and target under each."""
    return ReportUnits(
        judges=index.unit_sums("judge"),
        controls=index.unit_sums("judge", control=True),
        tasks=index.unit_sums("judge", "task_name"),
        targets=index.unit_sums("judge", "target_model"),
    )


def cascade_name(judges: Iterable[str]) -> str:
    """All judges of a cascade as one."""
    return " → ".join(judges)


def combine_judges(index: RunIndex, manifest: Manifest) -> JudgeSummary | None:
    """A cascade as one: all final judgments under one name; None for an empty run."""
    name = cascade_name(manifest.judge_names)
    counts = [replace(cell, judge=name) for cell in index.counts(OutcomeCount, final_only=True)]
    units = ReportUnits(
        judges={(name,): index.unit_sums(final_only=True).get((), NO_UNITS)},
        controls={(name,): index.unit_sums(final_only=True, control=True).get((), NO_UNITS)},
        tasks={(name, *group): sums for group, sums in index.unit_sums("task_name", final_only=True).items()},
        targets={(name, *group): sums for group, sums in index.unit_sums("target_model", final_only=True).items()},
    )
    report = build_report(ReportInput(run_header(manifest), {}, counts, (), units))
    return replace(report.judges[0], is_whole=len(manifest.judges) > 1) if report.judges else None


def run_header(manifest: Manifest) -> RunHeader:
    """What names a run at the top of a report."""
    return RunHeader(
        run_id=manifest.run,
        protocol=manifest.protocol.name,
        protocol_version=manifest.protocol.version,
        protocol_hash=manifest.protocol.hash,
        protocol_language=manifest.protocol.language,
        dataset=dataset_name(manifest),
        samples=manifest.sample_count,
        started_at=manifest.started_at.isoformat(),
        ended_at=manifest.finished_at.isoformat() if manifest.finished_at else None,
    )


def first_failed_rows(summary: RunSummary, limit: int = SHOWN) -> list[dict[str, Any]]:
    """At most `limit` invalid judgments and as many missing ones, in dataset order, for programs."""
    counts = summary.all_by_judge.values()
    wanted = [status for status in (Status.INVALID, Status.MISSING) if any(count.of(status) for count in counts)]
    if not wanted:
        return []
    with open_summarised(summary) as index:
        rows = [row for status in wanted for row in index.rows(status=status, limit=limit)]
    return [{"id": row.id, "judge": row.judge, "status": row.status, "why": why(row)} for row in rows]


def why(row: JudgedRow) -> tuple[str, ...]:
    """Flags with their details, or the reason why nothing came."""
    explanations = tuple(f"{finding.flag.value}: {finding.detail}" for finding in row.flags)
    return explanations or (row.reason or "no reason recorded",)


def failure_groups(summary: RunSummary) -> tuple[FailureGroup, ...]:
    """All reasons, the most frequent first; none costs nothing."""
    counts = summary.all_by_judge.values()
    if not any(count.invalid or count.missing for count in counts):
        return ()
    with open_summarised(summary) as index:
        return tuple(index.counts(FailureGroup))


def open_summarised(summary: RunSummary) -> AbstractContextManager[RunIndex]:
    """The index of the run that a summary is about."""
    workspace = Workspace(summary.workspace)
    return open_run_index(workspace, workspace.run(summary.header.run_id))

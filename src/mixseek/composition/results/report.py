"""Reports, exports, archives, lists and boards of runs that are there."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

from mixseek.composition.corrected import load_corrected
from mixseek.composition.protocols import (
    protocol_of_run,
    protocol_record,
    read_protocol_record,
    restore_protocol,
    rubric_of_run,
)
from mixseek.composition.summary import (
    combine_judges,
    dataset_name,
    is_panel,
    judge_labels,
    load_headline,
    load_pairs,
    load_units,
    panel_rule,
    run_header,
    summarise_whole,
)
from mixseek.domain import counts
from mixseek.domain.counts import NO_UNITS, OutcomeCount, PanelGroup, UnitSums
from mixseek.domain.judgments import JudgedRow
from mixseek.domain.panels import PanelRule, PanelState, voting
from mixseek.engine.offline import judge_shown
from mixseek.errors import ConfigurationError, StorageError
from mixseek.judges.math_verify import find_maths
from mixseek.reporting.findings.agreement import Agreement, build_agreement, build_consistency
from mixseek.reporting.findings.build import ReportInput, ScoredInput, build_report, build_scored
from mixseek.reporting.findings.model import (
    LISTED_OF_EACH_KIND,
    ReportData,
    RunComparison,
    RunLine,
    RunScore,
    ScoredReport,
    StatusCounts,
)
from mixseek.reporting.headline import summarise_group, with_corrected
from mixseek.reporting.pages.html import stream_html
from mixseek.reporting.votes import SystemBoard
from mixseek.reporting.wording import plural
from mixseek.stats.strengths import Comparison, Strengths, fit_strengths, listed, order_agreement
from mixseek.storage.archive.check import ArchiveCheck, Problem, ProblemKind, read_marker
from mixseek.storage.archive.write import INVALID_ROOM, PROTOCOL, VALID_ROOM, write_archive
from mixseek.storage.durable import write_page
from mixseek.storage.index.export import export_run
from mixseek.storage.index.loading import RunTotals, read_totals, stat_journal
from mixseek.storage.index.panel import SettledPanel
from mixseek.storage.index.run import RunIndex, open_run_index, pooled_unit_sums
from mixseek.storage.journal.journal import broken_seal, find_broken_seal, find_wrong_length, is_being_written
from mixseek.storage.journal.records import Manifest, ProtocolEntry, read_manifest, read_stored_manifest
from mixseek.storage.ratings import PEOPLE, Rater, Ratings, RatingSource, open_run
from mixseek.storage.upkeep import is_half_renamed
from mixseek.storage.votes import Comparisons, has_pairs
from mixseek.storage.workspace import LATEST, RunDirectory, Workspace, find_run

# Ratings of two systems or more as one board: who is stronger, and how far that can be trusted.


@dataclass(frozen=True, slots=True)
class BoardOptions:
    """Whose word the order rests on: the panel's by its rule, or one judge's; `human` is whom it is held against."""

    human: str | None = None
    judge: str | None = None
    rule: PanelRule = PanelRule.MAJORITY
    fewest_questions: int = 1
    # What to do where nothing says who is compared.
    naming: str = "name the column of --system for scores, or of --system-a and --system-b for votes"


def board_of_run(workspace: Workspace, run: RunDirectory) -> SystemBoard | None:
    """Of a run of pairs by several targets; None for any other."""
    with open_run(workspace, run, RatingSource(people_as_one=True)) as ratings:
        return build_board(run.name, ratings, BoardOptions(PEOPLE, rule=rule_of(run))) if has_pairs(ratings) else None


def rule_of(run: RunDirectory) -> PanelRule:
    """Of which of two is better there are votes, whatever scores they come from."""
    return read_manifest(run.manifest).panel or PanelRule.MAJORITY


def build_board(source: str, ratings: Ratings, options: BoardOptions) -> SystemBoard:
    """Of what the judges say together, or one of them; people apart."""
    is_voted, fewest = has_pairs(ratings), options.fewest_questions
    if not is_voted and not ratings.systems:
        raise ConfigurationError(f"{source}: nothing says who is compared; {options.naming}")
    if not is_voted and ratings.categories:
        raise ConfigurationError("--score: the ratings are texts, which have no more or less; votes need --system-a")
    truth = next((one for one in ratings.raters if one.name == options.human), None)
    judges = choose_judges([one for one in ratings.raters if one is not truth], options.judge)
    found = Comparisons(ratings)
    panel, split = None, 0
    if len(judges) == 1:
        comparisons = found.of(judges[0], fewest)
    else:
        panel = options.rule.value
        comparisons, split = found.of_panel(judges, options.rule, fewest)
    people = found.of(truth, fewest) if truth is not None else []
    strengths = fit_strengths(comparisons)
    by_people = fit_strengths(people) if people else None
    agreement = order_agreement(_order(strengths), _order(by_people)) if by_people is not None else None
    notes = [*found.notes, *unscored_notes(ratings, truth)]
    compared = {name for row in (*comparisons, *people) for name in (row.first, row.second)}
    if left_out := sorted(set(found.systems) - compared):
        why = f"with fewer than {fewest} questions" if fewest > 1 else "without a comparison"
        notes.append(f"left out, {why}: {listed(left_out)}")
    names, controlled = [one.name for one in judges], _controlled(comparisons)
    return SystemBoard(source, names, strengths, controlled, by_people, agreement, notes, panel=panel, split=split)


# Raters that a note can hold.
_MOST_NAMED = 8


def unscored_notes(ratings: Ratings, human: Rater | None = None) -> list[str]:
    """Whose items have no score (or vote), and how many; a human's are those that were not labelled."""
    counted = [
        *((rater.name, rater.missing, rater.missing + rater.ratings) for rater in ratings.raters if rater is not human),
        *((rater.name, rater.missing, rater.missing) for rater in ratings.silent),
    ]
    counted = [(name, missing, items) for name, missing, items in counted if missing]
    said = [f"{name}: {missing:,} of {items:,} items" for name, missing, items in counted[:_MOST_NAMED]]
    more = [f"and {len(counted) - _MOST_NAMED} more raters"] if len(counted) > _MOST_NAMED else []
    what = "vote" if has_pairs(ratings) else "score"
    return [f"without a {what}, so not counted: {'; '.join([*said, *more])}"] if said else []


def choose_judges(raters: Sequence[Rater], only: str | None) -> list[Rater]:
    """Whose verdicts count: the one that is asked for, else all but a log's own scorers."""
    if only is None:
        voters = voting(one.name for one in raters)
        return [one for one in raters if one.name in voters]
    chosen = [one for one in raters if one.name == only]
    if not chosen:
        raise ConfigurationError(
            f"--judge {only!r} has judged nothing; there is {listed([one.name for one in raters])}"
        )
    return chosen


def _order(found: Strengths) -> dict[str, float]:
    """Strengths, or win rates where there are none."""
    return found.values or {one.name: one.win_rate for one in found.standings}


def _controlled(comparisons: Sequence[Comparison]) -> Strengths | None:
    """Only where lengths are known and differ."""
    if not any(one.length for one in comparisons):
        return None
    return fit_strengths([one for one in comparisons if one.length is not None], with_length=True)


# Runs for readers: the report, the list of runs, one sample.

_SEED = 20_240_229
# Samples that judges differ on, in the report as data; the rest is counted.
DISAGREEMENTS = 2_000


def load_report(
    root: Path, name: str | None, rule: PanelRule | None = None, by: Sequence[str] = ()
) -> tuple[ReportData, RunDirectory]:
    """Everything a renderer shows, and where the run lives; `by` are columns to break down by."""
    workspace = Workspace(root)
    run = find_run(workspace, name)
    manifest = read_manifest(run.manifest)
    with open_run_index(workspace, run) as index:
        panel = index.settle(panel_rule(index, manifest, rule), manifest.judge_names)
        agreement = load_agreement(index, panel)
        scored = load_scored(index, panel, agreement, manifest.protocol)
        headline = load_headline(index, panel, by=by, maximum=scored.maximum if scored else None)
        report = build_report(
            ReportInput(
                run=replace(run_header(manifest), unreached=count_unreached(index, manifest)),
                manifest=manifest.model_dump(mode="json", exclude={"counts"}),
                outcomes=index.counts(OutcomeCount, final_only=False),
                rows=StoredRows(workspace, run),
                units=load_units(index),
                judges=manifest.judge_names,
                calls=index.call_accounts(),
                headline=headline if headline.score.counts.total else None,
                agreement=agreement,
                consistency=build_consistency(*panel.takes()) if manifest.repeats > 1 else (),
                scored=scored,
                pairs=load_pairs(index, panel),
                models=index.judge_models(),
                rules=index.counts(counts.RuleCount),
                flags=index.counts(counts.FlagCount),
                reasons=index.counts(counts.ReasonCount),
                warnings=index.counts(counts.WarningCount),
                reasoning=index.counts(counts.ReasoningCount),
                reasks=index.counts(counts.ReaskCount),
            )
        )
        whole = combine_judges(index, manifest) if manifest.cascade else None
        has_pairs = index.facts.has_pairs
    # The cascade as one comes first: it is what the caller asked for; the judges explain it.
    if not report.is_complete:
        report = replace(report, rows=StoredRows(workspace, run, LISTED_OF_EACH_KIND))
    judges = (whole, *report.judges) if whole and len(report.judges) > 1 else report.judges
    corrected = load_corrected(workspace, run, rule)
    first = with_corrected(report.headline, corrected) if report.headline else None
    asked = rubric_of_run(run, manifest)
    board = board_of_run(workspace, run) if has_pairs else None
    return replace(report, judges=judges, corrected=corrected, headline=first, asked=asked, board=board), run


@dataclass(frozen=True, slots=True)
class StoredRows:
    """The judgments of a run in the order of the dataset, opened for as long as they are read; one in memory."""

    workspace: Workspace
    run: RunDirectory
    limit_per_kind: int | None = None

    def __iter__(self) -> Iterator[JudgedRow]:
        with open_run_index(self.workspace, self.run) as index:
            yield from index.rows(limit_per_kind=self.limit_per_kind)


def count_unreached(index: RunIndex, manifest: Manifest) -> int:
    """Samples of the dataset that a stopped run has not come to; one that is sealed has come to all."""
    return 0 if manifest.has_ended else max(0, manifest.sample_count - index.facts.samples)


def load_opinions(index: RunIndex, panel: SettledPanel) -> counts.Ratings | None:
    """What judges say of the samples that two of them judged, repeats brought to one opinion; None without such."""
    ratings = panel.ratings()
    if ratings is None:
        return None
    labels = judge_labels(index, panel.judges)
    return replace(ratings, judges=tuple(labels[judge] for judge in ratings.judges))


def opinions_of_run(workspace: Workspace, run: RunDirectory) -> counts.Ratings | None:
    """Under the rule of the run."""
    manifest = read_manifest(run.manifest)
    with open_run_index(workspace, run) as index:
        return load_opinions(index, index.settle(panel_rule(index, manifest), manifest.judge_names))


def load_agreement(index: RunIndex, panel: SettledPanel) -> Agreement | None:
    """None where no sample has two judges."""
    ratings = load_opinions(index, panel)
    if ratings is None:
        return None
    labels = judge_labels(index, panel.judges)
    total, found = panel.disagreements(DISAGREEMENTS)
    items = [
        replace(item, judges=[(labels[judge], score, verdict) for judge, score, verdict in item.judges])
        for item in found
    ]
    return build_agreement(ratings, (total, items), is_graded=index.facts.is_graded)


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
        cells=index.counts(counts.ScoredCell),
        units=replace(index.scored_units(), targets=targets),
        dimensions=index.counts(counts.DimensionCell),
        buckets=index.counts(counts.DimensionBucket),
        variants=index.counts(counts.VariantSums),
        evidence=index.counts(counts.EvidenceCount),
        evidence_problems=index.counts(counts.EvidenceProblem),
        agreement=agreement,
        coverage=index.coverage(),
        has_gates=bool(protocol.parameters.get("gates")),
    )
    return build_scored(source, rng=Random(_SEED))  # noqa: S311 - permutations, not secrets


def write_html(report: ReportData, target: Path) -> None:
    """One self-contained file, whole or not at all."""
    write_page(stream_html(report), target, "report.html")


def list_runs(root: Path) -> tuple[list[RunLine], list[str]]:
    """Newest first, and a line about each run that cannot be read or counted: all are listed, and none is indexed."""
    lines = [describe_run(run) for run in Workspace(root).runs()]
    lines.sort(key=lambda line: (line.started_at or "", line.run_id), reverse=True)
    return lines, [line.problem for line in lines if line.problem is not None]


def describe_run(run: RunDirectory) -> RunLine:
    """One run in a line, from what was counted when it was indexed last."""
    try:
        manifest = read_manifest(run.manifest)
    except StorageError as error:
        return RunLine(run.name, "", "", "", (), None, is_sealed=False, problem=str(error))
    totals = read_totals(run)
    counted = totals if totals is not None and totals.problem is None else None
    return RunLine(
        run_id=manifest.run,
        protocol=manifest.protocol.name,
        protocol_hash=manifest.protocol.hash,
        dataset=dataset_name(manifest),
        judges=manifest.judge_names,
        counts=StatusCounts(**counted.counts) if counted is not None else None,
        mean=counted.mean_score if counted is not None and not is_panel(manifest) else None,
        started_at=manifest.started_at.isoformat(),
        is_sealed=manifest.has_ended,
        # A process that died could not say so; its lock is free.
        is_running=not manifest.has_ended and is_being_written(run.lock),
        problem=why_not_counted(run, manifest, totals),
    )


def why_not_counted(run: RunDirectory, manifest: Manifest, totals: RunTotals | None) -> str | None:
    """None where the counts are those of the journal as it is. No journal is read: there may be gigabytes of them."""
    if is_half_renamed(run):
        old = read_stored_manifest(run.manifest).run
        finish = f"`mixseek runs mv {shlex.quote(old)} {shlex.quote(run.name)}`"
        return f"run {run.name}: was renamed from {old!r}, and that was not finished; {finish} finishes it"
    try:
        state = stat_journal(run.journal)
    except StorageError as error:
        return str(error)
    if totals is not None and totals.journal == state:
        return totals.problem
    command = f"`mixseek report {shlex.quote(run.name)}`"
    problem = find_wrong_length(state.size_bytes, manifest) if manifest.has_ended else None
    if problem is not None:
        return str(broken_seal(run.journal, problem))
    # Nobody writes to the journal of a run that has ended; a copy of a workspace may be as new.
    if manifest.has_ended and state.changed_ns > run.manifest.stat().st_mtime_ns:
        return (
            f"{run.journal}: perhaps changed since it was written: newer than the end of its run; {command} verifies it"
        )
    return f"run {run.name}: its last lines are not counted yet; {command} counts them"


def load_sample(root: Path, name: str | None, sample_id: str) -> list[JudgedRow]:
    """One sample under every judge that was asked, in order."""
    workspace = Workspace(root)
    names = [one.name for one in workspace.runs()] if name is None else []
    if len(names) > 1 and sample_id in (LATEST, *names):
        raise ConfigurationError(f"{sample_id!r} is a run; name a sample of it as well: `mixseek show {sample_id} ID`")
    run = find_run(workspace, name)
    with open_run_index(workspace, run) as index:
        rows = index.find_sample(sample_id)
        if not rows:
            similar = ", ".join(index.similar_ids(sample_id))
            hint = f"; similar: {similar}" if similar else ""
            raise ConfigurationError(f"run {run.name}: no sample with the id {sample_id!r}{hint}")
    return rows


# Several runs as one, where that means something: only judgments under one protocol are averaged.


def compare_runs(root: Path, names: Sequence[str]) -> RunComparison:
    """Refuses runs of different protocol hashes before anything is read of them."""
    workspace = Workspace(root)
    runs = [workspace.resolve(name) for name in names]
    repeated = [run.name for number, run in enumerate(runs) if run.name in {earlier.name for earlier in runs[:number]}]
    if repeated:
        raise ConfigurationError(f"run {repeated[0]} is named twice; each judgment counts once")
    manifests = [read_manifest(run.manifest) for run in runs]
    refuse_other_protocols(manifests)
    scores: list[RunScore] = []
    everything: list[PanelGroup] = []
    rules: set[PanelRule | None] = set()
    for run, manifest in zip(runs, manifests, strict=True):
        with open_run_index(workspace, run) as index:
            rule = panel_rule(index, manifest)
            group, is_graded = index.settle(rule, manifest.judge_names).whole(), index.facts.is_graded
            _, control = summarise_whole(index, index.counts(OutcomeCount, final_only=True))
        rules.add(rule)
        everything.append(group)
        digest = manifest.dataset.get("sha256")
        score = summarise_group(group, is_graded=is_graded)
        scores.append(RunScore(manifest.run, dataset_name(manifest), digest, manifest.judge_names, score, control))
    # One judge, one cascade or one panel gave every verdict: a mean over judges who differ is nobody's.
    are_same_judges = len({manifest.judge_names for manifest in manifests}) == 1 and len(rules) == 1
    units = pooled_unit_sums(workspace, runs, rules.pop()) if are_same_judges else NO_UNITS
    pooled = summarise_group(add_groups(everything, units), is_graded=False)
    # One kind of number in every line of a table.
    is_binary = all(run.score.is_binary for run in scores)
    protocol = manifests[0].protocol
    return RunComparison(
        protocol=f"{protocol.name} {protocol.version}",
        protocol_hash=protocol.hash,
        runs=tuple(replace(run, score=replace(run.score, is_binary=is_binary)) for run in scores),
        pooled=replace(pooled, is_binary=is_binary),
    )


def add_groups(groups: Sequence[PanelGroup], units: UnitSums) -> PanelGroup:
    """Ends are added up; the mean is that of the units."""
    states = {state: sum(group.states.get(state, 0) for group in groups) for state in PanelState}
    return PanelGroup(units, states, sum(group.unverified for group in groups))


def refuse_other_protocols(manifests: Sequence[Manifest]) -> None:
    """What was asked differently cannot be averaged, however alike the numbers look."""
    first = manifests[0]
    for other in manifests[1:]:
        if other.protocol.hash != first.protocol.hash:
            raise ConfigurationError(
                f"runs {first.run} ({describe(first)}) and {other.run} ({describe(other)}) were judged under different "
                "protocols, so their scores are never averaged; report them one at a time"
            )


def describe(manifest: Manifest) -> str:
    """Name, version, language and hash: one of them differs."""
    protocol = manifest.protocol
    return f"{protocol.name} {protocol.version} {protocol.language} {protocol.hash[:8]}"


# Every judgment of a run as a file.


def export_rows(root: Path, name: str | None, to: Path) -> tuple[str, int]:
    """Writes the file that the suffix of `to` asks for; the run's name, and how many rows it has."""
    workspace = Workspace(root)
    run = find_run(workspace, name)
    return run.name, export_run(workspace, run, to)


# A run as files, and files held against their run's protocol.


def archive_run(root: Path, name: str | None, to: Path | None) -> dict[str, Any]:
    """What was written, for programs; by default into the run's own directory."""
    run = find_run(Workspace(root), name)
    protocol = protocol_of_run(run, read_manifest(run.manifest))

    directory = to or run.archive
    written = write_archive(
        run, protocol_record(protocol), directory, lambda reply, sample: judge_shown(reply, sample, protocol)
    )
    return {"run": run.name, "directory": str(directory), **written}


def check_archive(path: Path) -> dict[str, Any]:
    """What reading every file again has shown, by the protocol that the archive carries; for programs."""
    marker = read_marker(path)
    where = path / PROTOCOL
    protocol = restore_protocol(read_protocol_record(where), str(where))
    check = ArchiveCheck(path, marker, protocol, find_maths())
    problems = [asdict(problem) for problem in (*check_journal(path, marker.run), *check.problems())]
    counts = {"run": marker.run, "files": check.files}
    return {"directory": str(path), **counts, "problems": problems, "ok": not problems}


def check_journal(path: Path, run: str) -> Iterator[Problem]:
    """An archive in its run's own directory stands for the journal beside it, and agrees with the report about that."""
    manifest = path.absolute().parent / "manifest.json"
    if not manifest.is_file() or (known := read_manifest(manifest)).run != run:
        return
    problem = find_broken_seal(manifest.with_name("journal.jsonl"), known)
    if problem is not None:
        yield Problem("../journal.jsonl", ProblemKind.CHANGED, problem)


def describe_archived(written: Mapping[str, Any]) -> str:
    """For a person."""
    directory, repeated, unjudged = Path(written["directory"]), written["asked_again"], written["unjudged"]
    replies = plural(repeated, "reply that was", "replies that were")
    again = f" and {replies} invalid and asked for again" if repeated else ""
    rest = f"; {unjudged:,} without a judgment, listed in the index" if unjudged else ""
    return (
        f"{written['run']}: {written['valid']:,} in {directory / VALID_ROOM}, {written['invalid']:,} in "
        f"{directory / INVALID_ROOM}{again}{rest}"
    )


def describe_checked(checked: Mapping[str, Any], limit: int) -> str:
    """For a person: the first problems, and how many there are."""
    where, problems, judgments = checked["directory"], checked["problems"], plural(checked["files"], "judgment")
    if not problems:
        verb = "is" if checked["files"] == 1 else "are"
        return f"{where}: {judgments} of run {checked['run']} {verb} what the index says"
    lines = [f"{problem['path']}: {problem['kind']}: {problem['detail']}" for problem in problems[:limit]]
    hidden = len(problems) - limit
    lines += [f"and {hidden:,} more; --json lists them all"] if hidden > 0 else []
    return "\n".join([*lines, f"{where}: {plural(len(problems), 'problem')} in {judgments}"])

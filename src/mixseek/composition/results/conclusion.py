"""What a judged run comes to: its gates, its baseline, whether all that was asked for is there; and for CI."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from mixseek.composition.results.compare import Baseline, compare_with_baseline, read_changed
from mixseek.composition.summary import failure_groups, first_failed_rows, panel_rule
from mixseek.domain.counts import FailureGroup, Pair, SettledSample
from mixseek.domain.judgments import JudgedRow, Status
from mixseek.domain.panels import PanelRule, PanelState
from mixseek.errors import ConfigurationError
from mixseek.reporting.ci import MOST_CASES, WORST_SHOWN, CiCase, CiReport, make_case, render_junit, render_markdown
from mixseek.reporting.comparison import Comparison, DropResult, baseline_document, brief, check_drop, score_text
from mixseek.reporting.findings.model import Headline
from mixseek.reporting.headline import describe_headline
from mixseek.reporting.summary import (
    GateResult,
    Gates,
    RunSummary,
    check_gates,
    describe_score,
    explain_nothing_valid,
    has_nothing_valid,
    summary_document,
)
from mixseek.reporting.wording import plural
from mixseek.storage.durable import check_replaceable, replacing, storage_error, write_page
from mixseek.storage.index.run import open_run_index
from mixseek.storage.journal.records import read_manifest
from mixseek.storage.workspace import Workspace

AnyGate = GateResult | DropResult


class RunState(StrEnum):
    """How a run stands; the command line has an exit code for each."""

    OK = "ok"
    # Complete, but a gate is not met, or nothing in it is valid.
    GATE_NOT_MET = "gate_not_met"
    # Some replies could not be had, or the run was stopped; judging again resumes it.
    INCOMPLETE = "incomplete"


@dataclass(frozen=True, slots=True)
class Conclusion:
    """A summary with what it is held against; `reasons` are sentences for whatever keeps the state from being ok."""

    summary: RunSummary
    state: RunState
    reasons: tuple[str, ...] = ()
    gates: tuple[AnyGate, ...] = ()
    failures: tuple[FailureGroup, ...] = ()
    compared: Comparison | None = None

    def document(self) -> dict[str, Any]:
        """The contract for programs: keys are never renamed, only added."""
        return {
            **summary_document(self.summary, self.gates),
            "unusable": first_failed_rows(self.summary),
            "unusable_reasons": [asdict(group) for group in self.failures],
            "baseline": baseline_document(self.compared) if self.compared is not None else None,
        }


def conclude_run(summary: RunSummary, gates: Gates, baseline: Baseline | None = None) -> Conclusion:
    """Incomplete comes before any gate: its numbers are not the last ones."""
    checked: tuple[AnyGate, ...] = check_gates(gates, summary.headlines, has_pairs=summary.pairs is not None)
    compared = None
    if baseline is not None:
        compared = compare_with_baseline(summary.workspace, baseline, summary.header.run_id)
        checked += (check_drop(baseline.gate, compared),) if baseline.gate is not None else ()
    groups = failure_groups(summary)
    state, reasons = decide_state(summary, checked, groups)
    return Conclusion(summary, state, tuple(reasons), checked, groups, compared)


def decide_state(
    summary: RunSummary, checked: Sequence[AnyGate], groups: Sequence[FailureGroup]
) -> tuple[RunState, list[str]]:
    """The state, and a sentence for each thing that is not as it should be."""
    failed = [gate for gate in checked if not gate.is_met]
    reasons = [*explain_nothing_valid(summary, groups), *(gate.describe() for gate in failed)]
    if summary.missing_for_good:
        samples = plural(summary.missing_for_good, "sample is", "samples are")
        reasons.append(
            f"{samples} missing: their judge refuses them (see `mixseek show`); "
            "--retry-refused asks again, --max-invalid SHARE says how many may be missing"
        )
    if not summary.is_complete:
        return RunState.INCOMPLETE, [*reasons, explain_missing(summary)]
    if failed:
        return RunState.GATE_NOT_MET, reasons
    # What is missing is no result: a gate that counts it has said that it may be.
    is_allowed = any(gate.name == "max_invalid" for gate in checked)
    if summary.missing_for_good and not is_allowed:
        return RunState.INCOMPLETE, reasons
    return RunState.GATE_NOT_MET if has_nothing_valid(summary) else RunState.OK, reasons


def explain_missing(summary: RunSummary) -> str:
    """What can be done about it: asking a file of recorded replies again brings nothing new."""
    judges = [judge for judge, counts in summary.all_by_judge.items() if counts.missing]
    missing = summary.score.counts.missing + summary.control.counts.missing - summary.missing_for_good
    if not missing:
        return "the run was stopped before every sample was judged; run the same command again to go on"
    replies = plural(missing, "reply is missing", "replies are missing")
    if judges and all(judge == "replay" or judge.startswith("replay:") for judge in judges):
        return (
            f"{replies}: nothing is recorded for these samples; add the replies to the file, then run the same "
            "command again"
        )
    return f"{replies}; run the same command again to ask for them"


# What a build server reads, gathered from a run or a comparison, and written where it looks.

STEP_SUMMARY = "GITHUB_STEP_SUMMARY"
# Below it a score is low whatever the protocol: incorrect, FAIL, less than half of the points.
_LOW = 0.5
_FULL = 1.0
_WITHOUT_VERDICT = (PanelState.INVALID, PanelState.MISSING)
_UNUSABLE = (Status.INVALID.value, Status.MISSING.value)

GateResults = Sequence[GateResult | DropResult]


@dataclass(frozen=True, slots=True)
class CiTargets:
    """Where reports for a build server go. What a step of GitHub writes is added to, a file of our own is replaced."""

    junit: Path | None = None
    summary: Path | None = None
    adds_to_summary: bool = False

    def __bool__(self) -> bool:
        return self.junit is not None or self.summary is not None

    def check(self) -> None:
        """Before anything is judged: raises ConfigurationError where no file can be written."""
        for target in filter(None, (self.junit, self.summary)):
            if target.is_dir() or not target.parent.is_dir():
                raise ConfigurationError(f"{target}: no file can be there; name one in a directory that exists")
        if self.junit is not None:
            check_replaceable(self.junit, b"<?")
        if self.summary is not None and not self.adds_to_summary:
            check_replaceable(self.summary, b"##")


def find_targets(
    junit: Path | None, summary_file: Path | None, environment: Mapping[str, str], *, github_summary: bool
) -> CiTargets:
    """Raises ConfigurationError where a summary has nowhere to go."""
    named = environment.get(STEP_SUMMARY, "")
    if github_summary and summary_file is None and not named:
        raise ConfigurationError(
            f"--github-summary: ${STEP_SUMMARY} is not set, which only steps of GitHub Actions have; "
            "elsewhere name a file with --summary-file FILE"
        )
    is_step = github_summary and summary_file is None
    targets = CiTargets(junit, Path(named) if is_step else summary_file, adds_to_summary=is_step)
    targets.check()
    return targets


def write_ci(targets: CiTargets, reports: Sequence[CiReport]) -> None:
    """All reports into one file each; whole, or not at all."""
    if targets.junit is not None:
        with replacing(targets.junit) as stream:
            stream.write(render_junit(reports))
    if targets.summary is None:
        return
    text = "".join(map(render_markdown, reports))
    if not targets.adds_to_summary:
        write_page(text, targets.summary, "summary.md")
        return
    try:
        with targets.summary.open("a", encoding="utf-8", newline="\n") as added:
            added.write(text)
    except OSError as error:
        raise storage_error("write the summary", targets.summary, error) from error


def run_report(
    root: Path,
    run: str,
    gates: GateResults,
    *,
    headline: Headline | None,
    rule: PanelRule | None = None,
    more: Sequence[str] = (),
    seconds: float = 0.0,
) -> CiReport:
    """Samples with a low score or without a verdict, after the rule of their panel."""
    workspace = Workspace(root)
    directory = workspace.run(run)
    manifest = read_manifest(directory.manifest)
    with open_run_index(workspace, directory) as index:
        panel = index.settle(panel_rule(index, manifest, rule), manifest.judge_names)
        listed, found = panel.failing(MOST_CASES, below=_LOW)
        worst, _ = panel.failing(WORST_SHOWN, below=_FULL, worst_first=True)
        rows = index.rows_of(sorted({sample.key for sample in (*listed, *worst)}))
    lines = [] if headline is None else [*describe_headline(headline), *describe_score(headline.score, 0)]
    facts = {
        "protocol": f"{manifest.protocol.name} {manifest.protocol.version} {manifest.protocol.hash[:8]}",
        "judges": ", ".join(manifest.judge_names),
        "samples": str(manifest.sample_count),
    }
    if headline is not None:
        facts |= {state: str(count) for state, count in asdict(headline.score.counts).items()}
    return CiReport(
        name=run,
        headline=[*lines, *more],
        gates=gates,
        cases=[sample_case(sample, rows[sample.id]) for sample in listed],
        worst=[sample_case(sample, rows[sample.id]) for sample in worst],
        left_out=found - len(listed),
        facts=facts,
        seconds=seconds,
    )


def sample_case(sample: SettledSample, rows: Sequence[JudgedRow]) -> CiCase:
    word = sample.verdict if sample.state is PanelState.VALID and sample.verdict else sample.state.value
    own = [row for row in rows if not row.is_control]
    return make_case(sample.id, word, own, is_error=sample.state in _WITHOUT_VERDICT)


def comparison_report(root: Path, comparison: Comparison, gates: GateResults) -> CiReport:
    """Pairs that got worse, and those whose judge failed on B's side."""
    lost = [pair for pair in comparison.unscored if pair.status_b in _UNUSABLE and pair.status_a not in _UNUSABLE]
    pairs = [*comparison.worse, *lost][:MOST_CASES]
    changed = read_changed(Workspace(root), comparison, pairs)
    cases = [pair_case(one.pair, one.rows_b, comparison) for one in changed]
    sides = {"a": comparison.a, "b": comparison.b}
    return CiReport(
        name=f"{comparison.b.name} against {comparison.a.name}",
        headline=[f"{head:<11} {line}" for head, line in brief(comparison)],
        gates=gates,
        cases=cases,
        worst=cases[:WORST_SHOWN],
        left_out=comparison.difference.sums.worse + len(lost) - len(cases),
        facts={"protocol": comparison.protocol} | {letter: side.run for letter, side in sides.items()},
    )


def pair_case(pair: Pair, rows_b: Sequence[JudgedRow], comparison: Comparison) -> CiCase:
    is_lost = pair.score_b is None
    before = score_text(pair.score_a, is_binary=comparison.is_binary)
    after = pair.status_b if is_lost else score_text(pair.score_b, is_binary=comparison.is_binary)
    same = "; the text is the same, so this is the judge's doing" if pair.is_same_text else ""
    said = f"was {before}, is {after}{same}"
    return make_case(pair.id_b, pair.status_b if is_lost else "worse", rows_b, is_error=is_lost, first=said)

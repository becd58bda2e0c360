"""What a build server reads, gathered from a run or a comparison, and written where it looks."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from mixseek.analysis.run.gates import GateResult
from mixseek.analysis.run.model import Headline
from mixseek.analysis.run.summarise import settle_run
from mixseek.ci.report import MOST_CASES, WORST_SHOWN, CiCase, CiReport, make_case, render_junit, render_markdown
from mixseek.comparison.model import Comparison, DropResult
from mixseek.comparison.pairs import read_changed
from mixseek.comparison.views.sections import brief
from mixseek.comparison.views.words import score_text
from mixseek.domain.counting import USUAL, Counting
from mixseek.domain.counts import SettledSample
from mixseek.domain.judgments import JudgedRow, Status
from mixseek.domain.pair_counts import Pair
from mixseek.domain.panels import PanelRule, PanelState
from mixseek.errors import ConfigurationError
from mixseek.index.run import open_run_index
from mixseek.lazy_dataclass import dataclass
from mixseek.reports.headline import describe_headline
from mixseek.reports.summary import describe_score
from mixseek.storage.durable import check_replaceable, replacing, storage_error, write_page
from mixseek.storage.journal.manifest import read_manifest
from mixseek.storage.workspace import Workspace

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
        """Looks before anything is judged: raises ConfigurationError where no file can be written."""
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
    asked: Counting = USUAL,
    more: Sequence[str] = (),
    seconds: float = 0.0,
) -> CiReport:
    """Samples with a low score or without a verdict, after the rule of their panel."""
    workspace = Workspace(root)
    directory = workspace.run(run)
    manifest = read_manifest(directory.manifest)
    with open_run_index(workspace, directory) as index:
        panel = settle_run(index, manifest, rule, asked)
        listed, failing_count = panel.failing(MOST_CASES, below=_LOW)
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
        left_out=failing_count - len(listed),
        facts=facts,
        seconds=seconds,
    )


def sample_case(sample: SettledSample, rows: Sequence[JudgedRow]) -> CiCase:
    word = sample.verdict if sample.state is PanelState.VALID and sample.verdict else sample.state.value
    counted = [row for row in rows if not row.is_control]
    return make_case(sample.id, word, counted, is_error=sample.state in _WITHOUT_VERDICT)


def comparison_report(root: Path, comparison: Comparison, gates: GateResults) -> CiReport:
    """Pairs that got worse, and those whose judge failed on B's side."""
    lost = [pair for pair in comparison.unscored if pair.status_b in _UNUSABLE and pair.status_a not in _UNUSABLE]
    pairs = [*comparison.worse, *lost][:MOST_CASES]
    changed = read_changed(Workspace(root), comparison, pairs)
    cases = [pair_case(change.pair, change.rows_b, comparison) for change in changed]
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
    sentence = f"was {before}, is {after}{same}"
    return make_case(pair.id_b, pair.status_b if is_lost else "worse", rows_b, is_error=is_lost, first=sentence)

"""Runs that are there: `mixseek report`, `show`, `export`, `archive`, `compare`, `view`; `runs` and `cache` sweep."""

import os
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, BadParameter, Context, Option, launch

from mixseek.cli.console import ExitCode, notify_plainly, print_answer, print_notice, print_result
from mixseek.cli.options import (
    GithubSummaryOption,
    JsonOption,
    JUnitOption,
    PanelOption,
    RunArgument,
    SummaryFileOption,
    WorkspaceOption,
    ci_targets,
    share_option,
    workspace_path,
)
from mixseek.errors import ConfigurationError

if TYPE_CHECKING:
    from rich.console import Console

    from mixseek.domain.panels import PanelRule
    from mixseek.reporting.comparison import DropGate, DropResult
    from mixseek.web.server import ViewServer


# `mixseek view`: a local page on the workspace.


def view(
    workspace: WorkspaceOption = None,
    port: Annotated[int, Option(metavar="N", min=0, max=65535, help="0 takes a free one.")] = 0,
    host: Annotated[
        str,
        Option(
            metavar="ADDRESS", help="Where to listen; another than this machine's own loopback needs --allow-remote."
        ),
    ] = "127.0.0.1",
    allow_remote: Annotated[
        bool, Option("--allow-remote", help="Let other machines ask, with the token in $MIXSEEK_VIEW_TOKEN.")
    ] = False,
    public_url: Annotated[
        str | None,
        Option(
            "--public-url",
            metavar="URL",
            help="Where a proxy in front lets others in, such as https://host/path: links, Host and Origin follow it.",
        ),
    ] = None,
    read_only: Annotated[bool, Option("--read-only", help="Refuse everything that would change something.")] = False,
    no_open: Annotated[bool, Option("--no-open", help="Print the link and open no browser.")] = False,
) -> ExitCode:
    """Look at runs in the browser, also while they are judged.

    Serves pages on this machine only, to whoever has the link that it prints: runs and competitions, every judgment
    with filters and search, a sample under all of its judges, two runs side by side, and queues of texts for people to
    label, blind. Ctrl-C ends it.

    \b
    Examples:
      mixseek view
      mixseek view --workspace ws --port 8765 --no-open
      mixseek view --port 8765 --public-url https://judging.example.org/mixseek    behind a proxy, for several raters
    """
    from mixseek.web.security import TOKEN_VARIABLE, decide_access
    from mixseek.web.server import serve

    root = workspace_path(workspace)
    token = os.environ.get(TOKEN_VARIABLE)
    access = decide_access(host, allows_remote=allow_remote, is_read_only=read_only, token=token, public_url=public_url)

    def ready(server: "ViewServer") -> None:
        print_result(f"{root} at {server.link}\n  Ctrl-C ends it")
        if not no_open:
            launch(server.link)

    serve(root, access, port, ready)
    return ExitCode.OK


# `mixseek compare`: B against A, and the gate that holds a run against a baseline.

_COMPARED = "Two runs, A and B; or one, with two targets or variants. `latest` is the one started last."
_TARGET = "Whose outputs. Once: on both sides. Twice: A's, then B's."
_VARIANT = "Which prompt variant. Once: on both sides. Twice: A's, then B's."
_OUT = "Where the HTML goes. Default: compare-….html beside the journal of B."
_BASELINE = "Say how far this run differs from an earlier one, sample by sample (see `mixseek compare`)."
_MAX_DROP = "Exit 1 when the mean score is lower than the baseline's by more, e.g. 0.02 or 2%."
_ON = "Hold the difference itself against --max-drop, or the lower end of its interval. Default: point."

BaselineOption = Annotated[str | None, Option("--baseline", metavar="RUN", help=_BASELINE)]
MaxDropOption = Annotated[float | None, share_option(_MAX_DROP)]
OnOption = Annotated[str | None, Option("--on", metavar="point|lower", help=_ON)]


def read_drop_gate(max_drop: float | None, on: str | None, baseline: str | None) -> "DropGate | None":
    """None without a limit; raises BadParameter for options that mean nothing without each other."""
    if on not in (None, "point", "lower"):
        raise BadParameter(f"{on!r} is neither `point` nor `lower`", param_hint="'--on'")
    if max_drop is None:
        if on is not None:
            raise BadParameter("says what is held against --max-drop SHARE; give that too", param_hint="'--on'")
        return None
    if baseline is None:
        raise BadParameter("needs a run to hold this one against: --baseline RUN", param_hint="'--max-drop'")
    from mixseek.reporting.comparison import DropGate, GateEnd

    return DropGate(max_drop, GateEnd(on or "point"))


def compare(
    runs: Annotated[list[str] | None, Argument(metavar="[A] [B]", help=_COMPARED)] = None,
    targets: Annotated[list[str] | None, Option("--target", metavar="NAME", help=_TARGET)] = None,
    variants: Annotated[list[str] | None, Option("--variant", metavar="NAME", help=_VARIANT)] = None,
    panel: PanelOption = None,
    workspace: WorkspaceOption = None,
    out: Annotated[Path | None, Option("--out", "-o", metavar="FILE", help=_OUT)] = None,
    open_page: Annotated[bool, Option("--open", help="Open the HTML in the browser.")] = False,
    max_drop: Annotated[
        float | None, share_option("Exit 1 when B's mean score is lower than A's by more, e.g. 2%.")
    ] = None,
    on: OnOption = None,
    as_json: JsonOption = False,
    junit: JUnitOption = None,
    github_summary: GithubSummaryOption = False,
    summary_file: SummaryFileOption = None,
) -> ExitCode:
    """Compare two runs, targets or prompt variants, sample by sample.

    The difference B minus A over what both were asked, with an interval that knows which samples share a question, an
    exact test, the ids that got better and worse, and what of it is the judge's doing: a text that is the same on both
    sides and got another score.

    \b
    Examples:
      mixseek compare bbh-march bbh-april
      mixseek compare latest --target gpt-5 --target gpt-6
      mixseek compare latest --variant A --variant B --target gpt-5 --json
      mixseek compare bbh-march bbh-april --max-drop 2% --on lower
    """
    from mixseek.composition.results.build_server import comparison_report, write_ci
    from mixseek.composition.results.compare import (
        LISTED,
        LISTED_IN_JSON,
        CompareRequest,
        default_page,
        load_comparison,
        write_comparison,
    )
    from mixseek.reporting.comparison import check_drop, comparison_document, print_comparison

    gate = read_drop_gate(max_drop, on, "A")
    ci = ci_targets(junit, summary_file, github_summary=github_summary)
    request = CompareRequest(workspace_path(workspace), runs or (), targets or (), variants or (), panel)
    comparison = load_comparison(request, listed=LISTED_IN_JSON if as_json else LISTED, is_complete=as_json)
    has_pairs = bool(comparison.difference.sums.pairs)
    # A page about nothing is only written where it was asked for.
    target = out or (None if as_json or not has_pairs else default_page(request.workspace, comparison))
    if target is not None:
        write_comparison(request.workspace, comparison, target)
    gates = () if gate is None else (check_drop(gate, comparison),)
    if ci is not None:
        write_ci(ci, [comparison_report(request.workspace, comparison, gates)])
    document = comparison_document(comparison, target, gates)
    print_answer(document, lambda console: print_comparison(comparison, console, target), as_json=as_json)
    if open_page and target is not None:
        launch(target.resolve().as_uri())
    if not has_pairs and not gates:
        a, b = comparison.a, comparison.b
        notify_plainly(
            f"no pair: {a.samples:,} samples of {a.name} and {b.samples:,} of {b.name} have no id and no question_id "
            "in common; when you judge, name the column that says what was asked: --map question_id=COLUMN"
        )
    return max(tell_gates(gates), ExitCode.OK if has_pairs else ExitCode.GATE_NOT_MET)


@dataclass(frozen=True, slots=True)
class BaselineResult:
    """A run that is there already, held against a baseline; nothing where none was named."""

    document: dict[str, Any]
    line: str | None = None
    gates: "tuple[DropResult, ...]" = ()

    def tell(self, *, as_json: bool) -> ExitCode:
        if self.line is not None and not as_json:
            print_result(f"Baseline  {self.line}")
        return tell_gates(self.gates)


def check_baseline(
    workspace: Path, run: str, name: str | None, gate: "DropGate | None", panel: "PanelRule | None"
) -> BaselineResult:
    """A run beside its baseline, and whether its score has dropped too far; without a baseline, nothing."""
    if name is None:
        return BaselineResult({"baseline": None, "gates": []})
    from mixseek.composition.results.compare import Baseline, compare_with_baseline
    from mixseek.reporting.comparison import baseline_document, baseline_text, check_drop, gate_document
    from mixseek.storage.workspace import Workspace

    baseline = Baseline(Workspace(workspace).resolve(name).name, gate)
    compared = compare_with_baseline(workspace, baseline, run, panel)
    gates = () if gate is None else (check_drop(gate, compared),)
    document = {"baseline": baseline_document(compared), "gates": [gate_document(one) for one in gates]}
    return BaselineResult(document, baseline_text(compared), gates)


def tell_gates(gates: "Sequence[DropResult]") -> ExitCode:
    """A line on stderr for each that is not met."""
    failed = [gate for gate in gates if not gate.is_met]
    for gate in failed:
        print_notice(f"mixseek: {gate.describe()}")
    return ExitCode.GATE_NOT_MET if failed else ExitCode.OK


# Commands that read what was judged: `report`, `show`, `export`, `archive`.

_RUNS = "A run's name, or `latest`; left out, the only run. Several runs of one protocol are set side by side."
# More do not help anybody who reads; --json has them all.
_PROBLEMS_SHOWN = 50


def report(
    runs: Annotated[list[str] | None, Argument(metavar="[RUN]...", help=_RUNS)] = None,
    workspace: WorkspaceOption = None,
    out: Annotated[
        Path | None,
        Option("--out", "-o", metavar="FILE", help="Where the HTML goes. Default: report.html beside the journal."),
    ] = None,
    open_page: Annotated[bool, Option("--open", help="Open the HTML in the browser.")] = False,
    by: Annotated[
        list[str] | None,
        Option(
            "--by", metavar="COLUMN", help="Break down by a column of the samples, of metadata too; repeat for more."
        ),
    ] = None,
    panel: PanelOption = None,
    baseline: BaselineOption = None,
    max_drop: MaxDropOption = None,
    on: OnOption = None,
    as_json: JsonOption = False,
    junit: JUnitOption = None,
    github_summary: GithubSummaryOption = False,
    summary_file: SummaryFileOption = None,
) -> ExitCode:
    """Summarise a run here and in one HTML file.

    The file needs no network and no other file, so it can be sent as it is.
    Several runs are set side by side, and averaged only if one protocol judged them; what changed between two of
    them, sample by sample, is what `mixseek compare A B` says.

    \b
    Examples:
      mixseek report latest
      mixseek report bbh-march --out bbh.html --open
      mixseek report bbh-march --json > summary.json
      mixseek report bbh-march --by difficulty --panel unanimous
      mixseek report bbh-march bbh-april
      mixseek report bbh-april --baseline bbh-march --max-drop 2%
      mixseek report bbh-april --junit junit.xml --github-summary
    """
    from mixseek.composition.results.build_server import run_report, write_ci
    from mixseek.composition.results.report import load_report, write_html
    from mixseek.reporting.documents import report_document
    from mixseek.reporting.terminal import print_report

    gate = read_drop_gate(max_drop, on, baseline)
    ci = ci_targets(junit, summary_file, github_summary=github_summary)
    if runs and len(runs) > 1:
        if out is not None or open_page or by or panel is not None or baseline is not None or ci is not None:
            message = "these are of one run; leave out --out, --open, --by, --panel, --baseline, --junit and summaries"
            raise BadParameter(message, param_hint="'[RUN]...'")
        return set_side_by_side(runs, workspace_path(workspace), as_json=as_json)
    root = workspace_path(workspace)
    report_data, directory = load_report(root, runs[0] if runs else None, panel, by or ())
    target = out or (None if as_json else directory.report)
    if target is not None:
        write_html(report_data, target)
    document = report_document(report_data, target)
    held = check_baseline(root, directory.name, baseline, gate, panel)
    document |= held.document
    if ci is not None:
        write_ci(ci, [run_report(root, directory.name, held.gates, headline=report_data.headline, rule=panel)])
    print_answer(document, lambda console: print_report(report_data, console, target), as_json=as_json)
    if open_page and target is not None:
        launch(target.resolve().as_uri())
    return held.tell(as_json=as_json)


def set_side_by_side(runs: list[str], workspace: Path, *, as_json: bool) -> ExitCode:
    """Several runs beside each other."""
    from mixseek.composition.results.side_by_side import compare_runs
    from mixseek.reporting.documents import comparison_document
    from mixseek.reporting.terminal import print_comparison

    comparison = compare_runs(workspace, runs)
    document = comparison_document(comparison)
    return print_answer(document, lambda console: print_comparison(comparison, console), as_json=as_json)


def show(
    names: Annotated[
        list[str],
        Argument(metavar="[RUN] ID", help="The sample's id; before it the run, or `latest`, if there are several."),
    ],
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> ExitCode:
    """Show one sample under every judge.

    The span that decided, the rules in order, the raw reply.

    \b
    Examples:
      mixseek show bbh-march q-17
      mixseek show q-17
      mixseek show latest q-17 --json
    """
    if len(names) > 2:
        raise BadParameter(f"one run and one id, not {len(names)} names", param_hint="'[RUN] ID'")
    from mixseek.composition.results.report import load_sample
    from mixseek.reporting.payload import cut_row
    from mixseek.reporting.terminal import print_rows

    rows = load_sample(workspace_path(workspace), names[0] if len(names) == 2 else None, names[-1])
    document = {"id": rows[0].id, "judgments": [asdict(row) for row in rows]}
    shown = [cut_row(row) for row in rows]
    code = print_answer(document, lambda console: print_rows(shown, console), as_json=as_json)
    if shown != rows and not as_json:
        print_notice("texts this long are shown in part, responses from their end; --json has them whole")
    return code


def export(
    run: RunArgument = None,
    *,
    to: Annotated[Path, Option(metavar="FILE", help="The ending decides: .jsonl, .csv or .parquet.")],
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> ExitCode:
    """Write a row for each sample and judge.

    Columns: id, judge, take, status, score, verdict, flags and their details, total, scores, fields (JSON) and more.

    \b
    Examples:
      mixseek export latest --to judgments.parquet
      mixseek export bbh-march --workspace ws --to judgments.jsonl
    """
    from mixseek.composition.results.files import export_rows
    from mixseek.reporting.wording import plural

    name, rows = export_rows(workspace_path(workspace), run, to)
    if as_json:
        print_answer({"run": name, "file": str(to), "rows": rows}, "", as_json=True)
    else:
        print_notice(f"mixseek: {plural(rows, 'row')} written to {to}")
    return ExitCode.OK


def archive(
    run: RunArgument = None,
    to: Annotated[
        Path | None, Option(metavar="DIR", help="Where to. Default: `archive` in the run's own directory.")
    ] = None,
    check: Annotated[
        Path | None,
        Option(metavar="DIR", help="Write nothing; read an archive again and say what is wrong with it."),
    ] = None,
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> ExitCode:
    """Write one JSON file for each judgment.

    Valid ones into 有效评测/, invalid ones into 无效评测/ with flags, details and the raw reply; beside them samples,
    the protocol, an index and the run log. An archive of the same run is replaced.

    --check reads every file again, also after somebody edited or moved some by hand, and exits 1 if anything is found.

    \b
    Examples:
      mixseek archive latest --to archive/
      mixseek archive --check archive/
    """
    from mixseek.composition.results.files import archive_run, check_archive, describe_archived, describe_checked

    if check is None:
        written = archive_run(workspace_path(workspace), run, to)
        return print_answer(written, describe_archived(written), as_json=as_json)
    if run is not None or to is not None:
        raise BadParameter("takes neither a run nor --to: it only reads", param_hint="'--check'")
    checked = check_archive(check)
    print_answer(checked, describe_checked(checked, _PROBLEMS_SHOWN), as_json=as_json)
    return ExitCode.OK if checked["ok"] else ExitCode.GATE_NOT_MET


# `mixseek runs` and `mixseek cache`: what a workspace holds, and removing, renaming and sweeping it.


class Kind(StrEnum):
    """What can be called by a name."""

    RUN = "run"
    COMPETITION = "competition"


KindOption = Annotated[
    Kind | None, Option(metavar="KIND", help="run or competition, where both have that name.", show_default=False)
]


def runs(context: Context, workspace: WorkspaceOption = None, as_json: JsonOption = False) -> ExitCode | None:
    """List the runs and competitions of a workspace, newest first.

    \b
    Examples:
      mixseek runs
      mixseek runs --workspace ws --json
      mixseek runs mv answers-semantic-1f3c9a2b march
      mixseek runs rm march april
      mixseek runs gc --dry-run
    """
    if context.invoked_subcommand is not None:
        return None
    from mixseek.composition.race import list_competitions
    from mixseek.composition.results.run_list import list_runs
    from mixseek.reporting.documents import runs_document
    from mixseek.reporting.race_terminal import print_competitions
    from mixseek.reporting.terminal import print_runs

    lines, problems = list_runs(workspace_path(workspace))
    competitions = list_competitions(workspace_path(workspace))
    for problem in problems:
        print_notice(f"mixseek: {problem}")
    document = runs_document(lines)
    document["runs"] = [{"kind": "run", **run} for run in document["runs"]]
    document["competitions"] = [line.to_document() for line in competitions]

    def show_both(console: "Console") -> None:
        if lines or not competitions:
            print_runs(lines, console)
        if competitions:
            print_competitions(competitions, console)

    return print_answer(document, show_both, as_json=as_json)


def remove(
    names: Annotated[list[str], Argument(metavar="RUN...", help="Exact names, of runs or competitions.")],
    kind: KindOption = None,
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> ExitCode:
    """Remove runs or competitions for good, with their replies.

    Labels stay: they belong to texts. Replies in the cache stay, too. One that is being written is refused.

    \b
    Examples:
      mixseek runs rm march
      mixseek runs rm march april --json
    """
    from mixseek.composition.results.upkeep import remove_runs

    removed = remove_runs(workspace_path(workspace), names, kind)
    said = "\n".join(f"removed {one['kind']} {one['name']} ({one['bytes']:,} bytes)" for one in removed)
    return print_answer({"removed": removed}, said, as_json=as_json)


def move(
    name: Annotated[str, Argument(metavar="RUN", help="The exact name, of a run or a competition.")],
    new: Annotated[str, Argument(metavar="NEW", help="A name that is free.")],
    kind: KindOption = None,
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> ExitCode:
    """Give a run or a competition another name.

    Its draws of labels and the archive in its directory follow. Resume it with --run NEW, or --execution NEW.

    \b
    Examples:
      mixseek runs mv answers-semantic-1f3c9a2b march
    """
    from mixseek.composition.results.upkeep import move_run

    moved = move_run(workspace_path(workspace), name, new, kind)
    return print_answer(moved, f"{moved['kind']} {moved['name']} is now {moved['new_name']}", as_json=as_json)


def collect(
    dry_run: Annotated[bool, Option("--dry-run", help="Say what would go; remove nothing.")] = False,
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> ExitCode:
    """Remove what nobody needs: copies of stdin, starts that came to nothing, what killed processes left.

    Never a journal that holds a reply, and nothing of a process that is at work.

    \b
    Examples:
      mixseek runs gc --dry-run
      mixseek runs gc --json
    """
    from mixseek.composition.results.upkeep import collect_garbage, describe_garbage

    document = collect_garbage(workspace_path(workspace), dry_run=dry_run)
    return print_answer(document, describe_garbage(document), as_json=as_json)


# `mixseek cache`: how large the replies have grown, and making them fewer.

_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9}


def parse_size(text: str) -> int:
    """500M, 2G, 0: decimal units, as disks are sold."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMG]?)B?", text.strip(), re.IGNORECASE)
    if found is None:
        raise BadParameter(f"{text!r} is not a size; write 500M or 2G")
    return int(float(found[1]) * _UNITS[found[2].upper()])


def show_cache(workspace: WorkspaceOption = None, as_json: JsonOption = False) -> ExitCode:
    """Print how many replies the workspace remembers, and what they take.

    The cache saves money, and nothing depends on it: every run keeps its own replies in its journal.

    \b
    Examples:
      mixseek cache size
      mixseek cache size --workspace ws --json
    """
    return print_cache(workspace, None, None, as_json=as_json)


def prune(
    older_than: Annotated[
        float | None, Option(metavar="DAYS", min=0.0, help="Drop what was stored longer ago.")
    ] = None,
    keep: Annotated[
        int | None,
        Option(metavar="SIZE", parser=parse_size, help="Then drop the oldest until the rest fits: 2G."),
    ] = None,
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> ExitCode:
    """Drop replies from the cache and give the space back; runs and their journals are not touched.

    \b
    Examples:
      mixseek cache prune --older-than 30
      mixseek cache prune --keep 2G
      mixseek cache prune --keep 0           all of it
    """
    if older_than is None and keep is None:
        raise ConfigurationError("cache prune: say what to drop, with --older-than DAYS, --keep SIZE or both")
    return print_cache(workspace, older_than, keep, as_json=as_json)


def print_cache(workspace: Path | None, older_than: float | None, keep: int | None, *, as_json: bool) -> ExitCode:
    """Drop what is asked for, if anything is; then show what the cache holds."""
    from mixseek.composition.judging.live import describe_cache, keep_cache

    state = keep_cache(workspace_path(workspace), older_than, keep)
    return print_answer(asdict(state), describe_cache(state), as_json=as_json)

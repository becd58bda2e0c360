"""`mixseek compare`: B against A, and the gate that holds a run against a baseline."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, BadParameter, Option, launch

from mixseek.cli.parsing.options import (
    CutOffOption,
    GateOnOption,
    GithubSummaryOption,
    JsonOption,
    JUnitOption,
    MaxCutOffOption,
    PanelOption,
    SummaryFileOption,
    UndecidedOption,
    WorkspaceOption,
    ci_targets,
    share_option,
    workspace_path,
)
from mixseek.cli.terminal.console import ExitCode, notify_plainly, print_answer, print_notice, print_result
from mixseek.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from mixseek.analysis.run.gates import GateResult
    from mixseek.comparison.model import DropGate, DropResult
    from mixseek.domain.counting import Counting
    from mixseek.domain.counts import ResponseCounts
    from mixseek.domain.panels import PanelRule

_COMPARED = "Two runs, A and B; or one, with two targets or variants. `latest` is the one started last."
_TARGET = "Whose outputs. Once: on both sides. Twice: A's, then B's."
_VARIANT = "Which prompt variant. Once: on both sides. Twice: A's, then B's."
_TO = "Where the HTML goes. Default: compare-….html beside the journal of B."


def read_drop_gate(max_drop: float | None, gate_on: str | None, baseline: str | None) -> "DropGate | None":
    """None without a limit; raises BadParameter for options that mean nothing without each other."""
    if gate_on not in (None, "point", "lower"):
        raise BadParameter(f"{gate_on!r} is neither `point` nor `lower`", param_hint="'--gate-on'")
    if max_drop is None:
        if gate_on is not None:
            raise BadParameter("says what is held against --max-drop SHARE; give that too", param_hint="'--gate-on'")
        return None
    if baseline is None:
        raise BadParameter("needs a run to hold this one against: --baseline RUN", param_hint="'--max-drop'")
    from mixseek.comparison.model import DropGate, GateEnd

    return DropGate(max_drop, GateEnd(gate_on or "point"))


def compare(
    runs: Annotated[list[str] | None, Argument(metavar="[A] [B]", help=_COMPARED)] = None,
    targets: Annotated[list[str] | None, Option("--target", metavar="NAME", help=_TARGET)] = None,
    variants: Annotated[list[str] | None, Option("--variant", metavar="NAME", help=_VARIANT)] = None,
    panel: PanelOption = None,
    cut_off: CutOffOption = None,
    undecided: UndecidedOption = None,
    max_cut_off: MaxCutOffOption = None,
    workspace: WorkspaceOption = None,
    to: Annotated[Path | None, Option("--to", "-o", metavar="FILE", help=_TO)] = None,
    open_page: Annotated[bool, Option("--open", help="Open the HTML in the browser.")] = False,
    max_drop: Annotated[
        float | None, share_option("Exit 1 when B's mean score is lower than A's by more, e.g. 2%.")
    ] = None,
    gate_on: GateOnOption = None,
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
      mixseek compare bbh-march bbh-april --max-drop 2% --gate-on lower
    """
    from mixseek.analysis.run.gates import check_cut_off
    from mixseek.ci.build_server import comparison_report, write_ci
    from mixseek.comparison.compare import LISTED, LISTED_IN_JSON, CompareRequest, load_comparison
    from mixseek.comparison.drop_gate import check_drop
    from mixseek.comparison.views.files import default_page, write_comparison
    from mixseek.comparison.views.sections import comparison_document
    from mixseek.domain.counting import read_counting
    from mixseek.presentation.sections import shown_sections

    gate = read_drop_gate(max_drop, gate_on, "A")
    ci = ci_targets(junit, summary_file, github_summary=github_summary)
    asked = read_counting(cut_off, undecided)
    request = CompareRequest(workspace_path(workspace), runs or (), targets or (), variants or (), panel, asked)
    comparison = load_comparison(request, listed=LISTED_IN_JSON if as_json else LISTED, is_complete=as_json)
    has_pairs = bool(comparison.difference.sums.pairs)
    # A page about nothing is only written where it was asked for.
    target = to or (None if as_json or not has_pairs else default_page(request.workspace, comparison))
    if target is not None:
        write_comparison(request.workspace, comparison, target)
    gates: tuple[GateResult | DropResult, ...] = () if gate is None else (check_drop(gate, comparison),)
    if max_cut_off is not None:
        gates += tuple(check_cut_off(max_cut_off, side.responses, side.name) for side in (comparison.a, comparison.b))
    if ci is not None:
        write_ci(ci, [comparison_report(request.workspace, comparison, gates)])
    document = comparison_document(comparison, target, gates)
    print_answer(document, lambda: shown_sections(comparison, target), as_json=as_json)
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
    gates: "tuple[GateResult | DropResult, ...]" = ()

    def tell(self, *, as_json: bool) -> ExitCode:
        if self.line is not None and not as_json:
            print_result(f"Baseline  {self.line}")
        return tell_gates(self.gates)


def check_baseline(
    workspace: Path,
    run: str,
    name: str | None,
    gate: "DropGate | None",
    panel: "PanelRule | None",
    asked: "Counting",
) -> BaselineResult:
    """A run beside its baseline, and whether its score has dropped too far; without a baseline, nothing."""
    if name is None:
        return BaselineResult({"baseline": None, "gates": []})
    from mixseek.comparison.baseline import Baseline, compare_with_baseline
    from mixseek.comparison.drop_gate import baseline_document, baseline_text, check_drop
    from mixseek.comparison.views.sections import gate_document
    from mixseek.storage.workspace import Workspace

    baseline = Baseline(Workspace(workspace).resolve(name).name, gate)
    compared = compare_with_baseline(workspace, baseline, run, panel, asked)
    gates = () if gate is None else (check_drop(gate, compared),)
    document = {"baseline": baseline_document(compared), "gates": [gate_document(result) for result in gates]}
    return BaselineResult(document, baseline_text(compared), gates)


def with_gates(
    held: BaselineResult, max_cut_off: float | None, responses: "Mapping[str | None, ResponseCounts]"
) -> BaselineResult:
    """The result with what became of the gate on cut-off responses, of a run or of both sides of a comparison."""
    if max_cut_off is None:
        return held
    from mixseek.analysis.run.gates import check_cut_off
    from mixseek.comparison.views.sections import gate_document

    checked = [check_cut_off(max_cut_off, counts, side) for side, counts in responses.items()]
    documents = [*held.document["gates"], *map(gate_document, checked)]
    return replace(held, document={**held.document, "gates": documents}, gates=(*held.gates, *checked))


def tell_gates(gates: "Sequence[GateResult | DropResult]") -> ExitCode:
    """A line on stderr for each that is not met."""
    failed = [gate for gate in gates if not gate.is_met]
    for gate in failed:
        print_notice(f"mixseek: {gate.describe()}")
    return ExitCode.GATE_NOT_MET if failed else ExitCode.OK

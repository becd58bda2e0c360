"""`mixseek compare`: B against A, and the gate that holds a run against a baseline."""

from pathlib import Path
from typing import Annotated

from typer import Argument, BadParameter, Option, launch

from mixseek.cli.console import ExitCode, print_answer, print_notice
from mixseek.cli.options import JsonOption, WorkspaceOption, share_option, workspace_path

_RUNS = "Two runs, A and B; or one, with two targets or variants. `latest` is the one started last."
_TARGET = "Whose outputs. Once: on both sides. Twice: A's, then B's."
_VARIANT = "Which prompt variant. Once: on both sides. Twice: A's, then B's."
_OUT = "Where the HTML goes. Default: compare-….html beside the journal of B."
MAX_DROP = "Exit 1 when the mean score is lower than the baseline's by more, e.g. 0.02 or 2%."
ON = "Hold the difference itself against --max-drop, or the lower end of its interval."


def parse_end(given: str) -> str:
    """`point` or `lower`."""
    if given not in ("point", "lower"):
        raise BadParameter(f"{given!r} is neither `point` nor `lower`")
    return given


OnOption = Annotated[str, Option("--on", metavar="point|lower", parser=parse_end, help=ON)]


def compare(
    runs: Annotated[list[str] | None, Argument(metavar="[A] [B]", help=_RUNS)] = None,
    targets: Annotated[list[str] | None, Option("--target", metavar="NAME", help=_TARGET)] = None,
    variants: Annotated[list[str] | None, Option("--variant", metavar="NAME", help=_VARIANT)] = None,
    workspace: WorkspaceOption = None,
    out: Annotated[Path | None, Option("--out", "-o", metavar="FILE", help=_OUT)] = None,
    open_page: Annotated[bool, Option("--open", help="Open the HTML in the browser.")] = False,
    max_drop: Annotated[float | None, share_option("Exit 1 when B's mean score is lower than A's by more.")] = None,
    on: OnOption = "point",
    as_json: JsonOption = False,
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
    from mixseek.composition.compare import LISTED, CompareRequest, default_page, load_comparison, write_comparison
    from mixseek.reporting.comparison import DropGate, GateEnd, check_drop, comparison_document, print_comparison

    request = CompareRequest(workspace_path(workspace), runs or (), targets or (), variants or ())
    comparison = load_comparison(request, listed=None if as_json else LISTED)
    target = out or (None if as_json else default_page(request.workspace, comparison))
    if target is not None:
        write_comparison(request.workspace, comparison, target)
    gates = () if max_drop is None else (check_drop(DropGate(max_drop, GateEnd(on)), comparison),)
    document = comparison_document(comparison, target, gates)
    print_answer(document, lambda console: print_comparison(comparison, console, target), as_json=as_json)
    if open_page and target is not None:
        launch(target.resolve().as_uri())
    failed = [gate for gate in gates if not gate.is_met]
    for gate in failed:
        print_notice(f"mixseek: {gate.describe()}")
    return ExitCode.GATE_NOT_MET if failed else ExitCode.OK

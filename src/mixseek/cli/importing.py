"""`mixseek import`: a log of another tool as samples of our own."""

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from mixseek.cli.console import ExitCode, notify_plainly, print_answer
from mixseek.cli.options import JsonOption, Quiet

_LOG = "A log file of another tool, recognised by its content."


def import_log(
    log: Annotated[str, Argument(metavar="LOG", help=_LOG)],
    to: Annotated[
        Path | None,
        Option(metavar="FILE", help="Write the samples here, as JSON lines. Default: only say what is there."),
    ] = None,
    as_json: JsonOption = False,
    quiet: Quiet = False,
) -> ExitCode:
    """Read a log of another tool, and write its samples as a dataset.

    Known are Inspect, lm-eval, promptfoo, DeepEval, EvalScope, HELM, MLflow, LangSmith, Braintrust, batches of
    OpenAI, Anthropic and Gemini, MT-Bench, AlpacaEval, chats, and tables of inputs and outputs. `mixseek judge LOG`
    reads them as well, without this step.

    Repeats stay repeats of one question, and errors stay errors. What the tool's own scorers said is kept: `--judge
    log:SCORER` holds it against other judges.

    \b
    Examples:
      mixseek import logs/run.eval
      mixseek import logs/run.eval --to samples.jsonl
      mixseek import samples_gsm8k_2026-11-16.jsonl --to samples.jsonl --json
      mixseek judge samples.jsonl --judge rules --judge log:includes
      mixseek judge logs/run.eval --judge rules --judge log
    """
    from mixseek.cli.judging import show_progress
    from mixseek.composition.logs import describe_empty
    from mixseek.composition.logs import import_log as read_log
    from mixseek.errors import DatasetError

    summary = read_log(log, to, lambda total: show_progress(total, quiet))
    if as_json or summary.counts.samples:
        print_answer(summary.document(), summary.describe(), as_json=as_json)
    if not summary.counts.samples:
        raise DatasetError(describe_empty(summary.log, summary.notices))
    for notice in summary.notices if not quiet else ():
        notify_plainly(f"{log}: {notice}")
    return ExitCode.OK

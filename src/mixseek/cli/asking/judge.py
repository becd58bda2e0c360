"""`mixseek judge`: a dataset before its judges; `demo`: everything at once, offline; `import`: logs of other tools."""

import os
import sys
from pathlib import Path
from typing import Annotated, Any, Unpack

from typer import Argument, BadParameter, Context, Option

from mixseek.cli.parsing.options import JsonOption, Quiet, ci_targets, refuse_place, with_options
from mixseek.cli.reading.compare import read_drop_gate
from mixseek.cli.terminal.console import ExitCode, notify_plainly, print_answer
from mixseek.settings.options import JudgeCommand

_DATA = (
    "JSONL, CSV or Parquet: a file, a folder, a glob in quotes, s3:// or gs:// (extra `ray`); or the log of another "
    "tool (see `mixseek import`); `-` reads JSONL from stdin."
)


@with_options(JudgeCommand)
def judge(
    context: Context,
    data: Annotated[str, Argument(metavar="DATA", help=_DATA)],
    **options: Unpack[JudgeCommand],
) -> ExitCode:
    """Judge every sample of a dataset.

    Interrupted? Run the same command again: it resumes, and asks nothing twice.

    A sample has `id` and `response`, or `response_path` to a .txt, .md, .json or .pdf file beside DATA. The semantic
    protocol needs `ground_truth`; rubric a rubric (--rubric, or a column `rubric` or `rubric_path`); cross
    `question_id`, `prompt_variant`, `target_model` and `output_id`: a row without them is flagged INCOMPLETE_COVERAGE;
    pairwise `response_a` and `response_b`, or --pairs.

    \b
    Examples:
      mixseek judge answers.jsonl --protocol semantic --judge rules
      mixseek judge answers.csv --map response=output --map ground_truth=target --fail-under 80%
      mixseek judge answers.jsonl --cascade --judge rules --judge replay:replies.jsonl --json
      mixseek judge answers.jsonl --cascade --judge rules --judge openai:gpt-5-mini --max-cost 2
      mixseek judge essays.csv --protocol rubric --rubric tasks/ --judge anthropic:claude-x
      mixseek judge outputs.jsonl --protocol cross --judge replay:replies.jsonl
      mixseek judge outputs.jsonl --protocol pairwise --pairs baseline:gpt-4o --judge anthropic:claude-x
      mixseek judge logs/run.eval --judge rules --judge log
      mixseek judge answers.jsonl --judge rules --baseline answers-march --max-drop 2%
      mixseek judge answers.parquet --judge rules --on ray --address 10.0.0.1:6379 --workspace /shared/ws
      mixseek judge answers.jsonl --judge openai:a --judge openai:b --panel unanimous --fail-under 80%
      mixseek judge answers.jsonl --cascade cascade.toml --audit-share 2%
    """
    from mixseek.analysis.run.gates import Gates
    from mixseek.cli.asking.judging import JobPart, JudgeOrder, run_judge
    from mixseek.comparison.baseline import find_baseline
    from mixseek.runs.requests.given_options import GATES, make_request
    from mixseek.settings.load import load_settings

    refuse_contradictions(options)
    settings = load_settings()
    route: dict[str, Any] = {}
    if "cascade_file" in options:
        # Late: few runs follow one.
        from mixseek.cascades.following import follow_given

        options, route = follow_given(options, Path(options.get("workspace") or settings.workspace))
    # Of `mixseek run`, which carries this command out; None on a command line.
    job: JobPart | None = context.obj
    request = make_request(
        data,
        options,
        settings,
        workspace=options.get("workspace", settings.workspace),
        configured=settings.judges if job is None else {**settings.judges, **job.judges},
        command_line=("mixseek", *sys.argv[1:]),
        environment=os.environ,
        **route,
    )
    baseline = options.get("baseline")
    gate = read_drop_gate(options.get("max_drop"), options.get("gate_on"), baseline)
    order = JudgeOrder(
        request,
        Gates(**{name: limit for name, limit in request.gates.items() if name in GATES}),
        find_baseline(request, baseline, gate) if baseline is not None else None,
        ci_targets(
            options.get("junit"), options.get("summary_file"), github_summary=options.get("github_summary", False)
        ),
        as_json=options.get("as_json", False),
        quiet=options.get("quiet", False),
        log_json=options.get("log_json", False),
        is_dry_run=options.get("dry_run", False),
        audit_share=options.get("audit_share"),
    )
    return run_judge(order, job)


def refuse_contradictions(options: JudgeCommand) -> None:
    """Raises BadParameter for options that mean nothing with, or without, each other."""
    if "panel" in options and options.get("cascade"):
        raise BadParameter("a cascade gives one verdict a sample already; choose one of both", param_hint="'--panel'")
    if "audit_share" in options and "cascade_file" not in options:
        raise BadParameter("only means something with --cascade FILE.toml", param_hint="'--audit-share'")
    refuse_place(options.get("on"), has_place="address" in options or "shards" in options)


def demo(
    workspace: Annotated[
        Path, Option("--workspace", "-w", metavar="DIR", help="Where the demo's runs are kept.")
    ] = Path("demo-workspace"),
    as_json: JsonOption = False,
) -> ExitCode:
    """Judge the bundled samples offline and write reports.

    Every protocol, with recorded replies that are good and bad. Verdicts of
    the rules are compared with known labels; exit 1 if any disagrees.

    \b
    Examples:
      mixseek demo
      mixseek demo --workspace /tmp/demo --json
    """
    from mixseek.cli.asking.demonstration import print_demo
    from mixseek.setup.demo import run_demo

    return print_demo(run_demo(workspace), as_json=as_json)


# `mixseek import`: a log of another tool as samples of our own.

_LOG = "A log file of another tool, recognised by its content."


def import_log(
    log: Annotated[str, Argument(metavar="LOG", help=_LOG)],
    to: Annotated[
        Path | None,
        Option(
            metavar="FILE", help="Write the samples here: .jsonl, .csv or .parquet. Default: only say what is there."
        ),
    ] = None,
    as_json: JsonOption = False,
    quiet: Quiet = False,
) -> ExitCode:
    """Read a log of another tool, and write its samples as a dataset.

    Known are Inspect, lm-eval, promptfoo, DeepEval, EvalScope, HELM, MLflow, LangSmith, Braintrust, RAGAS,
    pydantic-evals, traces of OpenTelemetry and MLflow, runs of pydantic-ai and the OpenAI Agents SDK, batches of
    OpenAI, Anthropic and Gemini, MT-Bench, AlpacaEval, chats, and tables of inputs and outputs. `mixseek judge LOG`
    reads them as well, without this step.

    Repeats stay repeats of one question, and errors stay errors. What the tool's own scorers said is kept: `--judge
    log:SCORER` holds it against other judges.

    \b
    Examples:
      mixseek import logs/run.eval
      mixseek import logs/run.eval --to samples.jsonl
      mixseek import samples_gsm8k_2026-11-16.jsonl --to samples.jsonl --json
      mixseek import traces.otlp.jsonl --to samples.parquet
      mixseek judge samples.jsonl --judge rules --judge log:includes
      mixseek judge logs/run.eval --judge rules --judge log
    """
    from mixseek.cli.terminal.progress import show_progress
    from mixseek.errors import DatasetError
    from mixseek.runs.logs import describe_empty
    from mixseek.runs.logs import import_log as read_log
    from mixseek.settings.load import load_settings

    longest = load_settings().judge.longest_line
    summary = read_log(log, to, lambda total: show_progress(total, quiet), longest)
    if as_json or summary.counts.samples:
        print_answer(summary.document(), summary.describe(), as_json=as_json)
    if not summary.counts.samples:
        raise DatasetError(describe_empty(summary.log, summary.notices))
    for notice in summary.notices if not quiet else ():
        notify_plainly(f"{log}: {notice}")
    return ExitCode.OK

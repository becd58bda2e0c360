"""`mixseek judge`: a dataset before its judges; `demo`: everything at once, offline; `import`: logs of other tools."""

import os
import sys
from datetime import timedelta
from pathlib import Path
from typing import Annotated

from typer import Argument, BadParameter, Context, Option

from mixseek.cli.compare import BaselineOption, MaxDropOption, read_drop_gate
from mixseek.cli.console import ExitCode, notify_plainly, print_answer
from mixseek.cli.options import (
    GithubSummaryOption,
    JsonOption,
    JUnitOption,
    MaxCalls,
    MaxCost,
    PanelOption,
    Patience,
    Quiet,
    SummaryFileOption,
    WorkspaceOption,
    ci_targets,
    parse_mapping,
    parse_parameters,
    share_option,
)

# Help that takes more than a line.
_DATA = (
    "JSONL, CSV or Parquet: a file, a folder, a glob in quotes, s3:// or gs:// (extra `ray`); or the log of another "
    "tool (see `mixseek import`); `-` reads JSONL from stdin."
)
_JUDGE = (
    "rules, provider:model, provider:model@base_url, a name in mixseek.toml, replay:FILE, replay, log:SCORER or log; "
    "repeat for more. Default: rules."
)
_CASCADE = "Ask the next judge only where no judge before it gave a valid judgment / each judges all (default)."
_PLAN = (
    "What was to be judged, CSV or JSONL: question_id, prompt_variant, target_model[, output_id]. Holes are flagged "
    "INCOMPLETE_COVERAGE."
)
_KEEP_GOING = "Do not stop where a judge refuses everything, or gives nothing valid in its first 50 replies."
_BUDGET = "Judge so many pairs, chosen in rounds where they tell most about who is stronger."
_CARD = (
    "Exit 1, and ask nothing, unless this card of `mixseek audit` is of this judge and protocol and nothing on it "
    "failed; repeat for more judges."
)
_ON = (
    "With --max-drop: what is held against it, the difference (point, default) or the lower end of its interval. "
    "And `ray`: judge on a Ray cluster (extra `ray`). Repeat for both."
)
_ADDRESS = "With --on ray: the cluster. Default: RAY_ADDRESS, else one that is started here."
_PAIRS = "Make pairs of single outputs: of each question all, baseline:MODEL, or so many (for --protocol pairwise)."
_CONCURRENCY = "Calls at once to an endpoint, at most; fewer while it is busy."


def judge(
    context: Context,
    data: Annotated[str, Argument(metavar="DATA", help=_DATA)],
    protocol: Annotated[
        str | None, Option(metavar="NAME|FILE", help="What is asked: a built-in, or a .toml file. Default: semantic.")
    ] = None,
    judges: Annotated[list[str] | None, Option("--judge", metavar="SPEC", help=_JUDGE)] = None,
    cascade: Annotated[bool | None, Option("--cascade/--no-cascade", help=_CASCADE, show_default=False)] = None,
    panel: PanelOption = None,
    workspace: WorkspaceOption = None,
    run: Annotated[
        str | None, Option(metavar="NAME", help="Name of the run. Default: the same for the same request.")
    ] = None,
    mapping: Annotated[
        list[str] | None,
        Option("--map", metavar="FIELD=COLUMN", help="Where a field stands in DATA, e.g. response=output."),
    ] = None,
    language: Annotated[
        str | None, Option(metavar="en|ja|zh", help="Language of the prompt. Default: the protocol's own.")
    ] = None,
    fail_under: Annotated[float | None, share_option("Exit 1 when the mean score is lower, e.g. 0.8 or 80%.")] = None,
    max_invalid: Annotated[
        float | None, share_option("Exit 1 when more are invalid (of pairs, in either order) or missing.")
    ] = None,
    max_undecided: Annotated[float | None, share_option("Exit 1 when more are undecided or split.")] = None,
    max_unverified: Annotated[
        float | None,
        share_option("Exit 1 when more of the valid ones call an answer correct that is not in the response."),
    ] = None,
    require_card: Annotated[list[Path] | None, Option("--require-card", metavar="CARD", help=_CARD)] = None,
    card_max_age: Annotated[
        float | None, Option(metavar="DAYS", min=0.0, help="Exit 1 when the card is older.")
    ] = None,
    baseline: BaselineOption = None,
    max_drop: MaxDropOption = None,
    on: Annotated[list[str] | None, Option("--on", metavar="point|lower|ray", help=_ON)] = None,
    address: Annotated[str | None, Option(metavar="auto|HOST:PORT", help=_ADDRESS)] = None,
    shards: Annotated[
        int | None, Option(metavar="N", min=1, help="With --on ray: parts of DATA, each judged by one worker.")
    ] = None,
    as_json: JsonOption = False,
    workers: Annotated[
        int | None, Option(metavar="N", min=0, max=256, help="Processes for `rules`. Default: all cores if it pays.")
    ] = None,
    limit: Annotated[int | None, Option(metavar="N", min=1, help="Judge the first N samples only.")] = None,
    quiet: Quiet = False,
    concurrency: Annotated[int, Option(metavar="N", min=1, max=4096, help=_CONCURRENCY)] = 32,
    repeats: Annotated[
        int, Option(metavar="N", min=1, max=100, help="Independent replies of each model to each sample.")
    ] = 1,
    max_reasks: Annotated[
        int, Option(metavar="N", min=0, max=10, help="Ask again so often after an invalid reply.")
    ] = 1,
    max_calls: MaxCalls = None,
    max_cost: MaxCost = None,
    no_cache: Annotated[bool, Option("--no-cache", help="Ask again even where the workspace has the reply.")] = False,
    patience: Patience = None,
    timeout: Annotated[
        float | None, Option(metavar="SECONDS", min=0.1, help="For one whole call. Default: 120, or the judge's own.")
    ] = None,
    dry_run: Annotated[
        bool, Option("--dry-run", help="Print the calls, tokens and cost to be expected; send nothing.")
    ] = False,
    log_json: Annotated[bool, Option("--log-json", help="Progress and notices on stderr as JSON lines.")] = False,
    rubric: Annotated[
        Path | None,
        Option(metavar="DIR|FILE", help="Task rubrics in Markdown: one for all samples, or DIR/TASK_NAME.md each."),
    ] = None,
    parameters: Annotated[
        list[str] | None,
        Option(
            "--parameter",
            metavar="KEY=VALUE",
            help="Replace a parameter of the protocol, e.g. evidence.policy=present.",
        ),
    ] = None,
    retry_refused: Annotated[
        bool, Option("--retry-refused", help="Ask again what the judge refused when this run was judged before.")
    ] = False,
    retry_invalid: Annotated[
        bool, Option("--retry-invalid", help="Ask again where all replies of this run were invalid; none is lost.")
    ] = False,
    keep_going: Annotated[bool, Option("--keep-going", help=_KEEP_GOING)] = False,
    bundles: Annotated[
        bool,
        Option("--bundles", help="A recorded reply may be about many samples: take it apart by the names in it."),
    ] = False,
    planned: Annotated[str | None, Option("--plan", metavar="FILE", help=_PLAN)] = None,
    pairs: Annotated[str | None, Option(metavar="all|baseline:MODEL|N", help=_PAIRS)] = None,
    seed: Annotated[int, Option(metavar="N", help="Of the pairs that are drawn: the same seed, the same pairs.")] = 0,
    budget: Annotated[int | None, Option(min=1, metavar="N", help=_BUDGET)] = None,
    top: Annotated[
        int, Option(min=0, metavar="K", help="--budget is to tell who belongs to the first K; 0: the whole order.")
    ] = 3,
    allow_outside_files: Annotated[
        bool,
        Option(
            "--allow-outside-files", help="Let `response_path` and `rubric_path` lead out of the directory of DATA."
        ),
    ] = False,
    junit: JUnitOption = None,
    github_summary: GithubSummaryOption = False,
    summary_file: SummaryFileOption = None,
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
    """
    from mixseek.analysis.compare import find_baseline
    from mixseek.analysis.gates import Gates
    from mixseek.cli.judging import JobPart, JudgeOrder, run_judge
    from mixseek.runs.request import ClusterOptions, JudgeRequest, LiveOptions, PairBudget
    from mixseek.settings.load import load_settings

    if panel is not None and cascade:
        raise BadParameter("a cascade gives one verdict a sample already; choose one of both", param_hint="'--panel'")
    held = [one for one in on or [] if one != "ray"]
    if len(held) > 1:
        raise BadParameter("is it `point` or `lower`?", param_hint="'--on'")
    has_cluster = on is not None and "ray" in on
    if not has_cluster and (address is not None or shards is not None):
        raise BadParameter("only means something with --on ray", param_hint="'--address' / '--shards'")
    # The command line wins over the environment, the environment over mixseek.toml.
    settings = load_settings()
    # Of `mixseek run`, which carries this command out; None on a command line.
    job: JobPart | None = context.obj
    gates = Gates(fail_under, max_invalid, max_undecided, max_unverified)
    request = JudgeRequest(
        data=data,
        workspace=workspace or settings.workspace,
        protocol=protocol or settings.judge.protocol,
        language=language or settings.judge.language,
        judges=tuple(judges or settings.judge.judges),
        cascade=settings.judge.cascade and panel is None if cascade is None else cascade,
        panel=panel,
        run=run,
        mapping=parse_mapping(mapping or []),
        limit=limit,
        workers=settings.judge.workers if workers is None else workers,
        longest_line=settings.judge.longest_line,
        gates=gates.limits() | ({} if max_drop is None else {"max_drop": max_drop}),
        command_line=("mixseek", *sys.argv[1:]),
        live=LiveOptions(
            concurrency=concurrency,
            max_reasks=max_reasks,
            repeats=repeats,
            max_calls=max_calls,
            max_cost_usd=max_cost,
            use_cache=not no_cache,
            patience_seconds=patience,
            timeout_seconds=timeout,
            retry_refused=retry_refused,
            retry_invalid=retry_invalid,
            keep_going=keep_going,
        ),
        cluster=ClusterOptions(address, shards) if has_cluster else None,
        configured=settings.judges if job is None else {**settings.judges, **job.judges},
        parameters=parse_parameters(parameters or []),
        rubric=rubric,
        bundles=bundles,
        planned=planned,
        pairs=pairs,
        seed=seed,
        budget=PairBudget(budget, top or None) if budget is not None else None,
        allows_outside_files=allow_outside_files,
        required_cards=tuple(require_card or ()),
        card_max_age=None if card_max_age is None else timedelta(days=card_max_age),
        environment=os.environ,
    )
    gate = read_drop_gate(max_drop, held[0] if held else None, baseline)
    against = find_baseline(request, baseline, gate) if baseline is not None else None
    ci = ci_targets(junit, summary_file, github_summary=github_summary)
    order = JudgeOrder(request, gates, against, ci, as_json=as_json, quiet=quiet, log_json=log_json, is_dry_run=dry_run)
    return run_judge(order, job)


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
    from mixseek.cli.demonstration import print_demo
    from mixseek.setup.demo import run_demo

    return print_demo(run_demo(workspace), as_json=as_json)


# `mixseek import`: a log of another tool as samples of our own.

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

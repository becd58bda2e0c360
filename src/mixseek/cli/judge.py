"""`mixseek judge`: a dataset before its judges."""

from pathlib import Path
from typing import Annotated

import typer

from mixseek.cli.console import ExitCode
from mixseek.cli.options import JsonOption, WorkspaceOption, parse_mapping, parse_parameters, parse_share

Data = Annotated[str, typer.Argument(metavar="DATA", help="JSONL, CSV or Parquet; `-` reads JSONL from stdin.")]
ProtocolName = Annotated[
    str | None,
    typer.Option(
        "--protocol", metavar="NAME|FILE", help="What is asked: a built-in, or a .toml file. Default: semantic."
    ),
]
Parameters = Annotated[
    list[str] | None,
    typer.Option(
        "--parameter", metavar="KEY=VALUE", help="Replace a parameter of the protocol, e.g. evidence.policy=present."
    ),
]
Rubric = Annotated[
    Path | None,
    typer.Option(
        "--rubric", metavar="DIR|FILE", help="Task rubrics in Markdown: one for all samples, or DIR/TASK_NAME.md each."
    ),
]
JudgeSpecs = Annotated[
    list[str] | None,
    typer.Option(
        "--judge",
        metavar="SPEC",
        help="rules, provider:model, provider:model@base_url, a name in mixseek.toml, replay:FILE or replay; "
        "repeat for more. Default: rules.",
    ),
]
Cascade = Annotated[
    bool | None,
    typer.Option(
        "--cascade/--panel",
        help="Ask the next judge only where no judge before it gave a valid judgment / each judges all (default).",
        show_default=False,
    ),
]
RunName = Annotated[
    str | None, typer.Option("--run", metavar="NAME", help="Name of the run. Default: the same for the same request.")
]
Mapping = Annotated[
    list[str] | None,
    typer.Option("--map", metavar="FIELD=COLUMN", help="Where a field stands in DATA, e.g. response=output."),
]
Language = Annotated[
    str | None,
    typer.Option("--language", metavar="en|ja|zh", help="Language of the prompt. Default: the protocol's own."),
]
FailUnder = Annotated[
    float | None,
    typer.Option(metavar="SHARE", parser=parse_share, help="Exit 1 when the mean score is lower, e.g. 0.8 or 80%."),
]
MaxInvalid = Annotated[
    float | None, typer.Option(metavar="SHARE", parser=parse_share, help="Exit 1 when more are invalid or missing.")
]
MaxUndecided = Annotated[
    float | None, typer.Option(metavar="SHARE", parser=parse_share, help="Exit 1 when more are undecided.")
]
MaxUnverified = Annotated[
    float | None,
    typer.Option(
        metavar="SHARE",
        parser=parse_share,
        help="Exit 1 when more of the valid ones call an answer correct that is not in the response.",
    ),
]
Workers = Annotated[
    int | None, typer.Option(metavar="N", min=0, max=256, help="Processes for `rules`. Default: all cores if it pays.")
]
Limit = Annotated[int | None, typer.Option(metavar="N", min=1, help="Judge the first N samples only.")]
Concurrency = Annotated[
    int | None,
    typer.Option(
        metavar="N", min=1, max=4096, help="Calls at once to an endpoint, at most; fewer while it is busy. Default: 32."
    ),
]
Repeats = Annotated[
    int | None,
    typer.Option(metavar="N", min=1, max=100, help="Independent replies of each model to each sample. Default: 1."),
]
MaxReasks = Annotated[
    int | None,
    typer.Option(metavar="N", min=0, max=10, help="Ask again so often after an invalid reply. Default: 1."),
]
MaxCalls = Annotated[
    int | None, typer.Option(metavar="N", min=1, help="Stop after so many requests of this command; resumable.")
]
MaxCost = Annotated[
    float | None, typer.Option(metavar="USD", min=0.0, help="Stop before this command has spent more; resumable.")
]
NoCache = Annotated[bool, typer.Option("--no-cache", help="Ask again even where the workspace has the reply.")]
Patience = Annotated[
    float | None,
    typer.Option(metavar="SECONDS", min=1.0, help="Wait so long for an endpoint that is down. Default: 600."),
]
Timeout = Annotated[
    float | None, typer.Option(metavar="SECONDS", min=0.1, help="For one whole call. Default: 120, or the judge's own.")
]
Planned = Annotated[
    str | None,
    typer.Option(
        "--plan",
        metavar="FILE",
        help="What was to be judged, CSV or JSONL: question_id, prompt_variant, target_model[, output_id]. "
        "Holes are flagged INCOMPLETE_COVERAGE.",
    ),
]
Bundles = Annotated[
    bool,
    typer.Option("--bundles", help="A recorded reply may be about many samples: take it apart by the names in it."),
]
OutsideFiles = Annotated[
    bool,
    typer.Option(
        "--allow-outside-files", help="Let `response_path` and `rubric_path` lead out of the directory of DATA."
    ),
]
RetryRefused = Annotated[
    bool, typer.Option("--retry-refused", help="Ask again what the judge refused when this run was judged before.")
]
RetryInvalid = Annotated[
    bool, typer.Option("--retry-invalid", help="Ask again where all replies of this run were invalid; none is lost.")
]
KeepGoing = Annotated[
    bool,
    typer.Option(
        "--keep-going",
        help="Do not stop where a judge refuses everything, or gives nothing valid in its first 50 replies.",
    ),
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Print the calls, tokens and cost to be expected; send nothing.")
]
LogJson = Annotated[bool, typer.Option("--log-json", help="Progress and notices on stderr as JSON lines.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress on stderr.")]


def judge(
    data: Data,
    protocol: ProtocolName = None,
    judges: JudgeSpecs = None,
    cascade: Cascade = None,
    workspace: WorkspaceOption = None,
    run: RunName = None,
    mapping: Mapping = None,
    language: Language = None,
    fail_under: FailUnder = None,
    max_invalid: MaxInvalid = None,
    max_undecided: MaxUndecided = None,
    max_unverified: MaxUnverified = None,
    as_json: JsonOption = False,
    workers: Workers = None,
    limit: Limit = None,
    quiet: Quiet = False,
    concurrency: Concurrency = None,
    repeats: Repeats = None,
    max_reasks: MaxReasks = None,
    max_calls: MaxCalls = None,
    max_cost: MaxCost = None,
    no_cache: NoCache = False,
    patience: Patience = None,
    timeout: Timeout = None,
    dry_run: DryRun = False,
    log_json: LogJson = False,
    rubric: Rubric = None,
    parameters: Parameters = None,
    retry_refused: RetryRefused = False,
    retry_invalid: RetryInvalid = False,
    keep_going: KeepGoing = False,
    bundles: Bundles = False,
    planned: Planned = None,
    allow_outside_files: OutsideFiles = False,
) -> ExitCode:
    """Judge every sample of a dataset.

    Interrupted? Run the same command again: it resumes, and asks nothing twice.

    A sample has `id` and `response`, or `response_path` to a .txt, .md, .json or .pdf file beside DATA. The semantic
    protocol needs `ground_truth`; rubric a rubric (--rubric, or a column `rubric` or `rubric_path`); cross
    `question_id`, `prompt_variant`, `target_model` and `output_id`: a row without them is flagged INCOMPLETE_COVERAGE.

    \b
    Examples:
      mixseek judge answers.jsonl --protocol semantic --judge rules
      mixseek judge answers.csv --map response=output --map ground_truth=target --fail-under 80%
      mixseek judge answers.jsonl --cascade --judge rules --judge replay:replies.jsonl --json
      mixseek judge answers.jsonl --cascade --judge rules --judge openai:gpt-5-mini --max-cost 2
      mixseek judge essays.csv --protocol rubric --rubric tasks/ --judge anthropic:claude-x
      mixseek judge outputs.jsonl --protocol cross --judge replay:replies.jsonl
    """
    from mixseek.cli.judging import JudgeArguments, LiveArguments, Output, run_judge
    from mixseek.composition.summary import Gates

    again = (retry_refused, retry_invalid, keep_going)
    live = LiveArguments(concurrency, repeats, max_reasks, max_calls, max_cost, no_cache, patience, timeout, *again)
    arguments = JudgeArguments(
        data,
        protocol,
        judges,
        cascade,
        workspace,
        run,
        parse_mapping(mapping or []),
        language,
        workers,
        limit,
        live,
        parse_parameters(parameters or []),
        rubric,
        bundles,
        planned,
        allow_outside_files,
    )
    gates = Gates(fail_under, max_invalid, max_undecided, max_unverified)
    return run_judge(arguments, gates, Output(as_json, quiet, log_json, dry_run))

"""`mixseek evaluate`: what the evaluator of a race makes of submissions, without a race."""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from typer import Argument, BadParameter, Option

from mixseek.cli.compete import live_options, parse_points
from mixseek.cli.console import ExitCode, notify_plainly, print_answer
from mixseek.cli.options import (
    Concurrency,
    JsonOption,
    MaxCalls,
    MaxCost,
    Patience,
    Quiet,
    WorkspaceOption,
    parse_mapping,
)
from mixseek.cli.stopping import stopping_on_signals

if TYPE_CHECKING:
    from mixseek.competition.evaluation import SubmissionText
    from mixseek.reports.evaluation import Evaluation

_STDIN = "-"
_TABLES = (".jsonl", ".ndjson", ".csv", ".tsv", ".parquet", ".jsonl.gz", ".ndjson.gz", ".csv.gz", ".tsv.gz")
_SUBMISSIONS = "Files: a text each, or tables (.jsonl, .csv, .parquet) with a row for each; `-` is stdin."


def evaluate(
    submissions: Annotated[list[str] | None, Argument(metavar="[SUBMISSION]...", help=_SUBMISSIONS)] = None,
    query: Annotated[str | None, Option(metavar="TEXT", help="What was asked. Default: each row's `question`.")] = None,
    query_file: Annotated[Path | None, Option(metavar="FILE", help="What was asked, as a file.")] = None,
    text: Annotated[
        list[str] | None, Option("--text", metavar="TEXT", help="A submission itself; repeat for more.")
    ] = None,
    judge: Annotated[
        str | None, Option(metavar="SPEC", help="The judge of all metrics that name none: openai:gpt-5-mini.")
    ] = None,
    evaluator: Annotated[
        Path | None,
        Option(
            metavar="FILE",
            help="A TOML file with [evaluator] as in a race, or a race. Default: ClarityCoherence, Coverage and "
            "Relevance with equal weights.",
        ),
    ] = None,
    mapping: Annotated[
        list[str] | None,
        Option("--map", metavar="FIELD=COLUMN", help="Where a field stands in a table: response=output."),
    ] = None,
    language: Annotated[
        Literal["en", "ja", "zh"] | None, Option(metavar="LANGUAGE", help="Of the prompts: en, ja or zh.")
    ] = None,
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
    quiet: Quiet = False,
    concurrency: Concurrency = 32,
    max_calls: MaxCalls = None,
    max_cost: MaxCost = None,
    no_cache: Annotated[bool, Option("--no-cache", help="Do not look for replies in the workspace's cache.")] = False,
    patience: Patience = None,
    retry_invalid: Annotated[
        bool, Option("--retry-invalid", help="Ask again for metric replies that cannot be used.")
    ] = False,
    fail_under: Annotated[
        float | None,
        Option(metavar="POINTS", parser=parse_points, help="Exit 1 if a submission scores lower: 80 or 80%."),
    ] = None,
) -> ExitCode:
    """Score submissions with the metrics of a race, without a race.

    Every metric gives 0..100; the overall score is their weighted mean, and there is none where a metric is missing.
    Replies are journaled: the same command asks only for what is missing.

    \b
    Examples:
      mixseek evaluate answer.md --query "What is a quorum?" --judge openai:gpt-5-mini --language en
      mixseek evaluate answers.jsonl --map response=output --judge vllm --json
      mixseek evaluate a.md b.md --evaluator race.toml --fail-under 70
      echo "A quorum is …" | mixseek evaluate - --query "What is a quorum?" --judge vllm
    """
    from mixseek.competition.evaluation import EvaluateRequest, run_evaluation
    from mixseek.reports.evaluation import evaluation_document
    from mixseek.reports.render.terminal import print_shown
    from mixseek.settings.load import load_settings
    from mixseek.settings.race import read_text

    if query is not None and query_file is not None:
        raise BadParameter("give the query as --query or as --query-file, not both", param_hint="'--query-file'")
    settings = load_settings()
    root = workspace or settings.workspace
    request = EvaluateRequest(
        submissions=gather(
            submissions or [], text or [], parse_mapping(mapping or []), root, settings.judge.longest_line
        ),
        workspace=root,
        user_query=query if query_file is None else read_text(query_file, "--query-file"),
        evaluator=evaluator,
        judge=judge,
        language=language,
        live=live_options(concurrency, max_calls, max_cost, patience, use_cache=not no_cache, retry=retry_invalid),
        configured=settings.judges,
        environment=os.environ,
        longest_line=settings.judge.longest_line,
    )
    with stopping_on_signals() as stop:
        evaluation = run_evaluation(request, stop, (lambda _: None) if quiet else notify_plainly)
    document = evaluation_document(evaluation)
    print_answer(document, lambda console: print_shown(evaluation, console), as_json=as_json)
    return ExitCode.INTERRUPTED if stop() else decide_exit(evaluation, fail_under)


def gather(
    paths: list[str], texts: list[str], mapping: dict[str, str], workspace: Path, longest_line: int
) -> "list[SubmissionText]":
    """In the order of the command line, texts that stand on it last; raises ConfigurationError for what is none."""
    from mixseek.competition.evaluation import SubmissionText, read_submissions
    from mixseek.settings.race import read_text

    found: list[SubmissionText] = []
    for path in paths:
        if mapping or path.lower().endswith(_TABLES):
            found += read_submissions(path, mapping, workspace, longest_line)
        elif path == _STDIN:
            found.append(SubmissionText("stdin", sys.stdin.buffer.read().decode("utf-8", "replace")))
        else:
            found.append(SubmissionText(path, read_text(Path(path), "submission")))
    found += [SubmissionText(f"text-{number}", one) for number, one in enumerate(texts, 1)]
    if not found:
        raise BadParameter("name a file, `-` for stdin, or --text TEXT", param_hint="'[SUBMISSION]...'")
    return found


def decide_exit(evaluation: "Evaluation", fail_under: float | None) -> ExitCode:
    """Missing scores first: a gate says nothing about what is not known yet."""
    known = [score for score in evaluation.scores if score is not None]
    if evaluation.reason is not None:
        notify_plainly(f"stopped: {evaluation.reason}")
    if evaluation.is_open:
        notify_plainly(
            f"{len(evaluation) - len(known)} without a score; run the same command again to ask for the rest"
        )
        return ExitCode.INCOMPLETE
    low = [score for score in known if fail_under is not None and score < fail_under]
    if low:
        notify_plainly(f"gate --fail-under not met: {len(low)} of {len(known)} scored lower, the lowest {min(low):.2f}")
    return ExitCode.GATE_NOT_MET if low or not known else ExitCode.OK

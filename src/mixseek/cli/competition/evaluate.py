"""`mixseek evaluate`: what the evaluator of a race makes of submissions, without a race."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Unpack

from typer import Argument, BadParameter

from mixseek.cli.parsing.options import with_options
from mixseek.cli.terminal.console import ExitCode, notify_plainly, print_answer
from mixseek.cli.terminal.stopping import stopping_on_signals
from mixseek.settings.options import EvaluateCommand

if TYPE_CHECKING:
    from mixseek.competition.evaluation import SubmissionText
    from mixseek.competition.views.evaluation import Evaluation

_STDIN = "-"
_TABLES = (".jsonl", ".ndjson", ".csv", ".tsv", ".parquet", ".jsonl.gz", ".ndjson.gz", ".csv.gz", ".tsv.gz")
_SUBMISSIONS = "Files: a text each, or tables (.jsonl, .csv, .parquet) with a row for each; `-` is stdin."


@with_options(EvaluateCommand)
def evaluate(
    submissions: Annotated[list[str] | None, Argument(metavar="[SUBMISSION]...", help=_SUBMISSIONS)] = None,
    **options: Unpack[EvaluateCommand],
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
    from mixseek.competition.views.evaluation import evaluation_document
    from mixseek.presentation.sections import sections_of
    from mixseek.runs.requests.given_options import live_options
    from mixseek.settings.load import load_settings
    from mixseek.settings.race import read_text

    query_file, evaluator = options.get("query_file"), options.get("evaluator")
    if "query" in options and query_file is not None:
        raise BadParameter("give the query as --query or as --query-file, not both", param_hint="'--query-file'")
    settings = load_settings()
    root = Path(options.get("workspace") or settings.workspace)
    request = EvaluateRequest(
        submissions=gather(
            submissions or [], options.get("text", []), options.get("mapping", {}), root, settings.judge.longest_line
        ),
        workspace=root,
        user_query=options.get("query") if query_file is None else read_text(query_file, "--query-file"),
        evaluator=Path(evaluator) if isinstance(evaluator, str) else evaluator,
        judge=options.get("judge"),
        language=options.get("language"),
        live=live_options(options),
        configured=settings.judges,
        environment=os.environ,
        longest_line=settings.judge.longest_line,
    )
    with stopping_on_signals() as stop:
        evaluation = run_evaluation(request, stop, (lambda _: None) if options.get("quiet") else notify_plainly)
    document = evaluation_document(evaluation)
    as_json = options.get("as_json", False)
    print_answer(document, lambda: sections_of(evaluation), as_json=as_json)
    return ExitCode.INTERRUPTED if stop() else decide_exit(evaluation, options.get("fail_under"))


def gather(
    paths: list[str], texts: list[str], mapping: Mapping[str, str], workspace: Path, longest_line: int
) -> "list[SubmissionText]":
    """Submissions in the order of the command line, texts that stand on it last.

    Raises ConfigurationError for what is none.
    """
    from mixseek.competition.evaluation import SubmissionText, read_submissions
    from mixseek.settings.race import read_text

    submissions: list[SubmissionText] = []
    for path in paths:
        if mapping or path.lower().endswith(_TABLES):
            submissions += read_submissions(path, mapping, workspace, longest_line)
        elif path == _STDIN:
            submissions.append(SubmissionText("stdin", sys.stdin.buffer.read().decode("utf-8", "replace")))
        else:
            submissions.append(SubmissionText(path, read_text(Path(path), "submission")))
    submissions += [SubmissionText(f"text-{number}", text) for number, text in enumerate(texts, 1)]
    if not submissions:
        raise BadParameter("name a file, `-` for stdin, or --text TEXT", param_hint="'[SUBMISSION]...'")
    return submissions


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

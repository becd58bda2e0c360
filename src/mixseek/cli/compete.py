"""`mixseek compete`, `mixseek evaluate` and `mixseek leaderboard`: teams before one task, and who is ahead."""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from typer import Argument, BadParameter, Option, launch

from mixseek.cli.console import ExitCode, notify_plainly, print_answer, stopping_on_signals
from mixseek.cli.options import (
    Concurrency,
    JsonOption,
    MaxCalls,
    MaxCost,
    Patience,
    Quiet,
    WorkspaceOption,
    parse_mapping,
    share_option,
    workspace_path,
)

if TYPE_CHECKING:
    from mixseek.composition.compete import SubmissionText
    from mixseek.composition.judging.request import LiveOptions
    from mixseek.reporting.evaluation import Evaluation


def parse_points(given: str | float) -> float:
    """80 and 80% are the same points of 100; 0.8 could be meant either way."""
    text = str(given)
    try:
        points = float(text.removesuffix("%"))
    except ValueError:
        raise BadParameter(f"{text!r} is not a number of points; write 80 or 80%") from None
    # Written so that NaN is refused too.
    if not 0 <= points <= 100:
        raise BadParameter(f"{text!r} is outside 0..100, the scale of scores; write 80 or 80%")
    if 0 < points <= 1 and not text.endswith("%"):
        raise BadParameter(f"{text!r} could be points or a share; write {points * 100:g} or {points:g}%")
    return points


def live_options(
    concurrency: int,
    max_calls: int | None,
    max_cost: float | None,
    patience: float | None,
    *,
    use_cache: bool,
    retry: bool,
) -> "LiveOptions":
    """How metrics are asked, as far as a competition's commands say."""
    from mixseek.composition.judging.request import LiveOptions

    return LiveOptions(
        concurrency=concurrency,
        max_calls=max_calls,
        max_cost_usd=max_cost,
        use_cache=use_cache,
        patience_seconds=patience,
        retry_invalid=retry,
    )


def compete(
    race: Annotated[Path, Argument(metavar="RACE", help="A race.toml: task, teams, evaluator, rounds.")],
    workspace: WorkspaceOption = None,
    execution: Annotated[
        str | None, Option(metavar="NAME", help="Name of the execution. Default: the same for the same race.")
    ] = None,
    dry_run: Annotated[
        bool, Option("--dry-run", help="Check the whole race and print the calls to be expected; send nothing.")
    ] = False,
    as_json: JsonOption = False,
    quiet: Quiet = False,
    concurrency: Concurrency = 32,
    max_calls: MaxCalls = None,
    max_cost: MaxCost = None,
    no_cache: Annotated[
        bool, Option("--no-cache", help="Evaluate again even what the workspace has a reply for.")
    ] = False,
    patience: Patience = None,
    retry_invalid: Annotated[
        bool, Option("--retry-invalid", help="Ask again for metric replies that cannot be used; nobody plays again.")
    ] = False,
    fail_under: Annotated[
        float | None,
        Option(metavar="POINTS", parser=parse_points, help="Exit 1 if the best score is lower: 80 or 80%."),
    ] = None,
    max_invalid: Annotated[float | None, share_option("Exit 1 if more metric replies cannot be used.")] = None,
) -> ExitCode:
    """Let teams compete on one task, and show the leader board.

    Interrupted? Run the same command again: it goes on with the round that each team had reached.

    \b
    Examples:
      mixseek compete race.toml --dry-run
      mixseek compete race.toml --max-cost 2
      mixseek compete race.toml --execution tuesday --json
      mixseek compete race.toml --retry-invalid              ask again for metric replies that cannot be used
      mixseek compete race.toml --fail-under 80 --max-invalid 5%
    """
    from mixseek.cli.competing import run_compete
    from mixseek.composition.race import CompeteRequest
    from mixseek.settings.load import load_settings

    # The command line wins over the settings.
    settings = load_settings()
    request = CompeteRequest(
        race=race,
        workspace=workspace or settings.workspace,
        execution=execution,
        live=live_options(concurrency, max_calls, max_cost, patience, use_cache=not no_cache, retry=retry_invalid),
        configured=settings.judges,
        environment=os.environ,
        longest_line=settings.judge.longest_line,
    )
    return run_compete(request, (fail_under, max_invalid), as_json=as_json, quiet=quiet, is_dry_run=dry_run)


# `mixseek evaluate`: what the evaluator of a race makes of submissions, without a race.

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
    from mixseek.composition.compete import EvaluateRequest, run_evaluation
    from mixseek.reporting.evaluation import evaluation_document, print_evaluation
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
    print_answer(document, lambda console: print_evaluation(evaluation, console), as_json=as_json)
    return ExitCode.INTERRUPTED if stop() else decide_exit(evaluation, fail_under)


def gather(
    paths: list[str], texts: list[str], mapping: dict[str, str], workspace: Path, longest_line: int
) -> "list[SubmissionText]":
    """In the order of the command line, texts that stand on it last; raises ConfigurationError for what is none."""
    from mixseek.composition.compete import SubmissionText, read_submissions
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


# `mixseek leaderboard`: how teams of a competition stand, or systems that were compared two by two.

_TABLE = "Of a table: "


def leaderboard(
    name: Annotated[
        str | None,
        Argument(
            metavar="EXECUTION|RUN|TABLE",
            help="A competition or a run, by its name or the beginning of it, or a file of votes or scores. "
            "Default: the latest competition.",
        ),
    ] = None,
    html: Annotated[
        Path | None, Option(metavar="FILE", help="Write the page: curves and submissions, or strengths and wins.")
    ] = None,
    open_page: Annotated[bool, Option("--open", help="Open the page in the browser; needs --html.")] = False,
    system: Annotated[
        str | None, Option(metavar="EXPR", help=f"{_TABLE}who wrote the scored text; two of a question are compared.")
    ] = None,
    system_a: Annotated[
        str | None, Option("--system-a", metavar="EXPR", help=f"{_TABLE}who wrote response A of a vote.")
    ] = None,
    system_b: Annotated[str | None, Option("--system-b", metavar="EXPR", help="Who wrote response B.")] = None,
    shown: Annotated[
        str | None, Option(metavar="EXPR", help="Which response of a vote was shown first: AB or BA.")
    ] = None,
    item: Annotated[str | None, Option(metavar="EXPR", help=f"{_TABLE}what is rated, a text or a pair.")] = None,
    judge: Annotated[
        str | None,
        Option(metavar="EXPR|NAME", help=f"{_TABLE}who rates. Of a run: only this judge. Default: all as a panel."),
    ] = None,
    score: Annotated[
        str | None, Option(metavar="EXPR", help=f"{_TABLE}a score, or a vote: A>B, B>A, A=B, or how far A is ahead.")
    ] = None,
    question: Annotated[str | None, Option(metavar="EXPR", help=f"{_TABLE}what both answered.")] = None,
    where: Annotated[str | None, Option(metavar="EXPR", help=f"{_TABLE}only rows of which this is true.")] = None,
    human: Annotated[
        str | None, Option(metavar="NAME", help="The judge whose board stands beside that of the others.")
    ] = None,
    length: Annotated[
        str | None, Option(metavar="EXPR", help=f"{_TABLE}length of the scored text; of a vote, A's divided by B's.")
    ] = None,
    min_questions: Annotated[int, Option(min=1, help="Leave out systems with fewer questions.")] = 1,
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> ExitCode:
    """Show how the teams of a competition stand, also while they play; or systems that were compared two by two.

    Systems are ranked by Bradley and Terry's strengths, with intervals over questions and the ranks that are possible.

    \b
    Examples:
      mixseek leaderboard
      mixseek leaderboard haiku --html haiku.html --open
      mixseek leaderboard arena --json > arena.json
      mixseek leaderboard votes.csv --system-a model_a --system-b model_b --score winner
      mixseek leaderboard scores.jsonl --where "judge = 'expert'"
    """
    if open_page and html is None:
        raise BadParameter("needs --html FILE to have something to open", param_hint="'--open'")
    from mixseek.analysis.ratings import RatingColumns
    from mixseek.composition.results.asked_boards import BoardRequest, load_any_board, write_board
    from mixseek.reporting.boards import SystemBoard, board_document, print_board
    from mixseek.reporting.leaderboard import leader_board_document
    from mixseek.reporting.race_terminal import print_leader_board
    from mixseek.settings.load import load_settings

    columns = RatingColumns(
        *(item, judge, score, question, system, where), length=length, system_a=system_a, system_b=system_b, shown=shown
    )
    longest = load_settings().judge.longest_line
    board = load_any_board(BoardRequest(name, workspace_path(workspace), columns, human, min_questions, longest))
    if html is not None:
        write_board(board, html)
    if isinstance(board, SystemBoard):
        print_answer(board_document(board), lambda console: print_board(board, console, html), as_json=as_json)
    else:
        document = leader_board_document(board)
        print_answer(document, lambda console: print_leader_board(board, console, html), as_json=as_json)
    if open_page and html is not None:
        launch(html.resolve().as_uri())
    return ExitCode.OK

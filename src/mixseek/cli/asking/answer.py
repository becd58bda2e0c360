"""`mixseek answer`: questions before the models that are to answer them."""

import os
import sys
from typing import Annotated, Unpack

from typer import Argument, Context

from mixseek.cli.parsing.options import refuse_place, with_options
from mixseek.cli.terminal.console import ExitCode
from mixseek.settings.options import AnswerCommand

_DATA = (
    "Questions: JSONL, CSV or Parquet, a file, a folder, a glob in quotes, or the log of another tool; `-` reads JSONL "
    "from stdin."
)


@with_options(AnswerCommand)
def answer(
    context: Context,
    data: Annotated[str, Argument(metavar="DATA", help=_DATA)],
    **options: Unpack[AnswerCommand],
) -> ExitCode:
    """Ask models for answers: questions × targets × variants × repeats.

    Interrupted? Run the same command again: it resumes, and asks nothing twice. With one more target or variant it
    asks only for what is new.

    A question has `question` (or `prompt`, `instruction`, `input`), and may have `id`, `ground_truth`, `system`,
    `rubric`, `task_name` and any other column for templates; or `messages`, whose assistant turns with `content` null
    are filled one after the other. What has no answer stays a row, with its reason.

    \b
    Examples:
      mixseek answer questions.jsonl --target openai:gpt-5-mini --run spring
      mixseek answer questions.csv --map question=text --target vllm --target anthropic:claude-x --repeats 3
      mixseek answer questions.jsonl --target vllm --variant A=prompts/a.md --variant B=prompts/b.md --run spring
      mixseek answer questions.jsonl --target vllm --max-cost 2 --retry-cut-off
      mixseek answer questions.jsonl --target vllm --dry-run
      mixseek judge answers:spring --protocol cross --judge anthropic:claude-x
      mixseek export answers:spring --to answers.jsonl
    """
    from mixseek.cli.asking.answering import AnswerOrder, AnswersPart, run_answers
    from mixseek.runs.answers.given import make_answer_request
    from mixseek.settings.load import load_settings

    refuse_place(options.get("on"), has_place="address" in options or "shards" in options)
    settings = load_settings()
    # Of `mixseek run`, which carries this command out; None on a command line.
    part: AnswersPart | None = context.obj
    request = make_answer_request(
        data,
        {**options, **({} if part is None else {"variants": part.variants})},
        settings,
        configured=settings.judges if part is None else {**settings.judges, **part.judges},
        workspace=options.get("workspace", settings.workspace),
        command_line=("mixseek", *sys.argv[1:]),
        environment=os.environ,
    )
    return run_answers(
        AnswerOrder(
            request,
            as_json=options.get("as_json", False),
            quiet=options.get("quiet", False),
            log_json=options.get("log_json", False),
            is_dry_run=options.get("dry_run", False),
        )
    )

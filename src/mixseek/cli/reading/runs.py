"""`mixseek runs`: what a workspace holds, and removing, renaming and sweeping it."""

import os
from collections.abc import Iterator
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Context, Option

from mixseek.cli.parsing.options import JsonOption, WorkspaceOption, workspace_path
from mixseek.cli.terminal.console import ExitCode, print_answer, print_notice
from mixseek.domain.documents import DocumentName, with_schema

if TYPE_CHECKING:
    from mixseek.competition.views.board import CompetitionLine
    from mixseek.presentation.sections import Section
    from mixseek.runs.answers.listed import AnswerLine


class Kind(StrEnum):
    """What can be called by a name."""

    RUN = "run"
    ANSWERS = "answers"
    COMPETITION = "competition"


KindOption = Annotated[
    Kind | None,
    Option(metavar="KIND", help="run, answers or competition, where several have that name.", show_default=False),
]


CostOption = Annotated[
    bool, Option("--cost", help="What calls cost instead, by month, judge and run, with what was saved.")
]


def runs(
    context: Context, cost: CostOption = False, workspace: WorkspaceOption = None, as_json: JsonOption = False
) -> ExitCode | None:
    """List the runs, answers and competitions of a workspace, newest first.

    \b
    Examples:
      mixseek runs
      mixseek runs --workspace ws --json
      mixseek runs --cost
      mixseek runs mv answers-semantic-1f3c9a2b march
      mixseek runs rm march april
      mixseek runs gc --dry-run
    """
    if context.invoked_subcommand is not None:
        return None
    if cost:
        return print_spending(workspace_path(workspace), as_json=as_json)
    from mixseek.analysis.workspace.run_list import list_runs
    from mixseek.reports.workspace.run_list import run_list_sections, runs_document

    lines, problems = list_runs(workspace_path(workspace))
    competitions = find_competitions(workspace_path(workspace))
    for problem in problems:
        print_notice(f"mixseek: {problem}")
    document = runs_document(lines)
    document["runs"] = [{"kind": "run", **run} for run in document["runs"]]
    document["competitions"] = [line.to_document() for line in competitions]
    answers = find_answer_lines(workspace_path(workspace))
    document["answers"] = [{"kind": "answers", **asdict(line)} for line in answers]

    def all_lists() -> "Iterator[Section]":
        if lines or not (competitions or answers):
            yield from run_list_sections(lines)
        if answers:
            from mixseek.reports.workspace.answer_list import answer_list_sections

            yield from answer_list_sections(answers)
        if competitions:
            from mixseek.competition.views.sections import competition_list_sections

            yield from competition_list_sections(competitions)

    return print_answer(document, all_lists, as_json=as_json)


def print_spending(workspace: Path, *, as_json: bool) -> ExitCode:
    """Read from the journals, which alone know when a reply came."""
    from mixseek.analysis.workspace.spending import read_spent
    from mixseek.reports.workspace.spending import spending_document, spending_sections

    rows, problems = read_spent(workspace)
    for problem in problems:
        print_notice(f"mixseek: {problem}")
    return print_answer(spending_document(rows), lambda: spending_sections(rows), as_json=as_json)


def find_answer_lines(workspace: Path) -> "list[AnswerLine]":
    """The ones asked for last come first; where nobody ever asked, what reads them is not loaded."""
    from mixseek.storage.workspace import ANSWERS

    if not (workspace / ANSWERS).is_dir():
        return []
    from mixseek.runs.answers.listed import list_answers

    return list_answers(workspace)


def find_competitions(workspace: Path) -> "tuple[CompetitionLine, ...]":
    """The one started last comes first. Their store is DuckDB's: where nobody ever competed, that is not loaded."""
    from mixseek.storage.workspace import Workspace

    if not os.path.lexists(Workspace(workspace).competitions):
        return ()
    from mixseek.competition.boards import list_competitions

    return list_competitions(workspace)


def remove(
    names: Annotated[list[str], Argument(metavar="RUN...", help="Exact names, of runs, answers or competitions.")],
    kind: KindOption = None,
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> ExitCode:
    """Remove runs, answers or competitions for good, with their replies.

    Labels stay: they belong to texts. Replies in the cache stay, too. One that is being written is refused.

    \b
    Examples:
      mixseek runs rm march
      mixseek runs rm march april --json
    """
    from mixseek.setup.upkeep import remove_runs

    removed = remove_runs(workspace_path(workspace), names, kind)
    text = "\n".join(f"removed {removal['kind']} {removal['name']} ({removal['bytes']:,} bytes)" for removal in removed)
    return print_answer(with_schema(DocumentName.RUNS_RM, {"removed": removed}), text, as_json=as_json)


def move(
    name: Annotated[str, Argument(metavar="RUN", help="The exact name, of a run, of answers or of a competition.")],
    new: Annotated[str, Argument(metavar="NEW", help="A name that is free.")],
    kind: KindOption = None,
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> ExitCode:
    """Give a run, answers or a competition another name.

    Its draws of labels and the archive in its directory follow. Resume it with --run NEW, or --execution NEW.

    \b
    Examples:
      mixseek runs mv answers-semantic-1f3c9a2b march
    """
    from mixseek.setup.upkeep import move_run

    moved = move_run(workspace_path(workspace), name, new, kind)
    document = with_schema(DocumentName.RUNS_MV, moved)
    return print_answer(document, f"{moved['kind']} {moved['name']} is now {moved['new_name']}", as_json=as_json)


def collect(
    dry_run: Annotated[bool, Option("--dry-run", help="Say what would go; remove nothing.")] = False,
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> ExitCode:
    """Remove what nobody needs: copies of stdin, starts that came to nothing, what killed processes left.

    Never a journal that holds a reply, and nothing of a process that is at work.

    \b
    Examples:
      mixseek runs gc --dry-run
      mixseek runs gc --json
    """
    from mixseek.setup.upkeep import collect_garbage, garbage_sections

    document = collect_garbage(workspace_path(workspace), dry_run=dry_run)
    return print_answer(document, lambda: garbage_sections(document), as_json=as_json)

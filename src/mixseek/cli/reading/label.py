"""`mixseek label`: sheets for people to fill in, what they filled in, and where that stands."""

from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from shlex import quote
from typing import Annotated

from typer import Argument, Option

from mixseek.cli.parsing.options import JsonOption, RunArgument, WorkspaceOption, share_option, workspace_path
from mixseek.cli.terminal.console import ExitCode, print_answer
from mixseek.domain.documents import DocumentName, with_schema


class DrawnOption(StrEnum):
    """How labels that somebody brings were chosen."""

    RANDOM = "random"
    ELSEWHERE = "elsewhere"
    UNKNOWN = "unknown"


def where(workspace: Path | None) -> str:
    """The option again, for a command that can be pasted."""
    return f" --workspace {quote(str(workspace))}" if workspace is not None else ""


def sample_labels(
    run: RunArgument = None,
    count: Annotated[int, Option("--n", metavar="N", min=1, help="How many texts to draw.")] = 100,
    to: Annotated[Path, Option("--to", metavar="FILE", help="The sheet: CSV, for any spreadsheet.")] = Path(
        "sheet.csv"
    ),
    stratify: Annotated[
        str | None,
        Option(
            metavar="COLUMNS",
            help="Draw within each value of these, so that rare ones are seen: verdict, task, target, variant, type, "
            "language; several with a comma.",
        ),
    ] = None,
    seed: Annotated[
        int | None, Option(metavar="N", min=0, help="Draw the same again. Default: another draw every time.")
    ] = None,
    drawn: Annotated[
        str | None,
        Option(
            "--draw",
            metavar="NAME",
            help="Nothing new: the sheet of a draw that is there, such as what a cascade left for people.",
        ),
    ] = None,
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> ExitCode:
    """Draw texts of a run at random into a sheet that people fill in.

    The sheet is blind: no verdict, score or reason of any judge is in it, and its order says nothing. How likely each
    text was to be drawn is kept, so that its label can speak for the whole run. Texts drawn before are left out.

    \b
    Examples:
      mixseek label sample latest --n 100 --to sheet.csv
      mixseek label sample bbh-march --n 60 --stratify verdict --seed 7
      mixseek label sample routed-march --draw d1d69e83c --to left.csv
    """
    from mixseek.labels.draw import DrawRequest, draw_sheet, write_draw_again
    from mixseek.labels.views import draw_result_document, draw_sections

    columns = tuple(filter(None, (part.strip() for part in (stratify or "").split(","))))
    request = DrawRequest(count, tuple(dict.fromkeys(columns)), seed)
    root = workspace_path(workspace)
    result = draw_sheet(root, run, request, to) if drawn is None else write_draw_again(root, run, drawn, to)
    again = result.is_repeated
    document = draw_result_document(result.draw, to, is_repeated=again)
    sections = draw_sections(result.draw, to, where(workspace), is_repeated=again)
    return print_answer(document, lambda: sections, as_json=as_json)


def import_sheet(
    file: Annotated[Path, Argument(metavar="FILE", help="The sheet, as a spreadsheet saved it; or id and label.")],
    rater: Annotated[str, Option(metavar="NAME", help="Who labelled: one name a person.")],
    run: Annotated[
        str | None,
        Option(metavar="RUN", help="For labels of your own (id, label): the run whose samples they name."),
    ] = None,
    drawn: Annotated[
        DrawnOption,
        Option(
            help="For labels of your own: a random sample of the run; from another mix of cases; or nobody knows, then "
            "they count for agreement only."
        ),
    ] = DrawnOption.UNKNOWN,
    adjudicate: Annotated[
        bool, Option("--adjudicate", help="These labels settle what raters disagree about, and count alone.")
    ] = False,
    revise: Annotated[
        bool, Option("--revise", help="Let these take the place of other labels that the same rater gave before.")
    ] = False,
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> ExitCode:
    """Take in a sheet that somebody has filled in: all of it, or nothing.

    Labels belong to the judged text, so every run on it profits, also later ones. Under right-or-wrong protocols write
    correct or incorrect (1/0, true/false, yes/no); under others a number on the protocol's scale. Rows without a label
    are left for later.

    \b
    Examples:
      mixseek label import sheet.csv --rater mia
      mixseek label import sheet-noah.csv --rater noah
      mixseek label import settled.csv --rater both --adjudicate
      mixseek label import gold.csv --rater gold --run bbh-march --drawn random
    """
    from mixseek.labels.intake import ImportRequest, import_labels
    from mixseek.labels.views import import_sections
    from mixseek.settings.load import load_settings
    from mixseek.stats.estimates import Drawing

    request = ImportRequest(
        file, rater, run, Drawing(drawn.value), adjudicate, revise, load_settings().judge.longest_line
    )
    document = with_schema(DocumentName.LABEL_IMPORT, asdict(import_labels(workspace_path(workspace), request)))
    return print_answer(document, lambda: import_sections(document, where(workspace)), as_json=as_json)


def plan(
    run: RunArgument = None,
    width: Annotated[
        float, share_option("How far the interval may reach to either side: 4% is plus or minus 4 points.")
    ] = 0.04,
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> ExitCode:
    """Say how many labels a corrected headline of that width needs, and what fewer would give.

    From the labels that are there; where there are none, it says what it assumes.

    \b
    Examples:
      mixseek label plan latest --width 4%
      mixseek label plan bbh-march --width 2.5% --json
    """
    from mixseek.labels.intake import find_plan
    from mixseek.labels.views import plan_document, plan_sections

    report = find_plan(workspace_path(workspace), run, width)
    sections = plan_sections(report, where(workspace))
    return print_answer(plan_document(report), lambda: sections, as_json=as_json)


def label_state(run: RunArgument = None, workspace: WorkspaceOption = None, as_json: JsonOption = False) -> ExitCode:
    """Show how many labels there are, how raters agree, and which draws wait for labels.

    \b
    Examples:
      mixseek label status
      mixseek label status bbh-march --json
    """
    from mixseek.labels.status import label_status
    from mixseek.labels.views import status_sections

    status = with_schema(DocumentName.LABEL_STATUS, asdict(label_status(workspace_path(workspace), run)))
    return print_answer(status, lambda: status_sections(status), as_json=as_json)

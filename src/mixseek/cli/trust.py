"""How far judges can be trusted: `mixseek audit`, `label`, `plan` and `stats`."""

import os
import sys
from collections.abc import Sequence
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated

from typer import Argument, BadParameter, Option

from mixseek.cli.console import ExitCode, notify_plainly, print_answer
from mixseek.cli.options import (
    JsonOption,
    MaxCalls,
    MaxCost,
    Quiet,
    RunArgument,
    WorkspaceOption,
    parse_mapping,
    parse_parameters,
    share_option,
    workspace_path,
)

if TYPE_CHECKING:
    from mixseek.composition.audits import AuditRequest


# `mixseek audit`: a judge examined like an instrument, before anybody trusts it.

_ONLY = (
    "Only these audits; repeat for more: retest, order, padding, format, tone, name, own, injection, language, "
    "implant, lenient, drift, rescaled. Default: all that apply."
)
_OUT = "Write the card to this file too: a page (.html), or what --require-card reads (.json)."


def audit(
    judge: Annotated[str, Argument(metavar="JUDGE", help="What may stand after --judge of `mixseek judge`.")],
    data: Annotated[str, Option("--data", metavar="DATA", help="Samples to draw from, as for `mixseek judge`.")],
    protocol: Annotated[
        str | None, Option(metavar="NAME|FILE", help="What is asked: a built-in, or a .toml file. Default: semantic.")
    ] = None,
    pairs: Annotated[
        str | None, Option(metavar="all|baseline:MODEL|N", help="Make pairs of single outputs, as for `mixseek judge`.")
    ] = None,
    items: Annotated[int, Option("--n", metavar="N", min=1, help="Draw so many samples.")] = 100,
    seed: Annotated[int, Option(metavar="N", help="Of the pairs, of the draw and of every change.")] = 0,
    only: Annotated[list[str] | None, Option(metavar="AUDIT", help=_ONLY)] = None,
    since: Annotated[
        Path | None,
        Option(
            metavar="CARD",
            help="An earlier card of this judge: ask again, and look for drift. A later look needs a --run.",
        ),
    ] = None,
    own_name: Annotated[
        str | None,
        Option(metavar="MODEL", help="The model that judges, where JUDGE does not say it: whose name it may favour."),
    ] = None,
    out: Annotated[list[Path] | None, Option(metavar="FILE", help=_OUT)] = None,
    workspace: WorkspaceOption = None,
    run: Annotated[
        str | None, Option(metavar="NAME", help="Name of the run. Default: the same for the same request.")
    ] = None,
    language: Annotated[
        str | None, Option(metavar="en|ja|zh", help="Language of the prompt. Default: the protocol's own.")
    ] = None,
    mapping: Annotated[
        list[str] | None, Option("--map", metavar="FIELD=COLUMN", help="Where a field stands in DATA.")
    ] = None,
    rubric: Annotated[
        Path | None, Option(metavar="DIR|FILE", help="Task rubrics in Markdown, as for `mixseek judge`.")
    ] = None,
    parameters: Annotated[
        list[str] | None, Option("--parameter", metavar="KEY=VALUE", help="Replace a parameter of the protocol.")
    ] = None,
    concurrency: Annotated[int, Option(metavar="N", min=1, max=4096, help="Calls at once, at most.")] = 32,
    max_calls: MaxCalls = None,
    max_cost: MaxCost = None,
    dry_run: Annotated[
        bool, Option("--dry-run", help="Print the calls, tokens and cost to be expected; send nothing.")
    ] = False,
    quiet: Quiet = False,
    as_json: JsonOption = False,
) -> ExitCode:
    """Examine a judge with controlled variants of the same samples, and write its card.

    Asked twice, padded, reformatted, in another tone, under its own name, with an order to the judge in the text, in
    another language of the rubric, with a planted defect. Each audit has an effect with its interval, and passes, is a
    concern or fails; all are one family. Exit 1 when one fails. The card belongs to this judge and this protocol.

    Interrupted? Run the same command again: it resumes, and asks nothing twice.

    \b
    Examples:
      mixseek audit openai:gpt-5-mini --protocol cross --data outputs.jsonl --n 100 --dry-run
      mixseek audit openai:gpt-5-mini --protocol cross --data outputs.jsonl --out card.html --out card.json
      mixseek audit vllm --data answers.jsonl --only padding --only injection
      mixseek audit vllm --protocol pairwise --pairs all --data outputs.jsonl --only order
      mixseek audit vllm --data answers.jsonl --since card-march.json
      mixseek judge outputs.jsonl --protocol cross --judge openai:gpt-5-mini --require-card card.json
    """
    from mixseek.composition.audits import AuditRequest, read_audits
    from mixseek.composition.judging.request import JudgeRequest, LiveOptions
    from mixseek.settings.load import load_settings

    for path in out or ():
        if path.suffix not in (".html", ".json"):
            raise BadParameter(f"{path}: name a .html or a .json file", param_hint="'--out'")
    settings = load_settings()
    request = AuditRequest(
        JudgeRequest(
            data=data,
            workspace=workspace or settings.workspace,
            protocol=protocol or settings.judge.protocol,
            language=language or settings.judge.language,
            judges=(judge,),
            run=run,
            mapping=parse_mapping(mapping or []),
            command_line=("mixseek", *sys.argv[1:]),
            live=LiveOptions(concurrency=concurrency, max_calls=max_calls, max_cost_usd=max_cost),
            configured=settings.judges,
            longest_line=settings.judge.longest_line,
            parameters=parse_parameters(parameters or []),
            pairs=pairs,
            seed=seed,
            rubric=rubric,
            environment=os.environ,
        ),
        items=items,
        seed=seed,
        only=read_audits(only or ()),
        since=since,
        own_name=own_name,
    )
    return run_order(request, out or (), is_dry=dry_run, quiet=quiet, as_json=as_json)


def run_order(request: "AuditRequest", out: Sequence[Path], *, is_dry: bool, quiet: bool, as_json: bool) -> ExitCode:
    """Ask, write, print, decide."""
    from mixseek.cli.console import stopping_on_signals
    from mixseek.cli.judging import explain_interruption, show_progress
    from mixseek.composition.audits import forecast_audit, run_audit, write_card
    from mixseek.composition.judging.judge import Interruption
    from mixseek.reporting.cards import print_card
    from mixseek.reporting.forecasts import describe_dry_run, dry_run_document
    from mixseek.stats.audits import AuditState

    if is_dry:
        dry = forecast_audit(request)
        document = {"runs": [dry_run_document(one) for one in dry]}
        return print_answer(document, "\n".join(map(describe_dry_run, dry)), as_json=as_json)
    try:
        with stopping_on_signals(drains=False) as stop:
            made = run_audit(
                request,
                lambda total: stop.draining(show_progress(total, quiet)),
                stop,
                (lambda _: None) if quiet else notify_plainly,
            )
    except KeyboardInterrupt:
        notify_plainly("interrupted; what was judged is kept: run the same command again to go on")
        return ExitCode.INTERRUPTED
    if isinstance(made, Interruption):
        return explain_interruption(made, notify_plainly)
    card, kept = made
    for path in out:
        write_card(card, path)
    print_answer(
        card.model_dump(mode="json"), lambda console: print_card(card, console, f"Card  {kept}"), as_json=as_json
    )
    failed = card.of_state(AuditState.FAIL)
    if failed:
        notify_plainly(f"{card.judge.name} failed {', '.join(one.title for one in failed)}")
    return ExitCode.GATE_NOT_MET if failed else ExitCode.OK


# `mixseek label`: sheets for people to fill in, what they filled in, and where that stands.


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
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> ExitCode:
    """Draw texts of a run at random into a sheet that people fill in.

    The sheet is blind: no verdict, score or reason of any judge is in it, and its order says nothing. How likely each
    text was to be drawn is kept in the workspace, so that its label can speak for the whole run.
    Texts that were drawn before are left out.

    \b
    Examples:
      mixseek label sample latest --n 100 --to sheet.csv
      mixseek label sample bbh-march --n 60 --stratify verdict --seed 7
    """
    from mixseek.composition.sheets import DrawRequest, draw_sheet
    from mixseek.reporting.labels import describe_draw, draw_result_document

    columns = tuple(filter(None, (part.strip() for part in (stratify or "").split(","))))
    request = DrawRequest(count, tuple(dict.fromkeys(columns)), seed)
    result = draw_sheet(workspace_path(workspace), run, request, to)
    again = result.is_repeated
    told = draw_result_document(result.draw, to, is_repeated=again)
    text = describe_draw(result.draw, to, where(workspace), is_repeated=again)
    return print_answer(told, text, as_json=as_json)


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
    from mixseek.composition.sheets import ImportRequest, import_labels
    from mixseek.reporting.labels import describe_import
    from mixseek.settings.load import load_settings
    from mixseek.stats.estimates import Drawing

    request = ImportRequest(
        file, rater, run, Drawing(drawn.value), adjudicate, revise, load_settings().judge.longest_line
    )
    told = asdict(import_labels(workspace_path(workspace), request))
    return print_answer(told, describe_import(told, where(workspace)), as_json=as_json)


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
      mixseek plan latest --width 4%
      mixseek plan bbh-march --width 2.5% --json
    """
    from mixseek.composition.sheets import find_plan
    from mixseek.reporting.labels import plan_document, print_plan

    report = find_plan(workspace_path(workspace), run, width)
    return print_answer(
        plan_document(report), lambda console: print_plan(report, console, where(workspace)), as_json=as_json
    )


def label_state(run: RunArgument = None, workspace: WorkspaceOption = None, as_json: JsonOption = False) -> ExitCode:
    """Show how many labels there are, how raters agree, and which draws wait for labels.

    \b
    Examples:
      mixseek label status
      mixseek label status bbh-march --json
    """
    from mixseek.composition.sheets import label_status
    from mixseek.reporting.labels import print_status

    status = asdict(label_status(workspace_path(workspace), run))
    return print_answer(status, lambda console: print_status(status, console), as_json=as_json)


# The command that counts ratings of anybody's making: `stats`.


class Repeats(StrEnum):
    """What counts where one rater has rated an item several times."""

    FIRST = "first"
    MEAN = "mean"


class LabelDrawing(StrEnum):
    """How the labelled items were chosen."""

    RANDOM = "random"
    STRATIFIED = "stratified"
    ELSEWHERE = "elsewhere"
    UNKNOWN = "unknown"


class Pool(StrEnum):
    """Which items a corrected mean is about."""

    JUDGED = "judged"
    RATED = "rated"


def parse_scale(text: str) -> tuple[float, float]:
    """`1..5`: the least and the greatest value that can be given."""
    least, dots, greatest = text.partition("..")
    try:
        ends = float(least), float(greatest)
    except ValueError:
        ends = (0.0, 0.0)
    if not dots or not ends[0] < ends[1]:
        raise BadParameter(f"{text!r} is not a scale; write its ends, as in 1..5", param_hint="'--scale'")
    return ends


_EXPRESSION = "a column, or an SQL expression over columns"


def stats(
    name: Annotated[str, Argument(metavar="TABLE|RUN", help="A .jsonl, .csv, .tsv or .parquet file, or a run's name.")],
    item: Annotated[str | None, Option(metavar="EXPR", help=f"What is rated: {_EXPRESSION}.")] = None,
    judge: Annotated[str | None, Option(metavar="EXPR", help="Who rates.")] = None,
    score: Annotated[str | None, Option(metavar="EXPR", help="The rating: a number, a boolean or a word.")] = None,
    question: Annotated[
        str | None, Option(metavar="EXPR", help="Items of one question resemble each other. Default: each its own.")
    ] = None,
    system: Annotated[str | None, Option(metavar="EXPR", help="Who wrote the rated text; for --compare.")] = None,
    where: Annotated[str | None, Option(metavar="EXPR", help="Only rows of which this is true.")] = None,
    order: Annotated[
        str | None, Option(metavar="EXPR", help="Rows in this order decide which one is first. Default: as they stand.")
    ] = None,
    repeats: Annotated[
        Repeats | None,
        Option(
            help="Several ratings of an item by one rater: the first counts, or their mean. Default: the first in a "
            "table, the mean in a run."
        ),
    ] = None,
    human: Annotated[str | None, Option(metavar="NAME", help="The rater whose word is the truth.")] = None,
    labelled: Annotated[
        str | None, Option(metavar="EXPR", help="Which of the human's rows count as labels. Default: all.")
    ] = None,
    labels: Annotated[
        LabelDrawing,
        Option(
            help="How labelled items were chosen: at random, at random within each verdict, elsewhere (other cases, "
            "same judge), or nobody knows; then they count for agreement only."
        ),
    ] = LabelDrawing.UNKNOWN,
    pool: Annotated[
        Pool, Option(help="A corrected mean is of all items of the judge, scored or not, or of those that both rated.")
    ] = Pool.JUDGED,
    scale: Annotated[
        str | None, Option(metavar="A..B", help="Ends of the scale, where not all of it was used.")
    ] = None,
    compare: Annotated[
        tuple[str, str] | None, Option(metavar="A B", help="Two systems on the questions that both answered.")
    ] = None,
    gold: Annotated[
        str | None, Option(metavar="EXPR", help="The truth about the item, in a column beside each rating.")
    ] = None,
    votes: Annotated[
        bool, Option("--votes", help="Scores are votes between responses A and B: does a judge follow the order?")
    ] = False,
    shown: Annotated[
        str | None, Option(metavar="EXPR", help="Which response of a vote was shown first: AB or BA.")
    ] = None,
    length: Annotated[
        str | None,
        Option(metavar="EXPR", help="Do scores follow length? Of a vote, the length of A divided by that of B."),
    ] = None,
    reference: Annotated[
        list[str] | None,
        Option(metavar="NAME", help="With --length: judges that others are held against. Default: the human, or all."),
    ] = None,
    jury: Annotated[
        bool, Option("--jury", help="All judges as one: majority, and Dawid–Skene, against the best of them.")
    ] = False,
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> ExitCode:
    """Count ratings: means, agreement, and what labels make of them.

    Intervals are over questions: items of one question, and several judges of one item, are no new evidence.
    Columns are found by their usual names (item, judge, score, question_id, target_model, …) where none is given.

    \b
    Examples:
      mixseek stats ratings.jsonl
      mixseek stats ratings.csv --human expert --labels random --json
      mixseek stats latest --compare model-a model-b
      mixseek stats stars.parquet --score "stars / 5" --where "criterion = 'style'"
      mixseek stats votes.jsonl --votes --gold winner --length "length(a) / length(b)"
      mixseek stats votes.jsonl --jury --judge "judge || shown" --gold winner
    """
    from mixseek.analysis.ratings import RatingColumns, RatingSource
    from mixseek.composition.results.statistics import StatisticsRequest, load_statistics
    from mixseek.composition.results.votes import VotesAsked, load_votes
    from mixseek.reporting.statistics import print_statistics, statistics_document
    from mixseek.reporting.votes import print_votes, votes_document
    from mixseek.settings.load import load_settings
    from mixseek.stats.estimates import Drawing

    if human is None and gold is None and (labelled is not None or labels is not LabelDrawing.UNKNOWN):
        raise BadParameter("labels are somebody's: name the rater with --human", param_hint="'--labels'")
    if human is not None and gold is not None:
        raise BadParameter("the truth is a rater (--human) or a column (--gold), not both", param_hint="'--gold'")
    columns = RatingColumns(
        *(item, judge, score, question, system, where, order, labelled), gold=gold, length=length, shown=shown
    )
    uses_mean = repeats is Repeats.MEAN if repeats else None
    request = StatisticsRequest(
        name,
        workspace_path(workspace),
        RatingSource(columns, human, uses_mean, longest_line=load_settings().judge.longest_line),
        Drawing(labels.value),
        pool is Pool.RATED,
        parse_scale(scale) if scale is not None else None,
        compare,
    )
    if votes or jury or length is not None:
        asked = VotesAsked(votes, jury, length is not None, reference or ())
        told = load_votes(request, asked)
        return print_answer(votes_document(told), lambda console: print_votes(told, console), as_json=as_json)
    found = load_statistics(request)
    return print_answer(statistics_document(found), lambda console: print_statistics(found, console), as_json=as_json)

"""`mixseek cascade`: which judge may decide what without people, shown on labels."""

from datetime import date
from pathlib import Path
from typing import Annotated

from typer import Argument, BadParameter, Option

from mixseek.cli.parsing.options import JsonOption, WorkspaceOption, share_option, workspace_path
from mixseek.cli.reading.stats import LabelDrawing, parse_scale
from mixseek.cli.terminal.console import ExitCode, notify_plainly, print_answer

OutOption = Annotated[Path, Option("--out", metavar="FILE", help="Where the cascade and its certificate are written.")]
LabelCountOption = Annotated[
    int | None, Option(metavar="N", min=1, help="Take only so many of the labels, drawn by lot.")
]
# Of a table of ratings, as `mixseek stats` takes them.
_EXPRESSION = "a column, or an SQL expression over columns"
HumanOption = Annotated[str | None, Option(metavar="NAME", help="Of a table: the rater whose ratings are labels.")]
LabelsOption = Annotated[
    LabelDrawing, Option(help="Of a table: how the labelled items were chosen, where not all are labelled.")
]
LabelledOption = Annotated[
    str | None, Option(metavar="EXPR", help="Of a table: which of the human's rows are labels. Default: all.")
]
ItemOption = Annotated[str | None, Option(metavar="EXPR", help=f"Of a table: what is rated, {_EXPRESSION}.")]
RaterOption = Annotated[str | None, Option(metavar="EXPR", help="Of a table: who rates.")]
ScoreOption = Annotated[str | None, Option(metavar="EXPR", help="Of a table: the rating.")]
SureOption = Annotated[
    str | None,
    Option(
        metavar="EXPR",
        help="Of a table: how sure the judge is of its rating, 0 to 1. Default: confidence_value or confidence.",
    ),
]
QuestionOption = Annotated[
    str | None, Option(metavar="EXPR", help="Of a table: items of one question resemble each other.")
]
WhereOption = Annotated[str | None, Option(metavar="EXPR", help="Of a table: only rows of which this is true.")]
ScaleOption = Annotated[
    str | None, Option(metavar="A..B", help="Of a table: ends of the scale, where not all of it was used.")
]


def parse_prices(given: list[str]) -> dict[str, float]:
    """`NAME=0.05`, as often as there are prices."""
    prices = {}
    for text in given:
        name, equals, number = text.rpartition("=")
        try:
            price = float(number)
        except ValueError:
            price = -1.0
        if not equals or not name or not 0 <= price < float("inf"):
            raise BadParameter(
                f"{text!r} is no price; write the judge and a number, as in gpt-4=0.05", param_hint="'--price'"
            )
        prices[name] = price
    return prices


def plan_tiers(
    names: Annotated[
        list[str],
        Argument(metavar="RUN|TABLE", help="Runs of several judges on the same texts; or one file of ratings."),
    ],
    agree: Annotated[
        float, share_option("How many of the decided texts must be decided as your labels say, at least.")
    ] = 0.95,
    confidence: Annotated[float, share_option("How sure that must be: 1 minus the chance that it is missed.")] = 0.9,
    last: Annotated[
        str,
        Option("--with", metavar="people|last", help="Who decides what no tier may decide: people, or the last judge."),
    ] = "people",
    tier: Annotated[
        list[str] | None,
        Option(
            metavar="JUDGE[+JUDGE…]",
            help="A tier, in the order of asking: a judge, or a panel whose agreement is its confidence; NAME=A+B "
            "names it. Default: every judge, the cheapest first.",
        ),
    ] = None,
    price: Annotated[
        list[str] | None,
        Option(metavar="NAME=PRICE", help="What a judge or a tier costs for one text, where no run says so."),
    ] = None,
    out: OutOption = Path("cascade.toml"),
    label_count: LabelCountOption = None,
    seed: Annotated[int, Option(metavar="N", min=0, help="The lot of --label-count.")] = 0,
    human: HumanOption = None,
    labels: LabelsOption = LabelDrawing.UNKNOWN,
    labelled: LabelledOption = None,
    item: ItemOption = None,
    rater: RaterOption = None,
    score: ScoreOption = None,
    sure: SureOption = None,
    question: QuestionOption = None,
    where: WhereOption = None,
    scale: ScaleOption = None,
    workspace: WorkspaceOption = None,
    quiet: Annotated[bool, Option("--quiet", "-q", help="No progress on stderr.")] = False,
    as_json: JsonOption = False,
) -> ExitCode:
    """Say which judge may decide what without people, and write it down with what that rests on.

    From judges that all judged the same texts, and labels of people on some of them, drawn at random (`mixseek label
    sample`): a tier decides where it is sure enough, and hands on the rest, so that at least --agree of all that is
    decided is as your labels say. That is tested, not estimated: the chance that it is missed is at most 1 minus
    --confidence. A judge's confidence is what its run has: probabilities, repeats, both orders of a pair, or what it
    wrote; a panel's is how many of it agree; a judge without any is as sure as judges asked before it agree with it.

    Exit 0: a cascade was written. Exit 1: no judge can do it, or there are too few labels; no file is written.

    \b
    Examples:
      mixseek cascade plan small-run large-run --agree 95%
      mixseek cascade plan all-judges --tier "rules+openai:small" --tier openai:large --out cascade.toml
      mixseek cascade plan march --with last --confidence 95% --json
      mixseek cascade plan ratings.csv --human expert --tier "a+b+c" --tier large --price "a+b+c=0.05" --price large=1
      mixseek cascade plan ratings.csv --human expert --label-count 200 --seed 7
    """
    from mixseek.analysis.ratings.relation import RatingColumns, RatingSource
    from mixseek.cascades.plan import CascadeRequest, LastWord, PlanState, plan, write_plan
    from mixseek.cascades.rated_runs import LabelChoice
    from mixseek.cascades.views import cascade_document, cascade_sections
    from mixseek.settings.load import load_settings
    from mixseek.stats.estimates import Drawing

    if last not in [word.value for word in LastWord]:
        raise BadParameter(f"{last!r} decides nothing; it is people, or last", param_hint="'--with'")
    columns = RatingColumns(item, rater, score, question, where=where, labelled=labelled, confidence=sure)
    request = CascadeRequest(
        names=names,
        workspace=workspace_path(workspace),
        today=date.today(),
        agree=agree,
        confidence=confidence,
        last=LastWord(last),
        tiers=tuple(tier or ()),
        prices=parse_prices(price or []),
        choice=LabelChoice(label_count, seed),
        source=RatingSource(columns, human, longest_line=load_settings().judge.longest_line),
        drawing=Drawing(labels.value),
        scale=parse_scale(scale) if scale is not None else None,
    )
    result = write_plan(plan(request, (lambda _: None) if quiet else notify_plainly), out)
    print_answer(cascade_document(result), lambda: cascade_sections(result), as_json=as_json)
    return ExitCode.OK if result.state is PlanState.DECIDES else ExitCode.GATE_NOT_MET


def watch(
    file: Annotated[Path, Argument(metavar="FILE", help="The cascade file that runs have followed.")] = Path(
        "cascade.toml"
    ),
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> ExitCode:
    """Say whether what a cascade decides still agrees with people, as far as they have looked.

    Of every run that follows the file a random part of what is decided goes to people (`--audit-share`). Each label is
    a bet against the promise: drift is raised where the promise can no longer be believed, and while it holds it is
    raised wrongly in one of twenty cascades at most, however often you look.

    Exit 0: no drift. Exit 1: drift; the certificate holds no longer, and `mixseek judge` refuses it.

    \b
    Examples:
      mixseek cascade watch
      mixseek cascade watch cascade.toml --workspace ws --json
    """
    from mixseek.cascades.auditing import watch_cascade
    from mixseek.cascades.file import read_cascade
    from mixseek.cascades.views import watch_document, watch_sections
    from mixseek.errors import ConfigurationError
    from mixseek.storage.workspace import Workspace

    root = workspace_path(workspace)
    audited = watch_cascade(Workspace(root), read_cascade(file).certificate.digest)
    if audited is None:
        raise ConfigurationError(f"{file}: no run in {root} has followed it; judge with --cascade {file}")
    print_answer(watch_document(audited), lambda: watch_sections(audited), as_json=as_json)
    return ExitCode.OK if audited.watch.raised_at is None else ExitCode.GATE_NOT_MET

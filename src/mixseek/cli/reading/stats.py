"""`mixseek stats`: what ratings of anybody's making come to."""

from enum import StrEnum
from typing import Annotated

from typer import Argument, BadParameter, Option

from mixseek.cli.parsing.options import JsonOption, WorkspaceOption, workspace_path
from mixseek.cli.terminal.console import ExitCode, print_answer


class Takes(StrEnum):
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
    rater: Annotated[str | None, Option(metavar="EXPR", help="Who rates.")] = None,
    score: Annotated[str | None, Option(metavar="EXPR", help="The rating: a number, a boolean or a word.")] = None,
    question: Annotated[
        str | None, Option(metavar="EXPR", help="Items of one question resemble each other. Default: each its own.")
    ] = None,
    system: Annotated[str | None, Option(metavar="EXPR", help="Who wrote the rated text; for --compare.")] = None,
    where: Annotated[str | None, Option(metavar="EXPR", help="Only rows of which this is true.")] = None,
    order: Annotated[
        str | None, Option(metavar="EXPR", help="Rows in this order decide which one is first. Default: as they stand.")
    ] = None,
    takes: Annotated[
        Takes | None,
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
    people: Annotated[
        str | None,
        Option(metavar="EXPR", help="Which rows people wrote: together they are the human, by their mean of an item."),
    ] = None,
    by: Annotated[
        str | None, Option(metavar="EXPR", help="The same for each of its values, such as the criteria of a rubric.")
    ] = None,
    probabilities: Annotated[
        str | None,
        Option(
            metavar="EXPR",
            help="How likely each level was: a list from the lowest level up, or a mapping of level to number. "
            "Default: probabilities, probs or distribution. Levels of a list are those of --scale; else the scores "
            "that were given, or 1 to n or 0 to n-1, whichever holds them all.",
        ),
    ] = None,
    confidence: Annotated[
        str | None,
        Option(
            metavar="EXPR",
            help="How likely the given score is the right one, 0 to 1. Default: confidence_value or confidence.",
        ),
    ] = None,
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
      mixseek stats rubric.jsonl --by criterion --people "judge_type = 'human'"
      mixseek stats stars.parquet --score "stars / 5" --where "criterion = 'style'"
      mixseek stats votes.jsonl --votes --gold winner --length "length(a) / length(b)"
      mixseek stats votes.jsonl --jury --rater "judge || shown" --gold winner
    """
    from mixseek.analysis.ratings.relation import RatingColumns, RatingSource
    from mixseek.analysis.ratings.statistics import StatisticsRequest, load_parts, load_statistics
    from mixseek.analysis.votes.statistics import VotesAsked, load_votes
    from mixseek.presentation.sections import sections_of
    from mixseek.reports.ratings.statistics import parted_document, statistics_document
    from mixseek.reports.ratings.votes import votes_document
    from mixseek.settings.load import load_settings
    from mixseek.stats.estimates import Drawing

    if (
        human is None
        and gold is None
        and people is None
        and (labelled is not None or labels is not LabelDrawing.UNKNOWN)
    ):
        raise BadParameter("labels are somebody's: name the rater with --human", param_hint="'--labels'")
    if sum(given is not None for given in (human, gold, people)) > 1:
        raise BadParameter(
            "the truth is a rater (--human), all people together (--people) or a column (--gold): name one",
            param_hint="'--people'" if people is not None else "'--gold'",
        )
    columns = RatingColumns(
        *(item, rater, score, question, system, where, order, labelled),
        gold=gold,
        length=length,
        shown=shown,
        probabilities=probabilities,
        confidence=confidence,
        people=people,
    )
    uses_mean = takes is Takes.MEAN if takes else None
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
        votes_asked = VotesAsked(votes, jury, length is not None, reference or ())
        if by is not None:
            raise BadParameter("votes are counted together; leave rows out with --where", param_hint="'--by'")
        voted = load_votes(request, votes_asked)
        return print_answer(votes_document(voted), lambda: sections_of(voted), as_json=as_json)
    if by is not None:
        parted = load_parts(request, by)
        return print_answer(parted_document(parted), lambda: sections_of(parted), as_json=as_json)
    result = load_statistics(request)
    return print_answer(statistics_document(result), lambda: sections_of(result), as_json=as_json)

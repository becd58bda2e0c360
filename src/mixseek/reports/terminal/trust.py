"""The headline and the trust section on a terminal: targets in their ranking, then how far the judges agree."""

from collections.abc import Iterable, Sequence

from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from mixseek.analysis.agreement import Agreement, SelfConsistency
from mixseek.analysis.model import Breakdown, Headline, ScoreSummary
from mixseek.analysis.target_pairs import PairsReport
from mixseek.reports import wording
from mixseek.reports.headline import (
    column_title,
    column_word,
    headline_bounds_text,
    headline_interval_text,
    headline_mean_text,
    rule_sentence,
    score_sentence,
    without_text,
)
from mixseek.reports.pair_words import bias_text, share_text, states_text, target_score_text
from mixseek.reports.render import tables
from mixseek.reports.render.tables import Cell, print_section, table_of
from mixseek.reports.sections import QUIET
from mixseek.reports.trust import (
    agreement_sentence,
    coefficient_interval_text,
    compared_text,
    consistency_sentence,
    counted_sentence,
    measure_text,
    opinion_text,
    pair_measure,
)
from mixseek.reports.wording import name_text
from mixseek.stats.raters import Measure
from mixseek.text.visible import make_visible

# A terminal shows the shape of a run; the page and the document hold the rest.
_GROUPS_SHOWN = 60
_ITEMS_SHOWN = 8
_PAIRS_SHOWN = 10
_WIDE = 100
_PLOT_WIDTH = 22


def print_headline(headline: Headline, console: Console) -> None:
    """What was judged comes first; who judged it is said in a line."""
    console.print()
    console.print(Text(make_visible(rule_sentence(headline)), style=QUIET))
    for part in headline.columns:
        print_section(console, column_title(part.column), breakdown_table(part, headline.maximum, console))
    whole = f"{headline.whole[0].upper()}{headline.whole[1:]}" if headline.columns else "Headline"
    line = Text.assemble((f"{whole}  ", "bold"), make_visible(score_sentence(headline.score, headline.maximum)))
    console.print()
    console.print(line)
    without = without_text(headline.score)
    if without != wording.NOTHING:
        console.print(Text(f"beside it: {without}", style=QUIET))
    bounds = wording.bounds_sentence(headline.score)
    if bounds:
        console.print(Text(bounds, style=QUIET))


def print_pairs(report: PairsReport, console: Console) -> None:
    """Targets against each other, then how far the order decides."""
    rows: list[Sequence[Cell]] = []
    for one in report.targets:
        counts = (f"{count:,}" for count in (one.wins, one.ties, one.losses, one.without))
        rows.append((one.first, one.second, *counts, (target_score_text(one), "bold")))
    heads = ("target", "against", ">won", ">tied", ">lost", ">none", ">score, 95%")
    print_section(console, "Targets against each other", table_of(heads, rows))
    judges: list[Sequence[Cell]] = []
    for judge in report.judges:
        shares = map(share_text, (judge.consistency, judge.first_shown, judge.ties, judge.human))
        judges.append((judge.judge, *shares, (states_text(judge.states), QUIET)))
    named = ("judge", ">consistent", ">first shown", ">ties", ">as people", "verdicts")
    print_section(console, "Both orders", table_of(named, judges))
    for judge in report.judges:
        if judge.position.decisive:
            console.print(Text(f"{make_visible(judge.judge)}: {bias_text(judge)}", style=QUIET))


def print_breakdowns(headline: Headline, console: Console) -> None:
    """What the reader asked for with --by."""
    for part in headline.asked:
        print_section(console, column_title(part.column), breakdown_table(part, headline.maximum, console))


def breakdown_table(part: Breakdown, maximum: float | None, console: Console) -> Table:
    """The ranking: a line for each value, what its interval counts, and what is beside it."""
    is_wide = console.width >= _WIDE
    scores = [group.score for group in part.groups]
    columns: list[tuple[str, list[Cell]]] = [
        (column_word(part.column), [name_text(group.name) for group in part.groups]),
        (">mean", [(headline_mean_text(score, maximum), "bold") for score in scores]),
        (">95% interval", [(headline_interval_text(score, maximum), QUIET) for score in scores]),
    ]
    if is_wide:
        columns.append((f"|{tables.DRAWN}", [interval_plot(score) for score in scores]))
    columns.append((">samples", [f"{score.samples:,}" for score in scores]))
    if any(score.questions != score.samples for score in scores):
        columns.append((">questions", [f"{score.questions:,}" for score in scores]))
    if any(score.counts.unscored or score.unverified for score in scores):
        columns.append((">bounds", [(headline_bounds_text(score, maximum), QUIET) for score in scores]))
        columns.append(("without a verdict", [without_text(score) for score in scores]))
    heads, cells = zip(*columns, strict=True)
    return table_of(heads, zip(*cells, strict=True), limit=_GROUPS_SHOWN)


def interval_plot(score: ScoreSummary) -> Text:
    """A line from 0 to 1: dots where the interval is not, a rule where it is, the mean as a mark."""
    last = _PLOT_WIDTH - 1
    if score.mean is None:
        return Text("·" * _PLOT_WIDTH, style=QUIET)
    ends = (score.interval.low, score.interval.high) if score.interval else (score.mean, score.mean)
    low, high, mean = (round(share * last) for share in (*ends, score.mean))
    return Text.assemble(
        ("·" * low, QUIET), ("━" * (mean - low), "blue"), ("●", "bold blue"), ("━" * (high - mean), "blue"),
        ("·" * (last - high), QUIET),
    )  # fmt: skip


def print_trust(
    agreement: Agreement | None, consistency: Sequence[SelfConsistency], maximum: float | None, console: Console
) -> None:
    """Short: the page and the document hold every pair and every disagreement."""
    if agreement is not None:
        parts = [part for part in agreement_view(agreement, maximum) if part is not None]
        print_section(console, "Agreement between judges", *parts)
    if consistency:
        lines = [Text(make_visible(consistency_sentence(one))) for one in consistency]
        print_section(console, "Each judge with itself", *lines)


def agreement_view(agreement: Agreement, maximum: float | None) -> Iterable[RenderableType | None]:
    yield Text(agreement_sentence(agreement, maximum))
    rows = [
        (
            measure_text(one.measure),
            (wording.coefficient_text(one.value), "bold"),
            (coefficient_interval_text(one), QUIET),
            (f"of {compared_text(one)}", QUIET),
        )
        for one in agreement.coefficients
    ]
    yield table_of(("coefficient", ">value", "95% interval", ""), rows)
    if len(agreement.judges) > 2:
        yield pair_table(agreement)
    said = counted_sentence(agreement)
    yield Text(said, style=QUIET) if said else None
    yield disagreement_table(agreement, maximum)
    rest = agreement.disagreements - min(_ITEMS_SHOWN, len(agreement.items))
    yield Text(f"… {rest:,} more; the page and --json have them", style=QUIET) if rest > 0 else None


def pair_table(agreement: Agreement) -> Table:
    """Those that agree least come first."""
    measure = pair_measure(agreement)
    pairs = sorted(agreement.pairs, key=lambda pair: (pair.of(measure).value is None, pair.of(measure).value or 0.0))
    rows = [
        (
            f"{pair.first} and {pair.second}",
            (wording.coefficient_text(pair.of(measure).value), "bold"),
            (coefficient_interval_text(pair.of(measure)), QUIET),
            wording.coefficient_text(pair.of(Measure.RAW).value),
            f"{pair.samples:,}",
        )
        for pair in pairs
    ]
    heads = ("judges", f">{measure_text(measure)}", "95% interval", ">raw", ">samples")
    return table_of(heads, rows, limit=_PAIRS_SHOWN)


def disagreement_table(agreement: Agreement, maximum: float | None) -> Table:
    rows = []
    for one in agreement.items[:_ITEMS_SHOWN]:
        told = [f"{judge} {opinion_text(score, verdict, agreement, maximum)}" for judge, score, verdict in one.judges]
        apart = wording.scale_text(one.spread, maximum) if agreement.is_graded else ""
        rows.append((one.id, apart, ", ".join(told)))
    return table_of(("differ on", ">apart" if agreement.is_graded else ">", "what they say, the strictest first"), rows)

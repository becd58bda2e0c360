"""What was judged, in its ranking, and how far the judges agree."""

from collections.abc import Iterable, Iterator, Sequence

from mixseek.analysis.agreement import Agreement, SelfConsistency
from mixseek.analysis.model import Breakdown, Headline, ScoreSummary
from mixseek.analysis.target_pairs import PairsReport
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
from mixseek.reports.pictures import IntervalPlot
from mixseek.reports.sections import (
    GAP,
    PLOT_HEAD,
    QUIET,
    Cell,
    Head,
    Part,
    Section,
    Sentence,
    TableRows,
    Words,
    notes,
    table_by_columns,
)
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
from mixseek.reports.wording.names import name_text
from mixseek.reports.wording.numbers import NOTHING, coefficient_text
from mixseek.reports.wording.scales import scale_text
from mixseek.reports.wording.scores import bounds_sentence
from mixseek.stats.raters import Measure

# A terminal shows the shape of a run; the page and the document hold the rest.
_GROUPS_SHOWN = 60
_ITEMS_SHOWN = 8
_PAIRS_SHOWN = 10


def headline_sections(headline: Headline) -> Iterator[Section]:
    """What was judged comes first; who judged it is said in a line."""
    yield Section(None, [GAP, Sentence(rule_sentence(headline))])
    yield from breakdown_sections(headline.columns, headline.maximum)
    whole = f"{headline.whole[0].upper()}{headline.whole[1:]}" if headline.columns else "Headline"
    line = Words([(f"{whole}  ", "bold"), score_sentence(headline.score, headline.maximum)])
    without = without_text(headline.score)
    beside = "" if without == NOTHING else f"beside it: {without}"
    yield Section(None, [GAP, Sentence(line, ""), *notes([beside, bounds_sentence(headline.score) or ""])])


def pairs_sections(report: PairsReport) -> Iterator[Section]:
    """Targets against each other, then how far the order decides."""
    rows: list[Sequence[Cell]] = []
    for pair in report.targets:
        counts = (f"{count:,}" for count in (pair.wins, pair.ties, pair.losses, pair.without))
        rows.append((pair.first, pair.second, *counts, (target_score_text(pair), "bold")))
    heads = ("target", "against", ">won", ">tied", ">lost", ">none", ">score, 95%")
    yield Section("Targets against each other", [TableRows(heads, rows)])
    judges: list[Sequence[Cell]] = []
    for judge in report.judges:
        shares = map(share_text, (judge.consistency, judge.first_shown, judge.ties, judge.human))
        judges.append((judge.judge, *shares, (states_text(judge.states), QUIET)))
    named = ("judge", ">consistent", ">first shown", ">ties", ">as people", "verdicts")
    yield Section("Both orders", [TableRows(named, judges)])
    biased = [judge for judge in report.judges if judge.position.decisive]
    yield Section(None, notes(f"{judge.judge}: {bias_text(judge)}" for judge in biased))


def breakdown_sections(parts: Iterable[Breakdown], maximum: float | None) -> Iterator[Section]:
    """What the headline is split by, and what the reader asked for with --by."""
    for part in parts:
        yield Section(column_title(part.column), [breakdown_table(part, maximum)])


def breakdown_table(part: Breakdown, maximum: float | None) -> TableRows:
    """The ranking: a line for each value, what its interval counts, and what is beside it."""
    scores = [group.score for group in part.groups]
    columns: list[tuple[str | Head, list[Cell]]] = [
        (column_word(part.column), [name_text(group.name) for group in part.groups]),
        (">mean", [(headline_mean_text(score, maximum), "bold") for score in scores]),
        (">95% interval", [(headline_interval_text(score, maximum), QUIET) for score in scores]),
        (PLOT_HEAD, [plot_of(score) for score in scores]),
        (">samples", [f"{score.samples:,}" for score in scores]),
    ]
    if any(score.questions != score.samples for score in scores):
        columns.append((">questions", [f"{score.questions:,}" for score in scores]))
    if any(score.counts.unscored or score.unverified for score in scores):
        columns.append((">bounds", [(headline_bounds_text(score, maximum), QUIET) for score in scores]))
        columns.append(("without a verdict", [without_text(score) for score in scores]))
    return table_by_columns(columns, _GROUPS_SHOWN)


def plot_of(score: ScoreSummary) -> IntervalPlot:
    """The mean with its interval."""
    return IntervalPlot(score.mean, (score.interval.low, score.interval.high) if score.interval else None)


def trust_sections(
    agreement: Agreement | None, consistency: Sequence[SelfConsistency], maximum: float | None
) -> Iterator[Section]:
    """Short: the page and the document hold every pair and every disagreement."""
    if agreement is not None:
        yield Section("Agreement between judges", list(agreement_parts(agreement, maximum)))
    yield Section("Each judge with itself", [Sentence(consistency_sentence(judge), "") for judge in consistency])


def agreement_parts(agreement: Agreement, maximum: float | None) -> Iterator[Part]:
    yield Sentence(agreement_sentence(agreement, maximum), "")
    rows = [
        (
            measure_text(coefficient.measure),
            (coefficient_text(coefficient.value), "bold"),
            (coefficient_interval_text(coefficient), QUIET),
            (f"of {compared_text(coefficient)}", QUIET),
        )
        for coefficient in agreement.coefficients
    ]
    yield TableRows(("coefficient", ">value", "95% interval", ""), rows)
    if len(agreement.judges) > 2:
        yield pair_table(agreement)
    yield from notes([counted_sentence(agreement) or ""])
    yield disagreement_table(agreement, maximum)
    rest = agreement.disagreements - min(_ITEMS_SHOWN, len(agreement.items))
    yield from notes([f"… {rest:,} more; the page and --json have them"] if rest > 0 else [])


def pair_table(agreement: Agreement) -> TableRows:
    """Those that agree least come first."""
    measure = pair_measure(agreement)
    pairs = sorted(agreement.pairs, key=lambda pair: (pair.of(measure).value is None, pair.of(measure).value or 0.0))
    rows = [
        (
            f"{pair.first} and {pair.second}",
            (coefficient_text(pair.of(measure).value), "bold"),
            (coefficient_interval_text(pair.of(measure)), QUIET),
            coefficient_text(pair.of(Measure.RAW).value),
            f"{pair.samples:,}",
        )
        for pair in pairs
    ]
    heads = ("judges", f">{measure_text(measure)}", "95% interval", ">raw", ">samples")
    return TableRows(heads, rows, _PAIRS_SHOWN)


def disagreement_table(agreement: Agreement, maximum: float | None) -> TableRows:
    rows = []
    for item in agreement.items[:_ITEMS_SHOWN]:
        opinions = [
            f"{judge} {opinion_text(score, verdict, agreement, maximum)}" for judge, score, verdict in item.judges
        ]
        apart = scale_text(item.spread, maximum) if agreement.is_graded else ""
        rows.append((item.id, apart, ", ".join(opinions)))
    return TableRows(
        ("differ on", ">apart" if agreement.is_graded else ">", "what they say, the strictest first"), rows
    )

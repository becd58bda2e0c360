"""How far the judges agree, with each other and with themselves, and what the order of two responses decides."""

from collections.abc import Iterator, Sequence

from mixseek.analysis.run.agreement import Agreement, SelfConsistency
from mixseek.analysis.target_pairs import JudgePairs, PairsReport
from mixseek.presentation.sections import (
    QUIET,
    Cell,
    Fitting,
    Link,
    Listing,
    Part,
    Section,
    Sentence,
    Shaded,
    TableRows,
    Words,
    notes,
    number_cell,
    number_head,
)
from mixseek.reports.pair_words import bias_text, share_text, states_text, target_score_text
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
from mixseek.reports.wording.numbers import NOTHING, coefficient_text
from mixseek.reports.wording.scales import scale_text
from mixseek.stats.raters import Measure
from mixseek.text.messages import COMMA, counted, message

# A terminal shows the shape of a run; the page has more, and the document all of it.
_ITEMS_SHOWN, _ITEMS_ON_PAGE = 8, 200
_PAIRS_SHOWN = 10
_TARGET_PAIRS_SHOWN, _TARGET_PAIRS_ON_PAGE = 60, 500


def pairs_sections(report: PairsReport) -> Iterator[Section]:
    """Targets against each other, then how far the order decides."""
    if report.targets:
        yield _target_pairs_section(report)
    yield _orders_section(report)


def _target_pairs_section(report: PairsReport) -> Section:
    rows: list[Sequence[Cell]] = []
    for pair in report.targets:
        counts = (number_cell(count) for count in (pair.wins, pair.ties, pair.losses, pair.without))
        rows.append((pair.first, pair.second, *counts, (target_score_text(pair), "bold")))
    heads = (
        message("head.target", "target"),
        message("panel.against", "against"),
        number_head(message("pairs.won", "won")),
        number_head(message("pairs.tied", "tied")),
        number_head(message("pairs.lost", "lost")),
        number_head(message("pairs.none", "none")),
        number_head(message("pairs.score", "score")),
    )
    title = message("panel.targets_against_each_other", "Targets against each other")
    halves = "a tie and a split pair count half; 95% interval over pairs, questions as clusters"
    note = message("panel.a_tie_and_a_split_pair_count", halves)
    table = TableRows(heads, rows, _TARGET_PAIRS_SHOWN, label=title, page_limit=_TARGET_PAIRS_ON_PAGE)
    return Section(title, [table], note=note, name="target-pairs")


def _orders_section(report: PairsReport) -> Section:
    rows: list[Sequence[Cell]] = []
    for judge in report.judges:
        shares = map(share_text, (judge.consistency, judge.first_shown, judge.ties, judge.human))
        rows.append((judge.judge, *shares, (states_text(judge.states), QUIET)))
    heads = (
        message("head.judge", "judge"),
        number_head(message("pairs.consistent", "consistent")),
        number_head(message("pairs.first_shown", "first shown")),
        number_head(message("pairs.ties", "ties")),
        number_head(message("pairs.as_people_say", "as people say")),
        message("word.verdicts", "verdicts"),
    )
    title = message("panel.both_orders", "Both orders")
    places = (
        "consistent: the same winner whichever response comes first; a half of first shown is no preference for a place"
    )
    note = message("panel.consistent_the_same_winner_whichever_response_comes", places)
    return Section(title, [TableRows(heads, rows, label=title), _biases(report)], note=note, name="orders")


def _biases(report: PairsReport) -> Listing:
    """Which place a judge follows, and how often the panel says what people say."""
    biased = [judge for judge in report.judges if judge.position.decisive]
    lines: list[str | Words] = [_bias(judge) for judge in biased]
    if report.human is not None:
        share = share_text(report.human)
        lines.append(message("pairs.the_panel_agrees", "the panel agrees with people {share}", share=share))
    return Listing(lines)


def _bias(judge: JudgePairs) -> Words:
    return Words([(judge.judge, "bold"), ": ", bias_text(judge)])


def trust_sections(
    agreement: Agreement | None, consistency: Sequence[SelfConsistency], maximum: float | None
) -> Iterator[Section]:
    """Agreement between judges, where they differ, and each judge with itself."""
    if agreement is not None:
        yield _agreement_section(agreement, maximum)
        yield _pair_section(agreement)
        yield _disagreement_section(agreement, maximum)
    title = message("panel.each_judge_with_itself", "Each judge with itself")
    note = message("panel.repeats_of_one_request", "repeats of one request")
    yield Section(title, [Listing([consistency_sentence(judge) for judge in consistency])], note=note)


def _agreement_section(agreement: Agreement, maximum: float | None) -> Section:
    rows = [
        (
            measure_text(coefficient.measure),
            (coefficient_text(coefficient.value), "bold"),
            (coefficient_interval_text(coefficient), QUIET),
            (compared_text(coefficient), QUIET),
        )
        for coefficient in agreement.coefficients
    ]
    heads = (
        message("panel.coefficient", "coefficient"),
        number_head(message("head.value", "value")),
        message("word.interval_95", "95% interval"),
        message("panel.of_what", "of what"),
    )
    title = message("panel.agreement_between_judges", "Agreement between judges")
    label = message("panel.coefficients_of_agreement", "Coefficients of agreement")
    table = TableRows(heads, rows, name="coefficients", label=label)
    lead = Sentence(agreement_sentence(agreement, maximum), "")
    return Section(title, [lead, table, *notes([counted_sentence(agreement) or ""])])


def _pair_section(agreement: Agreement) -> Section:
    """Every two judges; of only two the coefficients above say it all."""
    parts: list[Part] = []
    if len(agreement.judges) > 2:
        parts.append(Fitting(_pair_matrix(agreement), Sentence(""), (_pair_table(agreement), Sentence(""))))
    measure = message(
        "panel.measure_and_raw", "{measure}, raw agreement below it", measure=measure_text(pair_measure(agreement))
    )
    return Section(message("panel.judge_times_judge", "Judge × judge"), parts, note=measure)


def _pair_matrix(agreement: Agreement) -> TableRows:
    """Each judge against each other."""
    judges = agreement.judges
    rows: list[Sequence[Cell]] = [
        (
            first,
            *(_pair_cell(agreement, first, second) for second in judges),
        )
        for first in judges
    ]
    label = message("panel.judge_by_judge", "Judge by judge")
    return TableRows(
        (message("head.judge", "judge"), *(f">{judge}" for judge in judges)), rows, name="matrix", label=label
    )


def _pair_cell(agreement: Agreement, first: str, second: str) -> Shaded:
    """How far two judges agree, which leads to what the first says where the second says something else."""
    pair = agreement.between(first, second)
    if pair is None or first == second:
        return Shaded("" if first == second else NOTHING)
    coefficient = pair.of(pair_measure(agreement))
    raw = coefficient_text(pair.of(Measure.RAW).value)
    below = [f"\n{coefficient_interval_text(coefficient)}", f"\n{raw} · n={pair.samples:,}"]
    pieces = [(coefficient_text(coefficient.value), "bold"), *((line, QUIET) for line in below)]
    names = agreement.filter_names
    words = message("panel.where_two_differ", "where {first} and {second} differ", first=first, second=second)
    filters = {"judge": names.get(first, first), "against": names.get(second, second)}
    return Shaded(Link(Words(pieces), filters, label=words), max(0.0, coefficient.value or 0.0))


def _pair_table(agreement: Agreement) -> TableRows:
    """The same where a matrix does not fit; those that agree least come first."""
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


def _disagreement_section(agreement: Agreement, maximum: float | None) -> Section:
    """Samples on which judges differ; each leads to its judgments."""
    rows: list[Sequence[Cell]] = []
    for item in agreement.items:
        pieces: list[str | tuple[str, str]] = []
        for judge, score, verdict in item.judges:
            pieces += [COMMA if pieces else "", f"{judge} ", (opinion_text(score, verdict, agreement, maximum), "bold")]
        apart = [scale_text(item.spread, maximum)] if agreement.is_graded else []
        rows.append((Link(item.id, {"id": item.id}), *apart, Words(pieces)))
    heads = (
        message("head.sample", "sample"),
        *([number_head(message("panel.apart", "apart"))] if agreement.is_graded else []),
        message("panel.the_strictest_first", "the strictest first"),
    )
    title = message("panel.where_judges_differ", "Where judges differ")
    samples = counted(agreement.disagreements, "sample")
    note = message("panel.furthest_apart_first", "{samples}, furthest apart first", samples=samples)
    table = TableRows(heads, rows, _ITEMS_SHOWN, name="disagreements", label=title, page_limit=_ITEMS_ON_PAGE)
    rest = agreement.disagreements - len(agreement.items)
    more = message("panel.more_in_the_document", "{n} more: --json has all of them", n=rest)
    return Section(title, [table, *notes([more] if rest > 0 else [])], note=note, name="differences")

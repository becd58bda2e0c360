"""How far the judges can be trusted: the words of agreement, self-consistency and pairs, and what programs read."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from mixseek.analysis.agreement import Agreement, SelfConsistency
from mixseek.analysis.model import Breakdown, Headline, ScoreSummary
from mixseek.analysis.target_pairs import JudgePairs, PairsReport, Share, share_of
from mixseek.domain.counts import TargetPair
from mixseek.reports import tables, wording
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
from mixseek.reports.sections import QUIET
from mixseek.reports.tables import Cell, print_section, table_of
from mixseek.reports.wording import NOTHING, name_text, p_text, percent, range_text
from mixseek.stats.intervals import Interval
from mixseek.stats.raters import Coefficient, Measure
from mixseek.text import phrases
from mixseek.text.phrases import plural, shortened
from mixseek.text.visible import make_visible

# Words, once for terminal and page.

# With the key of each in documents of a report, which is longer than that of `mixseek stats`.
_NAMES = {
    Measure.RAW: ("raw_agreement", "raw agreement"),
    Measure.KAPPA: ("cohen_kappa", "Cohen's kappa"),
    Measure.KAPPA_QUADRATIC: ("weighted_kappa", "weighted kappa (quadratic)"),
    Measure.FLEISS: ("fleiss_kappa", "Fleiss' kappa"),
    Measure.ALPHA_NOMINAL: ("alpha_nominal", "Krippendorff's alpha, nominal"),
    Measure.ALPHA_ORDINAL: ("alpha_ordinal", "Krippendorff's alpha, ordinal"),
    Measure.ALPHA_INTERVAL: ("alpha_interval", "Krippendorff's alpha, interval"),
    Measure.AC1: ("gwet_ac1", "Gwet's AC1"),
    Measure.AC2_QUADRATIC: ("gwet_ac2", "Gwet's AC2 (quadratic)"),
}


def measure_text(measure: Measure) -> str:
    return _NAMES[measure][1]


def raw_measure() -> Measure:
    """For templates, which know functions by name."""
    return Measure.RAW


def pair_measure(agreement: Agreement) -> Measure:
    """What the matrix of judges shows: near misses count where scores are graded."""
    return Measure.KAPPA_QUADRATIC if agreement.is_graded else Measure.KAPPA


def coefficient_interval_text(one: Coefficient) -> str:
    """The interval, or why there is none."""
    return wording.coefficient_ends_text(one.interval) if one.interval else one.why or wording.NOTHING


def compared_text(one: Coefficient) -> str:
    """What was compared, and on which samples where a coefficient cannot use all of them."""
    over = wording.equal_items_text(one.over, "sample")
    return one.of if over is None else f"{one.of}; {over}"


def agreement_sentence(agreement: Agreement, maximum: float | None) -> str:
    """On how many samples judges give one verdict, and how far they are apart where scores are graded."""
    samples = phrases.plural(agreement.samples, "sample")
    over = "" if agreement.questions == agreement.samples else f" of {phrases.plural(agreement.questions, 'question')}"
    interval = _range(agreement.unanimous_interval)
    said = (
        f"One verdict on {agreement.unanimous:,} of {samples}{over} with several judges "
        f"({wording.percent(agreement.unanimous / agreement.samples)}{interval})"
    )
    if agreement.is_graded:
        apart = f"{wording.scale_text(agreement.mean_spread, maximum)} {wording.maximum_text(maximum)}"
        said += f"; highest and lowest score lie {apart} apart on average"
    return f"{said}."


def opinion_text(score: float, verdict: str, agreement: Agreement, maximum: float | None) -> str:
    """`6.00 PARTIAL`; where answers are right or wrong, the verdict says it all."""
    return f"{wording.scale_text(score, maximum)} {verdict}".strip() if agreement.is_graded else verdict


def counted_sentence(agreement: Agreement) -> str | None:
    """None where every sample is counted."""
    if agreement.counted == agreement.samples:
        return None
    return f"Coefficients are computed from {agreement.counted:,} of the samples, drawn by the digests of their texts."


def _range(interval: Interval | None) -> str:
    return f", {wording.range_text(interval)}" if interval else ""


def consistency_sentence(one: SelfConsistency) -> str:
    """How often a judge says the same again, and how much of the variance of its scores is its own."""
    said = (
        f"{one.judge}: one verdict on {one.unanimous:,} of {phrases.plural(one.samples, 'sample')} "
        f"judged several times ({wording.percent(one.unanimous / one.samples)}{_range(one.unanimous_interval)})"
    )
    if one.own_share is None:
        return f"{said}; its scores do not vary."
    interval = f" ({wording.range_text(one.own_interval)})" if one.own_interval else ""
    return f"{said}; {wording.percent(one.own_share)}{interval} of the variance of its scores is its own."


# Documents for programs.


def agreement_document(agreement: Agreement | None) -> dict[str, Any] | None:
    """Null where no sample has two judges. Coefficients by name, each with its interval or why it has none."""
    if agreement is None:
        return None
    return {
        "judges": list(agreement.judges),
        "units": {"samples": agreement.samples, "questions": agreement.questions},
        "counted": agreement.counted,
        "unanimous": agreement.unanimous,
        "unanimous_share": agreement.unanimous / agreement.samples,
        "unanimous_interval": asdict(agreement.unanimous_interval) if agreement.unanimous_interval else None,
        "mean_spread": agreement.mean_spread,
        "coefficients": _coefficient_documents(agreement.coefficients),
        "pairs": [
            {
                "judges": [pair.first, pair.second],
                "samples": pair.samples,
                "coefficients": _coefficient_documents(pair.coefficients),
            }
            for pair in agreement.pairs
        ],
        "disagreements": {"total": agreement.disagreements, "items": [asdict(item) for item in agreement.items]},
    }


def _coefficient_documents(coefficients: Sequence[Coefficient]) -> dict[str, Any]:
    return {
        _NAMES[one.measure][0]: {
            "value": one.value,
            "interval": asdict(one.interval) if one.interval else None,
            "of": one.of,
            "why": one.why,
            "over": asdict(one.over) if one.over else None,
        }
        for one in coefficients
    }


def consistency_documents(found: Sequence[SelfConsistency]) -> list[dict[str, Any]]:
    return [{**asdict(one), "unanimous_share": one.unanimous / one.samples} for one in found]


# Pairs in words, once for terminal and page, and as documents for programs.

_NAME_CHARACTERS = 40
# Lines on a terminal after `judge`; the report has the rest.
_SHOWN = 12


def share_text(share: Share) -> str:
    """`83.3% (60.1–94.2%)`; a dash where nothing was measured."""
    if share.value is None:
        return NOTHING
    return percent(share.value) + (f" ({range_text(share.interval)})" if share.interval else "")


def target_score_text(pair: TargetPair) -> str:
    """Of the first of two targets, a tie counting half."""
    return share_text(share_of(pair.units))


def states_text(states: Mapping[str, int]) -> str:
    """`40 agreed, 3 position`."""
    return ", ".join(f"{count:,} {name}" for name, count in states.items()) or "no verdict"


def orders_text(fields: Mapping[str, Any]) -> str | None:
    """`A first: A, B first: B (position)`: what each order said of A and B as they are; None where nothing is told."""
    orders: Mapping[str, Any] = fields.get("orders") or {}
    told = [f"{name[0].upper()} first: {one.get('verdict') or one.get('status')}" for name, one in orders.items()]
    state = f" ({fields['state']})" if fields.get("state") else ""
    return ", ".join(told) + state if told else None


def bias_text(judge: JudgePairs) -> str:
    """Which place it follows, where it follows one; a half is none."""
    position = judge.position
    if not position.decisive:
        return NOTHING
    turned = position.first_both + position.second_both
    if not turned:
        return "no pair turned with the order"
    said = f"{plural(turned, 'pair')} turned with the order: {position.first_both:,} for what came first"
    return f"{said}, {position.second_both:,} for what came last ({p_text(position.sign_test_p)})"


def describe_pairs(report: PairsReport) -> Iterator[str]:
    """A few lines after `judge`."""
    for one in report.targets[:_SHOWN]:
        names = " against ".join(shortened(make_visible(name), _NAME_CHARACTERS) for name in (one.first, one.second))
        without = f", {one.without:,} without a verdict" if one.without else ""
        yield f"{names}: {one.wins:,} won, {one.ties:,} tied, {one.losses:,} lost{without}; {target_score_text(one)}"
    if len(report.targets) > _SHOWN:
        yield f"and {plural(len(report.targets) - _SHOWN, 'pair of targets', 'pairs of targets')} more: see the report"
    for judge in report.judges:
        said = [f"consistent {share_text(judge.consistency)}", f"ties {share_text(judge.ties)}"]
        said += [f"agrees with people {share_text(judge.human)}"] if judge.human.value is not None else []
        yield f"{make_visible(judge.judge)}: {', '.join(said)}; {states_text(judge.states)}"
        if judge.position.decisive:
            yield f"  {bias_text(judge)}"
    if report.human is not None:
        yield f"the panel agrees with people {share_text(report.human)}"


# Documents for programs.


def pairs_document(report: PairsReport) -> dict[str, Any]:
    """`consistency`, `first_shown` and `bias` are of pairs in which both orders name a winner."""
    return {
        "targets": [
            {
                "target": one.first,
                "against": one.second,
                **{name: getattr(one, name) for name in ("wins", "ties", "losses", "without")},
                "score": _share_document(share_of(one.units)),
            }
            for one in report.targets
        ],
        "judges": [
            {
                "judge": one.judge,
                "pairs": one.position.pairs,
                "without_a_vote": one.position.with_null,
                "with_a_tie": one.position.with_tie,
                "consistent": one.position.consistent,
                "first_both": one.position.first_both,
                "second_both": one.position.second_both,
                "bias": one.position.bias,
                "sign_test_p": one.position.sign_test_p if one.position.decisive else None,
                "states": dict(one.states),
                "consistency": _share_document(one.consistency),
                "first_shown": _share_document(one.first_shown),
                "tie_rate": _share_document(one.ties),
                "human_agreement": _share_document(one.human),
            }
            for one in report.judges
        ],
        "human_agreement": _share_document(report.human) if report.human is not None else None,
    }


def _share_document(share: Share) -> dict[str, Any]:
    interval = share.interval
    ends = None if interval is None else {"low": interval.low, "high": interval.high, "method": interval.method}
    return {"value": share.value, "interval": ends, "pairs": share.pairs, "questions": share.questions}


# The headline and the trust section on a terminal: targets in their ranking, then how far the judges agree.

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

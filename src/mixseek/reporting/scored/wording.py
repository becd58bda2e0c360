"""Numbers and sentences about a protocol with dimensions: one wording for terminal and page."""

from collections.abc import Callable, Mapping, Sequence

from mixseek.domain.counts import CoverageCell, Disagreement
from mixseek.reporting.model import (
    ControlRow,
    Coverage,
    EvidenceSupport,
    GroupRate,
    HistogramBar,
    InvalidFactor,
    InvalidSpread,
    MeasureDifference,
    PanelAgreement,
    ScaleMean,
    VariantComparison,
)
from mixseek.reporting.wording import NOTHING, count_text, percent, plural

# Of dimensions; told apart with any kind of colour vision.
COLOURS = 8
NO_NAME = "(none named)"
TOTAL = "total"
PROBLEMS = {
    "not_found": "not in the response",
    "from_question": "from the question",
    "from_rubric": "from the rubric",
    "too_short": "too short to prove anything",
}


def name_text(name: str | None) -> str:
    return NO_NAME if name is None else name


def scale_text(share: float, maximum: float | None) -> str:
    """On the protocol's own scale; per cent of the maximum where samples have different ones."""
    if maximum is None:
        return percent(share)
    return number_text(share * maximum, maximum)


def number_text(value: float, maximum: float) -> str:
    """Two digits for short scales, one for long ones."""
    return f"{value:.1f}" if maximum > 10 else f"{value:.2f}"


def plain_number(value: float) -> str:
    """`2`, not `2.0`."""
    return f"{value:g}"


def maximum_text(maximum: float | None) -> str:
    """What stands after a mean."""
    return "of the maximum" if maximum is None else f"of {plain_number(maximum)}"


def mean_text(score: ScaleMean) -> str:
    return NOTHING if score.mean is None else scale_text(score.mean, score.maximum)


def mean_interval_text(score: ScaleMean) -> str:
    interval = score.interval
    if interval is None:
        return NOTHING
    return range_text(interval.low, interval.high, score.maximum)


def counted_text(score: ScaleMean) -> str:
    """What the interval counts: samples, and their questions where several samples ask the same."""
    if score.questions == score.samples:
        return count_text(score.samples)
    return f"{count_text(score.samples)} of {count_text(score.questions)} q."


def range_text(low: float, high: float, maximum: float | None) -> str:
    """Two ends; the per cent sign once."""
    if maximum is None:
        return f"{low * 100:.1f}–{high * 100:.1f}%"
    return f"{number_text(low * maximum, maximum)}–{number_text(high * maximum, maximum)}"


def bar_text(bar: HistogramBar, maximum: float | None) -> str:
    """A mark, or a range of them."""
    if bar.low == bar.high:
        return plain_number(bar.low)
    if maximum is None:
        return f"{bar.low * 100:.0f}–{bar.high * 100:.0f}%"
    return f"{plain_number(round(bar.low, 2))}–{plain_number(round(bar.high, 2))}"


def signed_text(share: float, maximum: float | None) -> str:
    """With a true minus: a hyphen is overlooked."""
    sign = "+" if share > 0 else "−" if share < 0 else "±"
    return sign + scale_text(abs(share), maximum)


def difference_text(measure: MeasureDifference) -> str:
    return signed_text(measure.difference.mean, measure.maximum)


def difference_interval_text(measure: MeasureDifference) -> str:
    interval = measure.difference.interval
    if interval is None:
        return NOTHING
    return f"{signed_text(interval.low, measure.maximum)} to {signed_text(interval.high, measure.maximum)}"


def difference_sentence(comparison: VariantComparison) -> str:
    """What the pairs say, and how little where they are few."""
    measure, difference = comparison.total, comparison.total.difference
    scale = maximum_text(measure.maximum)
    pairs = f"{count_text(difference.pairs)} {'pair' if difference.pairs == 1 else 'pairs'}"
    questions = f"{count_text(difference.clusters)} {'question' if difference.clusters == 1 else 'questions'}"
    said = f"{comparison.other} minus {comparison.base}: {difference_text(measure)} {scale}"
    if difference.interval is None:
        why = "one question" if difference.clusters == 1 else "no variation between questions"
        return f"{said} over {pairs} of {questions}; no interval ({why})"
    level = f"{difference.interval.level * 100:g}%"
    return f"{said} ({level} interval {difference_interval_text(measure)}) over {pairs} of {questions}"


def control_difference_text(row: ControlRow) -> str:
    """How much better a model finds itself."""
    difference = row.difference
    return NOTHING if difference is None else signed_text(difference, row.others.maximum)


def p_text(p_value: float) -> str:
    return "p < 0.001" if p_value < 0.001 else f"p = {p_value:.3f}"


def rate_text(group: GroupRate) -> str:
    return NOTHING if group.share is None else percent(group.share)


def rate_interval_text(group: GroupRate) -> str:
    interval = group.interval
    return NOTHING if interval is None else f"{interval.low * 100:.1f}–{interval.high * 100:.1f}%"


def factor_sentence(factor: InvalidFactor) -> str:
    """What the test says about one factor."""
    if factor.test is None or factor.p_adjusted is None:
        return "nothing to test"
    verdict = "uneven" if factor.is_uneven else "no sign of unevenness"
    how = f"{factor.test.method.value} test, V = {factor.test.effect:.2f}"
    return f"{verdict}: {p_text(factor.p_adjusted)} after Holm ({how})"


def invalid_sentence(spread: InvalidSpread) -> str:
    """Whether what is missing from the means is missing at random."""
    if not spread.whole.invalid:
        return "No evaluation is invalid."
    whole = f"{count_text(spread.whole.invalid)} of {count_text(spread.whole.judged)} evaluations are invalid"
    uneven = [f"by {factor.factor}: {p_text(factor.p_adjusted or 0.0)}" for factor in spread.uneven]
    if uneven:
        return (
            f"{whole}; invalid evaluations are not spread evenly ({', '.join(uneven)}): they are not missing at random."
        )
    tested = [factor.factor for factor in spread.factors if factor.test]
    if not tested:
        return f"{whole}; there is nothing to compare their spread over."
    return (
        f"{whole}; no uneven spread was found over {', '.join(tested)} (with few evaluations, weak evidence of none)."
    )


def coverage_sentence(coverage: Coverage) -> str:
    """How much of the product of question, variant, target and judge is there."""
    product = (
        f"{plural(coverage.questions, 'question')} × {plural(coverage.variants, 'variant')} × "
        f"{plural(coverage.targets, 'target')} × {plural(coverage.judges, 'judge')}"
    )
    said = f"{count_text(coverage.valid)} of {count_text(coverage.expected)} cells ({product}) hold a valid judgment"
    holes = coverage.holes_total
    end = "; no holes." if not holes else f"; {count_text(holes)} {'hole' if holes == 1 else 'holes'}, in no mean."
    verb = "names" if coverage.unnamed == 1 else "name"
    unnamed = f" {plural(coverage.unnamed, 'sample')} {verb} no question." if coverage.unnamed else ""
    return said + end + unnamed


def hole_text(cell: CoverageCell) -> str:
    """Where, and why nothing is there."""
    place = " · ".join(part for part in (cell.question, cell.variant, cell.target) if part is not None)
    why = "no output in the dataset" if cell.status is None else cell.status.value
    return f"{place} · judge {cell.judge}: {why}"


def support_text(support: EvidenceSupport) -> str:
    return percent(support.found / support.quotes) if support.quotes else NOTHING


def support_interval_text(support: EvidenceSupport) -> str:
    interval = support.interval
    return NOTHING if interval is None else f"{interval.low * 100:.1f}–{interval.high * 100:.1f}%"


def problem_text(problem: str) -> str:
    return PROBLEMS.get(problem, problem)


def panel_sentence(panel: PanelAgreement, maximum: float | None) -> str:
    """How far judges agree on samples that several of them scored."""
    spread = f"{scale_text(panel.mean_spread, maximum)} {maximum_text(maximum)}"
    alpha = "not defined (scores do not vary)" if panel.alpha is None else f"{panel.alpha:.2f}".replace("-", "−")
    return (
        f"One verdict on {count_text(panel.unanimous)} of {count_text(panel.samples)} samples with several judges "
        f"({percent(panel.unanimous / panel.samples)}); highest and lowest score lie {spread} apart on average; "
        f"Krippendorff's alpha {alpha}."
    )


def told_text(item: Disagreement, maximum: float | None) -> str:
    """Every judge's word, the strictest first."""
    return ", ".join(f"{judge} {scale_text(score, maximum)} {verdict}" for judge, score, verdict in item.judges)


def critical_sentence(count: int) -> str:
    """The headline that comes before every mean."""
    return "1 judgment is a critical fail" if count == 1 else f"{count_text(count)} judgments are critical fails"


def dimension_number(name: str, dimensions: Sequence[str]) -> int:
    """Which of the eight colours; 0 for what is no dimension of the protocol."""
    return dimensions.index(name) % COLOURS + 1 if name in dimensions else 0


def difference_reach(comparison: VariantComparison) -> float:
    """How far the axis of a comparison reaches to both sides: to the widest end, and a tenth of the scale at least."""
    measures = (comparison.total, *comparison.dimensions)
    ends = [abs(measure.difference.mean) for measure in measures]
    ends += [
        abs(end) for item in measures if (own := item.difference.interval) is not None for end in (own.low, own.high)
    ]
    return max(0.1, *ends)


def widest_rate(spread: InvalidSpread) -> float:
    """The right end of the axis on which shares of invalid evaluations are drawn."""
    ends = [group.interval.high for factor in spread.factors for group in factor.groups if group.interval]
    return max(ends, default=1.0) or 1.0


# Names under which the page's templates know the functions above.
FILTERS: Mapping[str, Callable[..., object]] = {
    "bar": bar_text,
    "control_difference": control_difference_text,
    "counted": counted_text,
    "coverage": coverage_sentence,
    "critical": critical_sentence,
    "difference": difference_text,
    "difference_interval": difference_interval_text,
    "difference_sentence": difference_sentence,
    "factor_sentence": factor_sentence,
    "hole": hole_text,
    "invalid_sentence": invalid_sentence,
    "maximum": maximum_text,
    "mean": mean_text,
    "mean_interval": mean_interval_text,
    "name": name_text,
    "panel_sentence": panel_sentence,
    "plain_number": plain_number,
    "problem": problem_text,
    "range": range_text,
    "rate": rate_text,
    "rate_interval": rate_interval_text,
    "reach": difference_reach,
    "scale": scale_text,
    "support": support_text,
    "support_interval": support_interval_text,
    "widest": widest_rate,
}

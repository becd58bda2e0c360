"""Under a protocol with dimensions: numbers on the protocol's own scale, and sentences about them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mixseek.reports.wording.names import factor_text, state_text
from mixseek.reports.wording.numbers import NOTHING, ends_text, p_text, percent, range_between
from mixseek.text.messages import Message, counted, join, message
from mixseek.text.phrases import plain_number

if TYPE_CHECKING:
    from mixseek.analysis import scored_model
    from mixseek.domain.scored_counts import CoverageCell
    from mixseek.stats.intervals import Interval


def scale_text(share: float | None, maximum: float | None) -> str:
    """A share on the protocol's own scale, more digits on a short one; per cent where samples have several maxima."""
    if share is None:
        return NOTHING
    if maximum is None:
        return percent(share)
    return f"{share * maximum:.1f}" if maximum > 10 else f"{share * maximum:.2f}"


def maximum_text(maximum: float | None) -> str:
    if maximum is None:
        return message("scale.of_the_maximum", "of the maximum")
    return message("scale.of", "of {maximum}", maximum=plain_number(maximum))


def of_maximum_text(value: str, maximum: float | None) -> Message:
    """`5.40 of 8`, `67.5% of the maximum`."""
    if maximum is None:
        return message("score.of_the_maximum", "{value} of the maximum", value=value)
    return message("score.of", "{value} of {maximum}", value=value, maximum=plain_number(maximum))


def mean_text(score: "scored_model.ScaleMean") -> str:
    return scale_text(score.mean, score.maximum)


def counted_text(score: "scored_model.ScaleMean") -> str:
    """What the interval counts: samples, and their questions where several samples ask the same."""
    if score.questions == score.samples:
        return f"{score.samples:,}"
    return message("scale.samples_of", "{samples} of {questions} q.", samples=score.samples, questions=score.questions)


def range_text(interval: "Interval | None", maximum: float | None = None) -> str:
    """Two ends; the per cent sign once."""
    if interval is None:
        return NOTHING
    if maximum is None:
        return ends_text(interval.low, interval.high, is_binary=True)
    return f"{scale_text(interval.low, maximum)}–{scale_text(interval.high, maximum)}"


def bar_text(bar: "scored_model.HistogramBar", maximum: float | None) -> str:
    if bar.low == bar.high:
        return plain_number(bar.low)
    if maximum is None:
        return f"{bar.low * 100:.0f}–{bar.high * 100:.0f}%"
    return f"{plain_number(round(bar.low, 2))}–{plain_number(round(bar.high, 2))}"


def signed_text(share: float | None, maximum: float | None) -> str:
    """The sign is a true minus: a hyphen is overlooked."""
    if share is None:
        return NOTHING
    sign = "+" if share > 0 else "−" if share < 0 else "±"
    return sign + scale_text(abs(share), maximum)


def difference_text(measure: "scored_model.MeasureDifference") -> str:
    return signed_text(measure.difference.mean, measure.maximum)


def difference_interval_text(measure: "scored_model.MeasureDifference") -> str:
    interval = measure.difference.interval
    if interval is None:
        return NOTHING
    return range_between(signed_text(interval.low, measure.maximum), signed_text(interval.high, measure.maximum))


def difference_sentence(comparison: "scored_model.VariantComparison") -> Message:
    """What the pairs say, and how little where they are few."""
    measure, difference = comparison.total, comparison.total.difference
    value: str = of_maximum_text(difference_text(measure), measure.maximum)
    if difference.interval is not None:
        level, ends = f"{difference.interval.level * 100:g}", difference_interval_text(measure)
        within = "{value} ({level}% interval {ends})"
        value = message("variants.value_within", within, value=value, level=level, ends=ends)
    sentence = message(
        "variants.difference",
        "{other} minus {base}: {value} over {pairs} of {questions}",
        other=comparison.other,
        base=comparison.base,
        value=value,
        pairs=counted(difference.pairs, "pair"),
        questions=counted(difference.clusters, "question"),
    )
    if difference.interval is not None:
        return sentence
    why = message("variants.no_interval_one_question", "no interval (one question)")
    if difference.clusters != 1:
        why = message("variants.no_interval_no_variation", "no interval (no variation between questions)")
    return join((sentence, why), "; ")


_TESTS = {
    "exact": message("test.exact", "exact"),
    "permutation": message("test.permutation", "permutation"),
    "chi-square": message("test.chi_square", "chi-square"),
}


def factor_sentence(factor: "scored_model.InvalidFactor") -> Message:
    if factor.test is None or factor.p_adjusted is None:
        return message("invalid.nothing_to_test", "nothing to test")
    how = {
        "p": p_text(factor.p_adjusted),
        "method": _TESTS[factor.test.method.value],
        "effect": f"{factor.test.effect:.2f}",
    }
    if factor.is_uneven:
        return message("invalid.uneven", "uneven: {p} after Holm ({method} test, V = {effect})", **how)
    return message("invalid.even", "no sign of unevenness: {p} after Holm ({method} test, V = {effect})", **how)


def invalid_sentence(spread: "scored_model.InvalidSpread") -> Message:
    """Whether what is missing from the means is missing at random."""
    if not spread.whole.invalid:
        return message("invalid.none", "No evaluation is invalid.")
    invalid, judged = spread.whole.invalid, spread.whole.judged
    whole = message("invalid.share", "{invalid} of {judged} evaluations are invalid", invalid=invalid, judged=judged)
    uneven = [
        message("invalid.by", "by {factor}: {p}", factor=factor_text(factor.factor), p=p_text(factor.p_adjusted or 0.0))
        for factor in spread.uneven
    ]
    tested = [factor_text(factor.factor) for factor in spread.factors if factor.test]
    if uneven:
        words = "invalid evaluations are not spread evenly ({factors}): they are not missing at random"
        conclusion = message("invalid.not_at_random", words, factors=join(uneven, ", "))
    elif not tested:
        conclusion = message("invalid.nothing_to_compare", "there is nothing to compare their spread over")
    else:
        words = "no uneven spread was found over {factors} (with few evaluations, weak evidence of none)"
        conclusion = message("invalid.spread_evenly", words, factors=join(tested, ", "))
    return message("joint.sentence", "{words}.", words=join((whole, conclusion), "; "))


def coverage_sentence(coverage: "scored_model.Coverage") -> Message:
    """How much of the product of question, variant, target and judge is there."""
    cells = message(
        "coverage.cells",
        "{valid} of {expected} cells ({questions} × {variants} × {targets} × {judges}) hold a valid judgment",
        valid=coverage.valid,
        expected=coverage.expected,
        questions=counted(coverage.questions, "question"),
        variants=counted(coverage.variants, "variant"),
        targets=counted(coverage.targets, "target"),
        judges=counted(coverage.judges, "judge"),
    )
    holes = message("coverage.no_holes", "no holes")
    if coverage.holes_total:
        number = counted(coverage.holes_total, "hole")
        holes = message("coverage.holes", "{holes}, in no mean", holes=number)
    sentence = message("joint.sentence", "{words}.", words=join((cells, holes), "; "))
    if not coverage.unnamed:
        return sentence
    unnamed = counted(coverage.unnamed, "sample names no question", "samples name no question")
    return message("coverage.with_unnamed", "{coverage} {unnamed}.", coverage=sentence, unnamed=unnamed)


def hole_text(cell: "CoverageCell") -> Message:
    """Where, and why nothing is there."""
    place = " · ".join(part for part in (cell.question, cell.variant, cell.target) if part is not None)
    why = message("coverage.no_output", "no output in the dataset")
    if cell.status is not None:
        why = state_text(cell.status.value)
    return message("coverage.hole", "{place} · judge {judge}: {why}", place=place, judge=cell.judge, why=why)


def critical_sentence(count: int) -> Message:
    """The headline that comes before every mean."""
    if count == 1:
        return message("scores.one_critical", "1 judgment is a critical fail")
    return message("scores.several_critical", "{n} judgments are critical fails", n=count)


# Of dimensions; told apart with any kind of colour vision.
_COLOURS = 8


def dimension_number(name: str, dimensions: Sequence[str]) -> int:
    """Which of the eight colours; 0 for what is no dimension of the protocol."""
    return dimensions.index(name) % _COLOURS + 1 if name in dimensions else 0


def dimension_style(name: str, dimensions: Sequence[str]) -> str:
    """The style of whatever belongs to this dimension."""
    return f"dimension-{dimension_number(name, dimensions)}"


def difference_reach(comparison: "scored_model.VariantComparison") -> float:
    """How far the axis of a comparison reaches to both sides: to the widest end, and a tenth of the scale at least."""
    differences = [measure.difference for measure in (comparison.total, *comparison.dimensions)]
    ends = [difference.mean for difference in differences]
    ends += [
        end for difference in differences if (interval := difference.interval) for end in (interval.low, interval.high)
    ]
    return max(0.1, *map(abs, ends))


def widest_rate(spread: "scored_model.InvalidSpread") -> float:
    """The right end of the axis on which shares of invalid evaluations are drawn."""
    ends = [group.interval.high for factor in spread.factors for group in factor.groups if group.interval]
    return max(ends, default=1.0) or 1.0

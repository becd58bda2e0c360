"""The words of reports, once for terminal and page."""

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING

from mixseek.stats.intervals import IntervalMethod, QuestionSizes
from mixseek.text.messages import Message, counted, join, message, verbatim
from mixseek.text.phrases import plain_number, plural

if TYPE_CHECKING:
    # Words need no types: a command that lists runs would load what only a report has.
    from mixseek.analysis import model, report_data, scored_model
    from mixseek.analysis.model import ScoreSummary
    from mixseek.domain.scored_counts import CoverageCell
    from mixseek.stats.intervals import Interval
    from mixseek.stats.raters import EqualItems

NO_TASK = "(no task)"
NO_NAME = "(none named)"
NOTHING = "–"
TRUST_TITLE = message("trust.title", "How far the judges can be trusted")
# Seed 001's judgments and those of pairs carry these; a protocol of one's own may have others.
_WARNINGS = {
    "extracted_answer_not_in_response": "the extracted answer is not in the response",
    "extracted_answer_copies_ground_truth": "the extracted answer is the ground truth, which the response does not say",
    "correct_with_low_reasoning_score": "correct, with the reasoning score of a failure (1 or 2)",
    "position": "the two orders name different winners: a tie by position",
    "partial": "one order is a tie and the other names a winner: a tie, because a win needs both",
    "quote_not_in_its_response": "a quote is not in the response that it names",
    "strength_beside_a_tie": "a strength beside a tie, which says nothing",
}
_PROBLEMS = {
    "not_found": "not in the response",
    "from_question": "from the question",
    "from_rubric": "from the rubric",
    "too_short": "too short to prove anything",
}
# A cheap guess, only to choose between Japanese, Korean and Chinese shapes of the same characters.
_SCRIPTS = {
    "ja": re.compile(r"[\u3041-\u30ff\u31f0-\u31ff\uff66-\uff9f]"),
    "ko": re.compile(r"[\u1100-\u11ff\uac00-\ud7af]"),
    "zh": re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f]"),
}


# How a sample or a run ended, and what a right-or-wrong protocol says; other words are a protocol's own.
_STATES = {
    "valid": message("word.valid", "valid"),
    "split": message("word.split", "split"),
    "undecided": message("word.undecided", "undecided"),
    "invalid": message("word.invalid", "invalid"),
    "missing": message("word.missing", "missing"),
    "running": message("word.running", "running"),
    "finished": message("word.finished", "finished"),
    "interrupted": message("word.interrupted", "interrupted"),
    "failed": message("word.failed", "failed"),
}
_VERDICTS = {
    "correct": message("word.correct", "correct"),
    "incorrect": message("word.incorrect", "incorrect"),
}
# The word order of other languages needs a whole phrase for each.
_LEVELS = {
    IntervalMethod.WILSON: partial(message, "interval.wilson", "{level}% Wilson interval"),
    IntervalMethod.GRADED_WILSON: partial(message, "interval.graded_wilson", "{level}% graded Wilson interval"),
    IntervalMethod.STUDENT: partial(message, "interval.student", "{level}% Student t interval"),
    IntervalMethod.CLUSTERED: partial(message, "interval.clustered", "{level}% clustered Student t interval"),
    IntervalMethod.CLUSTERED_WILSON: partial(
        message, "interval.clustered_wilson", "{level}% clustered Wilson interval"
    ),
    IntervalMethod.JACKKNIFE: partial(message, "interval.jackknife", "{level}% jackknife over questions interval"),
    IntervalMethod.SANDWICH: partial(message, "interval.sandwich", "{level}% sandwich over questions interval"),
    IntervalMethod.RULE_OF_THREE: partial(message, "interval.rule_of_three", "{level}% rule-of-three interval"),
}


def state_text(name: str) -> Message:
    """How something ended, as a word."""
    return _STATES.get(name) or verbatim(name)


def verdict_text(name: str) -> Message:
    """A verdict, or how a sample ended without one; a protocol's own words are shown as the protocol has them."""
    return _VERDICTS.get(name) or state_text(name)


def language_of(text: str) -> str | None:
    """Kana before Hangul before Han: Japanese uses all Chinese characters too."""
    return next((language for language, script in _SCRIPTS.items() if script.search(text)), None)


def percent(share: float) -> str:
    """One decimal; 0 % and 100 % are said only of exactly none and all."""
    if 0 < share < 0.001:
        return "<0.1%"
    if 0.999 < share < 1:
        return ">99.9%"
    return f"{share * 100:.1f}%"


# A share, a mean, a difference, a coefficient, and their ends: so `report`, `compare`, `stats` and boards write them.


def score_number(value: float | None, *, is_binary: bool) -> str:
    """A share of right answers as per cent, a graded mean as a number, nothing as a dash."""
    if value is None:
        return NOTHING
    return percent(value) if is_binary else _with_minus(f"{value:z.3f}")


def ends_text(low: float | None, high: float | None, *, is_binary: bool) -> str:
    """`59.8–77.1%`, `0.612–0.751`: the unit once, and no dash beside a minus."""
    if low is None or high is None:
        return NOTHING
    if is_binary:
        return f"{low * 100:.1f}–{high * 100:.1f}%"
    return ("–" if low >= 0 else " to ").join(_with_minus(f"{end:z.3f}") for end in (low, high))


def estimate_text(point: float | None, low: float | None, high: float | None, *, is_binary: bool) -> str:
    """`68.5% (61.2–75.1%)`; where there are only bounds, `between 12.0 and 41.5%`."""
    ends = ends_text(low, high, is_binary=is_binary)
    if point is None:
        return NOTHING if low is None else f"between {ends.replace('–', ' and ').replace(' to ', ' and ')}"
    number = score_number(point, is_binary=is_binary)
    return number if ends == NOTHING else f"{number} ({ends})"


def lead_text(share: float | None, *, is_binary: bool) -> str:
    """A difference: of shares in points, of graded scores on their scale; with a true minus: a hyphen is overlooked."""
    if share is None:
        return NOTHING
    # What is rounded to nought has still a sign.
    sign = "+" if share > 0 else "−" if share < 0 else "±"
    return f"{sign}{abs(share) * 100:.1f} points" if is_binary else f"{sign}{abs(share):.3f}"


def lead_ends_text(low: float | None, high: float | None, *, is_binary: bool) -> str:
    """`+9.3 to +48.1 points`: the unit once."""
    if low is None or high is None:
        return NOTHING
    return f"{lead_text(low, is_binary=is_binary).removesuffix(' points')} to {lead_text(high, is_binary=is_binary)}"


def coefficient_text(value: float | None) -> str:
    """Two digits with a true minus; raw agreement too, so that all can be compared."""
    return NOTHING if value is None else _with_minus(f"{value:z.2f}")


def coefficient_ends_text(interval: "Interval | None") -> str:
    return NOTHING if interval is None else f"{coefficient_text(interval.low)} to {coefficient_text(interval.high)}"


def strength_text(value: float | None) -> str:
    """A strength or a slope, in logits or points: two digits, always with a sign."""
    return NOTHING if value is None else _with_minus(f"{value:+z.2f}")


def strength_ends_text(interval: "Interval | None") -> str:
    return NOTHING if interval is None else f"{strength_text(interval.low)} to {strength_text(interval.high)}"


def _with_minus(digits: str) -> str:
    """Digits with a true minus; nought has no sign (`z`): what rounding left of it is no direction."""
    return digits.replace("-", "−")


def equal_items_text(over: "EqualItems | None", noun: str) -> Message | None:
    """`40 of 48 samples: those with 2 ratings`; None where all that were rated twice count."""
    if over is None or over.items == over.rated_twice:
        return None
    return message(
        "trust.equal_items",
        "{items} of {rated}: those with {ratings} ratings",
        items=over.items,
        rated=counted(over.rated_twice, "item") if noun == "item" else counted(over.rated_twice, "sample"),
        ratings=str(over.ratings),
    )


def moment_text(moment: str | None) -> str | None:
    """`2026-03-01 09:12 UTC`; whatever is no ISO time is shown as it stands."""
    if moment is None:
        return None
    try:
        parsed = datetime.fromisoformat(moment)
    except ValueError:
        return moment
    if parsed.tzinfo is None:
        return f"{parsed:%Y-%m-%d %H:%M}"
    return f"{parsed.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def name_text(name: str | None) -> str:
    return NO_NAME if name is None else name


# Scores of 0..1, whatever the protocol.


def score_text(score: "ScoreSummary") -> str:
    """A share of right answers as per cent, a graded mean as a number, nothing as a dash."""
    return score_number(score.mean, is_binary=score.is_binary)


def interval_text(score: "ScoreSummary") -> str:
    interval = score.interval
    return NOTHING if interval is None else ends_text(interval.low, interval.high, is_binary=score.is_binary)


def level_text(interval: "Interval") -> Message:
    return _LEVELS[interval.method](level=f"{interval.level * 100:g}")


def interval_sentence(score: "ScoreSummary") -> str:
    """`95% Wilson interval 38.7–78.1%, 20 samples`: an interval with its method and what it counts."""
    if score.interval is None:
        return units_text(score)
    return f"{level_text(score.interval)} {interval_text(score)}, {units_text(score)}"


def no_interval_sentence(score: "ScoreSummary") -> Message:
    """Why a mean has no interval: one observation has no spread, however often it was looked at."""
    units = units_text(score)
    if score.samples == 1:
        return message("score.one_sample", "{units}: no interval, because one observation has no spread", units=units)
    why = "{units}: no interval, because samples of one question are one observation"
    return message("score.one_question", why, units=units)


def units_text(score: "ScoreSummary") -> Message:
    """What an interval counts: samples, and questions where several samples ask the same one."""
    samples = counted(score.samples, "sample")
    if score.questions == score.samples:
        return samples
    questions = counted(score.questions, "question")
    units = message("score.units", "{samples} of {questions}", samples=samples, questions=questions)
    few = few_questions_text(score.questions, score.effective_questions)
    return join((units, few), ", ") if few else units


def few_questions_text(questions: int, effective: float | None) -> Message | None:
    """Said of a number of questions where few of them carry the mean; None where sizes are alike."""
    if effective is None or not QuestionSizes(questions, effective).is_carried_by_few:
        return None
    few = "few of which carry the mean: as much as {equal} of equal size"
    return message("score.few_questions", few, equal=f"{effective:.1f}")


def bounds_sentence(score: "ScoreSummary") -> Message | None:
    """None when every sample has a score to rely on: then there is nothing to bound."""
    bounds, unscored, unverified = score.bounds, score.counts.unscored, score.unverified
    if bounds is None or unscored + unverified == 0:
        return None
    subject = message("bounds.the_one_sample", "the one sample without a verdict")
    if unscored != 1:
        subject = message("bounds.all_samples", "all {n} samples without a verdict", n=unscored)
    worst, best = (score_number(end, is_binary=score.is_binary) for end in (bounds.worst, bounds.best))
    if not unverified:
        ends = "If {samples} had the lowest score: {worst}; the highest: {best}."
        return message("bounds.unscored", ends, samples=subject, worst=worst, best=best)
    if not unscored:
        return message("bounds.unverified", "If the {n} unverified were wrong: {worst}.", n=unverified, worst=worst)
    # In the best case an unverified judgment is as good as it says.
    ends = "If {samples} and the {n} unverified were wrong: {worst}; if those without a verdict were right: {best}."
    return message("bounds.unscored_and_unverified", ends, samples=subject, n=unverified, worst=worst, best=best)


def warning_text(name: str) -> str:
    """A warning of a protocol in words; as it stands where this page knows none."""
    return _WARNINGS.get(name, name)


def reasoning_text(reasoning: "model.ReasoningSummary") -> Message:
    """`mean 3.89, 4.99 where correct, 1.95 where incorrect`."""
    right, wrong = reasoning.mean_correct, reasoning.mean_incorrect
    parts = [message("reasoning.mean", "mean {mean}", mean=f"{reasoning.mean:.2f}")]
    if right is not None:
        parts.append(message("reasoning.where_correct", "{mean} where correct", mean=f"{right:.2f}"))
    if wrong is not None:
        parts.append(message("reasoning.where_incorrect", "{mean} where incorrect", mean=f"{wrong:.2f}"))
    return join(parts, ", ")


def mean_reasoning_text(reasoning: "model.ReasoningSummary | None") -> str:
    return NOTHING if reasoning is None else f"{reasoning.mean:.2f}"


def reasks_text(asked_again: int) -> str:
    """`invalid 0` alone would be said of the last replies, and read as said of all."""
    return f"after {plural(asked_again, 're-ask')} (first replies that were invalid)"


def first_replies_sentence(judge: "model.JudgeSummary") -> Message | None:
    """How often a judge's first reply could not be used, whatever came of asking again; None without replies."""
    first = judge.first_replies
    if first is None or not first.replies:
        return None
    share = percent(first.first_invalid / first.replies)
    replies = "First replies: {invalid} of {replies} invalid ({share})."
    return message("report.first_replies", replies, invalid=first.first_invalid, replies=first.replies, share=share)


def control_sentence(judge: "model.JudgeSummary") -> str | None:
    """What a judge says of its own output, in the unit of its headline; None where it was not asked that."""
    control = judge.control
    if control is None:
        return None
    mean = f", mean {score_text(in_unit_of(judge.score, control))}" if control.mean is not None else ""
    return f"{plural(control.counts.total, 'self-judgment')} apart{mean}: a control, in no mean."


def in_unit_of(main: "ScoreSummary", control: "ScoreSummary") -> "ScoreSummary":
    """Even a control of noughts and ones is no share of right answers beside a graded mean."""
    return replace(control, is_binary=control.is_binary and main.is_binary)


def mean_label(judge: "model.JudgeSummary") -> Message:
    """What the headline number is a mean of. `correct` alone would be wrong for graded protocols."""
    if judge.score.mean is None:
        return message("report.nothing_was_scored", "nothing was scored")
    best = judge.verdicts[0].name if judge.verdicts else "correct"
    if judge.score.is_binary and judge.score.mean > 0:
        return verdict_text(best)
    return message("word.mean_score", "mean score")


def shown_sentence(report: "report_data.ReportData") -> Message:
    """How many judgments the page lists; all, unless no browser could open so many."""
    total = report.rows_total
    if not report.is_complete:
        from mixseek.analysis import report_data

        some = "Of {total} judgments, at most {most} of each kind and judge are listed."
        return message("report.some_are_listed", some, total=total, most=report_data.LISTED_OF_EACH_KIND)
    if total == 1:
        return message("report.one_is_listed", "The one judgment is listed.")
    return message("report.all_are_listed", "All {total} judgments are listed.", total=total)


# Under a protocol with dimensions: numbers on the protocol's own scale.


def scale_text(share: float | None, maximum: float | None) -> str:
    """A share on the protocol's own scale, more digits on a short one; per cent where samples have several maxima."""
    if share is None:
        return NOTHING
    if maximum is None:
        return percent(share)
    return f"{share * maximum:.1f}" if maximum > 10 else f"{share * maximum:.2f}"


def maximum_text(maximum: float | None) -> str:
    return "of the maximum" if maximum is None else f"of {plain_number(maximum)}"


def of_maximum_text(value: str, maximum: float | None) -> Message:
    """`5.40 of 8`, `67.5% of the maximum`."""
    if maximum is None:
        return message("score.of_the_maximum", "{value} of the maximum", value=value)
    return message("score.of", "{value} of {maximum}", value=value, maximum=plain_number(maximum))


def mean_text(score: "scored_model.ScaleMean") -> str:
    return scale_text(score.mean, score.maximum)


def counted_text(score: "scored_model.ScaleMean") -> str:
    """What the interval counts: samples, and their questions where several samples ask the same."""
    return f"{score.samples:,}" if score.questions == score.samples else f"{score.samples:,} of {score.questions:,} q."


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
    return f"{signed_text(interval.low, measure.maximum)} to {signed_text(interval.high, measure.maximum)}"


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


def p_text(p_value: float) -> str:
    return "p < 0.001" if p_value < 0.001 else f"p = {p_value:.3f}"


def p_number(p_value: float | None) -> str:
    """`0.028`, `< 0.001`: the head of the column says what it is."""
    return NOTHING if p_value is None else p_text(p_value).removeprefix("p ").removeprefix("= ")


def part_text(part: int, whole: int) -> str:
    return percent(part / whole) if whole else NOTHING


def factor_sentence(factor: "scored_model.InvalidFactor") -> Message:
    if factor.test is None or factor.p_adjusted is None:
        return message("invalid.nothing_to_test", "nothing to test")
    how = {
        "p": p_text(factor.p_adjusted),
        "method": factor.test.method.value,
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
    uneven = ", ".join(f"by {factor.factor}: {p_text(factor.p_adjusted or 0.0)}" for factor in spread.uneven)
    tested = ", ".join(factor.factor for factor in spread.factors if factor.test)
    if uneven:
        words = "invalid evaluations are not spread evenly ({factors}): they are not missing at random"
        conclusion = message("invalid.not_at_random", words, factors=uneven)
    elif not tested:
        conclusion = message("invalid.nothing_to_compare", "there is nothing to compare their spread over")
    else:
        words = "no uneven spread was found over {factors} (with few evaluations, weak evidence of none)"
        conclusion = message("invalid.spread_evenly", words, factors=tested)
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


def hole_text(cell: "CoverageCell") -> str:
    """Where, and why nothing is there."""
    place = " · ".join(part for part in (cell.question, cell.variant, cell.target) if part is not None)
    why = "no output in the dataset" if cell.status is None else cell.status.value
    return f"{place} · judge {cell.judge}: {why}"


def problem_text(problem: str) -> str:
    return _PROBLEMS.get(problem, problem)


def critical_sentence(count: int) -> str:
    """The headline that comes before every mean."""
    return "1 judgment is a critical fail" if count == 1 else f"{count:,} judgments are critical fails"


# Of dimensions; told apart with any kind of colour vision.
_COLOURS = 8


def dimension_number(name: str, dimensions: Sequence[str]) -> int:
    """Which of the eight colours; 0 for what is no dimension of the protocol."""
    return dimensions.index(name) % _COLOURS + 1 if name in dimensions else 0


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


def masked_text(replies: int) -> Message:
    """Told wherever calls are: who has the endpoint's replies may have the key."""
    masked = "the endpoint repeated a key, which was masked in {n} of its replies"
    return message("calls.masked", masked, n=replies)

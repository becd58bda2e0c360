"""Sentences about scores of 0..1, whatever the protocol: means, their intervals and what they count."""

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from mixseek.reports.wording.names import verdict_text
from mixseek.reports.wording.numbers import NOTHING, ends_text, percent, score_number
from mixseek.reports.wording.responses import ends_of_responses
from mixseek.stats.intervals import IntervalMethod, QuestionSizes
from mixseek.text.messages import Message, counted, join, message

if TYPE_CHECKING:
    from mixseek.analysis.run import model, report_data
    from mixseek.analysis.run.model import ScoreSummary
    from mixseek.stats.intervals import Bounds, Interval
    from mixseek.stats.raters import EqualItems

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
    IntervalMethod.GAPS: partial(message, "interval.gaps", "{level}% scaled gaps interval"),
    IntervalMethod.RULE_OF_THREE: partial(message, "interval.rule_of_three", "{level}% rule-of-three interval"),
    IntervalMethod.CLOPPER_PEARSON: partial(message, "interval.clopper_pearson", "{level}% Clopper–Pearson interval"),
}


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
    if bounds is None or not score.is_bounded:
        return None
    if score.responses.unfinished:
        return _unfinished_bounds(score, bounds)
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


def _unfinished_bounds(score: "ScoreSummary", bounds: "Bounds") -> Message:
    """What the mean could be where responses did not come to their end, whatever they and the others are worth."""
    parts: list[Message] = [ends_of_responses(score.responses)]
    if score.counts.unscored:
        parts.append(message("bounds.without_verdict", "{n} without a verdict", n=score.counts.unscored))
    if score.unverified:
        parts.append(message("bounds.are_unverified", "{n} unverified", n=score.unverified))
    worst, best = (score_number(end, is_binary=score.is_binary) for end in (bounds.worst, bounds.best))
    words = "Whatever these are worth ({parts}), the mean is between {worst} and {best}."
    return message("bounds.unfinished", words, parts=join(parts, "; "), worst=worst, best=best)


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


def reasks_text(asked_again: int) -> Message:
    """`invalid 0` alone would be said of the last replies, and read as said of all."""
    words = "after {re_asks} (first replies that were invalid)"
    return message("score.re_asks", words, re_asks=counted(asked_again, "re-ask"))


def first_replies_sentence(judge: "model.JudgeSummary") -> Message | None:
    """How often a judge's first reply could not be used, whatever came of asking again; None without replies."""
    first = judge.first_replies
    if first is None or not first.replies:
        return None
    share = percent(first.first_invalid / first.replies)
    replies = "First replies: {invalid} of {replies} invalid ({share})."
    return message("report.first_replies", replies, invalid=first.first_invalid, replies=first.replies, share=share)


def control_sentence(judge: "model.JudgeSummary") -> Message | None:
    """What a judge says of its own output, in the unit of its headline; None where it was not asked that."""
    control = judge.control
    if control is None:
        return None
    judgments = counted(control.counts.total, "self-judgment")
    if control.mean is None:
        return message("score.control", "{judgments} apart: a control, in no mean.", judgments=judgments)
    mean = score_text(in_unit_of(judge.score, control))
    words = "{judgments} apart, mean {mean}: a control, in no mean."
    return message("score.control_with_mean", words, judgments=judgments, mean=mean)


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
        from mixseek.analysis.run import report_data

        some = "Of {total} judgments, at most {most} of each kind and judge are listed."
        return message("report.some_are_listed", some, total=total, most=report_data.LISTED_OF_EACH_KIND)
    if total == 1:
        return message("report.one_is_listed", "The one judgment is listed.")
    return message("report.all_are_listed", "All {total} judgments are listed.", total=total)

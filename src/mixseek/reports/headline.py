"""What a run says about what was judged: targets first, each with one verdict a sample. Data, words, documents."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from functools import partial
from typing import Any

from mixseek.analysis.run.headline import NAME_CHARACTERS, SHOWN_AFTER_JUDGE
from mixseek.analysis.run.model import Beside, Breakdown, FinishedMean, Headline, ScoreSummary, split_of
from mixseek.domain.counts import StatusCounts
from mixseek.domain.panels import PanelRule
from mixseek.presentation.pictures import Axis, Estimate, IntervalPlot
from mixseek.reports.responses import responses_document
from mixseek.reports.wording.names import name_text
from mixseek.reports.wording.numbers import NOTHING, ends_text, estimate_text
from mixseek.reports.wording.responses import cut_off_warning, ends_of_responses, finished_sentence
from mixseek.reports.wording.scales import of_maximum_text, range_text, scale_text
from mixseek.reports.wording.scores import interval_text, level_text, no_interval_sentence, score_text, units_text
from mixseek.text import phrases, visible
from mixseek.text.messages import Message, counted, join, message, verbatim

_RULES = {
    PanelRule.MAJORITY: message("rule.majority", "majority"),
    PanelRule.UNANIMOUS: message("rule.unanimous", "unanimous"),
    PanelRule.MEDIAN: message("rule.median", "median"),
    PanelRule.MEAN: message("rule.mean", "mean"),
}
_HOW = {
    PanelRule.MAJORITY: message("rule.how_majority", "what more than half of them say, else split"),
    PanelRule.UNANIMOUS: message("rule.how_unanimous", "what all of them say, else split"),
    PanelRule.MEDIAN: message("rule.how_median", "the middle score"),
    PanelRule.MEAN: message("rule.how_mean", "the mean of their scores, also where they disagree"),
}
_MIDWAY = message("rule.midway", "midway where two are in the middle")


def rule_text(rule: PanelRule) -> Message:
    return _RULES[rule]


def rule_sentence(headline: Headline) -> Message:
    """Whose verdict a sample's one verdict is."""
    judges = headline.judges
    if headline.rule is None and len(judges) > 1:
        who = " → ".join(judges)
        return message("rule.cascade", "One verdict a sample, by the cascade {judges}.", judges=who)
    if headline.rule is None:
        return message("rule.judged_by", "Judged by {judges}.", judges="".join(judges))
    if len(judges) == 1:
        beside = "Judged by {judge}; a log's own scorers are held against it, without a vote."
        return message("rule.beside_scorers", beside, judge=judges[0])
    how = _HOW[headline.rule]
    if headline.rule is PanelRule.MEDIAN and len(judges) % 2 == 0 and not headline.score.is_binary:
        how = join((how, _MIDWAY), "; ")
    return message(
        "rule.panel",
        "Panel of {count} ({judges}), {rule}: {how}.",
        count=counted(len(judges), "judge"),
        judges=", ".join(judges),
        rule=rule_text(headline.rule),
        how=how,
    )


def column_title(column: str) -> Message:
    """`Targets`, `Prompt variants`; any other column by its name."""
    titles = {
        "target_model": message("word.targets", "Targets"),
        "prompt_variant": message("word.prompt_variants", "Prompt variants"),
    }
    return titles.get(column) or message("word.by_column", "By {column}", column=column)


def column_word(column: str) -> Message:
    """The head of the column that names the groups."""
    words = {"target_model": message("head.target", "target"), "prompt_variant": message("head.variant", "variant")}
    return words.get(column) or verbatim(column)


def headline_mean_text(score: ScoreSummary, maximum: float | None) -> Message:
    """The mean on the protocol's own scale where there is one: `5.40 of 8`; else as a share."""
    if score.mean is None or maximum is None:
        return verbatim(score_text(score))
    return of_maximum_text(scale_text(score.mean, maximum), maximum)


def headline_interval_text(score: ScoreSummary, maximum: float | None) -> str:
    """The interval in the unit of the mean."""
    if maximum is None:
        return interval_text(score)
    return range_text(score.interval, maximum)


def headline_bounds_text(score: ScoreSummary, maximum: float | None) -> str:
    """What the mean could be, whatever the samples without a verdict are; a dash where all have one to rely on."""
    if score.bounds is None or not score.is_bounded:
        return NOTHING
    ends = score.bounds.worst, score.bounds.best
    if maximum is not None:
        return "–".join(scale_text(end, maximum) for end in ends)
    return ends_text(*ends, is_binary=score.is_binary)


def without_text(score: ScoreSummary) -> Message:
    """`2 split, 1 invalid`: samples beside the mean; a dash where there are none."""
    counts = score.counts
    ends = {
        partial(message, "score.split", "{n} split"): split_of(counts),
        partial(message, "score.undecided", "{n} undecided"): counts.undecided,
        partial(message, "score.invalid", "{n} invalid"): counts.invalid,
        partial(message, "score.missing", "{n} missing"): counts.missing,
    }
    texts = [words(n=count) for words, count in ends.items() if count]
    return join(texts, ", ") if texts else verbatim(NOTHING)


def beside_mean_text(score: ScoreSummary, maximum: float | None) -> Message | None:
    """All that stands beside a mean, in a line: what has no verdict, what did not end, and the mean without that."""
    parts = [without_text(score)] if score.counts.unscored else []
    parts += [ends_of_responses(score.responses)] if score.responses.unfinished else []
    if (finished := finished_sentence(score, maximum)) is not None:
        parts.append(finished)
    return join(parts, "; ") if parts else None


def panel_ends(counts: StatusCounts) -> list[tuple[str, int]]:
    """How samples ended, in the order in which a page shows it."""
    names = ("valid", "split", "undecided", "invalid", "missing")
    return [(name, split_of(counts) if name == "split" else getattr(counts, name)) for name in names]


def beside_text(estimate: Beside, headline: Headline) -> str:
    """`corrected 71.2% (64.0–78.5%)`: another estimate, in the unit of the means beside it."""
    if headline.maximum is None:
        is_binary = headline.score.is_binary
        number = estimate_text(estimate.mean, estimate.low, estimate.high, is_binary=is_binary)
        return f"{estimate.label} {number}"
    mean = scale_text(estimate.mean, headline.maximum)
    ends = [scale_text(end, headline.maximum) for end in (estimate.low, estimate.high) if end is not None]
    return f"{estimate.label} {mean}" + (f" ({'–'.join(ends)})" if ends else "")


def score_sentence(score: ScoreSummary, maximum: float | None) -> Message:
    """`83.3% (95% clustered Wilson interval 60.1–94.2%, 24 samples of 12 questions)`, or why there is no interval."""
    if score.mean is None:
        samples, why = counted(score.counts.total, "sample"), without_text(score)
        return message("score.no_verdict", "no verdict on {samples}: {why}", samples=samples, why=why)
    if score.interval is None:
        how = no_interval_sentence(score)
    else:
        level, ends = level_text(score.interval), headline_interval_text(score, maximum)
        interval = message("score.interval", "{level} {ends}", level=level, ends=ends)
        how = join((interval, units_text(score)), ", ")
    return message("score.sentence", "{mean} ({how})", mean=headline_mean_text(score, maximum), how=how)


def describe_headline(headline: Headline) -> list[str]:
    """A few lines after `judge`: the leading column in its ranking, then all samples as one."""
    warning = cut_off_warning(headline.score, headline.maximum)
    lines: list[str] = [] if warning is None else [f"⚠ {warning}"]
    lines += [] if headline.rule is None else [rule_sentence(headline)]
    for part in headline.columns[:1]:
        for place, group in enumerate(part.groups[:SHOWN_AFTER_JUDGE], 1):
            score, name = group.score, visible.make_visible(name_text(group.name))
            mean = headline_mean_text(score, headline.maximum)
            lines.append(f"{place:>2}. {mean:<10} {phrases.shortened(name, NAME_CHARACTERS)}")
            lines += [f"    {line}" for line in _limits(score, headline.maximum)]
        if len(part.groups) > SHOWN_AFTER_JUDGE:
            rest = len(part.groups) - SHOWN_AFTER_JUDGE
            lines.append(f"    and {phrases.plural(rest, column_word(part.column))} more: see the report")
    return lines


def _limits(score: ScoreSummary, maximum: float | None) -> Iterator[str]:
    """The interval and what it counts; the bounds where samples have no verdict."""
    if score.interval is not None:
        yield (f"{level_text(score.interval)} {headline_interval_text(score, maximum)}, {units_text(score)}")
    elif score.mean is not None:
        yield no_interval_sentence(score)
    bounds = headline_bounds_text(score, maximum)
    if bounds != NOTHING:
        unverified = f"{score.unverified:,} unverified" if score.unverified else ""
        without = without_text(score) if score.counts.unscored else ""
        ends = ends_of_responses(score.responses) if score.responses.unfinished else ""
        yield f"bounds {bounds}: {', '.join(filter(None, (without, unverified, ends)))}"
    if (finished := finished_sentence(score, maximum)) is not None:
        yield f"finished {finished}"


# The picture: every target on one axis, zoomed to what is drawn, because differences are what a reader looks for.


def score_plot(score: ScoreSummary, axis: Axis, beside: Iterable[Beside] = (), label: str = "") -> IntervalPlot:
    """The mean with its interval, and the bounds where samples have no verdict to rely on."""
    return IntervalPlot(
        score.mean,
        (score.interval.low, score.interval.high) if score.interval else None,
        axis,
        bounds=(score.bounds.worst, score.bounds.best) if score.bounds and score.is_bounded else None,
        beside=[Estimate(estimate.mean, estimate.low, estimate.high) for estimate in beside],
        label=label,
    )


def axis_of(headline: Headline) -> Axis:
    """Round numbers around everything that is drawn, in the unit of the means beside it."""
    scores = [headline.score, *(group.score for part in (*headline.columns, *headline.asked) for group in part.groups)]
    ends = [score.mean for score in scores if score.mean is not None]
    ends += [end for score in scores if score.interval for end in (score.interval.low, score.interval.high)]
    ends += [
        end
        for score in scores
        if score.bounds and headline_bounds_text(score, None) != NOTHING
        for end in (score.bounds.worst, score.bounds.best)
    ]
    beside = [
        *headline.beside,
        *(estimate for part in headline.columns for group in part.groups for estimate in group.beside),
    ]
    ends += [end for estimate in beside for end in (estimate.mean, estimate.low, estimate.high) if end is not None]
    scale = headline.maximum or (100.0 if headline.score.is_binary else 1.0)
    low, high = min(ends, default=0.0) * scale, max(ends, default=1.0) * scale
    # Never closer than a third of the scale: a hair's breadth must not look like a gulf.
    if high - low < scale / 3:
        middle = min(max((low + high) / 2, scale / 6), scale * 5 / 6)
        low, high = middle - scale / 6, middle + scale / 6
    step = _nice_step((high - low) / 4)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    ticks = [tick for number in range(first, last + 1) if (tick := number * step) <= scale + 1e-9]
    end = min(scale, last * step)
    shares = tuple(tick / scale for tick in ticks)
    return Axis(ticks[0] / scale, end / scale, shares, tuple(_tick_text(share, headline) for share in shares))


def _nice_step(least: float) -> float:
    """1, 2 or 5 times a power of ten, at least so large."""
    power = 10.0 ** math.floor(math.log10(least))
    return next(step * power for step in (1.0, 2.0, 5.0, 10.0) if step * power >= least - 1e-12)


def _tick_text(share: float, headline: Headline) -> str:
    """The number at a tick, in the unit of the means beside it."""
    if headline.maximum is not None:
        return phrases.plain_number(round(share * headline.maximum, 3))
    return f"{share * 100:.0f}%" if headline.score.is_binary else phrases.plain_number(round(share, 3))


# Documents for programs.


def score_document(score: ScoreSummary) -> dict[str, Any]:
    """Counts beside the mean, never mixed into it. `units` are what the interval counts."""
    fields = asdict(score)
    return {
        "mean_score": score.mean,
        **{name: fields[name] for name in ("counts", "interval", "bounds", "unverified")},
        "units": {
            "samples": score.samples,
            "questions": score.questions,
            "effective_questions": score.effective_questions,
        },
        "responses": responses_document(score.responses),
        "finished": None if score.finished is None else finished_document(score.finished),
    }


def finished_document(finished: FinishedMean) -> dict[str, Any]:
    """The mean of finished responses alone."""
    fields = asdict(finished)
    units = {name: fields.pop(name) for name in ("samples", "questions", "effective_questions")}
    return {"mean_score": fields["mean"], "interval": fields["interval"], "units": units}


def headline_document(headline: Headline) -> dict[str, Any]:
    """`targets` and `variants` are ranked; `by` holds what was asked for, by column."""
    parts = {part.column: part for part in headline.columns}
    return {
        "rule": headline.rule.value if headline.rule else None,
        "judges": list(headline.judges),
        **score_document(headline.score),
        "counting": headline.counting.document(),
        "warning": cut_off_warning(headline.score, headline.maximum),
        "targets": group_documents(parts.get("target_model"), "target"),
        "variants": group_documents(parts.get("prompt_variant"), "variant"),
        "by": {part.column: group_documents(part, "value") for part in headline.asked},
    }


def group_documents(part: Breakdown | None, key: str) -> list[dict[str, Any]]:
    """Each group with its place in the ranking; groups without a mean have none."""
    if part is None:
        return []
    return [
        {"rank": None if group.score.mean is None else place, key: group.name, **score_document(group.score)}
        for place, group in enumerate(part.groups, 1)
    ]

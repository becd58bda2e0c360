"""Two sides of a comparison in words, once for terminal, page and gates."""

from collections.abc import Sequence

from mixseek.comparison.model import ComparedSide, Comparison, GroupDifference
from mixseek.domain.pair_counts import Pair
from mixseek.reports.wording.numbers import NOTHING, lead_ends_text, lead_text, p_text, score_number
from mixseek.reports.wording.scores import level_text
from mixseek.stats.difference import Difference, DifferenceState, Direction
from mixseek.stats.intervals import Bounds, Interval
from mixseek.text.phrases import plural
from mixseek.text.visible import make_visible

NO_GROUP = "(none named)"
_FACTORS = {"task": "task", "target": "target", "variant": "prompt variant"}
_PAIRED_BY = {"question_id": "question", "prompt_variant": "prompt variant", "target_model": "target"}


def difference_text(share: float | None, *, is_binary: bool) -> str:
    """A difference of shares in points, of graded scores on 0..1; with a true minus: a hyphen is overlooked."""
    return lead_text(share, is_binary=is_binary)


def bare(text: str) -> str:
    """The text without its unit, where a head says it."""
    return text.removesuffix(" points")


def score_text(mean: float | None, *, is_binary: bool) -> str:
    return score_number(mean, is_binary=is_binary)


def range_text(interval: Interval | Bounds, *, is_binary: bool) -> str:
    """The unit once."""
    ends = (interval.worst, interval.best) if isinstance(interval, Bounds) else (interval.low, interval.high)
    return lead_ends_text(*ends, is_binary=is_binary)


def interval_sentence(interval: Interval, *, is_binary: bool) -> str:
    return f"{level_text(interval)} {range_text(interval, is_binary=is_binary)}"


def units_text(difference: Difference) -> str:
    """What the interval counts."""
    pairs = plural(difference.sums.scored, "pair")
    same = difference.sums.questions == difference.sums.scored
    return pairs if same else f"{pairs} of {plural(difference.sums.questions, 'question')}"


def tested_text(difference: Difference) -> str:
    """The p-value with the test that gave it."""
    test = difference.test
    return NOTHING if test is None else f"{p_text(test.p_value)} ({test.method})"


def state_sentence(difference: Difference) -> str | None:
    """Why there is no more to say; None where there is."""
    sums = difference.sums
    match difference.state:
        case DifferenceState.ESTIMATED:
            return None
        case DifferenceState.NO_PAIRS:
            return "A and B have no sample in common: they share neither an id nor a question_id"
        case DifferenceState.NOTHING_SCORED:
            return f"none of the {plural(sums.pairs, 'pair')} has a score on both sides"
        case DifferenceState.ONE_QUESTION:
            return "one question has no spread: there is a difference, but no interval and no test"
        case DifferenceState.ITSELF:
            return "A and B are the same judgments: the difference is nought by itself, not by measurement"
        case DifferenceState.ALL_EQUAL:
            return f"no difference: {units_text(difference)} with the same score on both sides"
        case DifferenceState.ALL_ALIKE:
            return "every question moved by the same amount; the interval says how few questions there are"


def conclusion(comparison: Comparison) -> str:
    """One sentence that a reader may repeat."""
    difference, (a, b) = comparison.difference, (comparison.a.name, comparison.b.name)
    if difference.state not in (DifferenceState.ESTIMATED, DifferenceState.ALL_ALIKE):
        sentence = state_sentence(difference) or ""
        return f"{sentence[:1].upper()}{sentence[1:]}."
    match difference.direction:
        case Direction.BETTER:
            return f"{b} scores higher than {a}; interval and test agree."
        case Direction.WORSE:
            return f"{b} scores lower than {a}; interval and test agree."
        case Direction.UNCLEAR:
            return f"No clear difference between {a} and {b}."
        case Direction.BORDERLINE:
            return f"Between {a} and {b} it is a close call: {borderline_text(difference)}."


def borderline_text(difference: Difference) -> str:
    """Two methods that differ at the edge: say which says what, and let nobody choose the one he likes."""
    interval, test = difference.interval, difference.test
    if interval is None or test is None:
        return "there is no interval"
    level = f"{1 - interval.level:.2g}"
    p_value = p_text(test.p_value)
    if not interval.leaves_out_nought:
        return f"the test finds a difference at {level} ({p_value}), but the interval, which t makes wider, holds 0"
    return f"the interval leaves out 0, but the test finds no difference at {level} ({p_value})"


def bounds_text(comparison: Comparison) -> str | None:
    """None where every pair has two scores."""
    difference = comparison.difference
    if difference.bounds is None or not difference.unscored:
        return None
    over = f"over all {plural(difference.sums.pairs, 'pair')}, {difference.unscored:,} without a score on a side"
    return f"{range_text(difference.bounds, is_binary=comparison.is_binary)} {over}"


def judges_text(side: ComparedSide) -> str:
    """The judges of a side, with the rule where they are a panel."""
    return ", ".join(side.judges) + (f" ({side.panel})" if side.panel else "")


def pairing_text(comparison: Comparison) -> str:
    if not comparison.paired_by:
        return "paired by sample id"
    return f"paired by {', '.join(_PAIRED_BY[column] for column in comparison.paired_by)}"


def drift_sentences(comparison: Comparison) -> list[str]:
    """What of the difference is the judge's doing; a few flips without a direction are noise, not a drift."""
    drift, is_binary = comparison.drift, comparison.is_binary
    if drift.shift is None:
        return ["No judged text is the same on both sides, so nothing can be said about the judge."]
    texts = plural(drift.same_texts, "pair has", "pairs have")
    if not drift.changed:
        return [f"{texts} the same text on both sides, and each got the same score: no sign of drift."]
    sums = drift.shift.sums
    lost = f", {drift.lost_scores:,} with a score on one side only" if drift.lost_scores else ""
    lines = [
        f"{texts} the same text on both sides; {drift.changed:,} of them were judged differently "
        f"({sums.better:,} better, {sums.worse:,} worse{lost}). That is the judge's doing, not the target's."
    ]
    if drift.shift.mean is not None:
        amount = difference_text(drift.shift.mean, is_binary=is_binary)
        tested = f"; {tested_text(drift.shift)}" if drift.shift.test else ""
        is_shift = drift.shift.direction in (Direction.BETTER, Direction.WORSE)
        kind = "the judge has shifted" if is_shift else "no clear direction, as noise would have"
        lines.append(f"On these texts the scores moved by {amount}{tested}: {kind}.")
    if drift.part is not None:
        lines.append(f"Of the difference, {difference_text(drift.part, is_binary=is_binary)} comes from them.")
    without = drift.without
    if without.mean is None:
        lines.append("Without them there is nothing to compare.")
    else:
        interval = f" ({interval_sentence(without.interval, is_binary=is_binary)})" if without.interval else ""
        amount = difference_text(without.mean, is_binary=is_binary)
        lines.append(f"Without them: {amount}{interval}, {units_text(without)}.")
    return lines


def factor_text(factor: str) -> str:
    return _FACTORS[factor]


def group_note(factor: str, groups: Sequence[GroupDifference]) -> str:
    """What the two columns of a table are; and where interval and test alone would say different things."""
    tests = plural(sum(group.p_adjusted is not None for group in groups), "test")
    note = f"Intervals are for each {factor_text(factor)} alone; p-values are Holm's over {tests}."
    close = [group.name or NO_GROUP for group in groups if group.difference.direction is Direction.BORDERLINE]
    if close:
        names = id_text(close, len(close))
        note += f" A close call, where the interval and the test before Holm's correction disagree: {names}."
    return note


def pair_name(pair: Pair) -> str:
    """One id where both sides have it, else both."""
    return pair.id_b if pair.id_a == pair.id_b else f"{pair.id_a} → {pair.id_b}"


_IDS_SHOWN = 10


def id_text(ids: Sequence[str], count: int) -> str:
    """The first ones, and how many more there are."""
    more = f" and {count - _IDS_SHOWN:,} more" if count > _IDS_SHOWN else ""
    return ", ".join(make_visible(name) for name in ids[:_IDS_SHOWN]) + more

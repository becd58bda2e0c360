"""Two sides of a comparison in words, once for terminal, page and gates."""

from collections.abc import Iterator, Mapping, Sequence

from mixseek.comparison.model import ComparedSide, Comparison, Drift, GroupDifference
from mixseek.domain.pair_counts import Pair
from mixseek.domain.response_states import ResponseState
from mixseek.reports.wording.numbers import NOTHING, lead_text, p_text, score_number
from mixseek.reports.wording.responses import choices_text, ends_of_responses
from mixseek.reports.wording.scores import level_text
from mixseek.stats.difference import Difference, DifferenceState, Direction
from mixseek.stats.intervals import Bounds, Interval
from mixseek.text.messages import Message, counted, join, message, verbatim
from mixseek.text.visible import make_visible

NO_GROUP = "(none named)"
_FACTORS = {
    "task": message("factor.task", "task"),
    "target": message("factor.target", "target"),
    "variant": message("factor.variant", "prompt variant"),
}
_PAIRED_BY = {
    "question_id": message("factor.question", "question"),
    "prompt_variant": _FACTORS["variant"],
    "target_model": _FACTORS["target"],
}


def difference_text(share: float | None, *, is_binary: bool) -> Message:
    """A difference of shares in points, of graded scores on 0..1; with a true minus: a hyphen is overlooked."""
    number = lead_text(share, is_binary=is_binary)
    if share is None or not is_binary:
        return verbatim(number)
    return message("compare.points", "{n} points", n=bare(number))


def bare(text: str) -> str:
    """The text without its unit, where a head says it."""
    return text.removesuffix(" points")


def score_text(mean: float | None, *, is_binary: bool) -> str:
    return score_number(mean, is_binary=is_binary)


def range_text(interval: Interval | Bounds, *, is_binary: bool) -> Message:
    """The unit once."""
    ends = (interval.worst, interval.best) if isinstance(interval, Bounds) else (interval.low, interval.high)
    low, high = (difference_text(end, is_binary=is_binary) for end in ends)
    return message("compare.range", "{low} to {high}", low=bare(low), high=high)


def interval_sentence(interval: Interval, *, is_binary: bool) -> Message:
    ends = range_text(interval, is_binary=is_binary)
    return message("compare.interval", "{level} {range}", level=level_text(interval), range=ends)


def movement_text(comparison: Comparison) -> Message | None:
    """`51.3% → 52.5% (+1.2 points, +0.1 to +2.3)`: all of it in one line; None without a difference."""
    difference, is_binary = comparison.difference, comparison.is_binary
    if difference.mean is None:
        return None
    how: Message = difference_text(difference.mean, is_binary=is_binary)
    if difference.interval is not None:
        interval = difference.interval
        low, high = (bare(difference_text(end, is_binary=is_binary)) for end in (interval.low, interval.high))
        how = join((how, message("compare.range", "{low} to {high}", low=low, high=high)), ", ")
    a, b = (score_text(mean, is_binary=is_binary) for mean in (difference.mean_a, difference.mean_b))
    return message("compare.movement", "{a} → {b} ({how})", a=a, b=b, how=how)


def units_text(difference: Difference) -> Message:
    """What the interval counts."""
    pairs = counted(difference.sums.scored, "pair")
    if difference.sums.questions == difference.sums.scored:
        return pairs
    questions = counted(difference.sums.questions, "question")
    return message("score.units", "{samples} of {questions}", samples=pairs, questions=questions)


def tested_text(difference: Difference) -> Message:
    """The p-value with the test that gave it."""
    test = difference.test
    return verbatim(NOTHING if test is None else f"{p_text(test.p_value)} ({test.method})")


def state_sentence(difference: Difference) -> Message | None:
    """Why there is no more to say; None where there is."""
    sums = difference.sums
    match difference.state:
        case DifferenceState.ESTIMATED:
            return None
        case DifferenceState.NO_PAIRS:
            apart = "A and B have no sample in common: they share neither an id nor a question_id"
            return message("compare.no_pairs", apart)
        case DifferenceState.NOTHING_SCORED:
            unscored = "none of the {pairs} has a score on both sides"
            return message("compare.nothing_scored", unscored, pairs=counted(sums.pairs, "pair"))
        case DifferenceState.ONE_QUESTION:
            alone = "one question has no spread: there is a difference, but no interval and no test"
            return message("compare.one_question", alone)
        case DifferenceState.ITSELF:
            itself = "A and B are the same judgments: the difference is nought by itself, not by measurement"
            return message("compare.itself", itself)
        case DifferenceState.ALL_EQUAL:
            equal = "no difference: {units} with the same score on both sides"
            return message("compare.all_equal", equal, units=units_text(difference))
        case DifferenceState.ALL_ALIKE:
            alike = "every question moved by the same amount; the interval says how few questions there are"
            return message("compare.all_alike", alike)


def conclusion(comparison: Comparison) -> Message:
    """One sentence that a reader may repeat."""
    difference, (a, b) = comparison.difference, (comparison.a.name, comparison.b.name)
    if difference.state not in (DifferenceState.ESTIMATED, DifferenceState.ALL_ALIKE):
        state = state_sentence(difference) or verbatim("")
        begun = Message(f"{state[:1].upper()}{state[1:]}", state.id, state.parts)
        return message("joint.sentence", "{words}.", words=begun)
    match difference.direction:
        case Direction.BETTER:
            return message("compare.better", "{b} scores higher than {a}; interval and test agree.", a=a, b=b)
        case Direction.WORSE:
            return message("compare.worse", "{b} scores lower than {a}; interval and test agree.", a=a, b=b)
        case Direction.UNCLEAR:
            return message("compare.unclear", "No clear difference between {a} and {b}.", a=a, b=b)
        case Direction.BORDERLINE:
            close = "Between {a} and {b} it is a close call: {why}."
            return message("compare.borderline", close, a=a, b=b, why=borderline_text(difference))


def borderline_text(difference: Difference) -> Message:
    """Two methods that differ at the edge: say which says what, and let nobody choose the one he likes."""
    interval, test = difference.interval, difference.test
    if interval is None or test is None:
        return message("compare.no_interval", "there is no interval")
    edge = {"level": f"{1 - interval.level:.2g}", "p": p_text(test.p_value)}
    if not interval.leaves_out_nought:
        holds = "the test finds a difference at {level} ({p}), but the interval, which t makes wider, holds 0"
        return message("compare.interval_holds_nought", holds, **edge)
    leaves = "the interval leaves out 0, but the test finds no difference at {level} ({p})"
    return message("compare.test_finds_nothing", leaves, **edge)


def bounds_text(comparison: Comparison) -> Message | None:
    """None where every pair has two scores."""
    difference = comparison.difference
    unfinished = comparison.a.responses.unfinished + comparison.b.responses.unfinished
    if difference.bounds is None or not (difference.unscored or unfinished):
        return None
    if unfinished:
        words = (
            "{range} over all {pairs}, {unscored} without a score on a side, whatever unfinished responses are worth"
        )
        return message(
            "compare.bounds_unfinished",
            words,
            range=range_text(difference.bounds, is_binary=comparison.is_binary),
            pairs=counted(difference.sums.pairs, "pair"),
            unscored=difference.unscored,
        )
    return message(
        "compare.bounds",
        "{range} over all {pairs}, {unscored} without a score on a side",
        range=range_text(difference.bounds, is_binary=comparison.is_binary),
        pairs=counted(difference.sums.pairs, "pair"),
        unscored=difference.unscored,
    )


def cut_off_sentence(comparison: Comparison) -> Message | None:
    """What must be known before the difference: a limit that cut off more of one side than of the other."""
    a, b = comparison.a.responses, comparison.b.responses
    shares = [responses.share(ResponseState.CUT_OFF) for responses in (a, b)]
    if not any(shares):
        return None
    first, second = (ends_of_responses(responses) for responses in (a, b))
    if shares[0] == shares[1]:
        alike = "Responses that did not come to their end: A {first}; B {second}."
        return message("compare.cut_off_alike", alike, first=first, second=second)
    return message(
        "compare.cut_off_differs",
        "Responses that did not come to their end: A {first}; B {second}. The difference may be that of a limit.",
        first=first,
        second=second,
    )


def choices_of_comparison(comparison: Comparison) -> Message | None:
    """What both means take or leave out by the reader's choice; None where they are the usual ones."""
    chosen = [choices_text(comparison.counting, side.responses) for side in (comparison.a, comparison.b)]
    texts = list(dict.fromkeys(text for text in chosen if text))
    return join(texts, "; ") if texts else None


def finished_text(comparison: Comparison) -> Message | None:
    """The difference over pairs finished on both sides; None where all are."""
    finished, is_binary = comparison.finished, comparison.is_binary
    if finished is None:
        return None
    if finished.mean is None:
        return message("compare.none_finished", "no pair is finished on both sides and has two scores")
    amount: Message = difference_text(finished.mean, is_binary=is_binary)
    if finished.interval:
        interval = interval_sentence(finished.interval, is_binary=is_binary)
        amount = message("compare.within", "{amount} ({interval})", amount=amount, interval=interval)
    return message(
        "compare.finished", "{amount}, {units} finished on both sides", amount=amount, units=units_text(finished)
    )


def judges_text(side: ComparedSide, labels: Mapping[str, str]) -> str:
    """The judges of a side, with the rule where they are a panel."""
    return ", ".join(labels.get(judge, judge) for judge in side.judges) + (f" ({side.panel})" if side.panel else "")


def pairing_text(comparison: Comparison) -> Message:
    if not comparison.paired_by:
        return message("compare.paired_by_sample", "paired by sample id")
    columns = join((_PAIRED_BY[column] for column in comparison.paired_by), ", ")
    return message("compare.paired_by", "paired by {columns}", columns=columns)


def listed_sentence(kinds: Sequence[tuple[Message, int, int]], changes: int) -> Message:
    """How many of each kind the list has: its name, how many there are, and how many are listed."""
    counts = [
        message("compare.listed_of", "{listed} of {count} {kind}", listed=listed, count=count, kind=kind)
        for kind, count, listed in kinds
        if count
    ]
    words = join(counts, ", ")
    if changes == 1:
        return message("compare.is_listed_with_its_texts", "{counts} is listed with its texts.", counts=words)
    return message("compare.are_listed_with_their_texts", "{counts} are listed with their texts.", counts=words)


def drift_sentences(comparison: Comparison) -> list[Message]:
    """What of the difference is the judge's doing; a few flips without a direction are noise, not a drift."""
    drift = comparison.drift
    if drift.shift is None:
        nothing = "No judged text is the same on both sides, so nothing can be said about the judge."
        return [message("drift.no_same_text", nothing)]
    texts = counted(drift.same_texts, "pair has", "pairs have")
    if not drift.changed:
        none = "{texts} the same text on both sides, and each got the same score: no sign of drift."
        return [message("drift.none", none, texts=texts)]
    return [_changed_sentence(drift, drift.shift, texts), *_shift_sentences(comparison), _without_sentence(comparison)]


def _changed_sentence(drift: Drift, shift: Difference, texts: Message) -> Message:
    """How many texts the judge judged anew, and how."""
    better, worse = shift.sums.better, shift.sums.worse
    how = message("drift.better_and_worse", "{better} better, {worse} worse", better=better, worse=worse)
    if drift.lost_scores:
        lost = message("drift.lost_scores", "{n} with a score on one side only", n=drift.lost_scores)
        how = join((how, lost), ", ")
    words = (
        "{texts} the same text on both sides; {changed} of them were judged differently ({how}). That is the judge's "
        "doing, not the target's."
    )
    return message("drift.changed", words, texts=texts, changed=drift.changed, how=how)


def _shift_sentences(comparison: Comparison) -> Iterator[Message]:
    """How far the scores of the same texts moved, and how much of the difference that is."""
    drift, is_binary = comparison.drift, comparison.is_binary
    shift = drift.shift
    if shift is not None and shift.mean is not None:
        amount = difference_text(shift.mean, is_binary=is_binary)
        tested = message("drift.tested", "{amount}; {test}", amount=amount, test=tested_text(shift))
        moved = tested if shift.test else amount
        kind = message("drift.no_direction", "no clear direction, as noise would have")
        if shift.direction in (Direction.BETTER, Direction.WORSE):
            kind = message("drift.shifted", "the judge has shifted")
        yield message("drift.moved", "On these texts the scores moved by {moved}: {kind}.", moved=moved, kind=kind)
    if drift.part is not None:
        part = difference_text(drift.part, is_binary=is_binary)
        yield message("drift.part", "Of the difference, {part} comes from them.", part=part)


def _without_sentence(comparison: Comparison) -> Message:
    """What is left of the difference without the judge's doing."""
    without, is_binary = comparison.drift.without, comparison.is_binary
    if without.mean is None:
        return message("drift.nothing_left", "Without them there is nothing to compare.")
    amount = difference_text(without.mean, is_binary=is_binary)
    if without.interval:
        interval = interval_sentence(without.interval, is_binary=is_binary)
        amount = message("compare.within", "{amount} ({interval})", amount=amount, interval=interval)
    return message("drift.without", "Without them: {amount}, {units}.", amount=amount, units=units_text(without))


def factor_text(factor: str) -> Message:
    return _FACTORS[factor]


def group_note(factor: str, groups: Sequence[GroupDifference]) -> Message:
    """What the two columns of a table are; and where interval and test alone would say different things."""
    tests = counted(sum(group.p_adjusted is not None for group in groups), "test")
    alone = "Intervals are for each {factor} alone; p-values are Holm's over {tests}."
    note = message("compare.group_note", alone, factor=factor_text(factor), tests=tests)
    close = [group.name or NO_GROUP for group in groups if group.difference.direction is Direction.BORDERLINE]
    if not close:
        return note
    names = id_text(close, len(close))
    words = "{note} A close call, where the interval and the test before Holm's correction disagree: {names}."
    return message("compare.group_note_close", words, note=note, names=names)


def pair_name(pair: Pair) -> str:
    """One id where both sides have it, else both."""
    return pair.id_b if pair.id_a == pair.id_b else f"{pair.id_a} → {pair.id_b}"


_IDS_SHOWN = 10


def id_text(ids: Sequence[str], count: int) -> Message:
    """The first ones, and how many more there are."""
    shown = verbatim(", ".join(make_visible(name) for name in ids[:_IDS_SHOWN]))
    if count <= _IDS_SHOWN:
        return shown
    return message("compare.and_more", "{names} and {n} more", names=shown, n=count - _IDS_SHOWN)

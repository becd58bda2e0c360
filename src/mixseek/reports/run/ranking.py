"""What was judged, in its ranking: every target with its interval on one axis, then all samples as one."""

from collections.abc import Iterable, Iterator, Sequence

from mixseek.analysis.run.model import Beside, Breakdown, GroupSummary, Headline, ScoreSummary
from mixseek.presentation.pictures import Axis
from mixseek.presentation.sections import (
    GAP,
    Cell,
    Link,
    RangeRow,
    Ranges,
    Section,
    Sentence,
    Words,
    notes,
    number_head,
)
from mixseek.reports.headline import (
    axis_of,
    beside_text,
    column_title,
    column_word,
    headline_bounds_text,
    headline_interval_text,
    headline_mean_text,
    rule_sentence,
    score_plot,
    score_sentence,
    without_text,
)
from mixseek.reports.wording.names import name_text
from mixseek.reports.wording.numbers import NOTHING
from mixseek.reports.wording.scores import bounds_sentence, no_interval_sentence, units_text
from mixseek.text.messages import Message, join, message, verbatim

# A terminal shows the shape of a run; the page has more, and the document all of it.
_GROUPS_SHOWN, _GROUPS_ON_PAGE = 60, 200
# By which judgments can be filtered.
_FILTERS = {"target_model": "target", "prompt_variant": "variant"}


def headline_sections(headline: Headline) -> Iterator[Section]:
    """What was judged comes first; who judged it is said in a line."""
    yield Section(None, [GAP, Sentence(rule_sentence(headline))])
    yield from ranking_sections(headline)
    whole = f"{headline.whole[0].upper()}{headline.whole[1:]}" if headline.columns else "Headline"
    line = Words([(f"{whole}  ", "bold"), score_sentence(headline.score, headline.maximum)])
    without = without_text(headline.score)
    beside = "" if without == NOTHING else f"beside it: {without}"
    yield Section(None, [GAP, Sentence(line, ""), *notes([beside, bounds_sentence(headline.score) or ""])])


def ranking_sections(headline: Headline) -> Iterator[Section]:
    """What the headline is split by; below the first ranking stands the mean of everything."""
    for number, part in enumerate(headline.columns):
        yield _ranking(part, headline, _FILTERS.get(part.column), with_whole=number == 0)


def asked_sections(headline: Headline) -> Iterator[Section]:
    """What the reader asked for with --by."""
    for part in headline.asked:
        yield _ranking(part, headline, None)


def _ranking(part: Breakdown, headline: Headline, key: str | None, *, with_whole: bool = False) -> Section:
    axis = axis_of(headline)
    rows = [_range_row(_name_cell(group, key), name_text(group.name), group.score, group.beside, headline, axis, place)
            for place, group in enumerate(part.groups, 1)]  # fmt: skip
    whole = None
    if with_whole:
        whole = _range_row(headline.whole, headline.whole, headline.score, headline.beside, headline, axis, None)
    facts = (
        message("head.of", "of"),
        number_head(message("head.bounds", "bounds")),
        message("head.without", "without a verdict"),
        number_head(message("word.unverified", "unverified")),
        "",
    )
    heads = column_word(part.column), message("head.mean", "mean"), facts
    ranges = Ranges(heads, rows, axis, _GROUPS_SHOWN, whole, _GROUPS_ON_PAGE)
    ranked = "mean and 95% interval over samples, questions as clusters; the best first"
    note = message("panel.how_means_are_ranked", ranked)
    reasons = _missing_intervals([*(group.score for group in part.groups), *([headline.score] if with_whole else [])])
    return Section(column_title(part.column), [ranges, *notes(reasons)], note=note, name=f"ranking-{part.column}")


def _name_cell(group: GroupSummary, key: str | None) -> Cell:
    """A name that leads to its judgments, where they can be filtered by it."""
    return Link(group.name, {key: group.name}) if key and group.name is not None else name_text(group.name)


def _range_row(
    name: Cell, words: str, score: ScoreSummary, beside: Sequence[Beside], headline: Headline, axis: Axis,
    place: int | None,
) -> RangeRow:  # fmt: skip
    sentence = score_sentence(score, headline.maximum)
    label = message("panel.drawn", "{name}: {score}", name=words, score=sentence)
    bounds, without = headline_bounds_text(score, headline.maximum), without_text(score)
    facts: tuple[Cell, ...] = (
        message("word.no_verdict", "no verdict") if score.mean is None else units_text(score),
        "" if bounds == NOTHING else bounds,
        "" if without == NOTHING else without,
        f"{score.unverified:,}" if score.unverified else "",
        join([verbatim(beside_text(estimate, headline)) for estimate in beside], ", ") if beside else "",
    )
    rank = "" if place is None else NOTHING if score.mean is None else str(place)
    ends = headline_interval_text(score, headline.maximum)
    plot = score_plot(score, axis, beside, label)
    return RangeRow(
        name, headline_mean_text(score, headline.maximum), "" if ends == NOTHING else ends, plot, facts, rank
    )


def _missing_intervals(scores: Iterable[ScoreSummary]) -> list[Message]:
    """Why some means have no interval, each reason once."""
    reasons = {no_interval_sentence(score): None for score in scores if score.mean is not None and not score.interval}
    return list(reasons)

"""How responses ended, target by target, and the mean of the finished ones beside the mean of all."""

from collections.abc import Iterator, Mapping, Sequence

from mixseek.analysis.run.model import GroupSummary, Headline, ScoreSummary
from mixseek.domain.response_states import UNFINISHED, ResponseState
from mixseek.presentation.sections import QUIET, Cell, Link, Section, TableRows, number_head
from mixseek.reports.headline import column_word, headline_bounds_text, headline_mean_text
from mixseek.reports.wording.names import name_text
from mixseek.reports.wording.responses import (
    choices_text,
    finished_ends_text,
    finished_mean_text,
    state_count_text,
    state_word,
)
from mixseek.text.messages import message

_GROUPS_SHOWN, _GROUPS_ON_PAGE = 60, 200
# By which judgments can be filtered.
_FILTERS = {"target_model": "target", "prompt_variant": "variant"}


def response_sections(headline: Headline) -> Iterator[Section]:
    """Nothing where every response is finished and every mean the usual one."""
    choices = choices_text(headline.counting, headline.score.responses)
    if not headline.score.responses.unfinished:
        if choices:
            yield Section(message("responses.title", "Responses"), [], note=choices or "")
        return
    column = headline.columns[0].column if headline.columns else None
    groups = headline.columns[0].groups if headline.columns else ()
    heads = (
        column_word(column) if column else "",
        number_head(message("responses.head_responses", "responses")),
        *(number_head(state_word(state)) for state in UNFINISHED),
        number_head(message("head.mean", "mean")),
        number_head(message("responses.head_finished_mean", "mean of finished")),
        number_head(message("word.interval_95", "95% interval")),
        number_head(message("head.bounds", "bounds")),
    )
    key = _FILTERS.get(column or "")
    rows = [_group_row(group, headline, key) for group in groups]
    rows.append(_row(headline.whole, headline.score, headline.maximum, {}))
    title = message("responses.title", "Responses")
    table = TableRows(heads, rows, _GROUPS_SHOWN, name="responses", label=title, page_limit=_GROUPS_ON_PAGE)
    yield Section(title, [table], note=choices or "")


def _group_row(group: GroupSummary, headline: Headline, key: str | None) -> Sequence[Cell]:
    """A target; what no group names, and columns that no list knows, lead nowhere."""
    if key is None or group.name is None:
        return _row(name_text(group.name), group.score, headline.maximum, None)
    narrowed = {key: group.name}
    return _row(Link(group.name, narrowed), group.score, headline.maximum, narrowed)


def _row(name: Cell, score: ScoreSummary, maximum: float | None, narrowed: Mapping[str, str] | None) -> Sequence[Cell]:
    """Counts lead to the judgments that they are about, where a list can be narrowed to them."""

    def count(state: ResponseState) -> Cell:
        text = state_count_text(score.responses, state)
        is_listed = narrowed is not None and score.responses.of(state)
        return Link(text, {**(narrowed or {}), state.value: "yes"}) if is_listed else text

    return (
        name,
        f"{score.responses.total:,}",
        *(count(state) for state in UNFINISHED),
        headline_mean_text(score, maximum),
        (finished_mean_text(score, maximum), "bold"),
        (finished_ends_text(score, maximum), QUIET),
        headline_bounds_text(score, maximum),
    )

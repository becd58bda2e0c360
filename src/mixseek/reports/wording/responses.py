"""Sentences about responses that did not come to their end, and what a mean makes of them: once for every renderer."""

from functools import partial
from typing import TYPE_CHECKING

from mixseek.domain.counting import Counting
from mixseek.domain.response_states import UNFINISHED, ResponseState
from mixseek.reports.wording.numbers import NOTHING, ends_text, percent, score_number
from mixseek.reports.wording.scales import of_maximum_text, range_text, scale_text
from mixseek.text.messages import Message, counted, join, message, verbatim

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mixseek.analysis.run.model import ScoreSummary
    from mixseek.domain.counts import ResponseCounts

_ENDED = {
    ResponseState.CUT_OFF: partial(message, "responses.cut_off", "{n} cut off ({share})"),
    ResponseState.WITHHELD: partial(message, "responses.withheld", "{n} withheld ({share})"),
    ResponseState.EMPTY: partial(message, "responses.empty", "{n} empty ({share})"),
}


def state_word(state: ResponseState) -> Message:
    """Above a column of counts."""
    words = {
        ResponseState.FINISHED: message("responses.word_finished", "finished"),
        ResponseState.CUT_OFF: message("matrix.cut_off", "cut off"),
        ResponseState.WITHHELD: message("responses.word_withheld", "withheld"),
        ResponseState.EMPTY: message("state.empty", "empty"),
    }
    return words[state]


def state_count_text(responses: "ResponseCounts", state: ResponseState) -> str:
    """`61 (10.2%)`, or a dash."""
    count = responses.of(state)
    return f"{count:,} ({percent(responses.share(state))})" if count else NOTHING


def ends_of_responses(responses: "ResponseCounts") -> Message:
    """`61 cut off (10.2%), 4 empty (0.7%)`: three names, each with its own count; a dash where all are finished."""
    texts = [
        _ENDED[state](n=responses.of(state), share=percent(responses.share(state)))
        for state in UNFINISHED
        if responses.of(state)
    ]
    return join(texts, ", ") if texts else verbatim(NOTHING)


def unfinished_sentence(by_system: "Mapping[str, ResponseCounts]") -> Message | None:
    """Whose responses did not come to their end, where scores of several are set against each other; None: nobody's."""
    if not by_system:
        return None
    each = [
        message("responses.of_system", "{name} {ends}", name=name, ends=ends_of_responses(counts))
        if name
        else ends_of_responses(counts)
        for name, counts in by_system.items()
    ]
    words = "Responses that did not come to their end: {each}. Differences may be those of a limit."
    return message("responses.unfinished_of", words, each=join(each, "; "))


def finished_mean_text(score: "ScoreSummary", maximum: float | None = None) -> Message:
    """The mean of finished responses, in the unit of the mean beside it; a dash where there is none."""
    if score.finished is None or score.finished.mean is None:
        return verbatim(NOTHING)
    if maximum is None:
        return verbatim(score_number(score.finished.mean, is_binary=score.is_binary))
    return of_maximum_text(scale_text(score.finished.mean, maximum), maximum)


def finished_ends_text(score: "ScoreSummary", maximum: float | None = None) -> str:
    """Its 95% interval; a dash where there is none."""
    interval = score.finished.interval if score.finished else None
    if interval is None:
        return NOTHING
    if maximum is not None:
        return range_text(interval, maximum)
    return ends_text(interval.low, interval.high, is_binary=score.is_binary)


def finished_sentence(score: "ScoreSummary", maximum: float | None = None) -> Message | None:
    """`49.1% (95% interval 44.8–53.4%) over 505 finished responses with a verdict`; None where all are finished."""
    finished = score.finished
    if finished is None:
        return None
    if finished.mean is None:
        return message("responses.none_finished", "no finished response has a verdict")
    mean, ends = finished_mean_text(score, maximum), finished_ends_text(score, maximum)
    if ends != NOTHING:
        mean = message("responses.mean_with_ends", "{mean} (95% interval {ends})", mean=mean, ends=ends)
    responses = counted(finished.samples, "finished response")
    return message("responses.finished", "{mean} over {responses} with a verdict", mean=mean, responses=responses)


def cut_off_warning(score: "ScoreSummary", maximum: float | None = None) -> Message | None:
    """What a reader must know before the mean; None where few responses were cut off."""
    if not score.is_often_cut_off:
        return None
    share = percent(score.responses.share(ResponseState.CUT_OFF))
    of = message("responses.of", "{n} of {total}", n=score.responses.cut_off, total=score.responses.total)
    if score.finished is None or score.finished.mean is None:
        words = "{share} of the responses were cut off ({of}), and no finished one has a verdict."
        return message("responses.warning_alone", words, share=share, of=of)
    words = "{share} of the responses were cut off ({of}): the mean of the finished ones is {mean}."
    return message("responses.warning", words, share=share, of=of, mean=finished_mean_text(score, maximum))


def choices_text(counting: Counting, responses: "ResponseCounts") -> Message | None:
    """What the reader chose that the mean takes or leaves out; None where the mean is the usual one."""
    parts = []
    if counting.leaves_out_cut_off:
        parts.append(message("responses.cut_off_left_out", "cut-off responses are left out"))
    if counting.counts_undecided:
        parts.append(message("responses.undecided_incorrect", "undecided samples count as incorrect"))
    elif responses.undecided_incorrect:
        words = "{n} cut off without a verdict count as incorrect"
        parts.append(message("responses.cut_off_incorrect", words, n=responses.undecided_incorrect))
    return join(parts, "; ") if parts else None

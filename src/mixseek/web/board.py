"""The home of the viewer as a board: what every run came to, so that a page only has to show it."""

from decimal import Decimal
from pathlib import Path
from typing import Any

from markupsafe import Markup

from mixseek.analysis.workspace.kept_headline import KeptHeadline
from mixseek.analysis.workspace.run_list import RunLine, choose_pair
from mixseek.lazy_dataclass import dataclass
from mixseek.presentation.pictures import SHARES, IntervalPlot
from mixseek.presentation.render.drawings import plot_svg
from mixseek.reports.accounts import known_cost_text
from mixseek.reports.answers import WORDS, answered_text, plan_words
from mixseek.reports.headline import beside_mean_text, headline_interval_text, headline_mean_text, score_sentence
from mixseek.reports.wording.names import moment_text, name_text
from mixseek.reports.wording.numbers import NOTHING
from mixseek.reports.wording.scores import no_interval_sentence
from mixseek.reports.workspace.run_list import run_place, trend_sections
from mixseek.runs.answers.listed import AnswerLine
from mixseek.text.messages import Message, message, verbatim
from mixseek.web.languages import say_in_language
from mixseek.web.viewed import ListedWorkspace

# How runs end that a line has counts of.
STATUSES = ("valid", "invalid", "undecided", "missing")


@dataclass(frozen=True, slots=True)
class BoardHeadline:
    """The mean with its ends, drawn and in words; `why` says why there are no ends."""

    mean: Message
    ends: str
    kind: Message | None  # what it is the mean of, where that is not the samples' score
    why: Message | None
    without: Message | None  # samples that have no verdict, and are in no mean
    label: Message
    plot: IntervalPlot | None

    def drawn(self) -> Markup:
        """The interval on the whole scale, in the language of the page."""
        if self.plot is None:
            return Markup()
        return Markup(plot_svg(self.plot, say_in_language(self.label)))  # noqa: S704 the renderer escapes


@dataclass(frozen=True, slots=True)
class BoardRun:
    """A run in its line."""

    line: RunLine
    place: str
    headline: BoardHeadline | None
    # What a reader knows them by.
    judges: tuple[str, ...]
    # Why there is no headline; None where there is one.
    why: Message | None
    targets: tuple[tuple[str, Message], ...]
    more_targets: int
    cost: Message
    started: str


@dataclass(frozen=True, slots=True)
class BoardAnswers:
    """An answer run in its line; `ended` are what it came to, each with its state, word and count."""

    line: AnswerLine
    place: str
    dataset: str
    plan: Message
    answered: Message | None
    ended: tuple[tuple[str, Message, int], ...]
    # Why there are no counts; None where there are some.
    why: Message | None
    cost: Message
    started: str


def board_context(listed: ListedWorkspace) -> dict[str, Any]:
    """What the home shows, and whoever has to choose runs."""
    runs = [describe_run(line) for line in listed.runs]
    pair = choose_pair(listed.runs)
    names = [*(line.dataset for line in listed.runs), *(Path(line.questions).name for line in listed.answers)]
    return {
        "workspace": str(listed.root),
        "runs": runs,
        "answers": [describe_answers(line) for line in listed.answers if line.problem is None],
        "competitions": [line.to_document() for line in listed.competitions],
        "problems": listed.problems,
        "trends": list(trend_sections(listed.runs)),
        "protocols": sorted({line.protocol for line in listed.runs if line.protocol}),
        "datasets": sorted({name for name in names if name}),
        "statuses": STATUSES,
        "side_a": pair[0] if pair else None,
        "side_b": pair[1] if pair else None,
    }


def describe_run(line: RunLine) -> BoardRun:
    """The line of a run with everything that is known of it."""
    kept = line.headline
    leading = kept.leading if kept else ()
    return BoardRun(
        line=line,
        place=run_place(line.run_id),
        headline=describe_headline(kept) if kept else None,
        judges=(kept.judges if kept else ()) or line.judges,
        why=None if kept else why_no_headline(line),
        targets=tuple(
            (name_text(group.name), headline_mean_text(group.score, kept.maximum if kept else None))
            for group in leading
        ),
        more_targets=kept.groups - len(leading) if kept else 0,
        cost=known_cost_text(kept.calls, kept.unpriced, kept.cost_usd) if kept else verbatim(NOTHING),
        started=moment_text(line.started_at) or "",
    )


def describe_answers(line: AnswerLine) -> BoardAnswers:
    """The line of an answer run, by what is kept beside it."""
    ends = line.ends or {}
    calls, unpriced = line.calls or 0, line.unpriced or 0
    return BoardAnswers(
        line=line,
        place=f"answers-{run_place(line.name)}",
        dataset=Path(line.questions).name,
        plan=plan_words(line.question_count, len(line.targets), len(line.variants), line.repeats),
        answered=None if line.answered is None else answered_text(line.answered, line.planned),
        ended=tuple((state, WORDS[state], ends[state]) for state in WORDS if ends.get(state)),
        why=None if line.ends is not None else why_no_counts(line),
        cost=known_cost_text(calls, unpriced, Decimal(str(line.cost_usd or 0))),
        started=moment_text(line.started_at) or "",
    )


def why_no_counts(line: AnswerLine) -> Message:
    """The same of answers."""
    if line.is_running:
        return message("viewer.counted_when_opened", "counted when the run is opened")
    return message("viewer.not_counted_yet", "not counted yet")


def describe_headline(kept: KeptHeadline) -> BoardHeadline:
    """A mean without an interval says why: one observation has no spread."""
    score = kept.score
    label = score_sentence(score, kept.maximum)
    if score.mean is None:
        return BoardHeadline(verbatim(NOTHING), "", None, label, None, label, None)
    interval = score.interval
    return BoardHeadline(
        mean=headline_mean_text(score, kept.maximum),
        ends=headline_interval_text(score, kept.maximum) if interval else "",
        kind=message("pairs.a_preferred", "A preferred") if kept.is_preference else None,
        why=None if interval else no_interval_sentence(score),
        without=beside_mean_text(score, kept.maximum),
        label=label,
        plot=IntervalPlot(score.mean, (interval.low, interval.high) if interval else None, SHARES),
    )


def why_no_headline(line: RunLine) -> Message:
    """A dash would say that there is nothing to know."""
    if line.is_running:
        return message("viewer.counted_when_opened", "counted when the run is opened")
    if not line.can_be_counted:
        return message("viewer.cannot_be_read", "cannot be read")
    return message("viewer.not_counted_yet", "not counted yet")

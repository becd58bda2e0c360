"""An evaluation without a race: each submission with its scores, or the name of what is missing."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from mixseek.competition.views.words import points_text, scale_text
from mixseek.domain.documents import DocumentName, schema_id
from mixseek.evaluator.scores import POINTS, EvaluationResult, MetricScore, MissingMetric
from mixseek.lazy_dataclass import dataclass
from mixseek.presentation.render.html import result_html
from mixseek.presentation.sections import Section, Sentence, TableRows, notes, sections_of
from mixseek.reports.accounts import masked_text
from mixseek.text.phrases import plural


@dataclass(frozen=True, slots=True)
class EvaluatedSubmission:
    """One submission with what the evaluator made of it."""

    name: str
    user_query: str
    submission: str
    result: EvaluationResult

    @property
    def overall_score(self) -> float | None:
        """The score on 0..100; None as soon as one metric is missing."""
        return self.result.overall_score

    @property
    def metrics(self) -> Mapping[str, MetricScore | MissingMetric]:
        """Metrics by name, in the order of the configuration."""
        return {metric.name: metric for metric in self.result.metrics}

    @property
    def scores(self) -> dict[str, float | None]:
        """The score of each metric by name; None where it is missing."""
        return {
            metric.name: metric.score if isinstance(metric, MetricScore) else None for metric in self.result.metrics
        }

    @property
    def is_open(self) -> bool:
        """Whether asking again may give a score."""
        return any(not metric.is_permanent for metric in self.result.missing)

    def to_dict(self) -> dict[str, Any]:
        """The submission as plain JSON, without the texts."""
        return {"name": self.name, "overall_score": self.overall_score, **self.result.details()}


@dataclass(frozen=True, slots=True)
class Evaluation:
    """All submissions in the order in which they were given; a failure is in it by its name, and never a 0.

    `reason` is a sentence where it stopped before its end: a spent budget, an endpoint that is down. `sent` says what
    was asked now; what was known from before is not in it.
    """

    submissions: tuple[EvaluatedSubmission, ...]
    weights: Mapping[str, float]
    reason: str | None
    sent: Mapping[str, int | float]
    # Every reply, to the letter; None where nothing was to be kept.
    journal: Path | None = None

    def __iter__(self) -> Iterator[EvaluatedSubmission]:
        return iter(self.submissions)

    def __len__(self) -> int:
        return len(self.submissions)

    def __getitem__(self, place: int) -> EvaluatedSubmission:
        return self.submissions[place]

    @property
    def scores(self) -> list[float | None]:
        """The overall score of each submission, in order."""
        return [submission.overall_score for submission in self.submissions]

    @property
    def is_open(self) -> bool:
        """Whether the same again may give scores that are missing now."""
        return self.reason is not None or any(submission.is_open for submission in self.submissions)

    def to_dicts(self) -> list[dict[str, Any]]:
        """A row for each submission, flat: a frame of any library can be made of it."""
        return [
            {"name": submission.name, "overall_score": submission.overall_score, **submission.scores}
            for submission in self.submissions
        ]

    def _repr_html_(self) -> str:
        return result_html(self)

    def _columns(self) -> list[str]:
        """The metrics' names, with the scale of those that do not count from 0 to 100."""
        scales = {
            score.name: scale_text(score.scale)
            for submission in self.submissions
            for score in submission.result.scores
            if score.scale != POINTS
        }
        return [f"{name} ({scales[name]})" if name in scales else name for name in self.weights]

    def _rows(self) -> list[list[str]]:
        return [
            [submission.name, *map(points_text, (submission.overall_score, *submission.scores.values()))]
            for submission in self.submissions
        ]


def evaluation_document(evaluation: Evaluation) -> dict[str, Any]:
    """The evaluation for programs."""
    return {
        "schema": schema_id(DocumentName.EVALUATE),
        "submissions": [submission.to_dict() for submission in evaluation],
        "weights": dict(evaluation.weights),
        "reason": evaluation.reason,
        "sent": dict(evaluation.sent),
        "journal": None if evaluation.journal is None else str(evaluation.journal),
    }


@sections_of.register
def evaluation_sections(evaluation: Evaluation) -> Iterator[Section]:
    """Scores, and below them what judges say, or why a score is missing."""
    heads = ("submission", ">overall", *(f">{name}" for name in evaluation._columns()))
    yield Section(None, [TableRows(heads, evaluation._rows())])
    remarks = [
        (submission.name, metric)
        for submission in evaluation
        for metric in submission.result.metrics
        if remark_on(metric)
    ]
    if remarks:
        yield Section(
            None, [Sentence(""), *notes(f"{name}: {metric.name}: {remark_on(metric)}" for name, metric in remarks)]
        )
    sent = evaluation.sent
    account = f"{plural(int(sent['calls']), 'call')}, {sent['cached']:,} from the cache, ${sent['cost_usd']:.4f}"
    yield Section(None, [Sentence(account)])
    masked = sum(submission.result.details()["usage"]["masked_replies"] for submission in evaluation)
    if masked:
        yield Section(None, [Sentence(masked_text(masked))])


def remark_on(metric: MetricScore | MissingMetric) -> str:
    """The judge's comment, or why there is no score, as one line."""
    text = metric.comment if isinstance(metric, MetricScore) else f"no score ({metric.reason})"
    return " ".join(text.split())

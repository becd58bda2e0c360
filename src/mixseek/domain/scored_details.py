"""What a judge said of one sample under a protocol with dimensions, read from its record."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from mixseek.domain.judgments import Span
from mixseek.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Mark:
    """One dimension; `maximum` is the top for this sample."""

    dimension: str
    score: float
    maximum: float | None
    reason: str | None


@dataclass(frozen=True, slots=True)
class Quote:
    """What a judge quoted: where it stands in the response, or why it could not be found there."""

    dimension: str | None
    text: str
    reason: str
    spans: tuple[Span, ...]
    stage: str | None
    problem: str | None
    # Where it stands instead of the response: the number of a step and which of its texts (`text`, `arguments` or
    # `result`), or the id of a context. Spans are those of that text.
    step: int | None = None
    part: str | None = None
    context: str | None = None

    @property
    def is_in_response(self) -> bool:
        """Whether its spans are places in the response."""
        return self.step is None and self.context is None


@dataclass(frozen=True, slots=True)
class ScoredDetail:
    """Marks in the protocol's own scale. `gates` holds the ones that were not passed, with the reason."""

    total: float | None
    maximum: float | None
    marks: tuple[Mark, ...]
    quotes: tuple[Quote, ...]
    gates: tuple[tuple[str, str | None], ...]
    confidence: str | None = None
    task_type: str | None = None
    inferred_task_type: str | None = None
    same_family: bool = False
    notes: str | None = None
    # Of steps: the first that is wrong, and what the judge was not shown.
    first_wrong_step: int | None = None
    left_out: str | None = None


def read_detail(fields: Mapping[str, Any]) -> ScoredDetail | None:
    """The detail in the fields of a valid judgment; None under a protocol without dimensions."""
    scores = fields.get("scores")
    if not isinstance(scores, Mapping):
        return None
    maxima, reasons = fields.get("maxima") or {}, fields.get("reasons") or {}
    return ScoredDetail(
        total=fields.get("total"),
        maximum=fields.get("total_maximum"),
        marks=tuple(
            Mark(name, score, maxima.get(name), reasons.get(name))
            for name, score in scores.items()
            if score is not None
        ),
        quotes=tuple(
            Quote(
                dimension=item.get("dimension"),
                text=item.get("quote") or "",
                reason=item.get("reason") or "",
                spans=tuple(Span(start, end) for start, end in item.get("spans") or ()),
                stage=item.get("stage"),
                problem=item.get("problem"),
                step=item.get("step"),
                part=item.get("part"),
                context=item.get("context"),
            )
            for item in fields.get("evidence") or ()
        ),
        gates=failed_gates(fields),
        confidence=fields.get("confidence"),
        task_type=fields.get("task_type"),
        inferred_task_type=fields.get("inferred_task_type"),
        same_family=bool(fields.get("same_family")),
        notes=fields.get("notes") or None,
        first_wrong_step=fields.get("first_wrong_step"),
        left_out=_left_out(fields),
    )


def _left_out(fields: Mapping[str, Any]) -> str | None:
    left_out = fields.get("left_out")
    summary = left_out.get("summary") if isinstance(left_out, Mapping) else None
    return str(summary) if summary else None


def failed_gates(fields: Mapping[str, Any]) -> tuple[tuple[str, str | None], ...]:
    """A protocol's own gates by name; the rubric's Critical Fail also stands alone."""
    gates = fields.get("gates") or {}
    failed = tuple((name, gate.get("reason")) for name, gate in gates.items() if gate.get("failed"))
    if not failed and fields.get("critical_fail"):
        return (("critical_fail", fields.get("critical_fail_reason")),)
    return failed


def is_critical(fields: Mapping[str, Any]) -> bool:
    """A gate was not passed: what a reader must see first."""
    return isinstance(fields.get("scores"), Mapping) and bool(failed_gates(fields))


def document_of(item: Any, **keys: str) -> dict[str, Any]:
    """The document for programs: the fields by their names, but for those that programs know by another key."""
    return {keys.get(name, name): value for name, value in asdict(item).items()}

"""Documents about answer runs."""

from collections.abc import Sequence

from typing_extensions import TypedDict

from mixseek.domain.ports import Latency
from mixseek.runs.dry_run import Forecast
from mixseek.schemas.parts import Anything


class AnswerCounts(TypedDict):
    """How answers ended: with a text, in the middle of one, kept back, without one, never, and not yet."""

    finished: int
    cut_off: int
    withheld: int
    empty: int
    failed: int
    open: int


class AnswersOfCell(AnswerCounts):
    target: str
    judge: str
    variant: str
    repeats: int
    questions: int
    planned: int


class TargetDocument(TypedDict):
    """Calls and cost of one target; null is not known."""

    judge: str
    target: str
    calls: int
    cached: int
    recorded: int
    tries: int
    input_tokens: int
    output_tokens: int
    cost_usd: float | None
    unpriced: int
    latency: Latency | None
    models: Sequence[str]


class AnswerReason(TypedDict):
    reason: str
    count: int


class AnswersDocument(AnswerCounts):
    """What an answer run holds."""

    run: str
    workspace: str
    state: str
    questions: int | None
    planned: int
    answers: Sequence[AnswersOfCell]
    targets: Sequence[TargetDocument]
    asked_longer: int
    reasons: Sequence[AnswerReason]
    cost_usd: float | None
    seconds: float | None
    notices: Sequence[str]


class ShowAnswersDocument(TypedDict):
    """Answers as rows, with every column of their question."""

    run: str
    id: str
    answers: Sequence[Anything]


class PromptTurn(TypedDict):
    role: str
    content: str


class AnswerRequestDocument(TypedDict):
    """What would be sent about the first question, and to whom."""

    variant: str
    question_id: str
    messages: Sequence[PromptTurn]
    targets: Sequence[str]
    settings: str


class AnswersDryRunDocument(TypedDict):
    """What would be sent; nothing was."""

    run: str
    questions: int
    planned: int
    forecasts: Sequence[Forecast]
    calls: int
    cost_usd: float | None
    requests: Sequence[AnswerRequestDocument]
    is_estimate: bool

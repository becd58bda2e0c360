"""Questions that are answered with probabilities instead of a text: what a protocol asks of a decision endpoint."""

from enum import StrEnum
from typing import NamedTuple

from mixseek.lazy_dataclass import dataclass

# What endpoints take: more is refused before anybody is asked.
FEWEST_LEVELS, MOST_LEVELS = 2, 10
MOST_OPTIONS = 255
# The options of a predicate.
TRUE, FALSE = "true", "false"
# Where a reply says that it holds answers to questions, and in which interface's words.
DECISION_API = "decision_api"


class DecisionApi(StrEnum):
    """How a decision endpoint is spoken to."""

    DECISIONS = "decisions"
    SYSTEMONE = "systemone"


class QuestionKind(StrEnum):
    """What an answer is: how likely a statement is, which of several options, or which level of a scale."""

    PREDICATE = "predicate"
    CHOICE = "choice"
    LEVELS = "levels"


@dataclass(frozen=True, slots=True)
class AnswerOption:
    """One of the answers that there are, and what it means; of a scale, from the lowest level on."""

    value: str
    description: str = ""


@dataclass(frozen=True, slots=True)
class DecisionQuestion:
    """One field of a protocol as a question."""

    name: str
    kind: QuestionKind
    instructions: str
    options: tuple[AnswerOption, ...]

    @property
    def values(self) -> tuple[str, ...]:
        """What may be answered."""
        return tuple(option.value for option in self.options)

    @property
    def problem(self) -> str | None:
        """Why no endpoint takes it; None where nothing speaks against it."""
        count = len(self.options)
        if self.kind is QuestionKind.LEVELS and not FEWEST_LEVELS <= count <= MOST_LEVELS:
            return f"{self.name} has {count} levels, and decision endpoints take {FEWEST_LEVELS} to {MOST_LEVELS}"
        if count > MOST_OPTIONS:
            return f"{self.name} has {count} options, and decision endpoints take {MOST_OPTIONS}"
        return None


class QuestionSet(NamedTuple):
    """The questions of a protocol, or why there are none."""

    questions: tuple[DecisionQuestion, ...] = ()
    refusal: str | None = None

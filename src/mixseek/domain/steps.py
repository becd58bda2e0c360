"""What happened before a final answer: the steps of a conversation or an agent, and the documents it was given.

A call of a tool and its result are one step. Steps are numbered from 1 in the order in which they began: `parent` is
such a number. What nobody said is None, and stands in no document.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, fields
from enum import StrEnum
from typing import Any

from mixseek.lazy_dataclass import dataclass

# The fields of a sample that hold steps or contexts.
STEP_FIELDS = ("steps", "steps_b", "contexts")
# The texts of a step, in the order in which they are shown; a quote is from one of them.
STEP_TEXTS = ("text", "arguments", "result")


class StepRole(StrEnum):
    """Who acts in a step."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


class StepStatus(StrEnum):
    """How a step ended."""

    OK = "ok"
    ERROR = "error"
    CUT_OFF = "cut_off"


@dataclass(frozen=True, slots=True)
class Step:
    """One event. `tool` is the name of what was called, which only steps of the role `tool` have."""

    role: StepRole
    text: str | None = None
    tool: str | None = None
    # As the model wrote them: a JSON value, or the text that is none. Nobody changes it.
    arguments: Any = None
    # What the tool said; a result that is no text is its JSON.
    result: str | None = None
    # None where the source does not say how it ended.
    status: StepStatus | None = None
    # When it began, as ISO 8601 in UTC, and how long it took.
    time: str | None = None
    seconds: float | None = None
    # The number of the step that began this one.
    parent: int | None = None
    # Data URLs or paths of pictures.
    images: tuple[str, ...] = field(default=())

    @property
    def characters(self) -> int:
        """The length of its texts."""
        return len(self.text or "") + len(self.result or "") + len(self.arguments_text)

    @property
    def arguments_text(self) -> str:
        """The arguments as text: JSON, or what stands there instead of it."""
        return value_text(self.arguments)


@dataclass(frozen=True, slots=True)
class Context:
    """A document that was given to the target."""

    id: str
    text: str
    source: str | None = None


_FIELDS_OF_STEP = tuple(item.name for item in fields(Step))
_FIELDS_OF_CONTEXT = tuple(item.name for item in fields(Context))


def step_documents(steps: Iterable[Step]) -> list[dict[str, Any]]:
    """Steps as JSON objects, without what is absent."""
    return [document_of(step, _FIELDS_OF_STEP) for step in steps]


def context_documents(contexts: Iterable[Context]) -> list[dict[str, Any]]:
    """Contexts as JSON objects, without what is absent."""
    return [document_of(context, _FIELDS_OF_CONTEXT) for context in contexts]


def document_of(item: Step | Context, names: Iterable[str]) -> dict[str, Any]:
    values = {name: getattr(item, name) for name in names}
    return {name: value for name, value in values.items() if value is not None and value != ()}


def steps_of(documents: Iterable[Mapping[str, Any]]) -> tuple[Step, ...]:
    """The steps whose documents these are; ValueError or TypeError for what is none."""
    return tuple([step_of(document) for document in documents])


def step_of(document: Mapping[str, Any]) -> Step:
    values = dict(document)
    values["role"] = StepRole(values["role"])
    if "status" in values:
        values["status"] = StepStatus(values["status"])
    if "images" in values:
        values["images"] = tuple(values["images"])
    return Step(**values)


def contexts_of(documents: Iterable[Mapping[str, Any]]) -> tuple[Context, ...]:
    """The contexts whose documents these are."""
    return tuple([Context(**document) for document in documents])


def unhandled_errors(steps: Sequence[Step]) -> tuple[int, ...]:
    """The numbers of the steps that failed and were never repeated with success.

    Repeated is what was called by the same name later, with whatever arguments: who corrects them has handled the
    error. A repetition of which nobody says how it ended counts as one that succeeded. A step that was cut off is no
    error, and no success either.
    """
    unhandled: list[int] = []
    succeeded: set[tuple[StepRole, str | None]] = set()
    for number in range(len(steps), 0, -1):
        step = steps[number - 1]
        called = (step.role, step.tool)
        if step.status is StepStatus.ERROR:
            if called not in succeeded:
                unhandled.append(number)
        elif step.status is not StepStatus.CUT_OFF:
            succeeded.add(called)
    return tuple(reversed(unhandled))


def digest_of_steps(documents: Mapping[str, Any]) -> str | None:
    """Names what a judge can see of a sample's steps and contexts, from their documents; None where it has none.

    The same letters, the same name, whatever the order of keys: 64 hex digits.
    """
    shown = [documents.get(name) or () for name in STEP_FIELDS]
    return hashlib.sha256(json.dumps(shown, sort_keys=True).encode()).hexdigest() if any(shown) else None


def json_text(value: Any) -> str:
    """JSON on one line, in the letters of its language."""
    return json.dumps(value, ensure_ascii=False)


def step_text(document: Mapping[str, Any], part: str) -> str:
    """One of the texts of a step, from its document."""
    return value_text(document.get(part))


def value_text(value: Any) -> str:
    """A JSON value as text: a text as it is, nothing as an empty one."""
    return value if isinstance(value, str) else "" if value is None else json_text(value)

"""One sample of another tool's log: what every format is turned into, how it is named, and what its grades mean.

A sample's `question_id` is the name that the log has for the question. Its `id` is that name, `@` and the target
where one file holds several targets, and `#N` for the second and later repeats: `d026`, `d026#2`, `d026@model-b#2`.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import field
from typing import Any

from mixseek.datasets.importers.samples.grades import LoggedScore
from mixseek.domain.response_states import FILTER_REASONS, plain_reason
from mixseek.domain.samples import LOG_SCORES, RESPONSE_ERROR
from mixseek.domain.steps import Context, Step, StepRole, context_documents, step_documents
from mixseek.lazy_dataclass import dataclass

# The words of a row beyond those that every dataset has.
REPEAT = "repeat"
STOP_REASON = "stop_reason"
# Why there is no text though nothing failed: a filter took it away, or the limit was reached before it began.
WITHHELD = "response_withheld"
# What was said before there was no answer: kept, and judged by nobody.
WITHHELD_TEXT = "withheld_text"
# How answers end that ended by themselves, in the words of the tools.
_ORDINARY_STOPS = frozenset({"stop", "end_turn", "stop_sequence", "completed", "endoftext", "eos"})
# The model waits for a tool: what it has said until then is no answer.
_CALL_STOPS = frozenset({"tool_calls", "tool_call", "tool_use", "function_call", "pause_turn"})
_ERROR_CHARACTERS = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedSample:
    """`response` None needs an `error`: a sample without a response is never an empty answer."""

    question_id: str
    question: str = ""
    response: str | None = None
    error: str | None = None
    # Why there is no answer though nothing failed; `response` is then what was said before.
    withheld: str | None = None
    # The tool says that this text is the answer, however the last request ended.
    is_final: bool = False
    targets: tuple[str, ...] = ()
    target_model: str | None = None
    # Told apart in the id where a file holds several: the target, or a prompt.
    variant: str | None = None
    prompt_variant: str | None = None
    task_name: str | None = None
    # From 1; None where the log has no number and the order of the file has to do.
    repeat: int | None = None
    stop_reason: str | None = None
    scores: Mapping[str, LoggedScore] = field(default_factory=dict)
    metadata: Mapping[str, Any] = field(default_factory=dict)
    # What happened before the response, where that is more than one question and one answer.
    steps: tuple[Step, ...] = ()
    contexts: tuple[Context, ...] = ()


class Naming:
    """Gives samples their ids, and repeats without a number theirs by the order of the file."""

    def __init__(self) -> None:
        self._times: Counter[tuple[str, str | None]] = Counter()

    def row(self, sample: LoggedSample) -> dict[str, Any]:
        """The sample as a row of a dataset; fields without a value are left out, but a response that failed is null."""
        repeat = sample.repeat
        if repeat is None:
            place = (sample.question_id, sample.variant)
            self._times[place] += 1
            repeat = self._times[place]
        name = sample.question_id + ("" if sample.variant is None else f"@{sample.variant}")
        named = name if repeat == 1 else f"{name}#{repeat}"
        withheld = withheld_by(sample)
        row: dict[str, Any] = {
            "id": named,
            "question_id": sample.question_id,
            "question": sample.question or None,
            "ground_truth": sample.targets[0] if sample.targets else None,
            "ground_truth_alternatives": list(sample.targets[1:]) or None,
            "target_model": sample.target_model,
            "prompt_variant": sample.prompt_variant,
            "task_name": sample.task_name,
            "output_id": named,
            REPEAT: repeat,
            STOP_REASON: sample.stop_reason,
            "steps": written_steps(sample.steps) or None,
            "contexts": context_documents(sample.contexts) or None,
            LOG_SCORES: {name: score.document() for name, score in sample.scores.items()} or None,
            "metadata": dict(sample.metadata) or None,
        }
        row = {column: value for column, value in row.items() if value is not None}
        row["response"] = sample.response
        if sample.error is not None:
            row |= {"response": None, RESPONSE_ERROR: shorten(sample.error)}
        elif withheld is not None:
            row |= {"response": None, RESPONSE_ERROR: shorten(withheld), WITHHELD: sample.stop_reason or withheld}
            row |= {WITHHELD_TEXT: sample.response} if (sample.response or "").strip() else {}
        elif sample.response is None:
            row[RESPONSE_ERROR] = "the log holds no response"
        return row


def written_steps(steps: tuple[Step, ...]) -> list[dict[str, Any]]:
    """Steps as documents, which say of each call that nobody knows how it ended: absent would read as success."""
    return [
        {**document, "status": document.get("status")} if step.role is StepRole.TOOL else document
        for step, document in zip(steps, step_documents(steps), strict=True)
    ]


def withheld_by(sample: LoggedSample) -> str | None:
    """Why a sample without an error has no answer all the same; None where its text is one."""
    if sample.withheld is not None:
        return sample.withheld
    is_blank = not (sample.response or "").strip()
    stop = (sample.stop_reason or "").lower().replace("-", "_")
    if plain_reason(stop) in FILTER_REASONS and not is_blank:
        return f"stopped by {sample.stop_reason}: its text is no answer of the model's"
    if stop in _CALL_STOPS and not is_blank and not sample.is_final:
        return f"stopped by {sample.stop_reason}: its text comes before a call of a tool"
    return (
        f"stopped by {sample.stop_reason}, without a text"
        if is_blank and stop and stop not in _ORDINARY_STOPS
        else None
    )


def shorten(error: str) -> str:
    """One line: tracebacks of 24 KB do not tell more than their first words."""
    line = " ".join(error.split())
    return (line if len(line) <= _ERROR_CHARACTERS else line[: _ERROR_CHARACTERS - 1] + "…") or "an error without words"

"""Questions, right answers and errors, which are not always texts."""

from collections.abc import Iterable, Mapping
from typing import Any

from mixseek.datasets.importers.samples.messages import conversation_text, messages_of
from mixseek.datasets.importers.samples.values import as_rows, as_table, as_text

TEXT_KEYS = ("text", "content", "value", "output", "response", "answer", "completion", "result")
_QUESTION_KEYS = ("question", "input", "query", "prompt", "instruction", "problem", "text", "user_input", "request")
_TARGET_KEYS = (
    *("expected_response", "ground_truth", "reference", "expected", "answer", "target", "expected_output", "gold"),
    *("reference_answer", "expected_answer", "label", "output", "response", "correct_answer"),
)
# What a user of ours and of these tools calls the right answer among the variables of a prompt.
TARGET_VARIABLES = _TARGET_KEYS[:-3]


def question_text(value: Any) -> str:
    """The question in whatever a tool calls the input: a text, messages, or an object with one of them."""
    return pick_text(value, _QUESTION_KEYS)


def target_texts(value: Any) -> tuple[str, ...]:
    """One right answer, or a list of them, or an object that holds them."""
    if isinstance(value, Mapping):
        target = next((value[key] for key in _TARGET_KEYS if value.get(key) is not None), None)
        if target is None and len(value) == 1:
            target = next(iter(value.values()))
        return target_texts(target)
    items = value if isinstance(value, list) else [value]
    return tuple(text for item in items if (text := as_text(item)))


def pick_text(value: Any, keys: Iterable[str]) -> str:
    """The text of an object: the value of a known key, or the only one; else the whole of it as JSON."""
    if isinstance(value, list) and as_rows(value):
        return conversation_text(value)
    if not isinstance(value, Mapping):
        return as_text(value) or ""
    if messages_of(value.get("messages")):
        return conversation_text(value["messages"])
    text = next((value[key] for key in keys if value.get(key) is not None), None)
    if text is None and len(value) == 1:
        text = next(iter(value.values()))
    return as_text(value if text is None else text) or ""


def with_options(question: str, options: Iterable[str]) -> str:
    """The question with its lettered options below, as open question sets write them."""
    lines = [f"({letter}) {option}" for letter, option in zip("ABCDEFGHIJKLMNOPQRSTUVWXYZ", options, strict=False)]
    return "\n".join([question, "Options:", *lines]) if lines else question


def error_text(error: Any) -> str | None:
    """A text, or the message of an object; None where nothing failed."""
    return as_text(as_table(error).get("message")) or as_text(error or None)

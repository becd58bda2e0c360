"""Columns that hold steps and contexts: a list in JSON, or the text of one, since CSV has nothing better.

A column of such a name may hold something else (a number of steps, say): then nothing is read, and it stays as it was.
"""

import math
from collections.abc import Mapping
from typing import Any

from mixseek.datasets.importers.reading.cells import read_cell
from mixseek.datasets.importers.samples.values import as_text
from mixseek.domain.steps import Context, Step, StepRole, StepStatus, json_text

STEP_FIELDS = frozenset({"steps", "steps_b"})
COLUMN_FIELDS = STEP_FIELDS | {"contexts"}
# Where the text of a context may stand, and its name.
_CONTEXT_TEXTS = ("text", "content", "page_content")
_CONTEXT_IDS = ("id", "doc_id", "document_id")
_CONTEXT_SOURCES = ("source", "title", "url")
_STEP_KEYS = frozenset(Step.__dataclass_fields__)


class StepError(ValueError):
    """What is wrong with a step or a context, with its number."""


def read_steps(value: Any) -> tuple[Step, ...] | None:
    """The steps; None where the value is no list of them, and StepError where one of a list is wrong."""
    items = read_cell(value)
    if not isinstance(items, list | tuple) or not items or not all(isinstance(item, Mapping) for item in items):
        return None
    if not any("role" in item or "tool" in item for item in items):
        return None
    return tuple([read_step(item, number) for number, item in enumerate(items, 1)])


def read_step(item: Mapping[str, Any], number: int) -> Step:
    """One step as our own documents have it; StepError says what is wrong with which."""
    if unknown := sorted(map(str, item.keys() - _STEP_KEYS)):
        raise StepError(f"step {number} has an unknown key {unknown[0]!r}; known are {', '.join(sorted(_STEP_KEYS))}")
    known = {name: cell for name, cell in item.items() if cell is not None}
    role = known.get("role", StepRole.TOOL.value if "tool" in known else None)
    if role not in set(StepRole):
        raise StepError(f"step {number} has the role {role!r}; write {', '.join(StepRole)}")
    status = known.get("status")
    if status is not None and status not in set(StepStatus):
        raise StepError(f"step {number} has the status {status!r}; write {', '.join(StepStatus)}")
    if ("tool" in known) != (role == StepRole.TOOL):
        raise StepError(f"step {number}: `tool` is the name of what was called, in steps of the role `tool` only")
    parent = known.get("parent")
    if parent is not None and (type(parent) is not int or not 1 <= parent < number):
        raise StepError(f"step {number} has the parent {parent!r}; write the number of an earlier step")
    images = known.get("images", ())
    if not isinstance(images, list | tuple) or not all(isinstance(image, str) for image in images):
        raise StepError(f"step {number}: `images` is a list of data URLs or paths")
    return Step(
        role=StepRole(role),
        text=as_text(known.get("text")),
        tool=as_text(known.get("tool")),
        arguments=read_arguments(known.get("arguments")),
        result=as_text(known.get("result")),
        status=None if status is None else StepStatus(status),
        time=as_text(known.get("time")),
        seconds=read_seconds(known.get("seconds"), number),
        parent=parent,
        images=tuple(images),
    )


def read_arguments(value: Any) -> Any:
    """Arguments as a JSON value: models write them as text, which stays where it is no JSON."""
    value = read_cell(value)
    try:
        json_text(value)
    except (TypeError, ValueError):
        return as_text(value)
    return value


def read_seconds(value: Any, number: int) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value < 0:
        raise StepError(f"step {number} took {value!r} seconds; write a number that is not negative")
    return float(value)


def read_contexts(value: Any) -> tuple[Context, ...] | None:
    """The contexts, numbered where they have no id; None where the value is no text and no list of texts."""
    contexts = [read_context(item, number) for number, item in enumerate(listed_documents(value), 1)]
    if not contexts or any(context is None for context in contexts):
        return None
    given = [context for context in contexts if context is not None]
    names = [context.id for context in given]
    if doubled := next((name for name in names if names.count(name) > 1), None):
        raise StepError(f"two contexts have the id {doubled!r}; a quote would not say which it is from")
    return tuple(given)


def listed_documents(value: Any) -> list[Any]:
    """What may be documents: a text, an object, or the items of a list; nothing for anything else."""
    items = read_cell(value)
    if isinstance(items, str):
        items = [items] if items.strip() else []
    if isinstance(items, Mapping):
        items = [items]
    return list(items) if isinstance(items, list | tuple) else []


def read_context(item: Any, number: int) -> Context | None:
    """One document, from its text or an object with it."""
    if isinstance(item, str):
        return Context(str(number), item)
    if not isinstance(item, Mapping):
        return None
    text = next((item[name] for name in _CONTEXT_TEXTS if isinstance(item.get(name), str)), None)
    if text is None:
        return None
    inside = item.get("metadata")
    metadata = inside if isinstance(inside, Mapping) else {}
    name = next((item[name] for name in _CONTEXT_IDS if item.get(name) is not None), number)
    source = next((of[name] for of in (item, metadata) for name in _CONTEXT_SOURCES if of.get(name) is not None), None)
    return Context(as_text(name) or str(number), text, as_text(source))

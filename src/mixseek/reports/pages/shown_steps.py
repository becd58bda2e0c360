"""Steps and contexts in a page: each text within a limit, and how much of it is left out."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mixseek.domain.judgments import JudgedRow
from mixseek.domain.steps import STEP_TEXTS, step_text

# A page that draws more steps than this is no help to anybody: the first and the last are kept.
MOST_STEPS = 2_000


def shown_steps(documents: Sequence[Mapping[str, Any]], limit: int) -> list[dict[str, Any]]:
    """The steps with their numbers; where there are too many, one entry tells how many stand in between."""
    numbered = list(enumerate(documents, 1))
    if len(numbered) <= MOST_STEPS:
        return [_shown_step(document, number, limit) for number, document in numbered]
    half = MOST_STEPS // 2
    first, last = numbered[:half], numbered[-half:]
    return [
        *(_shown_step(document, number, limit) for number, document in first),
        {"skipped": len(numbered) - 2 * half},
        *(_shown_step(document, number, limit) for number, document in last),
    ]


def _shown_step(document: Mapping[str, Any], number: int, limit: int) -> dict[str, Any]:
    kept = {
        name: document[name] for name in ("role", "tool", "status", "time", "seconds", "parent") if name in document
    }
    texts = {name: text for name in STEP_TEXTS if (text := step_text(document, name))}
    cut = {name: len(text) - limit for name, text in texts.items() if len(text) > limit}
    shown = {"n": number, **kept, **{name: text[:limit] for name, text in texts.items()}}
    if cut:
        shown["cut"] = cut
    if document.get("images"):
        shown["images"] = [image for image in document["images"] if len(image) <= limit]
        shown["images_cut"] = len(document["images"]) - len(shown["images"])
    return shown


def shown_contexts(documents: Sequence[Mapping[str, Any]], limit: int) -> list[dict[str, Any]]:
    """The contexts, each with how much of it is left out."""
    return [
        {**document, "text": document["text"][:limit], "cut": max(0, len(document["text"]) - limit)}
        for document in documents
    ]


def text_lengths(row: JudgedRow) -> Iterator[int]:
    """The lengths of all texts of its steps and contexts."""
    for document in (*row.steps, *row.steps_b):
        yield from (len(step_text(document, name)) for name in STEP_TEXTS)
        yield from map(len, document.get("images", ()))
    for document in row.contexts:
        yield len(document["text"])


def quoted_text(row: JudgedRow, step: int | None, part: str | None, context: str | None) -> str | None:
    """The text that a quote of a step or a context is from; None where there is none."""
    if context is not None:
        return next((document["text"] for document in row.contexts if document["id"] == context), None)
    if step is None or not 1 <= step <= len(row.steps):
        return None
    return step_text(row.steps[step - 1], part or "text")

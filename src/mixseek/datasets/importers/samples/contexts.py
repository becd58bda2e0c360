"""Documents that were given to a target: columns of rows, and what a retriever found."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from mixseek.datasets.step_columns import listed_documents, read_context
from mixseek.domain.steps import Context

# What tools call a column of them; the first that holds some counts.
CONTEXT_COLUMNS = ("contexts", "retrieved_contexts", "retrieval_context", "retrievalContext", "context", "documents")


def contexts_in(
    row: Mapping[str, Any], names: Iterable[str] = CONTEXT_COLUMNS
) -> tuple[str | None, tuple[Context, ...]]:
    """The column that holds contexts, and them; nothing where there is none, or something else in it."""
    for name in names:
        contexts = contexts_of_value(row.get(name))
        if contexts:
            return name, contexts
    return None, ()


def contexts_of_value(value: Any) -> tuple[Context, ...]:
    """A text, an object or a list of them as contexts; none where one is neither."""
    items = enumerate(listed_documents(value), 1)
    contexts = [read_context(plain_document(item), number) for number, item in items]
    return () if None in contexts else distinct(context for context in contexts if context is not None)


def plain_document(item: Any) -> Any:
    """A document of LangChain or LlamaIndex may have its id in the metadata, or be wrapped with its score."""
    if not isinstance(item, Mapping):
        return item
    inside = item.get("document", item.get("node"))
    if isinstance(inside, Mapping):
        item = inside
    metadata = item.get("metadata")
    if item.get("id") is None and isinstance(metadata, Mapping):
        name = next((metadata[key] for key in ("id", "doc_id", "document_id") if metadata.get(key) is not None), None)
        item = item if name is None else {**item, "id": name}
    if isinstance(metadata, Mapping) and "source" not in metadata and metadata.get("doc_uri") is not None:
        item = {**item, "metadata": {**metadata, "source": metadata["doc_uri"]}}
    return item


def distinct(contexts: Iterable[Context]) -> tuple[Context, ...]:
    """One of each; two texts of one id get names of their own, because a quote has to say which it is from."""
    kept: dict[str, Context] = {}
    for context in contexts:
        name, number = context.id, 1
        while name in kept and kept[name].text != context.text:
            number += 1
            name = f"{context.id}#{number}"
        kept.setdefault(name, replace(context, id=name))
    return tuple(kept.values())

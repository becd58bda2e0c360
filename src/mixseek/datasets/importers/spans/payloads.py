"""What went into a request to a model and what came out, as tracers keep it: objects of the client, or messages."""

from collections.abc import Mapping
from typing import Any

from mixseek.datasets.importers.reading.cells import read_cell
from mixseek.datasets.importers.samples.messages import is_message, messages_of
from mixseek.datasets.importers.samples.values import as_rows, as_table


def reply_in(outputs: Any) -> list[Mapping[str, Any]]:
    """The reply: a generation of LangChain, a choice of OpenAI, a message, or a text."""
    table = as_table(outputs)
    generation = next(iter(messages_of(table.get("generations"))), {})
    if isinstance(generation.get("message"), Mapping):
        return messages_of([generation["message"]])
    choice = next(iter(as_rows(table.get("choices"))), {})
    if isinstance(choice.get("message"), Mapping):
        return [{"finish_reason": choice.get("finish_reason"), **choice["message"]}]
    if messages := messages_in(outputs):
        return messages
    if is_message(table):
        return [table]
    if isinstance(table.get("output"), Mapping):
        return messages_of([table["output"]])
    text = next((text for text in (generation.get("text"), table.get("output"), table.get("text")) if text), None)
    return [{"role": "assistant", "content": text}] if isinstance(text, str) else []


def messages_in(value: Any) -> list[Mapping[str, Any]]:
    """The messages of an input or output; nothing where it is something else."""
    table = as_table(value)
    listed = next(
        (table[name] for name in ("messages", "output", "input") if as_rows(read_cell(table.get(name)))), None
    )
    if listed is None and isinstance(table.get("messages"), list):
        listed = table["messages"]
    messages = messages_of(listed if listed is not None else value)
    return messages if messages and all(map(is_message, messages)) else []

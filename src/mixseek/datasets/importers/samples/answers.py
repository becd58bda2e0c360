"""The answer in whatever a tool calls the output: a text, or the reason why there is none.

A call of a tool is no answer, nor is what was said before it: whoever judges either judges a text that the model never
gave. The last message counts, and only if the assistant wrote it and asks for nothing in it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from mixseek.datasets.importers.samples.messages import content_text, is_message, messages_of, plain_message, role_of
from mixseek.datasets.importers.samples.texts import TEXT_KEYS
from mixseek.datasets.importers.samples.values import as_rows, as_table, as_text
from mixseek.lazy_dataclass import dataclass

_ANSWER_KEYS = ("response", "output", "answer", *TEXT_KEYS)
# Kinds of items that ask the caller to do something; what a provider does by itself (`server_tool_use`) is not asked.
_CALL_KINDS = frozenset(
    {
        *("function", "function_call", "tool_call", "tool_use", "tool-call", "custom_tool_call"),
        *("computer_call", "local_shell_call"),
    }
)
_ARGUMENTS = ("arguments", "args", "input", "parameters")
# Deeper than this, an object is not the wrapping of a text.
_DEEPEST_WRAPPING = 8


@dataclass(frozen=True, slots=True)
class Answer:
    """`withheld` says why there is no text though nothing failed; `begun` is what was written before that."""

    text: str | None
    withheld: str | None = None
    begun: str | None = None
    # How the last message ended, where it says so.
    stop: str | None = None


def answered(answer: Answer) -> dict[str, Any]:
    """What an output says, as the fields of a sample."""
    return {
        "response": answer.begun if answer.text is None else answer.text,
        "withheld": answer.withheld,
        "stop_reason": answer.stop,
    }


def read_answer(value: Any, depth: int = 0) -> Answer:
    """The answer in a text, a message, a conversation, a list of calls, or an object around one of them."""
    if isinstance(value, Mapping):
        return answer_of_object(plain_message(value), depth)
    if not isinstance(value, list):
        return Answer(as_text(value))
    if not value:
        return Answer(None)
    messages = messages_of(value)
    if messages and all(map(is_call, messages)):
        return Answer(None, describe_calls(messages))
    if any(map(is_message, messages)):
        return answer_of_messages(messages)
    if messages and all("type" in part for part in messages):
        return answer_of_message({"content": messages})
    return Answer(as_text(value))


def answer_of_object(value: Mapping[str, Any], depth: int) -> Answer:
    """A message, or what holds one; an object that is neither is a structured output, and its JSON the text."""
    if not value:
        return Answer(None)
    choice = as_table(next(iter(as_rows(value.get("choices"))), {}))
    if isinstance(choice.get("message"), Mapping) or isinstance(choice.get("text"), str):
        answer = answer_of_message(as_table(choice.get("message")) or choice)
        return replace(answer, stop=answer.stop or as_text(choice.get("finish_reason")))
    generations = messages_of(value.get("generations"))
    if generations:
        return read_answer(generations[0].get("message") or generations[0].get("text"), depth + 1)
    if is_message(value):
        return answer_of_messages([value])
    if calls := as_rows(value.get("tool_calls")):
        return Answer(None, describe_calls(calls), content_text(value.get("content")))
    messages = messages_of(value.get("messages"))
    if any(map(is_message, messages)):
        return answer_of_messages(messages)
    if is_call(value):
        return Answer(None, describe_calls([value]))
    wrapped = next((value[key] for key in _ANSWER_KEYS if value.get(key) is not None), None)
    if wrapped is None and len(value) == 1:
        wrapped = next(iter(value.values()))
        if wrapped is None:
            return Answer(None)
    if isinstance(wrapped, Mapping | list) and depth < _DEEPEST_WRAPPING:
        return read_answer(wrapped, depth + 1)
    return Answer(as_text(value if wrapped is None else wrapped) or "")


def answer_of_messages(messages: list[Mapping[str, Any]]) -> Answer:
    """What the assistant said last, if nothing stands behind it."""
    last = messages[-1]
    if role_of(last) != "assistant":
        who = role_of(last) or as_text(last.get("type")) or "nobody"
        return Answer(None, f"the conversation ends with a message of {who!r}, without an answer of the assistant")
    return answer_of_message(last)


def answer_of_message(message: Mapping[str, Any]) -> Answer:
    """Its text, unless it calls a tool."""
    text = content_text(message.get("content", message.get("value", message.get("text"))))
    details = as_table(message.get("response_metadata"))
    stop = as_text(details.get("finish_reason")) or as_text(details.get("stop_reason"))
    calls = calls_of(message)
    if calls:
        return Answer(None, describe_calls(calls), text or None, stop)
    return Answer(text, stop=stop)


def calls_of(message: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """What a message asks to be called: as OpenAI and LangChain have it, or among the parts of its content."""
    calls = as_rows(message.get("tool_calls"))
    if isinstance(message.get("function_call"), Mapping):
        calls = [*calls, message["function_call"]]
    return [*calls, *(part for part in as_rows(message.get("content")) if part.get("type") in _CALL_KINDS)]


def is_call(item: Mapping[str, Any]) -> bool:
    """`{"type": "function", "function": {…}}`, `{"name": …, "args": {…}}`, or a part of kind `tool_use`."""
    has_arguments = any(isinstance(item.get(name), Mapping) for name in ("args", "arguments"))
    if isinstance(item.get("function", item.get("functionCall")), Mapping) or ("name" in item and has_arguments):
        return True
    return item.get("type") in _CALL_KINDS and any(name in item for name in ("name", *_ARGUMENTS))


def describe_calls(calls: Iterable[Mapping[str, Any]]) -> str:
    """One clause, with the names of what is called."""
    names = dict.fromkeys(name for call in calls if (name := call_name(call)))
    called = (
        "a tool" if not names else f"the tool {', '.join(names)}" if len(names) == 1 else f"tools {', '.join(names)}"
    )
    return f"ends in a call of {called}, without an answer"


def call_name(call: Mapping[str, Any]) -> str | None:
    """Wherever a call has its name: Inspect says `function` for it, others have an object of that name."""
    function = call.get("function", call.get("functionCall", call))
    return as_text(function.get("name")) if isinstance(function, Mapping) else as_text(function)

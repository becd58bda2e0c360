"""Messages of a conversation: who speaks, and what is said."""

from collections.abc import Mapping
from typing import Any

from mixseek.datasets.importers.samples.values import as_rows


def content_text(content: Any) -> str | None:
    """What a message says: a text, or the text parts of a list of them; reasoning and images are not said."""
    if content is None or isinstance(content, str):
        return content
    if isinstance(content, Mapping):
        content = [content]
    if not isinstance(content, list):
        return None
    texts = []
    for part in content:
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, Mapping) and part.get("type", "text") in ("text", "output_text", "input_text"):
            text = part.get("text")
            texts += [text] if isinstance(text, str) else []
    return "\n".join(texts)


def conversation_text(messages: Any) -> str:
    """What was asked: the one user message, or who said what where there are more. A system prompt alone is no turn."""
    parsed = messages_of(messages)
    turns = [(role_of(message), content_text(message.get("content", message.get("value"))) or "") for message in parsed]
    return worded_question([(role, text) for role, text in turns if text])


def worded_question(turns: list[tuple[str, str]]) -> str:
    """Who said what; a system prompt alone is no turn."""
    spoken = [(role, text) for role, text in turns if role not in ("system", "developer")]
    if len(spoken) == 1:
        return spoken[0][1]
    return "\n\n".join(f"{role}: {text}" for role, text in turns)


def last_user_text(messages: Any) -> str:
    """The last question of a few-shot prompt; what stands before it are examples."""
    texts = [content_text(message.get("content")) for message in messages_of(messages) if role_of(message) == "user"]
    return next((text for text in reversed(texts) if text), "")


# How others call who speaks: ShareGPT in `from`, LangChain in `type`.
_ROLE_NAMES = {
    "human": "user",
    "gpt": "assistant",
    "model": "assistant",
    "ai": "assistant",
    "aimessagechunk": "assistant",
}
_ROLES = frozenset({"user", "assistant", "system", "developer", "tool", "function"})
_MESSAGE_TYPES = frozenset({"human", "ai", "system", "tool", "function", "developer", "AIMessageChunk"})


def role_of(message: Mapping[str, Any]) -> str:
    """Who speaks, in the words of OpenAI; empty where the message does not say."""
    kind = message.get("type")
    typed = kind if isinstance(kind, str) and kind in _MESSAGE_TYPES and "content" in message else ""
    role = str(message.get("role") or message.get("from") or typed)
    return _ROLE_NAMES.get(role.lower(), role)


def is_message(item: Mapping[str, Any]) -> bool:
    """Somebody who speaks, and what is said: a structured output may have a `role` or a `from`, too."""
    return role_of(item) in _ROLES and any(name in item for name in ("content", "value", "tool_calls"))


def messages_of(value: Any) -> list[Mapping[str, Any]]:
    """Messages as plain ones; LangChain wraps each, and has a list of them for each prompt."""
    if isinstance(value, list) and value and isinstance(value[0], list):
        value = value[0]
    return [plain_message(message) for message in as_rows(value)]


def plain_message(message: Mapping[str, Any]) -> Mapping[str, Any]:
    """The message that LangChain writes into another: `{"lc": 1, "kwargs": {…}}`, or `{"type": "ai", "data": {…}}`."""
    inside = message.get("kwargs") if "lc" in message else message.get("data") if "type" in message else None
    if not isinstance(inside, Mapping) or "content" not in inside:
        return message
    name = message.get("id")
    known = str(name[-1]).removesuffix("Message").lower() if isinstance(name, list) and name else message.get("type")
    return {"type": known, **inside}

"""Messages of any tool as turns: who speaks, what is said and shown, which tools are called, and what they answered.

OpenAI (chat and Responses), Anthropic, Gemini, LangChain, Vercel's SDK, Inspect, pydantic-ai and OpenTelemetry write
the same few things under other names; they stand here, and nowhere else. What stands in no table is counted as unread.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from typing import Any

from mixseek.datasets.importers.samples.messages import messages_of, role_of
from mixseek.datasets.importers.samples.values import as_rows, as_table, as_text
from mixseek.datasets.step_columns import read_arguments
from mixseek.domain.steps import StepRole, StepStatus
from mixseek.lazy_dataclass import dataclass

# By kind of part, how many were not read.
Unread = Counter[str]


@dataclass(frozen=True, slots=True)
class Call:
    """A tool that is to be called. One that the provider calls by itself is not asked of anybody."""

    tool: str
    arguments: Any = None
    id: str | None = None
    is_of_provider: bool = False


@dataclass(frozen=True, slots=True)
class Result:
    """What a tool answered. `status` is the format's word, None where it has none; `tool` only where it is said."""

    text: str | None
    status: StepStatus | None = None
    id: str | None = None
    tool: str | None = None


@dataclass(frozen=True, slots=True)
class Turn:
    """What one message says. `speaker` is its role as it stands there, which the question repeats."""

    role: StepRole
    speaker: str
    # None where the message has no text at all, which is not an empty one.
    text: str | None = None
    images: tuple[str, ...] = ()
    calls: tuple[Call, ...] = ()
    results: tuple[Result, ...] = ()
    # How it ended, where it says so.
    stop: str | None = None


@dataclass(slots=True)
class Collected:
    """The parts of one message up to where a result interrupts it."""

    texts: list[str] = field(default_factory=list)
    images: list[str] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    results: list[Result] = field(default_factory=list)

    def is_empty(self) -> bool:
        return not (self.texts or self.images or self.calls or self.results)


_ROLES = {
    "system": StepRole.SYSTEM,
    "developer": StepRole.SYSTEM,
    "user": StepRole.USER,
    "assistant": StepRole.ASSISTANT,
    "tool": StepRole.TOOL,
    "function": StepRole.TOOL,
    "tool_result": StepRole.TOOL,
    "toolresult": StepRole.TOOL,
    "observation": StepRole.TOOL,
}
_CALLS = frozenset(
    {
        *("function", "function_call", "tool_call", "tool_use", "tool-call", "custom_tool_call", "mcp_tool_use"),
        *("computer_call", "local_shell_call", "shell_call", "apply_patch_call", "builtin-tool-call", "mcp_call"),
        *("server_tool_use", "web_search_call", "file_search_call", "code_interpreter_call", "image_generation_call"),
    }
)
# What the provider carries out by itself; its result stands in the same item, or in one behind it.
_OF_PROVIDER = frozenset(
    {
        *("server_tool_use", "mcp_tool_use", "builtin-tool-call", "web_search_call", "file_search_call", "mcp_call"),
        *("code_interpreter_call", "image_generation_call"),
    }
)
_TEXTS = frozenset({"text", "output_text", "input_text", "user-prompt", "system-prompt", "refusal", "text-content"})
_IMAGES = frozenset({"image", "image_url", "input_image", "image-url", "binary", "blob", "uri", "media"})
_RESULTS = frozenset(
    {
        *("tool_result", "tool_call_response", "tool-return", "tool-result", "function_call_output", "retry-prompt"),
        *("builtin-tool-return", "custom_tool_call_output", "computer_call_output", "local_shell_call_output"),
        *("shell_call_output", "apply_patch_call_output"),
    }
)
# Where the arguments of a call stand, what a result holds, and what both are told apart by.
_ARGUMENTS = ("arguments", "args", "input", "parameters", "action", "queries", "code")
_ANSWERS = ("content", "output", "result", "response", "results", "outputs")
_CALL_IDS = ("tool_call_id", "call_id", "toolCallId", "tool_use_id", "id")
_RESULT_IDS = ("tool_call_id", "call_id", "toolCallId", "tool_use_id", "id")
_TOOL_NAMES = ("tool_name", "toolName", "name")
# How formats that mark failures call them, and what is none.
_FAILED = frozenset({"error", "failed", "failure", "retried", "denied", "incomplete", "cancelled", "interrupted"})
_FINE = frozenset({"success", "ok", "completed", "succeeded"})
# What the Agents SDK of OpenAI writes in place of a result when a tool of its user raises: its only mark.
_SDK_FAILURE = ("An error occurred while running the tool.", "An error occurred while parsing tool arguments")
# What pydantic-ai answers to the call by which a model hands in its output, and to one that it did not carry out.
FINAL_RESULT = "Final result processed."
_NOT_EXECUTED = "Tool not executed"


def turns_of(value: Any, unread: Unread, *, marks_failures: bool = False) -> list[Turn]:
    """The turns of a list of messages; `marks_failures` where a result without a mark is one that went well."""
    turns: list[Turn] = []
    instructions = None
    for message in messages_of(value):
        given = as_text(message.get("instructions")) if "parts" in message else None
        # pydantic-ai repeats them with each request.
        if given and given != instructions:
            instructions = given
            turns.append(Turn(StepRole.SYSTEM, "system", given))
        turns += turns_of_message(message, unread, marks_failures=marks_failures)
    return turns


def turns_of_message(message: Mapping[str, Any], unread: Unread, *, marks_failures: bool = False) -> Iterator[Turn]:
    """One message; several turns where results stand between what else it says."""
    kind = kind_of(message)
    speaker = speaker_of(message, kind)
    stop = stop_of(message)
    if kind in _RESULTS and "role" not in message:
        yield Turn(StepRole.TOOL, "tool", results=(result_of(message, kind, marks_failures),), stop=stop)
        return
    if kind in _CALLS and "role" not in message:
        call = call_of(message, kind)
        yield Turn(StepRole.ASSISTANT, "assistant", calls=(call,), stop=stop)
        if call.is_of_provider:
            yield Turn(StepRole.TOOL, "tool", results=(provider_result(message, call),))
        return
    role = _ROLES.get(speaker.lower())
    if role is None and not speaker:
        unread[kind or "message without a role"] += 1
        return
    # Somebody else who takes part: what was said is kept, under the name that stands there.
    role = role or StepRole.USER
    if role is StepRole.TOOL and "parts" not in message and not holds_results(message):
        yield Turn(role, speaker, results=(result_of(message, kind, marks_failures),))
        return
    yield from turns_of_parts(message, role, speaker, stop, unread, marks_failures=marks_failures)


def turns_of_parts(
    message: Mapping[str, Any], role: StepRole, speaker: str, stop: str | None, unread: Unread, *, marks_failures: bool
) -> Iterator[Turn]:
    """Texts and calls are one turn until a result interrupts them; what follows is said with its knowledge."""
    content = message.get("parts") if isinstance(message.get("parts"), list) else spoken_content(message)
    collected, is_said = Collected(), False
    has_text = isinstance(content, str)
    beside = calls_beside(message)
    for part in [content] if isinstance(content, str | Mapping) else content if isinstance(content, list) else []:
        if isinstance(part, Mapping) and (order := instruction_of(part)) is not None:
            yield Turn(StepRole.SYSTEM, "system", order)
            is_said = True
            continue
        before = len(collected.results)
        has_text |= read_part(part, collected, unread, marks_failures=marks_failures, skips_calls=bool(beside))
        if len(collected.results) > before:
            result = collected.results.pop()
            if not collected.is_empty():
                yield turn_of(collected, role, speaker, None, has_text=has_text)
            yield Turn(StepRole.TOOL, "tool", results=(result,))
            collected, is_said, has_text = Collected(), True, False
    collected.calls += beside
    refusal = as_text(message.get("refusal"))
    if refusal and not collected.texts:
        collected.texts.append(refusal)
        has_text = True
    if not collected.is_empty() or not is_said:
        yield turn_of(collected, role, speaker, stop, has_text=has_text)


def instruction_of(part: Mapping[str, Any]) -> str | None:
    """What pydantic-ai puts among the parts of a request though no user said it: prompts, and what was wrong with one.

    A retry that names a tool is that tool's result.
    """
    kind = part.get("part_kind")
    if kind == "system-prompt" or (kind == "retry-prompt" and not part.get("tool_name")):
        return as_text(part.get("content"))
    return None


def turn_of(collected: Collected, role: StepRole, speaker: str, stop: str | None, *, has_text: bool) -> Turn:
    text = "\n".join(collected.texts) if has_text or collected.texts else None
    # A request of pydantic-ai holds parts of several roles; calls are the assistant's, wherever they stand.
    role = StepRole.ASSISTANT if collected.calls and role is StepRole.USER else role
    return Turn(role, speaker, text, tuple(collected.images), tuple(collected.calls), stop=stop)


def spoken_content(message: Mapping[str, Any]) -> Any:
    return next((message[name] for name in ("content", "value", "text") if message.get(name) is not None), None)


def read_part(part: Any, collected: Collected, unread: Unread, *, marks_failures: bool, skips_calls: bool) -> bool:
    """Put one part where it belongs; whether it is a text."""
    if isinstance(part, str):
        collected.texts.append(part)
        return True
    if not isinstance(part, Mapping):
        unread[type(part).__name__] += 1
        return False
    kind = kind_of(part)
    if kind in _RESULTS or kind.endswith("_tool_result"):
        collected.results.append(result_of(part, kind, marks_failures))
    elif kind in _CALLS:
        # LangChain has the calls of Anthropic twice: among the parts, and beside them.
        if not skips_calls or kind in _OF_PROVIDER:
            collected.calls.append(call_of(part, kind))
    elif kind in _IMAGES:
        image = image_of(part)
        if image is None:
            unread[kind] += 1
        else:
            collected.images.append(image)
    elif kind in _TEXTS or kind == "":
        return read_text_part(part, collected, unread)
    else:
        unread[kind] += 1
    return False


def read_text_part(part: Mapping[str, Any], collected: Collected, unread: Unread) -> bool:
    inside = next((part[name] for name in ("text", "content", "refusal") if part.get(name) is not None), None)
    if isinstance(inside, str):
        collected.texts.append(inside)
        return True
    if isinstance(inside, list):
        # A prompt of pydantic-ai may be a list of texts and pictures.
        texts = [read_part(item, collected, unread, marks_failures=False, skips_calls=False) for item in inside]
        return any(texts)
    unread[kind_of(part) or "part without a type"] += 1
    return False


def kind_of(part: Mapping[str, Any]) -> str:
    """What a part or an item is; the names of Gemini's parts are keys."""
    if isinstance(part.get("functionCall", part.get("function_call")), Mapping) and "role" not in part:
        return "function_call"
    if isinstance(part.get("functionResponse", part.get("function_response")), Mapping):
        return "tool_result"
    if isinstance(part.get("inlineData", part.get("inline_data")), Mapping):
        return "blob"
    kind = part.get("part_kind") or part.get("type") or (part.get("kind") if "parts" not in part else None)
    return kind if isinstance(kind, str) else ""


def speaker_of(message: Mapping[str, Any], kind: str) -> str:
    """Who speaks, in the words of OpenAI; a message of pydantic-ai says only what it is for."""
    side = message.get("kind")
    if "parts" in message and side in ("request", "response"):
        return "user" if side == "request" else "assistant"
    role = role_of(message)
    return role or ("assistant" if kind == "message" else "")


def stop_of(message: Mapping[str, Any]) -> str | None:
    """How a message ended, wherever it says so."""
    details = as_table(message.get("response_metadata"))
    names = ("finish_reason", "stop_reason", "finishReason", "stopReason")
    stop = next((as_text(of[name]) for of in (details, message) for name in names if of.get(name)), None)
    return stop or ("length" if message.get("status") == "incomplete" and kind_of(message) == "message" else None)


def holds_results(message: Mapping[str, Any]) -> bool:
    """A message of a tool may have its results among its parts."""
    return any(kind_of(part) in _RESULTS for part in as_rows(message.get("content")))


def calls_beside(message: Mapping[str, Any]) -> list[Call]:
    """Calls that stand beside the content: as OpenAI, LangChain and Inspect have them."""
    kept = as_table(message.get("additional_kwargs"))
    listed = as_rows(message.get("tool_calls")) or as_rows(message.get("toolCalls")) or as_rows(kept.get("tool_calls"))
    listed = [*listed, *as_rows(message.get("invalid_tool_calls"))]
    single = message.get("function_call") or kept.get("function_call")
    if isinstance(single, Mapping) and not listed:
        listed = [single]
    return [call_of(call, "tool_call") for call in listed]


def call_of(call: Mapping[str, Any], kind: str) -> Call:
    """Name, arguments and id of a call, in whatever shape."""
    inside = next(
        (call[name] for name in ("function", "functionCall", "function_call") if isinstance(call.get(name), Mapping)),
        call,
    )
    name = next((as_text(inside[key]) for key in _TOOL_NAMES if inside.get(key)), None)
    if name is None and isinstance(call.get("function"), str):
        # Inspect's word for the name.
        name = call["function"]
    if name is None and kind in _CALLS:
        name = kind.removesuffix("_call") or kind
    given = next((inside[key] for key in _ARGUMENTS if inside.get(key) is not None), None)
    identity = next((as_text(call[key]) for key in _CALL_IDS if call.get(key)), None)
    return Call(name or "unknown", read_arguments(given), identity or as_text(inside.get("id")), kind in _OF_PROVIDER)


def result_of(item: Mapping[str, Any], kind: str, marks_failures: bool) -> Result:
    """What a tool answered, and whether the format says that it failed."""
    inside = item.get("functionResponse", item.get("function_response"))
    if isinstance(inside, Mapping):
        item, kind = inside, "tool_result"
    value = next((item[name] for name in _ANSWERS if item.get(name) is not None), None)
    error = item.get("error")
    text = result_text(value)
    if error and not text:
        text = as_text(as_table(error).get("message")) or as_text(error)
    name = next((as_text(item[key]) for key in _TOOL_NAMES if item.get(key)), None)
    if name is None and isinstance(item.get("function"), str):
        name = item["function"]
    identity = next((as_text(item[key]) for key in _RESULT_IDS if item.get(key) and key != "id"), None)
    if identity is None and kind in ("tool_call_response", "tool_result"):
        identity = as_text(item.get("id"))
    return Result(text, status_of(item, kind, text, marks_failures), identity, name)


def status_of(item: Mapping[str, Any], kind: str, text: str | None, marks_failures: bool) -> StepStatus | None:
    """The format's own word. A text is asked only where it has none, and only for what says so in its structure."""
    if kind == "retry-prompt" or item.get("error"):
        return StepStatus.ERROR
    for name in ("is_error", "isError"):
        if isinstance(item.get(name), bool):
            return StepStatus.ERROR if item[name] else StepStatus.OK
    word = item.get("outcome") or (item.get("status") if kind not in ("function_call_output",) else None)
    if isinstance(word, str) and word.lower() in _FAILED:
        return StepStatus.ERROR
    if isinstance(word, str) and word.lower() in _FINE:
        return StepStatus.OK
    inside = as_table(item.get("content"))
    if kind.endswith("_tool_result_error") or str(inside.get("type", "")).endswith("_tool_result_error"):
        return StepStatus.ERROR
    if marks_failures or kind in ("tool_result", "tool-return"):
        return None if (text or "").startswith(_NOT_EXECUTED) else StepStatus.OK
    return status_of_text(text)


def status_of_text(text: str | None) -> StepStatus | None:
    """ERROR where a result says so in its structure, or is what a known library writes; never that one is fine."""
    if text is None:
        return None
    if text.startswith(_SDK_FAILURE):
        return StepStatus.ERROR
    value = read_arguments(text) if text.lstrip().startswith("{") else None
    if isinstance(value, Mapping) and (value.get("error") or value.get("isError") is True):
        return StepStatus.ERROR
    return None


def result_text(value: Any) -> str | None:
    """A result as text: what is none is its JSON; parts that are texts are joined."""
    if isinstance(value, list) and value and all(is_text_part(part) for part in value):
        return "\n".join(part if isinstance(part, str) else str(part["text"]) for part in value)
    return as_text(value)


def is_text_part(part: Any) -> bool:
    return isinstance(part, Mapping) and kind_of(part) in _TEXTS and isinstance(part.get("text"), str)


def provider_result(item: Mapping[str, Any], call: Call) -> Result:
    """What a call that the provider carried out gave, which its own item holds."""
    error, word = item.get("error"), item.get("status")
    value = next(
        (item[name] for name in ("output", "results", "outputs", "result") if item.get(name) is not None), None
    )
    failed = bool(error) or word in _FAILED
    text = (
        result_text(value) if value is not None else as_text(as_table(error).get("message")) or as_text(error or None)
    )
    status = StepStatus.ERROR if failed else StepStatus.OK if word in _FINE else None
    return Result(text, status, call.id, call.tool)


def image_of(part: Mapping[str, Any]) -> str | None:
    """The data URL or address of a picture; None for one that is only named, and for other media."""
    inside = next(
        (
            part[name]
            for name in ("image_url", "source", "image", "inlineData", "inline_data")
            if part.get(name) is not None
        ),
        None,
    )
    if isinstance(inside, str):
        return inside
    of = inside if isinstance(inside, Mapping) else part
    kind = next(
        (as_text(of[name]) for name in ("media_type", "mime_type", "mimeType", "mediaType") if of.get(name)), None
    )
    if kind is not None and not kind.startswith("image/"):
        return None
    if kind is None and (of.get("modality") or "image") != "image":
        return None
    data = next((of[name] for name in ("data", "content") if isinstance(of.get(name), str)), None)
    if data is not None:
        return data if data.startswith("data:") else f"data:{kind or 'image/png'};base64,{data}"
    return next((of[name] for name in ("url", "uri", "path") if isinstance(of.get(name), str)), None)


def describe_unread(unread: Unread) -> list[str]:
    """One notice of what messages hold beside texts, pictures and tools; nothing where there was no more."""
    if not unread:
        return []
    kinds = ", ".join(f"{count:,} {kind}" for kind, count in sorted(unread.items()))
    return [f"parts of messages that are not read: {kinds}"]


def spoken_turns(turns: Iterable[Turn]) -> list[tuple[str, str]]:
    """Who said what, without tools."""
    return [(turn.speaker, turn.text) for turn in turns if turn.role is not StepRole.TOOL and turn.text]

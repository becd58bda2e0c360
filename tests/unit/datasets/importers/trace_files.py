"""Agents as every tracer keeps them, small and written here: one scene in the words of each.

The scene: a user asks about a parcel and a sum. The agent says that it looks both up, calls two tools at once, of which
the first fails, tries it again, and answers. Each function takes the scene or a part of it.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

QUESTION = "Where is parcel 77, and what is 6 times 9?"
SYSTEM = "You work at the counter."
PLAN = "I look up both."
RETRY = "The first failed, once more."
ANSWER = "It is in Oslo, and 54."
FOUND = {"place": "Oslo"}
FAULT = "no such parcel"
NANOSECONDS = 1_000_000_000
# A second of our days.
BEGAN = 1_790_000_000


@dataclass(frozen=True)
class Called:
    """A call as the scene has it; `result` None where nobody carried it out."""

    id: str
    tool: str
    arguments: Mapping[str, Any]
    result: Any = None
    error: str | None = None


FIND = Called("c1", "find_parcel", {"number": 77}, error=FAULT)
SUM = Called("c2", "multiply", {"a": 6, "b": 9}, result={"value": 54})
AGAIN = Called("c3", "find_parcel", {"number": 77, "deep": True}, result=FOUND)
OPEN = Called("c4", "find_parcel", {"number": 78})
# What was said, and what it called.
SCENE: tuple[tuple[str, tuple[Called, ...]], ...] = ((PLAN, (FIND, SUM)), (RETRY, (AGAIN,)), (ANSWER, ()))
# It ends in a call that nobody answers.
ENDLESS: tuple[tuple[str, tuple[Called, ...]], ...] = ((PLAN, (FIND, SUM)), ("", (OPEN,)))
# Tool, arguments, whether it failed: what is to be read of the scene everywhere.
CALLS = [
    ("find_parcel", {"number": 77}, True),
    ("multiply", {"a": 6, "b": 9}, False),
    ("find_parcel", {"number": 77, "deep": True}, False),
]


def openai_call(call: Called) -> dict[str, Any]:
    return {"id": call.id, "type": "function", "function": {"name": call.tool, "arguments": json.dumps(call.arguments)}}


def openai_messages(scene: Any = SCENE, question: str = QUESTION) -> list[dict[str, Any]]:
    """A result that failed is the JSON of an error: OpenAI has no mark for it."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": question}]
    for text, calls in scene:
        message: dict[str, Any] = {"role": "assistant", "content": text or None}
        messages.append({**message, "tool_calls": [openai_call(call) for call in calls]} if calls else message)
        for call in calls:
            if call.result is not None or call.error is not None:
                content = json.dumps(call.result if call.error is None else {"error": call.error})
                messages.append({"role": "tool", "tool_call_id": call.id, "content": content})
    return messages


def anthropic_messages(scene: Any = SCENE, question: str = QUESTION) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = [{"role": "user", "content": [{"type": "text", "text": question}]}]
    for text, calls in scene:
        said = [{"type": "text", "text": text}] if text else []
        uses = [{"type": "tool_use", "id": call.id, "name": call.tool, "input": call.arguments} for call in calls]
        messages.append({"role": "assistant", "content": [*said, *uses]})
        results = [
            {
                "type": "tool_result",
                "tool_use_id": call.id,
                "content": call.error or [{"type": "text", "text": json.dumps(call.result)}],
                **({"is_error": True} if call.error else {}),
            }
            for call in calls
            if call.result is not None or call.error is not None
        ]
        messages += [{"role": "user", "content": results}] if results else []
    return messages


def langchain_messages(scene: Any = SCENE, question: str = QUESTION, *, ids: bool = True) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = [{"type": "human", "content": question}]
    for text, calls in scene:
        listed = [{"name": call.tool, "args": call.arguments, "id": call.id if ids else None} for call in calls]
        messages.append({"type": "ai", "content": text, "tool_calls": listed})
        for call in calls:
            if call.result is None and call.error is None:
                continue
            result = {"type": "tool", "content": call.error or json.dumps(call.result)}
            named = {"tool_call_id": call.id, "name": call.tool, "status": "error" if call.error else "success"}
            messages.append({**result, **named} if ids else result)
    return messages


def inspect_messages(scene: Any = SCENE, question: str = QUESTION) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = [{"role": "user", "content": question, "source": "input"}]
    for text, calls in scene:
        listed = [{"id": call.id, "function": call.tool, "arguments": call.arguments} for call in calls]
        messages.append({"role": "assistant", "content": text, "tool_calls": listed or None})
        for call in calls:
            if call.result is None and call.error is None:
                continue
            error = {"error": {"type": "unknown", "message": call.error}} if call.error else {}
            content = "" if call.error else json.dumps(call.result)
            messages.append(
                {"role": "tool", "tool_call_id": call.id, "function": call.tool, "content": content, **error}
            )
    return messages


def responses_items(scene: Any = SCENE, question: str = QUESTION) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = [{"role": "user", "content": question}]
    for text, calls in scene:
        if text:
            content = [{"type": "output_text", "text": text}]
            items.append({"type": "message", "role": "assistant", "content": content, "status": "completed"})
        items += [
            {"type": "function_call", "call_id": call.id, "name": call.tool, "arguments": json.dumps(call.arguments)}
            for call in calls
        ]
        for call in calls:
            if call.result is None and call.error is None:
                continue
            failed = f"An error occurred while running the tool. Please try again. Error: {call.error}"
            output = failed if call.error else json.dumps(call.result)
            items.append({"type": "function_call_output", "call_id": call.id, "output": output})
    return items


def pydantic_messages(scene: Any = SCENE, question: str = QUESTION) -> list[dict[str, Any]]:
    parts: list[dict[str, Any]] = [{"part_kind": "user-prompt", "content": question}]
    messages: list[dict[str, Any]] = []
    for text, calls in scene:
        messages.append({"kind": "request", "instructions": SYSTEM, "parts": parts})
        said = [{"part_kind": "text", "content": text}] if text else []
        asked = [
            {
                "part_kind": "tool-call",
                "tool_name": call.tool,
                "args": json.dumps(call.arguments),
                "tool_call_id": call.id,
            }
            for call in calls
        ]
        stop = "tool_call" if calls else "stop"
        messages.append({"kind": "response", "parts": [*said, *asked], "finish_reason": stop})
        parts = []
        for call in calls:
            if call.result is None and call.error is None:
                continue
            about = {"tool_name": call.tool, "tool_call_id": call.id}
            done = {"part_kind": "tool-return", "content": call.result, "outcome": "success"}
            parts.append({**about, **({"part_kind": "retry-prompt", "content": call.error} if call.error else done)})
    return [*messages, {"kind": "request", "parts": parts}] if parts else messages


def attribute(name: str, value: Any) -> dict[str, Any]:
    kind = "intValue" if isinstance(value, int) else "stringValue"
    return {"key": name, "value": {kind: str(value)}}


def otlp_span(
    trace: str, name: str, parent: str | None, second: int, attributes: Mapping[str, Any], error: str | None = None
) -> dict[str, Any]:
    """One span; its name is its id."""
    return {
        "traceId": trace,
        "spanId": name,
        **({"parentSpanId": parent} if parent else {}),
        "name": name,
        "startTimeUnixNano": str((BEGAN + second) * NANOSECONDS),
        "endTimeUnixNano": str((BEGAN + second + 1) * NANOSECONDS),
        "attributes": [attribute(key, value) for key, value in attributes.items() if value is not None],
        "status": {} if error is None else {"code": 2, "message": error},
    }


def request(spans: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """What an exporter sends at once."""
    return {"resourceSpans": [{"resource": {}, "scopeSpans": [{"scope": {"name": "tests"}, "spans": list(spans)}]}]}


def genai_message(role: str, text: str | None, calls: Iterable[Called] = ()) -> dict[str, Any]:
    parts: list[dict[str, Any]] = [
        {"type": "tool_call", "id": call.id, "name": call.tool, "arguments": call.arguments} for call in calls
    ]
    return {"role": role, "parts": [*parts, *([{"type": "text", "content": text}] if text else [])]}


def genai_spans(trace: str, scene: Any = SCENE, question: str = QUESTION, stop: str = "stop") -> list[dict[str, Any]]:
    """As the conventions have them; the root ends last, and so stands last."""
    history, spans, second = [genai_message("user", question)], [], 1
    for text, calls in scene:
        reply = genai_message("assistant", text, calls)
        attributes = {
            "gen_ai.operation.name": "chat",
            "gen_ai.request.model": "model-x",
            "gen_ai.system_instructions": json.dumps([{"type": "text", "content": SYSTEM}]),
            "gen_ai.input.messages": json.dumps(history),
            "gen_ai.output.messages": json.dumps([{**reply, "finish_reason": "tool_call" if calls else stop}]),
        }
        spans.append(otlp_span(trace, f"chat{second}", "root", second, attributes))
        history.append(reply)
        for call in calls:
            if call.result is None and call.error is None:
                continue
            second += 1
            done = None if call.error else json.dumps(call.result)
            about = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": call.tool}
            about |= {"gen_ai.tool.call.id": call.id, "gen_ai.tool.call.arguments": json.dumps(call.arguments)}
            spans.append(
                otlp_span(
                    trace, f"tool{second}", "root", second, {**about, "gen_ai.tool.call.result": done}, call.error
                )
            )
            response = {"type": "tool_call_response", "id": call.id, "response": done or call.error}
            history.append({"role": "tool", "parts": [response]})
        second += 1
    agent = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "counter"}
    return [*spans, otlp_span(trace, "root", None, 0, agent)]


def flat_message(prefix: str, message: Mapping[str, Any]) -> dict[str, Any]:
    """A message of OpenAI in the attributes of OpenInference."""
    flat = {f"{prefix}.{name}": message[name] for name in ("role", "content", "tool_call_id") if message.get(name)}
    for number, call in enumerate(message.get("tool_calls", ())):
        at = f"{prefix}.tool_calls.{number}.tool_call"
        flat |= {f"{at}.id": call["id"], f"{at}.function.name": call["function"]["name"]}
        flat[f"{at}.function.arguments"] = call["function"]["arguments"]
    return flat


def openinference_spans(
    trace: str, scene: Any = SCENE, question: str = QUESTION, stop: str = "stop"
) -> list[dict[str, Any]]:
    """A model span for each reply, a tool span for each call that was carried out, an agent above them."""
    messages, spans, second, end = openai_messages(scene, question), [], 1, 1
    for _, calls in scene:
        attributes: dict[str, Any] = {"openinference.span.kind": "LLM", "llm.model_name": "model-x"}
        for number, message in enumerate(messages[:end]):
            attributes |= flat_message(f"llm.input_messages.{number}.message", message)
        attributes |= flat_message("llm.output_messages.0.message", messages[end])
        attributes["llm.finish_reason"] = "tool_calls" if calls else stop
        spans.append(otlp_span(trace, f"llm{second}", "root", second, attributes))
        end += 1
        for call in calls:
            if call.result is None and call.error is None:
                continue
            second, end = second + 1, end + 1
            about = {"openinference.span.kind": "TOOL", "tool.name": call.tool}
            about |= {"input.value": json.dumps(call.arguments)}
            done = None if call.error else json.dumps(call.result)
            spans.append(otlp_span(trace, f"tool{second}", "root", second, {**about, "output.value": done}, call.error))
        second += 1
    last = scene[-1][0] if not scene[-1][1] else None
    agent = {"openinference.span.kind": "AGENT", "input.value": question, "output.value": last}
    return [*spans, otlp_span(trace, "root", None, 0, agent)]


def mlflow_span(
    name: str, parent: str | None, second: int, kind: str, inputs: Any, outputs: Any, error: str | None = None
) -> dict[str, Any]:
    attributes = {"mlflow.spanType": json.dumps(kind), "mlflow.spanInputs": json.dumps(inputs)}
    attributes |= {} if outputs is None else {"mlflow.spanOutputs": json.dumps(outputs)}
    return {
        "span_id": f"{name}{second}",
        "parent_span_id": parent,
        "name": name,
        "start_time_unix_nano": (BEGAN + second) * NANOSECONDS,
        "end_time_unix_nano": (BEGAN + second + 1) * NANOSECONDS,
        "status": {"code": "STATUS_CODE_OK" if error is None else "STATUS_CODE_ERROR", "message": error or ""},
        "attributes": attributes,
        "events": [],
    }


def mlflow_trace(name: str, scene: Any = SCENE, question: str = QUESTION, **tags: str) -> dict[str, Any]:
    messages, spans, second, end = openai_messages(scene, question), [], 1, 1
    for _, calls in scene:
        choice = {"message": messages[end], "finish_reason": "tool_calls" if calls else "stop"}
        asked = {"model": "model-x", "messages": messages[:end]}
        spans.append(mlflow_span("Completions", "counter0", second, "CHAT_MODEL", asked, {"choices": [choice]}))
        end += 1
        for call in calls:
            if call.result is None and call.error is None:
                continue
            second, end = second + 1, end + 1
            spans.append(mlflow_span(call.tool, "counter0", second, "TOOL", call.arguments, call.result, call.error))
        second += 1
    last = scene[-1][0] if not scene[-1][1] else None
    root = mlflow_span("counter", None, 0, "AGENT", {"messages": messages[:1]}, {"answer": last})
    return {"info": {"trace_id": name, "state": "OK", "tags": tags}, "data": {"spans": [root, *spans]}}


def langsmith_tree(
    name: str, scene: Any = SCENE, question: str = QUESTION, thread: str | None = None
) -> dict[str, Any]:
    """A root with its children, as `child_runs` has them."""

    def run(kind: str, label: str, second: int, inputs: Any, outputs: Any, **more: Any) -> dict[str, Any]:
        identity = name if label == "counter" else f"{name}-{second}"
        return {
            "id": identity,
            "trace_id": name,
            "parent_run_id": None if label == "counter" else name,
            "run_type": kind,
            "name": label,
            "start_time": f"2026-09-21T14:13:{second:02}+00:00",
            "end_time": f"2026-09-21T14:13:{second + 1:02}+00:00",
            "inputs": inputs,
            "outputs": outputs,
            "error": None,
            **more,
        }

    messages, children, second, end = langchain_messages(scene, question), [], 1, 1
    for text, calls in scene:
        said = {"generations": [[{"text": text, "message": messages[end]}]]}
        prompts = {"prompts": [f"System: {SYSTEM}\nHuman: {question}"]}
        children.append(run("llm", "ChatModel", second, prompts, said))
        end += 1
        for call in calls:
            if call.result is None and call.error is None:
                continue
            second += 1
            children.append(run("tool", call.tool, second, call.arguments, {"output": messages[end]}))
            end += 1
        second += 1
    extra = {"metadata": {"thread_id": thread}} if thread else {}
    inputs = {"messages": [{"role": "user", "content": question}]}
    return run("chain", "counter", 0, inputs, {"messages": messages}, child_runs=children, extra=extra)


def flatten(tree: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The same run as rows of their own, the children first."""
    root = {key: value for key, value in tree.items() if key != "child_runs"}
    return [*tree["child_runs"], root]

"""A loopback target that does what its prompt says: one word of it for each way in which an answer may end."""

import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.flows.loopback import Asked, Given, Hand, answering, refusal

THOUGHT, SAID = "Two and two are four.", "The answer is 4."
# Below so many tokens the word CUT ends in the middle of its answer.
ENOUGH_TOKENS = 100
# By the word in the prompt: content, finish reason, and what stands beside the content.
ENDS: Mapping[str, tuple[Any, str, Mapping[str, str]]] = {
    "DECLINE": ("I cannot help with that.", "content_filter", {}),
    "REFUSAL": ("I will not.", "refusal", {}),
    "EMPTY": ("", "stop", {}),
    "BLANK": (" \n ", "stop", {}),
    "UNCLOSED": (f"<think>\n{THOUGHT}", "stop", {}),
    "ONLY": (f"<think>{THOUGHT}</think>\n", "stop", {}),
    "CONTENT": (SAID, "stop", {"reasoning_content": THOUGHT}),
    "FIELD": (SAID, "stop", {"reasoning": THOUGHT}),
    "TAGS": (f"<think>\n{THOUGHT}\n</think>\n\n{SAID}", "stop", {}),
    "BLOCKS": (
        [{"type": "thinking", "thinking": [{"type": "text", "text": THOUGHT}]}, {"type": "text", "text": SAID}],
        "stop",
        {},
    ),
    "CHANNELS": (
        f"<|channel|>analysis<|message|>{THOUGHT}<|end|><|start|>assistant<|channel|>final<|message|>{SAID}",
        "stop",
        {},
    ),
}


@dataclass(slots=True)
class Script:
    """Bodies of all requests, in the order in which they came."""

    bodies: list[dict[str, Any]] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def answer(self, asked: Asked) -> Given:
        body = json.loads(asked.body)
        with self.lock:
            self.bodies.append(body)
        prompt = body["messages"][-1]["content"]
        if "FILTER" in prompt:
            return refusal(400, "The response was filtered due to the prompt triggering our content policy")
        if "BROKEN" in prompt:
            return refusal(400, "This prompt has a token that this model does not know.")
        content, finish_reason, beside = ending_of(prompt, body)
        message = {"role": "assistant", "content": content, **beside}
        document = {
            "id": f"request-{asked.number}",
            "model": f"{body['model']}-0925",
            "choices": [{"index": 0, "finish_reason": finish_reason, "message": message}],
            "usage": {"prompt_tokens": 20, "completion_tokens": 10},
        }
        return 200, {"Content-Type": "application/json"}, json.dumps(document).encode()

    def taken(self) -> list[dict[str, Any]]:
        """What was asked since this was last called."""
        with self.lock:
            bodies, self.bodies = self.bodies, []
        return bodies


def ending_of(prompt: str, body: Mapping[str, Any]) -> tuple[Any, str, Mapping[str, str]]:
    """Content, finish reason and what stands beside the content; a plain prompt is said again."""
    if "CUT" in prompt:
        limit = body.get("max_tokens") or body.get("max_completion_tokens") or 0
        return (SAID, "stop", {}) if limit >= ENOUGH_TOKENS else ("The answer", "length", {})
    return next((end for word, end in ENDS.items() if word in prompt), (f"You ask: {prompt}", "stop", {}))


def last_words(bodies: Sequence[Mapping[str, Any]]) -> list[str]:
    """What the user said last in each request, sorted: requests come in any order."""
    return sorted(body["messages"][-1]["content"] for body in bodies)


@contextmanager
def scripted() -> Iterator[tuple[Script, Hand]]:
    """Serves as long as the block lasts."""
    script = Script()
    with answering(script.answer) as hand:
        yield script, hand

"""A loopback target: what it will answer is planted by the digest of what it is asked, and its ledger knows the bill.

Requests are told apart by model, prompt and seed, so a repeat is another one and a request that is sent again is not.
"""

import hashlib
import json
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.flows.loopback import Asked, Given, Hand, answering, refusal

# US dollars for a million tokens.
PRICE_INPUT, PRICE_OUTPUT = 2.0, 8.0
FINISHED, CUT_OFF, WITHHELD, EMPTY, FAILED = "finished", "cut_off", "withheld", "empty", "failed"
# Withheld as well: the request itself is refused, before anything is answered.
REFUSED = "refused"
_JSON = {"Content-Type": "application/json"}


@dataclass(slots=True)
class Shares:
    """Of requests: which part ends how, and which part of first tries fails on the way."""

    cut_off: float = 0.12
    withheld: float = 0.03
    refused: float = 0.02
    empty: float = 0.03
    failed: float = 0.01
    faults: float = 0.2


@dataclass(slots=True)
class Target:
    """What was asked, what was planted, and what it came to."""

    shares: Shares = field(default_factory=Shares)
    # By request: how often it came in, how often it was answered, and how it ends.
    received: Counter[str] = field(default_factory=Counter)
    answered: Counter[str] = field(default_factory=Counter)
    planted: dict[str, str] = field(default_factory=dict)
    limits: dict[str, list[int | None]] = field(default_factory=dict)
    # What an answer to each request costs in tokens, sent and received.
    bills: dict[str, tuple[int, int]] = field(default_factory=dict)
    input_tokens: int = 0
    output_tokens: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def answer(self, asked: Asked) -> Given:
        """The planted answer, after the faults that its first tries meet."""
        body = json.loads(asked.body)
        request = identify(body)
        limit = body.get("max_tokens") or body.get("max_completion_tokens")
        with self.lock:
            self.received[request] += 1
            self.limits.setdefault(request, []).append(limit)
            state = self.planted.setdefault(request, self.state_of(request))
            if self.received[request] == 1 and part_of(request, "fault") < self.shares.faults:
                return fault_of(request)
            if state == REFUSED:
                return refusal(400, "The content was filtered by our content policy (content_filter)")
            if state == FAILED:
                return refusal(400, "This prompt has a token that this model does not know.")
            document, tokens = completion_of(request, body, state)
            self.answered[request] += 1
            self.bills[request] = tokens
            self.input_tokens += tokens[0]
            self.output_tokens += tokens[1]
        return 200, _JSON, json.dumps(document).encode()

    def state_of(self, request: str) -> str:
        """By chance, and always the same."""
        place, shares = part_of(request, "state"), self.shares
        for state, share in (
            (CUT_OFF, shares.cut_off),
            (WITHHELD, shares.withheld),
            (REFUSED, shares.refused),
            (EMPTY, shares.empty),
            (FAILED, shares.failed),
        ):
            if place < share:
                return state
            place -= share
        return FINISHED

    @property
    def states(self) -> Counter[str]:
        """How many requests were planted to end how, as answers are told."""
        return Counter(WITHHELD if state == REFUSED else state for state in self.planted.values())

    @property
    def cost_usd(self) -> float:
        """For every answer that was given."""
        return price_of(self.input_tokens, self.output_tokens)

    @property
    def cost_once_usd(self) -> float:
        """The same without what was answered a second time, because its asker was killed."""
        return price_of(*(sum(counts) for counts in zip(*self.bills.values(), strict=True)))

    @property
    def asked_twice(self) -> int:
        """Requests beyond one for each answer, and one for each planted fault."""
        faults = sum(part_of(request, "fault") < self.shares.faults for request in self.received)
        return self.received.total() - len(self.received) - faults


def price_of(input_tokens: int, output_tokens: int) -> float:
    """In US dollars."""
    return (input_tokens * PRICE_INPUT + output_tokens * PRICE_OUTPUT) / 1_000_000


def identify(body: dict[str, Any]) -> str:
    parts = [body["model"], body.get("seed"), body["messages"]]
    return hashlib.blake2b(json.dumps(parts, sort_keys=True).encode(), digest_size=12).hexdigest()


def part_of(request: str, purpose: str) -> float:
    """A number from 0 to 1, by digest."""
    return int.from_bytes(hashlib.blake2b(f"{request}{purpose}".encode(), digest_size=6).digest()) / 2**48


def fault_of(request: str) -> Given:
    """Too many requests, a server's error, half a document."""
    kind = int(part_of(request, "kind") * 3)
    if kind == 0:
        return refusal(429, "slow down", **{"Retry-After": "0"})
    return refusal(503, "overloaded") if kind == 1 else (200, _JSON, b'{"choices": [{"mess')


def completion_of(request: str, body: dict[str, Any], state: str) -> tuple[dict[str, Any], tuple[int, int]]:
    """A chat completion that ends as planted, with its reasoning in one of three forms, or without any."""
    text = f"The answer to request {request} is {request[:4]}."
    reasoning, form = f"Let me think about {request}.", int(part_of(request, "form") * 4)
    finish_reason = "stop"
    message: dict[str, Any] = {"role": "assistant"}
    if state == CUT_OFF:
        # Half of them inside the reasoning, which then never closes.
        finish_reason = "length"
        if part_of(request, "inside") < 0.5:
            form, text = 2, ""
    if state == WITHHELD:
        finish_reason, text = "content_filter", ""
    if state == EMPTY:
        text = ""
    if form in (0, 1):
        message["reasoning_content" if form == 0 else "reasoning"] = reasoning
    elif form == 2 and state in (FINISHED, CUT_OFF):
        closed = "" if state == CUT_OFF and not text else "\n</think>\n\n"
        text = f"<think>\n{reasoning}{closed}{text}"
        if not closed and part_of(request, "silent") < 0.5:
            # What an endpoint says that does not notice.
            finish_reason = "stop"
    message["content"] = text
    tokens = sum(len(turn["content"]) for turn in body["messages"]) // 4, max(1, len(text) // 4)
    usage = {"prompt_tokens": tokens[0], "completion_tokens": tokens[1]}
    choice = {"index": 0, "finish_reason": finish_reason, "message": message}
    return {"id": request, "model": f"{body['model']}-0925", "choices": [choice], "usage": usage}, tokens


@contextmanager
def targeting(shares: Shares | None = None) -> Iterator[tuple[Target, Hand]]:
    """Serves as long as the block lasts."""
    target = Target(shares or Shares())
    with answering(target.answer) as hand:
        yield target, hand

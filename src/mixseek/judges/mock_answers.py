"""What the loopback judge says: a verdict that only the prompt decides, or one of the ways in which judges fail.

Nothing here depends on the clock, on the order of requests or on chance: the same prompt gets the same verdict in
every run and every workspace (the fence's nonce, which differs between workspaces, is taken out first), so the
results of a disturbed run can be compared with those of a calm one.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from mixseek.judges.mock_replies import Material, contradict, fill, read_identity, shape_of, write_submission

# The time of asking stands in prompts and says nothing about the sample.
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:[+-]\d\d:\d\d|Z)")
_NONCE_OF_A_PROMPT = re.compile(r"<<<\w+ ([0-9A-Za-z]{16,})>>>")
# A prompt whose nonce was taken out.
_FENCED = re.compile(r"^<<<\w+ >>>$.*^<<<END \w+ >>>$", re.MULTILINE | re.DOTALL)
_INPUT_ID = re.compile(r'input_id\D{0,8}?((?<=\s)"(?:[^"\\]|\\.)*"|(?<=\s)-?\d+)')
_LONGEST_QUOTE = 60


class Fault(StrEnum):
    """How an answer may go wrong; the first three are the endpoint's failure, the rest are the judge's."""

    RATE_LIMIT = "rate-limit"
    SERVER_ERROR = "server-error"
    DROP = "drop"
    SLOW_DRIP = "slow-drip"
    PROSE = "prose"
    FENCED = "fenced"
    TRUNCATED = "truncated"
    WRONG_SCHEMA = "wrong-schema"
    REFUSAL = "refusal"
    INCONSISTENT = "inconsistent"


# Faults after which there is no reply at all.
CALL_FAULTS = frozenset({Fault.RATE_LIMIT, Fault.SERVER_ERROR, Fault.DROP})
# Faults that leave the verdict as it would have been.
HARMLESS_FAULTS = frozenset({Fault.SLOW_DRIP, Fault.FENCED})


@dataclass(frozen=True, slots=True)
class Prompt:
    """A request without its wire format: who is asked, and what is said by whom."""

    model: str
    # (role, text), system first; the nonce is already taken out.
    turns: tuple[tuple[str, str], ...]
    # The JSON schema of the reply, where one is asked for; empty where there is none, None where no one asks.
    schema: Mapping[str, Any] | None = None

    @property
    def wants_schema(self) -> bool:
        return self.schema is not None

    @property
    def system(self) -> str:
        return next((text for role, text in self.turns if role == "system"), "")

    @property
    def task(self) -> str:
        """The first user turn."""
        return next((text for role, text in self.turns if role == "user"), "")

    @property
    def subject(self) -> str:
        """What is judged: all that is fenced. A re-ask adds words around it and is still about the same thing."""
        fenced = _FENCED.search(self.task.partition("<<<OBJECTIONS ")[0])
        return fenced[0] if fenced else _MOMENT.sub("", self.task)

    @property
    def response(self) -> str:
        """The judged text, whatever the protocol calls it; of several, the last."""
        names = ("MODEL_RESPONSE", "RESPONSE", "SUBMISSION")
        return next((text for name in names if (text := section(self, name))), "")

    def digest(self, seed: int) -> bytes:
        """The same for the same request, whatever order requests come in."""
        return _digest(str(seed), self.model, *(_MOMENT.sub("", part) for turn in self.turns for part in turn))


@dataclass(frozen=True, slots=True)
class Said:
    """A reply's text, why it ended, and the tokens it would have cost."""

    text: str
    finish_reason: str  # stop, length, refusal
    input_tokens: int
    output_tokens: int
    # What the verdict is, or would have been without a fault.
    is_correct: bool | None


def make_prompt(model: str, turns: list[tuple[str, str]], schema: Mapping[str, Any] | None = None) -> Prompt:
    """Takes the nonce out of every turn: it says nothing about the sample and differs between workspaces."""
    nonce = next(
        (found[1] for role, text in turns if role == "user" and (found := _NONCE_OF_A_PROMPT.search(text))), ""
    )
    plain = tuple((role, text.replace(nonce, "") if nonce else text) for role, text in turns)
    return Prompt(model, plain, schema)


def section(prompt: Prompt, name: str) -> str:
    """The fenced text of that name; blank when the prompt has none."""
    begin, end = f"<<<{name} >>>\n", f"\n<<<END {name} >>>"
    start = prompt.task.find(begin)
    if start < 0:
        return ""
    stop = prompt.task.find(end, start + len(begin) - 1)
    return prompt.task[start + len(begin) : max(stop, start + len(begin))]


def pick_fault(digest: bytes, times_seen: int, rate: float, kinds: tuple[Fault, ...]) -> Fault | None:
    """Decided by the request and how often it came: a retry may succeed, and every run sees the same."""
    if rate <= 0 or not kinds:
        return None
    drawn = _digest(digest.hex(), "fault", str(times_seen))
    return kinds[int.from_bytes(drawn[8:12], "big") % len(kinds)] if share_of(drawn) < rate else None


def share_of(digest: bytes) -> float:
    """0 ≤ x < 1, evenly spread over digests."""
    return int.from_bytes(digest[:8], "big") / 2**64


def say(prompt: Prompt, fault: Fault | None, *, seed: int, correct_share: float) -> Said:
    """The reply's text; only for faults that leave a reply."""
    reply, is_correct = _reply(prompt, seed, correct_share)
    text = reply if isinstance(reply, str) else json.dumps(reply, ensure_ascii=False)
    finish_reason = "stop"
    match fault:
        case Fault.PROSE:
            text = "The response reads well, and its conclusion seems to fit what was asked for."
        case Fault.FENCED:
            text = f"```json\n{text}\n```" if isinstance(reply, dict) else text
        case Fault.TRUNCATED:
            text, finish_reason = text[: len(text) * 2 // 3], "length"
        case Fault.WRONG_SCHEMA:
            known = reply.get("id") if isinstance(reply, dict) else None
            text = json.dumps({"id": known, "grade": "B", "is_correct": "mostly", "reasoning_score": 4.5})
        case Fault.REFUSAL:
            text, finish_reason = "I'm sorry, but I cannot evaluate this response.", "refusal"
        case Fault.INCONSISTENT if isinstance(reply, dict):
            broken = {"is_correct": True, "reasoning_score": 1, "error_type": "wrong_logic"}
            text = json.dumps({**reply, **broken} if "is_correct" in reply else contradict(reply), ensure_ascii=False)
    tokens = sum(len(said) for _, said in prompt.turns) // 4
    return Said(text, finish_reason, tokens, len(text) // 4 + 1, is_correct)


def _reply(prompt: Prompt, seed: int, correct_share: float) -> tuple[dict[str, Any] | str, bool | None]:
    """What is asked for decides the shape: a verdict, another JSON object, or a text. And whether it is favourable."""
    if _asks_for_verdict(prompt):
        verdict = _verdict(prompt, seed, correct_share)
        return verdict, verdict["is_correct"]
    drawn = _digest(str(seed), prompt.model, prompt.system, prompt.subject, "reply")
    share = share_of(drawn)
    # The favourable ones are the upper part of the scale, so that their share can be chosen here as well.
    is_good = share < correct_share
    within = share / correct_share if is_good else (share - correct_share) / (1 - correct_share)
    quality = 0.65 + 0.35 * within if is_good else 0.65 * within
    material = Material(prompt.system, prompt.task, prompt.response, drawn, quality, read_identity(prompt.task))
    shape = shape_of(prompt.schema, prompt.system)
    return (write_submission(material), None) if shape is None else (fill(shape, material), is_good)


def _asks_for_verdict(prompt: Prompt) -> bool:
    """Seed 001's object, by its schema, or by how its prompt names the sample."""
    if prompt.schema:
        return "is_correct" in (prompt.schema.get("properties") or {})
    return "is_correct" in prompt.system or _INPUT_ID.search(prompt.task) is not None


def _verdict(prompt: Prompt, seed: int, correct_share: float) -> dict[str, Any]:
    """Seed 001's object, consistent in itself, with a quote that really stands in the judged response."""
    drawn = _digest(str(seed), prompt.model, prompt.subject, "verdict")
    lines = [line.strip() for line in section(prompt, "MODEL_RESPONSE").splitlines() if line.strip()]
    quote = lines[-1][-_LONGEST_QUOTE:].strip() if lines else None
    is_correct = quote is not None and share_of(drawn) < correct_share
    wrong = ("wrong_logic", "hallucination", "format_error")[drawn[9] % 3]
    return {
        "id": _asked_id(prompt.task),
        "is_correct": is_correct,
        "extracted_answer": quote,
        "reasoning_score": 4 + drawn[8] % 2 if is_correct else 1 + drawn[8] % 3,
        "error_type": "none" if is_correct else "no_answer" if quote is None else wrong,
        "comment": f"Mock verdict {drawn.hex()[:8]}.",
    }


def _asked_id(task: str) -> Any:
    """The id the prompt names; 1 where it names none."""
    found = _INPUT_ID.search(task)
    return json.loads(found[1]) if found else 1


def _digest(*parts: str) -> bytes:
    blob = b"".join(b"%d:" % len(data) + data for part in parts for data in [part.encode("utf-8", "surrogatepass")])
    return hashlib.blake2b(blob, digest_size=16).digest()

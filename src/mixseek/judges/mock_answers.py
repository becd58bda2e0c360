"""What the loopback judge says: a verdict that only the prompt decides, or one of the ways in which judges fail.

Nothing here depends on the clock, on the order of requests or on chance: the same prompt gets the same verdict in
every run and every workspace (the fence's nonce, which differs between workspaces, is taken out first), so the
results of a disturbed run can be compared with those of a calm one.
"""

import hashlib
import json
import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

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
    wants_schema: bool = False

    @property
    def task(self) -> str:
        """The first user turn."""
        return next((text for role, text in self.turns if role == "user"), "")

    @property
    def subject(self) -> str:
        """What is judged: all that is fenced. A re-ask adds words around it and is still about the same thing."""
        fenced = _FENCED.search(self.task.partition("<<<OBJECTIONS ")[0])
        return fenced[0] if fenced else self.task

    def digest(self, seed: int) -> bytes:
        """The same for the same request, whatever order requests come in."""
        return _digest(str(seed), self.model, *(part for turn in self.turns for part in turn))


@dataclass(frozen=True, slots=True)
class Said:
    """A reply's text, why it ended, and the tokens it would have cost."""

    text: str
    finish_reason: str  # stop, length, refusal
    input_tokens: int
    output_tokens: int
    # What the verdict is, or would have been without a fault.
    is_correct: bool


def make_prompt(model: str, turns: list[tuple[str, str]], *, wants_schema: bool) -> Prompt:
    """Takes the nonce out of every turn: it says nothing about the sample and differs between workspaces."""
    nonce = next(
        (found[1] for role, text in turns if role == "user" and (found := _NONCE_OF_A_PROMPT.search(text))), ""
    )
    plain = tuple((role, text.replace(nonce, "") if nonce else text) for role, text in turns)
    return Prompt(model, plain, wants_schema)


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
    verdict = _verdict(prompt, seed, correct_share)
    text, finish_reason = json.dumps(verdict, ensure_ascii=False), "stop"
    match fault:
        case Fault.PROSE:
            text = "The response reads well, and its conclusion seems to fit what was asked for."
        case Fault.FENCED:
            text = f"```json\n{text}\n```"
        case Fault.TRUNCATED:
            text, finish_reason = text[: len(text) * 2 // 3], "length"
        case Fault.WRONG_SCHEMA:
            text = json.dumps({"id": verdict["id"], "grade": "B", "is_correct": "mostly", "reasoning_score": 4.5})
        case Fault.REFUSAL:
            text, finish_reason = "I'm sorry, but I cannot evaluate this response.", "refusal"
        case Fault.INCONSISTENT:
            text = json.dumps({**verdict, "is_correct": True, "reasoning_score": 1, "error_type": "wrong_logic"})
    tokens = sum(len(said) for _, said in prompt.turns) // 4
    return Said(text, finish_reason, tokens, len(text) // 4 + 1, verdict["is_correct"])


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

"""What the mock says: a plausible reply of the right shape to every question, or one of the ways in which judges fail.

The shape is read from the request's JSON schema, else from the example in its prompt; what a protocol demands beyond it
(totals, verdicts, weights) from the prompt: a user's own protocol is answered like a built-in one. Nothing depends on
the clock, the order of requests or chance, so that a disturbed run can be compared with a calm one.
"""

import hashlib
import itertools
import json
import re
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import Any, NamedTuple

from mixseek.domain.samples import Sample
from mixseek.domain.steps import unhandled_errors
from mixseek.lazy_dataclass import dataclass
from mixseek.protocols.claims import sentences_of
from mixseek.protocols.extraction import verify_extraction
from mixseek.protocols.semantic_reply import SemanticReply
from mixseek.testing.prompts import Prompt, digest_of
from mixseek.testing.reply_shapes import (
    NUMBER,
    bounds_of,
    is_number,
    is_total,
    numbers_in,
    objects_in,
    plain_number,
    shape_of,
)

INPUT_ID = re.compile(r'input_id\D{0,8}?((?<=\s)"(?:[^"\\]|\\.)*"|(?<=\s)-?\d+)')
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


class Reading(NamedTuple):
    """What a mock thinks of a text, from 0 to 1; and whether the one of a pair that is shown first wins anyway."""

    quality: Callable[[str], float]
    favours_first: bool = False


class MockReply(NamedTuple):
    """A reply's text, why it ended (stop, length, refusal), and the tokens it would have cost."""

    text: str
    finish_reason: str
    input_tokens: int
    output_tokens: int
    # What the verdict is, or would have been without a fault.
    is_correct: bool | None
    # Of the input, what a cache of the endpoint had.
    cached_tokens: int = 0
    # What stands under `logprobs`, where it was asked for.
    logprobs: Any = None
    # By question, how likely each option is.
    answers: Mapping[str, Mapping[str, float]] = {}


def pick_fault(digest: bytes, times_seen: int, rate: float, kinds: tuple[Fault, ...]) -> Fault | None:
    """Decided by the request and how often it came: a retry may succeed, and every run sees the same."""
    drawn = digest_of(digest.hex(), "fault", str(times_seen))
    return kinds[int.from_bytes(drawn[8:12], "big") % len(kinds)] if share_of(drawn) < rate else None


def share_of(digest: bytes) -> float:
    """0 ≤ x < 1, evenly spread over digests."""
    return int.from_bytes(digest[:8], "big") / 2**64


def say(
    prompt: Prompt, fault: Fault | None, *, seed: int, correct_share: float, reading: Reading | None = None
) -> MockReply:
    """The reply's text; only for faults that leave a reply. `reading`: of a mock that looks at what it judges."""
    reply, is_correct = _reply(prompt, seed, correct_share, reading)
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
            text = json.dumps(_contradict(reply), ensure_ascii=False)
    tokens = sum(len(turn) for _, turn in prompt.turns) // 4
    return MockReply(text, finish_reason, tokens, len(text) // 4 + 1, is_correct)


def _reply(
    prompt: Prompt, seed: int, correct_share: float, reading: Reading | None
) -> tuple[dict[str, Any] | str, bool | None]:
    """What is asked for decides the shape: a verdict, another JSON object, or a text. And whether it is favourable."""
    # Seed 001's object, by its schema, or by how its prompt names the sample.
    is_named = "is_correct" in prompt.system or INPUT_ID.search(prompt.around) is not None
    if prompt.section("RESPONSE_A"):
        return _pair_verdict(prompt, seed, reading), None
    quality = None if reading is None else reading.quality(prompt.response)
    if prompt.section("CONTEXT_1") and '"claim_quote"' in f"{prompt.system}{json.dumps(prompt.schema)}":
        return _claims(prompt, seed, correct_share if quality is None else quality), None
    if "is_correct" in (prompt.schema.get("properties") or {}) if prompt.schema else is_named:
        verdict = _semantic_verdict(prompt, seed, correct_share if quality is None else float(quality >= 0.5))
        return verdict, verdict["is_correct"]
    # A mock that reads says the same of the same question, but for what it thinks of the response.
    about = (prompt.system, prompt.subject) if quality is None else (prompt.section("QUESTION"),)
    drawn = digest_of(str(seed), prompt.model, *about, "reply")
    share = share_of(drawn)
    # The favourable ones are the upper part of the scale, so that their share can be chosen here as well.
    is_good = share < correct_share
    within = share / correct_share if is_good else (share - correct_share) / (1 - correct_share)
    favour = 0.65 + 0.35 * within if is_good else 0.65 * within
    material = _Material(prompt, drawn, favour if quality is None else quality)
    shape = shape_of(prompt)
    if shape is None:
        return _write_submission(material), None
    reply = _write_opinion(material) if "should_continue" in shape else _ScoredReply(shape, material).reply()
    return reply, is_good


def _semantic_verdict(prompt: Prompt, seed: int, correct_share: float) -> dict[str, Any]:
    """Seed 001's object, consistent in itself, with a quote that really stands in the judged response."""
    drawn = digest_of(str(seed), prompt.model, prompt.subject, "verdict")
    lines = [line.strip() for line in prompt.section("MODEL_RESPONSE").splitlines() if line.strip()]
    quote = lines[-1][-_LONGEST_QUOTE:].strip() if lines else None
    is_correct = quote is not None and share_of(drawn) < correct_share
    quote = _fitting_answer(prompt, quote, is_correct=is_correct)
    wrong = ("wrong_logic", "hallucination", "format_error")[drawn[9] % 3]
    asked_id = INPUT_ID.search(prompt.around)
    return {
        "id": json.loads(asked_id[1]) if asked_id else 1,
        "is_correct": is_correct,
        "extracted_answer": quote,
        "reasoning_score": 4 + drawn[8] % 2 if is_correct else 1 + drawn[8] % 3,
        "error_type": "none" if is_correct else "no_answer" if quote is None else wrong,
        "comment": f"Mock verdict {drawn.hex()[:8]}.",
    }


def _fitting_answer(prompt: Prompt, quote: str | None, *, is_correct: bool) -> str | None:
    """What the mock says it extracted: the quote, unless the verdict that was drawn would contradict it.

    Then a right answer is the ground truth itself, and a wrong one is none at all.
    """
    truth = prompt.section("GROUND_TRUTH")
    if quote is None or not truth:
        return quote
    numbered = (prompt.section(f"GROUND_TRUTH_ALTERNATIVE_{number}") for number in itertools.count(1))
    alternatives = tuple(itertools.takewhile(bool, numbered))
    sample = Sample(
        id="1",
        response=prompt.section("MODEL_RESPONSE"),
        question=prompt.section("QUESTION"),
        ground_truth=truth,
        ground_truth_alternatives=alternatives,
    )
    reply = SemanticReply(is_correct, quote, None, None, None)
    if not verify_extraction(reply, sample).contradiction:
        return quote
    return truth if is_correct else None


def _pair_verdict(prompt: Prompt, seed: int, reading: Reading | None) -> dict[str, Any]:
    """Which of two responses is better, by a lot that each text has of its own: the same in whichever order they stand.

    Near lots are a tie.
    """
    texts = {side: prompt.section(f"RESPONSE_{side}") for side in ("A", "B")}
    lots = {
        side: share_of(digest_of(str(seed), prompt.model, text, "lot")) if reading is None else reading.quality(text)
        for side, text in texts.items()
    }
    drawn = digest_of(str(seed), prompt.model, *sorted(texts.values()), prompt.section("QUESTION"), "pair")
    distance = abs(lots["A"] - lots["B"])
    verdict = "tie" if distance < 0.1 else "A" if lots["A"] > lots["B"] else "B"
    if reading is not None and reading.favours_first:
        verdict = "A"
    quote = _quote_from(texts["A" if verdict == "tie" else verdict])
    reasons = [{"response": "A" if verdict == "tie" else verdict, "quote": quote, "reason": "Mock reason."}]
    reply = {
        "comment": f"Mock comparison {drawn.hex()[:8]}.",
        "reasons": reasons if quote else [],
        "verdict": verdict,
        "strength": None if verdict == "tie" else "clear" if distance > 0.4 else "slight",
    }
    wanted = (prompt.schema or {}).get("properties") or reply
    return {name: value for name, value in reply.items() if name in wanted}


# How a prompt tells the ids of documents.
_CONTEXT_ID = re.compile(r'CONTEXT_(\d+)\b\D*?("(?:[^"\\]|\\.)*")')


def _claims(prompt: Prompt, seed: int, supported_share: float) -> dict[str, Any]:
    """Every sentence as a claim, decided by a lot of its own, with words that really stand in one of the documents."""
    named = _CONTEXT_ID.findall(prompt.around)
    documents = {json.loads(name): prompt.section(f"CONTEXT_{number}") for number, name in named}
    quotable = [(name, quote) for name, text in documents.items() if (quote := _quote_from(text))]
    claims = []
    for span in sentences_of(prompt.response):
        sentence = prompt.response[span.start : span.end].strip()
        drawn = digest_of(str(seed), prompt.model, sentence, "claim")
        verdict = "supported" if share_of(drawn) < supported_share else ("contradicted", "not_found")[drawn[9] % 2]
        if verdict == "not_found" or not quotable:
            claims.append({"claim_quote": sentence, "verdict": "not_found", "context_id": None, "quote": None})
            continue
        name, quote = quotable[drawn[10] % len(quotable)]
        claims.append({"claim_quote": sentence, "verdict": verdict, "context_id": name, "quote": quote})
    return {"claims": claims, "notes": None}


def _contradict(reply: Mapping[str, Any]) -> dict[str, Any]:
    """The same reply at odds with itself: a total that is not the sum, or an opinion beyond its scale."""
    broken: dict[str, Any] = json.loads(json.dumps(reply))
    if "claims" in broken:
        others = {"supported": "not_found", "contradicted": "not_found", "not_found": "supported"}
        again = [{**claim, "verdict": others[claim["verdict"]]} for claim in broken["claims"][:1]]
        return {**broken, "claims": [*broken["claims"], *again]}
    if "is_correct" in broken:
        return {**broken, "is_correct": True, "reasoning_score": 1, "error_type": "wrong_logic"}
    if "reasons" in broken and broken.get("verdict") in ("A", "B", "tie"):
        return {**broken, "comment": f"Response {'B' if broken['verdict'] == 'A' else 'A'} is better."}
    if "confidence_score" in broken:
        return {**broken, "confidence_score": 2.5}
    for holder in (broken, *(value for value in broken.values() if isinstance(value, dict))):
        for name, value in holder.items():
            if isinstance(value, int | float) and is_total(name):
                holder[name] = value - 1 if value >= 1 else value + 1
                return broken
    return broken


# What stands in a reply of that shape.

_AT_LEAST = re.compile(rf"(?:at least|≥)\s*({NUMBER})|(?<!\d)({NUMBER})\s*以上")
_AT_MOST = re.compile(rf"(?:at most|≤)\s*({NUMBER})|(?<!\d)({NUMBER})\s*以下")
_ROUND_SCORE = re.compile(r"^### [^\n]*?(\d+\.\d\d)/100", re.MULTILINE)
# What stands before the user's query in a team's task, in whatever language; else the first heading.
_QUERY_HEADING = re.compile(r"ユーザクエリ\n|User query\n|用户问题\n")


@dataclass(frozen=True, slots=True)
class _Material:
    """What a reply is made from. `quality` is 0..1; `drawn` makes two replies differ where they may."""

    prompt: Prompt
    drawn: bytes
    quality: float

    def share(self, name: str) -> float:
        """0 ≤ x < 1 for that name, the same whenever it is asked."""
        return share_of(hashlib.blake2b(self.drawn + name.encode("utf-8", "surrogatepass"), digest_size=8).digest())

    def score(self, name: str, low: float, high: float) -> int:
        share = min(1.0, max(0.0, self.quality + 0.3 * (self.share(name) - 0.5)))
        return round(low + (high - low) * share)

    @property
    def mark(self) -> str:
        return self.drawn.hex()[:8]


def _write_submission(material: _Material) -> str:
    """What a team hands in: a short text about the task, another for another team and round."""
    task = material.prompt.task
    heading = _QUERY_HEADING.search(task) or re.search(r"\n# ", task)
    query = task[heading.end() :] if heading else task
    question = next((line.strip() for line in query.splitlines() if line.strip()), "the task")
    rounds = len(_ROUND_SCORE.findall(task)) + 1
    points = ("the main point", "an example", "a limit", "a counterargument", "a summary", "a source to check")
    chosen = [point for point in points if material.share(point) < 0.4 + 0.1 * rounds] or [points[0]]
    lines = [f"Draft {rounds} ({material.mark}) on: {question[:200]}", ""]
    lines += [f"{number}. Here stands {point}, in a sentence of its own." for number, point in enumerate(chosen, 1)]
    return "\n".join(lines)


def _write_opinion(material: _Material) -> dict[str, Any]:
    """Go on while scores rise and there is room above them."""
    scores = [float(score) for score in _ROUND_SCORE.findall(material.prompt.task)]
    has_risen = len(scores) < 2 or scores[-1] > max(scores[:-1])
    goes_on = not scores or (has_risen and scores[-1] < 90)
    reason = "the last round was the best so far and leaves room" if goes_on else "the last round brought no gain"
    return {
        "reasoning": f"Mock opinion {material.mark}: {reason}.",
        "should_continue": goes_on,
        "confidence_score": round(0.5 + material.share("confidence") / 2, 2),
    }


class _ScoredReply:
    """Dimensions, their total, the verdict that follows, evidence, and the words around them."""

    def __init__(self, shape: Mapping[str, Any], material: _Material) -> None:
        self._shape = shape
        self._material = material
        self._system_lines = material.prompt.system.splitlines()
        # The JSON object that a user prompt shows outside of its fences: what is known about the sample.
        identity = next(objects_in(material.prompt.around), {})
        groups = {name: numbers for name, spec in shape.items() if (numbers := numbers_in(spec))}
        group = next((name for name in groups if "weight" not in name.lower()), None)
        outside = {name: spec for name, spec in shape.items() if is_number(spec) and not _is_step(spec)}
        shown = material.prompt.steps
        unhandled = unhandled_errors([step for _, step, _ in shown])
        # As the prompt numbers them: some may have been left out.
        self._wrong_step = shown[unhandled[0] - 1][0] if unhandled else None
        numbers = groups[group] if group else outside
        self._total = self._find_total(outside if group else {}, numbers)
        self._dimensions = {name: spec for name, spec in numbers.items() if name != self._total}
        # As the prompt gives it, else the first there is.
        given_type = identity.get("task_type")
        self._task_type = given_type or next(iter((shape.get("task_type") or {}).get("enum") or ()), None)
        self._weights = self._find_weights()
        self._scores, self._sum = self._draw_scores()
        # A prompt without a type says null, which is not what the reply may say: there it is the inferred one.
        identity_of_prompt = {**identity, "task_type": self._task_type}
        # What each name stands for, the most telling last.
        self._known: dict[str, Any] = {"inferred_task_type": None if given_type else self._task_type}
        self._known |= {name: value for name, value in identity_of_prompt.items() if value is not None}
        for name in groups:
            if "weight" in name.lower():
                self._known[name] = {key: plain_number(self._weights.get(key, 0)) for key in groups[name]}
        totals = {} if self._total is None else {self._total: self._sum}
        if group is None:
            self._known |= self._scores
        else:
            values, specs = {**self._scores, **totals}, shape[group]["properties"]
            self._known[group] = {key: self._with_reason(specs[key], values[key]) for key in specs}
        self._known |= totals

    def _with_reason(self, spec: Mapping[str, Any], score: float) -> Any:
        if "properties" not in spec:
            return score
        return {key: score if key == "score" else self._value(key, field) for key, field in spec["properties"].items()}

    def reply(self) -> dict[str, Any]:
        return {name: self._value(name, spec) for name, spec in self._shape.items()}

    @staticmethod
    def _find_total(outside: Mapping[str, Any], numbers: Mapping[str, Any]) -> str | None:
        """The total is beside the scores, or among them by its name, or because its top is the sum of the others'."""
        named = next((name for name in (*outside, *numbers) if name in outside or is_total(name)), None)
        if named is not None:
            return named
        tops = {name: bounds_of(spec)[1] for name, spec in numbers.items()}
        return next((name for name, top in tops.items() if len(tops) > 2 and top * 2 == sum(tops.values())), None)

    def _find_weights(self) -> dict[str, float]:
        """The weights in a line of the prompt that names the task type: `fact`: a 60, b 30, or a row of a table."""
        for line in self._system_lines:
            opening = re.match(r"(?:- |\| ?)`([^`]+)`", line)
            if opening is None or (self._task_type is not None and opening[1] != self._task_type):
                continue
            named = {name: re.search(rf"\b{re.escape(name)} (\d+(?:\.\d+)?)", line) for name in self._dimensions}
            if named and all(named.values()):
                return {name: float(match[1]) for name, match in named.items() if match}
            cells = [cell.strip() for cell in line.strip("| ").split("|")]
            numbers = [float(cell) for cell in cells if re.fullmatch(r"\d+(?:\.\d+)?", cell)]
            if len(numbers) == len(self._dimensions) > 0:
                return dict(zip(self._dimensions, numbers, strict=True))
        return {}

    def _draw_scores(self) -> tuple[dict[str, int], int | float]:
        bounds = {name: bounds_of(spec) for name, spec in self._dimensions.items()}
        weights, total = self._weights, self._shape.get(self._total or "")
        top = bounds_of(total)[1] if total else sum(high for _, high in bounds.values())
        is_weighted = sum(weight * bounds[name][1] for name, weight in weights.items()) == top
        if not is_weighted and sum(weights.values()) == top:
            # Each dimension goes as far as its weight.
            bounds = {name: (low, weights[name]) for name, (low, _) in bounds.items()}
        scores = {name: self._material.score(name, *limits) for name, limits in bounds.items()}
        if self._wrong_step is not None and scores.get("recovery", 0) > 0:
            # Nobody recovers fully from what was never repeated with success.
            scores["recovery"] -= 1
        return scores, plain_number(
            sum(score * (weights[name] if is_weighted else 1) for name, score in scores.items())
        )

    def _value(self, name: str, spec: Mapping[str, Any]) -> Any:
        if name in self._known:
            return self._known[name]
        words = [word for word in spec.get("enum") or () if word is not None]
        if _is_step(spec) and "wrong" in name:
            return self._wrong_step
        match spec.get("type"):
            case "object":
                return {key: self._value(key, inner) for key, inner in (spec.get("properties") or {}).items()}
            case "array":
                return self._items((spec.get("items") or {}).get("properties"))
            case list() as kinds if "null" in kinds:
                return None
            case "boolean":
                return False
        if "verdict" in name.lower() or any(self._applies(word) is not None for word in words):
            return self._verdict(words)
        if words:
            return words[int(self._material.share(name) * len(words))]
        if is_number(spec):
            return self._material.score(name, *bounds_of(spec))
        prompt, mark = self._material.prompt, self._material.mark
        return _quote_from(prompt.response) if name == "quote" else f"Mock {name} {mark}."

    def _items(self, properties: Mapping[str, Any] | None) -> list[Any]:
        """Evidence is given for every dimension; flags and other lists of words stay empty."""
        if not properties:
            return []
        item = {key: self._value(key, field) for key, field in properties.items()}
        step = next((key for key, field in properties.items() if _is_step(field)), None)
        if step and not item.get("quote") and (shown := self._material.prompt.steps):
            # There is no final answer to quote from.
            item[step], _, text = max(shown, key=lambda numbered: len(numbered[2].strip()))
            item["quote"] = _quote_from(text)
        for key, field in properties.items():
            if any(word in self._scores for word in (*(field.get("enum") or ()), *(field.get("examples") or ()))):
                return [{**item, key: dimension} for dimension in self._scores]
        return [item]

    def _applies(self, word: str) -> bool | None:
        """Whether what the prompt's line about a verdict demands is so; None where it demands nothing of the total."""
        line = next((line for line in self._system_lines if line.startswith(f"- `{word}`")), "")
        if any(f"`{name}`" in line for name, spec in self._shape.items() if spec.get("type") == "boolean"):
            return False  # a gate, and none is ever open here
        least, most = _AT_LEAST.search(line), _AT_MOST.search(line)
        if least is None and most is None:
            return None
        is_enough = least is None or float(least[1] or least[2]) <= self._sum
        is_little = most is None or self._sum <= float(most[1] or most[2])
        # Dimensions that must not be 0 are named by their keys, or by the label that counts them: D1, D2.
        named = [score for name, score in self._scores.items() if re.search(rf"\b{re.escape(name)}\b", line)]
        counted = [score for number, score in enumerate(self._scores.values(), 1) if re.search(rf"\bD{number}\b", line)]
        return is_enough and is_little and all(named or counted)

    def _verdict(self, words: Sequence[str]) -> str:
        """The first whose conditions hold; one without any is what is left otherwise."""
        applies = {word: self._applies(word) for word in words}
        left = [word for word in words if applies[word] is None] or list(words) or ["scored"]
        return next((word for word in words if applies[word]), left[-1])


def _is_step(spec: Mapping[str, Any]) -> bool:
    """Whether a field holds the number of a step, or null."""
    return spec.get("type") == ["integer", "null"]


def _quote_from(response: str) -> str:
    """A piece that really stands there, long enough to be found again; blank where there is nothing."""
    lines = [line.strip() for line in response.splitlines()]
    line = max(lines, key=lambda candidate: min(len(candidate), _LONGEST_QUOTE), default="")
    cut = line[:_LONGEST_QUOTE]
    return (cut.rpartition(" ")[0] if line != cut and " " in cut[20:] else cut).strip()

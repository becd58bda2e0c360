"""What the mock says: a plausible reply of the right shape to every question."""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from typing import Any

from mixseek.protocols.registry import load_protocol

# A plausible reply of the shape that a request asks for: read from its JSON schema, else from its prompt.
#
# Whatever a protocol demands beyond the shape (totals, verdicts, weights) stands in its prompt for the judge to read,
# and
# that is where it is read here: a user's own protocol is answered like a built-in one.

_LONGEST_QUOTE = 60
_RANGE = re.compile(r"(-?\d+(?:\.\d+)?) to (-?\d+(?:\.\d+)?)")
_AT_LEAST = re.compile(r"(?:at least|≥)\s*(-?\d+(?:\.\d+)?)|(-?\d+(?:\.\d+)?)\s*以上")
_AT_MOST = re.compile(r"(?:at most|≤)\s*(-?\d+(?:\.\d+)?)|(-?\d+(?:\.\d+)?)\s*以下")
# `structure` (0 to 30 points), `structure`（0〜30点）
_CRITERION = re.compile(r"^- `(\w+)`\s?[(（]0 ?(?:to|〜) ?(\d+)", re.MULTILINE)
_ROUND_SCORE = re.compile(r"^### [^\n]*?(\d+\.\d\d)/100", re.MULTILINE)
# In the example of a prompt, values stand for what may be there: 0–4, 60 | 30 | 40, "high | low".
_EXAMPLE_RANGE = re.compile(r"(?<=: )(-?\d+(?:\.\d+)?)\s*[–～~]\s*(-?\d+(?:\.\d+)?)")
_EXAMPLE_NUMBERS = re.compile(r"(?<=: )(-?\d+(?:\.\d+)?(?:\s*\|\s*-?\d+(?:\.\d+)?)+)")
_EXAMPLE_BOOLEAN = re.compile(r"(?<=: )(?:true\s*\|\s*false|false\s*\|\s*true)")
_NUMBERS = {"integer", "number"}


@dataclass(frozen=True, slots=True)
class Material:
    """What a reply is made from. `quality` is 0..1; `seed` makes two replies differ where they may."""

    system: str
    task: str
    response: str
    seed: bytes
    quality: float
    identity: Mapping[str, Any] = field(default_factory=dict)

    def share(self, name: str) -> float:
        """0 ≤ x < 1 for that name, the same whenever it is asked."""
        drawn = hashlib.blake2b(self.seed + name.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        return int.from_bytes(drawn, "big") / 2**64

    @property
    def mark(self) -> str:
        return self.seed.hex()[:8]


def shape_of(schema: Mapping[str, Any] | None, system: str) -> Mapping[str, Any] | None:
    """The schema of the reply, given or read from the prompt's example; None where no JSON is asked for."""
    if schema and isinstance(schema.get("properties"), Mapping):
        return schema
    criteria = {
        name: _object({"reason": {"type": "string"}, "score": {"type": "integer", "enum": list(range(int(most) + 1))}})
        for name, most in _CRITERION.findall(system)
    }
    for built_in in _built_in_shapes():
        if all(f'"{name}"' in system for name in built_in["properties"]):
            return built_in
    for example in _examples(system):
        shape = _shape_of_value(example)
        if criteria and "criteria" in example:
            shape["properties"]["criteria"] = _object(criteria)
        return shape
    return None


@lru_cache(maxsize=1)
def _built_in_shapes() -> tuple[Mapping[str, Any], ...]:
    """Their prompts show one example, in which every score is 0."""
    return tuple(load_protocol(name).reply_schema for name in ("cross", "rubric"))


def fill(shape: Mapping[str, Any], material: Material) -> dict[str, Any]:
    """A reply of that shape which holds together in itself."""
    properties = shape["properties"]
    if "should_continue" in properties:
        return _opinion(material)
    if "criteria" in properties:
        return _criteria(properties, material)
    return _Filling(properties, material).reply()


def contradict(reply: Mapping[str, Any]) -> dict[str, Any]:
    """The same reply at odds with itself: a total that is not the sum, or an opinion beyond its scale."""
    broken = json.loads(json.dumps(reply))
    holder, name = _total_place(broken)
    if holder is not None:
        holder[name] = holder[name] - 1 if holder[name] >= 1 else holder[name] + 1
    elif "confidence_score" in broken:
        broken["confidence_score"] = 2.5
    return dict(broken)


def write_submission(material: Material) -> str:
    """What a team hands in: a short text about the task, another for another team and round."""
    question = next((line.strip() for line in _question_lines(material.task) if line.strip()), "the task")
    rounds = len(_ROUND_SCORE.findall(material.task)) + 1
    points = ("the main point", "an example", "a limit", "a counterargument", "a summary", "a source to check")
    chosen = [point for point in points if material.share(point) < 0.4 + 0.1 * rounds] or [points[0]]
    lines = [f"Draft {rounds} ({material.mark}) on: {question[:200]}", ""]
    lines += [f"{number}. Here stands {point}, in a sentence of its own." for number, point in enumerate(chosen, 1)]
    return "\n".join(lines)


def quote_from(response: str) -> str | None:
    """A piece that really stands there, long enough to be found again; None where there is nothing."""
    lines = [line.strip() for line in response.splitlines() if line.strip()]
    if not lines:
        return None
    line = max(lines, key=lambda one: min(len(one), _LONGEST_QUOTE))
    if len(line) <= _LONGEST_QUOTE:
        return line
    cut = line[:_LONGEST_QUOTE]
    return (cut.rpartition(" ")[0] if " " in cut[20:] else cut).strip()


def _opinion(material: Material) -> dict[str, Any]:
    """Go on while scores rise and there is room above them."""
    scores = [float(score) for score in _ROUND_SCORE.findall(material.task)]
    has_risen = len(scores) < 2 or scores[-1] > max(scores[:-1])
    goes_on = not scores or (has_risen and scores[-1] < 90)
    told = "the last round was the best so far and leaves room" if goes_on else "the last round brought no gain"
    return {
        "reasoning": f"Mock opinion {material.mark}: {told}.",
        "should_continue": goes_on,
        "confidence_score": round(0.5 + material.share("confidence") / 2, 2),
    }


def _criteria(properties: Mapping[str, Any], material: Material) -> dict[str, Any]:
    scores = {
        name: _score(one["properties"]["score"], name, material)
        for name, one in properties["criteria"]["properties"].items()
    }
    return {
        "criteria": {
            name: {"reason": f"Mock reason {material.mark}.", "score": score} for name, score in scores.items()
        },
        "comment": f"Mock remark {material.mark}.",
        "total_score": sum(scores.values()),
    }


def _score(spec: Mapping[str, Any], name: str, material: Material, top: float | None = None) -> int | float:
    low, high = _bounds(spec)
    high = high if top is None else top
    share = min(1.0, max(0.0, material.quality + 0.3 * (material.share(name) - 0.5)))
    return round(low + (high - low) * share)


def _bounds(spec: Mapping[str, Any]) -> tuple[float, float]:
    values = [value for value in spec.get("enum") or () if isinstance(value, int | float)]
    if values:
        return min(values), max(values)
    found = _RANGE.search(str(spec.get("description") or ""))
    low, high = (float(found[1]), float(found[2])) if found else (0, 1)
    return spec.get("minimum", low), spec.get("maximum", high)


def _is_number(spec: Any) -> bool:
    kinds = spec.get("type") if isinstance(spec, Mapping) else None
    return bool(_NUMBERS & set(kinds if isinstance(kinds, list) else [kinds]))


class _Filling:
    """A scored reply: dimensions, their total, the verdict that follows, evidence, and the words around them."""

    def __init__(self, properties: Mapping[str, Any], material: Material) -> None:
        self._properties = properties
        self._material = material
        groups = {
            name: spec["properties"]
            for name, spec in properties.items()
            if isinstance(spec, Mapping)
            and spec.get("properties")
            and all(map(_is_number, spec["properties"].values()))
        }
        self._group = next((name for name in groups if "weight" not in name.lower()), None)
        self._weights_group = next((name for name in groups if "weight" in name.lower()), None)
        numbers = groups[self._group] if self._group else {k: s for k, s in properties.items() if _is_number(s)}
        self._total = self._find_total(numbers)
        self._dimensions = {name: spec for name, spec in numbers.items() if name != self._total}
        self._task_type = self._find_task_type()
        self._weights = self._find_weights()
        self._scores, self._sum = self._draw_scores()

    def reply(self) -> dict[str, Any]:
        return {name: self._value(name, spec) for name, spec in self._properties.items()}

    def _find_total(self, numbers: Mapping[str, Any]) -> str | None:
        """Beside the scores or among them, by its name, or because its top is the sum of all others'."""
        outside = [name for name, spec in self._properties.items() if _is_number(spec)] if self._group else []
        for name in [*outside, *numbers]:
            if "total" in name.lower() or "overall" in name.lower() or name in outside:
                return name
        for name in numbers:
            others = [_bounds(spec)[1] for other, spec in numbers.items() if other != name]
            if len(others) > 1 and _bounds(numbers[name])[1] == sum(others):
                return name
        return None

    def _find_task_type(self) -> str | None:
        """As the prompt gives it, else the first there is."""
        given = self._material.identity.get("task_type")
        spec = self._properties.get("task_type")
        words = [word for word in (spec or {}).get("enum") or () if isinstance(word, str)]
        return given if isinstance(given, str) else (words[0] if words else None)

    def _find_weights(self) -> dict[str, float]:
        """From a line of the prompt that names the task type: `fact`: a 60, b 30, or a row of a table."""
        for line in self._material.system.splitlines():
            opening = re.match(r"(?:- |\| ?)`([^`]+)`", line)
            if opening is None or (self._task_type is not None and opening[1] != self._task_type):
                continue
            named = {name: re.search(rf"\b{re.escape(name)} (\d+(?:\.\d+)?)", line) for name in self._dimensions}
            if named and all(named.values()):
                return {name: float(found[1]) for name, found in named.items() if found}
            cells = [cell.strip() for cell in line.strip("| ").split("|")]
            numbers = [float(cell) for cell in cells if re.fullmatch(r"\d+(?:\.\d+)?", cell)]
            if len(numbers) == len(self._dimensions) > 0:
                return dict(zip(self._dimensions, numbers, strict=True))
        return {}

    def _draw_scores(self) -> tuple[dict[str, int | float], int | float]:
        tops = {name: _bounds(spec)[1] for name, spec in self._dimensions.items()}
        weights = self._weights
        total_spec = self._properties.get(self._total or "") or {}
        top_total = _bounds(total_spec)[1] if total_spec else sum(tops.values())
        is_weighted = bool(weights) and sum(weights[name] * tops[name] for name in tops) == top_total != sum(
            tops.values()
        )
        if weights and not is_weighted and sum(weights.values()) == top_total:
            # Each dimension goes as far as its weight.
            tops = weights
        scores = {name: _score(spec, name, self._material, tops[name]) for name, spec in self._dimensions.items()}
        total = sum(score * (weights[name] if is_weighted else 1) for name, score in scores.items())
        return scores, int(total) if total == int(total) else total

    def _value(self, name: str, spec: Any) -> Any:
        material = self._material
        if name == self._total:
            return self._sum
        if name in self._scores and self._group is None:
            return self._scores[name]
        if name == self._group:
            return {key: self._sum if key == self._total else self._scores[key] for key in spec["properties"]}
        if name == self._weights_group:
            return {key: _plain(self._weights.get(key, 0)) for key in spec["properties"]}
        if name in material.identity and material.identity[name] is not None:
            return material.identity[name]
        if name == "task_type" and self._task_type is not None:
            return self._task_type
        if name == "inferred_task_type":
            return None if material.identity.get("task_type") is not None else self._task_type
        kinds = spec.get("type") if isinstance(spec, Mapping) else None
        if kinds == "object":
            return {key: self._value(key, inner) for key, inner in (spec.get("properties") or {}).items()}
        if kinds == "array":
            return self._items(spec.get("items") or {})
        return self._plain_value(name, spec, kinds)

    def _plain_value(self, name: str, spec: Mapping[str, Any], kinds: Any) -> Any:
        material = self._material
        if isinstance(kinds, list) and "null" in kinds:
            return None
        if kinds == "boolean":
            return False
        words = [word for word in spec.get("enum") or () if word is not None]
        if "verdict" in name.lower() or (words and self._is_verdict(words)):
            return self._verdict(words)
        if words:
            return words[int(material.share(name) * len(words))]
        if _is_number(spec):
            return _score(spec, name, material)
        return (quote_from(material.response) or "") if name == "quote" else f"Mock {name} {material.mark}."

    def _items(self, spec: Mapping[str, Any]) -> list[Any]:
        """Evidence is given for every dimension; flags and other lists of words stay empty."""
        properties = spec.get("properties")
        if not properties:
            return []
        keyed = next((key for key, one in properties.items() if self._names_dimensions(one)), None)
        if keyed is None:
            return [{key: self._value(key, one) for key, one in properties.items()}]
        rest = {key: one for key, one in properties.items() if key != keyed}
        return [
            {keyed: dimension, **{key: self._value(key, one) for key, one in rest.items()}}
            for dimension in self._scores
        ]

    def _names_dimensions(self, spec: Mapping[str, Any]) -> bool:
        return any(word in self._scores for word in (*(spec.get("enum") or ()), *(spec.get("examples") or ())))

    def _is_verdict(self, words: Sequence[str]) -> bool:
        return any(_AT_LEAST.search(line) or _AT_MOST.search(line) for line in self._lines_of(words).values())

    def _lines_of(self, words: Sequence[str]) -> dict[str, str]:
        """The line of the prompt that says when a word applies."""
        lines = self._material.system.splitlines()
        return {word: next((one for one in lines if one.startswith(f"- `{word}`")), "") for word in words}

    def _verdict(self, words: Sequence[str]) -> str:
        """The first whose conditions hold; one without any is what is left otherwise."""
        for word, line in self._lines_of(words).items():
            gates = [
                name for name, one in self._properties.items() if one.get("type") == "boolean" and f"`{name}`" in line
            ]
            least, most = _AT_LEAST.search(line), _AT_MOST.search(line)
            if gates or not (least or most):
                continue
            is_enough = least is None or self._sum >= float(least[1] or least[2])
            is_little = most is None or self._sum <= float(most[1] or most[2])
            if is_enough and is_little and all(self._scores[name] for name in self._nonzero_in(line)):
                return word
        open_words = [word for word, line in self._lines_of(words).items() if not self._has_condition(line)]
        return (open_words or list(words) or ["scored"])[-1]

    def _has_condition(self, line: str) -> bool:
        is_gate = any(one.get("type") == "boolean" and f"`{name}`" in line for name, one in self._properties.items())
        return is_gate or bool(_AT_LEAST.search(line) or _AT_MOST.search(line))

    def _nonzero_in(self, line: str) -> list[str]:
        """By key, or by the label that counts the dimensions: D1, D2."""
        named = [name for name in self._scores if re.search(rf"\b{re.escape(name)}\b", line)]
        return named or [name for number, name in enumerate(self._scores, 1) if re.search(rf"\bD{number}\b", line)]


def _plain(number: float) -> int | float:
    return int(number) if number == int(number) else number


def _total_place(reply: dict[str, Any]) -> tuple[dict[str, Any] | None, str]:
    for holder in (reply, *(value for value in reply.values() if isinstance(value, dict))):
        for name, value in holder.items():
            is_number = isinstance(value, int | float) and not isinstance(value, bool)
            if is_number and ("total" in name.lower() or "overall" in name.lower()):
                return holder, name
    return None, ""


def _question_lines(task: str) -> Iterator[str]:
    """What stands under the heading of the user's query, in whatever language; else all of it."""
    _, heading, rest = task.partition("\n# ")
    for title in ("ユーザクエリ\n", "User query\n", "用户问题\n"):
        if title in task:
            rest = task.partition(title)[2]
            break
    else:
        rest = rest if heading else task
    yield from rest.splitlines()


def read_identity(task: str) -> dict[str, Any]:
    """The JSON object that a user prompt shows before its first fence: what is known about the sample."""
    place = task.find("\n{")
    fence = task.find("<<<")
    if place < 0 or 0 <= fence < place:
        return {}
    try:
        found, _ = json.JSONDecoder().raw_decode(task, place + 1)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _examples(system: str) -> Iterator[dict[str, Any]]:
    """Objects that the prompt shows as the shape of a reply, the last one first."""
    for start in sorted((found.start() for found in re.finditer(r"^\{", system, re.MULTILINE)), reverse=True):
        text = _EXAMPLE_BOOLEAN.sub("false", system[start:])
        text = _EXAMPLE_RANGE.sub(r'"\1 to \2"', text)
        text = _EXAMPLE_NUMBERS.sub(r'"\1"', text)
        try:
            found, _ = json.JSONDecoder().raw_decode(text)
        except ValueError:
            continue
        if isinstance(found, dict) and found:
            yield found


def _object(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": dict(properties)}


def _shape_of_value(value: Any) -> dict[str, Any]:
    """A schema that the example would satisfy, as far as an example tells."""
    match value:
        case dict():
            return _object({name: _shape_of_value(inner) for name, inner in value.items()})
        case list():
            return {"type": "array", "items": _shape_of_value(value[0]) if value else {}}
        case bool():
            return {"type": "boolean"}
        case int() | float():
            return {"type": "integer" if isinstance(value, int) else "number"}
        case None:
            return {"type": ["string", "null"]}
        case str() if _RANGE.fullmatch(value):
            return {"type": "number", "description": value}
        case str() if " | " in value:
            words = [word.strip().strip('"') for word in value.split("|")]
            if all(re.fullmatch(r"-?\d+(?:\.\d+)?", word) for word in words):
                return {"type": "number", "enum": [_plain(float(word)) for word in words]}
            return {"type": "string", "enum": words}
        case _:
            return {"type": "string", "examples": [value]}


# What the loopback judge says: a verdict that only the prompt decides, or one of the ways in which judges fail.
#
# Nothing here depends on the clock, on the order of requests or on chance: the same prompt gets the same verdict in
# every run and every workspace (the fence's nonce, which differs between workspaces, is taken out first), so the
# results of a disturbed run can be compared with those of a calm one.

# The time of asking stands in prompts and says nothing about the sample.
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:[+-]\d\d:\d\d|Z)")
_NONCE_OF_A_PROMPT = re.compile(r"<<<\w+ ([0-9A-Za-z]{16,})>>>")
# A prompt whose nonce was taken out.
_FENCED = re.compile(r"^<<<\w+ >>>$.*^<<<END \w+ >>>$", re.MULTILINE | re.DOTALL)
_INPUT_ID = re.compile(r'input_id\D{0,8}?((?<=\s)"(?:[^"\\]|\\.)*"|(?<=\s)-?\d+)')
_LONGEST_MOCK_QUOTE = 60


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
    quote = lines[-1][-_LONGEST_MOCK_QUOTE:].strip() if lines else None
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

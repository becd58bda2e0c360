"""Which properties a reply must have, as in a JSON schema."""

import json
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from mixseek.protocols.registry import load_protocol
from mixseek.testing.prompts import Prompt

NUMBER = r"-?\d+(?:\.\d+)?"
_RANGE = re.compile(rf"(?<!\d)({NUMBER}) ?(?:to|[–～~]) ?({NUMBER})")
# `structure` (0 to 30 points), `structure`（0〜30点）
_CRITERION = re.compile(r"^- `(\w+)`\s?[(（]0 ?(?:to|〜) ?(\d+)", re.MULTILINE)
# In the example of a prompt, values stand for what may be there: 0–4, 60 | 30 | 40, true | false, "high | low".
_CHOICE = re.compile(r'(?<=: )([^"\s\[{][^",\n]{0,400}[|–～~][^",\n]*)')


def shape_of(prompt: Prompt) -> Mapping[str, Any] | None:
    """The reply's properties, given or read from the prompt's example; None where no JSON is asked for."""
    properties = (prompt.schema or {}).get("properties")
    if isinstance(properties, Mapping):
        return properties
    for built_in in _built_in_shapes():
        if all(f'"{name}"' in prompt.system for name in built_in):
            return built_in
    example = next(objects_in(_CHOICE.sub(r'"\1"', prompt.system)), None)
    if example is None:
        return None
    shape: dict[str, Any] = _shape_of_value(example)["properties"]
    if "criteria" in shape:
        scores = {name: {"reason": "…", "score": f"0 to {most}"} for name, most in _CRITERION.findall(prompt.system)}
        shape["criteria"] = _shape_of_value(scores)
    return shape


@lru_cache(maxsize=1)
def _built_in_shapes() -> tuple[Mapping[str, Any], ...]:
    """Their prompts show one example, in which every score is 0."""
    return tuple(load_protocol(name).reply_schema["properties"] for name in ("cross", "rubric"))


def objects_in(text: str) -> Iterator[dict[str, Any]]:
    """The last one first."""
    for start in reversed([match.start() for match in re.finditer(r"^\{", text, re.MULTILINE)]):
        try:
            value, _ = json.JSONDecoder().raw_decode(text, start)
        except ValueError:
            continue
        if value:
            yield value


def _shape_of_value(value: Any) -> dict[str, Any]:
    """A schema that the example would satisfy, as far as an example tells."""
    match value:
        case dict():
            return {"type": "object", "properties": {name: _shape_of_value(inner) for name, inner in value.items()}}
        case list():
            return {"type": "array", "items": _shape_of_value(value[0]) if value else {}}
        case bool():
            return {"type": "boolean"}
        case int() | float():
            return {"type": "number"}
        case None:
            return {"type": ["string", "null"]}
        case str() if _RANGE.fullmatch(value):
            return {"type": "number", "description": value}
        case str() if " | " in value:
            words = [word.strip().strip('"') for word in value.split("|")]
            if set(words) == {"…", "null"}:
                # The number of a step, if there is one.
                return {"type": ["integer", "null"]}
            if set(words) == {"true", "false"}:
                return {"type": "boolean"}
            if all(re.fullmatch(NUMBER, word) for word in words):
                return {"type": "number", "enum": [plain_number(float(word)) for word in words]}
            return {"type": "string", "enum": words}
        case _:
            return {"type": "string", "examples": [value]}


def is_number(spec: Mapping[str, Any]) -> bool:
    kinds = spec.get("type")
    return bool({"integer", "number"} & set(kinds if isinstance(kinds, list) else [kinds]))


def numbers_in(spec: Mapping[str, Any]) -> dict[str, Any]:
    """The numbers by name, each alone or beside its reason; none where anything else stands among them."""
    inner = spec.get("properties") or {}
    numbers = {name: (field.get("properties") or {}).get("score", field) for name, field in inner.items()}
    return numbers if all(map(is_number, numbers.values())) else {}


def is_total(name: str) -> bool:
    return "total" in name.lower() or "overall" in name.lower()


def bounds_of(spec: Mapping[str, Any]) -> tuple[float, float]:
    values = [value for value in spec.get("enum") or () if isinstance(value, int | float)]
    if values:
        return min(values), max(values)
    match = _RANGE.search(str(spec.get("description") or ""))
    low, high = (float(match[1]), float(match[2])) if match else (0, 1)
    return spec.get("minimum", low), spec.get("maximum", high)


def plain_number(number: float) -> int | float:
    return int(number) if number == int(number) else number

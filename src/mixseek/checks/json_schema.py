"""Whether a JSON value is as a schema says, for the keywords that people use on arguments and answers.

A schema with a keyword that is not known here is refused where it is declared: one that is passed over would let
everything through that it was written against.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mixseek.checks.patterns import safe_pattern
from mixseek.errors import ConfigurationError, suggest

# They say something to people and nothing about a value.
_ANNOTATIONS = frozenset({"$schema", "$id", "$comment", "title", "description", "examples", "default", "deprecated"})
_TYPES: Mapping[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
}
_COUNTS = ("minLength", "maxLength", "minItems", "maxItems")
_BOUNDS = ("minimum", "maximum")
_KEYWORDS = (
    *("type", "enum", "const", "properties", "required", "additionalProperties", "items", "anyOf", "pattern"),
    *_BOUNDS,
    *_COUNTS,
)
_DEEPEST = 32
_SHOWN = 60


def check_schema(schema: Any, place: str = "schema", depth: int = 0) -> None:
    """Raises ConfigurationError for a schema that could not be obeyed to the letter."""
    if depth > _DEEPEST:
        raise ConfigurationError(f"{place}: more than {_DEEPEST} schemas inside each other")
    if isinstance(schema, bool):
        return
    if not isinstance(schema, Mapping):
        raise ConfigurationError(f"{place}: a schema is an object, or true or false; not {show(schema)}")
    for keyword, value in schema.items():
        if keyword in _ANNOTATIONS:
            continue
        if keyword not in _KEYWORDS:
            meant = suggest(str(keyword), _KEYWORDS, f"known are {', '.join(_KEYWORDS)}")
            raise ConfigurationError(f"{place}: the keyword {keyword!r} is not known here; {meant}")
        if problem := keyword_problem(keyword, value):
            raise ConfigurationError(f"{place}.{keyword}: {problem}")
    for name, inner in inner_schemas(schema):
        check_schema(inner, f"{place}.{name}", depth + 1)


def keyword_problem(keyword: str, value: Any) -> str | None:
    """What is wrong with what a keyword says; None where it can be obeyed."""
    match keyword:
        case "type":
            names = value if isinstance(value, list) and value else [value]
            unknown = next((name for name in names if not isinstance(name, str) or name not in _TYPES), None)
            return None if unknown is None else f"{show(unknown)} is no type; known are {', '.join(_TYPES)}"
        case "enum":
            return None if isinstance(value, list) and value else "a list with at least one value"
        case "properties":
            return None if isinstance(value, Mapping) else "an object with a schema for each property"
        case "required":
            is_list = isinstance(value, list) and all(isinstance(name, str) for name in value)
            return None if is_list else "a list of names"
        case "anyOf":
            return None if isinstance(value, list) and value else "a list with at least one schema"
        case "pattern":
            if not isinstance(value, str):
                return "a regular expression"
            try:
                safe_pattern(value)
            except ConfigurationError as error:
                return str(error)
        case _ if keyword in _COUNTS:
            return None if is_number(value) and value >= 0 and value == int(value) else "a whole number from 0 on"
        case _ if keyword in _BOUNDS:
            return None if is_number(value) else "a number"
    return None


def inner_schemas(schema: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The schemas inside one, with where they stand."""
    for name, inner in schema.get("properties", {}).items():
        yield f"properties.{name}", inner
    for keyword in ("items", "additionalProperties"):
        if keyword in schema:
            yield keyword, schema[keyword]
    for number, inner in enumerate(schema.get("anyOf", ())):
        yield f"anyOf.{number}", inner


def schema_problem(value: Any, schema: Any, place: str = "") -> str | None:
    """The first thing in which a value is not as the schema says, with its place; None where it is."""
    if isinstance(schema, bool):
        return None if schema else f"{place or 'the value'} may not be there"
    where = place or "the value"
    # What is wrong by itself comes before what is wrong inside.
    own_problems = (
        type_problem(value, schema, where),
        value_problem(value, schema, where),
        text_problem(value, schema, where) if isinstance(value, str) else None,
        number_problem(value, schema, where) if is_number(value) else None,
    )
    first = next((problem for problem in own_problems if problem is not None), None)
    if first is not None:
        return first
    if isinstance(value, dict):
        return object_problem(value, schema, place)
    if isinstance(value, list):
        return array_problem(value, schema, place)
    return None


def type_problem(value: Any, schema: Mapping[str, Any], where: str) -> str | None:
    wanted = schema.get("type")
    if wanted is None:
        return None
    names: Sequence[str] = wanted if isinstance(wanted, list) else [wanted]
    if any(is_of_type(value, name) for name in names):
        return None
    return f"{where} is {show(value)} and not of the type {' or '.join(names)}"


def is_of_type(value: Any, name: str) -> bool:
    if isinstance(value, bool):
        return name == "boolean"
    if name == "integer" and isinstance(value, float):
        return math.isfinite(value) and value == int(value)
    return isinstance(value, _TYPES[name])


def value_problem(value: Any, schema: Mapping[str, Any], where: str) -> str | None:
    if "const" in schema and not are_equal(value, schema["const"]):
        return f"{where} is {show(value)} and not {show(schema['const'])}"
    if "enum" in schema and not any(are_equal(value, item) for item in schema["enum"]):
        return f"{where} is {show(value)} and not among {', '.join(map(show, schema['enum'][:8]))}"
    if "anyOf" in schema:
        problems = [schema_problem(value, inner, where) for inner in schema["anyOf"]]
        if all(problem is not None for problem in problems):
            return f"{where} fits none of anyOf: {problems[0]}"
    return None


def text_problem(text: str, schema: Mapping[str, Any], where: str) -> str | None:
    if len(text) < schema.get("minLength", 0):
        return f"{where} has {len(text)} characters, fewer than {schema['minLength']}"
    if len(text) > schema.get("maxLength", math.inf):
        return f"{where} has {len(text)} characters, more than {schema['maxLength']}"
    if "pattern" in schema and not (matches := safe_pattern(schema["pattern"]).search(text)):
        reason = "is too long to be tried on" if matches is None else "does not match"
        return f"{where} is {show(text)}, which {reason} {schema['pattern']}"
    return None


def number_problem(number: float, schema: Mapping[str, Any], where: str) -> str | None:
    if number < schema.get("minimum", -math.inf):
        return f"{where} is {number}, less than {schema['minimum']}"
    if number > schema.get("maximum", math.inf):
        return f"{where} is {number}, more than {schema['maximum']}"
    return None


def object_problem(value: Mapping[str, Any], schema: Mapping[str, Any], place: str) -> str | None:
    for name in schema.get("required", ()):
        if name not in value:
            return f"{place or 'the value'} has no {name!r}"
    properties, others = schema.get("properties", {}), schema.get("additionalProperties", True)
    for name, item in value.items():
        inner = properties.get(name, others)
        if inner is False and name not in properties:
            return f"{place or 'the value'} has {name!r}, which the schema does not know"
        problem = schema_problem(item, inner, f"{place}.{name}" if place else name)
        if problem is not None:
            return problem
    return None


def array_problem(value: Sequence[Any], schema: Mapping[str, Any], place: str) -> str | None:
    where = place or "the value"
    if len(value) < schema.get("minItems", 0):
        return f"{where} has {len(value)} items, fewer than {schema['minItems']}"
    if len(value) > schema.get("maxItems", math.inf):
        return f"{where} has {len(value)} items, more than {schema['maxItems']}"
    for number, item in enumerate(value):
        problem = schema_problem(item, schema.get("items", True), f"{place}[{number}]")
        if problem is not None:
            return problem
    return None


def subset_problem(expected: Any, value: Any, place: str = "") -> str | None:
    """The first thing that is expected and not there; what is there beside it does not matter, in objects."""
    where = place or "the value"
    if isinstance(expected, Mapping):
        if not isinstance(value, Mapping):
            return f"{where} is {show(value)} and no object"
        for name, item in expected.items():
            if name not in value:
                return f"{where} has no {name!r}"
            problem = subset_problem(item, value[name], f"{place}.{name}" if place else name)
            if problem is not None:
                return problem
        return None
    if isinstance(expected, list) and isinstance(value, list) and len(expected) == len(value):
        pairs = enumerate(zip(expected, value, strict=True))
        problems = (subset_problem(item, other, f"{place}[{number}]") for number, (item, other) in pairs)
        return next((problem for problem in problems if problem is not None), None)
    return None if are_equal(expected, value) else f"{where} is {show(value)} and not {show(expected)}"


def are_equal(first: Any, second: Any) -> bool:
    """Whether JSON takes them for one value: 1 and 1.0 are one number, and neither is true."""
    if isinstance(first, bool) or isinstance(second, bool):
        return first is second
    if isinstance(first, list) and isinstance(second, list):
        return len(first) == len(second) and all(map(are_equal, first, second))
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        return first.keys() == second.keys() and all(are_equal(item, second[name]) for name, item in first.items())
    return bool(first == second)


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def show(value: Any) -> str:
    """A value on one line, cut where it is long."""
    text = " ".join(repr(value).split())
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"

"""The schemas of checks say what the library of the same standard says, and refuse what they do not know."""

import itertools
from typing import Any

import jsonschema
import pytest

from mixseek.checks.json_schema import check_schema, schema_problem, subset_problem
from mixseek.errors import ConfigurationError

SCHEMAS: list[Any] = [
    *(True, False, {}, {"type": "integer"}, {"type": ["string", "null"]}, {"enum": [1, "a", None, False]}),
    *({"const": 1}, {"const": {"a": [1]}}, {"minimum": 0, "maximum": 2}, {"minLength": 1, "maxLength": 2}),
    *({"pattern": "^a"}, {"items": {"type": "number"}, "minItems": 1, "maxItems": 2}, {"required": ["a"]}),
    {"type": "object", "properties": {"a": {"type": "integer"}}, "additionalProperties": False},
    {"properties": {"a": {"const": 1}}, "additionalProperties": {"type": "string"}},
    {"anyOf": [{"type": "string"}, {"minimum": 2}]},
    {"properties": {"a": False}},
]
VALUES: list[Any] = [
    *(None, True, False, 0, 1, 1.0, 1.5, 2, -1, "", "a", "ab", "abc", "b", [], [1], [1, "a"], [1, 2, 3]),
    *({}, {"a": 1}, {"a": "x"}, {"a": [1]}, {"b": 1}, {"a": 1, "b": "x"}, {"a": True}, [True]),
]


def test_every_value_is_taken_as_the_standard_takes_it() -> None:
    different = [
        (schema, value)
        for schema, value in itertools.product(SCHEMAS, VALUES)
        if (schema_problem(value, schema) is None) != jsonschema.Draft202012Validator(schema).is_valid(value)
    ]

    assert different == []


@pytest.mark.parametrize("schema", SCHEMAS)
def test_these_are_schemas(schema: Any) -> None:
    check_schema(schema)


@pytest.mark.parametrize(
    ("schema", "complaint"),
    [
        ({"oneOf": []}, "schema: the keyword 'oneOf' is not known here; did you mean 'anyOf'"),
        ({"properties": {"a": {"format": "date"}}}, "schema.properties.a: the keyword 'format'"),
        ({"$ref": "#/x"}, r"the keyword '\$ref'"),
        ({"type": "int"}, "schema.type: 'int' is no type"),
        ({"required": "a"}, "schema.required: a list of names"),
        ({"minLength": -1}, "schema.minLength: a whole number"),
        ({"minimum": "1"}, "schema.minimum: a number"),
        ({"enum": []}, "schema.enum"),
        ({"anyOf": []}, "schema.anyOf"),
        ({"pattern": "(a+)+b"}, "schema.pattern: .*possessive"),
        ({"items": [1]}, "schema.items: a schema is an object"),
        ([], "a schema is an object"),
    ],
)
def test_a_schema_that_could_not_be_obeyed_is_refused_by_place(schema: Any, complaint: str) -> None:
    with pytest.raises(ConfigurationError, match=complaint):
        check_schema(schema)


def test_schemas_without_end_are_refused() -> None:
    schema: dict[str, Any] = {}
    for _ in range(100):
        schema = {"items": schema}

    with pytest.raises(ConfigurationError, match="inside each other"):
        check_schema(schema)


def test_a_problem_names_its_place() -> None:
    schema = {"properties": {"stops": {"items": {"required": ["city"]}}}}

    assert schema_problem({"stops": [{"city": "Oslo"}, {}]}, schema) == "stops[1] has no 'city'"


@pytest.mark.parametrize(
    ("expected", "value", "problem"),
    [
        ({"a": 1}, {"a": 1, "b": 2}, None),
        ({"a": {"b": 1}}, {"a": {"b": 1, "c": 2}}, None),
        ({"a": 1}, {"a": 1.0}, None),
        ({"a": 1}, {"a": True}, "a is True and not 1"),
        ({"a": [1, {"b": 2}]}, {"a": [1, {"b": 2, "c": 3}]}, None),
        ({"a": [1]}, {"a": [1, 2]}, "a is [1, 2] and not [1]"),
        ({"a": {"b": 1}}, {"a": 1}, "a is 1 and no object"),
        ({"a": None}, {}, "the value has no 'a'"),
        ({"a": 1}, "text", "the value is 'text' and no object"),
    ],
)
def test_a_subset_is_one_of_objects_at_any_depth(expected: Any, value: Any, problem: str | None) -> None:
    assert subset_problem(expected, value) == problem

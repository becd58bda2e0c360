"""The schema for endpoints and the validator come from one declaration, so they must agree."""

from typing import Any

import pytest
from tests.cases import each
from tests.unit.protocols.scored_replies import NAMES, VALID, changed, parse_invalid, protocol_of

TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
}


def conforms(value: Any, schema: Any) -> bool:
    """The part of JSON schema that our schemas use; nothing else may stand in them."""
    assert set(schema) <= {"type", "properties", "required", "additionalProperties", "items", "enum", "description"}
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    allowed = tuple(kind for name in kinds for kind in TYPES[name])
    if not isinstance(value, allowed) or (isinstance(value, bool) and bool not in allowed):
        return False
    if "enum" in schema and value not in schema["enum"]:
        return False
    if isinstance(value, dict):
        assert schema["additionalProperties"] is False
        assert schema["required"] == list(schema["properties"])
        return set(value) == set(schema["required"]) and all(
            conforms(value[key], schema["properties"][key]) for key in value
        )
    return not isinstance(value, list) or all(conforms(item, schema["items"]) for item in value)


def full(name: str) -> dict[str, Any]:
    """Strict endpoints write every key: what is optional is then null."""
    return {**dict.fromkeys(protocol_of(name).reply_schema["required"]), **VALID[name]}


@pytest.mark.parametrize("name", NAMES)
def test_a_valid_reply_conforms(name: str) -> None:
    assert conforms(full(name), protocol_of(name).reply_schema)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("policy", ["off", "present"])
def test_evidence_is_asked_for_only_where_it_is_looked_at(name: str, policy: str) -> None:
    schema = protocol_of(name, evidence={"policy": policy, "field": "evidence"}).reply_schema

    assert ("evidence" in schema["properties"]) == (policy != "off")


NOT_SO = [
    ("cross", "scores.COMPLETENESS", 3),
    ("cross", "scores.COMPLETENESS", True),
    ("cross", "scores.overall_score", 9),
    ("cross", "verdict", "GOOD"),
    ("cross", "flags", ["X"]),
    ("cross", "meta.method", "x"),
    ("cross", "evidence.0.dimension", "D1"),
    ("rubric", "task_type", "poem"),
    ("rubric", "weights.logic_and_fact", 50),
    ("rubric", "confidence", "sure"),
    ("rubric", "critical_fail", "no"),
    ("rubric", "score.logic_and_fact", "55"),
    ("letters", "scores.A_tone", 4),
    ("letters", "grade", "burn"),
    ("letters", "evidence.A_tone", 1),
]


@each(("name", "path", "value"), NOT_SO)
def test_what_the_schema_excludes_the_validator_refuses(name: str, path: str, value: Any) -> None:
    wrong = changed(full(name), path, value)

    assert not conforms(wrong, protocol_of(name).reply_schema)
    assert parse_invalid(name, wrong).findings


def test_short_integer_scales_are_enums_and_long_ones_are_described() -> None:
    short = protocol_of("letters").reply_schema["properties"]
    long = protocol_of("letters", scale={"maximum": 30}).reply_schema["properties"]

    assert short["scores"]["properties"]["A_tone"] == {"type": "integer", "enum": [0, 1, 2, 3]}
    assert long["scores"]["properties"]["A_tone"] == {"type": "integer", "description": "0 to 30"}
    assert protocol_of("rubric").reply_schema["properties"]["total_score"] == {
        "type": "number",
        "description": "0 to 100",
    }

"""What a refusal is about is told from its own words, not from the text that it repeats."""

from typing import Any

import orjson
import pytest
from tests.cases import each
from tests.unit.judges.wire_documents import anthropic_error, openai_error

from mixseek.judges.endpoint.refusals import Refusal, read_refusal


def refusal_of(document: Any) -> Refusal:
    return read_refusal(orjson.dumps(document))


@each(
    "document",
    [
        openai_error("Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model"),
        openai_error("Invalid schema for response_format 'judgment': …", param="response_format"),
        openai_error("This response_format type is unavailable now"),
        openai_error("'messages' must contain the word 'json' in some form", param="messages"),
        anthropic_error("invalid_request_error", "output_config.format: Extra inputs are not permitted"),
        anthropic_error("invalid_request_error", "'m' does not support structured outputs"),
        {"error": {"code": 400, "message": "Failed to parse grammar", "type": "invalid_request_error"}},
        {"detail": [{"loc": ["body", "response_format", "type"], "msg": "Input should be 'text'", "input": "x"}]},
    ],
)
def test_a_refused_way_of_asking_for_json_is_recognised(document: Any) -> None:
    assert refusal_of(document).names_schema


@pytest.mark.parametrize(
    "document",
    [
        openai_error("This model's maximum context length is 8 tokens; response_format took 3 of them"),
        openai_error("Your prompt was flagged: 'write a grammar'"),
        {"detail": [{"loc": ["body", "messages"], "msg": "Input should be a list", "input": "use response_format"}]},
        openai_error("We could not parse the JSON body of your request"),
        openai_error("Unsupported value: 'temperature'", param="temperature"),
    ],
)
def test_other_refusals_leave_structured_output_alone(document: Any) -> None:
    """One odd sample must not turn it off for all that follow."""
    assert not refusal_of(document).names_schema


@pytest.mark.parametrize(
    ("document", "parameter"),
    [
        (openai_error("x", param="messages[1].content"), "messages"),
        (openai_error("x", param="temperature"), "temperature"),
        (anthropic_error("invalid_request_error", "messages.0.content: text is empty"), "messages"),
        (anthropic_error("invalid_request_error", "temperature: range: 0..1"), "temperature"),
        (openai_error("Something: odd"), None),
    ],
)
def test_the_blamed_parameter_is_found(document: Any, parameter: str | None) -> None:
    assert refusal_of(document).parameter == parameter

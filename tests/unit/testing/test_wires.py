"""A prompt's verdict does not depend on how it travels: OpenAI chat or responses, Anthropic, Gemini; with or without a
schema. What a wire says beside the text is its own."""

from collections.abc import Mapping
from typing import Any

import orjson
import pytest
from pydantic import ValidationError
from tests.cases import each
from tests.unit.protocols.nonces import NONCES

from mixseek.domain.ports import Call, Message
from mixseek.domain.samples import Sample
from mixseek.judges.endpoint.address import Target
from mixseek.judges.endpoint.answers import Dialect, SchemaMode
from mixseek.judges.endpoint.decisions import OpenAIDecisions, SystemOne
from mixseek.protocols.registry import load_protocol
from mixseek.settings.models import JudgeSettings
from mixseek.settings.models import WireFormat as JudgeWire
from mixseek.testing.mock_probabilities import with_answers
from mixseek.testing.mock_replies import MockReply, say
from mixseek.testing.mock_wire import DECISION_FORMATS, WIRE_FORMATS, WireFormat
from mixseek.testing.prompts import Prompt

SAMPLE = Sample("s1", "I count 7.\nSo it is 7.", "How many?", "7")
REPLY = MockReply("text", "stop", 10, 3, None)


def body_of(wire: WireFormat, messages: tuple[Message, ...], schema: Mapping[str, Any] | None) -> dict[str, Any]:
    """A request as the provider's reference shows it."""
    system, user = (message.content for message in messages)
    match wire.name:
        case "openai":
            form = {"response_format": {"type": "json_schema", "json_schema": {"name": "r", "schema": schema}}}
            chat = [{"role": "developer", "content": system}, {"role": "user", "content": user}]
            return {"model": "m", "messages": chat, **(form if schema else {})}
        case "openai-responses":
            form = {"text": {"format": {"type": "json_schema", "name": "r", "schema": schema}}}
            asked = [{"role": "user", "content": [{"type": "input_text", "text": user}]}]
            return {"model": "m", "instructions": system, "input": asked, **(form if schema else {})}
        case "anthropic":
            form = {"output_config": {"format": {"type": "json_schema", "schema": schema}}}
            asked = [{"role": "user", "content": user}]
            blocks = [{"type": "text", "text": system, "cache_control": {"type": "ephemeral"}}]
            return {"model": "m", "max_tokens": 9, "system": blocks, "messages": asked, **(form if schema else {})}
        case _:
            config = {"generationConfig": {"responseMimeType": "application/json", "responseJsonSchema": schema}}
            contents = [{"role": "user", "parts": [{"text": user}]}]
            instruction = {"parts": [{"text": system}]}
            return {"contents": contents, "systemInstruction": instruction, **(config if schema else {})}


def read(wire: WireFormat, document: Mapping[str, Any]) -> Prompt:
    return wire.read(orjson.dumps(document), "m" if wire.name == "gemini" else "")


@each(("protocol_name", "has_schema"), [("semantic", True), ("semantic", False)])
def test_every_wire_says_the_same(protocol_name: str, has_schema: bool) -> None:
    """The text is one and the same, byte for byte."""
    protocol = load_protocol(protocol_name)
    schema = protocol.reply_schema if has_schema else None
    messages = tuple(protocol.messages(SAMPLE, NONCES))

    prompts = {name: read(wire, body_of(wire, messages, schema)) for name, wire in WIRE_FORMATS.items()}
    texts = {say(prompt, None, seed=0, correct_share=0.5).text for prompt in prompts.values()}

    assert len(texts) == 1
    assert len({prompt.turns for prompt in prompts.values()}) == 1


@each("api", ["/decisions", "/systemone"])
def test_what_a_mock_says_in_words_it_holds_most_likely(api: str) -> None:
    """The same verdict, whichever interface asks for it."""
    protocol = load_protocol("semantic")
    messages = tuple(protocol.messages(SAMPLE, NONCES))
    chat = WIRE_FORMATS["/chat/completions"]
    written = say(read(chat, body_of(chat, messages, protocol.reply_schema)), None, seed=0, correct_share=0.5)
    call = Call("k", messages, {}, questions=protocol.question_set.questions)
    target = Target("m", "openai", JudgeWire.OPENAI, "http://localhost/v1", "m", JudgeSettings(), "", "max_tokens")
    wire = OpenAIDecisions() if api == "/decisions" else SystemOne()
    asked = DECISION_FORMATS[api].read(orjson.dumps(wire.body(call, target, Dialect(SchemaMode.NONE, "max_tokens"))))
    reply = with_answers(asked, say(asked, None, seed=0, correct_share=0.5), 0, 0.5)
    shares = reply.answers["is_correct"]

    assert (shares["true"] > 0.5) == written.is_correct
    assert sum(shares.values()) == pytest.approx(1)


def test_a_schema_of_geminis_own_kind_is_read_as_the_others_are() -> None:
    """Types in capitals, and null as a word of its own."""
    wire = WIRE_FORMATS[":generateContent"]
    schema = {
        "type": "OBJECT",
        "properties": {"score": {"type": "INTEGER"}, "why": {"type": "STRING", "nullable": True}},
    }
    body = {"contents": [{"parts": [{"text": "x"}]}], "generation_config": {"response_schema": schema}}

    assert read(wire, body).schema == {
        "type": "object",
        "properties": {"score": {"type": "integer"}, "why": {"type": ["string", "null"], "nullable": True}},
    }


@each("path", list(WIRE_FORMATS))
def test_how_a_reply_ended_is_told_in_the_words_of_the_wire(path: str) -> None:
    """A client must see that a text was cut off, or that the judge refused."""
    wire = WIRE_FORMATS[path]
    prompt = Prompt("m", (("user", "x"),))

    def ending(reason: str) -> Any:
        answer = wire.answer(prompt, REPLY._replace(finish_reason=reason), 1)
        match wire.name:
            case "openai":
                return answer["choices"][0]["finish_reason"], answer["choices"][0]["message"]["refusal"]
            case "openai-responses":
                return answer["status"], answer["output"][0]["content"][0]["type"]
            case "anthropic":
                return answer["stop_reason"]
            case _:
                return answer["candidates"][0]["finishReason"]

    expected = {
        "openai": [("stop", None), ("length", None), ("stop", "text")],
        "openai-responses": [("completed", "output_text"), ("incomplete", "output_text"), ("completed", "refusal")],
        "anthropic": ["end_turn", "max_tokens", "refusal"],
        "gemini": ["STOP", "MAX_TOKENS", "STOP"],
    }
    assert [ending(reason) for reason in ("stop", "length", "refusal")] == expected[wire.name]


@each(
    ("path", "document"),
    [
        ("/responses", {"input": "x"}),
        ("/responses", {"model": "m"}),
        ("/responses", {"model": "m", "input": "x", "stream": True}),
        (":generateContent", {}),
        (":generateContent", {"contents": []}),
        (":generateContent", {"contents": [{"role": "assistant", "parts": [{"text": "x"}]}]}),
    ],
)
def test_a_request_that_is_none_is_not_read(path: str, document: dict[str, Any]) -> None:
    """The newer wires insist on their fields as the older ones do."""
    with pytest.raises(ValidationError):
        read(WIRE_FORMATS[path], document)

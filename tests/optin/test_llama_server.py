"""Both wire formats against a real llama.cpp server. Shapes, never verdicts: the model judges at chance."""

import asyncio
import json
from typing import Any

import pytest
from tests.optin.conftest import ModelServer
from tests.unit.protocols.nonces import NONCES

from mixseek.domain.judgments import InvalidJudgment, ValidJudgment
from mixseek.domain.ports import Answer, Call, LiveJudge, Message
from mixseek.domain.samples import Sample
from mixseek.errors import PermanentJudgeError
from mixseek.judges.specs import make_live_judge
from mixseek.protocols.registry import load_protocol
from mixseek.settings.models import JudgeSettings

WIRES = ("openai", "anthropic")
SCHEMA = {
    "type": "object",
    "properties": {"is_correct": {"type": "boolean"}, "comment": {"type": "string", "maxLength": 40}},
    "required": ["is_correct", "comment"],
    "additionalProperties": False,
}
SHORT = (Message("system", "Reply with one JSON object."), Message("user", "Is 2 + 2 = 4?"))
BAD_KEY = "sk-canary-0123456789"


def judge_at(server: ModelServer, wire: str, key: str | None = None, **settings: Any) -> LiveJudge:
    base_url = f"{server.address}/v1" if wire == "openai" else server.address
    configured = {"local": JudgeSettings(model="smollm2", provider=wire, base_url=base_url, **settings)}
    return make_live_judge("local", configured, {f"{wire.upper()}_API_KEY": key or server.key})


def ask(judge: LiveJudge, call: Call) -> Answer:
    async def once() -> Answer:
        try:
            return await judge.call(call)
        finally:
            await judge.close()

    return asyncio.run(once())


@pytest.mark.parametrize("wire", WIRES)
def test_a_reply_comes_with_its_usage(model_server: ModelServer, wire: str) -> None:
    answer = ask(judge_at(model_server, wire, max_tokens=60, temperature=0.0), Call("k", SHORT, {}))

    assert answer.reply.text
    assert answer.finish_reason in ("stop", "length")
    assert answer.usage.output_tokens is not None
    assert 0 < answer.usage.output_tokens <= 60
    assert answer.usage.input_tokens is not None
    assert answer.request_id
    assert (answer.latency_seconds or 0.0) > 0
    assert model_server.key not in str(answer)


def test_a_spec_with_an_address_reaches_the_server(model_server: ModelServer) -> None:
    spec = f"openai:smollm2@{model_server.address}/v1"
    judge = make_live_judge(spec, {}, {"OPENAI_API_KEY": model_server.key})

    answer = ask(judge, Call("k", SHORT, SCHEMA))

    assert answer.reply.judge == spec
    assert set(json.loads(answer.reply.text)) == {"is_correct", "comment"}


def test_the_schema_constrains_the_reply(model_server: ModelServer) -> None:
    answer = ask(judge_at(model_server, "openai", max_tokens=200, temperature=1.0), Call("k", SHORT, SCHEMA))

    assert answer.reply.details["schema"] == "json_schema"
    assert isinstance(json.loads(answer.reply.text)["is_correct"], bool)


@pytest.mark.parametrize("wire", WIRES)
def test_max_tokens_cuts_the_reply_and_says_so(model_server: ModelServer, wire: str) -> None:
    story = (Message("user", "Tell me a long story about a river."),)

    answer = ask(judge_at(model_server, wire, max_tokens=5), Call("k", story, {}))

    assert answer.finish_reason == "length"
    assert answer.usage.output_tokens == 5


@pytest.mark.parametrize("wire", WIRES)
def test_a_prompt_beyond_the_context_loses_its_sample_only(model_server: ModelServer, wire: str) -> None:
    long = (Message("user", "word " * 4000),)

    with pytest.raises(PermanentJudgeError, match="context") as caught:
        ask(judge_at(model_server, wire, max_tokens=5), Call("k", long, SCHEMA))

    assert caught.value.concerns_everything is False


@pytest.mark.parametrize("wire", WIRES)
def test_a_bad_key_stops_the_run_and_is_not_shown(model_server: ModelServer, wire: str) -> None:
    with pytest.raises(PermanentJudgeError, match="401") as caught:
        ask(judge_at(model_server, wire, key=BAD_KEY), Call("k", SHORT, {}))

    assert caught.value.concerns_everything is True
    assert BAD_KEY not in str(caught.value)


def test_a_whole_prompt_of_the_protocol_is_answered_and_parsed(model_server: ModelServer) -> None:
    protocol = load_protocol("semantic")
    sample = Sample(id="1", question="What is 2 + 2?", response="So it is 4.", ground_truth="4")
    call = Call(sample.key(), protocol.messages(sample, NONCES), protocol.reply_schema)

    answer = ask(judge_at(model_server, "openai", max_tokens=200, temperature=0.0), call)

    assert isinstance(protocol.parse(answer.reply, sample), ValidJudgment | InvalidJudgment)

"""Judges through pydantic-ai; what needs it is skipped without the extra and runs in `make test-all`."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from mixseek.domain.ports import Call, LiveJudge, Message, Usage
from mixseek.errors import ConfigurationError, JudgeCallError, PermanentJudgeError, TransientJudgeError
from mixseek.judges.keys.redaction import Redaction
from mixseek.judges.keys.secret import Secret
from mixseek.judges.providers import ProviderJudge, make_provider_judge
from mixseek.settings.models import JudgeSettings

CALL = Call("key", (Message("system", "Judge."), Message("user", "4?")), {"type": "object", "properties": {}})
KEY = "sk-canary-0123456789"
SCHEMA_REFUSED = "response_format: this schema is not supported"


@pytest.fixture
def ai() -> Any:
    return pytest.importorskip("pydantic_ai")


def judge_with(function: Callable[..., Any], settings: JudgeSettings | None = None, **options: Any) -> ProviderJudge:
    models = pytest.importorskip("pydantic_ai.models.function")
    model = models.FunctionModel(function, model_name="m-1", **options)
    return ProviderJudge("pydantic-ai:x:m-1", model, settings or JudgeSettings(), Redaction([Secret(KEY)]))


def failing(error: Exception) -> Callable[..., Any]:
    async def function(messages: Any, info: Any) -> Any:
        raise error

    return function


def answering(ai: Any, seen: list[Any] | None = None, **given: Any) -> Callable[..., Any]:
    async def function(messages: Any, info: Any) -> Any:
        if seen is not None:
            seen.append((messages, info))
        return ai.ModelResponse(**{"parts": [ai.ThinkingPart("hm"), ai.TextPart('{"a"'), ai.TextPart(": 1}")], **given})

    return function


def test_a_missing_extra_is_one_line_with_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)

    with pytest.raises(ConfigurationError) as caught:
        make_provider_judge("pydantic-ai:bedrock:m", {})

    assert str(caught.value) == (
        "judge 'pydantic-ai:bedrock:m': pydantic-ai is not installed; pip install 'mixseek[providers]'"
    )


@pytest.mark.parametrize("spec", ["pydantic-ai:", "pydantic-ai:bedrock", "pydantic-ai:bedrock:"])
def test_a_spec_names_provider_and_model(spec: str) -> None:
    with pytest.raises(ConfigurationError, match="write pydantic-ai:PROVIDER:MODEL"):
        make_provider_judge(spec, {})


@pytest.mark.parametrize(
    "settings",
    [JudgeSettings(base_url="http://x"), JudgeSettings(api_key_env="X"), JudgeSettings(headers={"a": "b"})],
    ids=["base_url", "api_key_env", "headers"],
)
def test_settings_that_would_be_ignored_are_refused(settings: JudgeSettings) -> None:
    with pytest.raises(ConfigurationError, match="cannot be set for pydantic-ai providers"):
        make_provider_judge("pydantic-ai:bedrock:m", {}, settings)


@pytest.mark.parametrize(("spec", "words"), [("nonsense:m", "Unknown model: nonsense:m"), ("groq:m", "groq")])
def test_an_unknown_provider_or_a_missing_sdk_is_one_line(ai: Any, spec: str, words: str) -> None:
    with pytest.raises(ConfigurationError, match=r"^[^\n]*$") as caught:
        make_provider_judge(f"pydantic-ai:{spec}", {})

    assert words in str(caught.value)


def test_a_reply_comes_with_what_the_provider_said_about_it(ai: Any) -> None:
    seen: list[Any] = []
    usage = ai.RequestUsage(input_tokens=40, output_tokens=3, cache_read_tokens=30)
    function = answering(ai, seen, usage=usage, finish_reason="length", provider_response_id="r-1")
    judge: LiveJudge = judge_with(function, JudgeSettings(temperature=0.5, seed=4, max_tokens=9, body={"x": 1}))

    answer = asyncio.run(judge.call(Call("k", CALL.messages, CALL.reply_schema, take=2)))

    assert answer.reply.text == '{"a": 1}'
    assert answer.usage == Usage(40, 3, 30)
    assert (answer.finish_reason, answer.request_id, answer.model) == ("length", "r-1", "m-1")
    assert answer.reply.details["reasoning"] == "hm"
    assert answer.reply.details["schema"] == "json_schema"
    [(messages, info)] = seen
    assert [part.part_kind for message in messages for part in message.parts] == ["system-prompt", "user-prompt"]
    assert info.model_request_parameters.output_object.json_schema == CALL.reply_schema
    sent = info.model_settings
    assert (sent["temperature"], sent["seed"], sent["max_tokens"], sent["extra_body"]) == (0.5, 5, 9, {"x": 1})
    assert sent["max_retries"] == 0
    assert sent["request_timeout"] == 120.0


def test_a_model_without_structured_output_is_asked_without_it(ai: Any) -> None:
    seen: list[Any] = []
    judge = judge_with(answering(ai, seen), profile={"supports_json_schema_output": False})

    answer = asyncio.run(judge.call(CALL))

    assert answer.reply.details["schema"] == "none"
    assert seen[0][1].model_request_parameters.output_object is None


def test_a_reask_keeps_the_turns_apart(ai: Any) -> None:
    seen: list[Any] = []
    turns = (*CALL.messages, Message("assistant", "no"), Message("user", "again"))

    asyncio.run(judge_with(answering(ai, seen)).call(Call("k", turns, {}, ask=2)))

    assert [message.kind for message in seen[0][0]] == ["request", "response", "request"]


def test_a_reply_of_tool_calls_only_is_an_empty_text(ai: Any) -> None:
    function = answering(ai, parts=[ai.ToolCallPart("f", {})], finish_reason="tool_call")

    answer = asyncio.run(judge_with(function).call(CALL))

    assert answer.reply.text == ""
    assert answer.finish_reason == "tool_call"


def errors_by_kind(errors: Any) -> list[tuple[Exception, type[JudgeCallError], dict[str, Any]]]:
    everything, sample = {"concerns_everything": True}, {"concerns_everything": False}
    http = errors.ModelHTTPError
    return [
        (errors.ModelAuthenticationError("m", "bad key"), PermanentJudgeError, everything),
        (errors.ModelNotFoundError("m", "no model"), PermanentJudgeError, everything),
        (errors.ModelQuotaExceededError("m", "no credit"), PermanentJudgeError, everything),
        (errors.UserError("wrong set-up"), PermanentJudgeError, everything),
        (ImportError("no sdk"), PermanentJudgeError, everything),
        (errors.ModelContextWindowExceededError("m", "too long"), PermanentJudgeError, sample),
        (errors.ModelRequestRejectedError("m", "bad"), PermanentJudgeError, sample),
        (http(418, "m"), PermanentJudgeError, sample),
        (ValueError("odd"), PermanentJudgeError, sample),
        (
            errors.ModelRateLimitError("m", "slow down", retry_after=7.0),
            TransientJudgeError,
            {"retry_after_seconds": 7.0, "is_overload": True},
        ),
        (errors.ModelOverloadedError("m", "busy"), TransientJudgeError, {"is_overload": True}),
        (errors.ModelUnavailableError("m", "down"), TransientJudgeError, {"is_overload": True}),
        (errors.ModelServerError("m", "oops"), TransientJudgeError, {"is_overload": False}),
        (errors.ModelConnectionError("m", "reset"), TransientJudgeError, {}),
        (errors.ModelTimeoutError("m", "slow"), TransientJudgeError, {}),
        (errors.ModelRequestTimeout("m", 1.0), TransientJudgeError, {}),
        (errors.UnexpectedModelBehavior("garbled"), TransientJudgeError, {}),
        (http(502, "m"), TransientJudgeError, {}),
        (http(408, "m"), TransientJudgeError, {}),
        (
            http.for_category(errors.ModelRateLimitError, status_code=429, model_name="m"),
            TransientJudgeError,
            {"is_overload": True},
        ),
        (
            http.for_category(errors.ModelAuthenticationError, status_code=401, model_name="m"),
            PermanentJudgeError,
            everything,
        ),
        (
            http.for_category(errors.ModelServerError, status_code=500, model_name="m"),
            TransientJudgeError,
            {"is_overload": False},
        ),
        (ConnectionResetError("reset"), TransientJudgeError, {}),
    ]


def test_every_foreign_error_becomes_one_of_ours(ai: Any) -> None:
    """Worth another try or not, for one sample or for all, and never with a key in it."""
    for error, kind, expected in errors_by_kind(ai.exceptions):
        error.args = (f"{error.args[0]} {KEY}", *error.args[1:])
        with pytest.raises(JudgeCallError) as caught:
            asyncio.run(judge_with(failing(error)).call(CALL))

        assert type(caught.value) is kind, error
        assert {name: getattr(caught.value, name) for name in expected} == expected, error
        assert KEY not in str(caught.value)


def test_every_model_error_of_the_library_is_in_the_list_above(ai: Any) -> None:
    """A new category in a new version fails here, not in a run."""
    errors = ai.exceptions
    known = {type(error) for error, _, _ in errors_by_kind(errors)} | {errors.ModelAPIError}
    found = {
        thing
        for name, thing in vars(errors).items()
        if isinstance(thing, type) and issubclass(thing, errors.ModelAPIError) and not name.startswith("_")
    }

    assert found <= known


def test_a_refused_schema_is_worth_another_try_without_it(ai: Any) -> None:
    errors = ai.exceptions
    seen: list[bool] = []

    async def function(messages: Any, info: Any) -> Any:
        seen.append(info.model_request_parameters.output_object is not None)
        if seen[-1]:
            raise errors.ModelRequestRejectedError("m", SCHEMA_REFUSED)
        return ai.ModelResponse(parts=[ai.TextPart("{}")])

    judge = judge_with(function)

    async def twice() -> str:
        with pytest.raises(TransientJudgeError, match="schema is not sent any more"):
            await judge.call(CALL)
        text = (await judge.call(CALL)).reply.text
        await judge.close()
        return text

    assert asyncio.run(twice()) == "{}"
    assert seen == [True, False]


def test_identity_follows_the_model_and_decoding_and_shows_no_credential(ai: Any) -> None:
    judge = judge_with(answering(ai), JudgeSettings(body={"api_key": KEY, "x": 1}))
    other = judge_with(answering(ai), JudgeSettings(temperature=1.0, body={"x": 1}))

    assert judge.fingerprint != other.fingerprint
    assert judge.description["model"] == "m-1"
    assert judge.description["body"] == {"x": 1}
    assert judge.endpoint == "pydantic-ai:function"
    assert KEY not in str(judge.description)


def test_a_spec_reaches_the_model_it_names(ai: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    models = pytest.importorskip("pydantic_ai.models")
    test_model = pytest.importorskip("pydantic_ai.models.test").TestModel
    asked: list[str] = []

    def infer(model: Any) -> Any:
        if not isinstance(model, str):
            return model
        asked.append(model)
        return test_model(custom_output_text="{}")

    monkeypatch.setattr(models, "infer_model", infer)
    judge = make_provider_judge("pydantic-ai:bedrock:a:b", {"SOME_API_KEY": KEY}, name="hosted")

    answer = asyncio.run(judge.call(CALL))

    assert asked == ["bedrock:a:b"]
    assert (judge.name, answer.reply.text) == ("hosted", "{}")

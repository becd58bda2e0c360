"""From a spec or a table to one target: address, model and key."""

from typing import Any

import pytest
from tests.cases import each

from mixseek.errors import ConfigurationError
from mixseek.judges.endpoint.address import PROVIDERS, Target, is_loopback, resolve_target, split_spec
from mixseek.settings.models import JudgeSettings, WireFormat

KEY = "sk-canary-000"


def target_of(spec: str, settings: JudgeSettings | None = None, **environment: str) -> Target:
    return resolve_target(spec, {} if settings is None else {spec: settings}, environment)


@pytest.mark.parametrize(
    ("spec", "parts"),
    [
        ("openai:gpt-x", ("openai", "gpt-x", None)),
        ("ollama:qwen3:4b", ("ollama", "qwen3:4b", None)),
        ("openrouter:a/b:free", ("openrouter", "a/b:free", None)),
        ("openai:m@http://h:1/v1", ("openai", "m", "http://h:1/v1")),
        ("openai:m@x@https://h/v1", ("openai", "m@x", "https://h/v1")),
        ("openai:", ("openai", "", None)),
    ],
)
def test_a_spec_is_split_even_where_a_model_holds_colons_and_at_signs(
    spec: str, parts: tuple[str, str, str | None]
) -> None:
    assert split_spec(spec) == parts


def test_hosted_providers_are_reached_by_https_and_local_ones_on_loopback() -> None:
    for provider in PROVIDERS.values():
        if provider.base_url is not None:
            assert provider.base_url.startswith("https://") is provider.key_required
            assert is_loopback(provider.base_url) is not provider.key_required


def test_a_spec_takes_address_wire_and_key_from_the_table() -> None:
    openai = target_of("openai:m", OPENAI_API_KEY=f" {KEY}\n")
    anthropic = target_of("anthropic:m", ANTHROPIC_API_KEY=KEY)

    assert (openai.base_url, openai.wire, openai.key_header) == (
        "https://api.openai.com/v1",
        WireFormat.OPENAI,
        "Authorization",
    )
    assert openai.key is not None
    assert openai.key.reveal() == KEY
    assert openai.limit_parameter == "max_completion_tokens"
    assert (anthropic.endpoint, anthropic.wire, anthropic.key_header) == (
        "https://api.anthropic.com",
        WireFormat.ANTHROPIC,
        "x-api-key",
    )


def test_azure_takes_its_address_from_the_environment() -> None:
    target = target_of("azure:m", AZURE_OPENAI_ENDPOINT="https://x.openai.azure.com/", AZURE_OPENAI_API_KEY=KEY)

    assert target.url("/chat/completions") == "https://x.openai.azure.com/openai/v1/chat/completions"


@pytest.mark.parametrize(
    ("base_url", "is_sent"),
    [
        ("https://gateway.example/v1", True),
        ("http://127.0.0.1:8000/v1", True),
        ("http://localhost:8000/v1", True),
        ("http://[::1]:8000/v1", True),
        ("http://gpu-box:8000/v1", False),
        ("http://10.0.0.7:8000/v1", False),
    ],
)
def test_a_usual_key_is_not_sent_in_clear_text_over_a_network(base_url: str, is_sent: bool) -> None:
    target = target_of(f"openai:m@{base_url}", OPENAI_API_KEY=KEY)
    named = target_of(
        "j", JudgeSettings(model="m", base_url=base_url, api_key_env="OPENAI_API_KEY"), OPENAI_API_KEY=KEY
    )

    assert (target.key is not None) is is_sent
    assert named.key is not None
    assert is_sent or "is not sent over plain http" in target.key_hint


def test_a_table_is_named_after_its_provider_or_names_it_or_gives_an_address() -> None:
    by_name = target_of("vllm", JudgeSettings(model="m"))
    by_provider = target_of("mine", JudgeSettings(model="m", provider="ollama"))
    by_address = target_of("mine", JudgeSettings(model="m", base_url="https://h/v1", wire=WireFormat.ANTHROPIC))

    assert (by_name.provider, by_name.base_url) == ("vllm", "http://localhost:8000/v1")
    assert (by_provider.provider, by_provider.endpoint) == ("ollama", "http://localhost:11434")
    assert (by_address.wire, by_address.base_url, by_address.key) == (WireFormat.ANTHROPIC, "https://h", None)


@each(
    ("spec", "settings", "words"),
    [
        ("openai:m", None, "judge 'openai:m': no API key; set the environment variable OPENAI_API_KEY"),
        ("gemini:m", None, "set the environment variable GEMINI_API_KEY or GOOGLE_API_KEY"),
        ("openai:", None, "no model; write openai:MODEL or openai:MODEL@BASE_URL"),
        ("azure:m", None, "no base_url; add one or set AZURE_OPENAI_ENDPOINT"),
        ("openai:m@http://", None, "the base URL is not http(s)://host[:port]/path"),
        ("openai:m@http://h:99999", None, "the base URL is not http(s)://host[:port]/path"),
        ("j", JudgeSettings(base_url="https://h"), "[judges.j]: no model"),
        ("j", JudgeSettings(model="m"), "judge 'j': no base_url"),
        ("j", JudgeSettings(model="m", provider="opnai"), "provider 'opnai' is not known; did you mean 'openai'?"),
        ("j", JudgeSettings(model="m", provider="zzz"), "provider 'zzz' is not known; one of openai, anthropic"),
        ("j", JudgeSettings(model="m", base_url="https://h", body={"stream": True}), "body cannot hold 'stream'"),
        ("j", JudgeSettings(model="m", base_url="ftp://h"), "the base URL is not http(s)"),
        ("j", JudgeSettings(model="m", base_url="https://h", api_key_env="MINE"), "set the environment variable MINE"),
    ],
)
def test_what_is_missing_is_one_line_that_says_what_to_add(
    spec: str, settings: JudgeSettings | None, words: str
) -> None:
    with pytest.raises(ConfigurationError) as caught:
        target_of(spec, settings)

    assert words in str(caught.value)


@pytest.mark.parametrize(
    "base_url",
    [
        "https://u:canary-pw@h/v1",
        "https://h/v1?api_key=canary-pw",
        "https://h?sig=canary-pw",
        "https://h/api?code=canary-pw",
        "https://h/sk-canary-0123456789/v1",
        f"https://h/{KEY}/v1",
    ],
)
def test_a_credential_in_an_address_is_refused_and_not_repeated(base_url: str) -> None:
    """The address stands in manifests; the spec is the judge's name everywhere."""
    for spec, settings in [(f"openai:m@{base_url}", None), ("j", JudgeSettings(model="m", base_url=base_url))]:
        with pytest.raises(ConfigurationError) as caught:
            target_of(spec, settings, OPENAI_API_KEY=KEY)

        assert "holds a credential" in str(caught.value)
        assert "canary" not in str(caught.value)


@each(
    ("table", "place"),
    [
        ({"api_key_env": "sk-canary-0123456789"}, "api_key_env"),
        ({"api_key_env": "AIzaSyCanary0123456789abcd"}, "api_key_env"),
        ({"api_key_env": "canary0123456789canary0123456789"}, "api_key_env"),
        ({"api_key_env": "Bearer canary"}, "api_key_env"),
        ({"headers": {"Authorization": "Bearer canary-1"}}, "the header Authorization"),
        ({"headers": {"Authorization": "Bearer $CANARY"}}, "the header Authorization"),
        ({"headers": {"x-api-key": "canary"}}, "the header x-api-key"),
        ({"headers": {"X-Own": "sk-canary-0123456789"}}, "the header X-Own"),
        ({"headers": {"X-Own": f"id {KEY}"}}, "the header X-Own"),
        ({"body": {"user": "sk-canary-0123456789"}}, "body.user"),
        ({"body": {"user": KEY}}, "body.user"),
        ({"body": {"extra": {"list": ["a", "sk-canary-0123456789"]}}}, "body.extra.list"),
        ({"body": {"api_key": "canary"}}, "body.api_key"),
    ],
)
def test_a_key_in_a_table_is_refused_and_not_repeated(table: dict[str, Any], place: str) -> None:
    """A table is copied into every manifest; and what is no variable's name would be named as one that is not set."""
    settings = JudgeSettings(model="m", base_url="https://h", **table)
    with pytest.raises(ConfigurationError) as caught:
        target_of("j", settings, OPENAI_API_KEY=KEY)

    assert f"[judges.j]: {place} " in str(caught.value)
    assert "canary" not in str(caught.value).lower()
    assert KEY not in str(caught.value)


@each(
    "table",
    [
        {"api_key_env": "MINE"},
        {"api_key_env": "my_team_key_for_the_gateway"},
        {"headers": {"Authorization": "$MINE", "X-Team": "search", "anthropic-beta": "prompt-caching-2024-07-31"}},
        {"body": {"user": "0123456789abcdef0123456789abcdef", "chat_template_kwargs": {"enable_thinking": False}}},
        {"body": {"reasoning_effort": "low", "stop_token_ids": [1, 2], "token": "</s>"}},
    ],
)
def test_what_is_no_key_may_stand_in_a_table(table: dict[str, Any]) -> None:
    environment = {"MINE": "mine-0123456789", "my_team_key_for_the_gateway": "other-0123456789"}
    settings = JudgeSettings(model="m", base_url="https://h", **table)

    assert target_of("j", settings, **environment).settings is settings


@pytest.mark.parametrize("value", ["sk-canary\n000", "sk-canary 000", "sk-canary-é"])
def test_a_key_that_no_header_can_carry_is_refused_and_not_shown(value: str) -> None:
    with pytest.raises(ConfigurationError, match="OPENAI_API_KEY") as caught:
        target_of("openai:m", OPENAI_API_KEY=value)

    assert "canary" not in str(caught.value)


@each(
    ("base_url", "advice"),
    [
        (
            "http://localhost:8000/v1/chat/completions",
            "ends in /chat/completions, which is added to it; write http://localhost:8000/v1",
        ),
        ("https://h/v1/chat/completions/", "write https://h/v1"),
        ("https://h/v1/messages", "ends in /messages, which is added to it; write https://h/v1"),
        ("https://h/v1/completions?api-version=1", "write https://h/v1?api-version=1"),
    ],
)
def test_an_address_that_was_pasted_whole_is_named(base_url: str, advice: str) -> None:
    """It would be asked for …/chat/completions/chat/completions, and answer 404."""
    for spec, settings in [(f"openai:m@{base_url}", None), ("j", JudgeSettings(model="m", base_url=base_url))]:
        with pytest.raises(ConfigurationError) as caught:
            target_of(spec, settings, OPENAI_API_KEY=KEY)

        assert advice in str(caught.value)
        assert base_url in str(caught.value) or spec == "j"


def test_the_scheme_may_be_written_in_any_case() -> None:
    target = target_of("openai:m@HTTP://LocalHost:8000/v1", OPENAI_API_KEY=KEY)

    assert (target.model, target.base_url) == ("m", "http://localhost:8000/v1")


@each(
    ("base_url", "words"),
    [
        ("localhost:8000/v1", "the base URL is not http(s)://host[:port]/path; correct it, for instance to http://loc"),
        ("gpu-box/v1", "correct it, for instance to https://gpu-box/v1"),
        ("", "the base URL is not http(s)"),
        ("  ", "the base URL is not http(s)"),
        ("htp://localhost", "the base URL is not http(s)"),
        ("http://local host/v1", "the base URL is not http(s)"),
        ("http://local\nhost/v1", "the base URL is not http(s)"),
        ("http://other.example\\.localhost/v1", "the base URL is not http(s)"),
    ],
)
def test_an_address_of_a_table_that_is_none_never_falls_back_to_the_public_host(base_url: str, words: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        target_of("j", JudgeSettings(model="m", provider="openai", base_url=base_url), OPENAI_API_KEY=KEY)

    assert words in str(caught.value)


def test_an_address_in_the_environment_is_where_a_provider_is() -> None:
    """Whoever set it does not expect data and key to go to the public host."""
    local = "http://localhost:8000"
    openai = target_of("openai:m", OPENAI_API_KEY=KEY, OPENAI_BASE_URL=f"{local}/v1")
    anthropic = target_of("anthropic:m", ANTHROPIC_API_KEY=KEY, ANTHROPIC_BASE_URL=local)
    named = target_of("openai:m@http://localhost:9000/v1", OPENAI_API_KEY=KEY, OPENAI_BASE_URL=f"{local}/v1")

    assert (openai.base_url, anthropic.base_url) == (f"{local}/v1", local)
    assert named.base_url == "http://localhost:9000/v1"
    for variable, spec in [("OPENAI_BASE_URL", "openai:m"), ("AZURE_OPENAI_ENDPOINT", "azure:m")]:
        with pytest.raises(ConfigurationError, match=f"the environment variable {variable} is not http"):
            resolve_target(spec, {}, {"OPENAI_API_KEY": KEY, "AZURE_OPENAI_API_KEY": KEY, variable: "localhost:8000"})

"""What a user may write after --judge."""

import subprocess
import sys
from pathlib import Path

import pytest
from tests.cases import each

from mixseek.errors import ConfigurationError
from mixseek.judges.endpoint.address import PROVIDERS
from mixseek.judges.replay import DatasetReplayJudge, FileReplayJudge
from mixseek.judges.specs import RulesJudge, is_live, make_judge, make_live_judge
from mixseek.settings.models import JudgeSettings


def test_each_form_makes_its_judge_and_is_its_name(tmp_path: Path) -> None:
    replies = tmp_path / "a:b.jsonl"
    replies.write_text('{"id": 1, "reply": "x"}\n')
    specs = {"rules": RulesJudge, "replay": DatasetReplayJudge, f"replay:{replies}": FileReplayJudge}

    for spec, kind in specs.items():
        judge = make_judge(spec)
        assert isinstance(judge, kind)
        assert judge.name == spec


FORMS = (
    "available: rules, checks, replay, replay:FILE, log:SCORER, PROVIDER:MODEL, PROVIDER:MODEL@BASE_URL, "
    "decisions:PROVIDER:MODEL, decisions:NAME, gguf:PATH, pydantic-ai:PROVIDER:MODEL, NAME"
)


@each(
    ("spec", "words"),
    [
        ("rule", f"unknown judge 'rule'; did you mean 'rules'? {FORMS}"),
        ("", f"unknown judge ''; {FORMS}"),
        ("some-x", f"unknown judge 'some-x'; {FORMS}"),
        ("opnai:gpt-x", "unknown judge 'opnai:gpt-x'; did you mean 'openai:gpt-x'?"),
        ("wherever:x", "unknown judge 'wherever:x'; providers: openai, anthropic, "),
        ("ollama", "unknown judge 'ollama'; write ollama:MODEL, or add [judges.ollama] to mixseek.toml"),
        ("rules:x", "unknown judge 'rules:x'; 'rules' takes nothing after the colon"),
        ("decisions:", "unknown judge 'decisions:'; write decisions:PROVIDER:MODEL, or decisions:NAME for a"),
        ("decisions:opnai:x", "unknown judge 'decisions:opnai:x'; write decisions:PROVIDER:MODEL, or decisions:NAME"),
        ("replay:", "unknown judge 'replay:'; give the file of replies after the colon"),
    ],
)
def test_an_unknown_judge_is_one_line_with_what_there_is(spec: str, words: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        make_judge(spec)

    assert words in str(caught.value)


def test_a_replay_file_that_is_not_there_fails_before_the_run(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="recorded replies cannot be read"):
        make_judge(f"replay:{tmp_path / 'absent.jsonl'}")


def test_only_judges_that_have_to_be_waited_for_are_live() -> None:
    configured = {"mine": JudgeSettings(model="m"), "rules": JudgeSettings(model="m")}
    live = [*(f"{provider}:m" for provider in PROVIDERS), "mine", "openai:", "gguf:x.gguf", "pydantic-ai:bedrock:m"]
    others = ["rules", "replay", "replay:x", "unknown", "unknown:m", "", "openai"]

    assert [spec for spec in live if not is_live(spec, configured)] == []
    assert [spec for spec in others if is_live(spec, configured)] == []


@each("provider", PROVIDERS)
def test_every_provider_makes_a_judge_named_by_its_spec(provider: str) -> None:
    environment = dict.fromkeys(PROVIDERS[provider].key_variables, "sk-canary-000")
    environment["AZURE_OPENAI_ENDPOINT"] = "https://x.openai.azure.com/"
    judge = make_live_judge(f"{provider}:some/model:free", {}, environment)

    assert judge.name == f"{provider}:some/model:free"
    assert judge.description["model"] == "some/model:free"
    assert judge.endpoint.partition("://")[0] in ("http", "https")
    assert "canary" not in repr(judge) + repr(judge.description)


def test_an_unknown_live_judge_is_one_line_with_the_nearest_name() -> None:
    with pytest.raises(ConfigurationError, match="did you mean 'vllm-box'"):
        make_live_judge("vlm-box", {"vllm-box": JudgeSettings(model="m")}, {})


def test_models_in_this_process_and_other_providers_are_reached_by_spec_and_by_table() -> None:
    tables = {"small": JudgeSettings(provider="gguf"), "far": JudgeSettings(provider="pydantic-ai")}

    for spec, words in {
        "gguf:": "gguf:PATH",
        "small": "gguf:PATH",
        "pydantic-ai:": "pydantic-ai:PROVIDER:MODEL",
        "far": "pydantic-ai:PROVIDER:MODEL",
    }.items():
        with pytest.raises(ConfigurationError, match=words):
            make_live_judge(spec, tables, {})


def test_asking_for_rules_loads_no_http_client() -> None:
    """Rules-only runs and --help stay as light as they were."""
    code = (
        "import sys; from mixseek.judges.specs import is_live, make_judge; make_judge('rules');"
        "is_live('openai:m', {}); print('aiohttp' in sys.modules)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert ran.stdout.strip() == "False"


@each(
    ("spec", "offer"),
    [
        ("openai:m@localhost:8000/v1", "write openai:m@http://localhost:8000/v1"),
        ("openai:m@127.0.0.1:8000", "write openai:m@http://127.0.0.1:8000"),
        ("openai:m@htp://localhost:8000/v1", "write openai:m@http://localhost:8000/v1"),
        ("openai:m@ftp://gpu-box/v1", "write openai:m@https://gpu-box/v1"),
        ("openai:m@//localhost:8000/v1", "write openai:m@http://localhost:8000/v1"),
        ("openai:m@http:/localhost:8000/v1", "write openai:m@http"),
        ("openai:m@ http://localhost:8000/v1", "write openai:m@http://localhost:8000/v1"),
        ("openai:m@", "write openai:m@http://HOST:PORT/v1"),
        ("gemini:claude@20240620", 'a [judges.NAME] table with model = "…"'),
        ("anthropic:m@gpu-box", "write anthropic:m@https://gpu-box"),
        ("pydantic-ai:openai:m@localhost:8000/v1", "write openai:m@http://localhost:8000/v1"),
        ("pydantic-ai:google-vertex:claude@20240620", 'provider = "pydantic-ai" and model = "…"'),
    ],
)
def test_an_address_without_http_is_refused_instead_of_reaching_the_public_host(spec: str, offer: str) -> None:
    """Data and key would go to whoever runs the provider's own address."""
    with pytest.raises(ConfigurationError) as caught:
        make_live_judge(spec, {}, {"OPENAI_API_KEY": "sk-canary-000", "ANTHROPIC_API_KEY": "sk-canary-000"})

    assert offer in str(caught.value)
    assert "API key" not in str(caught.value)


MISSPELT = """
m@http//localhost:8000 m@http:localhost:8000 m@https:\\\\localhost m＠http://localhost:8000 m﹫localhost:8000
m@ｈttp://localhost:8000 m@http：//localhost:8000 m@[::1]:8000 m@[::1 http://localhost:8000/v1
mhttp://localhost:8000 m:http://localhost:8000 m%40http://localhost:8000 m#http://localhost:8000
m,http://localhost:8000 m=http://localhost:8000 m;base_url=localhost:8000 m|http://localhost:8000
m/http://localhost:8000 m→http://localhost:8000 m＠gpu-box:8000/v1 m@ws://localhost:8000 m@unix:///tmp/socket
m@file:///etc/hosts localhost:8000/v1 m:127.0.0.1:8000 m@http:// m@https://:8000 m@http://localhost:99999
m@http://localhost:port m@http://localhost\\@a.b
"""


@each("rest", [*MISSPELT.split(), "m at http://localhost:8000", "m localhost:8000", "m@h\tttp://h/v1"])
def test_however_an_address_is_misspelt_it_is_no_part_of_a_models_name(rest: str) -> None:
    """One line that says what to write, or what is wrong with it; with full-width characters as well."""
    with pytest.raises(ConfigurationError, match=r"write '?openai:|correct it|credential") as caught:
        make_live_judge(f"openai:{rest}", {}, {"OPENAI_API_KEY": "sk-canary-000"})

    assert "canary" not in str(caught.value)
    assert "api.openai.com" not in str(caught.value)


@pytest.mark.parametrize(
    "model", ["mistral:7b", "gpt-4o-2024-08-06", "a/b-c_d.e:free", "ft:gpt-4o:org::id", "local-host-7b"]
)
def test_names_of_models_are_not_taken_for_addresses(model: str) -> None:
    judge = make_live_judge(f"openai:{model}", {}, {"OPENAI_API_KEY": "sk-canary-000"})

    assert (judge.endpoint, judge.description["model"]) == ("https://api.openai.com", model)


@pytest.mark.parametrize("spec", ["openai:m@user:canary-pw@localhost/v1", "pydantic-ai:x:m@user:canary-pw@localhost"])
def test_a_password_in_a_mistyped_address_is_not_repeated(spec: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        make_live_judge(spec, {}, {"OPENAI_API_KEY": "sk-canary-000"})

    assert "canary" not in str(caught.value)


def test_a_model_whose_name_holds_an_at_sign_has_a_table() -> None:
    table = JudgeSettings(model="claude@20240620", base_url="http://localhost:8000/v1")
    judge = make_live_judge("vertex", {"vertex": table}, {})

    assert judge.description["model"] == "claude@20240620"
    assert judge.endpoint == "http://localhost:8000"


@pytest.mark.parametrize(
    ("spec", "offer"),
    [
        ("gpt-4o", "did you mean openai:gpt-4o?"),
        ("o3-mini", "did you mean openai:o3-mini?"),
        ("claude-sonnet-4-5", "did you mean anthropic:claude-sonnet-4-5?"),
        ("gemini-2.5-pro", "did you mean gemini:gemini-2.5-pro?"),
        ("qwen3:4b", "did you mean ollama:qwen3:4b?"),
        ("gpt-4o@http://localhost:8000/v1", "did you mean openai:gpt-4o@http://localhost:8000/v1?"),
        ("http://localhost:8000/v1", "write openai:MODEL@http://localhost:8000/v1"),
    ],
)
def test_a_model_without_its_provider_is_offered_with_it(spec: str, offer: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        make_judge(spec)

    assert offer in str(caught.value)

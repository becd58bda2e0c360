"""Which names mean one model, and which models are of one family: enumerated, because an error moves a judgment."""

import itertools
from typing import Any

import pytest
from pydantic import ValidationError
from tests.cases import each

from mixseek.domain.judgments import Method
from mixseek.judges.endpoint.address import PROVIDERS
from mixseek.protocols.identity import Families, Family, built_in_families, fold_model_name, is_same_model, relate

# One model a line, under all the names that people and hosts give it.
MODELS = {
    ("gpt", "5.2"): [
        "gpt-5.2",
        "openai:gpt-5.2",
        "GPT 5.2",
        "gpt-5.2-extended-thinking",
        "gpt-5.2-high",
        "ChatGPT 5.2",
        "GPT  5.2 -",
        "openai://gpt-5.2/",
        "GPT 5.2 [beta]",
        "GPT 5.2（拡張）",
        "GPT 5.2【拡張】",
    ],
    ("gpt", "5.2 mini"): ["gpt-5.2-mini", "openai/gpt-5.2-mini", "openrouter:openai/gpt-5.2-mini"],
    ("gpt", "4o"): ["gpt-4o", "openai:gpt-4o@https://example.test/v1", "chatgpt-4o-latest", "GPT4o", "azure:gpt-4o"],
    ("gpt", "o3"): ["o3", "openai:o3", "o3-high", "OpenAI o3"],
    ("gpt", "o3 mini"): ["o3-mini", "o3-mini-low"],
    ("gpt", "oss"): ["openai/gpt-oss-20b", "ollama:gpt-oss:20b", "hf.co/unsloth/gpt-oss-20b-GGUF:Q4_K_M"],
    ("gpt", "web"): ["chatgpt", "ChatGPT (web app, 2025)", "chatgpt web"],
    ("claude", "3.5 sonnet"): [
        "claude-3-5-sonnet",
        "anthropic:claude-3.5-sonnet",
        "Claude 3.5 Sonnet (new)",
        "anthropic/claude-3.5-sonnet",
        "claude-3-5-sonnet-latest",
        "claude-sonnet-3.5",
        "claude-3-5-sonnet-v2",
        "Sonnet 3.5",
    ],
    ("claude", "sonnet 4.5"): [
        "claude-sonnet-4-5",
        "claude-4.5-sonnet",
        "Claude Sonnet 4.5",
        "anthropic/claude-4.5-sonnet",
        "Sonnet 4.5",
        "databricks-claude-sonnet-4-5",
        "arn:aws:bedrock:us-east-1::foundation-model/anthropic.claude-sonnet-4-5-20250929-v1:0",
        "arn:aws:bedrock:eu-west-1:123456789012:inference-profile/eu.anthropic.claude-sonnet-4-5-20250929-v1:0",
        "vertex_ai/claude-sonnet-4-5@20250929",
        *(f"claude{dash}sonnet{dash}4{dash}5" for dash in "‐‑‒–—―−﹣－⁃\u00ad-"),
    ],
    ("claude", "opus 4.5"): ["claude-opus-4-5", "claude-4.5-opus"],
    ("claude", "sonnet 4"): [
        "claude-sonnet-4",
        "claude-4-sonnet",
        "openrouter:anthropic/claude-sonnet-4-thinking",
        "claude-sonnet-4-with-thinking",
        "claude-sonnet-4-no-thinking",
    ],
    ("claude", "opus 4"): ["claude-opus-4", "Anthropic Claude Opus 4"],
    ("gemini", "2.5 pro"): [
        "gemini-2.5-pro",
        "google:gemini-2.5-pro",
        "Google Gemini 2.5 Pro",
        "models/gemini-2.5-pro",
        "gemini-2.5-pro-preview",
        "projects/p/locations/l/publishers/google/models/gemini-2.5-pro",
        "Gemini Pro 2.5",
    ],
    ("gemini", "2.0 flash"): ["gemini-2.0-flash", "models/gemini-2.0-flash", "Gemini 2 Flash", "gemini-2.0-flash-exp"],
    ("gemini", "2.0 flash lite"): ["gemini-2.0-flash-lite"],
    ("gpt", "4o mini"): ["gpt-4o-mini", "gpt-4o-mini-2024-07-18", "openai/gpt-4o-mini"],
    ("gpt", "3.5 turbo"): ["gpt-3.5-turbo", "gpt-3.5-turbo-0125"],
    ("gpt", "3.5 turbo instruct"): ["gpt-3.5-turbo-instruct"],
    ("gemini", "2.5 flash"): ["gemini-2.5-flash", "google-gla:gemini-2.5-flash"],
    ("qwen", "thinking"): ["Qwen/Qwen3-235B-A22B-Thinking-2507", "qwen3-235b-a22b-thinking-2507-fp8"],
    ("qwen", "instruct"): ["Qwen/Qwen3-235B-A22B-Instruct-2507", "vllm:Qwen3-235B-A22B-Instruct-2507-AWQ"],
    ("qwen", "8b"): ["ollama:qwen3:8b", "qwen3-8b", "Qwen/Qwen3-8B"],
    ("llama", "3.1 8b"): [
        "meta-llama/Llama-3.1-8B-Instruct",
        "meta-llama/Meta-Llama-3.1-8B-Instruct",
        "llama3.1:8b",
        "ollama:llama3.1:8b-instruct-q4_K_M",
        "accounts/fireworks/models/llama-v3p1-8b-instruct",
        "@cf/meta/llama-3.1-8b-instruct",
        "us.meta.llama3-1-8b-instruct-v1:0",
        "RedHatAI/Meta-Llama-3.1-8B-Instruct-FP8-dynamic",
        "unsloth/Llama-3.1-8B-Instruct-bnb-4bit",
        "endpoint:/srv/models/Llama-3.1-8B-Instruct",
        "gguf:Llama-3.1-8B-Instruct-IQ4_XS",
        "./Llama-3.1-8B-Instruct-Q5_K_L-00001-of-00002.gguf",
    ],
    ("llama", "8b"): ["ollama:llama3:8b", "llama-3-8b", "meta/llama3-8b"],
    ("llama", "70b"): ["llama3:70b", "meta-llama/Llama-3-70B"],
    ("mistral", "large"): ["mistral-large", "mistral:mistral-large-latest", "mistralai/mistral-large"],
    ("mistral", "host and model"): ["mistral", "Mistral", "mistral:latest", "ollama/mistral"],
    ("mistral", "7b"): ["mistral:7b", "ollama:mistral:7b", "mistral-7b", "mistral:7b-instruct", "library/mistral:7b"],
    ("mistral", "7b 0.2"): ["mistralai/Mistral-7B-Instruct-v0.2", "TheBloke/Mistral-7B-Instruct-v0.2-GGUF"],
    ("mistral", "7b 0.3"): ["mistralai/Mistral-7B-Instruct-v0.3", "mistral:7b-instruct-v0.3-q4_0"],
    ("mistral", "medium"): ["mistral-medium", "mistral:mistral-medium-latest", "mistral-medium-2312"],
    ("mistral", "8x7b"): ["mixtral:8x7b", "mistralai/Mixtral-8x7B-Instruct"],
    ("qwen", "2 0.5b"): ["qwen2:0.5b", "Qwen/Qwen2-0.5B-Instruct"],
    ("qwen", "2 7b"): ["qwen2:7b", "Qwen/Qwen2-7B-Instruct", "qwen2-7b"],
    ("qwen", "2 72b"): ["qwen2:72b", "Qwen/Qwen2-72B-Instruct"],
    ("qwen", "2.5 7b"): ["qwen2.5:7b", "Qwen/Qwen2.5-7B-Instruct"],
    ("qwen", "first 7b"): ["qwen:7b"],
    ("deepseek", "v3"): ["deepseek-v3", "deepseek-ai/DeepSeek-V3", "deepseek/deepseek-v3-0324"],
    ("deepseek", "v3.1"): ["deepseek-v3.1", "deepseek-ai/DeepSeek-V3.1"],
    ("phi", "3 medium"): ["phi-3-medium", "phi3:medium"],
    ("phi", "3"): ["phi3", "phi-3"],
    ("gemma", "2 9b"): ["gemma2:9b", "google/gemma-2-9b-it"],
    ("nova", "pro"): ["nova-pro", "us.amazon.nova-pro-v1:0", "amazon.nova-pro-v1:0"],
    ("deepseek", "chat"): ["deepseek-chat", "deepseek:deepseek-chat", "openrouter:deepseek/deepseek-chat:free"],
    ("", "unknown"): ["my-own-model", "vllm:my-own-model", "My Own Model", "local:vllm/my-own-model"],
    ("", "after another"): ["my-own-gpt-5.2"],
    ("", "other"): ["their-model"],
    ("", "philosopher"): ["philosopher-7b"],
    ("", "phix"): ["phix4"],
    ("phi", "4"): ["phi-4", "phi4", "microsoft/phi-4"],
}
NAMED = [(model, name) for model, names in MODELS.items() for name in names]


@each("model", MODELS)
def test_all_names_of_a_model_are_one_and_judge_themselves(model: tuple[str, str]) -> None:
    for one, other in itertools.product(MODELS[model], repeat=2):
        assert is_same_model(one, other), (one, other)
        assert relate(one, other) == relate(other, one)
        assert relate(one, other).method is Method.SELF_JUDGE
        assert not relate(one, other).same_family


@each("model", MODELS)
def test_other_models_are_crossed_and_marked_when_of_one_family(model: tuple[str, str]) -> None:
    judge = MODELS[model][0]
    for other, name in NAMED:
        if other != model:
            relation = relate(judge, name)

            assert relation.method is Method.CROSS_JUDGE, (judge, name)
            assert relation.same_family == (bool(model[0]) and model[0] == other[0]), (judge, name)


@each(
    ("one", "other", "is_same"),
    [
        ("gpt-4o-2024-05-13", "gpt-4o-2024-05-13", True),
        ("gpt-4-0613", "gpt-4", True),
        ("gpt-4-0613", "openai:gpt-4-0314", False),
        ("gpt-4-0613", "gpt-4-2023-06-13", True),
        ("gemini-2.5-pro-preview-05-06", "gemini-2.5-pro", True),
        ("gemini-1.5-pro-001", "gemini-1.5-pro", True),
        ("gemini-1.5-pro-001", "gemini-1.5-pro-002", False),
        ("gpt-4o-2024-05-13", "gpt-4o", True),
        ("gpt-4o-2024-05-13", "gpt-4o-2024-08-06", False),
        ("claude-sonnet-4@20250514", "claude-sonnet-4-20250514", True),
        ("us.anthropic.claude-3-5-sonnet-20241022-v2:0", "claude-3-5-sonnet-20241022", True),
        ("us.anthropic.claude-3-5-sonnet-20241022-v2:0", "claude-3-5-sonnet-20240620", False),
        ("gpt-4-0613", "gpt-4-1106", False),
        ("o1", "o1-preview", False),
        ("us.anthropic.claude-3-5-sonnet-20241022-v2", "claude-3-5-sonnet-20241022", True),
        ("claude-sonnet-4@20250514", "claude-sonnet-4@20250229", False),
        ("claude-3-7-sonnet-20250219-thinking", "claude-3.7-sonnet", True),
        ("gemini-2.5-pro-preview-05-06", "gemini-2.5-pro-0506", True),
        ("gemini-2.5-pro-preview-05-06", "gemini-2.5-pro-2025-05-06", True),
        ("gpt-4-0613-2024-01-02", "gpt-4-0613-2023-06-13", False),
        ("mistral-large-2407", "mistral-large-latest", True),
        ("mistral-large-2407", "mistral-large-2411", False),
        ("mistral-large-2407", "mistral-large-2024-07-24", True),
        ("command-r-08-2024", "command-r", True),
        ("command-r-08-2024", "command-r-03-2024", False),
        ("command-r-08-2024", "command-r-2408", True),
        ("claude-4.5-sonnet-20250929", "us.anthropic.claude-sonnet-4-5-20250929-v1:0", True),
        ("claude-3-5-sonnet-v2@20241022", "claude-3-5-sonnet-20241022", True),
        ("claude-3-5-sonnet-v2@20241022", "claude-3-5-sonnet@20240620", False),
    ],
)
def test_dated_snapshots_are_told_apart_where_both_are_dated(one: str, other: str, is_same: bool) -> None:
    assert is_same_model(one, other) is is_same
    assert is_same_model(other, one) is is_same
    assert relate(one, other).same_family is not is_same


@each("name", ["", " ", "()", "@", ":", "/", "-", "high", "latest", "\ud800", "x" * 10_000, "openai:"])
def test_any_text_can_be_folded_and_nobody_is_nobody(name: str) -> None:
    folded = fold_model_name(name, built_in_families())

    assert len(folded.name) <= 300
    assert relate(name, "").method is Method.CROSS_JUDGE
    assert relate(None, name).method is Method.CROSS_JUDGE
    assert relate(name, None).method is Method.CROSS_JUDGE
    assert not is_same_model("", " ")


def test_a_protocols_own_table_goes_over_the_built_in_one() -> None:
    own = Families(
        aliases={"house-model": "qwen-3-8b"},
        families={"house": Family(begins=("house", "barn"), modes=("slow",))},
        providers=("cellar",),
        modes=("nightly",),
    )

    assert not relate("house-9", "barn-2").same_family
    assert relate("house-9", "barn-2", own).same_family
    assert not is_same_model("cellar:barn-2-slow-nightly", "barn-2")
    assert is_same_model("cellar:barn-2-slow-nightly", "barn-2", own)
    assert is_same_model("house-model", "Qwen/Qwen3-8B", own)
    assert is_same_model("gpt-5.2-high", "openai:gpt-5.2", own)


@each("kind", [*PROVIDERS, "endpoint", "gguf", "pydantic-ai"])
def test_how_a_judge_is_spoken_to_does_not_say_who_it_is(kind: str) -> None:
    """`endpoint:` is what a [judges.NAME] table without a provider makes of its model."""
    assert is_same_model(f"{kind}:claude-sonnet-4-5", "claude-sonnet-4-5")
    assert is_same_model(f"{kind}:our-own-model", "our-own-model")
    assert relate(f"{kind}:our-own-model", "our-own-model").method is Method.SELF_JUDGE


def test_weights_before_and_after_tuning_are_two_and_a_name_that_says_neither_may_be_either() -> None:
    raw, talking, open_name = "Qwen/Qwen2.5-7B-base", "Qwen/Qwen2.5-7B-Instruct", "qwen2.5:7b"

    assert not is_same_model(raw, talking)
    assert is_same_model(raw, open_name)
    assert is_same_model(talking, open_name)


def test_an_upload_of_somebodys_own_has_the_family_of_its_name_and_is_no_other_model() -> None:
    relation = relate("somebody/Llama-3.1-8B-Instruct-tuned", "meta-llama/Llama-3.1-8B-Instruct")

    assert relation.method is Method.CROSS_JUDGE
    assert relation.same_family


def test_every_family_of_the_built_in_table_claims_its_own_words_and_no_other() -> None:
    table = built_in_families()
    for family, words in table.families.items():
        for word in words.begins:
            assert fold_model_name(f"{word}-1", table).family == family


def test_a_family_of_the_same_name_replaces_the_built_in_one_and_is_looked_at_first() -> None:
    own = Families(families={"gpt": Family(begins=("house", "house-cat")), "ours": Family(begins=("claude",))})

    assert relate("house-1", "house-2", own).same_family
    assert is_same_model("house-cat3", "house-cat-3", own)
    assert not relate("gpt-4", "gpt-5", own).same_family
    assert fold_model_name("claude-opus-4", own.over(built_in_families())).family == "ours"


@pytest.mark.parametrize(
    "table", [{"familes": {}}, {"families": {"x": {"begins": ["x"], "mode": []}}}, {"families": {"x": {"begins": []}}}]
)
def test_a_table_that_says_nothing_or_something_unknown_is_refused(table: dict[str, Any]) -> None:
    """A word spelled wrong would otherwise change nothing, and nobody would notice."""
    with pytest.raises(ValidationError):
        Families.model_validate(table)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("my-own-model-1024", "my-own-model"),
        ("my-own-model-20242001", "my-own-model"),
        ("my-own-model-20241140", "my-own-model"),
        ("my-own-model-202411011", "my-own-model1"),
        ("gpt-4-012", "gpt-4"),
        ("nova-v1-0-pro", "nova-pro"),
    ],
)
def test_digits_that_are_no_date_and_no_version_of_the_host_belong_to_the_name(one: str, other: str) -> None:
    """Four of them are a date only behind a known name."""
    assert not is_same_model(one, other)


@pytest.mark.parametrize("month", range(14))
def test_four_digits_are_a_date_where_there_is_such_a_month_and_day(month: int) -> None:
    for day in range(33):
        is_date = 1 <= month <= 12 and 1 <= day <= 31

        assert is_same_model(f"gpt-4-{month:02}{day:02}", "gpt-4") is is_date

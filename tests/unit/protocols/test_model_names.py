"""Which names mean one model, and which models are of one family: enumerated, because an error moves a judgment."""

import itertools

import pytest

from mixseek.domain.judgments import Method
from mixseek.protocols.method import is_same_model, relate
from mixseek.protocols.model_names import Families, Family, built_in_families, fold_model_name

# One model a line, under all the names that people and hosts give it.
MODELS = {
    ("gpt", "5.2"): [
        "gpt-5.2",
        "openai:gpt-5.2",
        "GPT 5.2",
        "gpt-5.2-extended-thinking",
        "gpt-5.2-high",
        "ChatGPT 5.2",
    ],
    ("gpt", "5.2 mini"): ["gpt-5.2-mini", "openai/gpt-5.2-mini", "openrouter:openai/gpt-5.2-mini"],
    ("gpt", "4o"): ["gpt-4o", "openai:gpt-4o@https://example.test/v1", "chatgpt-4o-latest", "GPT4o", "azure:gpt-4o"],
    ("gpt", "o3"): ["o3", "openai:o3", "o3-high"],
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
    ],
    ("claude", "sonnet 4"): ["claude-sonnet-4", "claude-4-sonnet", "openrouter:anthropic/claude-sonnet-4-thinking"],
    ("claude", "opus 4"): ["claude-opus-4", "Anthropic Claude Opus 4"],
    ("gemini", "2.5 pro"): [
        "gemini-2.5-pro",
        "google:gemini-2.5-pro",
        "Google Gemini 2.5 Pro",
        "models/gemini-2.5-pro",
        "gemini-2.5-pro-preview",
    ],
    ("gemini", "2.5 flash"): ["gemini-2.5-flash", "google-gla:gemini-2.5-flash"],
    ("qwen", "thinking"): ["Qwen/Qwen3-235B-A22B-Thinking-2507", "qwen3-235b-a22b-thinking-2507-fp8"],
    ("qwen", "instruct"): ["Qwen/Qwen3-235B-A22B-Instruct-2507", "vllm:Qwen3-235B-A22B-Instruct-2507-AWQ"],
    ("qwen", "8b"): ["ollama:qwen3:8b", "qwen3-8b", "Qwen/Qwen3-8B"],
    ("llama", "8b"): ["ollama:llama3:8b", "llama-3-8b", "meta/llama3-8b"],
    ("llama", "70b"): ["llama3:70b", "meta-llama/Llama-3-70B"],
    ("mistral", "large"): ["mistral-large", "mistral:mistral-large-latest", "mistralai/mistral-large"],
    ("deepseek", "chat"): ["deepseek-chat", "deepseek:deepseek-chat", "openrouter:deepseek/deepseek-chat:free"],
    ("", "unknown"): ["my-own-model", "vllm:my-own-model", "My Own Model"],
    ("", "other"): ["their-model"],
    ("", "philosopher"): ["philosopher-7b"],
    ("phi", "4"): ["phi-4", "phi4", "microsoft/phi-4"],
}
NAMED = [(model, name) for model, names in MODELS.items() for name in names]


@pytest.mark.parametrize("model", MODELS, ids=" ".join)
def test_all_names_of_a_model_are_one_and_judge_themselves(model: tuple[str, str]) -> None:
    for one, other in itertools.product(MODELS[model], repeat=2):
        assert is_same_model(one, other), (one, other)
        assert relate(one, other) == relate(other, one)
        assert relate(one, other).method is Method.SELF_JUDGE
        assert not relate(one, other).same_family


@pytest.mark.parametrize("model", MODELS, ids=" ".join)
def test_other_models_are_crossed_and_marked_when_of_one_family(model: tuple[str, str]) -> None:
    judge = MODELS[model][0]
    for other, name in NAMED:
        if other != model:
            relation = relate(judge, name)

            assert relation.method is Method.CROSS_JUDGE, (judge, name)
            assert relation.same_family == (bool(model[0]) and model[0] == other[0]), (judge, name)


@pytest.mark.parametrize(
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
    ],
)
def test_dated_snapshots_are_told_apart_where_both_are_dated(one: str, other: str, is_same: bool) -> None:
    assert is_same_model(one, other) is is_same
    assert relate(one, other).same_family is not is_same


@pytest.mark.parametrize(
    "name", ["", " ", "()", "@", ":", "/", "-", "high", "latest", "\ud800", "x" * 10_000, "openai:"]
)
def test_any_text_can_be_folded_and_nobody_is_nobody(name: str) -> None:
    fold_model_name(name, built_in_families())

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


def test_every_family_of_the_built_in_table_claims_its_own_words_and_no_other() -> None:
    table = built_in_families()
    for family, words in table.families.items():
        for word in words.begins:
            assert fold_model_name(f"{word}-1", table).family == family


def test_four_digits_are_a_date_only_behind_a_known_name() -> None:
    assert not is_same_model("my-own-model-1024", "my-own-model")
    assert not is_same_model("gpt-4-1350", "gpt-4")

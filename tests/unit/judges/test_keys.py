"""Secrets do not show themselves."""

import json
import pickle
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cases import each

from mixseek.judges.keys.redaction import Redaction
from mixseek.judges.keys.refusal import holds_credential
from mixseek.judges.keys.secret import Secret
from mixseek.judges.keys.shapes import looks_like_credential, looks_like_key, without_credentials

KEY = "sk-canary-123"


def test_a_secret_is_shown_by_nothing_but_its_one_method() -> None:
    secret = Secret(KEY)

    assert "canary" not in f"{secret} {secret!r} {[secret]}"
    assert secret.reveal() == KEY
    with pytest.raises(TypeError, match="not pickled"):
        pickle.dumps(secret)


@each(
    "name",
    [
        "Authorization",
        "x-api-key",
        "api-key",
        "API_KEY",
        "apikey",
        "X-Auth-Token",
        "Cookie",
        "client_secret",
        "key",
        "sig",
    ],
)
def test_names_of_credentials_are_recognised(name: str) -> None:
    assert looks_like_credential(name)


@each(
    "name",
    [
        "X-Team",
        "max_tokens",
        "max_new_tokens",
        "tokenizer",
        "stop_token_ids",
        "anthropic-beta",
        "monkey",
        "api-version",
        "top_k",
        "author",
    ],
)
def test_other_names_are_not(name: str) -> None:
    assert not looks_like_credential(name)


def test_credentials_are_left_out_at_any_depth() -> None:
    document = {"a": [{"token": KEY, "b": 1}], "c": {"password": KEY}, "d": (1, 2)}

    assert without_credentials(document) == {"a": [{"b": 1}], "c": {}, "d": [1, 2]}


@given(st.text(max_size=60), st.text(max_size=400), st.integers(10, 200))
def test_no_cut_leaves_a_key_or_a_second_line(before: str, after: str, limit: int) -> None:
    line = Redaction([Secret(KEY)]).line(before + KEY + after, limit)

    assert KEY not in line
    assert "canary" not in line or "canary" in before + after
    assert len(line) <= limit
    assert len(line.splitlines()) <= 1


def test_a_reply_without_a_key_stays_as_it_is() -> None:
    text = "a*** \ud7ff \\u0041 日本"

    assert Redaction([Secret(KEY)]).reply(text) is text


def test_a_word_that_is_too_short_for_a_key_is_not_masked() -> None:
    assert Redaction([Secret("none")]).reply("none of them") == "none of them"


def escaped(text: str) -> str:
    """Every character as JSON may spell it."""
    return "".join(f"\\u{ord(letter):04X}" for letter in text)


@each(
    "text",
    [
        escaped(KEY),
        f"{escaped(KEY[:3])}{KEY[3:]}",
        json.dumps(escaped(KEY)),
        json.dumps(json.dumps(escaped(KEY[0]) + KEY[1:])),
        "".join(f"\\x{ord(letter):02x}" for letter in KEY),
        KEY.replace("-", "%2D"),
    ],
)
def test_a_key_is_masked_in_every_spelling(text: str) -> None:
    """What reads the reply decodes it, and would have the key."""
    masked = Redaction([Secret(KEY)]).reply(f"see {text} there")

    assert masked.replace("\\", "").replace('"', "") == "see [key] there"


def test_a_key_is_masked_in_all_of_a_document() -> None:
    document = {"id": KEY, KEY: [1, None, {"text": f"<{KEY}>"}], "n": 1.5}

    assert Redaction([Secret(KEY)]).document(document) == {
        "id": "[key]",
        "[key]": [1, None, {"text": "<[key]>"}],
        "n": 1.5,
    }


@each("unit", ["a", "a-", "*", "**a", "**-", "日", " ", "\n", "\\", "\\u00", "sk-", "<title>", "x" * 400 + "***"])
def test_a_message_of_megabytes_is_cut_before_it_is_looked_at(unit: str) -> None:
    """A word of 40 kB took nineteen seconds, on the event loop, whatever the time limit was."""
    redaction = Redaction([Secret(KEY)])

    def seconds(size: int) -> float:
        text = unit * (size // len(unit)) + KEY
        begun = time.thread_time()
        line = redaction.line(text)
        took = time.thread_time() - begun
        assert len(line) <= 300
        assert KEY not in line
        return took

    short, long = (min(seconds(size) for _ in range(3)) for size in (250_000, 1_000_000))
    assert long < max(8 * short, 0.02)


@given(st.text("ab-*. ", max_size=40), st.integers(0, 3_000), st.integers(20, 120))
def test_no_beginning_of_a_key_that_was_masked_by_others_stands_where_a_message_is_cut(
    before: str, words: int, limit: int
) -> None:
    """The word in which a text is cut may be the beginning of one that ends in stars."""
    line = Redaction(()).line(before + "x*** " * words + "secretword" * 2 + "***", limit)

    assert "secret" not in line or line.endswith("…")
    assert "secretwordsecretword" not in line


@each(
    "value",
    [
        KEY,
        "sk-proj-abcDEF1234567890",
        "gsk_9aBcD3fGh1jKlMnOpQrS",
        "hf_AbCdEf123456GhIjKl",
        "AIzaSyA1b2C3d4E5f6G7h8I9j0",
        "AKIAIOSFODNN7EXAMPLE",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln",
        "Bearer abcdefgh",
        "Basic dXNlcjpwYXNz==",
        "xK9mP2qR7vT4wY8zB3nC6dF1",
    ],
)
def test_what_is_a_key_by_itself_is_recognised(value: str) -> None:
    assert looks_like_key(f"<{value}>")


@each(
    "value",
    [
        "gpt-5-mini",
        "meta-llama/Llama-3.1-70B-Instruct",
        "Qwen25Coder32BInstructAWQ",
        "hf-inference",
        "hf-internal-testing/tiny-random-llama",
        "sk-learn-server",
        "0123456789abcdef0123456789abcdef",
        "3f2504e0-4f89-11d3-9a0c-0305e82c3301",
        "us-central1-aiplatform",
        "basic enterprise",
        "prompt-caching-2024-07-31,token-efficient-tools-2025-02-19",
        "enable_thinking",
    ],
)
def test_names_accounts_and_digests_are_no_keys(value: str) -> None:
    assert not looks_like_key(value)


@each(
    ("url", "is_held"),
    [
        ("https://h/sk-proj-abc123def456/v1", True),
        ("https://h/v1?code=x", True),
        ("https://h/v1?api-version=2024-10-21&CODE=abc", True),
        ("https://h/v1/the-value-of-mine", True),
        ("https://gateway.example/v1/0123456789abcdef0123456789abcdef/mine/openai", False),
        ("https://h/v1?api-version=2024-10-21", False),
        ("https://router.example/hf-inference/v1", False),
    ],
)
def test_a_credential_in_an_address_is_recognised(url: str, is_held: bool) -> None:
    assert holds_credential(url, {"MY_API_KEY": "the-value-of-mine", "HOME": "/v1"}) is is_held

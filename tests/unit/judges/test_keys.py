"""Secrets do not show themselves."""

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cases import each

from mixseek.judges.endpoint.address import Redaction, Secret, looks_like_credential, without_credentials

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


def test_a_body_without_a_key_stays_byte_for_byte() -> None:
    body = "a*** \ud7ff 日本".encode()

    assert Redaction([Secret(KEY)]).body(body) is body


def test_a_word_that_is_too_short_for_a_key_is_not_masked() -> None:
    assert Redaction([Secret("none")]).text("none of them") == "none of them"

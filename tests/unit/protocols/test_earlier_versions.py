"""What was begun with earlier prompts goes on with them, to the letter and under its own hash."""

import hashlib
from pathlib import Path

import pytest
from tests.unit.protocols.nonces import NONCE, NONCES, QUESTION_NONCE

from mixseek.domain.samples import Sample
from mixseek.errors import ConfigurationError
from mixseek.protocols.registry import earlier_protocols, load_protocol

# As runs recorded them before there was a second version.
FIRST_VERSION = {
    ("semantic", "en"): "ca0613ffc8a839c3b182f03b22a4c5e221be578d06108a7ffbd2c08524ef04ab",
    ("semantic", "ja"): "23e6148e06e06f60111fbf4d2fef7c0a6207d096b377cf3fcc892ea2280005b9",
    ("semantic", "zh"): "aec02bf40aed7193b08d7df9f47d2dece3a03564291738be08c2d32f77427fd5",
    ("cross", "zh"): "b8d7f5c711937db689e9f8dc657ba3e0f90aa5be05cbf1d628572a37ba14b017",
    ("cross", "en"): "6eae0f32ef546e3481b27571d778b8ab46a335b5db0d7cccbbff661418e1c804",
    ("cross", "ja"): "2b790b9de343d733060fd7f03c75f61414182ab2a197b551ca3fc21928873be8",
    ("rubric", "ja"): "471aeb6c1aa2919adfa8723a32e2840ad4613ef62c23ebcc8c1ec6917271d208",
    ("rubric", "en"): "ca7392eac80f02ba3ed71bb0dae3b89f513c9042ad614c65480dcc7e09cbc9ae",
    ("rubric", "zh"): "04b58f5defeec526e008eb1f00b97fe54e1768feff2fbf9976090678a3831d56",
    ("pairwise", "en"): "e088ce523dd25cc21b0351d98ce74e6d241c16d1227e41a1e8ddb9992ff2fa95",
    ("pairwise", "ja"): "df67d5e6ddeebd24689c5f4c1751a7081506af7eb5b3ba0b1f3af5d8c732ab87",
    ("pairwise", "zh"): "1a5f56fd9b9fb88b744eb590476b3f2e55ade0f8a566f63b1755596c9d0e691e",
}
# Of the English prompts of this sample, as they were then.
SAMPLE = Sample(
    id="s-1",
    question="How is tea made?",
    response="With hot water.",
    response_b="With milk.",
    ground_truth="With water.",
    question_id="Q1",
    prompt_variant="A",
    target_model="model-b",
    output_id="o.md",
    task_name="tea",
    rubric="task_type: fact\n",
)
FIRST_PROMPTS = {
    "semantic": "e9feb06e23983c98a9fa6140196ba01364151c39105f7680e7c686d8c08eeb1b",
    "cross": "b8833089eda0679bdcbc62b9a24ca26f89cd4486bafccca1f0f2381de83eec87",
    "rubric": "2cf75a6f5240bdea7201434399598740cff4856f6d0ff8e1b0e18d74e2962b11",
    "pairwise": "0a6cd61cc9da7d6831d0ea983deea866c4e9a758c6dbd64ff31fb81c3cdfd4c4",
}


@pytest.mark.parametrize(("name", "language"), FIRST_VERSION)
def test_the_first_version_has_the_hash_that_runs_recorded(name: str, language: str) -> None:
    now = load_protocol(name, language)

    assert load_protocol(f"{name}@1", language).hash == FIRST_VERSION[name, language] != now.hash
    assert [(earlier.version, earlier.hash) for earlier in earlier_protocols(now)] == [
        ("1", FIRST_VERSION[name, language])
    ]
    assert load_protocol(f"{name}@{now.version}", language).hash == now.hash


@pytest.mark.parametrize("name", FIRST_PROMPTS)
def test_the_first_version_asks_what_it_asked(name: str) -> None:
    """One nonce for all sections, whatever is given for the question: a resumed run asks as its first half did."""
    messages = load_protocol(f"{name}@1", "en").messages(SAMPLE, NONCES)
    asked = "\n".join(message.content for message in messages)

    assert QUESTION_NONCE not in asked
    assert f"<<<QUESTION {NONCE}>>>" in asked
    assert hashlib.sha256(asked.encode()).hexdigest() == FIRST_PROMPTS[name]


def test_a_version_that_never_was_is_refused_with_those_that_are() -> None:
    with pytest.raises(ConfigurationError, match="the cross protocol has no version '7'; available: 2, 1"):
        load_protocol("cross@7")


OWN = """
name = "mine"
version = "3"
kind = "scored"
languages = ["en"]
default_language = "en"
[parameters.dimensions.tone]
title = "Tone"
[parameters.scale]
minimum = 0
maximum = 3
"""


def test_a_protocol_of_the_users_own_had_the_default_prompts_of_then(tmp_path: Path) -> None:
    """Its version is its user's; what it asked has changed with ours, so its hash has."""
    path = tmp_path / "mine.toml"
    path.write_text(OWN, encoding="utf-8")
    now = load_protocol(str(path))
    (earlier,) = earlier_protocols(now)

    assert (earlier.name, earlier.version) == ("mine", "3")
    assert earlier.hash == "70f45355ef1501038b78b012df9476459476d255eab647dc2c7dea1ec971ce26" != now.hash


def test_prompts_of_the_users_own_have_no_earlier_version(tmp_path: Path) -> None:
    """Even where they bear the names of ours."""
    for name in ("scored.en.md.j2", "scored_user.en.md.j2"):
        (tmp_path / name).write_text("{{ question }} {{ response }}", encoding="utf-8")
    path = tmp_path / "mine.toml"
    named = 'templates = { system = "scored.en.md.j2", user = "scored_user.en.md.j2" }'
    path.write_text(f"{named}\n{OWN}", encoding="utf-8")

    assert list(earlier_protocols(load_protocol(str(path)))) == []

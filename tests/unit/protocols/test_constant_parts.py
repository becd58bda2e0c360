"""A prompt says which part of it is constant: no more than is, and all that is."""

from dataclasses import replace
from pathlib import Path

import pytest
from tests.unit.protocols.nonces import NONCE, NONCES, shared_beginning

from mixseek.domain.ports import JudgeProtocol, Nonces
from mixseek.domain.samples import Sample
from mixseek.protocols.registry import load_protocol

RUBRIC = "task_type: fact\n\n## Critical Fail Conditions\n- Is not about tea.\n"
SAMPLE = Sample(
    id="a-1",
    question="How is tea made?",
    response="With hot water.",
    response_b="With milk.",
    ground_truth="With water.",
    question_id="Q1",
    prompt_variant="A",
    target_model="model-b",
    output_id="o.md",
    task_name="tea",
    rubric=RUBRIC,
)
# Another one in all that it says; of the same task.
OTHER = replace(
    SAMPLE,
    id="b-2",
    question="Which leaf is it?",
    response="Green.",
    response_b="Black.",
    ground_truth="A bush's.",
    question_id="P1",
    prompt_variant="B",
    target_model="other",
    output_id="p.md",
    task_name="leaf",
)
OTHER_NONCES = Nonces("f" * 24, "e" * 24)


@pytest.mark.parametrize("language", ["en", "ja", "zh"])
@pytest.mark.parametrize("name", ["semantic", "cross", "rubric", "pairwise"])
def test_the_constant_part_is_all_that_two_prompts_begin_with(name: str, language: str) -> None:
    protocol = load_protocol(name, language)
    for first, second in zip(protocol.messages(SAMPLE, NONCES), protocol.messages(OTHER, OTHER_NONCES), strict=True):
        shared = len(shared_beginning(first.content, second.content))

        assert first.rubric_constant == second.rubric_constant == shared > 200


@pytest.mark.parametrize("language", ["en", "ja", "zh"])
def test_what_the_run_shares_ends_before_the_rubric(language: str) -> None:
    protocol = load_protocol("rubric", language)
    first, second = (
        protocol.messages(replace(SAMPLE, rubric=rubric), NONCES)[0]
        for rubric in (RUBRIC, "# Leaves\n\ntask_type: fact\n")
    )

    assert first.run_constant == second.run_constant == len(shared_beginning(first.content, second.content))
    assert first.rubric_constant == len(first.content)


@pytest.mark.parametrize("name", ["semantic@1", "cross@1", "rubric@1", "pairwise@1"])
def test_version_one_shared_no_more_than_its_rules(name: str) -> None:
    """Its user message begins with the sample."""
    user = load_protocol(name, "en").messages(SAMPLE, NONCES)[1]

    assert (user.run_constant, user.rubric_constant) == (0, 0)


def test_an_id_that_is_shown_is_no_constant_part(tmp_path: Path) -> None:
    """Wherever a template of the user's puts it; without one, all of a message is constant."""
    (tmp_path / "user.j2").write_text(
        "About {{ sample }}: {{ question_nonce }} {{ question }} {{ nonce }} {{ response }}"
    )
    (tmp_path / "system.j2").write_text("Judge {{ instructions }}.")
    path = tmp_path / "mine.toml"
    path.write_text(
        """
name = "mine"
version = "1"
kind = "scored"
languages = ["en"]
default_language = "en"
[templates]
system = "system.j2"
user = "user.j2"
[parameters.dimensions.tone]
title = "Tone"
[parameters.scale]
minimum = 0
maximum = 3
[parameters.identity.fields]
about = { equals = "id" }
""",
        encoding="utf-8",
    )
    system, user = load_protocol(str(path)).messages(SAMPLE, NONCES)

    assert system.run_constant == len(system.content)
    assert user.run_constant == user.rubric_constant == len("About ")


def test_a_question_that_repeats_the_rules_does_not_lengthen_the_constant_part() -> None:
    protocol: JudgeProtocol = load_protocol("semantic", "en")
    rules = protocol.messages(SAMPLE, NONCES)[1]
    repeated = protocol.messages(replace(SAMPLE, question=rules.content.replace(NONCE, "")), NONCES)[1]

    assert repeated.run_constant == rules.run_constant

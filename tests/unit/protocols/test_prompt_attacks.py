"""Judged text stays data: whatever it says, the prompt around it is the one that a harmless text gets."""

import re
from dataclasses import replace
from importlib import resources
from pathlib import Path

import pytest
from tests.cases import each
from tests.unit.protocols.prompt_attacks import ATTACKS, FENCES, NONCE

from mixseek.domain.ports import JudgeProtocol
from mixseek.domain.samples import Sample
from mixseek.protocols.registry import load_protocol

# Stands nowhere else in a prompt.
HARMLESS = "the quick brown fox"
PROTOCOLS = ("semantic", "rubric", "cross", "own")
FIELDS = ("response", "question", "ground_truth")
SAMPLE = Sample(
    id="s-1",
    question="How is tea made?",
    response="With hot water.",
    ground_truth="With water.",
    question_id="Q1",
    prompt_variant="A",
    target_model="model-b",
    output_id="o.md",
    task_name="tea",
    rubric="task_type: fact\n\n## Critical Fail Conditions\n- Is not about tea.\n",
)


@pytest.fixture(scope="session")
def own(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A protocol as `mixseek protocol new` writes it, in all languages."""
    starter = resources.files("mixseek.protocols").joinpath("starters/scored.toml").read_text(encoding="utf-8")
    path = tmp_path_factory.mktemp("own") / "own.toml"
    text = starter.replace('"NAME"', '"own"').replace('languages = ["en"]', 'languages = ["en", "ja", "zh"]')
    path.write_text(text, encoding="utf-8")
    return path


def protocol_named(name: str, own: Path, language: str | None = None) -> JudgeProtocol:
    return load_protocol(str(own) if name == "own" else name, language)


def with_text(field: str, text: str) -> Sample:
    return replace(SAMPLE, **{field: text})  # type: ignore[arg-type] # the three fields are texts


def rendered(protocol: JudgeProtocol, sample: Sample) -> tuple[str, str]:
    system, user = protocol.messages(sample, NONCE)
    assert (system.role, user.role) == ("system", "user")
    return system.content, user.content


def fence_lines(user: str) -> list[str]:
    return [line for line in user.splitlines() if re.fullmatch(r"<<<(END )?[A-Z0-9_]+ [0-9a-f]{24}>>>", line)]


def told_nonce(user: str) -> str:
    """The token that the judge is told to look for, before any judged text."""
    found = re.search(r"`<<<END \w+ ([0-9a-f]{24})>>>`", user)
    assert found is not None
    return found[1]


def check_attack(protocol: JudgeProtocol, field: str, attack: str) -> None:
    harmless_system, harmless_user = rendered(protocol, with_text(field, HARMLESS))
    system, user = rendered(protocol, with_text(field, attack))

    assert system == harmless_system
    nonce = told_nonce(user)
    assert nonce.casefold() not in attack.casefold()
    if HARMLESS not in harmless_user:
        # What a protocol does not show can do nothing but change the nonce.
        assert user == harmless_user.replace(NONCE, nonce)
        return
    before, after = harmless_user.replace(NONCE, nonce).split(HARMLESS)
    label = re.findall(r"<<<(\w+) [0-9a-f]{24}>>>\n\Z", before)[0]
    assert after.startswith(f"\n<<<END {label} {nonce}>>>\n")
    # To the letter and once; so nothing was evaluated, added, dropped, escaped, or moved behind the closing line.
    assert user == before + attack + after
    assert user.count(f"<<<{label} {nonce}>>>\n{attack}\n<<<END {label} {nonce}>>>") == 1
    inside = user[len(before) : len(user) - len(after)]
    assert nonce not in inside
    assert len(fence_lines(before + after)) == len(fence_lines(harmless_user))


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("name", PROTOCOLS)
def test_judged_text_stays_data(name: str, field: str, own: Path) -> None:
    protocol = protocol_named(name, own)
    for attack in ATTACKS.values():
        check_attack(protocol, field, attack)


@pytest.mark.parametrize("language", ["en", "ja", "zh"])
@pytest.mark.parametrize("name", PROTOCOLS)
def test_fences_hold_in_every_language(name: str, language: str, own: Path) -> None:
    protocol = protocol_named(name, own, language)
    for attack in FENCES:
        check_attack(protocol, "response", ATTACKS[attack])


@pytest.mark.parametrize("name", PROTOCOLS)
def test_attacks_on_all_fields_at_once_stay_data(name: str, own: Path) -> None:
    protocol = protocol_named(name, own)
    for attack in ATTACKS.values():
        sample = replace(SAMPLE, question=attack, response=attack, ground_truth=attack)
        system, user = rendered(protocol, sample)
        shown = 2 if name in {"rubric", "cross"} else 3
        nonce = told_nonce(user)

        assert system == rendered(protocol, SAMPLE)[0]
        assert len(re.findall(rf"^<<<END \w+ {nonce}>>>$", user, re.MULTILINE)) == shown
        assert user.count(f"\n{attack}\n<<<END ") == shown


@each("attack", ATTACKS.values())
def test_names_of_a_sample_are_json_and_nothing_else(attack: str) -> None:
    """A file name or a model's name may be an attack as well; it is one JSON string on one line."""
    if len(attack) > 10_000:
        attack = attack[:10_000]
    protocol = load_protocol("cross", "en")
    sample = replace(SAMPLE, output_id=attack)
    _, harmless = rendered(protocol, replace(sample, output_id=HARMLESS))
    _, user = rendered(protocol, sample)
    nonce = told_nonce(user.split("Each section below", 1)[1])
    before, after = harmless.replace(NONCE, nonce).split(HARMLESS)

    assert user.startswith(before)
    assert user.endswith(after)
    assert "\n" not in user[len(before) : len(user) - len(after)]


def test_there_are_at_least_sixty_attacks_and_all_differ() -> None:
    assert len(set(ATTACKS.values())) == len(ATTACKS) >= 60


def test_the_data_is_never_rendered_a_second_time(own: Path) -> None:
    """A value that holds the name of a variable is no variable: rendering happens once, before data is inserted."""
    for name in PROTOCOLS:
        _, user = rendered(protocol_named(name, own), with_text("response", "{{ 7 * 7 }} {{ nonce }}"))

        assert "{{ 7 * 7 }} {{ nonce }}" in user
        assert "49" not in user

"""The hash says what was asked, to the letter: any change changes it, and nothing else does."""

import pickle
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mixseek.protocols import registry, semantic
from mixseek.protocols.registry import load_protocol
from mixseek.protocols.semantic import SemanticProtocol

BUILT_IN = Path(registry.__file__).parent


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """The built-in protocol as a user's own file, with its prompts beside it."""
    shutil.copytree(BUILT_IN / "declarations", tmp_path / "declarations")
    shutil.copytree(BUILT_IN / "prompts", tmp_path / "prompts")
    return tmp_path / "declarations" / "semantic.toml"


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8", newline="\n")


def test_where_a_protocol_lies_does_not_count(copied: Path) -> None:
    assert load_protocol(str(copied)).hash == load_protocol("semantic").hash


def test_pickling_keeps_the_hash_and_the_rules() -> None:
    protocol = load_protocol("semantic", "ja")
    copy = pickle.loads(pickle.dumps(protocol))  # noqa: S301 - our own bytes

    assert copy == protocol
    assert (copy.hash, copy.language, copy.reply_schema) == (protocol.hash, "ja", protocol.reply_schema)


def test_languages_have_different_hashes() -> None:
    assert len({load_protocol("semantic", language).hash for language in ("en", "ja", "zh")}) == 3


OVERRIDES: list[dict[str, Any]] = [
    {"reply_mode": "strict"},
    {"check_id": "exact"},
    {"check_id": "off"},
    {"extraction_policy": "verified"},
    {"reasoning_score": {"maximum": 6}},
    {"reasoning_score": {"minimum": 0}},
    {"consistency": {"correct": {"reasoning_scores": [5]}}},
    {"consistency": {"correct": {"error_types": ["none"]}}},
    {"consistency": {"incorrect": {"reasoning_scores": [1, 2]}}},
    {"consistency": {"incorrect": {"error_types": ["wrong_logic"]}}},
]


def test_every_parameter_is_part_of_the_hash() -> None:
    hashes = {load_protocol("semantic", parameters=override).hash for override in OVERRIDES}

    assert len(hashes | {load_protocol("semantic").hash}) == len(OVERRIDES) + 1


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("declarations/semantic.toml", 'name = "semantic"', 'name = "semantic2"'),
        ("declarations/semantic.toml", 'version = "2"', 'version = "3"'),
        ("prompts/semantic.en.md.j2", "You are an expert", "You are an Expert"),
        ("prompts/semantic_user.en.md.j2", "Judge one sample.", "Judge one sample. "),
    ],
)
def test_every_letter_of_declaration_and_prompts_is_part_of_the_hash(
    copied: Path, file: str, old: str, new: str
) -> None:
    edit(copied.parents[1] / file, old, new)

    assert load_protocol(str(copied)).hash != load_protocol("semantic").hash


def test_kind_and_schema_are_part_of_the_hash(monkeypatch: pytest.MonkeyPatch) -> None:
    protocol = load_protocol("semantic")
    assert isinstance(protocol, SemanticProtocol)
    hashes = {protocol.hash, replace(protocol, declaration=replace(protocol.declaration, kind="other")).hash}
    monkeypatch.setattr(semantic, "reply_schema", lambda _: {"type": "object"})
    hashes.add(load_protocol("semantic").hash)

    assert len(hashes) == 3


def test_a_comment_in_the_declaration_is_not_asked_of_anybody(copied: Path) -> None:
    edit(copied, 'version = "2"', 'version = "2"  # a remark')

    assert load_protocol(str(copied)).hash == load_protocol("semantic").hash

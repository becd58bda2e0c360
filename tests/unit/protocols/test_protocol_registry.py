"""A protocol is found by name or file, and everything wrong with it is said before the first sample."""

from pathlib import Path
from typing import Any

import pytest
from tests.cases import each

from mixseek.errors import ConfigurationError
from mixseek.protocols.registry import describe, load_protocol, protocol_names

TOML = """
name = "mine"
version = "3"
kind = "semantic"
languages = ["en"]
default_language = "en"
[templates]
system = "system.{language}.md.j2"
user = "user.{language}.md.j2"
[parameters]
reply_mode = "strict"
check_id = "exact"
extraction_policy = "record"
reasoning_score = { minimum = 1, maximum = 5 }
[parameters.consistency]
correct = { reasoning_scores = [4, 5], error_types = ["none"] }
incorrect = { reasoning_scores = [1], error_types = ["wrong_logic"] }
"""


@pytest.fixture
def own(tmp_path: Path) -> Path:
    (tmp_path / "system.en.md.j2").write_text("Judge.\n")
    (tmp_path / "user.en.md.j2").write_text("{{ id }} {{ model_response }} {{ ground_truth }}\n")
    path = tmp_path / "mine.toml"
    path.write_text(TOML)
    return path


def test_built_in_names() -> None:
    assert "semantic" in protocol_names()


@pytest.mark.parametrize("name", protocol_names())
def test_every_built_in_loads_and_can_be_described(name: str) -> None:
    description = describe(load_protocol(name))

    assert description["name"] == name
    assert len(description["hash"]) == 64
    # Under `checks` nobody is asked anything.
    is_asked = name != "checks"
    assert [message["role"] for message in description["messages"]] == (["system", "user"] if is_asked else [])
    assert bool(description["reply_schema"].get("required")) is is_asked
    assert description["parameters"]


def test_a_users_own_file_is_a_protocol_like_any_other(own: Path) -> None:
    protocol = load_protocol(str(own))

    assert (protocol.name, protocol.version, protocol.language) == ("mine", "3", "en")
    assert describe(protocol)["messages"][1]["content"].startswith('"example-1" <<<MODEL_RESPONSE ')


def test_parameters_replace_those_of_the_file_and_leave_the_rest(own: Path) -> None:
    parameters = load_protocol(str(own), parameters={"reasoning_score": {"maximum": 7}}).parameters

    assert parameters["reasoning_score"] == {"minimum": 1, "maximum": 7}
    assert parameters["reply_mode"] == "strict"


def test_reply_schema_follows_the_parameters() -> None:
    opaque = load_protocol("semantic").reply_schema
    exact = load_protocol("semantic", parameters={"check_id": "exact"}).reply_schema

    assert opaque["properties"]["id"] == {"type": "integer", "enum": [1]}
    assert exact["properties"]["id"] == {"type": "string"}
    assert opaque["properties"]["reasoning_score"]["enum"] == [1, 2, 3, 4, 5]
    assert opaque["additionalProperties"] is False


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("semantc", "unknown protocol 'semantc'; did you mean 'semantic'? available: "),
        ("xyz", "unknown protocol 'xyz'; available: "),
        ("", "unknown protocol ''"),
        ("nowhere/mine.toml", "nowhere/mine.toml: cannot be read (No such file or directory)"),
        ("mine.toml", "mine.toml: cannot be read"),
    ],
)
def test_an_unknown_protocol_is_one_line_with_what_there_is(name: str, words: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        load_protocol(name)

    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_unknown_language_is_named_with_those_there_are() -> None:
    with pytest.raises(ConfigurationError, match=r"no prompts in language 'fr'; available: en, ja, zh"):
        load_protocol("semantic", "fr")


@each(
    ("parameters", "words"),
    [
        ({"reply_mod": "strict"}, r"parameters\.reply_mod: Extra inputs"),
        ({"reply_mode": "lax"}, r"parameters\.reply_mode: Input should be 'strict' or 'repair'"),
        ({"check_id": True}, r"parameters\.check_id: "),
        ({"reasoning_score": {"maximum": "5"}}, r"parameters\.reasoning_score\.maximum: "),
        ({"reasoning_score": {"maximum": 0}}, r"minimum 1 is above maximum 0"),
        ({"reasoning_score": {"maximum": 4}}, r"consistency names score 5, outside 1 to 4"),
        ({"consistency": {"correct": {"error_types": ["typo"]}}}, r"consistency\.correct\.error_types\.0: "),
        ({"consistency": {"correct": {"error_types": []}}}, r"consistency\.correct\.error_types: "),
    ],
)
def test_a_bad_parameter_is_named_by_its_place(parameters: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigurationError, match=words) as caught:
        load_protocol("semantic", parameters=parameters)

    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('name = "mine"', "name = mine", "not valid TOML"),
        ('name = "mine"', 'name = "Mine!"', "name: String should match"),
        ('version = "3"', "", "version: Field required"),
        ('version = "3"', 'version = "3"\ncolour = "red"', "colour: Extra inputs"),
        ('kind = "semantic"', 'kind = "semanti"', "unknown kind 'semanti'; did you mean 'semantic'?"),
        ('default_language = "en"', 'default_language = "ja"', "default_language 'ja' is not one of languages"),
        ('user = "user.', 'usr = "user.', "templates must be exactly: system, user"),
        ('"user.{language}', '"absent.{language}', "absent.en.md.j2: cannot be read"),
        ('check_id = "exact"', "", "parameters.check_id: Field required"),
    ],
)
def test_a_bad_declaration_says_what_and_where(own: Path, old: str, new: str, words: str) -> None:
    assert old in TOML
    own.write_text(TOML.replace(old, new))

    with pytest.raises(ConfigurationError) as caught:
        load_protocol(str(own))

    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_template_with_an_unknown_variable_fails_at_load(own: Path) -> None:
    (own.parent / "user.en.md.j2").write_text("{{ response }}")

    with pytest.raises(ConfigurationError, match=r"user\.en\.md\.j2:1: unknown variable 'response'"):
        load_protocol(str(own))


def test_a_template_that_is_not_utf8_is_refused(own: Path) -> None:
    (own.parent / "user.en.md.j2").write_bytes(b"abc\xff")

    with pytest.raises(ConfigurationError, match=r"not UTF-8 \(byte 3\)"):
        load_protocol(str(own))

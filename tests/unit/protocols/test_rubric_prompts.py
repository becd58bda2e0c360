"""The rubric prompts: seed 000 to the letter in Japanese, the same structure in English and Chinese.

Rewrite the golden files after a deliberate change with MIXSEEK_UPDATE_GOLDEN=1, and read the diff.
"""

import hashlib
import os
import re
from dataclasses import replace
from pathlib import Path

import pytest
from tests.unit.protocols.nonces import NONCE, NONCES, QUESTION_NONCE, sections_of

from mixseek.domain.samples import Sample
from mixseek.errors import DatasetError
from mixseek.protocols.registry import load_protocol
from mixseek.protocols.rubric import HEADINGS, Section

GOLDEN = Path(__file__).parents[2] / "golden" / "prompts"
LANGUAGES = ("ja", "en", "zh")
# The block between the seed's four backticks, with the variable where the task's rubric goes.
SEED_SHA256 = "1d0e80a419e6a3b4735639171ee607f8dce636f3db2ea646a3cffa92d4f8f6e7"
RUBRIC = """task_type: creative

# 茶会の招待状

## Critical Fail Conditions
- 招待状ではないものを書いている

## 採点者向け事実情報
茶会は 5 月 3 日 14 時から。

### 加点項目
- 季節の言葉がある
### 減点項目
- {{ 日時 }} の誤り
"""
SAMPLE = Sample(
    id="tea-1",
    question="茶会の招待状を 200 字以内で書いてください。",
    response="新緑の候、五月三日の午後二時より茶会を催します。",
    task_name="tea-invitation",
    rubric=RUBRIC,
)


def prompt(language: str, sample: Sample = SAMPLE) -> tuple[str, str]:
    system, user = load_protocol("rubric", language).messages(sample, NONCES)
    assert (system.role, user.role) == ("system", "user")
    return system.content, user.content


def outline(text: str) -> list[str]:
    """Headings, lists, rules, quotes, tables and the lines of the JSON with their keys."""
    return re.findall(r'^(?:#+ |---|> - |> |- |\d\. |\| ?`?\w*|\||[{}]|\s*"\w+":)', text, re.MULTILINE)


@pytest.mark.parametrize("language", LANGUAGES)
def test_prompt_is_the_golden_one(language: str) -> None:
    system, user = prompt(language)
    rendered = f"=== system ===\n{system}=== user ===\n{user}"
    golden = GOLDEN / f"rubric.{language}.txt"
    if os.environ.get("MIXSEEK_UPDATE_GOLDEN") == "1":
        golden.write_text(rendered, encoding="utf-8", newline="\n")

    assert golden.read_text(encoding="utf-8") == rendered


def test_japanese_system_prompt_is_the_seed_to_the_letter() -> None:
    system, _ = prompt("ja")
    seed = system.replace(RUBRIC, "{{Task_Specific_Rubric}}")

    assert hashlib.sha256(seed.encode()).hexdigest() == SEED_SHA256


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_task_rubric_stands_at_the_end_once_and_is_not_rendered(language: str) -> None:
    system, user = prompt(language)

    assert system.endswith(f"\n\n{RUBRIC}\n")
    assert system.count(RUBRIC) == 1
    assert "加点項目" not in user


@pytest.mark.parametrize("language", ["en", "zh"])
def test_translations_have_the_seeds_structure(language: str) -> None:
    japanese, _ = prompt("ja")
    translated, _ = prompt(language)

    assert outline(translated) == outline(japanese)
    assert len(outline(japanese)) > 50


@pytest.mark.parametrize("language", ["en", "zh"])
def test_translations_keep_every_word_of_code_and_every_number(language: str) -> None:
    def code(text: str) -> set[str]:
        return set(re.findall(r"`([^`\n]+)`", text)) | set(re.findall(r'"([a-z_]+)"', text))

    def numbers(text: str) -> list[str]:
        return sorted(re.findall(r"\d+", text.replace(RUBRIC, "")))

    assert code(prompt("ja")[0]) <= code(prompt(language)[0])
    assert numbers(prompt(language)[0]) == numbers(prompt("ja")[0])


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_prompt_names_the_weights_that_replies_are_held_against(language: str) -> None:
    protocol = load_protocol("rubric", language)
    types = protocol.parameters["task_types"]["types"]
    system, _ = prompt(language)

    assert len(types) == 3
    for name, table in types.items():
        weights = " | ".join(str(weight) for weight in table["weights"].values())
        assert re.search(rf"^\| `{name}` +\|[^|]+\| {re.escape(weights)} \|$", system, re.MULTILINE)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_prompt_names_the_sections_that_the_reader_of_rubrics_knows(language: str) -> None:
    system, _ = prompt(language)
    template = system.replace(RUBRIC, "")

    assert f"`{HEADINGS[Section.CRITICAL][0]}`" in template
    assert f"`## {HEADINGS[Section.FACTS][0]}`" in template
    named = re.findall(r"`## ([^`]+)`", template)
    assert set(named) <= set(HEADINGS[Section.FACTS])


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_reply_in_the_prompt_has_the_keys_of_the_reply_schema(language: str) -> None:
    system, _ = prompt(language)
    shown = re.findall(r'^  "(\w+)":', system, re.MULTILINE)

    assert set(shown) == set(load_protocol("rubric", language).reply_schema["properties"])


@pytest.mark.parametrize("language", LANGUAGES)
def test_question_and_response_stand_in_fences(language: str) -> None:
    _, user = prompt(language)

    assert sections_of(user) == [
        ("QUESTION", QUESTION_NONCE, SAMPLE.question),
        ("RESPONSE", NONCE, SAMPLE.response),
    ]


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_type_is_given_where_it_is_known_and_left_open_where_it_is_not(language: str) -> None:
    untyped = replace(SAMPLE, rubric=RUBRIC.replace("task_type: creative\n", ""))

    assert '"task_type": "creative"' in prompt(language)[1]
    assert '"task_type": null' in prompt(language, untyped)[1]
    assert '"task_name": "tea-invitation"' in prompt(language)[1]


def test_a_sample_without_a_rubric_cannot_be_asked_about() -> None:
    with pytest.raises(DatasetError, match="'tea-1' has no rubric"):
        prompt("ja", replace(SAMPLE, rubric=None))

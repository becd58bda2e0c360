"""Templates of competitions in a table of mixseek.toml; seed 004's own file is read first."""

from pathlib import Path

import pytest

from mixseek.errors import ConfigurationError
from mixseek.prompt_builder.constants import DEFAULT_JUDGMENT_USER_PROMPT
from mixseek.prompt_builder.models import PromptBuilderSettings, load_prompt_settings
from mixseek.settings.load import load_settings

TABLE = """
workspace = "ws"
[prompt_builder]
team_user_prompt = "table {{ user_prompt }}"
evaluator_user_prompt = "table {{ submission }}"
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MIXSEEK_WORKSPACE", raising=False)
    (tmp_path / "mixseek.toml").write_text(TABLE, encoding="utf-8")
    return tmp_path


def write_file(place: Path) -> None:
    """Where seed 004 has it."""
    (place / "ws" / "configs").mkdir(parents=True)
    path = place / "ws" / "configs" / "prompt_builder.toml"
    path.write_text('team_user_prompt = "file {{ user_prompt }}"', encoding="utf-8")


def test_a_table_of_mixseek_toml_says_what_the_file_does_not(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Key by key: environment, the file of the workspace, the table, the default."""
    alone = PromptBuilderSettings()
    write_file(place)
    both = PromptBuilderSettings()
    monkeypatch.setenv("MIXSEEK_PROMPT_BUILDER__TEAM_USER_PROMPT", "variable {{ user_prompt }}")
    all_three = PromptBuilderSettings()

    assert alone.team_user_prompt == "table {{ user_prompt }}"
    assert both.team_user_prompt == "file {{ user_prompt }}"
    assert both.evaluator_user_prompt == "table {{ submission }}"
    assert all_three.team_user_prompt == "variable {{ user_prompt }}"
    assert all_three.judgment_user_prompt == DEFAULT_JUDGMENT_USER_PROMPT
    assert load_prompt_settings(place / "ws").evaluator_user_prompt == "table {{ submission }}"


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ('team_user_promt = "x"', r"mixseek.toml: unknown key 'prompt_builder.team_user_promt'; did you mean"),
        ('team_user_prompt = " "', r"\[prompt_builder\] of mixseek.toml.*cannot be empty"),
        ("team_user_prompt = 3", r"mixseek.toml.*prompt_builder.team_user_prompt"),
    ],
)
def test_a_mistake_in_the_table_names_mixseek_toml(place: Path, table: str, message: str) -> None:
    """Not the other file, which need not exist."""
    (place / "mixseek.toml").write_text(f"[prompt_builder]\n{table}\n", encoding="utf-8")

    with pytest.raises(ConfigurationError, match=message):
        load_prompt_settings()


def test_variables_of_the_builder_are_no_settings(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A variable that only the builder knows keeps no other command from its work."""
    monkeypatch.setenv("MIXSEEK_PROMPT_BUILDER__SOMETHING", "x")

    assert load_settings().prompt_builder.team_user_prompt == "table {{ user_prompt }}"

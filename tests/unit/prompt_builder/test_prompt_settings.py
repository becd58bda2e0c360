"""Where templates come from: environment > the workspace's file > default, really read."""

from pathlib import Path

import pytest

from mixseek.errors import ConfigurationError
from mixseek.prompt_builder.builder import UserPromptBuilder
from mixseek.prompt_builder.constants import DEFAULT_EVALUATOR_USER_PROMPT, DEFAULT_JUDGMENT_USER_PROMPT
from mixseek.prompt_builder.models import PromptBuilderSettings, load_prompt_settings
from mixseek.settings.load import load_settings

FIELDS = ["team_user_prompt", "evaluator_user_prompt", "judgment_user_prompt"]


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A configured workspace with an empty `configs`."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TZ", raising=False)
    root = tmp_path / "ws"
    (root / "configs").mkdir(parents=True)
    monkeypatch.setenv("MIXSEEK_WORKSPACE", str(root))
    return root


def write(workspace: Path, text: str) -> Path:
    path = workspace / "configs" / "prompt_builder.toml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("field", FIELDS)
def test_the_environment_wins_over_the_file_and_the_file_over_the_default(
    field: str, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each source in turn, for each field."""
    default = getattr(PromptBuilderSettings(), field)
    write(workspace, f'{field} = "from the file"')
    from_file = getattr(PromptBuilderSettings(), field)
    monkeypatch.setenv(f"MIXSEEK_{field.upper()}", "from the environment")
    from_environment = getattr(PromptBuilderSettings(), field)
    monkeypatch.setenv(f"MIXSEEK_PROMPT_BUILDER__{field.upper()}", "by its full name")
    by_full_name = getattr(PromptBuilderSettings(), field)

    assert "{{ " in default
    assert from_file == "from the file"
    assert from_environment == "from the environment"
    assert by_full_name == "by its full name"
    assert getattr(PromptBuilderSettings(**{field: "given"}), field) == "given"


@pytest.mark.parametrize("field", FIELDS)
def test_a_byte_order_mark_is_passed_over(field: str, workspace: Path) -> None:
    """Windows editors write one."""
    write(workspace, f'\ufeff{field} = "from the file"')

    assert getattr(PromptBuilderSettings(), field) == "from the file"
    assert getattr(load_prompt_settings(workspace), field) == "from the file"


def test_the_full_name_alone_is_read(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both spellings count by themselves, and neither disturbs the settings of the program."""
    monkeypatch.setenv("MIXSEEK_PROMPT_BUILDER__JUDGMENT_USER_PROMPT", "{{ round_number }}")

    assert PromptBuilderSettings().judgment_user_prompt == "{{ round_number }}"
    assert PromptBuilderSettings().evaluator_user_prompt == DEFAULT_EVALUATOR_USER_PROMPT
    assert load_settings().workspace == workspace


def test_a_builder_reads_the_file_of_the_workspace_it_is_given(workspace: Path, tmp_path: Path) -> None:
    """Even when the environment names another."""
    write(workspace, 'judgment_user_prompt = "the configured one"')
    other = tmp_path / "other"
    (other / "configs").mkdir(parents=True)
    write(other, 'judgment_user_prompt = "this one"')

    assert UserPromptBuilder().settings.judgment_user_prompt == "the configured one"
    assert UserPromptBuilder(workspace=other).settings.judgment_user_prompt == "this one"
    assert UserPromptBuilder(workspace=tmp_path).settings.judgment_user_prompt == DEFAULT_JUDGMENT_USER_PROMPT


def test_the_workspace_of_mixseek_toml_counts_too(
    workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One rule for what the workspace is, wherever it is asked."""
    monkeypatch.delenv("MIXSEEK_WORKSPACE")
    (tmp_path / "mixseek.toml").write_text('workspace = "ws"', encoding="utf-8")
    write(workspace, 'team_user_prompt = "found"')

    assert PromptBuilderSettings().team_user_prompt == "found"


FAULTS = {
    "not TOML": ("team_user_prompt = ", "prompt_builder.toml: not valid TOML"),
    "unknown key": ('team_user_promt = "x"', "unknown key 'team_user_promt'; did you mean 'team_user_prompt'?"),
    "foreign key": ('colour = "x"', "unknown key 'colour'; known: evaluator_user_prompt, "),
    "wrong type": ("team_user_prompt = 3", "team_user_prompt: Input should be a valid string"),
    "empty": ('judgment_user_prompt = " "', "judgment_user_prompt: prompt template cannot be empty"),
    "bad template": ('team_user_prompt = "{{ x"', "Jinja2 template error: team_user_prompt:1: not a valid Jinja2"),
    "bad variable": (
        'judgment_user_prompt = "{{ submision_history }}"',
        "unknown variable 'submision_history'; did you mean 'submission_history'?",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_in_the_file_is_one_line_that_says_what_to_do(fault: str, workspace: Path) -> None:
    """ConfigurationError for whoever loads settings for a command."""
    text, expected = FAULTS[fault]
    write(workspace, text)

    with pytest.raises(ConfigurationError) as caught:
        load_prompt_settings(workspace)

    assert expected in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_template_that_fails_is_named_with_its_file(workspace: Path) -> None:
    """The words are seed 004's; the file is where somebody has to look."""
    file = write(workspace, 'team_user_prompt = "{{ x"')

    with pytest.raises(RuntimeError, match=r"^Jinja2 template error: team_user_prompt:1: ") as caught:
        load_prompt_settings(workspace)

    assert f"(in {file} or the MIXSEEK_* environment)" in str(caught.value)


@pytest.mark.parametrize("field", ["team_user_prompt", "evaluator_user_prompt", "judgment_user_prompt"])
def test_templates_can_be_tried_before_anybody_is_asked(field: str) -> None:
    """What compiles and knows its variables may still fail on every text there is."""
    UserPromptBuilder(settings=PromptBuilderSettings()).try_templates("the task")
    broken = UserPromptBuilder(settings=PromptBuilderSettings.model_validate({field: "{{ user_prompt.author }}"}))

    with pytest.raises(RuntimeError, match=rf"^Jinja2 template error: {field}: "):
        broken.try_templates("the task")


def test_a_file_that_is_not_utf8_is_named(workspace: Path) -> None:
    """With the byte."""
    write(workspace, "").write_bytes('team_user_prompt = "\u3042"'.encode("euc-jp"))

    with pytest.raises(ConfigurationError, match=r"prompt_builder.toml: not UTF-8 at byte 20"):
        load_prompt_settings(workspace)


def test_settings_cannot_be_changed_after_they_were_checked() -> None:
    """A template that was set later would not have been compiled."""
    settings = PromptBuilderSettings()

    with pytest.raises(ValueError, match="frozen"):
        settings.team_user_prompt = "{{ nobody }}"

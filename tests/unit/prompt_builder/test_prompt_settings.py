"""Where templates come from: environment > the workspace's file > default, really read."""

from pathlib import Path

import pytest
from tests.cases import each

from mixseek.errors import ConfigurationError
from mixseek.prompt_builder.builder import UserPromptBuilder
from mixseek.prompt_builder.constants import DEFAULT_EVALUATOR_USER_PROMPT, DEFAULT_JUDGMENT_USER_PROMPT
from mixseek.prompt_builder.models import (
    EvaluatorPromptContext,
    PromptBuilderSettings,
    find_omissions,
    load_prompt_settings,
)
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
    shown = "{{ submission }}" if field == "evaluator_user_prompt" else ""
    default = getattr(PromptBuilderSettings(), field)
    write(workspace, f'{field} = "from the file{shown}"')
    from_file = getattr(PromptBuilderSettings(), field)
    monkeypatch.setenv(f"MIXSEEK_{field.upper()}", f"from the environment{shown}")
    from_environment = getattr(PromptBuilderSettings(), field)
    monkeypatch.setenv(f"MIXSEEK_PROMPT_BUILDER__{field.upper()}", f"by its full name{shown}")
    by_full_name = getattr(PromptBuilderSettings(), field)

    assert "{{ " in default
    assert from_file == f"from the file{shown}"
    assert from_environment == f"from the environment{shown}"
    assert by_full_name == f"by its full name{shown}"
    assert getattr(PromptBuilderSettings(**{field: f"given{shown}"}), field) == f"given{shown}"


@pytest.mark.parametrize("field", FIELDS)
def test_a_byte_order_mark_is_passed_over(field: str, workspace: Path) -> None:
    """Windows editors write one."""
    template = "from the file{{ submission }}" if field == "evaluator_user_prompt" else "from the file"
    write(workspace, f'\ufeff{field} = "{template}"')

    assert getattr(PromptBuilderSettings(), field) == template
    assert getattr(load_prompt_settings(workspace), field) == template


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


@pytest.mark.parametrize("field", FIELDS)
def test_the_keys_may_stand_under_a_table_header(field: str, workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`[prompt_builder]` is what the environment's longer names make people write; the environment still wins."""
    shown = "{{ submission }}" if field == "evaluator_user_prompt" else ""
    write(workspace, f'[prompt_builder]\n{field} = "under the header{shown}"')
    under_header = getattr(load_prompt_settings(workspace), field)
    monkeypatch.setenv(f"MIXSEEK_{field.upper()}", f"from the environment{shown}")

    assert under_header == f"under the header{shown}"
    assert getattr(PromptBuilderSettings(), field) == f"from the environment{shown}"


def test_keys_above_the_header_count_with_those_below_it(workspace: Path) -> None:
    """Half of a file moved under a header is still one file."""
    write(workspace, 'team_user_prompt = "above"\n[prompt_builder]\njudgment_user_prompt = "below"')
    settings = PromptBuilderSettings()

    assert (settings.team_user_prompt, settings.judgment_user_prompt) == ("above", "below")


FAULTS = {
    "above and below": (
        'team_user_prompt = "a"\n[prompt_builder]\nteam_user_prompt = "b"',
        "prompt_builder.toml: team_user_prompt stands above [prompt_builder] and below it; keep one of them",
    ),
    "unknown under the header": (
        '[prompt_builder]\nteam_user_promt = "x"',
        "unknown key 'team_user_promt'; did you mean 'team_user_prompt'?",
    ),
    "no table": ("prompt_builder = 3", "unknown key 'prompt_builder'; known keys here: evaluator_user_prompt, "),
    "not TOML": ("team_user_prompt = ", "prompt_builder.toml: not valid TOML"),
    "unknown key": ('team_user_promt = "x"', "unknown key 'team_user_promt'; did you mean 'team_user_prompt'?"),
    "foreign key": ('colour = "x"', "unknown key 'colour'; known keys here: evaluator_user_prompt, "),
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
    shown = "{{ submission }}" if field == "evaluator_user_prompt" else ""
    template = f"{{{{ user_prompt.author }}}}{shown}"
    broken = UserPromptBuilder(settings=PromptBuilderSettings.model_validate({field: template}))

    with pytest.raises(RuntimeError, match=rf"^Jinja2 template error: {field}: "):
        broken.try_templates("the task")


# Each fails in one situation only: a later round, one without a score, no board, a team that is not on it yet.
LATER_FAULTS = [
    "{% if round_number > 1 %}{{ user_prompt.author }}{% endif %}",
    "{% if round_number == 4 %}{{ user_prompt.author }}{% endif %}",
    "{% if '50.00' in submission_history %}{{ user_prompt.author }}{% endif %}",
    "{% if '未評価' in submission_history %}{{ user_prompt.author }}{% endif %}",
    "{{ ranking_table.splitlines()[0] }}",
    "{% if '当該' in team_position_message or 'あなた' in team_position_message %}{{ 1 // 0 }}{% endif %}",
    "{% if 'まだ順位がありません' in team_position_message %}{{ 1 // 0 }}{% endif %}",
]


@each("template", LATER_FAULTS)
@each("field", ["team_user_prompt", "judgment_user_prompt"])
def test_templates_are_tried_for_every_round_with_a_board_and_without(field: str, template: str) -> None:
    """What only a later round would show has been paid for by then."""
    broken = UserPromptBuilder(settings=PromptBuilderSettings.model_validate({field: template}))

    with pytest.raises(RuntimeError, match=rf"^Jinja2 template error: {field}: "):
        broken.try_templates("the task", max_rounds=4)


def test_a_template_is_not_tried_where_it_is_never_used() -> None:
    """The judge of progress is first asked after round 1, and a team plays no round after the last."""
    settings = PromptBuilderSettings(
        team_user_prompt="{{ 1 // (3 - round_number) }}", judgment_user_prompt="{{ 1 // (round_number - 1) }}"
    )

    UserPromptBuilder(settings=settings).try_templates("the task", max_rounds=2)


@pytest.mark.parametrize("template", ["Rate it.", "{{ user_query }}", "{# {{ submission }} #}{{ user_query }}"])
def test_an_evaluator_that_would_not_see_the_submission_is_refused(template: str, workspace: Path) -> None:
    """It would score all the same. In the settings, in the file and where it is set later."""
    message = r"evaluator_user_prompt: \{\{ submission \}\} is not in it"
    with pytest.raises(RuntimeError, match=message):
        PromptBuilderSettings(evaluator_user_prompt=template)
    write(workspace, f'evaluator_user_prompt = "{template}"')
    with pytest.raises(ConfigurationError, match=message):
        load_prompt_settings(workspace)


def test_what_a_template_leaves_out_is_said() -> None:
    """Allowed: a judge of progress may be asked about the board alone."""
    assert find_omissions(PromptBuilderSettings()) == []
    omitted = find_omissions(PromptBuilderSettings(judgment_user_prompt="{{ ranking_table }}", team_user_prompt="Go."))
    assert [line.partition(":")[0] for line in omitted] == ["team_user_prompt", "judgment_user_prompt"]
    assert "{{ submission_history }} is not in it" in omitted[1]


def test_settings_of_a_builder_can_be_replaced_and_what_is_refused_changes_nothing() -> None:
    """The attribute of the document's diagram is a real one: what is set is what is rendered."""
    builder = UserPromptBuilder(settings=PromptBuilderSettings())
    context = EvaluatorPromptContext(user_query="q", submission="s")
    other = PromptBuilderSettings(evaluator_user_prompt="OTHER {{ submission }}")
    builder.settings = other

    assert builder.settings is other
    assert builder.build_evaluator_prompt(context).startswith("OTHER ")
    with pytest.raises(RuntimeError, match="is not in it"):
        builder.settings = other.model_copy(update={"evaluator_user_prompt": "blind"})
    assert builder.build_evaluator_prompt(context).startswith("OTHER ")


@pytest.mark.parametrize("name", ["workspace", "jinja_env", "language"])
def test_what_a_builder_could_only_ignore_cannot_be_set(name: str, tmp_path: Path) -> None:
    """Templates are compiled and settings read when the builder is made."""
    builder = UserPromptBuilder(settings=PromptBuilderSettings())

    with pytest.raises(AttributeError):
        setattr(builder, name, tmp_path)


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

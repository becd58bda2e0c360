"""What a prompt is made from, checked at the door, and the templates it is made with (seed 004)."""

from pathlib import Path
from typing import ClassVar, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator
from pydantic_settings import SettingsConfigDict

from mixseek.domain.rounds import LeaderBoardReader, RoundState, check_name
from mixseek.errors import ConfigurationError, TemplateRenderError
from mixseek.prompt_builder.constants import (
    DEFAULT_EVALUATOR_USER_PROMPT,
    DEFAULT_JUDGMENT_USER_PROMPT,
    DEFAULT_TEAM_USER_PROMPT,
    EXPECTED_VARIABLES,
    REQUIRED_VARIABLES,
    TEMPLATE_VARIABLES,
)
from mixseek.settings.load import explaining_failures, load_settings
from mixseek.settings.models import ENVIRONMENT_PREFIX, SETTINGS_FILE, PromptTable
from mixseek.settings.sources import FileSettings
from mixseek.templating import StrictTemplate, compile_template, used_variables

TOML_FILE = "configs/prompt_builder.toml"


class PromptContext(BaseModel):
    """Texts in it are refused, in seed 004's words, when nothing but space is in them."""

    # The store is an object of ours, known by what it can do.
    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)

    @field_validator(
        "user_query", "submission", "user_prompt", "team_id", "team_name", "execution_id", check_fields=False
    )
    @classmethod
    def validate_not_empty(cls, value: str, info: ValidationInfo) -> str:
        """An empty submission is a failed team, not something to evaluate."""
        check_name(value, str(info.field_name))
        return value


class EvaluatorPromptContext(PromptContext):
    """What the evaluator is shown. The time is not part of it: the builder reads it when it renders."""

    user_query: str
    submission: str


class RoundPromptContext(PromptContext):
    """What a team, or the judge of its progress, is shown before round `round_number`."""

    user_prompt: str
    round_number: int
    round_history: list[RoundState]
    team_id: str
    team_name: str
    execution_id: str
    store: LeaderBoardReader | None = None

    @field_validator("round_number")
    @classmethod
    def validate_round_number(cls, value: int) -> int:
        """Rounds count from 1."""
        if value < 1:
            raise ValueError(f"round_number must be >= 1, not {value}")
        return value


class PromptBuilderSettings(FileSettings):
    """Environment > `$MIXSEEK_WORKSPACE/configs/prompt_builder.toml` > `[prompt_builder]` of mixseek.toml > default.

    Key by key, and templates are compiled as they load.

    Raises ValidationError, a ValueError, for an empty template or an unknown key, and TemplateRenderError, a
    RuntimeError, for a template that does not compile or uses a variable it is not given.
    """

    team_user_prompt: str = Field(default=DEFAULT_TEAM_USER_PROMPT, description="a team, before each of its rounds")
    evaluator_user_prompt: str = Field(
        default=DEFAULT_EVALUATOR_USER_PROMPT,
        description="the judge of each metric; has to use `submission`",
    )
    judgment_user_prompt: str = Field(
        default=DEFAULT_JUDGMENT_USER_PROMPT, description="the judge that says whether another round is worth it"
    )

    # What nested settings of this name would be called.
    exact_prefix: ClassVar[str | None] = "MIXSEEK_PROMPT_BUILDER__"
    table_header: ClassVar[str | None] = "prompt_builder"
    settings_table: ClassVar[str | None] = "prompt_builder"
    model_config = SettingsConfigDict(
        env_prefix=ENVIRONMENT_PREFIX, toml_file=TOML_FILE, env_file_encoding="utf-8", extra="forbid", frozen=True
    )

    @field_validator("team_user_prompt", "evaluator_user_prompt", "judgment_user_prompt")
    @classmethod
    def validate_template(cls, value: str, info: ValidationInfo) -> str:
        """A mistake in a template surfaces here and not after the first round has been paid for."""
        if not value.strip():
            raise ValueError(f"{info.field_name}: prompt template cannot be empty")
        compile_prompt(str(info.field_name), value)
        return value

    @classmethod
    def toml_path(cls) -> Path:
        """A relative one lies in the configured workspace."""
        file = super().toml_path()
        return file if file.is_absolute() else load_settings().workspace / file

    @classmethod
    def of_workspace(cls, workspace: Path) -> Self:
        """The same as `PromptBuilderSettings()`, with the file of this workspace, whatever MIXSEEK_WORKSPACE says."""
        config = SettingsConfigDict(toml_file=workspace.resolve() / TOML_FILE)
        bound: type[Self] = type(cls.__name__, (cls,), {"__module__": cls.__module__, "model_config": config})
        return bound()


def compile_prompt(field: str, source: str) -> StrictTemplate:
    """Every failure of a template is a RuntimeError with seed 004's words, also one that is found before rendering."""
    try:
        template = compile_template(source, TEMPLATE_VARIABLES[field], field)
    except ConfigurationError as error:
        raise TemplateRenderError(f"Jinja2 template error: {error}") from error
    needed = REQUIRED_VARIABLES.get(field)
    if needed is not None and needed not in used_variables(source):
        raise TemplateRenderError(
            f"Jinja2 template error: {field}: {{{{ {needed} }}}} is not in it, so the judge would not see what it "
            f"evaluates; put {{{{ {needed} }}}} where it belongs"
        )
    return template


def find_omissions(settings: PromptBuilderSettings) -> list[str]:
    """A line for each template that leaves out what its reader is asked about; allowed, but rarely meant."""
    return [
        f"{field}: {{{{ {min(expected, key=len)} }}}} is not in it, so its reader is asked about what it is not shown"
        for field, expected in EXPECTED_VARIABLES.items()
        if not expected & used_variables(getattr(settings, field))
    ]


def load_prompt_settings(workspace: Path | None = None) -> PromptBuilderSettings:
    """Settings of this workspace, or else of the configured one; raises ConfigurationError in one line."""
    settings = load_settings()
    file: str | Path = (workspace or settings.workspace) / TOML_FILE
    if settings.prompt_builder != PromptTable():
        file = f"{file}, [prompt_builder] of {SETTINGS_FILE}"
    try:
        with explaining_failures(file, PromptBuilderSettings, or_environment=True):
            return PromptBuilderSettings() if workspace is None else PromptBuilderSettings.of_workspace(workspace)
    except TemplateRenderError as error:
        raise TemplateRenderError(f"{error} (in {file} or the {ENVIRONMENT_PREFIX}* environment)") from error

"""What can be set outside the command line. Closed: a misspelt key is refused, never ignored."""

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict, TomlConfigSettingsSource

SETTINGS_FILE = "mixseek.toml"


class JudgeSettings(BaseModel):
    """Defaults of `mixseek judge`; an option on the command line wins."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    protocol: str = "semantic"
    judges: tuple[str, ...] = ("rules",)
    cascade: bool = False
    language: Literal["en", "ja", "zh"] = "en"
    # 0 means: as many processes as there are cores, when the dataset is large enough to pay for them.
    workers: int = Field(default=0, ge=0, le=256)


class Settings(BaseSettings):
    """Everything `mixseek.toml` and `MIXSEEK_*` may say."""

    model_config = SettingsConfigDict(
        extra="forbid",
        frozen=True,
        env_prefix="MIXSEEK_",
        env_nested_delimiter="__",
        env_ignore_empty=True,  # MIXSEEK_WORKSPACE= means unset, not the current directory
        toml_file=SETTINGS_FILE,
    )

    workspace: Path = Path(".mixseek")
    judge: JudgeSettings = JudgeSettings()

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Add the TOML source: `toml_file=` alone reads nothing."""
        return init_settings, env_settings, TomlConfigSettingsSource(settings_cls)

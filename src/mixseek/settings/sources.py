"""Where settings come from. Apart from the models: pydantic-settings costs a fifth of a second to import."""

from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, ClassVar

from pydantic_settings import (
    BaseSettings,
    EnvSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from mixseek.settings.models import ENVIRONMENT_PREFIX, SETTINGS_FILE, Settings, decode_text, parse_toml, read_bounded


class TomlFileSource(TomlConfigSettingsSource):
    """A TOML file as it was saved; the library's own source refuses a byte-order mark."""

    def _read_file(self, file_path: Path | Traversable) -> dict[str, Any]:
        return parse_toml(decode_text(read_bounded(file_path)))


class FileSettings(BaseSettings):
    """Environment > TOML file > default."""

    # A longer prefix that variables may have as well; it wins, being the more exact.
    exact_prefix: ClassVar[str | None] = None

    @classmethod
    def toml_path(cls) -> Path:
        return Path(str(cls.model_config.get("toml_file")))

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
        exact = [EnvSettingsSource(settings_cls, env_prefix=cls.exact_prefix)] if cls.exact_prefix else []
        return init_settings, *exact, env_settings, TomlFileSource(settings_cls, cls.toml_path())


class GivenSettings(Settings, FileSettings):
    """Settings as found in the environment and in the current directory."""

    model_config = SettingsConfigDict(
        env_prefix=ENVIRONMENT_PREFIX,
        env_nested_delimiter="__",
        env_ignore_empty=True,  # MIXSEEK_WORKSPACE= means unset, not the current directory
        toml_file=SETTINGS_FILE,
    )

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

from mixseek.errors import ConfigurationError
from mixseek.settings.models import ENVIRONMENT_PREFIX, SETTINGS_FILE, Settings
from mixseek.settings.text_files import decode_text, parse_toml, read_bounded

# Tables of mixseek.toml that no variable of the environment may set.
FILE_ONLY = frozenset({"jobs", "prompt_builder"})


class TomlFileSource(TomlConfigSettingsSource):
    """A TOML file as it was saved; the library's own source refuses a byte-order mark."""

    def __init__(self, settings_cls: type[BaseSettings], file: Path, header: str | None = None) -> None:
        # Before the library's own constructor, which reads the file.
        self._header = header
        super().__init__(settings_cls, file)

    def _read_file(self, file_path: Path | Traversable) -> dict[str, Any]:
        document = parse_toml(decode_text(read_bounded(file_path)))
        return document if self._header is None else below_header(document, self._header, str(file_path))


class SettingsTableSource(TomlConfigSettingsSource):
    """One table of mixseek.toml; what is wrong with the rest of the file is said when settings are loaded."""

    def __init__(self, settings_cls: type[BaseSettings], table: str) -> None:
        self._table = table
        super().__init__(settings_cls, Path(SETTINGS_FILE))

    def _read_file(self, file_path: Path | Traversable) -> dict[str, Any]:
        table = parse_toml(decode_text(read_bounded(file_path))).get(self._table, {})
        return table if isinstance(table, dict) else {}


class VariableSource(EnvSettingsSource):
    """The environment, without what only a file may hold."""

    def __call__(self) -> dict[str, Any]:
        return {name: value for name, value in super().__call__().items() if name not in FILE_ONLY}


def below_header(document: dict[str, Any], header: str, file: str) -> dict[str, Any]:
    """The keys of a file that is about one table, whether its header stands above them or is left out."""
    table = document.get(header)
    if not isinstance(table, dict):
        return document
    bare = {key: value for key, value in document.items() if key != header}
    if twice := sorted(bare.keys() & table.keys()):
        raise ConfigurationError(f"{file}: {twice[0]} stands above [{header}] and below it; keep one of them")
    return bare | table


class FileSettings(BaseSettings):
    """Environment > TOML file > its table in mixseek.toml > default."""

    # A longer prefix that variables may have as well; it wins, being the more exact.
    exact_prefix: ClassVar[str | None] = None
    # The name of a table that may hold all keys of the file, as if they stood at its top.
    table_header: ClassVar[str | None] = None
    # The table of mixseek.toml that says what the file does not.
    settings_table: ClassVar[str | None] = None

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
        file = TomlFileSource(settings_cls, cls.toml_path(), cls.table_header)
        below = [SettingsTableSource(settings_cls, cls.settings_table)] if cls.settings_table else []
        return init_settings, *exact, VariableSource(settings_cls), file, *below


class GivenSettings(Settings, FileSettings):
    """Settings as found in the environment and in the current directory."""

    model_config = SettingsConfigDict(
        env_prefix=ENVIRONMENT_PREFIX,
        env_nested_delimiter="__",
        env_ignore_empty=True,  # MIXSEEK_WORKSPACE= means unset, not the current directory
        toml_file=SETTINGS_FILE,
    )

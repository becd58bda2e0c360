"""What can be set outside the command line. Closed: a misspelt key is refused, never ignored."""

from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from mixseek.settings.judge_settings import DEFAULT_TIMEOUT_SECONDS, JudgeSettings

SETTINGS_FILE = "mixseek.toml"
ENVIRONMENT_PREFIX = "MIXSEEK_"


class JudgeDefaults(BaseModel):
    """Defaults of `mixseek judge`; an option on the command line wins."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    protocol: str = "semantic"
    judges: tuple[str, ...] = ("rules",)
    cascade: bool = False
    # None: the protocol's own.
    language: Literal["en", "ja", "zh"] | None = None
    # 0 means: as many processes as there are cores, when the dataset is large enough to pay for them.
    workers: int = Field(default=0, ge=0, le=256)


class JudgeTable(BaseModel):
    """One `[judges.NAME]` table; what each key means is said in judge_settings."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: str | None = None
    provider: str | None = None
    wire: Literal["openai", "anthropic"] | None = None
    base_url: str | None = None
    api_key_env: str | None = None
    temperature: float | None = Field(default=None, ge=0, le=5)
    top_p: float | None = Field(default=None, gt=0, le=1)
    max_tokens: int | None = Field(default=None, ge=1)
    seed: int | None = None
    headers: dict[str, str] = Field(default_factory=dict, repr=False)
    body: dict[str, Any] = Field(default_factory=dict, repr=False)
    price_input: float | None = Field(default=None, ge=0)
    price_output: float | None = Field(default=None, ge=0)
    rpm: int | None = Field(default=None, ge=1)
    tpm: int | None = Field(default=None, ge=1)
    concurrency: int | None = Field(default=None, ge=1, le=4096)
    timeout_seconds: float = Field(default=DEFAULT_TIMEOUT_SECONDS, gt=0)
    max_reasks: int | None = Field(default=None, ge=0, le=10)
    use_proxy: bool = False

    def to_settings(self) -> JudgeSettings:
        """Field by field: a test holds the two to the same names."""
        return JudgeSettings(**{name: getattr(self, name) for name in type(self).model_fields})


class Settings(BaseModel):
    """Everything `mixseek.toml` and `MIXSEEK_*` may say."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    workspace: Path = Path(".mixseek")
    judge: JudgeDefaults = JudgeDefaults()
    # By name: what stands after --judge.
    judges: dict[str, JudgeTable] = Field(default_factory=dict)

    def configured_judges(self) -> dict[str, JudgeSettings]:
        """The tables as what judges are made of."""
        return {name: table.to_settings() for name, table in self.judges.items()}

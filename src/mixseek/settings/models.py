"""What can be set outside the command line. Closed: a misspelt key is refused, never ignored."""

from enum import StrEnum
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

SETTINGS_FILE = "mixseek.toml"
ENVIRONMENT_PREFIX = "MIXSEEK_"
DEFAULT_TIMEOUT_SECONDS = 120.0

Language = Literal["en", "ja", "zh"]


class WireFormat(StrEnum):
    """How an endpoint is spoken to."""

    OPENAI = "openai"
    ANTHROPIC = "anthropic"


class Table(BaseModel):
    """Any table of a configuration file of ours."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class JudgeSettings(Table):
    """One `[judges.NAME]` table. None means: the provider's value, or left to the endpoint, and then it is not sent."""

    model: str | None = None
    # A name from the provider table; decides base_url, wire format and key variable unless they are given.
    provider: str | None = None
    wire: WireFormat | None = None
    base_url: str | None = None
    # The name of an environment variable; the key itself never stands in a file.
    api_key_env: str | None = None
    temperature: float | None = Field(default=None, ge=0, le=5)
    top_p: float | None = Field(default=None, gt=0, le=1)
    max_tokens: int | None = Field(default=None, ge=1)
    seed: int | None = None
    # A value "$NAME" is read from the environment. Out of the repr: people write credentials here.
    headers: dict[str, str] = Field(default_factory=dict, repr=False)
    # Merged into the request as it stands; wins over what mixseek would send.
    body: dict[str, Any] = Field(default_factory=dict, repr=False)
    # US dollars per million tokens.
    price_input: float | None = Field(default=None, ge=0)
    price_output: float | None = Field(default=None, ge=0)
    # Requests and tokens per minute that the endpoint grants.
    rpm: int | None = Field(default=None, ge=1)
    tpm: int | None = Field(default=None, ge=1)
    concurrency: int | None = Field(default=None, ge=1, le=4096)
    # For one whole call, from connecting to the last byte.
    timeout_seconds: float = Field(default=DEFAULT_TIMEOUT_SECONDS, gt=0)
    max_reasks: int | None = Field(default=None, ge=0, le=10)
    # HTTPS_PROXY and its relatives are obeyed only when asked: a forgotten variable should not see prompts.
    use_proxy: bool = False


class JudgeDefaults(Table):
    """Defaults of `mixseek judge`; an option on the command line wins."""

    protocol: str = "semantic"
    judges: tuple[str, ...] = ("rules",)
    cascade: bool = False
    # None: the protocol's own.
    language: Language | None = None
    # 0 means: as many processes as there are cores, when the dataset is large enough to pay for them.
    workers: int = Field(default=0, ge=0, le=256)


class Settings(Table):
    """Everything `mixseek.toml` and `MIXSEEK_*` may say."""

    workspace: Path = Path(".mixseek")
    judge: JudgeDefaults = JudgeDefaults()
    # By name: what stands after --judge.
    judges: dict[str, JudgeSettings] = Field(default_factory=dict)

"""What can be set outside the command line. Closed: a misspelt key is refused, never ignored."""

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class JudgeSettings(BaseModel):
    """Defaults of `mixseek judge`; an option on the command line wins."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    protocol: str = "semantic"
    judges: tuple[str, ...] = ("rules",)
    cascade: bool = False
    language: Literal["en", "ja", "zh"] = "en"
    # 0 means: as many processes as there are cores, when the dataset is large enough to pay for them.
    workers: int = Field(default=0, ge=0, le=256)


class Settings(BaseModel):
    """Everything `mixseek.toml` and `MIXSEEK_*` may say."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    workspace: Path = Path(".mixseek")
    judge: JudgeSettings = JudgeSettings()

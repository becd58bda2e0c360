"""What people may write in files: text and TOML read within bounds, tables that are closed, and what can be set."""

import re
import tomllib
from enum import StrEnum
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from mixseek.errors import ConfigurationError

# What can be set outside the command line. Closed: a misspelt key is refused, never ignored.

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
    """One `[judges.NAME]` table. None means: the provider's value, or left to the endpoint, and then it is not sent.

    The descriptions are the reference in docs/settings.md.
    """

    model: str | None = Field(default=None, description="What the endpoint calls its model; always needed.")
    provider: str | None = Field(
        default=None,
        description="A name from the table of providers: decides `base_url`, `wire` and the variable of the key unless "
        "they are given. A table that is called like a provider has it already. `gguf` is a model in this process, "
        "`pydantic-ai` every provider of that library.",
    )
    wire: WireFormat | None = Field(
        default=None, description="How the endpoint is spoken to: chat completions, or Anthropic's messages."
    )
    base_url: str | None = Field(
        default=None,
        description="Where the API begins: `http(s)://host[:port]/path`, usually up to and with `/v1`. Without a "
        "credential in it.",
    )
    api_key_env: str | None = Field(
        default=None,
        description="The name of the environment variable that holds the key; the key itself never stands in a file.",
    )
    temperature: float | None = Field(default=None, ge=0, le=5, description="Sent as it is.")
    top_p: float | None = Field(default=None, gt=0, le=1, description="Sent as it is.")
    max_tokens: int | None = Field(
        default=None, ge=1, description="How long a reply may become. What is cut off there is an invalid reply."
    )
    seed: int | None = Field(
        default=None, description="Sent as it is; each further repeat (`--repeats`) asks with the next number."
    )
    # Out of the repr: people write credentials here.
    headers: dict[str, str] = Field(
        default_factory=dict,
        repr=False,
        description="Sent with every request. A value `$NAME` is read from the environment, and is then kept out of "
        "everything that is written down.",
    )
    body: dict[str, Any] = Field(
        default_factory=dict,
        repr=False,
        description="Merged into the request as it stands; wins over what mixseek would send. Not `model`, `messages` "
        "or `stream`.",
    )
    price_input: float | None = Field(
        default=None,
        ge=0,
        description="US dollars for a million tokens sent, together with `price_output`; wins over the "
        "table of prices (extra `prices`).",
    )
    price_output: float | None = Field(default=None, ge=0, description="US dollars for a million tokens of replies.")
    rpm: int | None = Field(default=None, ge=1, description="Requests a minute that the endpoint grants.")
    tpm: int | None = Field(default=None, ge=1, description="Tokens a minute that the endpoint grants.")
    concurrency: int | None = Field(
        default=None, ge=1, le=4096, description="Calls at once, at most; `--concurrency` where it is not given."
    )
    timeout_seconds: float = Field(
        default=DEFAULT_TIMEOUT_SECONDS, gt=0, description="For one whole call, from connecting to the last byte."
    )
    max_reasks: int | None = Field(
        default=None, ge=0, le=10, description="Ask again so often after an invalid reply; `--max-reasks` otherwise."
    )
    use_proxy: bool = Field(
        default=False,
        description="Obey `HTTPS_PROXY` and its relatives. Only if asked: a forgotten variable should not see prompts.",
    )


class JudgeDefaults(Table):
    """Defaults of `mixseek judge`; an option on the command line wins."""

    protocol: str = Field(default="semantic", description="`--protocol`: a built-in one, or the path of a TOML file.")
    judges: tuple[str, ...] = Field(
        default=("rules",), description="`--judge`, in their order: what may stand there may stand here."
    )
    cascade: bool = Field(
        default=False, description="`--cascade`: the next judge is asked only where none before it gave a judgment."
    )
    language: Language | None = Field(
        default=None, description="`--language` of the prompts; the protocol's own where it is not given."
    )
    workers: int = Field(
        default=0,
        ge=0,
        le=256,
        description="`--workers`: processes for `rules`. 0 means as many as there are cores, where the dataset is "
        "large enough to pay for them.",
    )
    max_line_mb: int = Field(
        default=64,
        ge=1,
        le=4096,
        description="How long a line of DATA may be; a longer one is refused before it is in memory, of which it would "
        "take several times its size. The same holds for recorded replies, label sheets, tables of ratings and "
        "submissions. No option has it.",
    )

    @property
    def longest_line(self) -> int:
        """In bytes, as readers are told."""
        return self.max_line_mb << 20


class Settings(Table):
    """Everything `mixseek.toml` and `MIXSEEK_*` may say."""

    workspace: Path = Field(
        default=Path(".mixseek"),
        description="`--workspace`: where runs, replies that were paid for, labels and competitions are kept.",
    )
    judge: JudgeDefaults = JudgeDefaults()
    judges: dict[str, JudgeSettings] = Field(
        default_factory=dict, description="By name: what stands after `--judge`, or in `judge.judges`."
    )


# Text files as people's editors save them, and TOML, read within bounds: nobody's file may eat the machine.

# No configuration or prompt comes near; the parsers behind would take a hundred times as much memory.
MAX_BYTES = 1_000_000
# tomllib keeps every beginning of a dotted key: 50,000 parts took 9.8 GB.
MAX_KEY_PARTS = 32
MAX_DEPTH = 64

# What may hold dots and brackets that mean nothing: texts of several lines, texts of one, comments. An unclosed one
# ends with its line, or with the file.
_OPAQUE = re.compile(
    r"\"\"\"(?:[^\\]|\\.)*?(?:\"\"\"|\Z)|'''.*?(?:'''|\Z)"
    r"|\"(?:[^\"\\\n]|\\[^\n])*+\"?|'[^'\n]*+'?|#[^\n]*+",
    re.DOTALL,
)
_BRACKET = re.compile(r"[\[\]{}]")
_BETWEEN_KEYS = re.compile(r"[\[\]{}=,]")


def read_bounded(path: Path | Traversable) -> bytes:
    """All of a small file. Raises OSError, and ConfigurationError for one that is too large to be meant."""
    with path.open("rb") as stream:
        data = stream.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise ConfigurationError(f"{path}: larger than {MAX_BYTES:,} bytes, which no such file needs")
    return data


def decode_text(data: bytes) -> str:
    """UTF-8 without the byte-order mark of Windows editors; offsets in a UnicodeDecodeError count the mark."""
    return data.decode().removeprefix("\ufeff")


def parse_toml(text: str) -> dict[str, Any]:
    """The only way to tomllib. Raises TOMLDecodeError, also for what tomllib would choke on."""
    _refuse_excess(text)
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        raise
    except ValueError as error:
        # The only other one: an integer of more digits than Python converts, or a date that there is not.
        raise tomllib.TOMLDecodeError(f"a value that cannot be read: {str(error).partition(';')[0]}") from error


def _refuse_excess(text: str) -> None:
    plain = _OPAQUE.sub(lambda found: "\n" * found[0].count("\n"), text)
    depth = 0
    for number, line in enumerate(plain.split("\n"), start=1):
        for mark in _BRACKET.findall(line):
            depth = depth + 1 if mark in "[{" else max(0, depth - 1)
            if depth > MAX_DEPTH:
                raise tomllib.TOMLDecodeError(f"nested more than {MAX_DEPTH} deep (at line {number}, column 1)")
        if any(piece.count(".") >= MAX_KEY_PARTS for piece in _BETWEEN_KEYS.split(line)):
            raise tomllib.TOMLDecodeError(f"a key of more than {MAX_KEY_PARTS} parts (at line {number}, column 1)")

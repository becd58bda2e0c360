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
    # Questions that are answered with probabilities; `api` says so.
    DECISIONS = "decisions"
    SYSTEMONE = "systemone"


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
    wire: Literal[WireFormat.OPENAI, WireFormat.ANTHROPIC] | None = Field(
        default=None, description="How the endpoint is spoken to: chat completions, or Anthropic's messages."
    )
    api: Literal[WireFormat.DECISIONS, WireFormat.SYSTEMONE] | None = Field(
        default=None,
        description="For a decision endpoint, which answers a protocol's questions with probabilities and writes "
        "nothing ([probabilities](probabilities.md)): `decisions` as OpenAI's, `systemone` as local servers and "
        "several hosts have it. `--judge decisions:NAME` is the same as `decisions` in the table.",
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
        default=None,
        ge=1,
        description="How long a reply may become. A judge's reply that is cut off there is invalid; a target's "
        "response is told as cut off.",
    )
    seed: int | None = Field(
        default=None, description="Sent as it is; each further repeat (`--repeats`) asks with the next number."
    )
    reasoning_effort: str | None = Field(
        default=None,
        min_length=1,
        description="How hard a model is to think, in its provider's words (`low`, `medium`, `high`); sent as it is.",
    )
    system: str | None = Field(
        default=None,
        min_length=1,
        description="A system prompt of its own, sent where what is asked has none: for targets of `mixseek answer`.",
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
    price_cached_input: float | None = Field(
        default=None,
        ge=0,
        description="US dollars for a million tokens that the endpoint took from a cache of its own; `price_input` "
        "where it is not given.",
    )
    price_cache_write: float | None = Field(
        default=None,
        ge=0,
        description="US dollars for a million tokens that the endpoint put into such a cache; `price_input` where it "
        "is not given.",
    )
    cache: bool = Field(
        default=True,
        description="Whether OpenAI, Azure and Anthropic are told which part of a prompt is constant, so that they "
        "take it from a cache of their own; replies that mixseek itself keeps are another matter (`--no-cache`).",
    )
    logprobs: bool = Field(
        default=False,
        description="Whether the endpoint is asked for the probabilities of tokens, from which a judgment gets its "
        "confidence and its expected score ([probabilities](probabilities.md)). One that has none says so once, and "
        "judges without.",
    )
    top_logprobs: int | None = Field(
        default=None,
        ge=1,
        le=20,
        description="With `logprobs`: how many alternatives of a token; the most that the endpoint is known to give "
        "where it is not given. Lowered, and told, where the endpoint refuses so many.",
    )
    images: bool = Field(
        default=False,
        description="Whether the model takes pictures: those of steps (data URLs, or files that are pictures) are sent "
        "to endpoints that speak as OpenAI or Anthropic do. Otherwise a prompt says that they are left out.",
    )
    price_batch: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description="What an answer out of a batch costs, as a part of its price at once; `0.5` at providers that have "
        "batches, and `1` for files.",
    )
    batch: bool = Field(
        default=False,
        description="Requests to this judge are left in batches, as with `--batch` for all judges.",
    )
    batch_requests: int | None = Field(
        default=None, ge=1, description="How many requests a batch has at most, where the provider's limit is too much."
    )
    batch_tokens: int | None = Field(
        default=None,
        ge=1,
        description="How many tokens of prompts may wait in batches at once: the limit of your tier, where it has one.",
    )
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
        """The limit in bytes, as readers are told."""
        return self.max_line_mb << 20


class JobTable(BaseModel):
    """One `[jobs.NAME]` table: its keys are options of `mixseek judge`, which reads and checks them."""

    model_config = ConfigDict(extra="allow", frozen=True)


class PromptTable(Table):
    """`[prompt_builder]`: templates of competitions, checked where they are used."""

    team_user_prompt: str | None = None
    evaluator_user_prompt: str | None = None
    judgment_user_prompt: str | None = None


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
    # Of the file only: variables of the environment have no such names.
    jobs: dict[str, JobTable] = Field(default_factory=dict, description="By name: what `mixseek run` runs.")
    prompt_builder: PromptTable = PromptTable()

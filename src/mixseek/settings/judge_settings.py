"""One judge behind an endpoint, as a `[judges.NAME]` table describes it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

DEFAULT_TIMEOUT_SECONDS = 120.0


@dataclass(frozen=True, slots=True)
class JudgeSettings:
    """None means: the provider's value, or left to the endpoint. A parameter that is None is not sent."""

    model: str | None = None
    # A name from the provider table; decides base_url, wire format and key variable unless they are given.
    provider: str | None = None
    # "openai" or "anthropic": how the endpoint is spoken to.
    wire: str | None = None
    base_url: str | None = None
    # The name of an environment variable; the key itself never stands in a file.
    api_key_env: str | None = None
    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    seed: int | None = None
    # A value "$NAME" is read from the environment. Out of the repr: people write credentials here.
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    # Merged into the request as it stands; wins over what mixseek would send.
    body: Mapping[str, Any] = field(default_factory=dict, repr=False)
    # US dollars per million tokens.
    price_input: float | None = None
    price_output: float | None = None
    # Requests and tokens per minute that the endpoint grants.
    rpm: int | None = None
    tpm: int | None = None
    concurrency: int | None = None
    # For one whole call, from connecting to the last byte.
    timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS
    max_reasks: int | None = None
    # HTTPS_PROXY and its relatives are obeyed only when asked: a forgotten variable should not see prompts.
    use_proxy: bool = False

"""Asking a judge that has to be waited for: what is sent, what comes back, what it cost."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, NamedTuple, Protocol

from mixseek.domain.judgments import Reply
from mixseek.domain.ports import JudgeProtocol, Message, PresentingProtocol, ShownProtocol
from mixseek.domain.samples import Sample


@dataclass(frozen=True, slots=True)
class Call:
    """One request to one judge. `take` numbers independent repeats, `ask` the re-asks after an invalid reply."""

    sample_key: str
    messages: tuple[Message, ...]
    reply_schema: Mapping[str, Any]
    take: int = 1
    ask: int = 1
    # For judges that are no models, and look at the sample itself.
    sample: Sample | None = None


# How a sample is shown to a judge, where the protocol knows only one way; lines of a journal do not name it.
PLAIN = "plain"


def presentations_of(protocol: JudgeProtocol) -> tuple[str, ...]:
    """The ways in which a protocol shows a sample; a judgment is made of all of them."""
    # Asked first, because looking whether a class fits a Protocol takes as long as rendering a prompt.
    if hasattr(protocol, "presentations") and isinstance(protocol, PresentingProtocol):
        return protocol.presentations
    return (PLAIN,)


def presentation_of(protocol: JudgeProtocol) -> str:
    """The way that this one shows samples."""
    if hasattr(protocol, "presentation") and isinstance(protocol, ShownProtocol):
        return protocol.presentation
    return PLAIN


class ReplyKey(NamedTuple):
    """Which of the replies about a sample: whose, which of the repeats, and to which presentation."""

    judge: str
    repeat: int = 1
    presentation: str = PLAIN


class Usage(NamedTuple):
    """Tokens as the endpoint counted them; None where it did not say."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_input_tokens: int | None = None


class LostRequests(NamedTuple):
    """Requests that brought no reply, and what was billed for them all the same."""

    tries: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float = 0.0

    def plus(self, other: "LostRequests") -> "LostRequests":
        return LostRequests(
            self.tries + other.tries,
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cost_usd + other.cost_usd,
        )


NOTHING_LOST = LostRequests()


class Answer(NamedTuple):
    """A reply with what the endpoint said about it; `reply.details` holds the same as JSON for the journal."""

    reply: Reply
    usage: Usage
    latency_seconds: float
    # "stop", "length", "content_filter", "refusal", "tool_calls" or what else the endpoint calls it.
    finish_reason: str | None = None
    request_id: str | None = None
    # The model that answered, as the endpoint names it: may be finer than the one asked for.
    model: str | None = None


class LiveJudge(Protocol):
    """A judge behind an endpoint or a model in this process; waited for, limited, retried by the engine."""

    @property
    def name(self) -> str:
        """The judge's identity in journal, manifest and reports: its spec, or its name in the settings."""

    @property
    def endpoint(self) -> str:
        """Judges with the same endpoint share its limits (scheme, host and port; never a key)."""

    @property
    def fingerprint(self) -> str:
        """sha256 over all that decides a reply: wire format, base URL, model, decoding parameters, extra body."""

    @property
    def description(self) -> Mapping[str, Any]:
        """For the manifest: provider, model, base URL, decoding parameters. Never a key."""

    async def call(self, call: Call) -> Answer:
        """Raises one of the four kinds of JudgeCallError and nothing else; never retries by itself."""

    async def close(self) -> None:
        """Give connections back."""


@dataclass(frozen=True, slots=True)
class Latency:
    """Seconds from sending a request to its last byte, of the try that was answered."""

    p50: float
    p90: float
    p99: float


@dataclass(frozen=True, slots=True)
class CallAccount:
    """One judge. Sums are over what is known; `uncounted` and `unpriced` say how many calls they leave out."""

    judge: str
    calls: int  # replies that the endpoint gave in this run
    cached: int  # replies taken from the cache instead
    tries: int  # requests sent, repeats after a failure and calls that were given up included
    reasks: int  # calls that asked again after an invalid reply
    input_tokens: int
    output_tokens: int
    cached_input_tokens: int  # of `input_tokens`, what the endpoint had in a cache of its own
    uncounted: int  # calls whose tokens the endpoint did not count
    cost_usd: Decimal
    unpriced: int  # calls whose price is not known
    latency: Latency | None
    models: tuple[str, ...]  # as the endpoint names them
    finish_reasons: Mapping[str, int]  # the most frequent first

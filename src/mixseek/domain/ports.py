"""What the layers above must offer, which is all that engine and composition know of them; and what goes through it:
what is sent to a judge that has to be waited for, what comes back, what it cost.
"""

from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from typing import Any, NamedTuple, Protocol, Self, runtime_checkable

from mixseek.domain.decisions import DecisionQuestion, QuestionSet
from mixseek.domain.judgments import InvalidJudgment, Outcome, Read, Reply, Undecided, ValidJudgment
from mixseek.domain.samples import Sample
from mixseek.lazy_dataclass import dataclass


class Picture(NamedTuple):
    """A picture that a prompt speaks of: the line that says so, and its data URL or path."""

    line: str
    source: str


@dataclass(frozen=True, slots=True)
class Message:
    role: str  # "system" or "user"; "assistant" in a conversation that is filled in
    content: str
    # How many of its first characters all prompts of a run begin with, and all of those with the same task rubric.
    run_constant: int = 0
    rubric_constant: int = 0
    # Where the judge's endpoint takes pictures, they are sent behind their lines.
    pictures: tuple[Picture, ...] = ()

    @property
    def document(self) -> dict[str, str]:
        """What is said, and by whom."""
        return {"role": self.role, "content": self.content}


def constant_message(role: str, content: str) -> Message:
    """A message that is the same in all prompts of a run."""
    return Message(role, content, len(content), len(content))


class Nonces(NamedTuple):
    """What fences of a prompt are made of, unknown to whoever wrote what they hold."""

    # Of the question, and of all that belongs to it: the same in all prompts about that question.
    question: str
    # Of all else: another one in every sample.
    sample: str


@runtime_checkable
class JudgeProtocol(Protocol):
    """What is asked, the reply's shape, and every rule a reply must satisfy."""

    @property
    def name(self) -> str: ...
    @property
    def version(self) -> str: ...
    @property
    def language(self) -> str: ...
    @property
    def parameters(self) -> Mapping[str, Any]: ...
    @property
    def hash(self) -> str:
        """sha256 hex over name, version, language, parameters and templates: what was asked, to the letter."""

    @property
    def reply_schema(self) -> Mapping[str, Any]:
        """JSON schema for endpoints that can constrain their output."""

    def messages(self, sample: Sample, nonces: Nonces) -> tuple[Message, ...]:
        """The prompt, from what is constant to what is particular; judged text stands in fences made of `nonces`."""

    def parse(self, reply: Reply, sample: Sample) -> Read:
        """Never raises, whatever the text."""

    def decide(self, sample: Sample, maths: "MathsComparer | None" = None) -> ValidJudgment | Undecided:
        """What rules alone can say, `maths` about more than numbers; a protocol without rules is always undecided."""

    # Whoever needs none of what follows takes it from PlainProtocol.

    def missing_names(self, sample: Sample) -> tuple[str, ...]:
        """Fields without which nothing said about the sample could be aligned with others (seed 003 §0)."""

    def needs_no_response(self, sample: Sample) -> bool:
        """Whether the sample can be judged by what led to a response that never came."""

    def for_judge(self, judge: str) -> "JudgeProtocol":
        """The same protocol, hash included; with the judge's name in its messages, if replies must name it."""

    @property
    def presentations(self) -> tuple[str, ...]:
        """The ways in which a sample is shown, in the order of asking; one judgment is made of all of them."""

    @property
    def presentation(self) -> str:
        """The way in which this one shows samples."""

    def present(self, presentation: str) -> "JudgeProtocol":
        """The same protocol, hash included, with the sample shown that way."""

    @property
    def done_words(self) -> str:
        """What was done with the samples of a run that is resumed."""

    def show(self, sample: Sample) -> Sample:
        """The sample as a judge sees it, for judges that look at the sample itself."""

    def combine(self, outcomes: Mapping[str, Outcome]) -> Outcome:
        """One outcome of all, by presentation."""

    def complete(self, sample: Sample, outcome: Outcome) -> Outcome:
        """What became of a sample, with what is known of it whoever judged: the findings of checks."""

    @property
    def verdict_fields(self) -> tuple[tuple[str, ...], ...]:
        """The paths, in the reply's object, of the fields that the verdict is made of; none where nobody can tell."""

    @property
    def question_set(self) -> QuestionSet:
        """What a decision endpoint is asked, or why it cannot be."""

    @property
    def expected_tokens(self) -> int:
        """What a reply takes; only for estimates before the endpoint has said how many tokens they were."""

    def turns(self, sample: Sample) -> int:
        """How many replies one asking takes: more than one where a conversation is filled in, turn by turn."""

    def after(self, responses: tuple[str, ...]) -> "JudgeProtocol":
        """The same protocol, hash included, at the turn that follows these."""


@runtime_checkable
class JudgingProtocol(JudgeProtocol, Protocol):
    """A protocol that judges: what it makes of a reply is a judgment."""

    def parse(self, reply: Reply, sample: Sample) -> ValidJudgment | InvalidJudgment:
        """Never raises, whatever the text."""

    def present(self, presentation: str) -> "JudgingProtocol":
        """The same protocol, hash included, with the sample shown that way."""


# What a verdict with its comment takes.
EXPECTED_OUTPUT_TOKENS = 150
# The same of an answer to a question.
EXPECTED_ANSWER_TOKENS = 500
# How a sample is shown to a judge, where the protocol knows only one way; lines of a journal do not name it.
PLAIN = "plain"


class PlainProtocol:
    """What a protocol does that shows a sample as it is, to whoever judges it, wherever it belongs."""

    @property
    def done_words(self) -> str:
        return "samples have been judged"

    def missing_names(self, sample: Sample) -> tuple[str, ...]:
        return ()

    def needs_no_response(self, sample: Sample) -> bool:
        return False

    def for_judge(self, judge: str) -> Self:
        return self

    @property
    def presentations(self) -> tuple[str, ...]:
        return (PLAIN,)

    @property
    def presentation(self) -> str:
        return PLAIN

    def present(self, presentation: str) -> Self:
        return self

    def show(self, sample: Sample) -> Sample:
        return sample

    def combine(self, outcomes: Mapping[str, Outcome]) -> Outcome:
        (outcome,) = outcomes.values()
        return outcome

    def complete(self, sample: Sample, outcome: Outcome) -> Outcome:
        return outcome

    @property
    def verdict_fields(self) -> tuple[tuple[str, ...], ...]:
        return ()

    @property
    def question_set(self) -> QuestionSet:
        return QuestionSet(refusal="its fields are no questions that have a few answers each")

    @property
    def expected_tokens(self) -> int:
        return EXPECTED_OUTPUT_TOKENS

    def turns(self, sample: Sample) -> int:
        return 1

    def after(self, responses: tuple[str, ...]) -> Self:
        return self


def is_plain(protocol: JudgeProtocol) -> bool:
    """Whether a sample is shown as it is, and not in the orders of a pair."""
    return protocol.presentations == (PLAIN,)


class Judge(Protocol):
    """Who answers. Must be picklable: rules are spread over processes."""

    @property
    def name(self) -> str: ...

    def reply(self, sample: Sample, protocol: JudgeProtocol) -> Reply | Outcome:
        """A raw reply to be parsed by the protocol, or an outcome where no text is involved (rules) or none came."""


class Journal(Protocol):
    """The append-only truth of a run."""

    def append(self, lines: Iterable[bytes]) -> None:
        """The lines are on disk (fsync) before it returns: a crash never loses what was counted."""


class ProgressSink(Protocol):
    """Told after each durable batch; rendering is somebody else's."""

    def advance(self, counts: Mapping[str, int]) -> None: ...


class MathsComparer(Protocol):
    """Algebra that somebody else knows. Must be picklable: rules are spread over processes."""

    @property
    def version(self) -> str:
        """Part of what makes a run: another version may decide otherwise."""

    def are_equal(self, gold: str, answer: str) -> bool | None:
        """Whether two mathematical texts mean the same; None where it cannot be told, or not in time."""


# Asking a judge that has to be waited for: what is sent, what comes back, what it cost.


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
    # How long the reply may become, where this one call has a limit of its own.
    max_tokens: int | None = None
    # For estimates.
    expected_tokens: int = EXPECTED_OUTPUT_TOKENS
    # Of the reply's object, the fields that a verdict is read from, each by its path.
    verdict_fields: tuple[tuple[str, ...], ...] = ()
    # What a decision endpoint is asked about the messages.
    questions: tuple[DecisionQuestion, ...] = ()


class ReplyKey(NamedTuple):
    """Which of the replies about a sample: whose, which of the repeats, and to which presentation."""

    judge: str
    repeat: int = 1
    presentation: str = PLAIN


class Usage(NamedTuple):
    """Tokens as the endpoint counted them; None where it did not say."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    # Of `input_tokens`: what the endpoint took from a cache of its own, and what it put there.
    cached_input_tokens: int | None = None
    cache_write_tokens: int | None = None
    # Of `output_tokens`: what the model thought before it spoke.
    reasoning_tokens: int | None = None

    def document(self) -> dict[str, int | None]:
        """Counts as journals have them; few endpoints say what they wrote to a cache, and what was thought."""
        counted = self._asdict()
        for name in ("cache_write_tokens", "reasoning_tokens"):
            if counted[name] is None:
                del counted[name]
        return counted


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
    # None for an answer out of a batch: nobody waited for it.
    latency_seconds: float | None
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
        """What the manifest says of it: provider, model, base URL, decoding parameters. Never a key."""

    async def call(self, call: Call) -> Answer:
        """Raises one of the four kinds of JudgeCallError and nothing else; never retries by itself."""

    async def close(self) -> None:
        """Give all connections back."""


# What a caller from Python may name as a judge: a spec as on the command line, a function, or a judge object.
JudgeLike = str | Callable[..., Any] | Judge | LiveJudge


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
    masked: int = 0  # replies in which a key stood that the endpoint had repeated, the cached included
    cache_write_tokens: int = 0  # of `input_tokens`, what the endpoint put into such a cache
    reasoning_tokens: int = 0  # of `output_tokens`, what models thought before they spoke, where endpoints say so
    batched: int = 0  # of `calls`, those whose reply came with a batch
    saved_by_cache_usd: Decimal = Decimal(0)  # against the price without a cache; below nothing where writing cost more
    saved_by_batch_usd: Decimal = Decimal(0)  # against the price at once

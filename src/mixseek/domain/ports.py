"""What the layers above must offer; engine and composition know these and nothing concrete."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from mixseek.domain.judgments import InvalidJudgment, Outcome, Reply, Undecided, ValidJudgment
from mixseek.domain.samples import Sample


@dataclass(frozen=True, slots=True)
class Message:
    role: str  # "system" or "user"
    content: str


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

    def messages(self, sample: Sample, nonce: str) -> tuple[Message, ...]:
        """The prompt; judged text stands inside a fence made of `nonce`."""

    def parse(self, reply: Reply, sample: Sample) -> ValidJudgment | InvalidJudgment:
        """Never raises, whatever the text."""

    def decide(self, sample: Sample, maths: "MathsComparer | None" = None) -> ValidJudgment | Undecided:
        """What rules alone can say, `maths` about more than numbers; a protocol without rules is always undecided."""


@runtime_checkable
class JudgeAwareProtocol(Protocol):
    """A protocol whose prompt tells the judge who it is: its reply must name it, and models seldom know their name."""

    def for_judge(self, judge: str) -> JudgeProtocol:
        """The same protocol, hash included, with the judge's name in its messages."""


@runtime_checkable
class PresentingProtocol(Protocol):
    """A protocol that shows a sample in several ways and makes one judgment of what each of them brought."""

    @property
    def presentations(self) -> tuple[str, ...]:
        """Their names, in the order of asking."""

    def present(self, presentation: str) -> JudgeProtocol:
        """The same protocol, hash included, with the sample shown that way."""

    def combine(self, outcomes: Mapping[str, Outcome]) -> Outcome:
        """One outcome of all, by presentation."""


@runtime_checkable
class ShownProtocol(Protocol):
    """A protocol that shows a sample in one of several ways: what `present` gives."""

    @property
    def presentation(self) -> str:
        """Its name."""

    def show(self, sample: Sample) -> Sample:
        """The sample as a judge sees it, for judges that look at the sample itself."""


@runtime_checkable
class GridProtocol(Protocol):
    """A protocol whose samples have a place in a grid of question, variant and target (seed 003 §0)."""

    def missing_names(self, sample: Sample) -> tuple[str, ...]:
        """Fields without which nothing said about the sample could be aligned; empty where it has them all."""


class Judge(Protocol):
    """Who answers. Must be picklable: rules are spread over processes."""

    @property
    def name(self) -> str: ...

    def reply(self, sample: Sample, protocol: JudgeProtocol) -> Reply | Outcome:
        """A raw reply to be parsed by the protocol, or an outcome where no text is involved (rules) or none came."""


class Journal(Protocol):
    """The append-only truth of a run."""

    def append(self, lines: Iterable[bytes]) -> None:
        """On disk (fsync) before returning: a crash never loses what was counted."""


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

"""The protocol `checks`: a verdict by what is checked without a judge, and by nothing else."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any, Self

from pydantic import Field

from mixseek.domain.judgments import Finding, Flag, InvalidJudgment, Reply, Undecided
from mixseek.domain.ports import MathsComparer, Message, Nonces
from mixseek.domain.samples import Sample
from mixseek.errors import ConfigurationError
from mixseek.lazy_dataclass import dataclass
from mixseek.protocols.declaration import CheckWords, DeclaredProtocol, ProtocolDeclaration, Table, validated

_NO_REPLIES = "nobody is asked anything under it: its verdicts come from checks alone"


class CheckParameters(Table):
    """What the two verdicts are called."""

    passed: str = Field(default="passed", min_length=1)
    failed: str = Field(default="failed", min_length=1)


@dataclass(frozen=True)
class ChecksProtocol(DeclaredProtocol[CheckParameters]):
    """Whether a sample keeps its checks; its only judge is `checks`."""

    @classmethod
    def from_declaration(cls, declaration: ProtocolDeclaration) -> Self:
        """Raises ConfigurationError for a declaration that asks something."""
        if declaration.templates:
            raise ConfigurationError(f"{declaration.where}: templates: {_NO_REPLIES}")
        settings = validated(CheckParameters, declaration)
        if settings.passed == settings.failed:
            raise ConfigurationError(f"{declaration.where}: parameters: passed and failed are one word")
        return cls(declaration, settings)

    @cached_property
    def reply_schema(self) -> Mapping[str, Any]:
        return {}

    @cached_property
    def hash(self) -> str:
        return self.hash_with(self.parameters, self.reply_schema)

    @property
    def check_words(self) -> CheckWords:
        return CheckWords(self.settings.passed, self.settings.failed)

    def messages(self, sample: Sample, nonces: Nonces) -> tuple[Message, ...]:
        """There is no prompt."""
        return ()

    def parse(self, reply: Reply, sample: Sample) -> InvalidJudgment:
        """No reply is a judgment."""
        return InvalidJudgment((Finding(Flag.PROTOCOL_VIOLATION, f"the {self.name} protocol: {_NO_REPLIES}"),))

    def decide(self, sample: Sample, maths: MathsComparer | None = None) -> Undecided:
        """The rules compare answers; here is nothing that they could compare."""
        return Undecided(f"the {self.name} protocol has no rules; its judge is `checks`")

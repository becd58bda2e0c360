"""A model with a system prompt of its own, whatever it is behind."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from typing import Any

from mixseek.domain.ports import Answer, Call, LiveJudge, Message, constant_message
from mixseek.lazy_dataclass import dataclass


@dataclass(frozen=True)
class PromptedJudge:
    """The judge inside, told `system` first where what it is asked has no system message."""

    judge: LiveJudge
    system: str = field(repr=False)

    @property
    def name(self) -> str:
        return self.judge.name

    @property
    def endpoint(self) -> str:
        return self.judge.endpoint

    @property
    def concurrency(self) -> int | None:
        """A model in this process knows how many calls it can hold."""
        return getattr(self.judge, "concurrency", None)

    @property
    def fingerprint(self) -> str:
        return hashlib.sha256(f"{self.judge.fingerprint}|system\x00{self.system}".encode()).hexdigest()

    @property
    def description(self) -> Mapping[str, Any]:
        return {**self.judge.description, "system": self.system}

    def cached_prefixes(self, messages: Sequence[Message]) -> Sequence[str]:
        """Those of the judge inside."""
        prefixes_of = getattr(self.judge, "cached_prefixes", None)
        return () if prefixes_of is None else prefixes_of(messages)

    def tell_to(self, notify: Callable[[str], None]) -> None:
        """Whatever the judge inside finds out."""
        if (tell_to := getattr(self.judge, "tell_to", None)) is not None:
            tell_to(notify)

    async def call(self, call: Call) -> Answer:
        """Raises what the judge inside raises."""
        return await self.judge.call(self.with_system(call))

    def with_system(self, call: Call) -> Call:
        """The call that the judge inside gets."""
        if all(message.role != "system" for message in call.messages):
            return replace(call, messages=(constant_message("system", self.system), *call.messages))
        return call

    async def close(self) -> None:
        await self.judge.close()

"""A cascade by a certificate as a run sees it: who is asked, which verdicts count, and whether it still holds.

What a certificate is and how it reads verdicts is known to `cascades`, above; a run knows only this much of it.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from mixseek.domain.judgments import Missing, Outcome, Reply
from mixseek.domain.ports import JudgeProtocol
from mixseek.domain.routing import Route
from mixseek.domain.samples import Sample
from mixseek.lazy_dataclass import dataclass
from mixseek.storage.journal.manifest import JudgeEntry, ProtocolEntry


class CertifiedRoute(Route, Protocol):
    """A route whose thresholds were tested; it holds for the judges, prompts and models that it was tested with."""

    @property
    def document(self) -> Mapping[str, Any]:
        """The whole file as plain data, for the manifest."""

    @property
    def repeats(self) -> int:
        """How often each judge is asked about the same text."""

    @property
    def judges(self) -> "tuple[str | PanelJudge, ...]":
        """Whom to ask, in the order of asking; a panel stands behind its members."""

    def fitted(self, protocol: JudgeProtocol) -> "CertifiedRoute":
        """The same route, with scores read on this protocol's scale."""

    def check(self, judges: Sequence[JudgeEntry], protocol: ProtocolEntry) -> None:
        """Raises GateError, in one line, where anything is not what was tested."""

    def check_reply(self, reply: Reply) -> None:
        """Raises GateError where a model answered that was not tested."""


@dataclass(frozen=True, slots=True)
class PanelJudge:
    """Several judges under one name: it is never asked, because its verdict is made of theirs."""

    name: str
    members: tuple[str, ...]

    def reply(self, sample: Sample, protocol: JudgeProtocol) -> Outcome:
        return Missing("its members are asked, never the panel itself")

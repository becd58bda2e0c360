"""A judge's card: who was examined, what was found, and when it no longer fits."""

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from mixseek.domain.documents import DocumentName, with_schema
from mixseek.domain.shown import Shown
from mixseek.stats.audits import Audit, AuditState
from mixseek.stats.confidence import JudgeConfidence
from mixseek.text.phrases import value_text

CARD_VERSION = 1


class CardPart(BaseModel):
    """Frozen, and tolerant of fields that a later version may add."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class CardJudge(CardPart):
    """A judge as a manifest has it: `parameters` are decoding and fingerprint, or the digest of what rules judge by."""

    name: str
    kind: str
    model: str | None = None
    parameters: Mapping[str, Any] = Field(default_factory=dict)


class CardProtocol(CardPart):
    """What was asked, to the letter of its hash."""

    name: str
    version: str
    language: str
    hash: str


class CardExample(CardPart):
    """One sample that shows the finding; `command` opens what the judge said of the changed text."""

    original: str
    changed: str
    kind: str
    before: float | None
    after: float | None
    command: str


class CardFinding(CardPart):
    """One audit. Effects are shares of the scale, or of the samples where verdicts are counted."""

    audit: Audit
    title: str
    # What the effect is, in words.
    measure: str
    state: AuditState
    # Why nothing could be said, where it could not.
    reason: str | None = None
    items: int = 0
    clusters: int = 0
    effect: float | None = None
    low: float | None = None
    high: float | None = None
    # The least effect that is flagged, and the defect that a pass has looked for; None on cards of before.
    minimum: float
    sought: float | None = None
    p_value: float | None = None
    p_adjusted: float | None = None
    needed: int | None = None
    # Samples left out: by reason, how many.
    left_out: Mapping[str, int] = Field(default_factory=dict)
    # By kind of change: how many samples, and their mean effect.
    kinds: Mapping[str, tuple[int, float]] = Field(default_factory=dict)
    examples: tuple[CardExample, ...] = ()

    @property
    def is_flagged(self) -> bool:
        return self.state in (AuditState.FAIL, AuditState.CONCERN)


class Card(Shown, CardPart):
    """What was found about a judge under a protocol.

    `anchors`: by key of a sample, the scores of its two askings, for whoever looks for drift later.
    """

    card_version: int = CARD_VERSION
    created_at: AwareDatetime
    judge: CardJudge
    protocol: CardProtocol
    dataset: str
    samples: int
    seed: int
    runs: tuple[str, ...]
    findings: tuple[CardFinding, ...]
    anchors: Mapping[str, tuple[float | None, float | None]] = Field(default_factory=dict)
    # How sure the judge was of the plain samples, by source, and what labels of people say of that; none on cards of
    # before.
    confidences: tuple[JudgeConfidence, ...] = ()

    def to_document(self, *, with_anchors: bool = True) -> dict[str, Any]:
        """The card for programs and for a file; anchors are for whoever looks for drift."""
        left_out = set() if with_anchors else {"anchors"}
        return with_schema(DocumentName.CARD, self.model_dump(mode="json", exclude=left_out))

    @property
    def ok(self) -> bool:
        """Whether no audit failed."""
        return not self.of_state(AuditState.FAIL)

    def of_state(self, state: AuditState) -> tuple[CardFinding, ...]:
        return tuple(finding for finding in self.findings if finding.state is state)

    def misfits(self, judge: CardJudge, protocol: CardProtocol) -> Iterator[str]:
        """What makes this another judge's card, or another protocol's, one by one."""
        for name in ("name", "version", "language"):
            ours, theirs = getattr(self.protocol, name), getattr(protocol, name)
            if ours != theirs:
                yield f"protocol {name} {ours}, now {theirs}"
        if self.protocol.hash != protocol.hash:
            yield f"protocol hash {self.protocol.hash[:8]}, now {protocol.hash[:8]}"
        for name in ("name", "kind", "model"):
            ours, theirs = getattr(self.judge, name), getattr(judge, name)
            if ours != theirs:
                yield f"judge {name} {ours}, now {theirs}"
        for name in sorted({*self.judge.parameters, *judge.parameters}):
            ours, theirs = self.judge.parameters.get(name), judge.parameters.get(name)
            if ours != theirs:
                yield f"judge {name} {value_text(ours, 11)}, now {value_text(theirs, 11)}"

    def objections(self, judge: CardJudge, protocol: CardProtocol, now: datetime, most: timedelta | None) -> str | None:
        """Why this judge may not be used on the strength of this card; None where it may."""
        misfits = list(self.misfits(judge, protocol))
        if misfits:
            return f"it no longer fits ({'; '.join(misfits)}); audit the judge again"
        if most is not None and now - self.created_at > most:
            return f"it is older than {most.days} days ({self.created_at:%Y-%m-%d}); audit the judge again"
        failed = self.of_state(AuditState.FAIL)
        if failed:
            return f"{judge.name} failed {', '.join(finding.title for finding in failed)}"
        return None

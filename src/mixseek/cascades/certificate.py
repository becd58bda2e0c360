"""What a cascade may decide without people: on which judges, protocol and labels that rests, and what voids it.

A certificate speaks of what it was tested on and of nothing else. What has changed since is named, one by one; a judge
or a protocol of which only a name was known cannot be told from a changed one, and so voids it as well.
"""

import hashlib
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import date
from typing import Annotated, Any, Literal

from pydantic import Field

from mixseek.domain.confidence import ConfidenceSource
from mixseek.domain.shown import Shown
from mixseek.settings.models import Table
from mixseek.storage.journal.manifest import JudgeEntry, ProtocolEntry
from mixseek.text.phrases import listed, value_text

Share = Annotated[float, Field(strict=True, ge=0, le=1, allow_inf_nan=False)]
Name = Annotated[str, Field(min_length=1, max_length=300)]
Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
# How much of a digest or a value a sentence shows.
_SHOWN = 11


class Tier(Table):
    """One `[[tiers]]` table, in the order of asking: who is asked, and from which confidence on it decides."""

    name: Name
    # Several are a panel: the majority's verdict counts, and the share that gave it is its confidence.
    judges: tuple[Name, ...] = Field(min_length=1)
    # Judges of earlier tiers, whose verdicts are there already: they decide nothing here, but how many of all of them
    # gave this tier's verdict is its confidence (source `panel`).
    beside: tuple[Name, ...] = ()
    # How often each judge is asked about the same text.
    repeats: int = Field(default=1, strict=True, ge=1, le=1000)
    # Where its confidence comes from; a tier without one decides all or nothing.
    confidence: ConfidenceSource | None = None
    # Without one the tier decides nothing, and nobody is asked for it.
    threshold: Share | None = None
    # What one judgment of it cost, in whatever prices are given.
    price: float | None = Field(default=None, strict=True, ge=0, allow_inf_nan=False)

    @property
    def decides(self) -> bool:
        return self.threshold is not None


class CertifiedJudge(Table):
    """A judge as it was tested. `models`: what its endpoint called itself in its replies.

    `digest` is over name, kind, model and parameters; None where nothing but a name was known, as in a table.
    """

    name: Name
    kind: str
    model: str | None = None
    models: tuple[str, ...] = ()
    parameters: Mapping[str, Any] = Field(default_factory=dict)
    digest: Digest | None = None


class CertifiedProtocol(Table):
    """What was asked, to the letter: `prompts` are digests of its templates by role."""

    name: Name
    version: str
    language: str
    hash: str
    prompts: Mapping[str, str] = Field(default_factory=dict)


class CertifiedLabels(Table):
    """The labels that it rests on: how many, of how many texts, how they were drawn, and a digest over all of them."""

    count: int = Field(strict=True, ge=0)
    texts: int = Field(strict=True, ge=0)
    questions: int = Field(strict=True, ge=0)
    # Everything was labelled, or by lot: each text with the same chance, or with chances that are known.
    drawn: Literal["all", "random", "weighted"]
    draws: tuple[str, ...] = ()
    # Where the plan itself drew them from more.
    seed: int | None = None
    digest: Digest


class CertifiedSource(Table):
    """A run, or a file of ratings, with the digest of what stood in it."""

    name: Name
    kind: Literal["run", "table"]
    digest: str


class Certificate(Shown, Table):
    """What may be decided without people, at which agreement with the labels; `agree` holds with `confidence`."""

    made_on: date
    agree: Share
    confidence: Share
    # Of all texts, and how many of those labels agree, with its interval of 95 %.
    decided_share: Share
    agreement: Share
    agreement_low: Share
    agreement_high: Share
    # By tier; those that are not here decide nothing.
    thresholds: Mapping[str, Share]
    labels: CertifiedLabels
    protocol: CertifiedProtocol | None = None
    judges: tuple[CertifiedJudge, ...] = Field(min_length=1)
    sources: tuple[CertifiedSource, ...] = Field(min_length=1)
    # Over the whole file but this key.
    digest: str = ""

    def voided_by(
        self,
        tiers: Sequence[Tier],
        judges: Sequence[JudgeEntry],
        protocol: ProtocolEntry,
        models: Mapping[str, Collection[str]] | None = None,
    ) -> tuple[str, ...]:
        """Everything that is not what was tested, each in a few words; nothing where it still holds.

        `models` are the names under which endpoints answered now, by judge, as far as that is known.
        """
        return (
            *self._changed_protocol(protocol),
            *self._changed_judges(tiers, {judge.name: judge for judge in judges}, models or {}),
            *self._changed_thresholds(tiers),
        )

    def _changed_protocol(self, now: ProtocolEntry) -> Iterator[str]:
        then = self.protocol
        if then is None:
            yield f"no protocol is known of the labels in {listed([source.name for source in self.sources])}"
            return
        for name in ("name", "version", "language"):
            if getattr(then, name) != getattr(now, name):
                yield f"protocol {name} {getattr(then, name)}, now {getattr(now, name)}"
        prompts = dict(now.prompt_hashes)
        for role in sorted({*then.prompts, *prompts}):
            if then.prompts.get(role) != prompts.get(role):
                yield f"prompt {role} of protocol {now.name}"
        if then.hash != now.hash:
            yield f"protocol hash {then.hash[:8]}, now {now.hash[:8]}"

    def _changed_judges(
        self, tiers: Sequence[Tier], now: Mapping[str, JudgeEntry], models: Mapping[str, Collection[str]]
    ) -> Iterator[str]:
        certified = {judge.name: judge for judge in self.judges}
        for name in dict.fromkeys(judge for tier in tiers if tier.decides for judge in tier.judges):
            then = certified.get(name)
            if then is None:
                yield f"judge {listed([name])} was not tested"
            elif then.digest is None:
                sources = listed([source.name for source in self.sources])
                yield f"judge {listed([name])} was known by its name only ({sources})"
            elif name in now:
                yield from changed_judge(then, now[name], models.get(name, ()))

    def _changed_thresholds(self, tiers: Sequence[Tier]) -> Iterator[str]:
        now = {tier.name: tier.threshold for tier in tiers if tier.threshold is not None}
        for name in dict.fromkeys((*self.thresholds, *now)):
            then, given = self.thresholds.get(name), now.get(name)
            if then != given:
                yield f"threshold of {listed([name])} {_threshold_text(then)}, now {_threshold_text(given)}"
        if [*self.thresholds] != [*now] and {*self.thresholds} == {*now}:
            yield f"order of tiers {listed([*self.thresholds])}, now {listed([*now])}"


def _threshold_text(threshold: float | None) -> str:
    return "none" if threshold is None else f"{threshold:g}"


def changed_judge(then: CertifiedJudge, now: JudgeEntry, models: Collection[str] = ()) -> Iterator[str]:
    """What makes this another judge than the one that was tested."""
    judge = f"judge {listed([then.name])}"
    for name in ("kind", "model"):
        ours, theirs = getattr(then, name), getattr(now, name)
        if ours != theirs:
            yield f"{judge}: {name} {ours or 'none'}, now {theirs or 'none'}"
    parameters = plain_parameters(now.parameters)
    for name in sorted({*then.parameters, *parameters}):
        ours, theirs = then.parameters.get(name), parameters.get(name)
        if ours != theirs:
            yield f"{judge}: {name} {value_text(ours, _SHOWN)}, now {value_text(theirs, _SHOWN)}"
    if unseen := sorted({*models} - {*then.models}):
        yield f"{judge}: model version {listed(then.models) or 'unknown'}, now {listed(unseen)}"


def certify_judge(entry: JudgeEntry, models: Collection[str]) -> CertifiedJudge:
    """The judge of a run with its digest."""
    parameters = plain_parameters(entry.parameters)
    identity: dict[str, Any] = {"name": entry.name, "kind": entry.kind, "model": entry.model, "parameters": parameters}
    return CertifiedJudge(**identity, models=tuple(sorted(models)), digest=digest_of(identity))


def certify_protocol(entry: ProtocolEntry) -> CertifiedProtocol:
    """What the runs asked."""
    return CertifiedProtocol(
        name=entry.name,
        version=entry.version,
        language=entry.language,
        hash=entry.hash,
        prompts=dict(entry.prompt_hashes),
    )


def plain_parameters(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters as a file can hold them: absent and null are the same, and tuples are lists."""

    def plain(value: Any) -> Any:
        match value:
            case Mapping():
                return {str(key): plain(item) for key, item in value.items() if item is not None}
            case list() | tuple():
                return [plain(item) for item in value if item is not None]
            case _:
                return value

    document: dict[str, Any] = plain(parameters)
    return document


def digest_of(document: object) -> str:
    """Sixty-four hex digits over canonical JSON."""
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()

"""A cascade by its certificate, as a run follows it: who is asked after whom, and which verdict counts.

Verdicts are read with the plan's own reader (`readings`), so that what was tested is what decides. What no tier may
decide stays undecided and waits for people, or the last judge has the last word, which is marked.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import Any

from mixseek.cascades.auditing import refuse_drifted
from mixseek.cascades.certificate import Tier
from mixseek.cascades.file import PEOPLE, Cascade, read_cascade
from mixseek.cascades.readings import Opinion, RatingScale, Take, TierReader, join_takes
from mixseek.domain.confidence import Confidence, ConfidenceSource
from mixseek.domain.judgments import Outcome, Reply, Undecided, ValidJudgment
from mixseek.domain.ports import JudgeProtocol, ReplyKey
from mixseek.domain.routing import LAST_WORD, RouteTier, hand_on, heard_judgment, joined_name
from mixseek.errors import ConfigurationError, GateError
from mixseek.lazy_dataclass import dataclass
from mixseek.protocols.declaration import DeclaredProtocol
from mixseek.runs.requests.routing import PanelJudge
from mixseek.storage.journal.manifest import JudgeEntry, ProtocolEntry
from mixseek.storage.workspace import Workspace
from mixseek.text.phrases import listed

# How many changes one line names.
_SHOWN_CHANGES = 3


@dataclass(frozen=True, slots=True)
class FollowedCascade:
    """`cascade.toml` as a route; `path` is for messages."""

    path: Path
    cascade: Cascade
    scale: RatingScale = RatingScale()
    # What endpoints called themselves when they were tested, by judge; made once, looked at for every reply.
    _models: Mapping[str, frozenset[str]] = field(default_factory=dict)

    @property
    def tiers(self) -> tuple[RouteTier, ...]:
        """The tiers that are asked."""
        return tuple(RouteTier(tier.judges, _joined_name(tier)) for tier in self.cascade.routing)

    @property
    def judges(self) -> tuple[str | PanelJudge, ...]:
        """Whom to ask, in the order of asking; a panel stands behind its members."""
        return tuple(self._in_order())

    def _in_order(self) -> Iterator[str | PanelJudge]:
        for tier in self.tiers:
            yield from tier.judges
            if tier.joined is not None:
                yield PanelJudge(tier.joined, tier.judges)

    @property
    def repeats(self) -> int:
        """How often each judge is asked about the same text."""
        return max((tier.repeats for tier in self.cascade.routing), default=1)

    @property
    def document(self) -> Mapping[str, Any]:
        """The whole file as plain data."""
        return self.cascade.model_dump(mode="json", exclude_none=True)

    def fitted(self, protocol: JudgeProtocol) -> "FollowedCascade":
        """The same, with scores read on the protocol's scale."""
        has_words = not isinstance(protocol, DeclaredProtocol) or protocol.has_rules or protocol.needs.is_pair
        return replace(self, scale=RatingScale(is_graded=not has_words))

    def check(self, judges: Sequence[JudgeEntry], protocol: ProtocolEntry) -> None:
        """Raises GateError, in one line, where anything is not what was tested."""
        if changes := self.cascade.voided_by(judges, protocol):
            more = f" and {len(changes) - _SHOWN_CHANGES} more" if len(changes) > _SHOWN_CHANGES else ""
            self._refuse("; ".join(changes[:_SHOWN_CHANGES]) + more)

    def check_reply(self, reply: Reply) -> None:
        """Raises GateError where a model answered that was not tested."""
        model, known = reply.details.get("model"), self._models.get(reply.judge)
        if known and isinstance(model, str) and model not in known:
            self._refuse(f"judge {listed([reply.judge])}: model version {listed(sorted(known))}, now {listed([model])}")

    def _refuse(self, change: str) -> None:
        raise GateError(f"{self.path}: its certificate holds no longer ({change}); plan again (`mixseek cascade plan`)")

    def settle(self, tier: int, heard: Mapping[ReplyKey, Outcome]) -> dict[ReplyKey, Outcome]:
        """What is written down of everybody in the tier; the verdict that counts is the only valid one."""
        table = self.cascade.routing[tier]
        places = {place: outcome for place, outcome in heard.items() if place.judge in table.judges}
        opinion = self._opinion(table, heard)
        counts, why = self._counts(table, opinion)
        joined = _joined_name(table)
        if joined is None:
            return {place: _settled(outcome, opinion, table, counts, why) for place, outcome in places.items()}
        settled = {place: _handed_on(outcome, f"one of {table.name}") for place, outcome in places.items()}
        return {**settled, ReplyKey(joined): self._join(table, places, opinion, counts, why)}

    def _opinion(self, tier: Tier, heard: Mapping[ReplyKey, Outcome]) -> Opinion | None:
        """What the tier says and how sure it is, as the plan read it."""
        takes: defaultdict[str, list[Take]] = defaultdict(list)
        for place, outcome in heard.items():
            if (judgment := heard_judgment(outcome)) is not None:
                takes[place.judge].append(Take(judgment.score, _sure_of(judgment)))
        source = None if tier.confidence is ConfidenceSource.PANEL else tier.confidence
        opinions = {judge: join_takes(taken, source, self.scale) for judge, taken in takes.items()}
        known = {judge: opinion for judge, opinion in opinions.items() if opinion is not None}
        return TierReader(tier.judges, tier.beside, tier.confidence).read(known, self.scale)

    def _counts(self, tier: Tier, opinion: Opinion | None) -> tuple[bool, str]:
        """Whether the tier's verdict counts, and why it does not."""
        if opinion is None or opinion.sure is None:
            return self._is_last(tier), f"{tier.name}: nothing says how sure it is"
        if tier.threshold is None:
            return self._is_last(tier), f"{tier.name}: decides nothing"
        is_sure = opinion.sure >= tier.threshold
        why = f"{tier.name}: sure by {opinion.sure:.3g}, and {tier.threshold:.3g} are needed"
        return is_sure or self._is_last(tier), why

    def _is_last(self, tier: Tier) -> bool:
        return self.cascade.cascade.last not in (PEOPLE,) and tier.name == self.cascade.cascade.last

    def _join(
        self, tier: Tier, places: Mapping[ReplyKey, Outcome], opinion: Opinion | None, counts: bool, why: str
    ) -> Outcome:
        """The panel's verdict: that of the first member who said it."""
        judgments = {place: judgment for place, outcome in places.items() if (judgment := heard_judgment(outcome))}
        members = {f"{place.judge}#{place.repeat}": judgment.verdict for place, judgment in judgments.items()}
        agreeing = [
            judgment
            for judgment in judgments.values()
            if opinion is not None and self.scale.is_same(judgment.score, opinion.score)
        ]
        if not agreeing or opinion is None:
            return Undecided(f"{tier.name}: its members agree on nothing", fields={"members": members})
        verdict = replace(agreeing[0], fields={**agreeing[0].fields, "members": members}, expected_score=None)
        return _settled(verdict, opinion, tier, counts, why)


def follow_cascade(path: Path) -> FollowedCascade:
    """Raises ConfigurationError in one line for what is no cascade, or cannot be followed."""
    cascade = read_cascade(path)
    routing = cascade.routing
    if not routing:
        raise ConfigurationError(f"{path}: none of its tiers decides anything, so people have to; label all texts")
    if len({tier.repeats for tier in routing}) > 1:
        raise ConfigurationError(f"{path}: tiers are asked differently often; give all of them the same repeats")
    asked = {judge for tier in routing for judge in tier.judges}
    nameless = [judge.name for judge in cascade.certificate.judges if judge.digest is None and judge.name in asked]
    if nameless:
        sources = listed([source.name for source in cascade.certificate.sources])
        raise ConfigurationError(
            f"{path}: of {listed(nameless)} nothing but the name was known ({sources}), so nobody can be asked; plan "
            "from runs instead of a table"
        )
    models = {judge.name: frozenset(judge.models) for judge in cascade.certificate.judges}
    return FollowedCascade(path, cascade, _models=models)


def _joined_name(tier: Tier) -> str | None:
    return joined_name(tier.name, tier.judges, tier.repeats)


def _sure_of(judgment: ValidJudgment) -> dict[ConfidenceSource, float]:
    """How sure a judgment is, by the source that says so."""
    confidence = judgment.confidence
    return {} if confidence is None else {confidence.source: confidence.value}


def _settled(outcome: Outcome, opinion: Opinion | None, tier: Tier, counts: bool, why: str) -> Outcome:
    """The outcome as it is written down: as it is where it counts or is no verdict, else handed on."""
    judgment = heard_judgment(outcome)
    if judgment is None:
        return outcome
    if not counts:
        return _handed_on(judgment, why)
    is_sure = tier.threshold is not None and opinion is not None and (opinion.sure or 0.0) >= tier.threshold
    if opinion is not None and opinion.sure is not None and tier.confidence in _SHARED:
        judgment = replace(judgment, confidence=Confidence(opinion.sure, tier.confidence))
    return judgment if is_sure else replace(judgment, fields={**judgment.fields, LAST_WORD: True})


# Confidences that are made where several judgments meet.
_SHARED = (ConfidenceSource.PANEL, ConfidenceSource.REPEATS)


def _handed_on(outcome: Outcome, why: str) -> Outcome:
    judgment = heard_judgment(outcome)
    return outcome if judgment is None else hand_on(judgment, f"handed on {judgment.verdict} ({why})")


def follow_given(given: Mapping[str, Any], root: Path) -> tuple[Any, dict[str, Any]]:
    """Options of a run that follows a file: those that are left, and what of the request the file decides.

    Raises ConfigurationError for options that the file has answered already, and GateError where audits of earlier
    runs in this workspace have raised drift.
    """
    answered = {
        "judges": ("--judge", "who judges"),
        "repeats": ("--repeats", "how often they are asked"),
        "panel": ("--panel", "how several decide"),
    }
    for name, (option, what) in answered.items():
        if given.get(name, 1) != 1:
            raise ConfigurationError(f"the cascade file says {what}; leave {option} out")
    followed = follow_cascade(Path(given["cascade_file"]))
    refuse_drifted(Workspace(root), followed.path, followed.cascade.certificate.digest)
    rest = {name: value for name, value in given.items() if name not in ("cascade_file", "cascade")}
    rest["repeats"] = followed.repeats
    protocol = followed.cascade.certificate.protocol
    if protocol is not None and "protocol" not in rest:
        rest |= {"protocol": protocol.name, "language": rest.get("language", protocol.language)}
    return rest, {"route": followed, "judges": followed.judges, "cascade": True}

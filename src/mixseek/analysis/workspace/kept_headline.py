"""What a run came to, kept beside it: lists of runs show headlines without opening, or loading, any DuckDB.

It is written whenever a run is summarised or reported under its own rule, and belongs to the journal as that was then.
"""

import contextlib
import hmac
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from decimal import Decimal
from typing import Any

import orjson

from mixseek.analysis.run.model import FinishedMean, GroupSummary, Headline, PanelCounts, ScoreSummary
from mixseek.domain.counting import Counting, CutOffChoice, UndecidedChoice
from mixseek.domain.counts import ResponseCounts
from mixseek.domain.panels import PanelRule
from mixseek.domain.ports import CallAccount
from mixseek.errors import StorageError
from mixseek.index.totals import JournalState, read_totals
from mixseek.lazy_dataclass import dataclass
from mixseek.stats.intervals import Bounds, Interval, IntervalMethod
from mixseek.storage.durable import replacing
from mixseek.storage.seal import seal_text
from mixseek.storage.workspace import RunDirectory, Workspace
from mixseek.storage.workspace_key import find_workspace_key, workspace_key

_HEADLINE = b"headline"
# Groups that a line has room for; of the rest it says how many there are.
LEADING_GROUPS = 3


@dataclass(frozen=True, slots=True)
class KeptHeadline:
    """A headline in short: `leading` are the first of `groups` in the ranking by `column`.

    Costs are the known part; `unpriced` says for how many of the calls nothing is known.
    """

    journal: JournalState
    rule: PanelRule | None
    score: ScoreSummary
    maximum: float | None  # of the protocol's own scale
    is_preference: bool  # of pairs: the mean is how often A was preferred
    column: str | None
    leading: tuple[GroupSummary, ...]
    groups: int
    calls: int
    unpriced: int
    cost_usd: Decimal
    # What a reader knows the judges by; empty where an earlier version has kept it.
    judges: tuple[str, ...] = ()
    counting: Counting = Counting()


def keep_headline(
    workspace: Workspace,
    run: RunDirectory,
    headline: Headline,
    calls: Sequence[CallAccount],
    judges: tuple[str, ...],
    *,
    is_preference: bool,
) -> None:
    """Writes it where it is news; a directory that takes nothing keeps none, and nobody misses it there."""
    totals = read_totals(run)
    if totals is None or totals.problem is not None:
        return
    first = next(iter(headline.columns), None)
    groups = first.groups if first else ()
    kept = KeptHeadline(
        journal=totals.journal,
        rule=headline.rule,
        score=headline.score,
        maximum=headline.maximum,
        is_preference=is_preference,
        column=first.column if first else None,
        leading=tuple(replace(group, reasoning=None, beside=()) for group in groups[:LEADING_GROUPS]),
        groups=len(groups),
        calls=sum(account.calls for account in calls),
        unpriced=sum(account.unpriced for account in calls),
        cost_usd=sum((account.cost_usd for account in calls), Decimal(0)),
        judges=judges,
        counting=headline.counting,
    )
    if read_headline(run) == kept:
        return
    with contextlib.suppress(StorageError):
        document = orjson.loads(orjson.dumps(asdict(kept), default=str))
        seal = seal_text(workspace_key(workspace.root), _HEADLINE, orjson.dumps(document))
        with replacing(run.headline) as stream:
            stream.write(orjson.dumps({**document, "seal": seal}) + b"\n")


def read_headline(run: RunDirectory) -> KeptHeadline | None:
    """What was kept last, perhaps of a shorter journal; None where nothing was, or not by us."""
    key = find_workspace_key(run.workspace)
    try:
        document = orjson.loads(run.headline.read_bytes())
        seal = document.pop("seal")
        if key is None or not hmac.compare_digest(seal, seal_text(key, _HEADLINE, orjson.dumps(document))):
            return None
        return KeptHeadline(
            journal=JournalState(**document["journal"]),
            rule=PanelRule(document["rule"]) if document["rule"] else None,
            score=_decode_score(document["score"]),
            leading=tuple(GroupSummary(group["name"], _decode_score(group["score"])) for group in document["leading"]),
            cost_usd=Decimal(document["cost_usd"]),
            judges=tuple(document.get("judges", ())),
            counting=_decode_counting(document["counting"]),
            **{name: document[name] for name in ("maximum", "is_preference", "column", "groups", "calls", "unpriced")},
        )
    except (OSError, ValueError, ArithmeticError, KeyError, TypeError, AttributeError):
        return None


def _decode_counting(document: Mapping[str, Any]) -> Counting:
    cut_off, undecided = document["cut_off"], document["undecided"]
    return Counting(cut_off and CutOffChoice(cut_off), undecided and UndecidedChoice(undecided))


def _decode_interval(document: Mapping[str, Any] | None) -> Interval | None:
    return Interval(**{**document, "method": IntervalMethod(document["method"])}) if document else None


def _decode_finished(document: Mapping[str, Any] | None) -> FinishedMean | None:
    return FinishedMean(**{**document, "interval": _decode_interval(document["interval"])}) if document else None


def _decode_score(document: Mapping[str, Any]) -> ScoreSummary:
    interval, bounds = document["interval"], document["bounds"]
    parts: dict[str, Any] = {
        "counts": PanelCounts(**document["counts"]),
        "interval": _decode_interval(interval),
        "bounds": Bounds(**bounds) if bounds else None,
        "responses": ResponseCounts(**document["responses"]),
        "finished": _decode_finished(document["finished"]),
    }
    return ScoreSummary(**{**document, **parts})

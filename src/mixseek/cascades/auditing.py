"""What people look at of a run that followed a cascade, and whether what was decided without them still holds.

All that no tier may decide goes to people, and a random part of what was decided: one draw, by verdict, with a chance
for every text that is written down. So labels correct the headline as those of any draw do, and audits watch for drift.
"""

import math
from collections.abc import Sequence
from pathlib import Path
from shlex import quote

from mixseek.analysis.labels.drawing import new_seed, record_draw, taken_texts
from mixseek.analysis.labels.of_run import open_labelled
from mixseek.domain.labels import Draw, TextLabels, collect_labels
from mixseek.domain.people import APART
from mixseek.errors import GateError
from mixseek.lazy_dataclass import dataclass
from mixseek.stats.drift import DriftWatch, watch_drift
from mixseek.storage.journal.manifest import Manifest, read_manifest
from mixseek.storage.labels import LabelStore
from mixseek.storage.workspace import RunDirectory, Workspace

# So much of what is decided is audited where nobody says how much.
USUAL_AUDIT_SHARE = 0.02
# Of a verdict that is audited at all: fewer say nothing about how much they vary.
_LEAST_AUDITS = 2
_COLUMNS = ("verdict",)
# What a text is called in a draw by verdict that nobody decided.
UNSETTLED = frozenset({"undecided", "invalid", "missing", "split"})


@dataclass(frozen=True, slots=True)
class WaitingForPeople:
    """The draw of a run: texts that were left to people, and those that were decided and are audited."""

    draw: str
    left: int
    audited: int


@dataclass(frozen=True, slots=True)
class AuditedCascade:
    """Every audit of runs that followed the same certificate, in the order of being labelled."""

    runs: tuple[str, ...]
    agree: float
    drawn: int
    watch: DriftWatch


@dataclass(frozen=True, slots=True)
class Audit:
    """When an audited text was labelled, and the share of those who labelled it that disagree with the decision."""

    at: str
    disagreement: float


def draw_for_people(workspace: Workspace, run: RunDirectory, audit_share: float | None) -> WaitingForPeople | None:
    """Draws what people are to see, once a run; None where there is nothing for them."""
    store, manifest = LabelStore(workspace), read_manifest(run.manifest)
    earlier = store.draws(run.name)
    if any(draw.columns == _COLUMNS for draw in earlier):
        return describe_draw(next(draw for draw in earlier if draw.columns == _COLUMNS))
    if earlier:
        # Somebody drew from it in another way: chances of two ways cannot be told apart.
        return None
    share = USUAL_AUDIT_SHARE if audit_share is None else audit_share
    with open_labelled(workspace, run) as units:
        seed = new_seed()
        strata = units.draw_by(_COLUMNS, lambda sizes: _allocate(sizes, share), seed, taken_texts(earlier))
        if not any(stratum.drawn for stratum in strata):
            return None
        draw = record_draw(units, manifest, _COLUMNS, seed, strata, earlier)
    store.write_draw(draw)
    return describe_draw(draw)


def _allocate(strata: Sequence[tuple[tuple[str, ...], int]], share: float) -> list[int]:
    """All of what nobody decided, and of each verdict its share."""
    return [
        size if values[0] in UNSETTLED else min(size, max(_LEAST_AUDITS, math.ceil(share * size)) if share else 0)
        for values, size in strata
    ]


def describe_waiting(waiting: WaitingForPeople, run: str, workspace: Path) -> str:
    """One line: what waits for people, and where."""
    parts = [f"{count:,} {what}" for count, what in ((waiting.left, "left"), (waiting.audited, "audited")) if count]
    where = f"mixseek view {quote(run)} --workspace {quote(str(workspace))}"
    return f"{' and '.join(parts)} for people (draw {waiting.draw}): {where}"


def describe_draw(draw: Draw) -> WaitingForPeople:
    """How many of its texts were left, and how many are audited."""
    left = sum(stratum.drawn for stratum in draw.strata if stratum.values[0] in UNSETTLED)
    return WaitingForPeople(draw.draw, left, len(draw.rows) - left)


def certificate_of(manifest: Manifest) -> str | None:
    """The digest of the cascade file that a run followed; None where it followed none."""
    return None if manifest.route is None else str(manifest.route["certificate"]["digest"])


def watch_cascade(workspace: Workspace, certificate: str) -> AuditedCascade | None:
    """What audits of all runs with that certificate say; None where no run has followed it."""
    store = LabelStore(workspace)
    names, agree = [], 0.0
    # A text that several runs have decided is one decision, however often it was drawn.
    drawn: set[str] = set()
    audits: dict[str, Audit] = {}
    for run in workspace.runs():
        manifest = read_manifest(run.manifest)
        if certificate_of(manifest) != certificate or manifest.route is None:
            continue
        names.append(run.name)
        agree = float(manifest.route["cascade"]["agree"])
        draws = [draw for draw in store.draws(run.name) if draw.columns == _COLUMNS]
        texts = [row.text for draw in draws for row in draw.rows if draw.strata[row.stratum].values[0] not in UNSETTLED]
        drawn.update(texts)
        audits = {**_read_audits(workspace, run, manifest, texts), **audits}
    if not names:
        return None
    # Labels of one sheet came at once: among them the digest decides, which knows nothing of what they say.
    ordered = [audits[text].disagreement for text in sorted(audits, key=lambda text: (audits[text].at, text))]
    return AuditedCascade(tuple(names), agree, len(drawn), watch_drift(ordered, agree))


def _read_audits(workspace: Workspace, run: RunDirectory, manifest: Manifest, texts: Sequence[str]) -> dict[str, Audit]:
    """The audited texts that were labelled."""
    labels = collect_labels(LabelStore(workspace).read(manifest.protocol.name))
    known = {text: labels[text] for text in texts if text in labels and labels[text].is_by_lot}
    if not known:
        return {}
    with open_labelled(workspace, run) as units:
        beside = units.last_words(list(known))
        scores = units.verdicts_of([text for text in known if text not in beside])
    return {text: Audit(_labelled_at(known[text]), _disagreement(known[text], score)) for text, score in scores.items()}


def _labelled_at(labels: TextLabels) -> str:
    return min(label.at for label in (labels.counted or labels.by_rater).values())


def _disagreement(labels: TextLabels, score: float) -> float:
    """The share of people who say something else: a quarter of the scale or more away."""
    if labels.adjudicated is not None:
        return float(abs(labels.adjudicated.share - score) >= APART)
    shares = [label.share for label in (labels.counted or labels.by_rater).values()]
    return sum(abs(share - score) >= APART for share in shares) / len(shares)


def refuse_drifted(workspace: Workspace, path: Path, certificate: str) -> None:
    """Raises GateError where audits of earlier runs have shown that the certificate promises too much."""
    audited = watch_cascade(workspace, certificate)
    if audited is not None and audited.watch.raised_at is not None:
        watch = audited.watch
        raise GateError(
            f"{path}: its certificate holds no longer (of {watch.audited:,} audited decisions people disagree with "
            f"{watch.disagreements:.4g}, and {1 - audited.agree:.1%} at most were promised); label more and plan again"
        )

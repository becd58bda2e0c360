"""Where a workspace, or one run, stands with its labels."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from mixseek.analysis.labels.of_run import open_labelled
from mixseek.domain.labels import TextLabels, collect_labels
from mixseek.lazy_dataclass import dataclass
from mixseek.stats.estimates import Drawing
from mixseek.stats.raters import Pattern, Scale, krippendorff_alpha, rated_twice, raw_agreement
from mixseek.storage.journal.manifest import read_manifest
from mixseek.storage.labels import LabelStore
from mixseek.storage.workspace import Workspace


@dataclass(frozen=True, slots=True)
class DrawState:
    """A draw and how far it is labelled."""

    draw: str
    run: str
    columns: tuple[str, ...]
    seed: int
    drawn: int
    labelled: int


@dataclass(frozen=True, slots=True)
class Dispute:
    """A text on which raters differ: a sample that has it, and what each wrote."""

    sample: str
    text: str
    said: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class ProtocolLabels:
    """Labels on one protocol's scale. `agreement` is over texts of several raters; `alpha` is Krippendorff's."""

    protocol: str
    texts: int
    raters: tuple[tuple[str, int], ...]
    drawn: tuple[tuple[str, int], ...]
    adjudicated: int
    rated_twice: int
    agreement: float | None
    alpha: float | None
    disputes: tuple[Dispute, ...]


@dataclass(frozen=True, slots=True)
class LabelStatus:
    """`run` is None for the whole workspace; `texts` is how many texts the run has."""

    run: str | None
    texts: int | None
    protocols: tuple[ProtocolLabels, ...]
    draws: tuple[DrawState, ...]


def label_status(root: Path, name: str | None) -> LabelStatus:
    """What was labelled, by whom, how they agree, and what is left to label."""
    workspace = Workspace(root)
    store = LabelStore(workspace)
    run = workspace.resolve(name) if name is not None else None
    texts, labels = None, store.read()
    if run is not None:
        with open_labelled(workspace, run) as units:
            texts, _ = units.population()
            known = units.of_texts(sorted({label.text for label in labels}))
        protocol = read_manifest(run.manifest).protocol.name
        labels = [label for label in labels if label.text in known and label.protocol == protocol]
    names = dict.fromkeys(label.protocol for label in labels)
    by_protocol = {
        protocol: collect_labels(label for label in labels if label.protocol == protocol) for protocol in names
    }
    draws = store.draws(run.name if run is not None else None)
    labelled = {(draw.protocol, label.text) for draw in draws for label in labels if label.protocol == draw.protocol}
    return LabelStatus(
        run.name if run is not None else None,
        texts,
        tuple(describe_protocol(protocol, list(by_text.values())) for protocol, by_text in by_protocol.items()),
        tuple(
            DrawState(
                draw.draw, draw.run, draw.columns, draw.seed, len(draw.rows),
                sum((draw.protocol, row.text) in labelled for row in draw.rows),
            )
            for draw in draws
        ),
    )  # fmt: skip


def drawn_word(labels: TextLabels) -> str:
    """How a text without a draw came to be labelled; that it was chosen says least."""
    return min(labels.drawn - {Drawing.CHOSEN.value}, default=min(labels.drawn, default=Drawing.UNKNOWN.value))


def describe_protocol(protocol: str, texts: Sequence[TextLabels]) -> ProtocolLabels:
    """Agreement counts each text once, whoever rated it; right-or-wrong labels are categories, others numbers."""
    raters = Counter(rater for text_labels in texts for rater in text_labels.by_rater)
    order = list(raters)
    patterns = Counter[Pattern](
        tuple(text_labels.by_rater[rater].share if rater in text_labels.by_rater else None for rater in order)
        for text_labels in texts
    )
    values = {value for pattern in patterns for value in pattern if value is not None}
    scale = Scale.NOMINAL if values <= {0.0, 1.0} else Scale.INTERVAL
    drawn = Counter("random draw" if text_labels.draws else drawn_word(text_labels) for text_labels in texts)
    return ProtocolLabels(
        protocol,
        len(texts),
        tuple(raters.most_common()),
        tuple(drawn.most_common()),
        sum(text_labels.adjudicated is not None for text_labels in texts),
        sum(rated_twice(patterns).values()),
        raw_agreement(patterns),
        krippendorff_alpha(patterns, scale),
        tuple(
            Dispute(
                text_labels.sample,
                text_labels.text,
                tuple((rater, label.given) for rater, label in text_labels.by_rater.items()),
            )
            for text_labels in texts
            if text_labels.is_disputed
        ),
    )

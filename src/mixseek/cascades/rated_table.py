"""A table of ratings as what a cascade is planned from: raters are judges, and what the human said are labels.

A table knows judges by their names only, and no protocol: its certificate says so, and is a what-if for that reason.
"""

import contextlib
import hashlib
from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

from mixseek.analysis.ratings.relation import Ratings, RatingSource
from mixseek.analysis.ratings.table import open_table
from mixseek.cascades.certificate import CertifiedJudge, CertifiedLabels, CertifiedSource
from mixseek.cascades.rated_runs import (
    MOST_TEXTS,
    STATEMENTS,
    LabelChoice,
    count_sources,
    digest_labels,
    draw_lots,
    read_take,
    some_texts,
)
from mixseek.cascades.readings import Candidate, Opinion, RatedText, RatedTexts, RatingScale, Take, join_takes
from mixseek.domain.confidence import ConfidenceSource
from mixseek.domain.people import APART
from mixseek.errors import ConfigurationError, DatasetError
from mixseek.lazy_dataclass import dataclass
from mixseek.stats.estimates import Drawing
from mixseek.storage.durable import storage_error
from mixseek.text.phrases import plural

# Kinds of confidence that a rating may bring; of any other word nothing is known, so it is what the rater wrote.
_SOURCES = (ConfidenceSource.LOGPROBS, ConfidenceSource.DECISION, ConfidenceSource.ORDERS)
_WHY_NOT = {
    Drawing.STRATIFIED: "within each verdict, with chances that the table does not say",
    Drawing.ELSEWHERE: "from other cases, which says nothing of these",
    Drawing.UNKNOWN: "nobody says how (--labels random, if at random)",
}


@dataclass(frozen=True, slots=True)
class TableQuestion:
    """What is asked of a table: its columns and whose word is the label, how labels were drawn, the ends of its scale.

    `shown_name` is what the certificate calls it, where that is not the file.
    """

    source: RatingSource
    drawing: Drawing
    scale: tuple[float, float] | None = None
    choice: LabelChoice = LabelChoice()
    shown_name: str | None = None


@contextlib.contextmanager
def open_rated_table(path: Path, asked: TableQuestion) -> Iterator[RatedTexts]:
    """The table's items for as long as the block lasts; raises ConfigurationError or DatasetError in one line."""
    with open_table(path, asked.source) as ratings:
        yield _TableTexts(path, ratings, asked).texts()


class _TableTexts:
    """The items of one table."""

    def __init__(self, path: Path, ratings: Ratings, asked: TableQuestion) -> None:
        self._path, self._ratings = path, ratings
        self._name = asked.shown_name or path.name
        self._human = next(rater for rater in ratings.raters if rater.name == asked.source.truth)
        self._scale = self._find_scale(asked.scale)
        self._labels, self._drawn = self._draw(asked.drawing, asked.choice)
        self._seed = None if asked.choice.count is None else asked.choice.seed

    def _find_scale(self, ends: tuple[float, float] | None) -> RatingScale:
        if self._ratings.categories:
            if ends is not None:
                raise ConfigurationError("--scale: the ratings are texts, which have no scale")
            # Numbers of categories: the next one is another one.
            return RatingScale(0.5)
        ((least, greatest, is_binary),) = self._ratings.fetch(STATEMENTS["span_of_table"])
        low, high = ends or (least, greatest)
        if least < low or greatest > high:
            raise ConfigurationError(
                f"a rating is outside --scale {low:g}..{high:g}: there is {least:g} to {greatest:g}"
            )
        width = (high - low) or 1.0
        return RatingScale(APART * width, is_graded=not is_binary)

    def _draw(self, drawing: Drawing, choice: LabelChoice) -> tuple[dict[str, float], Any]:
        """What the human says of the items that count as labelled, and how those were drawn."""
        given = dict(self._ratings.fetch(STATEMENTS["labels_of_table"], human=self._human.name))
        if not given:
            raise ConfigurationError(f"--human {self._human.name!r}: none of its rows is a label (--labelled)")
        ((items, _),) = self._ratings.fetch(STATEMENTS["texts_of_table"])
        if len(given) < items and drawing is not Drawing.RANDOM:
            raise ConfigurationError(
                f"{plural(len(given), 'label')} of {self._human.name} on {items:,} items were drawn "
                f"{_WHY_NOT.get(drawing, drawing.value)}; only labels drawn at random speak for the rest"
            )
        chosen = draw_lots(list(given), choice)
        return {item: given[item] for item in chosen}, "all" if len(chosen) == items else "random"

    def texts(self) -> RatedTexts:
        """Everything that was read, and a way through it."""
        for item, sure in self._ratings.fetch(STATEMENTS["wild_confidence"]):
            raise DatasetError(f"{self._name}: item {item!r}: the confidence {sure:g} is not between 0 and 1")
        ((items, questions),) = self._ratings.fetch(STATEMENTS["texts_of_table"])
        counted = {row[0]: row[1:] for row in self._ratings.fetch(STATEMENTS["candidates_of_table"], **self._names)}
        candidates = {}
        for rater in self._ratings.raters:
            if rater.number != self._human.number:
                judgments, takes, *by_source = counted[rater.number]
                certified = CertifiedJudge(name=rater.name, kind="rater")
                candidates[rater.number] = Candidate(
                    rater.name, rater.name, takes, count_sources(by_source), judgments, certified=certified
                )
        if not candidates:
            raise ConfigurationError(f"{self._name}: {self._human.name} alone has rated; a cascade needs a judge")
        labels = CertifiedLabels(
            count=len(self._labels),
            texts=items,
            questions=questions,
            drawn=self._drawn,
            seed=self._seed,
            digest=digest_labels({item: (value,) for item, value in self._labels.items()}),
        )
        sources = (CertifiedSource(name=self._name, kind="table", digest=digest_file(self._path)),)
        notes = (some_texts(items),) if items > MOST_TEXTS else ()
        return RatedTexts(
            tuple(candidates.values()), self._scale, labels, sources, None, lambda: self._read(candidates), notes
        )

    @property
    def _names(self) -> Mapping[str, Any]:
        return {"names": list(self._ratings.names)}

    def _read(self, judges: Mapping[int, Candidate]) -> Iterator[RatedText]:
        chosen = {"labelled": list(self._labels), "most": MOST_TEXTS}
        rows = self._ratings.fetch(STATEMENTS["rows_of_table"], **self._names, **chosen)
        for (item, question), group in groupby(rows, key=itemgetter(0, 1)):
            takes: defaultdict[int, list[Take]] = defaultdict(list)
            for _, _, rater, value, sure, source in group:
                takes[rater].append(read_take(value, sure, source if source in _SOURCES else ConfidenceSource.WRITTEN))
            opinions: dict[str, Opinion] = {}
            for number, candidate in judges.items():
                opinion = join_takes(takes.get(number, ()), candidate.source, self._scale)
                if opinion is not None:
                    opinions[candidate.name] = opinion
            labels = (self._labels[item],) if item in self._labels else ()
            yield RatedText(item, str(question), opinions, labels)


def digest_file(path: Path) -> str:
    """Sixty-four hex digits over the bytes of the file."""
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise storage_error("read", path, error) from error

"""A recognised log as rows of a dataset."""

from collections.abc import Iterator
from dataclasses import field, replace
from functools import partial
from pathlib import Path

from mixseek.datasets.files import DEEPEST_ROW, TOO_DEEP, Row, Rows, RowSource, depth_of
from mixseek.datasets.importers.log_format import Log, LogFormat, Notices
from mixseek.datasets.importers.samples.grades import ScoreScales
from mixseek.datasets.importers.samples.record import Naming
from mixseek.errors import DatasetError
from mixseek.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class OpenLog:
    """A file whose format was recognised."""

    path: Path
    format: LogFormat
    log: Log
    # What the first pass over the scores found.
    scales: list[ScoreScales] = field(default_factory=list)

    def rows(self, notices: Notices) -> Iterator[Row]:
        """Each sample as a row of a dataset; DatasetError where a sample is not what the format says."""
        naming, scales = Naming(), self._scales()
        for number, sample in enumerate(self.log.samples(notices), 1):
            if not sample.question_id:
                raise DatasetError(f"{self.path}: sample {number} of this {self.format.title} has no id")
            row = naming.row(replace(sample, scores=scales.settle(sample.scores)) if sample.scores else sample)
            if depth_of(row) > DEEPEST_ROW:
                raise DatasetError(f"{self.path}: sample {row['id']!r} {TOO_DEEP}")
            yield row

    def _scales(self) -> ScoreScales:
        """The scales, by a pass over all samples, once: what a value means is said by all values of its scorer."""
        if not self.scales:
            scales = ScoreScales()
            for sample in self.log.samples([]) if self.format.has_scores else ():
                scales.note(sample.scores)
            self.scales.append(scales)
        return self.scales[0]

    def source(self) -> RowSource:
        """The log as a dataset is read: row by row, with what is remarkable told after the whole pass."""
        notices: Notices = []
        return RowSource(
            self.path,
            self.format.name,
            "sample",
            partial(self._numbered, notices),
            companions=self.log.companions,
            notices=partial(self._titled_notices, notices),
        )

    def _numbered(self, notices: Notices) -> Rows:
        notices.clear()
        yield from enumerate(self.rows(notices), 1)

    def _titled_notices(self, notices: Notices) -> tuple[str, ...]:
        return tuple(f"{self.format.title}: {notice}" for notice in (*self.log.notices, *notices))

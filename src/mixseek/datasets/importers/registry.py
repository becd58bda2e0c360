"""Every format of a log that is known, in the order in which a file is held against them."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from mixseek.datasets.files import DEEPEST_ROW, TOO_DEEP, Row, Rows, RowSource, depth_of
from mixseek.datasets.importers import harnesses, platforms, suites
from mixseek.datasets.importers.reading import sniff
from mixseek.datasets.importers.record import WITHHELD, Log, LogFormat, Naming, Notices, ScoreScales
from mixseek.domain.lines import LONGEST_LINE_BYTES
from mixseek.errors import DatasetError

# The most telling shapes first; chats and tables last, because any tool may write them.
FORMATS: tuple[LogFormat, ...] = (
    *harnesses.INSPECT,
    *harnesses.FORMATS,
    *suites.FORMATS,
    *platforms.BATCHES,
    *suites.ARENAS,
    *platforms.EXPERIMENTS,
)

# Files of the same tools that only sum up: what they are, how they are told, and what to give instead.
SUMMARIES = (
    (
        "results of lm-eval",
        ("results", "lm_eval_version"),
        "give samples_*.jsonl, which lm-eval writes with --log_samples",
    ),
    ("a summary of a Braintrust experiment", ("project_name", "experiment_name"), "give its results as JSON lines"),
)


@dataclass(frozen=True, slots=True)
class OpenLog:
    """A recognised file."""

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
        """By a pass over all samples, once: what a value means is said by all values of its scorer."""
        if not self.scales:
            scales = ScoreScales()
            for sample in self.log.samples([]):
                scales.note(sample.scores)
            self.scales.append(scales)
        return self.scales[0]

    def source(self) -> RowSource:
        """As a dataset is read: row by row, with what is remarkable told after the whole pass."""
        notices: Notices = []
        return RowSource(
            self.path,
            self.format.name,
            "sample",
            partial(self._numbered, notices),
            companions=self.log.companions,
            notices=partial(self._told, notices),
        )

    def _numbered(self, notices: Notices) -> Rows:
        notices.clear()
        yield from enumerate(self.rows(notices), 1)

    def _told(self, notices: Notices) -> tuple[str, ...]:
        return tuple(f"{self.format.title}: {notice}" for notice in (*self.log.notices, *notices))


def recognise(path: Path, longest: int = LONGEST_LINE_BYTES) -> OpenLog | None:
    """Whose log the file is, told by its content; None for a plain dataset or what nobody knows.

    Raises DatasetError for a log that is recognised and cannot be read.
    """
    sniffed = sniff(path, longest)
    if sniffed is None:
        return None
    found = next((one for one in FORMATS if one.recognise(sniffed)), None)
    if found is not None and sniffed.fault is not None:
        raise DatasetError(sniffed.fault)
    if found is not None:
        return OpenLog(path, found, found.open(sniffed))
    for title, columns, advice in SUMMARIES:
        if sniffed.has(*columns) or {(column,) for column in columns} <= set(sniffed.outline):
            raise DatasetError(f"{path}: {title}, which hold no responses; {advice}")
    return None


@dataclass(slots=True)
class LogCounts:
    """What a log holds; told row by row."""

    samples: int = 0
    responses: int = 0
    empty_responses: int = 0
    targets: int = 0
    errors: int = 0
    # Without a text, though the log calls it no error.
    withheld: int = 0
    questions: set[str] = field(default_factory=set)
    repeats: int = 0
    stop_reasons: dict[str, int] = field(default_factory=dict)
    scores: dict[str, dict[str, int]] = field(default_factory=dict)
    target_models: dict[str, int] = field(default_factory=dict)
    first_errors: list[tuple[str, str]] = field(default_factory=list)

    def add(self, row: Row, shown_errors: int) -> None:
        """One row more; of errors the first `shown_errors` are kept."""
        self.samples += 1
        if row.get("response") is None:
            is_withheld = WITHHELD in row
            self.withheld += is_withheld
            self.errors += not is_withheld
            if len(self.first_errors) < shown_errors:
                self.first_errors.append((row["id"], str(row.get("response_error"))))
        else:
            self.responses += 1
            self.empty_responses += not row["response"].strip()
        self.targets += "ground_truth" in row
        self.questions.add(row["question_id"])
        self.repeats = max(self.repeats, row.get("repeat", 1))
        for table, name in ((self.stop_reasons, row.get("stop_reason")), (self.target_models, row.get("target_model"))):
            if name is not None:
                table[name] = table.get(name, 0) + 1
        for name, score in row.get("scores", {}).items():
            self._add_score(name, score)

    def _add_score(self, name: str, score: dict[str, Any]) -> None:
        counts = self.scores.setdefault(name, {"scores": 0, "correct": 0, "incorrect": 0, "graded": 0, "unreadable": 0})
        counts["scores"] += 1
        verdicts = {None: "graded", True: "correct", False: "incorrect"}
        counts["unreadable" if "problem" in score else verdicts[score.get("is_correct")]] += 1
